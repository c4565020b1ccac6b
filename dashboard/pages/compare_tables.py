"""Two slices in, what takes their difference apart out: by tool, by rate, and what each is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import contrasts, filters, verdicts, wording
from dashboard.contrasts import Pair, Shift
from dashboard.pages.compare_arms import calls_link, keys, makeup_of
from dashboard.pages.compare_sides import Side, by_tool, to_take
from dashboard.rates import RATES, Rate
from dashboard.slices import Against, Slice, beside
from dashboard.statistics import ENOUGH
from dashboard.traits import TITLES, class_words
from dashboard.widgets import cards
from dashboard.widgets.difference_cells import difference_cell, difference_column, reach_of, verdict_cell
from dashboard.widgets.rate_choice import DIMENSIONS
from dashboard.widgets.sheet import Cell, Column, sheet

_TOOLS = 15  # the most observed, until all are asked for
_SHIFTS = 12
_READING = (
    "Verdicts are Holm's over all lines of the table: the chance that any of them misleads stays at 5%. "
    f"Pale: fewer than {ENOUGH} observed."
)


def forest(a: Side, b: Side, rate: Rate) -> None:
    """The whole first, then tool by tool, the most observed first."""
    with cards.card(
        f"{rate.title} by tool",
        "slices",
        caption=_READING,
        take=cards.Take(
            f"compare_{rate.name}_by_tool", to_take(a.arm, b.arm, "slices", rates=(rate.name,), by="tool")
        ),
        height=360,
    ):
        found = contrasts.pairs(by_tool(a.arm, rate), by_tool(b.arm, rate))
        found = [pair for pair in found if pair.n]
        if not found:
            st.caption(f"No {rate.noun} with a tool of which this can be known.")
            return
        shown = found if st.session_state.get("all_tools") else found[:_TOOLS]
        _forest(a, b, rate, shown)
        if rate.noun == "turn":
            st.caption("A turn counts for every tool that it called.")
        if len(found) > _TOOLS:
            st.toggle(f"Show all {len(found)} tools", key="all_tools")


def _forest(a: Side, b: Side, rate: Rate, shown: Sequence[Pair]) -> None:
    first, second = a.whole(rate), b.whole(rate)
    whole = beside([(second, first)])[0] if first and second else None
    reach = reach_of([one for one in (whole, *(pair.held for pair in shown)) if one])
    rows = [_row(Cell("All tools"), Pair("all", first, second, whole), rate, reach, a, b, {})]
    rows += [
        _row(
            Cell(wording.one_line(pair.name, 60), title=wording.one_line(pair.name, 400), order=pair.name),
            pair,
            rate,
            reach,
            a,
            b,
            {"tool": pair.name},
        )
        for pair in shown
    ]
    sheet("forest", f"{rate.title} by tool", _columns("Tool", reach), rows)


def _columns(first: str, reach: float) -> list[Column]:
    return [
        Column(first, "name"),
        Column("A", "number"),
        Column("B", "number"),
        difference_column("B − A", reach),
        Column("Verdict on B", "tight", "Holm's, over all lines of the table; the sentence shows on hover"),
    ]


def _row(
    name: Cell, pair: Pair, rate: Rate, reach: float, a: Side, b: Side, narrowed: dict[str, str]
) -> list[Cell]:
    cells = [name, _counts(pair.a, a, rate, narrowed), _counts(pair.b, b, rate, narrowed)]
    if pair.held is None or pair.held.difference is None or pair.a is None:
        return [*cells, Cell("–"), Cell("Only in one", tone="calm") if not (pair.a and pair.b) else Cell("–")]
    return [*cells, difference_cell(pair.held, reach), verdict_cell(pair.held, pair.a)]


def _counts(one: Slice | None, side: Side, rate: Rate, narrowed: dict[str, str]) -> Cell:
    if one is None:
        return Cell("–", sub="none")
    share = one.share
    if share.rate is None:
        return Cell("–", sub="unmeasured")
    missing = f"\n{wording.rate(one.total - share.n, one.total)} unmeasured" if one.total > share.n else ""
    return Cell(
        wording.rate(share.k, share.n),
        sub=f"{wording.of(share.k, share.n)} · {wording.interval(share.interval)}{missing}",
        href=calls_link(side.arm, rate.calls, narrowed) if rate.calls and share.k else None,
        pale=share.n < ENOUGH or not one.rankable,
        title=f"{wording.plural(share.sessions or 0, 'session')} · {share.method}",
        order=share.rate,
    )


def other_rates(a: Side, b: Side) -> None:
    """Every rate of the two side by side; a name leads to the page with that rate chosen."""
    with cards.card(
        "All rates, A and B",
        "slices",
        caption=_READING,
        take=cards.Take("compare_rates", to_take(a.arm, b.arm, "slices", rates=tuple(RATES))),
        height=360,
    ):
        both = [
            name for name in RATES if any(name in side.rates and side.rates[name].share.n for side in (a, b))
        ]
        if not both:
            st.caption("Nothing could be judged of either slice.")
            return
        held = beside(
            [(b.rates[name], a.rates[name]) for name in both if name in a.rates and name in b.rates]
        )
        by_rate = {one.slice.rate.name: one for one in held}
        reach = reach_of(held)
        rows = [
            _row(_rate_name(RATES[name]), _pair(a, b, name, by_rate), RATES[name], reach, a, b, {})
            for name in both
        ]
        sheet("other_rates", "All rates of the two slices", _columns("Rate", reach), rows)


def _pair(a: Side, b: Side, name: str, held: Mapping[str, Against]) -> Pair:
    return Pair(name, a.rates.get(name), b.rates.get(name), held.get(name))


def _rate_name(rate: Rate) -> Cell:
    kept = {key: text for key in keys() if (text := st.query_params.get(key))}
    href = filters.link("compare", {}, kept | {"rate": rate.name})
    return Cell(rate.title, href=href, title=f"{rate.noun.capitalize()}s that {rate.hit}")


def what_differs(a: Side, b: Side) -> None:
    """The biggest differences in what the slices are made of, but for what their own filters say."""
    with cards.card(
        "What differs between the slices",
        "makeup",
        caption="Shares of the calls, the biggest difference first: what else may explain a rate.",
        take=cards.Take("compare_makeup", to_take(a.arm, b.arm, "makeup")),
        height=300,
    ):
        chosen = set(a.arm.own) | set(b.arm.own)
        found = contrasts.shifts(makeup_of(a.arm), makeup_of(b.arm), chosen)
        if not found:
            st.caption(
                "Nothing: their calls have the same tools, prompts, sources and kinds in the same shares."
            )
            return
        shown = found if st.session_state.get("all_shifts") else found[:_SHIFTS]
        columns = [
            Column("Of", "tight"),
            Column("Value", "name"),
            Column("A", "number", "Share of the calls of A"),
            Column("B", "number", "Share of the calls of B"),
            Column("B − A", "number", "In points"),
        ]
        sheet("makeup", "What differs between the slices", columns, [_shift_row(shift) for shift in shown])
        if len(found) > _SHIFTS:
            st.toggle(f"Show all {len(found)} differences", key="all_shifts")


def _shift_row(shift: Shift) -> list[Cell]:
    if shift.dimension in TITLES:
        of, value = TITLES[shift.dimension], class_words(shift.dimension, int(shift.value))
    else:
        of, value = DIMENSIONS[shift.dimension], filters.label(shift.dimension, shift.value)
    return [
        Cell(of, order=of),
        Cell(wording.one_line(value, 60), title=wording.one_line(value, 400), order=value),
        _part(shift.a, shift.a_total),
        _part(shift.b, shift.b_total),
        Cell(verdicts.points(shift.change), order=abs(shift.change)),
    ]


def _part(calls: int, total: int) -> Cell:
    return Cell(
        wording.rate(calls, total), sub=wording.of(calls, total), share=calls / total, order=calls / total
    )
