"""Tests the assignment of sessions to groups."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.store.scripts import read_script
from tests.analysis.store_fixture import a_call, a_turn, publish
from tests.store.night import ask
from tests.store.recount import Row, group_of

SOURCE = "session_history"
LISTS = "group_ids, group_k, group_n"
REFUSED: Row = {"fault_layer": "syntax", "outcome": "failed"}


def groups_by_sql(sessions: list[tuple[str | None, str | None]]) -> list[int]:
    with duckdb.connect() as con:
        con.execute(read_script("session_group.sql"))
        query = "SELECT session_group(?::VARCHAR, ?::VARCHAR)"
        return [row[0] for session in sessions if (row := con.execute(query, session).fetchone())]


def two_of_one_group() -> tuple[str, str]:
    return next(("s0", f"s{at}") for at in count(1) if group_of(SOURCE, f"s{at}") == group_of(SOURCE, "s0"))


def test_the_group_is_the_same_in_sql_and_in_python() -> None:
    sessions = [
        ("claude_code", "0b1f6c0e-6f0c-4a54-8f0e-2f0f5b1d7c3a"),
        ("session_history", "sitzung-größe-東京-🦜"),
        ("quelle-ä", "e\u0301 is not é"),
        ("", ""),
        (None, "s1"),
        ("s1", None),
        (None, None),
        ("a", "bc"),
        ("ab", "c"),
        ("otlp", "x" * 5_000),
    ]
    assert groups_by_sql(sessions) == [group_of(*session) for session in sessions]


def test_a_group_never_changes() -> None:
    """Stores of several years are compared with each other, and another hash would change the statistics."""
    assert groups_by_sql([("claude_code", "s1"), ("otlp", "é"), (None, "s1"), ("", "s1")]) == [23, 6, 4, 4]


@pytest.mark.thorough
def test_sessions_are_spread_evenly_over_fifty_groups() -> None:
    sizes = Counter(groups_by_sql([("claude_code", f"session-{number}") for number in range(5_000)]))
    assert sorted(sizes) == list(range(50))
    assert min(sizes.values()) > 60
    assert max(sizes.values()) < 140


def test_the_sessions_of_a_group_are_added_and_the_groups_are_in_order(tmp_path: Path) -> None:
    mine, yours = two_of_one_group()
    other = next(f"s{at}" for at in count() if group_of(SOURCE, f"s{at}") < group_of(SOURCE, mine))
    calls = [
        a_call(1, session_id=mine, **REFUSED),
        a_call(2, session_id=yours, **REFUSED),
        a_call(3, session_id=yours),
        a_call(4, session_id=other),
        a_call(5, session_id="unseen", syntax_seen="none", schema_seen="none"),
    ]
    publish(tmp_path, {"tool_calls": calls})
    ids = [group_of(SOURCE, other), group_of(SOURCE, mine)]
    for cut in ("all", "tool"):
        where = f"rate = 'parse_error' AND cut = '{cut}'"
        rows = ask(tmp_path, f"SELECT k, n, total, sessions, {LISTS} FROM daily_rates WHERE {where}")  # noqa: S608
        assert rows == [(2, 4, 5, 3, ids, [0, 2], [1, 3])]


def test_where_nothing_can_be_known_no_group_is_listed(tmp_path: Path) -> None:
    publish(tmp_path, {"tool_calls": [a_call(1, syntax_seen="none", schema_seen="none")]})
    where = "rate = 'parse_error' AND cut = 'all'"
    rows = ask(tmp_path, f"SELECT k, n, total, sessions, {LISTS} FROM daily_rates WHERE {where}")  # noqa: S608
    assert rows == [(0, 0, 1, 0, [], [], [])]


@pytest.fixture
def one_session(tmp_path: Path) -> Path:
    """Return a store with one session with a non-ASCII id, two days, two models and two tools."""
    who: dict[str, Any] = {"session_id": "größe-東京"}
    calls = [
        a_call(1, **who, **REFUSED, chain_id="c1", attempt=1, step=0),
        a_call(2, **who, step=0, ordinal=1, result_status="missing"),
        a_call(3, **who, day="2026-11-21", model="owl-1", tool="write", turn_id="s1:2", step=0),
    ]
    turns = [a_turn(number, **who, results_expected=True) for number in (1, 2)]
    error = {
        "call_id": "c1",
        "file_id": 1,
        "path": "$.path",
        "code": "missing_required",
        "severity": "error",
    }
    publish(tmp_path, {"tool_calls": calls, "turns": turns, "diagnostics": [error]})
    return tmp_path


@pytest.mark.parametrize(
    ("table", "group"),
    [
        ("daily_rates", "unnest(group_ids)"),
        ("daily_traits", "unnest(group_ids)"),
        ("daily_parameters", "unnest(group_ids)"),
        ("daily_chains", "session_group"),
        ("daily_parallel", "session_group"),
        ("daily_tokens", "session_group"),
    ],
)
def test_a_session_is_in_one_group_wherever_it_counts(one_session: Path, table: str, group: str) -> None:
    rows = ask(one_session, f"SELECT DISTINCT {group} FROM {table}")  # noqa: S608 - our own tables
    assert rows == [(group_of(SOURCE, "größe-東京"),)]


@pytest.mark.parametrize("table", ["daily_rates", "daily_traits"])
def test_the_lists_of_a_row_add_up_to_its_counts(one_session: Path, table: str) -> None:
    wrong = f"""
        FROM {table}
        WHERE k <> coalesce(list_sum(group_k), 0) OR n <> coalesce(list_sum(group_n), 0)
            OR len(group_ids) <> len(group_k) OR len(group_ids) <> len(group_n) OR list_contains(group_n, 0)
            OR group_ids <> list_sort(list_distinct(group_ids))"""
    assert ask(one_session, wrong) == []
