"""Tests `callgauge trial tasks`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
from callgauge.trials.planning.task_file import read_tasks
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from tests.analysis.store_fixture import a_turn, publish
from tests.trials.stored_failures import FAILED, call, store_tables, the_calls


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with two failed tool calls. For one of them, the beginning of the turn is missing."""
    other = {"session_id": "s2", "turn_id": "s2:1", "call_id": "other", "tool": "list"}
    fields = {"definition_id": None, "model": "heron-2"}
    calls = [*the_calls(), call(2, **FAILED) | other | fields | {"fault_layer": "schema"}]
    turns = [
        a_turn(1, user_text="Read a, please.", prompt_hash="h"),
        a_turn(1, user_text="List.", turn_id="s2:1", session_id="s2"),
    ]
    publish(tmp_path / "store", store_tables(calls, turns=turns))
    return tmp_path / "store"


def run(*words: object) -> Result:
    return CliRunner().invoke(cli.app, ["trial", "tasks", *map(str, words)])


def test_tasks_go_to_the_output_and_what_is_left_out_is_said(store: Path) -> None:
    result = run("--store", store, "--failed")
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line)["origin"] for line in result.stdout.splitlines()] == ["c2"]
    assert "1 task from 2 failed calls" in result.stderr
    assert (
        "left out: 1: the tool has no definition; supply the definitions with --tools FILE" in result.stderr
    )


@pytest.mark.thorough
def test_the_command_works_in_a_process_of_its_own(store: Path) -> None:
    words = [sys.executable, "-m", "callgauge", "trial", "tasks", "--store", str(store), "--failed"]
    process = subprocess.run(words, capture_output=True, cwd=Path(__file__).parents[2])
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["origin"] == "c2"


def test_definitions_may_be_given(store: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(
        json.dumps({"name": "list", "input_schema": {"type": "object"}, "description": "Lists."})
    )
    result = run("--store", store, "--failed", "--tools", tools)
    assert sorted(json.loads(line)["origin"] for line in result.stdout.splitlines()) == ["c2", "other"]
    tools.write_text("{")
    refused = run("--store", store, "--failed", "--tools", tools)
    assert (refused.exit_code, str(tools) in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "origins"),
    [
        (["--tool", "read_file"], ["c2"]),
        (["--layer", "syntax", "--layer", "execution"], ["c2"]),
        (["--session", "s1"], ["c2"]),
        (["--failed", "--model", "falcon-3"], ["c2"]),
    ],
)
def test_calls_are_chosen_by_what_is_known_of_them(store: Path, words: list[str], origins: list[str]) -> None:
    result = run("--store", store, *words)
    assert [json.loads(line)["origin"] for line in result.stdout.splitlines()] == origins


@pytest.mark.parametrize(
    "words", [["--tool", "nope"], ["--failed", "--model", "nope"], ["--signature", "f00"]]
)
def test_a_choice_without_calls_is_said(store: Path, words: list[str]) -> None:
    result = run("--store", store, *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no failed call matches these options" in result.stderr


def test_a_choice_of_which_no_call_becomes_a_task_writes_nothing(store: Path, tmp_path: Path) -> None:
    result = run("--store", store, "--tool", "list", "--plan", tmp_path / "plan.toml")
    assert result.exit_code == 1
    assert "0 tasks from 1 failed call" in result.stderr
    assert not (tmp_path / "plan.toml").exists()


def test_a_plan_stands_beside_its_tasks_prompts_and_definitions(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    result = run("--store", store, "--failed", "--plan", folder / "plan.toml")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert f"callgauge trial check {folder / 'plan.toml'}" in result.stderr
    plan, tasks = read_plan_and_tasks(folder / "plan.toml")
    assert [task.origin for task in tasks] == ["c2"]
    assert [model.model for model in plan.models.values()] == ["falcon-3"]
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert names == ["plan.toml", "prompts/support.md", "tasks.jsonl", "tools/as-it-was.json"]


def test_the_task_file_may_lie_elsewhere(store: Path, tmp_path: Path) -> None:
    result = run(
        "--store", store, "--failed", "--plan", tmp_path / "a/plan.toml", "-o", tmp_path / "b/mine.jsonl"
    )
    assert result.exit_code == 0, result.stderr
    assert read_plan_and_tasks(tmp_path / "a/plan.toml")[0].tasks_path.resolve() == tmp_path / "b/mine.jsonl"
    alone = run("--store", store, "--failed", "-o", tmp_path / "alone.jsonl", "--expect-recovered")
    assert (alone.exit_code, alone.stdout) == (0, "")
    [task] = read_tasks(tmp_path / "alone.jsonl")
    assert task.expect is not None
    assert task.expect.calls[0].accepted == {"path": ("a",), "limit": (20,)}


@pytest.mark.parametrize("existing", ["plan.toml", "tasks.jsonl", "tools/as-it-was.json"])
def test_no_file_is_written_over(store: Path, tmp_path: Path, existing: str) -> None:
    (tmp_path / "t/tools").mkdir(parents=True)
    (tmp_path / "t" / existing).write_text("mine")
    result = run("--store", store, "--failed", "--plan", tmp_path / "t/plan.toml")
    assert result.exit_code == 2
    assert f"{tmp_path / 't' / existing} already exists; name another file, or move it away" in result.stderr
    assert [path.read_text() for path in (tmp_path / "t").rglob("*") if path.is_file()] == ["mine"]


def test_a_file_that_cannot_be_written_is_named(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("--store", store, "--failed", "-o", tmp_path / "file" / "tasks.jsonl")
    assert result.exit_code == 1
    assert "cannot write" in result.stderr


def test_the_newest_calls_are_looked_at_first(store: Path) -> None:
    result = run("--store", store, "--failed", "--limit", 1)
    assert "from the newest 1 of 2 failed calls" in result.stderr


@pytest.mark.parametrize(("words", "why"), [([], "choose calls with"), (["--failed", "--layer", "x"], "'x'")])
def test_wrong_use_is_said(store: Path, words: list[str], why: str) -> None:
    result = run("--store", store, *words)
    assert (result.exit_code, why in result.stderr) == (2, True)


def test_a_store_that_is_none_is_said(tmp_path: Path) -> None:
    result = run("--store", tmp_path / "none", "--failed")
    assert result.exit_code == 1
    assert "callgauge ingest PATH" in result.stderr
