"""Draws the agent versions of a source in order of first use, and which versions changed a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures import trends
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.measures.trends import VersionShift
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.slice_table import judged_rate_cell, make_scale
from callgauge.dashboard.components.table import Cell, Column, draw_table

_SOURCES = 4  # number of sources that get a card, because versions of different agents are not comparable
_SHOWN = 40  # number of newest versions that a card shows
_BEFORE_ALL = 10


def draw_versions(rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    """Draw one card for each of the most used sources that have at least two versions."""
    by_source = make_slices(store_queries.ask("slices", rates=(rate.name,), by="source", **chosen))
    most_used = sorted(by_source, key=lambda slice_: (-slice_.total, slice_.name))[:_SOURCES]
    alone = [
        wording.in_markdown(wording.one_line(slice_.name, 60))
        for place, slice_ in enumerate(most_used, start=1)
        if not _draw_source(place, slice_.name, rate, {**chosen, "sources": (slice_.name,)})
    ]
    if alone:
        st.caption(f"No two versions of {', '.join(alone)} were seen here, so there is nothing to compare.")


def _draw_source(place: int, source: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> bool:
    """Draw the card of a source and return True.

    If the source has only one version, draw nothing and return False.
    """
    grouping = {"rates": (rate.name,), "by": "harness_version", "also": "day"}
    used = trends.order_versions(make_slices(store_queries.ask("slices", **grouping, **chosen)))
    if len(used) < 2:
        return False
    shown = wording.one_line(source, 60)
    take = cards.Download(
        f"{rate.name}_by_version_{place}", store_queries.ask_later("slices", **grouping, **chosen)
    )
    title = f"{rate.title} by version of {wording.in_markdown(shown)}, in the order of their first use"
    with cards.draw_card(title, "slices", take=take, height=220):
        shifts = trends.find_version_shifts(used)
        st.caption(_describe_found(rate, shifts))
        _draw_table(shown, rate, used, shifts or [])
    return True


def _describe_found(rate: RateDefinition, shifts: Sequence[VersionShift] | None) -> str:
    if shifts is None:
        return (
            f"Fewer than {trends.ENOUGH_DAYS} versions were measured: too few to tell a change from chance."
        )
    if not shifts:
        return f"No version changed the rate of {rate.phrase}. {trends.describe_doubt(1)}"
    return f"{' '.join(map(_describe_shift, shifts))} {trends.describe_doubt(1)}"


def _describe_shift(shift: VersionShift) -> str:
    version, first, last = (
        wording.in_markdown(wording.one_line(name, 40)) for name in (shift.version, shift.first, shift.last)
    )
    began = "" if shift.first == shift.last else f" (it may have begun with any from {first} to {last})"
    change = f"{wording.percent(shift.before)} → {wording.percent(shift.after)}"
    return f"From {version} on{began}: {change}, p {shift.p:.3f}, versions shuffled."


def _draw_table(
    source: str, rate: RateDefinition, used: Sequence[tuple[str, Slice]], shifts: Sequence[VersionShift]
) -> None:
    changed = {shift.version: shift for shift in shifts}
    scale = make_scale([slice_.share for _, slice_ in used])
    columns = [
        Column("Version", "name"),
        Column("First used", "tight"),
        Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        Column("Change", "tight"),
    ]
    rows = [
        [
            Cell(wording.one_line(slice_.name, 60)),
            Cell(first),
            judged_rate_cell(slice_, scale),
            _change_cell(rate, changed.get(slice_.name)),
        ]
        for first, slice_ in reversed(used[-_SHOWN:])
    ]
    draw_table(f"versions_{source}", f"{rate.title} by version of {source}", columns, rows, shown=_BEFORE_ALL)
    if len(used) > _SHOWN:
        st.caption(f"The {_SHOWN} newest of {len(used)} versions.")


def _change_cell(rate: RateDefinition, shift: VersionShift | None) -> Cell:
    if shift is None:
        return Cell("")
    if rate.better is None:
        return Cell("From here on", tone="info")
    worse = (shift.after < shift.before) == rate.is_good
    return Cell("Worse from here on" if worse else "Better from here on", tone="bad" if worse else "good")
