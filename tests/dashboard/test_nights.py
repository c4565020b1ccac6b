"""Tests how pages show the nightly runs and their sources."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.load_state import describe_night, list_silent, write_days
from callgauge.dashboard import viewer
from callgauge.memory.nights.night_lock import hold_night
from callgauge.memory.nights.night_steps import STEPS, NightRecords, NightStep, Outcome
from callgauge.memory.nights.past_nights import PastNight, ServiceState, read_service_state
from callgauge.memory.nights.source_states import SourceState, SourceStates
from callgauge.serving.identity import User
from tests.analysis.store_fixture import HOSTILE
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of

PAGE = "callgauge/dashboard/pages/data/page.py"
NOW = datetime(2026, 11, 27, 9, tzinfo=UTC)
LOAD = {"files": 412, "calls": 61_204, "refused_files": 1, "refused_lines": 3, "tries": 2}


def a_night(days_ago: float, *outcomes: Outcome | None, running: bool = False) -> PastNight:
    began = NOW - timedelta(hours=7, days=days_ago)
    steps = tuple(
        NightStep(began.date(), step, began, began, outcome, {})
        for step, outcome in zip(STEPS, outcomes or ("done",) * 4, strict=False)
    )
    return PastNight(began.date(), steps, running)


def describe(*nights: PastNight) -> str:
    return describe_night(ServiceState(nights, ()), NOW)


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        (("done", "skipped", "done", "done"), ""),
        (("done", "done", "failed", "failed"), "last nightly run failed: backup, report"),
        (("failed",), "last nightly run failed: load"),
        (("broken off",), "last nightly run broke off: load"),
        ((None,), "last nightly run broke off: load"),
        (("done", "stopped"), "last nightly run was stopped: retention"),
    ],
)
def test_what_was_wrong_with_the_last_night_is_told(outcomes: tuple[Outcome, ...], words: str) -> None:
    assert describe(a_night(0, *outcomes), a_night(1, "failed")) == words


def test_a_night_that_runs_is_not_wrong() -> None:
    assert describe(a_night(0, "done", None, running=True)) == ""
    assert describe() == ""


@pytest.mark.parametrize(
    ("days_ago", "is_missing"),
    [
        ([0, 1, 2, 3], False),
        ([1, 2, 3, 4], True),
        ([1, 2], False),  # two loads are too few to derive a schedule
        ([1, 3, 5, 7], False),  # the source loads every second night
        ([3, 4, 5, 6], True),
        # The source loads on working days, and the missing days are a weekend.
        ([2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 16], False),
        ([1.5, 2.5, 8, 9, 10], True),  # a gap in the past must not hide a new gap
    ],
)
def test_a_missing_night_is_told_by_the_rhythm_of_those_before(
    days_ago: list[float], is_missing: bool
) -> None:
    missing = describe(*map(a_night, days_ago)).startswith("no nightly run since ")
    assert missing is is_missing


def test_silent_sources_are_those_of_the_file_else_formats() -> None:
    by_format: list[dict[Hashable, Any]] = [{"title": "LiteLLM", "silent_days": 3}]
    quiet = SourceState("us", NOW, NOW, NOW, 2.0, "")
    silent = SourceState("eu", NOW - timedelta(days=2.5), NOW, NOW, 2.0, "")
    assert list_silent(ServiceState((), (quiet,)), by_format, NOW) == by_format
    assert list_silent(ServiceState((), (quiet, silent)), by_format, NOW) == [
        {"title": "eu", "silent_days": 2.5}
    ]
    assert [write_days(days) for days in (0.3, 1.0, 2.5)] == ["7 hours", "1 day", "2 days"]


@pytest.fixture
def served(small: Path) -> Path:
    """Return a store whose last nightly run failed. One of its two sources sends no data."""
    now = datetime.now(UTC)
    records = NightRecords(small)
    for night, outcome in ((date(2026, 11, 26), "done"), (date(2026, 11, 27), "failed")):
        figures: dict[str, Any] = {"tries": 1}
        for step in STEPS:
            records.begin_step(night, step, 1)
        records.end_step(night, "load", "done", LOAD)
        records.end_step(night, "retention", "skipped", figures | {"reason": "no [retention]"})
        records.end_step(
            night, "backup", "failed" if outcome == "failed" else "done", figures | {"problem": HOSTILE}
        )
        records.end_step(night, "report", "done", figures)
    sources = SourceStates(small)
    sources.note(SourceState("gateway-eu", now - timedelta(days=2, hours=1), now, now, 2.0, ""))
    sources.note(SourceState("gateway-us", now, now, now, 2.0, ""))
    return small


def test_the_data_page_shows_the_last_nights_and_the_sources(served: Path) -> None:
    app = opened(PAGE)
    assert not app.exception
    newest, before = sheet_of(app, "Nightly runs, the newest first")
    assert [newest[title]["text"] for title in ("Nightly run", "Files", "Calls", "Unreadable")] == [
        "2026-11-27", "412", "61,204", "1 file, 3 lines",
    ]  # fmt: skip
    assert [newest[step.capitalize()]["text"] for step in STEPS] == ["done", "skipped", "failed", "done"]
    assert (newest["Load"]["sub"], newest["Retention"]["title"]) == ("2 tries", "no [retention]")
    assert newest["Problem"]["text"].startswith("backup: <img")
    assert before["Problem"]["text"] == ""
    assert before["Backup"]["text"] == "done"
    rows = sheet_of(app, "Sources of callgauge.toml")
    assert [(row["Source"]["text"], row["State"]["text"]) for row in rows] == [
        ("gateway-eu", "no data for 2 days"),
        ("gateway-us", "gives data"),
    ]
    assert r"last nightly run failed\: backup" in page_text(app)
    assert r"gateway\-eu has been silent for 2 days" in page_text(app)


def test_what_names_places_of_the_server_is_for_admins(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    SourceStates(served).note(SourceState("gateway-us", now, now, now, 2.0, f"{served}/logs is gone"))
    assert f"{served}/logs is gone" in str(sheet_of(opened(PAGE), "Sources of callgauge.toml"))
    monkeypatch.setattr(viewer, "read_headers", lambda _: User("bob", "viewer", may_write=True))
    app = opened(PAGE)
    newest, before = sheet_of(app, "Nightly runs, the newest first")
    assert newest["Backup"]["text"] == "failed"
    assert newest["Problem"]["text"] == "visible to admins"
    assert before["Problem"]["text"] == ""
    sources = sheet_of(app, "Sources of callgauge.toml")
    assert [(row["State"]["text"], row["State"].get("sub")) for row in sources][1] == (
        "not loaded",
        "visible to admins",
    )
    assert str(served) not in str(sources)


def test_where_the_store_lies_is_for_admins(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (served / "memory.sqlite").write_bytes(b"no database at all" * 100)
    page = "callgauge/dashboard/pages/decisions/page.py"
    assert str(served) in str(opened(page).error[0].value).replace("\\", "")
    monkeypatch.setattr(viewer, "read_headers", lambda _: User("bob", "viewer", may_write=True))
    text = str(opened(page).error[0].value).replace("\\", "")
    assert "DIR/memory.sqlite cannot be read" in text
    assert str(served) not in text


def test_the_overview_says_what_failed_and_who_is_silent(served: Path) -> None:
    app = opened()
    assert not app.exception
    doors = [str(link.proto.label) for link in app.get("page_link")]
    assert any("Last nightly run failed: backup →" in label for label in doors), doors
    assert any(r"gateway\-eu silent for 2 days →" in label for label in doors), doors
    assert any(
        "▲" in label and r"No data from gateway\-eu" in label and "for 2 days" in label for label in doors
    )
    assert "Needs attention (1)" in page_text(app)


def test_without_nights_the_pages_are_as_they_were(small: Path) -> None:
    assert "Nightly runs" not in page_text(opened(PAGE))
    assert read_service_state(small) == ServiceState((), ())


def test_a_step_is_running_while_its_night_holds_the_lock(small: Path) -> None:
    NightRecords(small).begin_step(date(2026, 11, 27), "load", 1)
    with hold_night(small):
        assert [night.is_running for night in read_service_state(small).nights] == [True]
    assert [night.is_running for night in read_service_state(small).nights] == [False]
