"""Draws the cells of a forest plot: the difference between two slices with its interval, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from callgauge.analysis.measures.comparisons import RankedTable, SliceComparison, Standing
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts import sentences
from callgauge.dashboard.components.table import Cell, Column, Percentages

_STEP = 0.05
_FINE = 0.01


def track_reach(comparisons: Sequence[SliceComparison]) -> float:
    """Return half the width of the axis on which intervals are drawn, as a share.

    The axis fits the intervals of all comparisons with a p-value. If there is no p-value, the axis fits all
    intervals.
    """
    bounds = [
        max(abs(comparison.difference.low), abs(comparison.difference.high))
        for comparison in comparisons
        if comparison.difference and comparison.p is not None
    ] or [
        max(abs(comparison.difference.low), abs(comparison.difference.high))
        for comparison in comparisons
        if comparison.difference
    ]
    widest = max(bounds, default=_STEP)
    step = _FINE if widest <= 2 * _STEP else _STEP
    return min(1.0, step * math.ceil(round(widest / step, 6)))


def difference_column(title: str, reach: float) -> Column:
    ends = (f"−{100 * reach:.0f}", f"+{100 * reach:.0f} points")
    about = "In points, with its 95% interval. Mix-adjusted where the two did different work, else plain"
    return Column(title, "rate", about, scale=ends, zero=0.5)


def difference_cell(comparison: SliceComparison, reach: float, *, none: str = "–") -> Cell:
    """Return a cell with the difference in points and its interval.

    If there is no difference, the cell shows `none`.
    """
    difference = comparison.difference
    if difference is None:
        return Cell(none, values={"": None})

    def place(value: float) -> float:
        return 0.5 + value / (2 * reach)

    def write(decimals: int) -> tuple[str, str]:
        estimate, low, high = (
            sentences.fixed_points(value, decimals)
            for value in (difference.estimate, difference.low, difference.high)
        )
        return estimate, f"{low} to {high}"

    text, sub = write(1)
    return Cell(
        text,
        sub=sub,
        at=place(difference.estimate),
        low=place(difference.low),
        high=place(difference.high),
        pale=comparison.is_thin,
        title=difference.method,
        order=difference.estimate,
        values={"": difference.estimate, "low": difference.low, "high": difference.high},
        percentages=Percentages(difference.estimate, None, write),
    )


def verdict_cell(comparison: SliceComparison, smallest: float) -> Cell:
    """Return a cell with the verdict in a few words. A tooltip shows the whole sentence."""
    if comparison.standing() is Standing.REFERENCE:
        return Cell("Compared with", tone="info", leads=True)
    word = sentences.shorten_verdict(comparison, smallest)
    parts = [sentences.describe_verdict(comparison, smallest), sentences.describe_mix(comparison)]
    title = " ".join(part for part in parts if part)
    return Cell(
        word.text,
        sub=word.sub or None,
        tone=word.tone,
        title=title,
        order=comparison.p,
        leads=True,
        values={"": word.text, "p": comparison.p, "in words": title},
    )


def rank_column() -> Column:
    return Column("Rank", "number", "Rows with the same rank are tied: none is proven worse than another")


def place_cell(slice_: Slice, table: RankedTable) -> Cell:
    """Return a cell with the rank of a slice. If several slices have this rank, the cell says why."""
    place = table.places.get(slice_.name)
    if place is None:
        if slice_.name in table.ranks:
            why = "several are each worse than another of them"
        elif slice_.is_named:
            why = "it has too little work in common with the others"
        else:
            why = "it may be several things"
        return Cell("–", title=f"No rank: {why}.", values={"": None})
    first, last = table.ranks[slice_.name]
    reach = f"any from {first} to {last}" if last > first else f"{first}"
    return Cell(
        f"{place.number}",
        sub="tied" if place.is_shared else None,
        title=f"Its rank is {reach}, all ranks together with 95% confidence.",
        order=-place.number,
        values={"": place.number, "tied": place.is_shared},
    )


def tagged_difference_cell(comparison: SliceComparison, reach: float, *, none: str = "–") -> Cell:
    """Return a cell with the difference that decides the verdict, tagged plain or mix-adjusted.

    The tooltip has both the plain and the mix-adjusted difference.
    """
    cell = difference_cell(comparison, reach, none=none)
    if comparison.difference is None:
        return cell
    tag = "mix-adjusted" if comparison.is_at_same_mix else "plain"
    percentages = cell.percentages
    if percentages:
        write = percentages.write
        percentages = replace(percentages, write=lambda decimals: _tag(write(decimals), tag))
    return replace(
        cell,
        sub=f"{cell.sub}\n{tag}",
        title=sentences.describe_other_difference(comparison),
        percentages=percentages,
        values={**(cell.values or {}), "kind": tag},
    )


def _tag(written: tuple[str, str], tag: str) -> tuple[str, str]:
    return written[0], f"{written[1]}\n{tag}"
