"""Finds slices that get no rank because their calls come from too few sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import ENOUGH_SESSIONS

MOST_OF_ONE = 0.2
"""A slice gets no rank if one session has more than this share of the slice's calls."""
# If the groups show fewer effective sessions than this, the sessions of the slice are counted.
_CLEARLY_ENOUGH = 12.5
Ask = Callable[..., pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Concentration:
    """How concentrated the calls of a slice are in few sessions.

    `largest` is the share of calls in the largest session. `effective` is the number of equally large
    sessions with as much information (Kish 1965).
    """

    largest: float
    effective: float

    @property
    def is_high(self) -> bool:
        return self.largest > MOST_OF_ONE or self.effective < ENOUGH_SESSIONS

    @property
    def words(self) -> str:
        """The reason why the slice is not ranked."""
        if self.largest > MOST_OF_ONE:
            return f"one session has {wording.percent(self.largest, 2)} of its calls"
        return f"a few large sessions have most of its calls (worth {self.effective:.1f} sessions)"


def find_concentrated(
    ask: Ask, several: Sequence[Slice], by: str | None, chosen: Mapping[str, Any]
) -> dict[str, str]:
    """Return by slice name the reason why a slice gets no rank, if its calls come from too few sessions.

    Raises MetricError.
    """
    suspect = {
        slice_.name
        for slice_ in several
        if slice_.share.has_enough and slice_.is_named and _is_suspect(slice_)
    }
    if not suspect:
        return {}
    rows = ask("concentration", by=by, among=tuple(sorted(suspect)) if by else None, **chosen)
    counted = {
        row["slice"]: Concentration(row["largest"] / row["calls"], row["effective"])
        for row in rows.to_dict("records")
    }
    return {name: each.words for name, each in counted.items() if name in suspect and each.is_high}


def _is_suspect(slice_: Slice) -> bool:
    groups, spread = slice_.share.by_group, slice_.share.spread
    if groups is None or spread is None or not slice_.share.n:
        return False
    # A group contains whole sessions, so the group is at least as large as its largest session.
    return bool(groups[1].max() > MOST_OF_ONE * slice_.share.n or spread.squares > 1 / _CLEARLY_ENOUGH)
