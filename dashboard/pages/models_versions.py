"""The harness versions of each source in the order of their first use, and the one that changed a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, trends, wording
from dashboard.rates import Rate
from dashboard.slices import Slice, slices
from dashboard.trends import VersionShift
from dashboard.widgets import cards
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import rate_cell, scale_of

_SOURCES = 4  # the most used; a version says nothing beside those of another harness
_SHOWN = 40  # versions of a source, the newest


def versions(rate: Rate, chosen: Mapping[str, Any]) -> None:
    """One card a source."""
    by_source = slices(answers.ask("slices", rates=(rate.name,), by="source", **chosen))
    most_used = sorted(by_source, key=lambda one: (-one.total, one.name))[:_SOURCES]
    for place, one in enumerate(most_used, start=1):
        _of_source(place, one.name, rate, {**chosen, "sources": (one.name,)})


def _of_source(place: int, source: str, rate: Rate, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": (rate.name,), "by": "harness_version", "also": "day"}
    used = trends.by_version(slices(answers.ask("slices", **asked, **chosen)))
    if not used:
        return
    shown = wording.one_line(source, 60)
    take = cards.Take(f"{rate.name}_by_version_{place}", answers.later("slices", **asked, **chosen))
    title = f"{rate.title} by version of {wording.in_markdown(shown)}, in the order of their first use"
    with cards.card(title, "slices", take=take, height=220):
        found = trends.version_shifts(used)
        st.caption(_said(rate, found))
        _table(shown, rate, used, found or [])


def _said(rate: Rate, found: Sequence[VersionShift] | None) -> str:
    if found is None:
        return (
            f"Fewer than {trends.ENOUGH_DAYS} versions were measured: too few to tell a change from chance."
        )
    if not found:
        return f"No version changed the rate of {rate.title.lower()}. {trends.doubt(1)}"
    return f"{' '.join(map(_sentence, found))} {trends.doubt(1)}"


def _sentence(shift: VersionShift) -> str:
    version, first, last = (
        wording.in_markdown(wording.one_line(name, 40)) for name in (shift.version, shift.first, shift.last)
    )
    began = "" if shift.first == shift.last else f" (it may have begun with any from {first} to {last})"
    change = f"{wording.percent(shift.before)} → {wording.percent(shift.after)}"
    return f"From {version} on{began}: {change}, p {shift.p:.3f}, versions shuffled."


def _table(source: str, rate: Rate, used: Sequence[tuple[str, Slice]], found: Sequence[VersionShift]) -> None:
    changed = {shift.version: shift for shift in found}
    scale = scale_of([one.share for _, one in used])
    columns = [
        Column("Version", "name"),
        Column("First used", "tight"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        Column("Change", "tight"),
    ]
    rows = [
        [
            Cell(wording.one_line(one.name, 60)),
            Cell(first),
            rate_cell(one, scale),
            _change(rate, changed.get(one.name)),
        ]
        for first, one in reversed(used[-_SHOWN:])
    ]
    sheet(f"versions_{source}", f"{rate.title} by version of {source}", columns, rows)
    if len(used) > _SHOWN:
        st.caption(f"The {_SHOWN} newest of {len(used)} versions.")


def _change(rate: Rate, shift: VersionShift | None) -> Cell:
    if shift is None:
        return Cell("")
    if rate.better is None:
        return Cell("From here on", tone="info")
    worse = (shift.after < shift.before) == rate.good
    return Cell("Worse from here on" if worse else "Better from here on", tone="bad" if worse else "good")
