"""Tests agent runs with the same session id. Different calls and turns all count, but copies count once."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline.load import load
from ingest.sessions.table_rows import is_random_id
from tests.store.night import ROLLUPS, ask, contents, count, session
from tests.store.test_copies import from_scratch
from tests.store.test_other_content import in_turn, write_over

Call = tuple[str | None, str, dict[str, Any]]
"""The id of the call in the log, the tool, and the arguments."""

CALLS = "SELECT {} FROM tool_calls WHERE NOT duplicate ORDER BY ALL"


def step(number: int, source: str, message: str, **more: Any) -> dict[str, Any]:
    return {"step_id": number, "source": source, "message": message, **more}


def trajectory(
    task: str, *calls: Call, session_id: str = "run", copied: str | None = None, indent: int | None = None
) -> str:
    """Return an ATIF document: a task, one step per call with the result, and an answer.

    If this trajectory continues an earlier trajectory, `copied` is the task of the earlier one, which is
    repeated.
    """
    steps = [step(1, "user", copied, is_copied_context=True)] if copied else []
    steps.append(step(len(steps) + 1, "user", task))
    for call_id, tool, arguments in calls:
        made = {"tool_call_id": call_id, "function_name": tool, "arguments": arguments}
        result = {"source_call_id": call_id, "content": "done"}
        steps.append(step(len(steps) + 1, "agent", "", tool_calls=[made], observation={"results": [result]}))
    steps.append(step(len(steps) + 1, "agent", "Done."))
    agent = {"name": "own-agent", "version": "1", "model_name": "m"}
    fields = {"schema_version": "ATIF-v1.5", "session_id": session_id, "agent": agent, "steps": steps}
    return json.dumps(fields, indent=indent)


ONE = trajectory("Make a file", ("call_1", "write", {"path": "a", "text": "A"}), ("call_2", "finish", {}))
OTHER = trajectory("Look around", ("call_1", "list", {"path": "/"}), ("call_2", "finish", {"why": "seen"}))


@pytest.mark.parametrize("reverse", [False, True])
def test_two_runs_under_one_session_id_lose_no_call(logs: Path, store: Path, reverse: bool) -> None:
    (logs / "a.json").write_text(OTHER if reverse else ONE)
    (logs / "b.json").write_text(ONE if reverse else OTHER)
    report = load([logs], store)
    assert (report.calls, report.duplicates) == (4, 0)
    assert ask(store, CALLS.format("tool, raw_arguments")) == [
        ("finish", '{"why":"seen"}'),
        ("finish", "{}"),
        ("list", '{"path":"/"}'),
        ("write", '{"path":"a","text":"A"}'),
    ]
    turns = "SELECT user_text, calls, derived_ok FROM turns WHERE NOT duplicate ORDER BY ALL"
    assert ask(store, turns) == [("Look around", 2, True), ("Make a file", 2, True)]
    tied = "SELECT t.user_text, c.tool FROM tool_calls c JOIN turns t USING (turn_id) ORDER BY ALL"
    assert ask(store, tied) == [
        ("Look around", "finish"),
        ("Look around", "list"),
        ("Make a file", "finish"),
        ("Make a file", "write"),
    ]


def test_the_same_run_under_two_names_counts_once(logs: Path, store: Path) -> None:
    (logs / "a.json").write_text(ONE)
    other = json.loads(ONE)
    other["steps"][1]["tool_calls"][0]["arguments"] = {"text": "A", "path": "a"}
    (logs / "b.json").write_text(json.dumps(other, indent=2))
    report = load([logs], store)
    assert (report.calls, report.duplicates) == (4, 2)
    assert len(ask(store, CALLS.format("call_id"))) == 2
    assert ask(store, "SELECT count(*) FROM turns WHERE NOT duplicate") == [(1,)]


@pytest.mark.thorough
def test_calls_of_one_place_differ_by_tool_arguments_or_id(logs: Path, store: Path) -> None:
    made: list[Call] = [
        ("c", "read", {"a": 1}),
        ("c", "read", {"a": 2}),
        ("c", "look", {"a": 1}),
        ("d", "read", {"a": 1}),
    ]
    for number, call in enumerate(made):
        (logs / f"{number}.json").write_text(trajectory("Same task", call))
    assert load([logs], store).duplicates == 0


def test_an_id_drawn_at_random_says_which_call_it_is(logs: Path, store: Path) -> None:
    """A random call id identifies a call, even if a second dump cut, redacted or changed the arguments."""
    for number, path in enumerate(("a.py", "[redacted]")):
        call = ("call_90R0NgAY0rQUYihSqVx7OuIs", "read", {"path": path})
        (logs / f"{number}.json").write_text(trajectory("Same task", call))
    assert load([logs], store).duplicates == 1


@pytest.mark.parametrize(
    ("name", "random"),
    [
        ("call_90R0NgAY0rQUYihSqVx7OuIs", True),
        ("toolu_01A09q90qw90lq917835lq9", True),
        ("123e4567-e89b-12d3-a456-426614174000", True),
        ("chatcmpl-tool-0f9a4d21bb7c4c0f8b1c2d3e4f5a6b7c", True),
        ("call_1", False),
        ("call_0_1", False),
        ("functions.read_file:0", False),
        ("functions.getcurrentweatherforecast:10", False),
        ("call_00000000000000000001", False),
    ],
)
def test_an_id_counts_as_drawn_at_random(name: str, random: bool) -> None:
    assert is_random_id(name) is random


@pytest.mark.thorough
def test_a_continuation_under_the_same_id_adds_its_calls(logs: Path, store: Path) -> None:
    (logs / "trajectory.json").write_text(trajectory("Build it", ("call_1", "shell", {"cmd": "make"})))
    (logs / "trajectory.cont-1.json").write_text(
        trajectory(
            "Here is what was done so far.", ("call_1", "shell", {"cmd": "make test"}), copied="Build it"
        )
    )
    report = load([logs], store)
    assert (report.calls, report.duplicates) == (2, 0)
    assert ask(store, "SELECT count(*) FROM turns WHERE NOT duplicate") == [(2,)]
    assert ask(store, "SELECT count(*), count(*) FILTER (NOT duplicate) FROM sessions") == [(2, 1)]


@pytest.mark.thorough
def test_a_run_that_grows_beside_another_of_its_id_replaces_only_itself(logs: Path, store: Path) -> None:
    steps: list[Call] = [(f"call_{number}", "write", {"n": number}) for number in range(3)]
    (logs / "other.json").write_text(OTHER)
    for length in (1, 2, 3):
        write_over(logs / "run.json", trajectory("Make files", *steps[:length]))
        load([logs], store)
    assert ask(store, CALLS.format("tool")) == [("finish",), ("list",), ("write",), ("write",), ("write",)]
    assert count(store, "tool_calls") == 5
    assert ask(store, "SELECT user_text, calls FROM turns ORDER BY ALL") == [
        ("Look around", 2),
        ("Make files", 3),
    ]


@pytest.mark.thorough
def test_two_nights_of_runs_under_one_id_in_one_file(logs: Path, store: Path, tmp_path: Path) -> None:
    *_, report = in_turn(logs / "run.json", store, [ONE, OTHER])
    assert (report.sessions_replaced, report.calls_fewer) == (0, 0)
    assert len(ask(store, CALLS.format("call_id"))) == 4
    assert ask(store, "SELECT count(*) FROM turns WHERE NOT duplicate") == [(2,)]
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


@pytest.mark.thorough
def test_the_order_of_loads_does_not_matter(logs: Path, tmp_path: Path) -> None:
    files = {"a": ONE, "b": OTHER, "c": ONE.replace("own-agent", "own agent")}
    tables = set()
    for order in permutations(files):
        store = tmp_path / "".join(order)
        for name in order:
            (logs / f"{name}.json").write_text(files[name])
            load([logs / f"{name}.json"], store)
        calls = ask(store, CALLS.format("call_id, turn_id, chain_id, tool"))
        turns = ask(store, "SELECT turn_id, user_text, calls FROM turns WHERE NOT duplicate ORDER BY ALL")
        tables.add(repr((calls, turns)))
    assert len(tables) == 1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("order", list(permutations(("begins", "goes on", "another"))))
def test_the_rest_of_a_turn_finds_the_turn_that_it_goes_on_with(
    logs: Path, store: Path, order: tuple[str, ...]
) -> None:
    lines = session("s", turns=(2,), day=5).splitlines(keepends=True)
    other = session("s", turns=(1,), day=2, raw='{"path": "b.py"}', ended=False).replace(
        "question 1", "hello"
    )
    files = {"begins": "".join(lines[:5]), "goes on": "".join(lines[5:]), "another": other}
    for name in order:
        (logs / f"{name}.jsonl").write_text(files[name])
        load([logs / f"{name}.jsonl"], store)
    turns = "SELECT user_text, calls, derived_reason FROM turns WHERE NOT duplicate ORDER BY ALL"
    assert ask(store, turns) == [("hello", 1, "not_ended"), ("question 1", 2, "ended_with_answer")]
