"""Draws every rate of two slices: one line for each group of rates, and a table of one group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.sides import CompareSide
from callgauge.analysis.measures.comparisons import SliceComparison, Standing, compare_pairs
from callgauge.analysis.measures.rates import GROUPS, LISTED, RATES, RateDefinition
from callgauge.analysis.verdicts.headlines import ArmNames
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.breakdown_table import count_cell, name_columns
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.compare import URL_KEYS
from callgauge.dashboard.pages.compare.arms import calls_link
from callgauge.dashboard.pages.compare.costs import draw_costs
from callgauge.dashboard.pages.compare.exports import make_export

_READING = "Verdicts are corrected for all rates together (Holm)."
_MIX_DIFFERS = Cell(
    "Mix differs",
    tone="calm",
    sub="open the rate",
    title="A and B got different work. Open the rate to see it mix-adjusted.",
)
_COST = "cost"  # the group with costs, which has its own table
_STANDINGS = (
    Standing.WORSE,
    Standing.BETTER,
    Standing.MORE,
    Standing.LESS,
    Standing.UNDECIDED,
    Standing.ALIKE,
)
_WORDS = {Standing.UNDECIDED: "without clear difference", Standing.ALIKE: "equivalent"}


def draw_all_rates(a: CompareSide, b: CompareSide, chosen: SliceComparison | None, smallest: float) -> None:
    """Draw one line for each group of rates, and a table of the group in the URL key `group`.

    `chosen` is the comparison of the chosen rate. If a different mix changes the verdict of `chosen`, the
    other rates get no verdict.
    """
    both = [
        name for name in LISTED if any(name in side.rates and side.rates[name].share.n for side in (a, b))
    ]
    pairs = [(b.rates[name], a.rates[name]) for name in both if name in a.rates and name in b.rates]
    by_rate = {comparison.slice.rate.name: comparison for comparison in compare_pairs(pairs, family="rates")}
    if chosen is not None:
        by_rate[chosen.slice.rate.name] = chosen
    mixed = chosen is not None and (chosen.is_at_same_mix or chosen.does_other_work)
    judged = {name: comparison for name, comparison in by_rate.items() if not mixed or comparison is chosen}
    lines = [
        f"**{group.capitalize()}**: {_describe_group(_choose_group(judged.values(), group), smallest)}"
        for group in GROUPS
    ]
    st.caption("  \n".join([*lines, "**Cost**: money, tokens, steps and seconds a turn and a success."]))
    group = choose_segment("Group of rates", "group", (*GROUPS, _COST), str.capitalize)
    if group == _COST:
        draw_costs(a, b)
        return
    shown = [name for name in both if RATES[name].group == group]
    with cards.draw_card(
        f"{group.capitalize()}: every rate",
        "slices",
        caption=f"{_READING} Compared with {wording.in_markdown(a.name, 60)}.",
        take=cards.Download(f"compare_{group}", make_export(a.arm, b.arm, "slices", rates=tuple(shown))),
        height=200,
        verdict="difference",
    ):
        if not shown:
            st.caption("Not measured in either slice.")
            return
        reach = track_reach([by_rate[name] for name in shown if name in by_rate])
        rows = [
            _build_row(name, a, b, by_rate.get(name), reach, smallest, is_judged=name in judged)
            for name in shown
        ]
        columns = [
            Column("Rate", "name"),
            *name_columns(ArmNames(b.name, a.name)),
            difference_column("Difference", reach),
            Column("Verdict on B", "tight", "Corrected for all rates of the page (Holm)"),
        ]
        draw_table("other_rates", f"{group.capitalize()}: rates of the two slices", columns, rows)


def _choose_group(comparisons: Iterable[SliceComparison], group: str) -> list[SliceComparison]:
    return [comparison for comparison in comparisons if comparison.slice.rate.group == group]


def _describe_group(comparisons: Sequence[SliceComparison], smallest: float) -> str:
    """Return a line that names the worse and the better rates of a group, and counts the rest."""
    by_standing: dict[Standing, list[str]] = {}
    for comparison in comparisons:
        by_standing.setdefault(comparison.standing(smallest), []).append(comparison.slice.rate.phrase)
    parts = [
        f"{_WORDS.get(standing, standing.value)} in {_list_titles(by_standing[standing])}"
        if standing in (Standing.WORSE, Standing.BETTER)
        else f"{len(by_standing[standing])} {_WORDS.get(standing, standing.name.lower())}"
        for standing in _STANDINGS
        if standing in by_standing
    ]
    return f"{'; '.join(parts) or 'not measured'}."


def _list_titles(titles: Sequence[str]) -> str:
    if len(titles) > 3:
        return f"{', '.join(titles[:2])} and {len(titles) - 2} more"
    return wording.list_words(titles)


def _build_row(
    name: str,
    a: CompareSide,
    b: CompareSide,
    comparison: SliceComparison | None,
    reach: float,
    smallest: float,
    *,
    is_judged: bool,
) -> list[Cell]:
    rate = RATES[name]
    sides = [side.rates.get(name) for side in (a, b)]
    hrefs = [calls_link(side.arm, rate.calls) if rate.calls else None for side in (a, b)]
    cells = [_rate_cell(rate), *(count_cell(slice_, href) for slice_, href in zip(sides, hrefs, strict=True))]
    if comparison is None or comparison.difference is None:
        return [*cells, Cell("–"), Cell("–" if all(sides) else "Only in one", tone="calm")]
    return [
        *cells,
        difference_cell(comparison, reach),
        verdict_cell(comparison, smallest) if is_judged else _MIX_DIFFERS,
    ]


def _rate_cell(rate: RateDefinition) -> Cell:
    texts = st.query_params.to_dict()  # one look-up, because the table has many rates
    query = {key: texts[key] for key in URL_KEYS.place if texts.get(key)}
    href = filters.page_link("compare", {}, query | {"rate": rate.name})
    return Cell(rate.title, href=href, title=f"{rate.noun.capitalize()}s that {rate.hit}")
