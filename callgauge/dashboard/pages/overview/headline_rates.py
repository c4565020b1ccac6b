"""Draws the leading rates on the page Overview, each with its change, goal and trend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures.comparisons import SliceComparison, Standing, compare_pairs
from callgauge.analysis.measures.costs import COMMAND, Cost, CostSummary
from callgauge.analysis.measures.measurability import (
    describe_definitions,
    describe_reported,
    describe_unmeasured,
    find_definition_share,
)
from callgauge.analysis.measures.rates import LEADING, RateDefinition
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.verdicts.goals import GoalState, describe_goal, judge_goal
from callgauge.analysis.verdicts.sentences import format_points
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.money.page_costs import summarise_costs
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.overview.sparkline import draw_sparkline
from callgauge.dashboard.shown_slices import ask_slices
from callgauge.memory.records import Goal
from callgauge.stats import ENOUGH, Share

HEADLINES = tuple(reversed(LEADING))
RATES_BY_DAY = (*HEADLINES, "defined", "recorded_ok", "emission")
_DAYS = 28  # newest days with data that the small line chart shows

Colour = Literal["normal", "inverse", "off"]


def read_days(chosen: Mapping[str, Any]) -> dict[str, list[Slice]]:
    """Return the slices of each headline rate by day, earliest day first."""
    days = ask_slices(rates=RATES_BY_DAY, by="day", **chosen, related=False)
    return _group_by_rate(sorted(days, key=lambda day: day.name))


def merge_days(by_day: Mapping[str, Sequence[Slice]], chosen: Mapping[str, Any]) -> dict[str, Slice]:
    """Return each rate of `read_days` over all of the `chosen` days."""
    return store_queries.derive(lambda _: _merge_each(by_day), "rates of all days", chosen)


def read_baseline(
    rate: RateDefinition, chosen: Mapping[str, Any], *, related: bool
) -> Sequence[Slice] | None:
    """Return the headline rates and `rate` by model, on the baseline days.

    Returns None when no baseline is chosen. `make_slices` describes `related`.
    """
    parameters = filters.baseline_parameters(chosen)
    if parameters is None:
        return None
    return ask_slices(rates=baseline_rates(rate), by="model", **parameters, related=related)


def baseline_rates(rate: RateDefinition) -> tuple[str, ...]:
    """Return the names of the rates that `read_baseline` reads."""
    return tuple(dict.fromkeys((*HEADLINES, rate.name)))


def read_costs(chosen: Mapping[str, Any]) -> CostSummary | None:
    """Return the cost of the chosen turns. Return None when the team's prices cannot be read."""
    with suppress(MetricError):  # the filter bar shows the reason
        return summarise_costs(chosen, filters.baseline_parameters(chosen))
    return None


def draw_headlines(
    rates: Mapping[str, Slice],
    by_day: Mapping[str, Sequence[Slice]],
    before: Sequence[Slice] | None,
    goals: Mapping[str, Goal],
    costs: CostSummary | None,
) -> None:
    """Draw the leading rates and the cost.

    `before` holds the slices of `read_baseline` with `related=False`.
    """
    changes = _compare_with_baseline(rates, before)
    with st.grid(4 if costs else 3, min_column_width=175, gap="small"):
        for name in HEADLINES:
            if name in rates:
                note = _describe_basis(name, rates)
                _draw_rate(rates[name], note, changes.get(name), by_day[name], goals.get(name))
        if costs:
            _draw_cost(costs)


def _compare_with_baseline(
    rates: Mapping[str, Slice], before: Sequence[Slice] | None
) -> dict[str, SliceComparison]:
    if before is None:
        return {}
    earlier = _merge_each(_group_by_rate(before))
    pairs = [(rates[name], earlier[name]) for name in HEADLINES if name in rates and name in earlier]
    return {comparison.slice.rate.name: comparison for comparison in compare_pairs(pairs)}


def _merge_each(by_rate: Mapping[str, Sequence[Slice]]) -> dict[str, Slice]:
    return {name: whole for name, several in by_rate.items() if (whole := merge_slices(several))}


def _group_by_rate(slices: Iterable[Slice]) -> dict[str, list[Slice]]:
    groups: dict[str, list[Slice]] = {}
    for member in slices:
        groups.setdefault(member.rate.name, []).append(member)
    return groups


def _describe_basis(name: str, rates: Mapping[str, Slice]) -> str:
    """Return how many calls have a tool definition, or how many turns have a result in the log."""
    whole = rates[name]
    if name == "parse_error":
        share = find_definition_share([whole, rates["defined"]]) if "defined" in rates else None
        return describe_definitions(share)
    if name == "turn_success" and whole.share.n and "recorded_ok" in rates:
        return describe_reported(rates["recorded_ok"].share.n, whole.share.n)
    return ""


@contextmanager
def _draw_card(title: str, figure: str, change: str | None, colour: Colour, *, few: bool) -> Iterator[None]:
    """Draw a card. The `with` body draws the lines below the figure. With `few` the figure is pale."""
    # shell.css makes figures with this key pale
    key = f"few_{title.lower().replace(' ', '_')}" if few else None
    with st.container(border=True, height="stretch", gap="xsmall", key=key):
        st.metric(title, figure, change, delta_color=colour, delta_arrow="off")
        yield


def _draw_rate(
    whole: Slice, note: str, change: SliceComparison | None, by_day: Sequence[Slice], goal: Goal | None
) -> None:
    share, rate = whole.share, whole.rate
    few = share.n > 0 and not share.has_enough
    delta, colour = _describe_change(change)
    with _draw_card(rate.title, wording.rate(share.k, share.n), delta, colour, few=few):
        days = _list_points(by_day)
        if len(days) > 1 and not few:
            ends = f"from {wording.percent(days[0])} to {wording.percent(days[-1])}"
            draw_sparkline(f"days_of_{rate.name}", days, f"{rate.title} on {len(days)} days: {ends}")
        if not share.n and whole.total:
            st.caption(describe_unmeasured(rate, [whole]))
            return
        counted = f"{wording.fraction(share.k, share.n)} {rate.noun}s"
        prefix = ("few: " if share.n < ENOUGH else "few sessions: ") if few else ""
        missing = whole.total > share.n
        lines = [
            " · ".join(filter(None, (f"{prefix}{counted}", wording.interval(share.interval)))),
            _write_goal(rate, share, goal) if goal else "",
            f"{wording.rate(share.n, whole.total)} measured" if missing else "",
            note,
        ]
        st.caption("  \n".join(line for line in lines if line))
        if share.k and rate.calls and not rate.is_good:
            st.page_link(page_file("calls"), label=wording.link_label("Calls"), query_params=rate.calls)


def _write_goal(rate: RateDefinition, share: Share, goal: Goal) -> str:
    words = describe_goal(rate, share, goal)
    return f":red[{words}]" if judge_goal(rate, share, goal) is GoalState.MISSED else words


def _list_points(by_day: Sequence[Slice]) -> list[float]:
    """Return the rate on the newest complete days with observations."""
    last = str(store_queries.derive(find_last_whole_day, "last whole day"))
    dated = [day for day in by_day if day.name != "unknown"]
    rates = [day.share.rate for day in dated if day.name <= last] or [day.share.rate for day in dated]
    return [rate for rate in rates if rate is not None][-_DAYS:]


def _describe_change(change: SliceComparison | None) -> tuple[str | None, Colour]:
    """Return the change in words, and its colour. Only significant changes have a colour."""
    if change is None or change.difference is None:
        return None, "off"
    standing = change.standing()
    if standing in (Standing.TOO_FEW, Standing.TOO_FEW_DAYS):
        return "not enough data", "off"
    if standing in (Standing.BETTER, Standing.WORSE):
        points = f"{format_points(change.difference.estimate)} points"
        return points, "normal" if change.slice.rate.is_good else "inverse"
    return "no clear change", "off"


def _draw_cost(summary: CostSummary) -> None:
    cost = summary.overall
    mean = cost.per_completed if cost else None
    few = mean is not None and (mean.turns < ENOUGH or mean.interval is None)
    change = None if summary.change is None else f"{100 * summary.change:+.0f}%".replace("-", "−")
    amount = wording.in_markdown(_write_amount(cost, mean.amount)) if cost and mean else "–"
    with _draw_card("Cost per successful turn", amount, change, "off", few=few):
        if cost is None or mean is None:
            st.caption(wording.in_markdown(f"No turn has a price. Load yours: {COMMAND}", 120))
            return
        counted = f"{'few: ' if few else ''}{wording.plural(mean.turns, 'successful turn')}"
        bounds = mean.interval
        ends = f"{_write_amount(cost, bounds.low)} to {_write_amount(cost, bounds.high)}" if bounds else ""
        lines = [" · ".join(filter(None, (counted, ends)))]
        if cost.unpriced_calls:
            steps = wording.plural(cost.calls, "step")
            lines.append(f"unpriced: {cost.unpriced_calls:,} of {steps} (model calls)")
        st.caption("  \n".join(wording.in_markdown(line, 200) for line in lines))
        st.page_link(page_file("models"), label=wording.link_label("By model"))


def _write_amount(cost: Cost, amount: float) -> str:
    return wording.money(amount, cost.currency, wording.money_places(amount))
