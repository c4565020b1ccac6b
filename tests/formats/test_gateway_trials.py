"""Tests trials in the published session log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.pipeline.load import load
from ingest.store.generations import published_generation


def write_trial(folder: Path, arm: str, task: str, repeat: int, *, passed: bool) -> None:
    """Write the log of one trial: a session with one turn, and the result of the check."""
    name = f"{arm}-{task}-{repeat}"
    trial = {"run": "r1", "arm": arm, "repeat": repeat}
    start = {"model": arm, "task": task, "trial": trial, "probe": {"ok": True, "id": f"probe-{arm}"}}
    start |= {"sampling": {"temperature": 0.2}, "capabilities": {"supports_tool_use": {"value": True}}}
    end = {
        "status": "ok",
        "verdict": {
            "ok": passed,
            "by": "expected calls",
            "why": "as expected" if passed else "no call of close",
        },
        "compensations": 1,
        "cost": 0.25,
    }
    step = {"stop_reason": "tool_use", "resent": 2, "tokens": {"prompt": 9, "completion": 2, "cached": 4}}
    called = {"toolBlocks": [{"id": "c", "name": "close", "raw": "{}"}]}
    result = {"action_id": "c", "status": "success", "simulated": "recorded"}
    events: list[dict[str, Any]] = [
        {"type": "session_start", "meta": start},
        {"type": "turn_start", "turn": 1, "content": "Close it."},
        {"type": "assistant", "turn": 1, "step": 0, "meta": step},
        {"type": "action", "turn": 1, "step": 0, "meta": called},
        {"type": "observation", "turn": 1, "step": 0, "content": "closed", "meta": result},
        {"type": "assistant", "turn": 1, "step": 1, "content": "Done.", "meta": {"stop_reason": "end_turn"}},
        {"type": "final", "turn": 1, "step": 1, "content": "Done."},
        {"type": "turn_end", "turn": 1, "meta": end},
    ]
    lines = [
        json.dumps({"ts": f"2026-11-09T08:15:{at:02}Z", "sessionId": name, **event})
        for at, event in enumerate(events)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("of_replies", "of_turn", "stored"),
    [((0.1, 0.2), None, 0.3), ((0.1, 0.2), 0.5, 0.5), ((0.1, None), None, None), ((None, None), None, None)],
)
def test_a_turn_costs_what_its_end_says_else_what_all_its_replies_cost(
    of_replies: tuple[float | None, ...], of_turn: float | None, stored: float | None, tmp_path: Path
) -> None:
    events: list[dict[str, object]] = [{"type": "session_start", "meta": {"model": "m"}}]
    for turn in (1, 2):  # the cost of the first turn must not be added to the second turn
        events.append({"type": "turn_start", "turn": turn, "content": "Go."})
        events += [
            {"type": "assistant", "turn": turn, "step": step, "content": "Hm.", "meta": {"cost": cost}}
            for step, cost in enumerate(of_replies)
        ]
        events.append({"type": "final", "turn": turn, "step": 1, "content": "Done."})
        events.append({"type": "turn_end", "turn": turn, "meta": {"status": "ok", "cost": of_turn}})
    lines = [json.dumps({"ts": "2026-11-09T08:15:00Z", "sessionId": "s", **event}) for event in events]
    (tmp_path / "s.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert load([tmp_path / "s.jsonl"], tmp_path / "store").rejects == 0
    generation = published_generation(tmp_path / "store")
    assert generation is not None
    costs = duckdb.connect(str(generation), read_only=True).execute("SELECT cost FROM turns").fetchall()
    assert costs == [(pytest.approx(stored),)] * 2 if stored is not None else costs == [(None,)] * 2


def test_a_trial_reaches_the_tables_with_its_task_arm_and_verdict(tmp_path: Path) -> None:
    folder, store = tmp_path / "logs", tmp_path / "store"
    folder.mkdir()
    for arm, passes in (("old", (True, False)), ("new", (True, True))):
        for task in ("t1", "t2"):
            for repeat, passed in enumerate(passes):
                write_trial(folder, arm, task, repeat, passed=passed)
    report = load([folder], store)
    assert (report.rejects, report.rejected) == (0, ())
    generation = published_generation(store)
    assert generation is not None
    connection = duckdb.connect(str(generation), read_only=True)

    def ask(query: str) -> list[tuple[Any, ...]]:
        return connection.execute(query).fetchall()

    assert ask("SELECT run, arm, repeat_no, count(*) FROM sessions GROUP BY ALL ORDER BY ALL") == [
        ("r1", "new", "0", 2), ("r1", "new", "1", 2), ("r1", "old", "0", 2), ("r1", "old", "1", 2),
    ]  # fmt: skip
    outcomes = "SELECT DISTINCT stop_reason, compensations, resent, cost FROM turns"
    assert ask(outcomes) == [("end_turn", 1, 2, 0.25)]
    assert ask("SELECT DISTINCT capabilities, sampling FROM sessions") == [
        ('{"supports_tool_use":{"value":true}}', '{"temperature":0.2}')
    ]
    assert ask("SELECT recorded_ok, verdict_reason, count(*) FROM turns GROUP BY ALL ORDER BY ALL") == [
        (False, "no call of close", 2), (True, "as expected", 6),
    ]  # fmt: skip
    assert ask("SELECT DISTINCT simulated, cached_tokens FROM tool_calls") == [("recorded", 4)]
    tried = (
        "SELECT model, task, count(*), sum(recorded_ok::INTEGER) FROM task_trials GROUP BY ALL ORDER BY ALL"
    )
    assert ask(tried) == [
        ("new", "session_history:t1", 2, 2), ("new", "session_history:t2", 2, 2),
        ("old", "session_history:t1", 2, 1), ("old", "session_history:t2", 2, 1),
    ]  # fmt: skip
    assert ask("SELECT probe_id, count(*) FROM probes GROUP BY ALL ORDER BY ALL") == [
        ("probe-new", 4),
        ("probe-old", 4),
    ]
