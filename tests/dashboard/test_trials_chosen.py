"""Tests the choice of a trial run or a variant, in the filter bar and on the page Compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.pipeline.load import load
from ingest.time_ranges import TimeRange
from tests.dashboard.conftest import FILES, opened, page_text
from tests.store.made_runs import RUN, write_run
from tests.store.night import session

COMPARE, SESSIONS = (f"callgauge/dashboard/pages/{name}/page.py" for name in ("compare", "sessions"))
CALLS, DATA = (f"callgauge/dashboard/pages/{name}/page.py" for name in ("calls", "data"))
LEFT_OUT = "7 trial sessions of 1 run are not counted here"


@pytest.fixture
def nights_and_a_run(tmp_path: Path, store: Path) -> Path:
    """Return a store with three calls of one day, and with a trial run of twelve calls and a probe two weeks
    later.
    """
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "night.jsonl").write_text(session("night", day=5))
    write_run(logs, looks=1)
    load([logs], store)
    return store


@pytest.mark.usefixtures("nights_and_a_run")
def test_a_page_counts_the_nights_and_says_that_trials_are_left_out() -> None:
    app = opened(CALLS, days=TimeRange().text)
    assert LEFT_OUT in page_text(app)
    assert "3 calls" in page_text(app)
    assert app.multiselect(key="run").options == [RUN]


@pytest.mark.thorough(quick=1)
@pytest.mark.usefixtures("nights_and_a_run")
@pytest.mark.parametrize(("query", "count"), [({"run": RUN}, "12 calls"), ({"arm": "old"}, "6 calls")])
def test_the_chosen_run_or_arm_is_all_that_counts(query: dict[str, str], count: str) -> None:
    app = opened(CALLS, **query)
    assert "not counted here" not in page_text(app)
    assert count in page_text(app)
    assert app.multiselect(key="model").options == ["falcon-3-8b"]


@pytest.mark.thorough
@pytest.mark.usefixtures("nights_and_a_run")
def test_a_run_that_the_store_does_not_have_is_not_chosen() -> None:
    app = opened(CALLS, run="another", days=TimeRange().text)
    assert "3 calls" in page_text(app)


@pytest.mark.usefixtures("nights_and_a_run")
def test_sessions_of_the_run_are_listed_when_it_is_chosen() -> None:
    assert "1 session" in page_text(opened(SESSIONS, days=TimeRange().text))
    assert "7 sessions" in page_text(opened(SESSIONS, run=RUN))


@pytest.mark.thorough
@pytest.mark.usefixtures("nights_and_a_run")
def test_two_arms_are_compared() -> None:
    app = opened(COMPARE, a_arm="old", b_arm="new")
    assert app.multiselect(key="a_arm").value == ["old"]
    assert app.title[0].value == "new against old"


@pytest.mark.usefixtures("nights_and_a_run")
def test_the_data_page_lists_the_run_among_what_was_loaded() -> None:
    app = opened(DATA, runs="1")
    assert "Trial runs" in [part.label for part in app.expander]


@pytest.mark.usefixtures("small")
def test_a_store_without_trials_offers_no_run_and_says_nothing() -> None:
    app = opened(FILES[0])
    assert "not counted here" not in page_text(app)
    assert "run" not in [widget.key for widget in app.multiselect]
