"""Runs the commands that pages, messages and documents print, with real files for their placeholders."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from typer._click.exceptions import BadOptionUsage, BadParameter, MissingParameter
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.cli.render.exit_codes import ExitCode
from tests.test_doc_examples import parse
from tests.test_printed_commands import HOLE, ROOT, printed_once, words_of

NOT_RUN = {
    "chat": "needs a model server",
    "probe": "needs a model server",
    "trial probe": "needs a model server",
    "trial run": "needs a model server",
    "record": "runs until Ctrl-C, or runs another program",
    "serve": "runs until Ctrl-C",
    "up": "runs until Ctrl-C",
    "demo": "runs until Ctrl-C",
    "mcp": "runs until its client leaves",
}
"""Commands that this test does not run. Each has tests of its own."""
# other machines, lines of a reference, input of a shell, and lines that have tests of their own
ELSEWHERE = re.compile(r"s3://|ray://|OPTIONS| < |--map |--mine")
NAMED_STORES = ("STORE", "DIR", "store", "gauge", "~/callgauge-store", "/srv/callgauge/store", HOLE)
BY_OPTION = {
    "--config": "callgauge.toml",
    "--tools": "tools.json",
    "--textfile": "callgauge.prom",
    "--session": "none",
    "--plan": "new/plan.toml",
    "--import": "rates.csv",
}
RUN = "demo/runs/one"
BY_COMMAND = {
    "backup": "new-backup",
    "check-config": "callgauge.toml",
    "explain": "missing_required",
    "fix-definition": "search",
    "export-tests": "tests",
    "formats": "logs/a.jsonl",
    "ingest": "logs",
    "init-config": "new.toml",
    "lint": "tools.json",
    "memory export": "memory.jsonl",
    "memory import": "memory.jsonl",
    "parse": "{}",
    "prices": "prices.csv",
    "restore": "backup",
    "token create": "agents",
    "token revoke": "ci",
    "trial check": "plan.toml",
    "trial demo": "demo",
    "trial report": RUN,
    "users add": "ann",
    "users link": "bob",
    "users remove": "bob",
    "verify": "backup",
}
"""The real argument for the placeholder of each command."""
EXIT_CODES = {
    # the store has no prompt or host of this name, or too few calls
    "gate": (ExitCode.WRONG_USE, ExitCode.NOT_ENOUGH_DATA),
    "lint": (ExitCode.DONE, ExitCode.FAILED),
}
PASSWORD = "a long enough password"  # noqa: S105
CONFIGURATION = """
store = "store"

[sources.all]
paths = ["logs"]
"""
TEXTS = ('{"query": "x", "limit": "5"}', "{}")
TOOL = {
    "name": "search",
    "description": "Search for a text.",
    "input_schema": {
        "type": "object",
        "required": ["query"],
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    },
}


def name_of(words: Sequence[str]) -> str:
    """Return the command in the words of a line, such as `ingest` or `trial check`."""
    groups = ("trial", "users", "token", "memory")
    return " ".join(words[1:3] if words[1] in groups else words[1:2])


def list_lines() -> list[tuple[str, ...]]:
    """Return the words of the printed lines that are whole commands and that this test can run."""
    lines = set()
    for _, line in printed_once():
        words = words_of(line)
        if name_of(words) not in NOT_RUN and not ELSEWHERE.search(line) and is_whole(words):
            lines.add(tuple(words))
    return sorted(lines)


def is_whole(words: list[str]) -> bool:
    """Return False for the mere name of a command, and for a command without a needed argument."""
    name = name_of(words)
    if len(words) == 1 + len(name.split()):
        return False
    try:
        parse(words[1:])
    except (MissingParameter, BadOptionUsage):
        return False
    except BadParameter:  # for example, a file that does not exist here
        return True
    return True


def fill_in(line_words: Sequence[str]) -> list[str]:
    """Return the words of a command, with real files and names instead of placeholders."""
    command = name_of(line_words)
    filled: list[str] = []
    for word in line_words[1:]:
        option = filled[-1] if filled and filled[-1].startswith("--") else ""
        if option == "--store" and command == "restore" and "--replace" not in line_words:
            filled.append("restored")
        elif option == "--store":
            filled.append("store" if word in NAMED_STORES else word)
        elif option in BY_OPTION:
            filled.append(BY_OPTION[option])
        elif word.isupper() or word in (HOLE, "raw", "code", "recorded", "runs/", "./more-logs"):
            filled.append(BY_COMMAND[command])
        else:
            filled.append(re.sub(r"^/var/lib/\w+/", "", word))
    if "--store" in filled or "--config" in filled or command not in ("ingest", "report"):
        return filled
    if command == "report":
        return [*filled, "--config", "callgauge.toml"]
    return [*filled, *([] if "logs" in filled else ["logs"]), "--store", "store"]


class Ended(NamedTuple):
    """The exit code and the output of a command."""

    exit_code: int
    output: str


def run(words: Sequence[str], typed: str = "") -> Ended:
    """Run a command. A trial needs a process of its own: other tests leave an event loop in this one."""
    if words[0] == "trial":
        command = [sys.executable, "-m", "callgauge", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        return Ended(ended.returncode, ended.stdout + ended.stderr)
    result = CliRunner().invoke(app, list(words), input=typed)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ended(result.exit_code, result.output)


def write_logs(folder: Path) -> None:
    """Write a log with a failed call. The fields also fit the mappings in docs/mapping.md."""
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": text}} for text in TEXTS
    ]
    messages = [
        {"role": "system", "content": "Fix it."},
        {"role": "user", "content": "find x"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "assistant", "content": "done"},
    ]
    records = [
        {
            "session_id": f"s{number}", "timestamp": f"2026-11-{20 + number}T10:00:00Z", "model": "heron",
            "messages": messages, "tools": [{"type": "function", "function": TOOL}],
        }
        for number in range(3)
    ]  # fmt: skip
    folder.mkdir()
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "a.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store, a backup of the store, logs, and the files that the commands name."""
    folder = tmp_path_factory.mktemp("printed")
    before = Path.cwd()
    os.chdir(folder)
    write_logs(folder / "logs")
    (folder / "tools.json").write_text(json.dumps([TOOL]), encoding="utf-8")
    shutil.copy(ROOT / "sample_data" / "prices.csv", folder / "prices.csv")
    rates = "model,host,date,rate,source\nheron,east-1,2026-11-01,3%,list\n"
    (folder / "rates.csv").write_text(rates, encoding="utf-8")
    for words in (
        ["ingest", "logs", "--store", "store"],
        ["backup", "--store", "store", "backup"],
        ["memory", "export", "--store", "store", "memory.jsonl"],
        ["token", "create", "ci", "--store", "store"],
        ["users", "add", "bob", "--store", "store"],
        ["trial", "demo", "demo"],
    ):
        result = run(words, f"{PASSWORD}\n{PASSWORD}\n")
        assert result.exit_code == 0, (words, result.output)
    (folder / "callgauge.toml").write_text(CONFIGURATION, encoding="utf-8")
    shutil.copytree(folder / "demo", folder / "trial", ignore=shutil.ignore_patterns("runs", "store"))
    shutil.copytree(folder / "trial", folder, dirs_exist_ok=True)
    next((folder / "demo" / "runs").iterdir()).rename(folder / RUN)
    os.chdir(before)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("words", list_lines(), ids=" ".join)
def test_a_printed_command_runs(
    words: tuple[str, ...], prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(prepared, tmp_path / "at")
    monkeypatch.chdir(tmp_path / "at")
    monkeypatch.setenv("HOME", str(tmp_path / "at"))
    result = run(fill_in(words), f"{PASSWORD}\n{PASSWORD}\n")
    assert result.exit_code in EXIT_CODES.get(name_of(words), (0,)), result.output
