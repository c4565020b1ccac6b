"""Draws how the rates of two slices differ within each model, tool, prompt or host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.breakdown import Breakdown, StratumComparison
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.analysis.verdicts import headlines, sentences
from callgauge.analysis.verdicts.headlines import ArmNames
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.slice_table import count_values, name_cell, rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.shown_page import record_answer

_SHOWN = 15
Link = Callable[[int, Mapping[str, str]], str | None]
"""Returns the link to the counted calls of slice 0 (the baseline) or 1, within these values, or None."""


def draw_headline(breakdown: Breakdown, names: ArmNames, smallest: float, sentence: str) -> None:
    """Draw the sentence that answers the page's question, and the evidence in small print."""
    record_answer(sentence)
    with st.container(key="verdict", gap="xsmall"):
        st.header(wording.in_markdown(sentence, 900), anchor=False)
        st.caption(wording.in_markdown(sentences.describe_basis(breakdown.whole, names, smallest), 900))


def draw_breakdown(
    breakdown: Breakdown, names: ArmNames, smallest: float, link: Link, take: cards.Download | None = None
) -> None:
    """Draw a table with one row for each value of a dimension.

    The URL key `broken_by` names the dimension.
    """
    rate = breakdown.whole.slice.rate
    with cards.draw_card(
        "By model, tool or host", "breakdown", "strata", take=take, height=300, verdict="difference"
    ):
        if not breakdown.strata:
            st.caption(f"Nothing to break down: these {rate.noun}s have one model, tool, prompt and host.")
            return
        named = breakdown.find_named(smallest)
        # Offer the dimensions that the headline names first.
        by_named = {each.dimension for each in named}
        order = sorted(breakdown.strata, key=lambda name: name not in by_named)
        dimension = choose_segment(
            "Broken down by", "broken_by", order, lambda name: f"By {wording.dimension(name)}"
        )
        strata = breakdown.strata[dimension]
        st.caption(headlines.describe_dimension(breakdown, dimension, filters.short_label))
        judged = sorted((each for each in strata if each.is_judged), key=lambda each: each not in named)
        thin = [each for each in strata if not each.is_judged]
        _draw_table(breakdown.whole, names, dimension, judged, thin, smallest, link)
        st.caption(
            "Verdicts are corrected for all models, tools, prompts and hosts together. "
            f"It takes {sentences.PAIR_RULE}."
        )


def _draw_table(
    whole: SliceComparison,
    names: ArmNames,
    dimension: str,
    judged: Sequence[StratumComparison],
    thin: Sequence[StratumComparison],
    smallest: float,
    link: Link,
) -> None:
    noun = wording.dimension(dimension)
    comparisons = [each.comparison for each in judged if each.comparison]
    reach = track_reach([whole, *comparisons])
    columns = [
        Column(noun.capitalize(), "name"),
        *name_columns(names),
        difference_column("Difference", reach),
        Column("Verdict", "tight", "Corrected for all models, tools, prompts and hosts together (Holm)"),
    ]
    rows = [_build_row(Cell(f"All {noun}s"), whole.other, whole.slice, whole, {}, reach, smallest, link)]
    for each in judged:
        narrowed = {dimension: each.name}
        name = replace(name_cell(dimension, each.name), href=None)
        rows.append(_build_row(name, each.a, each.b, each.comparison, narrowed, reach, smallest, link))
    if thin:
        rows.append(_build_thin_row(dimension, thin))
    title = whole.slice.rate.title
    caption = f"{title} by {noun}, {names.of} and {names.against}"
    draw_table("breakdown", caption, columns, rows, shown=_SHOWN)


def name_columns(names: ArmNames) -> list[Column]:
    """Return the columns for both sides of the comparison. The second side is compared with the first."""
    return [
        Column(wording.short_name(name, 30), "number", f"{name}{words}", full=name)
        for name, words in ((names.against, ": what the other one is compared with"), (names.of, ""))
    ]


def _build_row(
    name: Cell,
    a: Slice | None,
    b: Slice | None,
    comparison: SliceComparison | None,
    narrowed: Mapping[str, str],
    reach: float,
    smallest: float,
    link: Link,
) -> list[Cell]:
    cells = [name, *(count_cell(slice_, link(place, narrowed)) for place, slice_ in enumerate((a, b)))]
    if comparison is None:
        return [*cells, Cell("–"), Cell("–")]
    return [*cells, difference_cell(comparison, reach), verdict_cell(comparison, smallest)]


def count_cell(slice_: Slice | None, href: str | None) -> Cell:
    """Return a cell with the rate of one side.

    The cell is pale when there is too little data for a verdict.
    """
    return replace(
        rate_cell(slice_, None, href), pale=slice_ is not None and not slice_.has_enough_to_compare
    )


def _build_thin_row(dimension: str, thin: Sequence[StratumComparison]) -> list[Cell]:
    """Return one row for all values without a verdict.

    The row names the values and adds up their counts.
    """
    listed = ", ".join(filters.short_label(dimension, each.name) for each in thin[:3])
    more = f" and {len(thin) - 3} more" if len(thin) > 3 else ""
    sums = [merge_slices(slice_ for each in thin if (slice_ := getattr(each, side))) for side in ("a", "b")]
    return [
        Cell(
            f"{wording.plural(len(thin), wording.dimension(dimension))} with too few sessions",
            sub=f"{listed}{more}",
            title=f"Not enough data for a verdict: it takes {sentences.PAIR_RULE}.",
        ),
        *(
            Cell(wording.fraction(merged.share.k, merged.share.n), pale=True, values=count_values(merged))
            if merged
            else Cell("–")
            for merged in sums
        ),
        Cell("–"),
        Cell("Not enough data", tone="calm"),
    ]
