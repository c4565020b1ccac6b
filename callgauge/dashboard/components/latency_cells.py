"""The cells of a table that hold the latency of a slice: half of its calls, and 95 % of them."""

from __future__ import annotations

from callgauge.analysis import wording
from callgauge.analysis.measures.latency import Latency
from callgauge.dashboard.components.table import Cell


def latency_cells(one: Latency | None) -> list[Cell]:
    """Return the cells of p50 and p95; dashes where no time was measured."""
    if one is None or one.p50 is None or one.p95 is None:
        return [Cell("–", sub="not measured"), Cell("–")]
    return [
        Cell(
            wording.duration(one.p50 / 1000),
            sub=wording.fraction(one.n, one.total),
            title=one.basis,
            order=one.p50,
            values={"ms": one.p50, "n": one.n},
        ),
        Cell(wording.duration(one.p95 / 1000), order=one.p95, values={"ms": one.p95}),
    ]
