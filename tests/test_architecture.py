"""The house of docs/architecture.md, read from the source: who may import whom, what a file may look like."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("lenient", "ingest", "dashboard")
MODULES = sorted(
    path
    for name in (*PACKAGES, "terminal", "app.py", "cli.py", "loading.py", "upkeep.py")
    for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
)

# Which of our own packages each may import.
OURS = {
    "lenient": {"lenient"},
    "ingest": {"ingest", "lenient"},
    "dashboard": {"dashboard"},
    "app": {"dashboard"},
    "cli": {"ingest", "lenient", "loading", "terminal", "upkeep"},
    "loading": {"ingest", "terminal", "upkeep"},
    "upkeep": {"ingest", "terminal"},
    "terminal": {"terminal", "ingest", "lenient"},
}
# Only these modules (by prefix) may import the package that is the key; whatever is not listed is forbidden.
THIRD_PARTY = {
    "orjson": ("lenient", "ingest", "dashboard", "cli"),
    "streamlit": ("dashboard.pages", "dashboard.widgets", "dashboard.answers", "dashboard.filters", "app"),
    "plotly": ("dashboard.charts",),
    "duckdb": (
        "ingest.building_file",
        "ingest.lookup",
        "ingest.migrations",
        "dashboard.metrics",
        "dashboard.sandbox",
        "app",
    ),
    "pyarrow": ("ingest", "dashboard.export", "dashboard.sandbox"),
    "msgspec": ("ingest",),
    "fsspec": ("ingest",),
    "yaml": ("ingest",),
    "zstandard": ("ingest",),
    "detect_secrets": ("ingest.privacy",),
    "rich": ("terminal",),
    "pandas": ("dashboard",),
    "numpy": ("dashboard.statistics",),
    "scipy": ("dashboard.statistics",),
    "typer": ("cli", "loading", "upkeep"),
}
# The playground shows the parser at work, the page of a call its steps, a replay reads calls anew; advice on
# a definition is that of its lint, a regression case holds what the parser finds, a test set carries
# definitions. No other may ask.
ASKS_LENIENT = (
    "dashboard.advice",
    "dashboard.forms",
    "dashboard.pages.call_actions",
    "dashboard.pages.call_reading",
    "dashboard.pages.playground",
    "dashboard.pages.playground_form",
    "dashboard.pages.playground_inputs",
    "dashboard.pages.playground_read",
    "dashboard.pages.playground_reply",
    "dashboard.pages.playground_result",
    "dashboard.pages.replay",
    "dashboard.pages.replay_settings",
    "dashboard.parameter_table",
    "dashboard.peer_models",
    "dashboard.peers",
    "dashboard.playground",
    "dashboard.regression_cases",
    "dashboard.replay",
    "dashboard.replay_words",
    "dashboard.rereading",
    "dashboard.scenarios",
    "dashboard.testsets",
)
VAGUE = {"utils", "common", "helpers", "manager", "base", "misc"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, prefixes: tuple[str, ...] | set[str]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    module = module_name(path)
    package = module.split(".")[0]
    for imported in imports_of(path):
        top = imported.split(".")[0]
        if top == "lenient" and within(module, ASKS_LENIENT):
            continue
        if top in OURS:
            assert top in OURS[package], f"{module} must not import {imported}"
        elif top not in sys.stdlib_module_names:
            allowed = THIRD_PARTY.get(top, ())
            assert within(module, allowed), (
                f"{module} must not import {top}: only {', '.join(allowed) or 'nobody'} may"
            )


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_no_import_cycle(package: str) -> None:
    paths = {module_name(path): path for path in (ROOT / package).rglob("*.py")}
    graph = {
        module: {
            name for name in imports_of(path) for name in (name, name.rpartition(".")[0]) if name in paths
        }
        - {module}
        for module, path in paths.items()
    }
    order: list[str] = []

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"import cycle: {' -> '.join((*above, module))}"
        if module not in order:
            for imported in sorted(graph[module] - {package}):
                visit(imported, (*above, module))
            order.append(module)

    for module in sorted(graph):
        visit(module, ())


def test_formats_know_only_lines_and_events() -> None:
    names = ("events", "lines", "records", "fields", "formats", "shapes", "open_sessions", "texts")
    known = {f"ingest.{name}" for name in names} | {"lenient.calls", "lenient.tools", "lenient.schemas"}
    for path in [*(ROOT / "ingest/formats").rglob("*.py"), *(ROOT / "ingest/shapes").rglob("*.py")]:
        for imported in imports_of(path):
            assert not within(imported, {"lenient", "ingest"}) or within(imported, known), path.name


def test_no_module_has_a_vague_name() -> None:
    assert not [path for path in MODULES if path.stem in VAGUE]


def test_every_module_opens_with_a_sentence_on_what_goes_in_and_out() -> None:
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not tree.body or ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no module docstring"


def test_no_function_is_longer_than_sixty_lines() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                assert length <= 60, f"{path.relative_to(ROOT)}: {node.name} has {length} lines"


def test_the_browsers_entry_stays_short() -> None:
    assert len((ROOT / "app.py").read_text(encoding="utf-8").splitlines()) <= 30


def test_the_lock_file_names_no_registry_and_covers_every_dependency() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    for requirement in wanted:
        name = re.split(r"[<>=~!\[; ]", requirement)[0]
        assert re.search(rf"^{re.escape(name)}==.*\\\n\s+--hash=", lock, re.MULTILINE), (
            f"{name} is not locked"
        )


def test_nothing_reads_the_folder_beside_the_project() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in tracked.decode().split("\0"):
        path = ROOT / name
        if path.suffix in {".py", ".sql", ".toml", ".md"} and path.name != "test_architecture.py":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\.\./shared|(?<!\w)/work\b", text), (
                f"{name} names a place outside the project"
            )
