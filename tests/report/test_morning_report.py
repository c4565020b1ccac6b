"""Tests the sentences of the report."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.alert_rules import mute_rule, save_rule
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.nights.source_states import SourceState, SourceStates
from callgauge.memory.reports import PastReport, ReportRecords
from callgauge.memory.signature_states import set_state
from callgauge.memory.team_memory import TeamMemory
from callgauge.report.content.compose import (
    SilentSource,
    TeamContext,
    _describe_cost,
    make_report,
)
from callgauge.report.content.morning_report import MOST_SENTENCES, MorningReport, ReportError
from callgauge.report.nightly_report import read_report
from tests.analysis.made_nights import publish_nights
from tests.report.conftest import LAST, SINCE, report_of


def test_what_changed_is_told_with_its_counts_interval_and_link(report: MorningReport) -> None:
    worse, error = report.sentences
    assert report.answer == "Since 18 Nov: 1 rate got worse and 1 new error."
    assert worse.text == "Parse errors of kestrel-14b rose from 2.6 to 29% on 19 Nov"
    assert f"{worse.k} / {worse.n} calls" in worse.counts
    assert worse.low is not None
    assert worse.high is not None
    assert worse.k is not None
    assert worse.n is not None
    assert worse.low < worse.k / worse.n < worse.high
    assert worse.link.startswith("/compare?a_model=kestrel-14b&a_days=")
    assert len(worse.trend) == 28
    assert sum(point.k for point in worse.trend[-2:]) == worse.k
    assert (error.k, error.kind) == (4, "error")
    assert "10 calls since 20 Nov" in error.text
    assert error.link.startswith("/errors?signature=")
    assert not report.is_quiet


def test_the_rates_of_the_newest_day_are_those_of_its_metric(published: Path, report: MorningReport) -> None:
    with read_store(published, texts=True) as reader:
        rows = reader.ask("slices", rates=("parse_error",), from_day=LAST, to_day=LAST)
    rate = report.rates[0]
    assert (rate.name, rate.k, rate.n) == ("parse_error", rows["k"].sum(), rows["n"].sum())


def test_what_the_last_report_told_is_still_open_and_not_new(published: Path, report: MorningReport) -> None:
    again = report_of(published, LAST, team=TeamContext(last=PastReport(SINCE, report.keys)))
    assert again.is_quiet
    assert not again.sentences
    assert [item.text for item in again.still_open] == [sentence.text for sentence in report.sentences]
    assert again.answer.startswith("No new alerts on 20 Nov. A change below about ")
    assert again.answer.endswith("190 calls, 1 file and 1 line not read. 2 alerts still open.")


def test_without_an_earlier_report_only_what_the_night_before_did_not_know_is_new(published: Path) -> None:
    report = report_of(published, LAST)
    assert [item.kind for item in report.sentences] == ["error"]
    assert [item.kind for item in report.still_open] == ["rate"]


def test_a_quiet_day_is_one_sentence(published: Path) -> None:
    quiet = report_of(published, date(2026, 11, 18))
    assert quiet.is_quiet
    assert quiet.answer == (
        "No alerts on 18 Nov. A change below about 17 points in a model would not show after one day yet "
        "(about 7 within a week). 180 calls, 1 file and 1 line not read."
    )


def test_an_acknowledged_alert_is_left_out(store: Path) -> None:
    before = read_report(store, LAST, since=date(2026, 11, 18))
    TeamMemory(store).acknowledge(before.sentences[0].alert)
    after = read_report(store, LAST, since=date(2026, 11, 18))
    assert [item.text for item in after.sentences] == [sentence.text for sentence in before.sentences[1:]]
    assert not after.still_open


@pytest.mark.thorough
def test_an_acknowledgement_that_is_withdrawn_makes_nothing_new(store: Path) -> None:
    alert = read_report(store, LAST, since=date(2026, 11, 18)).sentences[0].alert
    TeamMemory(store).acknowledge(alert)
    ReportRecords(store).note(SINCE, read_report(store, LAST).keys)
    TeamMemory(store).withdraw_acknowledgement(alert)
    assert alert in [item.alert for item in read_report(store, LAST).still_open]


@pytest.mark.thorough
def test_only_a_report_of_an_earlier_night_says_what_is_not_new(store: Path, report: MorningReport) -> None:
    ReportRecords(store).note(SINCE, ())
    first = read_report(store, LAST)
    ReportRecords(store).note(LAST, report.keys)
    assert read_report(store, LAST).sentences == first.sentences
    assert read_report(store, date(2026, 11, 21)).is_quiet


def test_more_than_five_changes_are_four_sentences_and_how_many_more(published: Path) -> None:
    overdue = tuple(SilentSource(f"gateway-{n}", SINCE, 3, "configured") for n in range(6))
    report = report_of(published, LAST, team=TeamContext(overdue=overdue), since=date(2026, 11, 18))
    assert len(report.sentences) == MOST_SENTENCES - 1
    assert report.further == 4
    assert "6 sources went silent" in report.answer


def test_a_source_that_went_silent_is_told_once(published: Path) -> None:
    team = TeamContext(overdue=(SilentSource("gateway-eu", date(2026, 11, 18), 2, "configured"),))
    first = report_of(published, LAST, team=team, since=date(2026, 11, 18))
    assert "gateway-eu: no data after 18 Nov, for 2 days" in [item.text for item in first.sentences]
    again = report_of(published, LAST, team=replace(team, last=PastReport(SINCE, first.keys)))
    assert not again.sentences
    assert len(again.still_open) == 3


def test_sources_of_the_configuration_are_told_by_their_own_limit(store: Path) -> None:
    def state(name: str, newest: datetime | None, problem: str = "") -> SourceState:
        return SourceState(name, newest, datetime(2026, 11, 1, tzinfo=UTC), looked, 2.0, problem)

    looked = datetime(2026, 11, 20, 3, tzinfo=UTC)
    states = SourceStates(store)
    states.note(state("gateway-eu", looked - timedelta(days=3)))
    states.note(state("gateway-us", looked - timedelta(days=1), "no such folder"))
    states.note(state("gateway-new", None))
    counts = {item.text: item.counts for item in read_report(store, LAST, since=date(2026, 11, 1)).sentences}
    assert counts["gateway-eu: no data after 17 Nov, for 3 days"] == "silent_after = 2 in callgauge.toml"
    assert counts["gateway-us: its load failed"] == "no such folder"
    assert "no data yet" in counts["gateway-new: no data after 1 Nov, for 20 days"]


def test_a_rule_that_fires_and_a_fixed_error_that_is_back_are_told(store: Path) -> None:
    before = read_report(store, LAST, since=date(2026, 11, 18))
    (error,) = (item for item in before.sentences if item.kind == "error")
    signature = json.loads(error.key)[1]
    memory = MemoryFile(store)
    save_rule(memory, "kestrel must hold", "parse_error", "above", 0.05, {"model": ("kestrel-14b",)})
    set_state(memory, signature, "fixed", fixed_in="1.2", fixed_day=date(2026, 11, 19))
    report = read_report(store, LAST, since=date(2026, 11, 18))
    assert report.answer == "Since 18 Nov: 1 rate got worse, 1 rule fired and 1 fixed error is back."
    assert report.sentences[0].text.startswith("kestrel must hold: parse errors ")
    assert any(item.text.startswith("Fixed and back: ") for item in report.sentences)
    mute_rule(memory, "kestrel must hold", LAST)
    set_state(memory, signature, "known")
    assert [item.kind for item in read_report(store, LAST, since=date(2026, 11, 18)).sentences] == ["rate"]


def test_what_retries_cost_is_told_where_enough_of_them_have_a_price() -> None:
    whole = Cost("all", "USD", 616, 2124, 2124, 2000, 140.1, None, None, 616, 616, 230, 230, 12.3)
    assert _describe_cost(whole, None) == ("retries took 230 / 2,124 model calls and $12.30, 8.8% of $140.10")
    before = replace(whole, total=100.0, retries=5.0)
    assert _describe_cost(whole, before).endswith("of $140.10; the week before $5.00, 5.0%")
    assert _describe_cost(replace(whole, retry_priced=1), None).endswith(
        "model calls, 1 of them with a price"
    )
    assert _describe_cost(replace(whole, retries=None, retry_priced=0), None).endswith("none with a price")
    assert "no model calls" in _describe_cost(replace(whole, retry_calls=0), None)


@pytest.mark.thorough
def test_a_day_counts_when_it_is_over(published: Path) -> None:
    """The last load was on the morning of the 21st, so this day is incomplete and does not count."""
    with read_store(published, texts=True) as reader:

        def ask(metric: str, **parameters: object) -> pd.DataFrame:
            rows = reader.ask(metric, **parameters)
            return rows.assign(loaded_at=pd.Timestamp("2026-11-20 03:00")) if metric == "last_load" else rows

        report = make_report(ask, TeamContext(), date(2026, 11, 21), store="s")
    assert report.newest == date(2026, 11, 19)
    assert report_of(published, date(2026, 11, 21)).newest == LAST


def test_a_store_without_new_data_says_so(published: Path) -> None:
    late = report_of(published, date(2026, 11, 24))
    assert late.sentences[0].text == "No new data: the newest call is of 20 Nov, 4 days ago"
    assert not late.is_quiet
    on_time = report_of(published, date(2026, 11, 22))
    assert all(item.kind != "data" for item in on_time.sentences)


@pytest.mark.thorough
def test_too_few_days_are_no_quiet_day(tmp_path: Path) -> None:
    publish_nights(tmp_path / "store", days=3)
    report = report_of(tmp_path / "store", LAST)
    assert not report.is_quiet
    assert "Too few days to find a change: it takes 5 before the newest one" in report.answer
    assert "not enough data" in report.title
    again = report_of(tmp_path / "store", LAST, team=TeamContext(last=PastReport(SINCE, report.keys)))
    assert again.is_quiet
    assert again.answer == report.answer


def test_a_store_that_holds_nothing_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="callgauge ingest"):
        read_report(tmp_path, LAST)


def test_the_data_of_a_report_is_json_with_whole_links(report: MorningReport) -> None:
    data = json.loads(json.dumps(report.to_data()))
    assert data["sentences"][0]["link"].startswith("https://gauge.example.com/compare?")
    assert data["night"] == "2026-11-20"
    assert "keys" not in data


@pytest.mark.thorough
def test_a_silence_is_told_only_where_chance_makes_it_in_none_of_the_sources(published: Path) -> None:
    def texts_with(chance: float) -> list[str]:
        with read_store(published, texts=True) as reader:

            def ask(metric: str, **parameters: object) -> pd.DataFrame:
                rows = reader.ask(metric, **parameters)
                if metric != "silent_sources":
                    return rows
                row = {"source": "eu", "title": "EU", "last_day": date(2026, 11, 18), "silent_days": 2}
                return pd.DataFrame([row | {"active_days": 14, "chance": chance}])

            return [item.text for item in make_report(ask, TeamContext(), LAST, store="s").sentences]

    assert any(text.startswith("EU: no data after 18 Nov") for text in texts_with(0.002))
    assert not any(text.startswith("EU: no data") for text in texts_with(0.03))


def test_a_source_went_silent_on_the_day_that_its_own_limit_ends(published: Path) -> None:
    """The newest data of the source is from 10 November, and silence is allowed for a week. So the source is
    silent from the 18th on.
    """
    team = TeamContext(overdue=(SilentSource("gateway-eu", date(2026, 11, 10), 10, "configured", 7),))
    report = report_of(published, LAST, team=team, since=date(2026, 11, 17))
    assert "1 source went silent" in report.answer
    assert "went silent" not in report_of(published, LAST, team=team, since=date(2026, 11, 18)).answer
