"""Table cells with the latency of a slice: the median (p50) and the 95th percentile (p95)."""

from __future__ import annotations

from callgauge.analysis import wording
from callgauge.analysis.measures.latency import Latency
from callgauge.dashboard.components.table import Cell


def latency_cells(latency: Latency | None) -> list[Cell]:
    """Return two cells with the p50 and the p95 of the latency.

    The cells show dashes when no latency was measured.
    """
    if latency is None or latency.p50 is None or latency.p95 is None:
        return [Cell("–", sub="not measured"), Cell("–")]
    return [
        Cell(
            wording.duration(latency.p50 / 1000),
            sub=wording.fraction(latency.n, latency.total),
            title=latency.basis,
            order=latency.p50,
            values={"ms": latency.p50, "n": latency.n},
        ),
        Cell(wording.duration(latency.p95 / 1000), order=latency.p95, values={"ms": latency.p95}),
    ]
