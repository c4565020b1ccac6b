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
    "The bar is the 95% Wilson interval, on the scale that the head of its column gives; "
    f"an arrow: it goes on beyond. Pale: fewer than {ENOUGH} observed."
)
_LOW = 0.1  # a column whose intervals all lie below this ends its scale at a whole percent
_HIGH = 0.5  # a column whose intervals all lie above this does not start its scale at zero


@dataclass(frozen=True, slots=True)
class Scale:
    """What the left and the right end of an interval's track stand for."""

    start: float
    end: float

    def place(self, rate: float) -> float:
        """0 to 1 along the track; outside of it for a rate beyond its ends."""
        return (rate - self.start) / (self.end - self.start)

    def ends(self) -> tuple[str, str]:
        return f"{100 * self.start:.0f}%", f"{100 * self.end:.0f}%"


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
        Column(dimension.capitalize(), "name", width="19%"),
        Column("Calls", "number", width="7%"),
        *(
            Column(title, "rate", "Share with its 95% Wilson interval", "14.8%", scales[k].ends())
            for title, k, *_ in _RATES
        ),
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
    highest = max(found.high for found in bounds)
    step = 0.01 if highest <= _LOW else 0.05
    start = math.floor(10 * lowest) / 10 if lowest > _HIGH else 0.0
    return Scale(start, min(1.0, step * math.ceil(round(highest / step, 6))))


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
    known = f"\n{wording.rate(total - n, total)} unmeasured" if total > n else ""
    return Cell(
        wording.rate(k, n),
        sub=f"{wording.of(k, n)} · {wording.interval(bounds)}{known}",
        at=scale.place(k / n),
        low=scale.place(bounds.low),
        high=scale.place(bounds.high),
        pale=n < ENOUGH,
    )
