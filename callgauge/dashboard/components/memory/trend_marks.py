"""Finds the notes and decisions that a trend chart marks, each on its day."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date

from callgauge.dashboard import filters
from callgauge.dashboard.components.memory.changes import read_records
from callgauge.memory.decisions import FrozenComparison, RecordedDecision
from callgauge.memory.notes import Note, SubjectKind

Subject = tuple[SubjectKind, str]
SERIES: Mapping[str, SubjectKind] = {
    "model": "model",
    "prompt": "prompt",
    "prompt_name": "prompt",
    "tool": "tool",
}
"""For each dimension of a trend, the kind of subject under which notes on a series are stored."""
_CHOSEN: Mapping[SubjectKind, str] = {"model": "models", "prompt": "prompts", "tool": "tools"}
"""For each kind of subject, the metric parameter that filters by this kind."""


def find_trend_notes(by: str, series: Collection[str], days: tuple[date, date]) -> list[Note]:
    """Return the notes on a day, on a series of the trend, or on a chosen filter value."""
    shown = _find_shown(by, series)
    return [
        note
        for note in read_records().notes
        if note.day is not None
        and days[0] <= note.day <= days[1]
        and (note.kind == "day" or (note.kind, note.subject) in shown)
    ]


def find_trend_decisions(by: str, series: Collection[str], days: tuple[date, date]) -> list[RecordedDecision]:
    """Return the decisions made on the days of a trend.

    A decision is left out if its comparison selects only values that the trend does not show.
    """
    shown = _find_shown(by, series)
    return [
        decision
        for decision in read_records().decisions
        if days[0] <= decision.at.date() <= days[1]
        and decision.figures is not None
        and not decision.figures.run  # the trends show calls from logs, not from trials
        and (not (about := _list_subjects(decision.figures)) or about & shown)
    ]


def _find_shown(by: str, series: Collection[str]) -> set[Subject]:
    """Return the subjects of a trend: the series, and the values of the filters."""
    chosen = filters.chosen_filters()
    narrowed = {
        (kind, values[0])
        for kind, name in _CHOSEN.items()
        if (values := getattr(chosen, name)) and len(values) == 1
    }
    kind = SERIES.get(by)
    return {*narrowed, *((kind, name) for name in series if kind)}


def _list_subjects(figures: FrozenComparison) -> set[Subject]:
    """Return the filter values of both sides of a comparison."""
    return {
        (kind, str(value))
        for side in (figures.of, figures.against)
        for kind, name in _CHOSEN.items()
        if isinstance(values := side.parameters.get(name), list)
        for value in values
    }
