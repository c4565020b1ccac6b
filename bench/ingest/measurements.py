"""The measurements of the readers of one kind of logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.apart import Ran

BASELINE = "loads"
DUCKDB = "duckdb_sql"
TITLES = {
    BASELINE: "orjson.loads on every line",
    "callgauge": "callgauge, one process",
    "callgauge_2": "callgauge, two workers",
    "again": "callgauge, nothing new",
    DUCKDB: "DuckDB SQL (read_json)",
}


@dataclass(slots=True)
class Best:
    """The lowest measurements of several rounds of a reader, and the slowest wall time.

    The units are seconds and megabytes.
    """

    clock: float = float("inf")
    slowest: float = 0.0
    processor: float = float("inf")
    peak_mb: float = 0.0
    output: dict[str, Any] = field(default_factory=dict)

    def take(self, ran: Ran) -> None:
        self.slowest = max(self.slowest, ran.output["clock"])
        self.clock = min(self.clock, ran.output["clock"])
        self.processor = min(self.processor, ran.output["processor"])
        self.peak_mb = max(self.peak_mb, ran.peak_mb)
        self.output = ran.output


@dataclass(frozen=True, slots=True)
class KindMeasurements:
    """The best measurement of each reader of one kind of logs. `size` is the size of the logs in bytes."""

    title: str
    files: int
    size: int
    best: Mapping[str, Best]

    @property
    def calls(self) -> int:
        return int(self.best["callgauge"].output["calls"])

    @property
    def lines(self) -> int:
        return int(self.best[BASELINE].output["lines"])

    @property
    def workers_ratio(self) -> float:
        """Return how many times as fast two workers are as one process, by wall time."""
        return self.best["callgauge"].clock / self.best["callgauge_2"].clock

    def table(self) -> Iterator[str]:
        """Yield the readers as a table in Markdown.

        *cpu / loads* is the reader's processor time, divided by the processor time of `orjson.loads`. *noise*
        is the slowest round divided by the fastest round.
        """
        yield "| reader | s | noise | cpu s | µs / call | µs / line | cpu / loads | MB/s | peak MB | store |"
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        baseline = self.best[BASELINE]
        for name, measured in self.best.items():
            store = f"{measured.output['store'] / self.size:.1%}" if "store" in measured.output else ""
            cells = (
                TITLES.get(name, name),
                f"{measured.clock:.2f}",
                f"{measured.slowest / measured.clock:.2f}",
                f"{measured.processor:.2f}",
                f"{measured.processor / self.calls * 1e6:.1f}",
                f"{measured.processor / self.lines * 1e6:.1f}",
                f"{measured.processor / baseline.processor:.2f}",
                f"{self.size / 1e6 / measured.clock:.0f}",
                f"{measured.peak_mb:.0f}",
                store,
            )
            yield f"| {' | '.join(cells)} |"
