"""The headline rates of the page Overview: each with its change against the baseline, its goal, its days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures.comparisons import SliceComparison, Standing, compare_pairs
from callgauge.analysis.measures.costs import CostSummary
from callgauge.analysis.measures.measurability import (
    describe_definitions,
    describe_reported,
    describe_unmeasured,
    find_definition_share,
)
from callgauge.analysis.measures.rates import HEADLINES, RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices, merge_slices
from callgauge.analysis.verdicts.sentences import format_points
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.memory.goals import describe_goal
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.overview.headline_card import draw_headline_card
from callgauge.dashboard.pages.overview.headline_cost import draw_cost_headline
from callgauge.dashboard.pages.overview.sparkline import draw_sparkline
from callgauge.memory.records import Goal
from callgauge.stats import ENOUGH

_MEASURED_BY = ("defined", "recorded_ok")
_DAYS = 28  # of the small line, the newest with data


@dataclass(frozen=True, slots=True)
class _Headline:
    """One headline card; its note or its count links to `leads` calls, when that is not 0."""

    slice: Slice
    note: str = ""
    leads: int = 0
    query: Mapping[str, str] = field(default_factory=dict)


def draw_headlines(
    rates: Mapping[str, Slice],
    by_day: Mapping[str, Sequence[Slice]],
    refused: int,
    before: pd.DataFrame | None,
    goals: Mapping[str, Goal],
    costs: CostSummary | None,
) -> None:
    """Draw the headline rates and the cost; `refused`: mended calls that the harness had refused.

    `before`: the rows of `read_baseline`.
    """
    changes = _compare_with_baseline(rates, before)
    # Four or five in a row: fewer where there is no room.
    with st.grid(5 if costs else 4, min_column_width=175, gap="small"):
        for name in HEADLINES:
            if name in rates:
                it = _headline(name, rates, refused)
                _draw(it, changes.get(name), _draw_points(by_day[name]), goals.get(name))
        if costs:
            draw_cost_headline(costs)


def _compare_with_baseline(
    rates: Mapping[str, Slice], before: pd.DataFrame | None
) -> dict[str, SliceComparison]:
    """Return each headline rate against the same rate on the days of the baseline; {} without a baseline."""
    if before is None:
        return {}
    by_model = _split_rates(make_slices(before, related=False))
    earlier = {name: whole for name, its in by_model.items() if (whole := merge_slices(its))}
    pairs = [(rates[name], earlier[name]) for name in HEADLINES if name in rates and name in earlier]
    return {one.slice.rate.name: one for one in compare_pairs(pairs)}


def read_baseline(rate: RateDefinition, chosen: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return the rows of `slices` by model for the headline rates and `rate`, of the baseline.

    None without a baseline.
    """
    asked = filters.baseline_parameters(chosen)
    if asked is None:
        return None
    return store_queries.ask(
        "slices", rates=tuple(dict.fromkeys((*HEADLINES, rate.name))), by="model", **asked
    )


def read_days(chosen: Mapping[str, Any]) -> dict[str, list[Slice]]:
    """Return each headline rate by day, the earliest first: what the whole rates are summed from, too."""
    rows = store_queries.ask("slices", rates=(*HEADLINES, *_MEASURED_BY, "emission"), by="day", **chosen)
    return _split_rates(sorted(make_slices(rows, related=False), key=lambda one: one.name))


def _split_rates(several: Iterable[Slice]) -> dict[str, list[Slice]]:
    found: dict[str, list[Slice]] = {}
    for one in several:
        found.setdefault(one.rate.name, []).append(one)
    return found


def _draw_points(by_day: Sequence[Slice]) -> list[float]:
    """Return a rate on the newest days on which it was observed and which were over at the last load."""
    last = str(find_last_whole_day(store_queries.ask))
    dated = [one for one in by_day if one.name != "unknown"]
    known = [one.share.rate for one in dated if one.name <= last] or [one.share.rate for one in dated]
    return [rate for rate in known if rate is not None][-_DAYS:]


def _headline(name: str, rates: Mapping[str, Slice], refused: int) -> _Headline:
    one = rates[name]
    k, calls = one.share.k, one.rate.calls or {}
    if name == "parse_error":
        share = find_definition_share([one, rates["defined"]]) if "defined" in rates else None
        return _Headline(one, note=describe_definitions(share), leads=k, query=calls)
    if name == "mended" and refused:
        return _Headline(one, note=f"{refused:,} already rejected by the agent", leads=k, query=calls)
    if name == "turn_success" and one.share.n and "recorded_ok" in rates:
        return _Headline(one, note=describe_reported(rates["recorded_ok"].share.n, one.share.n))
    return _Headline(one, leads=0 if one.rate.is_good else k, query=calls)


def _draw(it: _Headline, change: SliceComparison | None, days: Sequence[float], goal: Goal | None) -> None:
    share, rate = it.slice.share, it.slice.rate
    few = share.n > 0 and not share.has_enough
    delta, colour = _describe_change(change)
    with draw_headline_card(rate.title, wording.rate(share.k, share.n), delta, colour=colour, few=few):
        if len(days) > 1 and not few:
            ends = f"from {wording.percent(days[0])} to {wording.percent(days[-1])}"
            draw_sparkline(f"days_of_{rate.name}", days, f"{rate.title} on {len(days)} days: {ends}")
        if not share.n and it.slice.total:
            st.caption(describe_unmeasured(rate, [it.slice]))
            return
        bounds = wording.interval(share.interval)
        counted = f"{wording.fraction(share.k, share.n)} {rate.noun}s"
        lines = [
            f"{'few' if share.n < ENOUGH else 'few sessions'}: {counted}" if few else counted,
            bounds,
            describe_goal(rate, share, goal) if goal else "",
            _describe_known(it),
            it.note,
        ]
        st.caption("  \n".join(line for line in lines if line))
        if it.leads:
            label = f"See {'these' if rate.noun == 'call' else 'their'} calls"
            st.page_link(page_file("calls"), label=wording.link_label(label), query_params=it.query)


def _describe_known(it: _Headline) -> str:
    n, total = it.slice.share.n, it.slice.total
    return wording.known_share(n, total, it.slice.rate.noun) if total > n else ""


def _describe_change(
    change: SliceComparison | None,
) -> tuple[str | None, Literal["normal", "inverse", "off"]]:
    """Return the change in words and its colour: only a decided one has a colour."""
    if change is None or change.difference is None:
        return None, "off"
    standing = change.standing()
    if standing in (Standing.TOO_FEW, Standing.TOO_FEW_DAYS):
        return "too few to compare", "off"
    points = f"{format_points(change.difference.estimate)} points"
    if standing in (Standing.BETTER, Standing.WORSE):
        return points, "normal" if change.slice.rate.is_good else "inverse"
    return f"{points}, may be chance", "off"
