"""Tests the pytest plugin in another project."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integrations.conftest import BEFORE, QUIET, WORSE
from tests.integrations.distributions import ROOT, read_example, run_python

PASSES = "def test_nothing():\n    pass\n"
STRICT = "[pytest]\naddopts = --strict-config --strict-markers -p no:cacheprovider\nfilterwarnings = error\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(STRICT)
    (tmp_path / "test_one.py").write_text(PASSES)
    return tmp_path


def run_pytest(site: Path, project: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return run_python(site, project, "-m", "pytest", *words)


def gate(store: Path, size: str, days: str, *more: str) -> list[str]:
    words = ["--callgauge-store", str(store), "--callgauge-baseline", BEFORE, "--callgauge-days", days]
    return [*words, "--callgauge-no-worse", size, *more]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("size", "days", "more", "code", "line"),
    [
        ("3%", WORSE, [], 1, "FAILED Worse: parse errors "),
        ("0.03", QUIET, [], 0, "passed Not worse: parse errors "),
        ("0.001", QUIET, [], 0, "not judged Not enough data"),
        ("0.001", QUIET, ["--callgauge-require-data"], 1, "FAILED Not enough data"),
        ("mended=1%", QUIET, [], 0, "passed Not worse: calls that needed repair "),
    ],
)
def test_a_session_fails_where_the_store_is_worse(
    site: Path, project: Path, worse_store: Path, size: str, days: str, more: list[str], code: int, line: str
) -> None:
    done = run_pytest(site, project, *gate(worse_store, size, days, *more))
    assert done.returncode == code, done.stdout + done.stderr
    summary = done.stdout.partition("callgauge gate")[2]
    assert line in summary, done.stdout
    assert "1 passed" in summary


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--callgauge-store", "none"], 4, "--callgauge-store needs --callgauge-baseline, too"),
        (["--callgauge-no-worse", "0.02"], 4, "--callgauge-no-worse needs --callgauge-store, too"),
        (gate(Path("none"), "much", QUIET), 4, "the margin of a gate is a number"),
        (gate(Path("none"), "x=1%", QUIET), 4, "unknown rate 'x'"),
        (gate(Path("none"), "1%", QUIET), 1, "FAILED Nothing has been loaded yet. Load logs into it"),
    ],
)
def test_wrong_use_is_one_sentence(
    site: Path, project: Path, words: list[str], code: int, message: str
) -> None:
    done = run_pytest(site, project, *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.thorough
def test_a_failed_test_keeps_its_exit_code_and_a_collection_is_not_judged(
    site: Path, project: Path, worse_store: Path
) -> None:
    collected = run_pytest(site, project, "--collect-only", *gate(worse_store, "3%", WORSE))
    assert (collected.returncode, "callgauge gate" in collected.stdout) == (0, False)
    (project / "test_one.py").write_text("def test_wrong():\n    assert False\n")
    failed = run_pytest(site, project, *gate(worse_store, "3%", QUIET))
    assert failed.returncode == 1
    assert "passed Not worse" in failed.stdout
    (project / "test_one.py").unlink()
    assert run_pytest(site, project, *gate(worse_store, "3%", WORSE)).returncode == 1
    # 5 is pytest's exit code if no test was collected
    assert run_pytest(site, project, *gate(worse_store, "3%", QUIET)).returncode == 5


@pytest.mark.thorough
def test_the_gate_runs_in_one_process_of_xdist(site: Path, project: Path, worse_store: Path) -> None:
    done = run_pytest(site, project, "-n", "2", *gate(worse_store, "3%", WORSE))
    assert (done.returncode, done.stdout.count("FAILED Worse")) == (1, 1), done.stdout


@pytest.mark.thorough
def test_the_example_of_the_fixture_passes_and_a_wrong_call_fails(site: Path, project: Path) -> None:
    example = read_example("pytest", "python", "test_agent.py")
    (project / "test_one.py").unlink()
    (project / "test_agent.py").write_text(example)
    shutil.copy(ROOT / "docs" / "session-log.example.jsonl", project / "session.jsonl")
    names = ("search_tickets", "close_ticket")
    anything = {"type": "object", "properties": {}}
    tools = [{"name": name, "input_schema": anything} for name in names]
    (project / "tools.json").write_text(json.dumps(tools))
    done = run_pytest(site, project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "session.jsonl:4, search_tickets:" in done.stdout
    assert "warning: missing_closer" in done.stdout
    assert "Traceback" not in done.stdout


SHAPES = """
TOOLS = [{"name": "search", "input_schema": {"type": "object", "properties": {"limit": {"type": "integer"}}}}]
GOOD = {"limit": 1}
BAD = {"limit": "many"}


def shapes(sent, as_text):
    return [
        {"name": "search", "arguments": sent},
        {"name": "search", "arguments": as_text},
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": as_text}},
        {"type": "function_call", "call_id": "1", "name": "search", "arguments": as_text},
        {"type": "tool_use", "id": "1", "name": "search", "input": sent},
        {"functionCall": {"name": "search", "args": sent}},
        {"toolUse": {"toolUseId": "1", "name": "search", "input": sent}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "search", "arguments": sent}},
        {"role": "assistant", "tool_calls": [{"function": {"name": "search", "arguments": as_text}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "search", "input": sent}]},
        {"role": "model", "parts": [{"functionCall": {"name": "search", "args": sent}}]},
    ]


class OfAnSdk:
    def model_dump(self):
        return shapes(GOOD, '{"limit": 1}')[2]


def test_good(callgauge_check_calls):
    calls = [*shapes(GOOD, '{"limit": 1}'), OfAnSdk()]
    assert callgauge_check_calls(calls, TOOLS, policy="strict").checked == len(calls) == 12


def test_bad(callgauge_check_calls):
    callgauge_check_calls(shapes(BAD, '{"limit": "many"}'), TOOLS)


def test_repaired(callgauge_check_calls):
    callgauge_check_calls([{"name": "search", "arguments": '{"limit": 1,}'}], TOOLS)


def test_strict(callgauge_check_calls):
    callgauge_check_calls([{"name": "search", "arguments": '{"limit": 1,}'}], TOOLS, policy="strict")


def test_empty(callgauge_check_calls):
    callgauge_check_calls([], TOOLS)


def test_no_name(callgauge_check_calls):
    callgauge_check_calls([{"odd": 1}], TOOLS)


def test_no_file(callgauge_check_calls):
    callgauge_check_calls("nowhere.jsonl", TOOLS)


def test_no_log(callgauge_check_calls):
    callgauge_check_calls("test_shapes.py", TOOLS)


def test_no_definitions(callgauge_check_calls):
    callgauge_check_calls([{"name": "search", "arguments": {}}], "nowhere.json")


def test_no_policy(callgauge_check_calls):
    callgauge_check_calls([{"name": "search", "arguments": {}}], TOOLS, policy="lax")


def test_hostile(callgauge_check_calls):
    callgauge_check_calls([{"name": "\\x1b[31m\\n::error::", "arguments": "\\udc80" * 10_000}], TOOLS)
"""


def test_calls_of_every_provider_are_checked_and_mistakes_are_named(site: Path, project: Path) -> None:
    (project / "test_shapes.py").write_text(SHAPES)
    done = run_pytest(site, project)
    failed = {
        line.split(" - ")[0].rpartition("::")[2] for line in done.stdout.splitlines() if line[:6] == "FAILED"
    }
    assert failed == {
        "test_bad", "test_strict", "test_empty", "test_no_name", "test_no_file", "test_no_log",
        "test_no_definitions", "test_no_policy", "test_hostile",
    }, done.stdout  # fmt: skip
    for sentence in (
        "11 problems in 11 checked calls:", "calls[10], search:", "unsupported_integer_literal",
        "note: trailing_comma", "there is no tool call to check", "calls[0] names no tool: it has odd",
        "nowhere.jsonl does not exist", "test_shapes.py has no JSON object",
        "cannot read the tool definitions: nowhere.json", "unknown policy 'lax'; use strict, safe, lenient",
    ):  # fmt: skip
        assert sentence in done.stdout, done.stdout
    assert "\x1b[31m" not in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.thorough
def test_a_session_without_its_options_imports_nothing_of_callgauge(site: Path, project: Path) -> None:
    (project / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_unconfigure():\n"
        "    print(sorted(name for name in sys.modules if name.split('.')[0] in "
        "('callgauge', 'ingest', 'lenient', 'pandas', 'duckdb')))\n"
    )
    done = run_pytest(site, project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "['callgauge', 'callgauge.pytest_plugin']" in done.stdout
