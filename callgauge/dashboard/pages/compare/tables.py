"""Tables that break down the difference of two slices: by tool, by rate, and by composition of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from callgauge.dashboard import filters, wording
from callgauge.dashboard.call_traits import TITLES, class_words
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures import breakdown, verdicts
from callgauge.dashboard.measures.breakdown import ArmPair, MakeupShift
from callgauge.dashboard.measures.comparisons import SliceComparison, compare_pairs
from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.dashboard.measures.same_mix import ArmStrata, SameMix
from callgauge.dashboard.measures.slices import Slice, relate_slices
from callgauge.dashboard.pages.compare import ARM_KEYS
from callgauge.dashboard.pages.compare.arms import calls_link, read_makeup
from callgauge.dashboard.pages.compare.sides import CompareSide, compare_work, make_export, read_by_tool

_TOOLS = 15  # the most observed, until all are asked for
_SHIFTS = 12
_MIX_DIFFERS = Cell(
    "Mix differs",
    tone="calm",
    sub="open the rate",
    title="A and B got different work. Open the rate to see it at the same mix.",
)
_READING = (
    "Verdicts with Holm's name are over all such lines: the chance that any of them misleads stays at 5%. "
    f"Pale: {verdicts.LESS}."
)


def draw_forest(
    a: CompareSide,
    b: CompareSide,
    rate: RateDefinition,
    whole: SliceComparison | None,
    work: ArmStrata,
    smallest: float,
) -> None:
    """Draw the difference of the rate over all tools, then for each tool, the most observed tool first."""
    with cards.draw_card(
        f"{rate.title} by tool",
        "slices",
        caption=_READING,
        take=cards.Download(
            f"compare_{rate.name}_by_tool", make_export(a.arm, b.arm, "slices", rates=(rate.name,), by="tool")
        ),
        height=360,
    ):

        def compare_tool(second: Slice, first: Slice) -> SameMix | None:
            return compare_work(work.within("tool", second.name), second, first)

        slices = relate_slices([*read_by_tool(a.arm, rate), *(of_b := read_by_tool(b.arm, rate))])
        by_tool = compare_tool if "tool" in work.dimensions else None
        border = len(slices) - len(of_b)
        found = breakdown.pair_slices(slices[:border], slices[border:], by_tool)
        found = [pair for pair in found if pair.n]
        if not found:
            st.caption(f"No {rate.noun} with a tool of which this can be known.")
            return
        shown = found if st.session_state.get("all_tools") else found[:_TOOLS]
        _draw_forest_table(a, b, rate, shown, whole, smallest)
        if rate.noun == "turn":
            st.caption("A turn counts for every tool that it called.")
        if len(found) > _TOOLS:
            st.toggle(f"Show all {len(found)} tools", key="all_tools")


def _draw_forest_table(
    a: CompareSide,
    b: CompareSide,
    rate: RateDefinition,
    shown: Sequence[ArmPair],
    whole: SliceComparison | None,
    smallest: float,
) -> None:
    first, second = a.whole_slice(rate), b.whole_slice(rate)
    reach = track_reach([one for one in (whole, *(pair.held for pair in shown)) if one])
    rows = [
        _build_row(Cell("All tools"), ArmPair("all", first, second, whole), rate, reach, a, b, {}, smallest)
    ]
    rows += [
        _build_row(
            Cell(wording.one_line(pair.name, 60), title=wording.one_line(pair.name, 400), order=pair.name),
            pair,
            rate,
            reach,
            a,
            b,
            {"tool": pair.name},
            smallest,
        )
        for pair in shown
    ]
    draw_table("forest", f"{rate.title} by tool", _build_columns("Tool", reach), rows)


def _build_columns(first: str, reach: float) -> list[Column]:
    return [
        Column(first, "name"),
        Column("A", "number"),
        Column("B", "number"),
        difference_column("B − A", reach),
        Column("Verdict on B", "tight", "Holm's, over all lines of the table; the sentence shows on hover"),
    ]


def _build_row(
    name: Cell,
    pair: ArmPair,
    rate: RateDefinition,
    reach: float,
    a: CompareSide,
    b: CompareSide,
    narrowed: dict[str, str],
    smallest: float,
    *,
    is_judged: bool = True,
) -> list[Cell]:
    cells = [name, _counts_cell(pair.a, a, rate, narrowed), _counts_cell(pair.b, b, rate, narrowed)]
    if pair.held is None or pair.held.difference is None or pair.a is None:
        return [*cells, Cell("–"), Cell("Only in one", tone="calm") if not (pair.a and pair.b) else Cell("–")]
    verdict = verdict_cell(pair.held, smallest) if is_judged else _MIX_DIFFERS
    return [*cells, difference_cell(pair.held, reach), verdict]


def _counts_cell(
    one: Slice | None, side: CompareSide, rate: RateDefinition, narrowed: dict[str, str]
) -> Cell:
    if one is None:
        return Cell("–", sub="none")
    share = one.share
    if share.rate is None:
        return Cell("–", sub="unmeasured")
    missing = f"\n{wording.rate(one.total - share.n, one.total)} unmeasured" if one.total > share.n else ""
    return Cell(
        wording.rate(share.k, share.n),
        sub=f"{wording.fraction(share.k, share.n)} · {wording.interval(share.interval)}{missing}",
        href=calls_link(side.arm, rate.calls, narrowed) if rate.calls and share.k else None,
        pale=not one.is_solid,
        title=f"{wording.plural(share.sessions or 0, 'session')} · {share.method_name}",
        order=share.rate,
    )


def draw_other_rates(a: CompareSide, b: CompareSide, chosen: SliceComparison | None, smallest: float) -> None:
    """Draw every rate of both slices side by side; a rate's name links to this page with that rate chosen.

    `chosen`: the comparison of the chosen rate. Where the mix of work matters in it, the other rates get no
    verdict here: their plain differences may be those of the work.
    """
    with cards.draw_card(
        "All rates, A and B",
        "slices",
        caption=_READING,
        take=cards.Download("compare_rates", make_export(a.arm, b.arm, "slices", rates=tuple(RATES))),
        height=360,
    ):
        both = [
            name for name in RATES if any(name in side.rates and side.rates[name].share.n for side in (a, b))
        ]
        if not both:
            st.caption("Nothing could be judged of either slice.")
            return
        held = compare_pairs(
            [(b.rates[name], a.rates[name]) for name in both if name in a.rates and name in b.rates]
        )
        by_rate = {one.slice.rate.name: one for one in held}
        if chosen is not None:
            by_rate[chosen.slice.rate.name] = chosen
        mixed = chosen is not None and (chosen.is_at_same_mix or chosen.does_other_work)
        reach = track_reach(list(by_rate.values()))
        rows = [
            _build_row(
                _rate_cell(RATES[name]),
                _pair_rates(a, b, name, by_rate),
                RATES[name],
                reach,
                a,
                b,
                {},
                smallest,
                is_judged=not mixed or by_rate.get(name) is chosen,
            )
            for name in both
        ]
        draw_table("other_rates", "All rates of the two slices", _build_columns("Rate", reach), rows)


def _pair_rates(a: CompareSide, b: CompareSide, name: str, held: Mapping[str, SliceComparison]) -> ArmPair:
    return ArmPair(name, a.rates.get(name), b.rates.get(name), held.get(name))


def _rate_cell(rate: RateDefinition) -> Cell:
    kept = {key: text for key in ARM_KEYS if (text := st.query_params.get(key))}
    href = filters.page_link("compare", {}, kept | {"rate": rate.name})
    return Cell(rate.title, href=href, title=f"{rate.noun.capitalize()}s that {rate.hit}")


def draw_differences(a: CompareSide, b: CompareSide) -> None:
    """Draw the largest differences in the composition of the slices.

    Dimensions that a slice's own filters narrow are left out.
    """
    with cards.draw_card(
        "What differs between the slices",
        "makeup",
        caption="Shares of the calls, the biggest difference first: what else may explain a rate.",
        take=cards.Download("compare_makeup", make_export(a.arm, b.arm, "makeup")),
        height=300,
    ):
        chosen = set(a.arm.own) | set(b.arm.own)
        found = breakdown.find_makeup_shifts(read_makeup(a.arm), read_makeup(b.arm), chosen)
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
        draw_table(
            "makeup", "What differs between the slices", columns, [_shift_row(shift) for shift in shown]
        )
        if len(found) > _SHIFTS:
            st.toggle(f"Show all {len(found)} differences", key="all_shifts")


def _shift_row(shift: MakeupShift) -> list[Cell]:
    if shift.dimension in TITLES:
        of, value = TITLES[shift.dimension], class_words(shift.dimension, int(shift.value))
    else:
        of, value = DIMENSIONS[shift.dimension], filters.value_label(shift.dimension, shift.value)
    return [
        Cell(of, order=of),
        Cell(wording.one_line(value, 60), title=wording.one_line(value, 400), order=value),
        _part_cell(shift.a, shift.a_total),
        _part_cell(shift.b, shift.b_total),
        Cell(verdicts.format_points(shift.change), order=abs(shift.change)),
    ]


def _part_cell(calls: int, total: int) -> Cell:
    return Cell(
        wording.rate(calls, total),
        sub=wording.fraction(calls, total),
        share=calls / total,
        order=calls / total,
    )
