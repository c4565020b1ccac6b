"""Card of the rates whose newest days lie beyond what the days before show, the worst change first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import streamlit as st

from callgauge.dashboard import comparison, filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import difference_cell, difference_column, track_reach
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.comparisons import SliceComparison
from callgauge.dashboard.measures.slices import Slice, make_slices
from callgauge.dashboard.measures.verdicts import RULE
from callgauge.dashboard.pages.overview.alerts import (
    FALSE,
    Alert,
    AlertWindows,
    Days,
    choose_windows,
    find_alerts,
    list_candidates,
)
from callgauge.stats.day_effects import LEAST_DAYS

_OF_CALLS = ("parse_error", "emission", "tool_rejected", "execution")
_OF_ANY = (*_OF_CALLS, "recorded_ok", "derived_ok")
_LOOKED_AT = {"model": _OF_ANY, "prompt": _OF_ANY, "tool": _OF_CALLS}
_SHOWN = 5
_HEIGHT = 120


def draw_changes(chosen: Mapping[str, Any]) -> None:
    found = _windows(chosen)
    title = f"What changed {_days_text(found.now)}" if found else "What changed"
    with cards.draw_card(title, "slices", height=_HEIGHT):
        if found is None:
            st.caption("Nothing to hold the newest days against: widen the days, or load earlier logs.")
            return
        if not found.is_long_enough:
            st.caption(
                f"Too few days before: {wording.plural(found.days_before, 'day')} with calls. It takes "
                f"{LEAST_DAYS} to know how much days differ, and so what is a change."
            )
            return
        candidates = [
            one
            for dimension, rates in _LOOKED_AT.items()
            for one in list_candidates(dimension, _ask_by_day(dimension, rates, found, chosen), found)
        ]
        several = find_alerts(candidates, found)
        st.caption(_describe_found(found, len(candidates), len(several)))
        shown = several if st.session_state.get("all_changes") else several[:_SHOWN]
        if shown:
            _draw_alert_table(shown, found)
        if len(several) > _SHOWN:
            st.toggle(f"Show all {len(several)} changes", key="all_changes")


def _windows(chosen: Mapping[str, Any]) -> AlertWindows | None:
    rows = store_queries.ask("slices", rates=("emission",), by="day", **chosen)
    dated = rows[rows["slice"] != "unknown"]
    days = [date.fromisoformat(day) for day in dated["slice"]]
    calls, sessions = (dict(zip(days, dated[name], strict=True)) for name in ("total", "sessions"))
    return choose_windows(calls, sessions)


def _ask_by_day(
    dimension: str, rates: tuple[str, ...], found: AlertWindows, chosen: Mapping[str, Any]
) -> list[Slice]:
    within = {**chosen, "from_day": found.before[0], "to_day": found.now[1]}
    return make_slices(
        store_queries.ask("slices", rates=rates, by=dimension, also="day", **within), related=False
    )


def _days_text(days: Days) -> str:
    first, last = days
    return f"on {last}" if first == last else f"in the {(last - first).days + 1} days to {last}"


def _describe_found(found: AlertWindows, compared: int, several: int) -> str:
    length = (found.before[1] - found.before[0]).days + 1
    before = f"the {length} days before"
    if not compared:
        return (
            f"Too little to tell: no model, prompt or tool has {RULE} "
            f"both {_days_text(found.now)} and in {before}, on {LEAST_DAYS} of these days."
        )
    rates = f"{wording.plural(compared, 'rate')} of models, prompts and tools"
    if not several:
        return (
            f"Nothing stands out: {rates} lie within what {before} show, give or take the usual spread "
            f"between days (Benjamini–Hochberg, {FALSE:.0%})."
        )
    return (
        f"{several} of {rates} lie beyond what {before} show, their usual spread between days included; the "
        f"worst first. Benjamini–Hochberg: of the alerts {FALSE:.0%} are false on average. Each leads to its "
        "comparison."
    )


def _draw_alert_table(shown: list[Alert], found: AlertWindows) -> None:
    held = [SliceComparison(one.now, one.difference, one.q) for one in shown]
    reach = track_reach(held)
    columns = [
        Column("Now", "tight"),
        Column("What changed", "text"),
        difference_column("Change", reach),
        Column("q", "number", "Benjamini–Hochberg: the share of false alerts among those up to this one"),
    ]
    rows = [
        [
            Cell("Worse" if one.is_worse else "Better", tone="bad" if one.is_worse else "good"),
            Cell(_sentence_text(one), sub=_counts_text(one), href=_proof_text(one, found)),
            difference_cell(each, reach),
            Cell("< 0.001" if one.q < 0.001 else f"{one.q:.3f}"),
        ]
        for one, each in zip(shown, held, strict=True)
    ]
    draw_table("changes", "What changed", columns, rows)


def _sentence_text(one: Alert) -> str:
    rose = "rose" if one.difference.estimate > 0 else "fell"
    now, expected = wording.rate(one.now.share.k, one.now.share.n), wording.percent(one.expected)
    name = wording.one_line(filters.value_label(one.dimension, one.now.name), 60)
    return f"{one.now.rate.title} of {one.dimension} {name} {rose} to {now}, {expected} was expected"


def _counts_text(one: Alert) -> str:
    before, now = (wording.fraction(each.share.k, each.share.n) for each in (one.before, one.now))
    return f"{now} now, {before} on all days before"


def _proof_text(one: Alert, found: AlertWindows) -> str:
    """Return the link to the page Compare that shows the alert's two windows under the current filters."""
    own = {one.dimension: [one.now.name]}
    query = comparison.arm_query("A", own, found.before) | comparison.arm_query("B", own, found.now)
    return filters.page_link("compare", {}, query | {"rate": one.now.rate.name})
