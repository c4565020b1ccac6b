"""Tests the content of both wheels."""

from __future__ import annotations

import importlib.metadata
import itertools
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import orjson
import pytest

from tests.integrations.distributions import read_example
from tests.packaging.installation import (
    CALLGAUGE,
    LENIENT,
    ROOT,
    SITE_PACKAGES,
    Installation,
    build_wheel,
    installed_callgauge,
    make_environment,
)
from tests.test_architecture import THIRD_PARTY

BUNDLED = ("ingest", "lenient")
READ_ONE_CALL = (
    "from lenient import ToolDefinition, parse_arguments, __version__;"
    'call = parse_arguments(\'{"limit": "10",}\','
    " ToolDefinition.from_json_schema(name='search', schema={'properties': {'limit': {'type': 'integer'}}}));"
    "print(call.arguments, call.outcome)"
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return {project: build_wheel(project, folder / project.name) for project in (CALLGAUGE, LENIENT)}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return installed_callgauge(tmp_path_factory)


@pytest.fixture
def only_orjson(tmp_path: Path) -> Path:
    """Return a folder of packages in which only orjson can be imported."""
    shutil.copytree(Path(orjson.__file__).parent, tmp_path / "packages" / "orjson")
    return tmp_path / "packages"


@pytest.mark.thorough
def test_callgauges_wheel_holds_every_file_of_the_packages_under_one_name(wheels: dict[Path, Path]) -> None:
    names = set(zipfile.ZipFile(wheels[CALLGAUGE]).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"callgauge"}
    listed = subprocess.run(
        ["git", "ls-files", "callgauge", *BUNDLED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [file for file in listed.stdout.splitlines() if (ROOT / file).exists()]
    assert len(files) > 300
    wanted = {file if file.startswith("callgauge/") else f"callgauge/_bundled/{file}" for file in files}
    assert wanted - names == set()


@pytest.mark.thorough
def test_lenients_wheel_holds_typed_code_and_its_licence(wheels: dict[Path, Path]) -> None:
    names = zipfile.ZipFile(wheels[LENIENT]).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"lenient"}
    assert "lenient/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_both_projects_have_the_same_licence() -> None:
    assert (ROOT / "LICENSE").read_text() == (LENIENT / "LICENSE").read_text()


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    declared = {re.match(r"[\w.-]+", line)[0].lower() for line in lines}  # type: ignore[index]
    providers = importlib.metadata.packages_distributions()
    for package in THIRD_PARTY:
        needed = {name.lower().replace("_", "-") for name in providers.get(package, ())}
        # From Python 3.14 on, `compression` is in the standard library. pytest is allowed, because pytest
        # imports our plugin.
        is_known = package in ("compression", "pytest") or needed & declared
        assert is_known, f"pyproject.toml does not declare {needed}"


@pytest.mark.thorough
def test_the_command_works_from_any_folder(installed: Installation, tmp_path: Path) -> None:
    (tmp_path / "ingest").mkdir()  # a folder with the name of our package must not hide the package
    (tmp_path / "ingest" / "__init__.py").write_text("raise RuntimeError('the wrong one')\n")
    assert "ingest" in installed.run("callgauge", "--help", cwd=tmp_path).stdout
    shutil.copy(ROOT / "docs" / "session-log.example.jsonl", tmp_path / "night.jsonl")
    load = installed.run("callgauge", "ingest", "night.jsonl", "--store", "store", cwd=tmp_path)
    assert load.returncode == 0, load.stderr
    again = installed.run("callgauge", "reparse", "--store", "store", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    where = "import callgauge, ingest; print(callgauge.__file__); print(ingest.__file__)"
    package_files = installed.run("python", "-P", "-c", where, cwd=tmp_path).stdout.split()
    assert len(package_files) == 2
    assert all(Path(path).is_relative_to(installed.folder) for path in package_files)


@pytest.mark.thorough
def test_lenient_runs_alone_with_orjson(wheels: dict[Path, Path], only_orjson: Path, tmp_path: Path) -> None:
    alone = make_environment(tmp_path / "environment", only_orjson)
    alone.install(wheels[LENIENT])
    assert alone.run("python", "-c", READ_ONE_CALL, cwd=tmp_path).stdout == "{'limit': 10} repaired\n"


@pytest.mark.thorough
@pytest.mark.parametrize("removed", ["callgauge", "callgauge-lenient"])
def test_either_distribution_can_be_removed_from_beside_the_other(
    wheels: dict[Path, Path], removed: str, tmp_path: Path
) -> None:
    both = make_environment(tmp_path / "environment", SITE_PACKAGES)
    for wheel in wheels.values():
        both.install(wheel)
    both.pip("uninstall", "--yes", removed)
    lenient = both.run("python", "-P", "-c", READ_ONE_CALL, cwd=tmp_path)
    parse = both.run("python", "-P", "-m", "callgauge", "parse", "{'limit': 10}", "--json", cwd=tmp_path)
    if removed == "callgauge":
        assert lenient.stdout == "{'limit': 10} repaired\n"
        assert "No module named callgauge" in parse.stderr
    else:
        assert parse.returncode == 0, parse.stderr
        assert "No module named 'lenient'" in lenient.stderr


@pytest.mark.thorough
def test_the_wheel_brings_the_pytest_plugin(installed: Installation, tmp_path: Path) -> None:
    call = "callgauge_check_calls([{'name': 'a', 'input': {}}], [])"
    test = f"def test_calls(callgauge_check_calls):\n    {call}\n"
    (tmp_path / "test_calls.py").write_text(test)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    done = installed.run("python", "-P", "-m", "pytest", "-p", "no:cacheprovider", cwd=tmp_path)
    assert "unknown_tool" in done.stdout, done.stdout + done.stderr
    store = ("--callgauge-store", "none", "--callgauge-baseline", "7 days", "--callgauge-no-worse", "1%")
    judged = installed.run(
        "python", "-P", "-m", "pytest", *store, "--deselect", "test_calls.py", cwd=tmp_path
    )
    assert "FAILED Nothing has been loaded yet" in judged.stdout, judged.stdout + judged.stderr


@pytest.mark.thorough
def test_a_strangers_script_passes_mypy_in_strict_mode(installed: Installation, tmp_path: Path) -> None:
    module = read_example("Log formats", "python", "acme_format.py")
    script = read_example("Notebooks", "python") + "\ncallgauge.open_store('x').rates(by=3)\n"
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "acme_format.py").write_text(module)
    words = ("--strict", "--cache-dir", "cache", "script.py", "acme_format.py")
    done = installed.run("python", "-P", "-m", "mypy", *words, cwd=tmp_path)
    problems = [line for line in done.stdout.splitlines() if "error: " in line]
    assert len(problems) == 1, done.stdout + done.stderr
    assert 'has incompatible type "int"' in problems[0]
