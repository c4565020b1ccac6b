"""Tests long lists that are read day by day, from the newest day on. Rows and order must equal those of a
single query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from callgauge.analysis import day_paging
from callgauge.analysis.day_paging import CALLS, DISAGREEMENTS, SESSIONS
from callgauge.analysis.metrics import answer_metric
from tests.analysis.rows import empty_tables, insert
from tests.analysis.store_fixture import a_call, a_turn, publish, roll_up_all_days
from tests.dashboard.conftest import opened, page_text

FIRST = datetime.fromisoformat("2026-11-01T22:00:00")
BAR: tuple[dict[str, Any], ...] = (
    {},
    {"models": ["kestrel"]},
    {"tools": ["bash"], "from_day": date(2026, 11, 3)},
    {"prompts": ["unknown"], "to_day": date(2026, 11, 6)},
    {"models": ["nobody's"]},
)
ASKED: tuple[tuple[day_paging.DayList, dict[str, Any]], ...] = (
    (CALLS, {}),
    (CALLS, {"fault": "arguments"}),
    (CALLS, {"outcome": "failed", "fault": "any"}),
    (CALLS, {"code": "missing_required"}),
    (CALLS, {"turns": "retried"}),
    (CALLS, {"turns": "disagree", "search": "NEEDLE"}),
    (CALLS, {"turns": "derived_not_ok", "outcome": "strict"}),
    (CALLS, {"chain": "abandoned"}),
    (CALLS, {"chain": "recovered", "attempt": "first", "attempts_from": 2}),
    (CALLS, {"attempt": "first", "first_retry": "changed_worked"}),
    (CALLS, {"attempt": "identical"}),
    (CALLS, {"chain": "none", "fault": "unseen"}),
    (CALLS, {"order": "tool"}),
    (CALLS, {"order": "time", "reversed": True, "chain": "any"}),
    (SESSIONS, {}),
    (SESSIONS, {"search": "project 1"}),
    (SESSIONS, {"order": "faults"}),
    (SESSIONS, {"order": "retries", "reversed": True}),
    (SESSIONS, {"chain": "abandoned"}),
    (SESSIONS, {"chain": "none", "turns": "derived_not_ok"}),
    (SESSIONS, {"attempt": "changed", "search": "project 1"}),
    (DISAGREEMENTS, {}),
)


def moment(ts: datetime | None) -> dict[str, str | None]:
    return {"ts": ts.isoformat() if ts else None, "day": ts.date().isoformat() if ts else None}


def in_a_chain(first: str, bad: int, step: int, number: int) -> dict[str, Any]:
    """Return the retry columns of a tool call. Step 0 fails. In three of four cases, step 1 retries it."""
    if bad or (step and number % 4 == 0):
        return {}
    ended = "abandoned" if number % 4 == 0 else "recovered"
    kind = ("identical", "changed", None)[number % 3] if step else None
    return {"chain_id": first, "attempt": 1 + step, "retry_kind": kind, "chain_outcome": ended}


@pytest.fixture(scope="module")
def many() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a store of twenty sessions over ten days. Some sessions continue for several days, some are split
    over two files, and some have no timestamps.
    """
    tables: dict[str, list[dict[str, Any]]] = {
        "sessions": [],
        "turns": [],
        "tool_calls": [],
        "diagnostics": [],
    }
    for number in (n * 7 % 20 for n in range(20)):
        session, start = f"s{number}", FIRST + timedelta(hours=11 * number)
        for turn in range(3):
            file = 1 + (number % 5 == 0 and turn == 2)
            began = None if number % 9 == 4 else start + timedelta(hours=number % 3 * 20 * turn)
            common = {
                "session_id": session, "turn_id": f"{session}:{turn}", "turn": turn, "file_id": file,
                "model": ("falcon", "kestrel", None)[(number + turn) % 3],
                "prompt_id": None if number % 4 else "p1",
            }  # fmt: skip
            tables["turns"].append(
                a_turn(turn, retries=turn % 2, derived_ok=(number + turn) % 4 > 0)
                | common | moment(began) | {"user_text": f"Project {number}"}
            )  # fmt: skip
            for step in range(2):
                bad = (number + turn + step) % 3 == 0
                call = a_call(
                    step, call_id=f"{session}:{turn}:{step}", tool=("bash", "read")[(turn + step) % 2],
                    outcome="failed" if bad else "clean", fault_layer="schema" if bad else None,
                    raw_arguments='{"a": "Needle"}' if number % 2 else "{}",
                    **in_a_chain(f"{session}:{turn}:0", (number + turn) % 3, step, number),
                )  # fmt: skip
                # some calls happen long after their turn started
                tables["tool_calls"].append(
                    call | common | moment(began and began + timedelta(hours=9 * step))
                )
                if bad:
                    diagnostic = {"position": 0, "code": "missing_required", "severity": "error"}
                    tables["diagnostics"].append(diagnostic | {"call_id": call["call_id"], "file_id": file})
        for file in (1, 2) if number % 5 == 0 else (1,):
            times = [
                row["ts"] for table in ("turns", "tool_calls") for row in tables[table]
                if row["session_id"] == session and row["file_id"] == file and row["ts"]
            ]  # fmt: skip
            tables["sessions"].append(
                {"session_id": session, "source": "session_history", "file_id": file, "faults": number % 4,
                 "started_at": min(times, default=None), "ended_at": max(times, default=None),
                 "day": min(times)[:10] if times else None, "duplicate": file == 2}
            )  # fmt: skip
    with empty_tables() as connection:
        for table, rows in tables.items():
            insert(connection, table, rows)
        roll_up_all_days(connection)
        yield connection


class Asked:
    """Queries one store, records the queries, and caches the results as pages do."""

    def __init__(self, store: duckdb.DuckDBPyConnection) -> None:
        self.store = store
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, pd.DataFrame] = {}

    def __call__(self, metric: str, **parameters: Any) -> pd.DataFrame:
        self.log.append((metric, parameters))
        question = repr((metric, sorted(parameters.items())))
        if question not in self.answers:
            self.answers[question] = answer_metric(self.store, metric, parameters)
        return self.answers[question].copy()


def in_time() -> float:
    return 0.0


def out_of_time() -> Any:
    """Return a clock that advances an hour each time it is read."""
    return iter(range(0, 10**6, 3600)).__next__


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("day_list", "asked"), ASKED, ids=lambda value: str(getattr(value, "metric", value)))
@pytest.mark.parametrize("bar", BAR, ids=str)
def test_turning_the_pages_gives_every_row_once_in_the_order_of_the_whole_list(
    many: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, bar: dict[str, Any],
    day_list: day_paging.DayList, asked: dict[str, Any],
) -> None:  # fmt: skip
    monkeypatch.setattr(day_paging, "ENOUGH", 10**9)
    parameters, small = bar | asked, replace(day_list, look=5, per_page=7)
    whole = answer_metric(many, day_list.metric, parameters | {"limit": 1000, "offset": 0}).drop(
        columns="found"
    )
    ask = Asked(many)
    pages = [
        day_paging.read_page(ask, small, parameters, 7, first, in_time)
        for first in range(0, len(whole) + 1, 7)
    ]
    assert {page.found for page in pages if len(page.rows)} == ({len(whole)} if len(whole) else set())
    assert all(page.is_complete for page in pages)
    turned = [row for page in pages for row in page.rows.drop(columns="found").to_dict("records")]
    assert turned == whole.to_dict("records")


def test_a_page_looks_at_no_more_days_than_it_takes(many: duckdb.DuckDBPyConnection) -> None:
    ask = Asked(many)
    page = day_paging.read_page(ask, CALLS, {}, 5, 0, in_time)
    (looked,) = (asked_parameters for metric, asked_parameters in ask.log if metric == "calls")
    assert (looked["since"], looked["until"]) == (min(page.rows.ts).date(), max(page.rows.ts).date())
    assert page.found == 120


def test_where_the_sums_know_of_nothing_no_day_is_looked_at(many: duckdb.DuckDBPyConnection) -> None:
    ask = Asked(many)
    page = day_paging.read_page(ask, CALLS, {"fault": "refused"}, 5, 0, in_time)
    assert (len(page.rows), page.found, page.is_complete) == (0, 0, True)
    assert ask.log[-1][1]["since"] > ask.log[-1][1]["until"]


def test_counting_ends_when_the_time_is_over_and_says_back_to_which_day(
    many: duckdb.DuckDBPyConnection,
) -> None:
    parameters = {"search": "needle"}
    whole = answer_metric(many, "calls", parameters | {"limit": 1000, "offset": 0})
    page = day_paging.read_page(Asked(many), replace(CALLS, look=1), parameters, 3, 0, out_of_time())
    assert page.since is not None
    assert not page.is_complete
    assert page.found == sum(ts is not None and ts.date() >= page.since for ts in whole.ts) < len(whole)
    assert page.rows.call_id.tolist() == whole.call_id.tolist()[: min(3, page.found)]


def test_the_first_run_of_days_is_short_and_each_later_one_twice_as_long() -> None:
    days = pd.DataFrame({"day": [date(2026, 11, 21) - timedelta(days=n) for n in range(20)], "most": 10})
    runs = list(day_paging._split_days(days, 80, first=20))
    assert [len(run) for run in runs] == [2, 4, 8, 6]
    assert [day for run in runs for day in run] == days.day.tolist()


def test_counting_ends_when_there_are_enough(
    many: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_paging, "ENOUGH", 4)
    page = day_paging.read_page(Asked(many), replace(CALLS, look=1), {"search": "needle"}, 3, 0, in_time)
    assert not page.is_complete
    assert page.found >= 4
    further = day_paging.read_page(Asked(many), replace(CALLS, look=1), {"search": "needle"}, 3, 9, in_time)
    assert further.found >= 12
    assert len(further.rows) == 3


def test_another_order_sorts_the_newest_days_and_says_since_when(many: duckdb.DuckDBPyConnection) -> None:
    whole = answer_metric(many, "calls", {"limit": 1000, "offset": 0})
    page = day_paging.read_page(Asked(many), replace(CALLS, sorted_within=30), {"order": "tool"}, 500)
    assert page.since is not None
    assert page.is_sorted
    newest = whole[pd.to_datetime(whole.ts) >= pd.Timestamp(page.since)]
    assert 0 < len(newest) < len(whole)
    assert page.rows.call_id.tolist() == newest.sort_values("tool", kind="stable").call_id.tolist()


@pytest.mark.parametrize("order", ["faults", "retries"])
def test_sessions_in_another_order_are_of_fewer_days_where_a_filter_takes_their_turns_to_tell(
    many: duckdb.DuckDBPyConnection, order: str
) -> None:
    many.execute("UPDATE sessions SET turns = 3, calls = 60")
    small = replace(SESSIONS, sorted_within=40)
    model, tool = (
        day_paging.read_page(Asked(many), small, {"order": order} | filters, 500)
        for filters in ({"models": ["kestrel"]}, {"tools": ["bash"]})
    )
    assert model.since is not None
    assert tool.since is not None
    assert model.since < tool.since
    whole = answer_metric(
        many, "sessions", {"order": order, "models": ["kestrel"], "limit": 1000, "offset": 0}
    )
    began = zip(whole.session_id, whole.started_at, strict=True)
    newest = [session for session, at in began if at and at.date() >= model.since]
    assert model.rows.session_id.tolist() == newest


def test_a_search_in_another_order_looks_at_a_tenth(many: duckdb.DuckDBPyConnection) -> None:
    small = replace(CALLS, sorted_within=300)
    assert day_paging.read_page(Asked(many), small, {"order": "tool"}, 500).is_complete
    assert not day_paging.read_page(
        Asked(many), small, {"order": "tool", "search": "needle"}, 500
    ).is_complete


@pytest.fixture
def of_three_days(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish three days with one session of one call each. Make the lists read one day each time the page is
    drawn.
    """
    monkeypatch.setattr(day_paging, "SECONDS", -1)
    for name in ("CALLS", "SESSIONS"):
        monkeypatch.setattr(day_paging, name, replace(getattr(day_paging, name), look=1))
    days = [f"2026-11-{day}" for day in (18, 19, 20)]
    calls, turns, sessions = [], [], []
    for number, day in enumerate(days):
        when = {"session_id": f"s{number}", "day": day}
        calls.append(a_call(number, ts=f"{day}T10:00:00", **when))
        turns.append(a_turn(1, turn_id=f"s{number}:1", ts=f"{day}T10:00:00", user_text="Please", **when))
        session = {"started_at": f"{day}T10:00:00", "ended_at": f"{day}T11:00:00", "duplicate": False}
        sessions.append({"source": "session_history", "file_id": 1} | session | when)
    publish(store, {"tool_calls": calls, "turns": turns, "sessions": sessions})


@pytest.mark.usefixtures("of_three_days")
@pytest.mark.parametrize(
    ("page", "search", "count"),
    [
        ("calls", "app.py", "1 or more of 3 calls match the filters."),
        ("sessions", "please", "1 session or more"),
    ],
)
def test_a_list_that_could_not_look_at_all_days_says_back_to_which_one_it_did(
    page: str, search: str, count: str
) -> None:
    app = opened(f"callgauge/dashboard/pages/{page}/page.py", q=search)
    assert count in page_text(app)
    assert "back to 2026-11-20" in page_text(app)


@pytest.mark.usefixtures("of_three_days")
@pytest.mark.parametrize("name", ["call", "session"])
def test_a_list_without_a_search_knows_how_many_there_are(name: str) -> None:
    app = opened(f"callgauge/dashboard/pages/{name}s/page.py")
    assert f"3 {name}s" in page_text(app)
    assert "or more" not in page_text(app)
