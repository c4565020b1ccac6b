"""Shifts of models in, what each of them first used on these days out: a lead, not a proof."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from dashboard import answers, filters, wording
from dashboard.trends import Shift

_WORDS = {"harness_version": "harness", "prompt": "prompt", "provider": "host", "strategy": "strategy"}
_NAMED = 4


def first_seen(shifts: Sequence[Shift], sources: tuple[str, ...] | None) -> dict[Shift, str]:
    """For each shift what its model had not used before the days on which it may have begun."""
    if not shifts:
        return {}
    models = tuple(sorted({shift.series for shift in shifts}))
    rows = answers.ask("first_uses", models=models, sources=sources).to_dict("records")
    return {shift: _words(shift, rows) for shift in shifts}


def _words(shift: Shift, rows: Sequence[Mapping[Hashable, Any]]) -> str:
    new = [
        f"{_WORDS[row['what']]} {wording.one_line(filters.label(row['what'], row['name']), 40)}"
        for row in rows
        if row["model"] == shift.series
        and shift.first <= row["first_day"] <= shift.last
        and row["first_day"] > row["since"]
    ]
    more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
    return (", ".join(new[:_NAMED]) + more) or "nothing new: harness, prompts, hosts as before"
