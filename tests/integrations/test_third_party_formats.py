"""Tests log formats that other packages provide."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import duckdb
import pytest

from tests.integrations.distributions import install_distribution, read_example, run_python

MODULE = read_example("Log formats", "python", "acme_format.py")
DECLARED = tomllib.loads(read_example("Log formats", "toml"))["project"]
LINE = {
    "acme_run": "r1",
    "time": "2026-11-09T08:00:00Z",
    "model": "m",
    "tool": "t",
    "args": '{"a": 1,}',
    "ok": True,
}
UNREADABLE = {"what": "no log of anybody"}
HOSTILE = MODULE.replace(
    "    return bool(head) and", "    raise ValueError('\\x1b[31mno\\nluck')\n    return bool(head) and"
).replace('name="acme"', 'name="hostile"')


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    install_distribution(folder, DECLARED["name"], DECLARED["entry-points"], {"acme_format.py": MODULE})
    return folder


def write_log(path: Path, *records: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read_calls(store: Path) -> list[tuple[object, ...]]:
    generation = store / (store / "CURRENT").read_text().strip()
    with duckdb.connect(str(generation), read_only=True) as connection:
        return connection.execute(
            "SELECT source, session_id, tool, outcome, model FROM tool_calls ORDER BY ALL"
        ).fetchall()


@pytest.mark.thorough
def test_an_installed_format_is_listed_and_read_in_worker_processes(site: Path, tmp_path: Path) -> None:
    for number in range(4):
        record = {**LINE, "acme_run": f"r{number}"}
        write_log(tmp_path / "logs" / f"{number}.jsonl", record, {**record, "args": None}, record)
    listed = run_python(site, tmp_path, "-m", "callgauge", "formats", "--json")
    (source,) = [each for each in json.loads(listed.stdout) if each["name"] == "acme"]
    assert (source["distribution"], source["title"]) == ("acme-logs 1.0", "Acme agent")
    words = ("ingest", "logs", "--store", "store", "--workers", "2")
    load = run_python(site, tmp_path, "-m", "callgauge", *words)
    assert load.returncode == 3, load.stderr
    expected = [("acme", f"r{number}", "t", "repaired", "m") for number in range(4) for _ in range(2)]
    assert read_calls(tmp_path / "store") == expected


@pytest.mark.thorough
def test_a_grown_file_is_read_again_without_doubles(site: Path, tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs" / "a.jsonl", LINE)
    for _ in range(2):
        load = run_python(site, tmp_path, "-m", "callgauge", "ingest", "logs", "--store", "store")
        assert load.returncode == 0, load.stderr
        write_log(path, LINE, LINE)
    assert len(read_calls(tmp_path / "store")) == 2


BROKEN = {
    "not_there": ("nowhere", None, "its import failed with ModuleNotFoundError: No module named 'nowhere'"),
    "exits": ("exits", "raise SystemExit('bye')", "its import failed with SystemExit: bye"),
    "bare": ("bare", "", "it has no SOURCE that is a callgauge.log_formats.Source"),
    "other": ("other", MODULE, "SOURCE.name is 'acme' but must equal the entry point's name"),
    "half": (
        "half",
        MODULE.replace('"acme"', '"half"').replace("def translator", "def translate"),
        "it has no function translator",
    ),
    "codex": (
        "codex_again",
        MODULE.replace('"acme"', '"codex"'),
        "Callgauge already has a format of this name",
    ),
    "Odd-Name": ("odd", MODULE, "its name is not lower-case letters, digits and _"),
}  # fmt: skip


@pytest.mark.thorough
def test_formats_that_cannot_be_used_are_named_and_all_others_work(site: Path, tmp_path: Path) -> None:
    modules = {f"{module}.py": text for module, text, _ in BROKEN.values() if text is not None}
    entries = {name: module for name, (module, _, _) in BROKEN.items()}
    install_distribution(site, "broken-logs", {"callgauge.formats": {**entries, "hostile": "hostile"}},
                         {**modules, "hostile.py": HOSTILE})  # fmt: skip
    for name in ("first", "second"):
        install_distribution(site, f"{name}-twin", {"callgauge.formats": {"twin": "acme_format"}})
    write_log(tmp_path / "logs" / "acme.jsonl", LINE)
    chat = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
    write_log(tmp_path / "logs" / "chat.jsonl", chat)
    write_log(tmp_path / "logs" / "none.json", UNREADABLE)
    load = run_python(site, tmp_path, "-m", "callgauge", "ingest", "logs", "--store", "store")
    assert [call[0] for call in read_calls(tmp_path / "store")] == ["acme"]
    output = load.stdout + load.stderr
    for name, (module, _, reason) in BROKEN.items():
        assert f"the format {name!r} of broken-logs 1.0 is not used: {reason}" in output, output
        assert f"(entry point {name} = {module}); update the distribution or uninstall it" in output
    for name in ("first", "second"):
        assert f"the format 'twin' of {name}-twin 1.0 is not used: 2 distributions have" in output
    assert "the format hostile failed on it: ValueError" in output
    assert "report it to the authors of broken-logs 1.0, or uninstall it" in output
    assert "\x1b" not in output
    assert "Traceback" not in output
    assert "2 read" in output


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("replaced", "replacement", "reason"),
    [
        ("        line = record.value\n", "        raise KeyError('model')\n", "KeyError: 'model'"),
        ("        line = record.value\n", "        raise SystemExit\n", "SystemExit"),
        (
            "        line = record.value\n",
            "        yield 1\n        return\n",
            "it yielded an object of type int, not an event",
        ),
        ("    def finish(self)", "    def end(self)", "its translator has no method finish()"),
        ("    return AcmeCalls()", "    return 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_format_that_fails_while_it_reads_costs_that_file(
    tmp_path: Path, replaced: str, replacement: str, reason: str
) -> None:
    site = tmp_path / "site"
    module = MODULE.replace(replaced, replacement)
    assert module != MODULE
    install_distribution(site, "acme-logs", DECLARED["entry-points"], {"acme_format.py": module})
    write_log(tmp_path / "logs" / "acme.jsonl", LINE)
    chat = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
    write_log(tmp_path / "logs" / "chat.jsonl", chat)
    load = run_python(
        site, tmp_path, "-m", "callgauge", "ingest", "logs", "--store", "store", "--workers", "2"
    )
    output = load.stdout + load.stderr
    assert load.returncode == 3, output
    assert "caused an error while reading acme logs at line" in output
    assert f"({reason}); report it to the authors of acme-logs 1.0, or uninstall it" in output
    assert "1 read" in output
    assert "Traceback" not in output


@pytest.mark.thorough
def test_a_format_that_claims_everything_takes_no_file_from_ours(tmp_path: Path) -> None:
    greedy = MODULE.replace("return bool(head) and all(", "return True or all(")
    assert greedy != MODULE
    install_distribution(tmp_path / "site", "acme-logs", DECLARED["entry-points"], {"acme_format.py": greedy})
    example = Path(__file__).parents[2] / "docs" / "session-log.example.jsonl"
    shown = run_python(tmp_path / "site", tmp_path, "-m", "callgauge", "formats", example, "--json")
    (claim,) = json.loads(shown.stdout)
    assert claim["name"] == "session_history"
    assert claim["others"]["acme"] == "reads only files that no other format reads"


@pytest.mark.thorough
def test_help_does_not_look_for_entry_points(site: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from callgauge.cli.main import main; sys.argv = ['callgauge', '--help']\n"
        "try: main()\n"
        "finally: print(sorted({'importlib.metadata', 'acme_format', 'ingest.formats'} & set(sys.modules)))"
    )
    done = run_python(site, tmp_path, "-c", code)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout[-300:] + done.stderr
