"""Counts by model or prompt in, a table of rates with their intervals out; each name leads to its calls."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard import filters, wording
from dashboard.pages.sheet import Cell, Column, sheet
from dashboard.statistics import ENOUGH, wilson

Row = Mapping[Hashable, Any]

READING = (
    "The bar is the 95% Wilson interval, on a scale of its own in each column; "
    f"pale: fewer than {ENOUGH} observed."
)
_HIGH = 0.5  # a column whose intervals all lie above this does not start its scale at zero


@dataclass(frozen=True, slots=True)
class Scale:
    """What the left and the right end of an interval's track stand for."""

    start: float
    end: float

    def place(self, rate: float) -> float:
        """0 to 1 along the track; what lies outside stands at its end."""
        return min(1.0, max(0.0, (rate - self.start) / max(1e-9, self.end - self.start)))


_RATES = (
    ("Parse errors", "parse_k", "parse_n", "calls"),
    ("Mended", "mend_k", "mend_n", "calls"),
    ("Turns with a retry", "retry_k", "turns", "turns"),
    ("Recorded ok", "recorded_k", "recorded_n", "turns"),
    ("Derived ok", "derived_k", "derived_n", "turns"),
)


def rate_table(dimension: str, rates: pd.DataFrame) -> None:
    """`dimension` is model or prompt; `rates` are the rows of the metric of that name, by that dimension."""
    rows = rates.to_dict("records")
    scales = {k: _scale([(row[k], row[n]) for row in rows]) for _, k, n, _ in _RATES}
    columns = [
        Column(dimension.capitalize(), "name"),
        Column("Calls", "number", width="8%"),
        *(Column(title, "rate", "Share with its 95% Wilson interval", width="15.5%") for title, *_ in _RATES),
    ]
    sheet(
        f"rates_{dimension}",
        f"Rates by {dimension}",
        columns,
        [_row(dimension, row, scales) for row in rows],
    )


def _scale(counts: Sequence[tuple[int, int]]) -> Scale:
    """One scale for a column, around the intervals of the rows with enough observations, or else of all."""
    bounds = [found for k, n in counts if n >= ENOUGH and (found := wilson(k, n))]
    bounds = bounds or [found for k, n in counts if (found := wilson(k, n))]
    if not bounds:
        return Scale(0.0, 1.0)
    lowest = min(found.low for found in bounds)
    # Rates near 100% would all sit in the last tenth of a scale from zero.
    return Scale(math.floor(10 * lowest) / 10 if lowest > _HIGH else 0.0, max(found.high for found in bounds))


def _row(dimension: str, row: Row, scales: Mapping[str, Scale]) -> list[Cell]:
    value = row["slice"]
    return [
        Cell(
            wording.one_line(filters.label(dimension, value), 60),
            href=filters.link("calls", {dimension: value}, {}),
        ),
        Cell(f"{row['calls']:,}", sub=wording.plural(row["turns"], "turn")),
        *(_rate_cell(row[k], row[n], row[total], scales[k]) for _, k, n, total in _RATES),
    ]


def _rate_cell(k: int, n: int, total: int, scale: Scale) -> Cell:
    bounds = wilson(k, n)
    if bounds is None:
        return Cell("–", sub="unmeasured")
    known = f" · {wording.rate(total - n, total)} unmeasured" if total > n else ""
    return Cell(
        wording.rate(k, n),
        sub=f"{wording.of(k, n)}{known}",
        at=scale.place(k / n),
        low=scale.place(bounds.low),
        high=scale.place(bounds.high),
        title=f"95% interval {wording.interval(bounds)}" + (f"; fewer than {ENOUGH}" if n < ENOUGH else ""),
        pale=n < ENOUGH,
    )
