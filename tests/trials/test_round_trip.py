"""Tests making tasks from a log, a trial with these tasks, and loading the trial's log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from typer.testing import CliRunner

from callgauge.cli import main as cli
from callgauge.gateway import Gateway, tool
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.in_process import BrainEndpoint
from tests.trials.made_plan import KNOWN, go, opened_by

BROKEN = "I would like to read b."
UNFIT = '{"limit": "many"}'


@tool(name="list_files", description="List the files of a folder.")
def list_files(folder: str) -> str:
    return f"{folder}: a.txt b.txt"


@tool(name="read_file", description="Read a file.")
def read_file(path: str, limit: int = 10) -> str:
    return f"{path} has {limit} lines."


def brain(request: Asked) -> Emitted:
    """Answer as a model with three behaviours, chosen by the last message."""
    if "Report" in request.user:
        return Emitted(calls=[("report_number", '{"number": 7}')])
    text = request.last.text
    if request.last.role == "user" and text.startswith("Look"):
        return Emitted("I look first.", [("list_files", '{"folder": "."}')])
    if text == ".: a.txt b.txt":
        failures = {"Look at b.": ("read_file", BROKEN), "Look at a.": ("read_file", UNFIT)}
        return Emitted(calls=[failures.get(request.user, ("open_file", '{"path": "c"}'))])
    if "not run" in text or "There is no tool" in text:
        return Emitted(calls=[("read_file", '{"path": "a", "limit": 3}')])
    return Emitted(f"So: {text}")


def make_log(folder: Path) -> None:
    """Log three conversations, each with one failed call and the successful retry of this call."""

    async def talk(text: str, number: int) -> None:
        endpoint = BrainEndpoint(brain)
        asking = Gateway(
            endpoint, [list_files, read_file], "falcon-3", "Be kind.", capabilities=KNOWN, log=folder,
            session_id=f"s{number}",
        )  # fmt: skip
        async with asking as gateway:
            turn = await gateway.run(text)
        assert (turn.status, turn.answer) == ("ok", "So: a has 3 lines.")

    for number, text in enumerate(("Look at b.", "Look at a.", "Look at c.")):
        run(talk(text, number))


def load_log(folder: Path, store: Path) -> list[dict[str, Any]]:
    """Load a folder of logs. Return the calls in the order of their turns."""
    load([folder], store)
    generation = published_generation(store)
    assert generation
    query = """
        SELECT t.user_text, c.tool, c.raw_arguments, c.fault_layer, s.text AS signature, c.simulated
        FROM tool_calls c JOIN turns t USING (turn_id) LEFT JOIN signatures s USING (signature_id)
        ORDER BY t.user_text, c.step, c.ordinal"""
    with duckdb.connect(str(generation), read_only=True) as connection:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def failures(calls: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        tuple(call[name] for name in ("user_text", "tool", "raw_arguments", "fault_layer", "signature"))
        for call in calls
        if call["fault_layer"] is not None
    ]


def test_failures_that_become_tasks_fail_in_the_same_way_again(tmp_path: Path) -> None:
    make_log(tmp_path / "logs")
    logged = load_log(tmp_path / "logs", tmp_path / "store")
    assert [layer for *_, layer, _ in failures(logged)] == ["schema", "syntax", "schema"]

    words = [
        "trial",
        "tasks",
        "--store",
        tmp_path / "store",
        "--failed",
        "--plan",
        tmp_path / "t" / "plan.toml",
    ]
    invocation = CliRunner().invoke(cli.app, list(map(str, words)))
    assert invocation.exit_code == 0, invocation.output
    plan, tasks = read_plan_and_tasks(tmp_path / "t" / "plan.toml")
    assert [len(task.messages) for task in tasks] == [3, 3, 3]
    assert next(iter(plan.prompts.values())).text.startswith("Be kind.")

    end = go(plan, tasks, tmp_path / "run", opened=opened_by(brain))
    assert (end.reason, len(end.outcomes)) == ("done", 9)
    assert {(outcome.refused, outcome.misses, outcome.status) for outcome in end.outcomes} == {(1, 0, "ok")}

    again = load_log(tmp_path / "run" / "sessions", tmp_path / "tried")
    assert sorted(failures(again)) == sorted(failures(logged) * 3)
    assert {call["simulated"] for call in again if call["fault_layer"] is None} == {"recorded"}
    assert [tool.name for tool in plan.definitions["as-it-was"]] == ["list_files", "read_file"]
    assert {arm.adds_template for arm in plan.arms} == {False}
