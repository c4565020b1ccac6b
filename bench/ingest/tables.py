"""Formats the measurements of the readers as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.apart import Ran

BASELINE = "loads"
TITLES = {
    "loads": "orjson.loads on every line",
    "callgauge": "callgauge, one process",
    "callgauge_2": "callgauge, two workers",
    "again": "callgauge, nothing new",
    "duckdb_sql": "DuckDB SQL (read_json)",
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


def table(best: Mapping[str, Best], size: int) -> Iterator[str]:
    """Yield one line per reader.

    `x loads` is the reader's speed as a multiple of the baseline, per core and by wall time. `noise` is the
    slowest round divided by the fastest. If `noise` is far above 1, wall times are unreliable.
    """
    titles = ("calls", "s", "noise", "cpu s", "MB/s", "x loads/core", "x loads", "peak MB", "store")
    yield f"{'reader':28}" + "".join(f"{title:>13}" for title in titles)
    for name, measured in best.items():
        store = f"{measured.output['store'] / size:.1%}" if "store" in measured.output else ""
        calls = f"{measured.output['calls']:,}" if "calls" in measured.output else ""
        yield (
            f"{TITLES.get(name, name):28}{calls:>13}"
            f"{measured.clock:13.2f}{measured.slowest / measured.clock:13.2f}{measured.processor:13.2f}"
            f"{size / 1e6 / measured.clock:13.0f}"
            f"{best[BASELINE].processor / measured.processor:13.2f}"
            f"{best[BASELINE].clock / measured.clock:13.2f}"
            f"{measured.peak_mb:13.0f}{store:>13}"
        )
