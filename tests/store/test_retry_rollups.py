"""Tests daily sums of retry sequences and of parallel calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from tests.analysis.store_fixture import a_call, a_turn, publish


def summed(tmp_path: Path, table: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    turns = [a_turn(1, results_expected=True)]
    path = publish(tmp_path / "store", {"tool_calls": calls, "turns": turns})
    with duckdb.connect(str(path), read_only=True) as connection:
        cursor = connection.execute(f"FROM {table}")
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_retries_are_counted_by_kind_and_by_whether_they_worked(tmp_path: Path) -> None:
    chain = {"chain_id": "c1", "chain_outcome": "recovered"}
    [row] = summed(
        tmp_path,
        "daily_chains",
        [
            a_call(1, fault_layer="schema", attempt=1, **chain),
            a_call(2, fault_layer="schema", attempt=2, retry_kind="identical", **chain),
            a_call(3, fault_layer="schema", attempt=3, retry_kind="identical", **chain),
            a_call(4, fault_layer="schema", attempt=4, retry_kind=None, **chain),
            a_call(5, attempt=5, retry_kind="changed", **chain),
        ],
    )
    kinds = {name: row[name] for name in row if "identical" in name or "changed" in name}
    assert kinds == {
        "identical": 2,
        "first_identical": 1,
        "first_identical_worked": 0,
        "first_changed": 0,
        "first_changed_worked": 0,
    }
    assert row["retries"] == 4
    assert (row["chains"], row["attempts"], row["ended"], row["steps"]) == (1, 5, "recovered", 4)


def test_a_bad_call_and_its_lost_neighbours_are_told_apart_from_other_steps(tmp_path: Path) -> None:
    def together(step: int, *calls: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            a_call(10 * step + number, step=step, ordinal=number) | each for number, each in enumerate(calls)
        ]

    bad, lost, fine = {"fault_layer": "syntax"}, {"result_status": "missing"}, {"result_status": "ok"}
    [row] = summed(
        tmp_path,
        "daily_parallel",
        [
            *together(1, bad, lost, fine),
            *together(2, fine, fine),
            *together(3, fine, lost),
            *together(4, bad),
        ],
    )
    counts = {
        name: row[name] for name in ("steps", "calls", "lost", "bad_steps", "bad", "others", "others_lost")
    }
    assert counts == {
        "steps": 3,
        "calls": 7,
        "lost": 2,
        "bad_steps": 1,
        "bad": 1,
        "others": 2,
        "others_lost": 1,
    }
