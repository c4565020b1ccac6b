"""Finds versions, prompts and hosts that a model used for the first time when a rate shifted.

Such a first use may have caused the shift.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.trends import RateShift
from callgauge.dashboard import filters, store_queries

_WORDS = {"harness_version": "agent", "prompt": "prompt", "provider": "host", "strategy": "strategy"}
_NAMED = 4


def find_first_uses(shifts: Sequence[RateShift], sources: tuple[str, ...] | None) -> dict[RateShift, str]:
    """Return for each shift what the model first used on the days on which the shift may have begun."""
    if not shifts:
        return {}
    models = tuple(sorted({shift.series for shift in shifts}))
    rows = store_queries.ask("first_uses", models=models, sources=sources).to_dict("records")
    return {shift: _describe_first_use(shift, rows) for shift in shifts}


def _describe_first_use(shift: RateShift, rows: Sequence[Mapping[Hashable, Any]]) -> str:
    new = [
        f"{_WORDS[row['what']]} {wording.one_line(filters.value_label(row['what'], row['name']), 40)}"
        for row in rows
        if row["model"] == shift.series
        and shift.first <= row["first_day"] <= shift.last
        and row["first_day"] > row["since"]
    ]
    more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
    return (", ".join(new[:_NAMED]) + more) or "nothing new: same agent, prompts and hosts"
