"""Computes the morning report of a store: what changed, what is still open, and the headline figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import write_best
from callgauge.analysis.load_state import describe_rejected, find_last_whole_day
from callgauge.analysis.measures.alert_rules import judge_rules
from callgauge.analysis.measures.alerts import Alert, NewError
from callgauge.analysis.measures.attention import Attention, find_attention, find_returned_errors
from callgauge.analysis.measures.costs import Cost, find_costs
from callgauge.analysis.measures.rates import HEADLINES, RATES, RateDefinition
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice, make_slices, merge_slices
from callgauge.analysis.verdicts.alerts import (
    AttentionItem,
    describe_finding,
    describe_item,
    describe_quiet,
    describe_returned,
    format_day,
)
from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.nights.source_states import make_silence_key
from callgauge.memory.reports import PastReport
from callgauge.memory.signature_states import SignatureState
from callgauge.prices import PriceList
from callgauge.report.content.morning_report import (
    MOST_SENTENCES,
    ItemKind,
    MorningReport,
    ReportItem,
    ReportRate,
    Tone,
    TrendPoint,
)
from callgauge.stats import Share

Ask = Callable[..., pd.DataFrame]
SURE_SILENCE = 0.01
"""Maximum probability, over all sources together, that the report calls a normal gap a silence."""
_OPEN = 10  # maximum number of open alerts in the report
_TREND = 28  # days in the trend of a rate
_LATE = 2  # normal number of days without a new call: a load brings calls of the day before and may be late
_TOO_FEW = json.dumps(["too few"])
_WEEK = timedelta(days=7)
_TONES: Mapping[str, Tone] = {"red": "bad", "green": "good", "gray": "calm"}


@dataclass(frozen=True, slots=True)
class SilentSource:
    """A source without new data. `why` says in words why the silence is not chance.

    `name` comes from a log. A source counts as silent after `limit` days without data.
    """

    name: str
    last_day: date
    days: int
    why: str
    limit: float = _LATE

    def was_silent(self, day: date) -> bool:
        """Return True when the source already counted as silent on `day`."""
        return (day - self.last_day).days > self.limit


@dataclass(frozen=True, slots=True)
class TeamContext:
    """The team's records that the report needs.

    `acknowledged` holds the keys of acknowledged alerts. `last` is the last report. `rules` holds the alert
    rules that are not muted. `states` holds the triage status of error signatures. `overdue` holds the
    sources that have been silent for longer than callgauge.toml allows. `unloaded` holds the sources whose
    last load failed, each with the reason.
    """

    acknowledged: frozenset[str] = frozenset()
    rules: tuple[AlertRule, ...] = ()
    states: Mapping[str, SignatureState] = field(default_factory=dict)
    prices: PriceList = field(default_factory=lambda: PriceList(()))
    last: PastReport | None = None
    overdue: tuple[SilentSource, ...] = ()
    unloaded: tuple[tuple[str, str], ...] = ()


def make_report(
    ask: Ask,
    team: TeamContext,
    night: date,
    *,
    store: str,
    since: date | None = None,
    address: str | None = None,
) -> MorningReport:
    """Return the report of a nightly run. The report covers the days that were over at the last load.

    `ask` returns the rows of a metric. The report has what changed after the day `since`. By default, that is
    the day of the last report, or the day before when there is no report yet. Raises MetricError.
    """
    last = min(night, find_last_whole_day(ask) or night)
    attention = find_attention(ask, {}, last)
    labels = _read_labels(ask)
    items = [
        *(_list_items(ask, team, attention, labels) if attention else ()),
        *_list_team_items(ask, team, last, labels),
        *_list_silences(ask, team, night, attention),
    ]
    known_keys, words = _find_known(ask, team, since, night, attention)
    keys = frozenset(item.key for item in items) | _list_keys(attention)
    items = [item for item in items if item.alert not in team.acknowledged]
    new = sorted((item for item in items if item.key not in known_keys), key=_order_item)
    still = [item for item in items if item.key in known_keys and item.tone == "bad"]
    shown = new if len(new) <= MOST_SENTENCES else new[: MOST_SENTENCES - 1]
    newest = attention.newest if attention else None
    is_known = attention is not None and attention.night is not None and attention.night.tests > 0
    data = _describe_data(ask, newest)
    # Calm items, such as a rate that is back to normal, are not news.
    is_news = any(item.tone != "calm" for item in new)
    back = sum(item.tone == "calm" for item in new)
    answer = _describe_new(new, words) if is_news else _describe_quiet(attention, len(still), back, data)
    return MorningReport(
        store=store,
        night=night,
        newest=newest,
        since=words,
        answer=answer,
        sentences=tuple(_add_trend(ask, item, newest) for item in shown),
        further=len(new) - len(shown),
        still_open=tuple(_add_trend(ask, item, newest) for item in still[:_OPEN]),
        open_further=max(0, len(still) - _OPEN),
        rates=tuple(_list_rates(ask, newest)) if newest else (),
        days_before=_TREND,
        retries=_describe_retries(ask, team.prices, newest) if newest else "",
        retries_link=write_link("errors", {"tab": "retries"}),
        ranking=_write_ranking(ask, team.prices, labels) if newest else "",
        ranking_link="/models",
        data=data,
        is_known=is_known,
        is_quiet=not is_news and (is_known or _TOO_FEW in known_keys),
        keys=keys if is_known else keys | {_TOO_FEW},
        made_at=datetime.now(UTC).replace(microsecond=0),
        address=address,
    )


def _read_labels(ask: Ask) -> Callable[[str, str], str]:
    """Return a function that maps a value of a dimension to the label that the pages show."""
    rows = ask("choices")
    labels = {
        str(dimension): wording.unique_labels(
            labels_of_dimension.value.tolist(), labels_of_dimension.label.tolist()
        )
        for dimension, labels_of_dimension in rows.groupby("dimension", sort=False)
    }
    return lambda dimension, value: wording.one_line(labels.get(dimension, {}).get(value, value), 60)


def _list_items(
    ask: Ask, team: TeamContext, attention: Attention, labels: Callable[[str, str], str]
) -> Iterator[ReportItem]:
    """Yield changed rates and new errors.

    When several rates changed in the same calls, only the main rate is yielded.
    """
    for notable in (*attention.needing, *attention.improved):
        item = describe_item(notable, attention.newest, labels)
        if isinstance(notable, NewError):
            if notable.signature_id in team.states:
                continue  # somebody has already set a triage status for this error
            yield _describe_error(ask, item, notable, attention)
        else:
            yield _describe_rate(item, notable)


def _list_team_items(
    ask: Ask, team: TeamContext, night: date, labels: Callable[[str, str], str]
) -> Iterator[ReportItem]:
    """Yield the alert rules that fire, and errors that were fixed and came back."""
    for finding in judge_rules(ask, team.rules, night):
        if finding.fires:
            item = describe_finding(finding, labels)
            yield _make_item(
                item, "rule", item.counts, finding.change.before.rate if finding.change else None
            )
    for error in find_returned_errors(ask, team.states.values()):
        if error.back_day <= night:
            item = describe_returned(error)
            yield _make_item(item, "error", item.counts)


def _make_item(
    item: AttentionItem, kind: ItemKind, counts: str, expected: float | None = None, key: str | None = None
) -> ReportItem:
    share = item.share
    interval = share.interval if share else None
    return ReportItem(
        key=key or item.key,
        alert=item.key,
        kind=kind,
        sign=item.sign,
        tone=_TONES[item.colour],
        text=f"{item.subject} {item.rest}",
        counts=counts,
        link=write_link(item.page, item.query),
        k=share.k if share else None,
        n=share.n if share else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        expected=expected,
    )


def _describe_rate(item: AttentionItem, alert: Alert) -> ReportItem:
    counts = [item.counts, f"95% {wording.interval(alert.interval)}" if alert.interval else ""]
    key = f"{alert.key} over" if alert.over else alert.key
    made = _make_item(item, "rate", " · ".join(filter(None, counts)), alert.before.rate, key)
    bounds = (alert.interval.low, alert.interval.high) if alert.interval else (None, None)
    return replace(made, low=bounds[0], high=bounds[1])


def _describe_error(ask: Ask, item: AttentionItem, error: NewError, attention: Attention) -> ReportItem:
    """Return the report item for a new error. The item counts sessions instead of calls."""
    rows = ask("slices", rates=("emission",), from_day=error.first_day, to_day=attention.newest)
    sessions = max(error.sessions, int(rows["sessions"].sum()))
    share = Share(error.sessions, sessions)
    counts = f"{wording.fraction(error.sessions, sessions)} sessions · 95% {wording.interval(share.interval)}"
    return _make_item(replace(item, share=share), "error", f"{counts} · never seen before")


def _list_silences(
    ask: Ask, team: TeamContext, night: date, attention: Attention | None
) -> Iterator[ReportItem]:
    for silence in _find_silent(ask, team, night):
        yield _describe_silence(silence, night)
    yield from _list_data_troubles(team, night, attention)


def _find_silent(ask: Ask, team: TeamContext, night: date) -> Iterable[SilentSource]:
    """Return the sources that are silent for longer than callgauge.toml allows.

    If there are no such sources, return the log formats that are silent for unusually long.
    """
    newest = ask("extent").iloc[0].last_day
    # The store does not know which formats were silent on earlier days.
    is_now = newest is not None and newest <= night
    return team.overdue or (_find_silent_formats(ask) if is_now else ())


def _list_data_troubles(team: TeamContext, night: date, attention: Attention | None) -> Iterator[ReportItem]:
    for name, problem in team.unloaded:
        key = json.dumps(["load failed", name])
        text = f"{wording.one_line(name, 40)}: its load failed"
        yield ReportItem(key, key, "data", "▼", "bad", text, wording.one_line(problem, 120), "/data")
    if attention and (night - attention.newest).days > _LATE:
        days = wording.plural((night - attention.newest).days, "day")
        key = json.dumps(["no data", attention.newest.isoformat()])
        text = f"No new data: the newest call is of {format_day(attention.newest, night)}, {days} ago"
        yield ReportItem(key, key, "data", "▼", "bad", text, "does the load still run?", "/data")


def _find_silent_formats(ask: Ask) -> Iterator[SilentSource]:
    """Yield the log formats that are silent for longer than the format's usual gaps explain."""
    several = max(1, int((ask("choices").dimension == "source").sum()))
    for row in ask("silent_sources").to_dict("records"):
        if row["chance"] * several <= SURE_SILENCE:
            chance = wording.percent(row["chance"], 2)
            why = f"data on {row['active_days']} of 14 days before · chance {chance}"
            yield SilentSource(row["title"], row["last_day"], row["silent_days"], why)


def _describe_silence(silence: SilentSource, night: date) -> ReportItem:
    key = make_silence_key(silence.name, silence.last_day)
    since = format_day(silence.last_day, night)
    days = wording.plural(silence.days, "day")
    text = f"{wording.one_line(silence.name, 40)}: no data after {since}, for {days}"
    return ReportItem(key, key, "silence", "▼", "bad", text, silence.why, "/data")


def _find_known(
    ask: Ask, team: TeamContext, since: date | None, night: date, attention: Attention | None
) -> tuple[frozenset[str], str]:
    """Return the keys of known items, and in words the time after which items are new."""
    if since is None and team.last is not None:
        return team.last.keys, f"the report of {format_day(team.last.night, night)}"
    if attention is None:
        return frozenset(), "the beginning"
    day = since or attention.newest - timedelta(1)
    before = find_attention(ask, {}, day)
    keys = {item.key for item in _list_data_troubles(team, night, attention) if _was_late(item.key, day)}
    keys |= {
        _describe_silence(silence, night).key
        for silence in _find_silent(ask, team, night)
        if silence.was_silent(day)
    }
    keys |= {finding.key for finding in judge_rules(ask, team.rules, day) if finding.fires}
    returned = find_returned_errors(ask, team.states.values())
    keys |= {error.key for error in returned if error.back_day <= day}
    return _list_keys(before) | keys, format_day(day, night)


def _list_keys(attention: Attention | None) -> frozenset[str]:
    """Return the keys of all alerts and new errors, including alerts that are part of another alert."""
    if attention is None:
        return frozenset()
    keys = [f"{alert.key} over" if alert.over else alert.key for alert in attention.alerts]
    return frozenset([*keys, *(error.key for error in attention.new_errors)])


def _was_late(key: str, day: date) -> bool:
    """Return True when the newest call, whose day `key` contains, was already too old on `day`."""
    kind, *_, last = json.loads(key)
    return kind != "load failed" and date.fromisoformat(last) < day - timedelta(_LATE)


def _order_item(item: ReportItem) -> tuple[int, int]:
    kinds = {"data": 0, "rule": 1, "rate": 2, "error": 3, "silence": 4}
    tones: Mapping[Tone, int] = {"bad": 0, "good": 1, "calm": 2}
    return tones[item.tone], kinds[item.kind]


def _describe_new(new: Sequence[ReportItem], since: str) -> str:
    """Return one sentence that counts what changed. The sentence contains no log content."""
    rates = [attention for attention in new if attention.kind == "rate"]
    returned = sum(item.kind == "error" and json.loads(item.key)[0] == "returned" for item in new)
    counts = (
        (sum(item.tone == "bad" for item in rates), "rate got worse", "rates got worse"),
        (sum(item.kind == "rule" for item in new), "rule fired", "rules fired"),
        (sum(item.kind == "error" for item in new) - returned, "new error", "new errors"),
        (returned, "fixed error is back", "fixed errors are back"),
        (sum(item.kind == "silence" for item in new), "source went silent", "sources went silent"),
        (sum(item.kind == "data" for item in new), "problem with the data", "problems with the data"),
        (sum(item.tone == "good" for item in rates), "rate got better", "rates got better"),
        (sum(item.tone == "calm" for item in rates), "rate is back", "rates are back"),
    )
    parts = [
        f"{number} {singular if number == 1 else several}" for number, singular, several in counts if number
    ]
    return f"Since {since}: {wording.list_words(parts)}."


def _describe_quiet(attention: Attention | None, still: int, back: int, data: str) -> str:
    """Return the sentence for a day without changes.

    The sentence also says when there is too little data to find a change.
    """
    if attention is None:
        return "No call has a date yet, so there is nothing to report."
    still_open = f" {wording.plural(still, 'alert')} still open." if still else ""
    if back:
        still_open = f" {back} {'rate is' if back == 1 else 'rates are'} back.{still_open}"
    return f"{describe_quiet(attention, opened=still)} {data[0].upper()}{data[1:]}.{still_open}"


def _describe_data(ask: Ask, newest: date | None) -> str:
    """Return a phrase such as “61,204 calls on 20 Nov, 2 files not read”."""
    load = ask("last_load").iloc[0]
    rejected = describe_rejected(int(load.rejected_files), int(load.rejected_lines))
    calls = 0
    if newest:
        calls = int(ask("slices", rates=("emission",), from_day=newest, to_day=newest)["total"].sum())
    return f"{wording.plural(calls, 'call')}, {f'{rejected} not read' if rejected else 'everything read'}"


def _add_trend(ask: Ask, item: ReportItem, newest: date | None) -> ReportItem:
    if item.kind != "rate" or newest is None:
        return item
    _, dimension, value, rate, _ = json.loads(item.alert)
    dimensions = dimension.split("+")
    values = [value] if len(dimensions) == 1 else value
    rows = ask(
        "slices",
        rates=(rate,),
        also="day",
        from_day=newest - timedelta(_TREND - 1),
        to_day=newest,
        **{f"{each}s": (value,) for each, value in zip(dimensions, values, strict=True)},
    )
    return replace(item, trend=_make_trend(rows))


def _make_trend(rows: pd.DataFrame) -> tuple[TrendPoint, ...]:
    days = zip(rows["also"], rows["k"], rows["n"], strict=True)
    measured = ((day, k, n) for day, k, n in days if day != "unknown" and n)
    return tuple(TrendPoint(date.fromisoformat(day), int(k), int(n)) for day, k, n in sorted(measured))


def _list_rates(ask: Ask, newest: date) -> Iterator[ReportRate]:
    rows = ask("slices", rates=HEADLINES, by="day", from_day=newest - timedelta(_TREND), to_day=newest)
    several = [slice_ for slice_ in make_slices(rows, related=False) if slice_.name != "unknown"]
    for name in HEADLINES:
        slices = sorted(
            (slice_ for slice_ in several if slice_.rate.name == name), key=lambda slice_: slice_.name
        )
        now = [slice_ for slice_ in slices if slice_.name == newest.isoformat()]
        if now and now[0].share.n:
            yield _describe_headline(now[0], slices[: slices.index(now[0])])


def _describe_headline(now: Slice, before: Sequence[Slice]) -> ReportRate:
    rate: RateDefinition = now.rate
    whole, interval = merge_slices(before), now.share.interval
    points = (
        TrendPoint(date.fromisoformat(slice_.name), slice_.share.k, slice_.share.n)
        for slice_ in (*before, now)
    )
    return ReportRate(
        name=rate.name,
        title=rate.title,
        noun=rate.noun,
        k=now.share.k,
        n=now.share.n,
        low=interval.low if interval else 0.0,
        high=interval.high if interval else 1.0,
        before_k=whole.share.k if whole else 0,
        before_n=whole.share.n if whole else 0,
        link=write_link("", {"rate": rate.name}),
        trend=tuple(point for point in points if point.n),
    )


def _write_ranking(ask: Ask, prices: PriceList, labels: Callable[[str, str], str]) -> str:
    last = ask("extent").iloc[0].last_day
    chosen = {"from_day": last - timedelta(_TREND - 1), "to_day": last}
    rate = RATES[HEADLINES[0]]
    costs = find_costs(ask, prices, "model", **chosen)
    return write_best(ask, rate, "model", chosen, partial(labels, "model"), costs)


def _describe_retries(ask: Ask, prices: PriceList, newest: date) -> str:
    """Return what retries cost in the newest week, and the share of turns with a retry."""
    days = (newest - _WEEK + timedelta(1), newest)
    rows = ask("slices", rates=("retried",), from_day=days[0], to_day=days[1])
    share = next((slice_.share for slice_ in make_slices(rows)), Share(0, 0))
    if not share.n:
        return ""
    counts = f"{wording.fraction(share.k, share.n)}, 95% {wording.interval(share.interval)}"
    sentence = f"In 7 days {wording.rate(share.k, share.n)} of turns had a retry ({counts})"
    now, before = (
        next(iter(find_costs(ask, prices, from_day=first, to_day=last)), None)
        for first, last in (days, (days[0] - _WEEK, days[0] - timedelta(1)))
    )
    return f"{sentence}; {_describe_cost(now, before)}."


def _describe_cost(now: Cost | None, before: Cost | None) -> str:
    if now is None or not now.retry_calls:
        return "the logs record no model calls of them"
    steps = f"retries took {wording.fraction(now.retry_calls, now.calls)} model calls"
    if now.retries is None or not now.total or now.retry_priced < MEASURED_ENOUGH * now.retry_calls:
        return f"{steps}, {f'{now.retry_priced:,} of them' if now.retry_priced else 'none'} with a price"
    share = f", {wording.percent(now.retries / now.total, 2)} of {_write_money(now, now.total)}"
    part = "" if now.retry_priced == now.retry_calls else f" ({now.retry_priced:,} of them priced)"
    earlier = ""
    if before and before.retries is not None and before.total:
        earlier = (
            f"; the week before {_write_money(before, before.retries)}, "
            f"{wording.percent(before.retries / before.total, 2)}"
        )
    return f"{steps}{part} and {_write_money(now, now.retries)}{share}{earlier}"


def _write_money(cost: Cost, amount: float) -> str:
    return wording.money(amount, cost.currency, wording.money_places(amount))


def write_link(page: str, query: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Return the path of a page with a query, such as /compare?a_model=…"""
    parameters = urlencode(query if isinstance(query, Mapping) else list(query))
    return f"/{page}{'?' if parameters else ''}{parameters}"
