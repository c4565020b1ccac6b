"""Draws the list of decisions.

Each decision shows its comparison as recorded, and the same comparison on later days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.arm_filters import Arm, Days
from callgauge.analysis.comparisons.sides import compare_sides, measure_sides, read_work
from callgauge.analysis.measures.comparisons import SMALLEST, SliceComparison
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import format_points, shorten_verdict
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import apply_change, owns
from callgauge.dashboard.components.memory.decision_form import thaw_parameters
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.memory.decisions import FrozenComparison, FrozenSide, RecordedDecision, delete_decision
from callgauge.memory.kept_slices import take_slice

_SHOWN = 10  # decisions before "Show all"; few, because each decision runs queries
_EMPTY = "No decisions yet. Press Decide next to the verdict on Compare or on a trial run."


@dataclass(frozen=True, slots=True)
class LaterComparison:
    """A decision's comparison, repeated on later days. `days` are the first and the last of these days."""

    days: Days
    comparison: SliceComparison


def draw_decisions(decisions: Sequence[RecordedDecision]) -> None:
    """Draw the decisions, newest first."""
    if not decisions:
        with st.container(border=True):
            st.caption(_EMPTY)
            draw_link("to_compare", "Open Compare", filters.page_link("compare", {}, {}))
        return
    shown = decisions if st.session_state.get("all_decisions") else decisions[:_SHOWN]
    for decision in shown:
        _draw_decision(decision)
    if len(decisions) > _SHOWN:
        st.toggle(f"Show all {len(decisions)}", key="all_decisions")


def _draw_decision(decision: RecordedDecision) -> None:
    with cards.draw_card(wording.one_line(decision.title, 200).replace("$", r"\$"), "slices", "strata"):
        by = f"{wording.in_markdown(decision.by, 60)}, " if decision.by else ""
        if decision.reason:
            st.markdown(wording.in_markdown(decision.reason, 2000))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{by}{decision.at:%Y-%m-%d}", width="content")
            draw_link(f"open_{decision.id}", "Open the comparison", decision.link)
            if owns(decision.by):
                with st.container(width="content"):
                    draw_popover("Delete", f"drop_{decision.id}", lambda: _ask_delete(decision))
        if decision.figures is None:
            st.caption("This version cannot read its numbers.")
            return
        later = compare_later(decision.figures, decision.at.date())
        _draw_figures(decision, decision.figures, later)


def _ask_delete(decision: RecordedDecision) -> None:
    st.caption("Deletes the decision and its numbers for the whole team.")
    if st.button("Delete decision", key=f"delete_decision_{decision.id}"):
        apply_change(lambda file: delete_decision(file, decision))


def compare_later(figures: FrozenComparison, decided: date) -> LaterComparison | None:
    """Return a decision's comparison, repeated on the days after the decision.

    Returns None when there are no later days, or when the two sides differ only in their days. `decided` is
    the day of the decision. It is the comparison's last day if the comparison covers all days. Raises
    MetricError.
    """
    if figures.run or figures.measure not in RATES:
        return None
    try:
        sides = [thaw_parameters(side.parameters) for side in (figures.against, figures.of)]
    except ValueError:
        return None
    last = max(each.get("to_day") or decided for each in sides)
    newest = store_queries.ask("extent").iloc[0].last_day
    slices = [take_slice(each) for each in sides]
    if newest is None or newest <= last or slices[0] == slices[1]:
        return None
    days = (last + timedelta(1), newest)
    arms = Arm("A", slices[0], days), Arm("B", slices[1], days)
    rate = RATES[figures.measure]
    names = figures.against.name, figures.of.name
    a, b = measure_sides(store_queries.ask_all, arms, names)
    comparison = compare_sides(a, b, rate, read_work(store_queries.ask_all, a, b, rate))
    return LaterComparison(days, comparison) if comparison else None


def _draw_figures(
    decision: RecordedDecision, figures: FrozenComparison, later: LaterComparison | None
) -> None:
    st.caption(f"Verdict then: {wording.in_markdown(figures.sentence, 900)}")
    rate = RATES.get(figures.measure)
    title = rate.title if rate else wording.one_line(figures.measure, 60)
    columns = [Column(title, "name"), Column("Then", "number")]
    rows = [
        [_name_cell(figures.against), _then_cell(figures.against, rate, figures)],
        [_name_cell(figures.of), _then_cell(figures.of, rate, figures)],
        [Cell("Difference"), _difference_cell(figures, rate)],
    ]
    if later:
        columns.append(Column(f"Since, {later.days[0]} to {later.days[1]}", "number"))
        cells = (
            _later_cell(later.comparison.other),
            _later_cell(later.comparison.slice),
            _later_difference_cell(later),
        )
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    draw_table(f"decision_{decision.id}", f"Numbers of the decision {decision.title}", columns, rows)
    if later is None and not figures.run:
        st.caption("No later data yet.")


def _name_cell(side: FrozenSide) -> Cell:
    return Cell(wording.one_line(side.name, 80), sub=_describe_days(side) or None)


def _describe_days(side: FrozenSide) -> str:
    first, last = (str(side.parameters.get(name) or "") for name in ("from_day", "to_day"))
    return wording.one_line(f"{first} to {last}", 60) if first and last else ""


def _is_share(rate: RateDefinition | None, figures: FrozenComparison) -> bool:
    """Return True for shares (hits / observations). Every rate is a share; a trial measure may be a mean."""
    sides = (figures.of, figures.against)
    return rate is not None or all(0 <= side.k <= side.n for side in sides)


def _then_cell(side: FrozenSide, rate: RateDefinition | None, figures: FrozenComparison) -> Cell:
    if not side.n:
        return Cell("–")
    if not _is_share(rate, figures):
        return Cell(f"{side.k / side.n:,.4g}", sub=f"mean of {side.n:,.0f}")
    bounds = ""
    if side.low is not None and side.high is not None:
        bounds = f" · {wording.percent(side.low).rstrip('%')}–{wording.percent(side.high)}"
    return Cell(wording.percent(side.k / side.n), sub=f"{side.k:,.0f} / {side.n:,.0f}{bounds}")


def _later_cell(slice_: Slice | None) -> Cell:
    if slice_ is None or not slice_.share.n:
        return Cell("–")
    share = slice_.share
    bounds = f" · {wording.interval(share.interval)}" if share.interval else ""
    return Cell(wording.percent(share.rate or 0.0), sub=f"{wording.fraction(share.k, share.n)}{bounds}")


def _difference_cell(figures: FrozenComparison, rate: RateDefinition | None) -> Cell:
    if figures.difference is None:
        return Cell("–")
    if not _is_share(rate, figures):
        return Cell(f"{figures.difference:+,.4g}".replace("-", "−"))
    sub = None
    if figures.low is not None and figures.high is not None:
        sub = f"{format_points(figures.low)} to {format_points(figures.high)} points"
    return Cell(f"{format_points(figures.difference)} points", sub=sub)


def _later_difference_cell(later: LaterComparison) -> Cell:
    difference = later.comparison.difference
    if difference is None:
        return Cell("–")
    verdict = shorten_verdict(later.comparison, SMALLEST)
    ends = f"{format_points(difference.low)} to {format_points(difference.high)} points"
    return Cell(f"{format_points(difference.estimate)} points", sub=f"{ends} · {verdict.text.lower()}")
