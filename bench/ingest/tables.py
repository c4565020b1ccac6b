"""What the readers of a night took in, the lines of a table out."""

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
    """The least that a reader took, of several rounds, and the most by the clock. Seconds and megabytes."""

    clock: float = float("inf")
    slowest: float = 0.0
    processor: float = float("inf")
    peak_mb: float = 0.0
    told: dict[str, Any] = field(default_factory=dict)

    def take(self, ran: Ran) -> None:
        self.slowest = max(self.slowest, ran.told["clock"])
        self.clock = min(self.clock, ran.told["clock"])
        self.processor = min(self.processor, ran.told["processor"])
        self.peak_mb = max(self.peak_mb, ran.peak_mb)
        self.told = ran.told


def table(best: Mapping[str, Best], size: int) -> Iterator[str]:
    """One line a reader. `x loads`: its speed as a multiple of the baseline's; a core, and by the clock.

    `noise`: the slowest round by the fastest. Far above 1 other work was done, and the clock tells little.
    """
    titles = ("calls", "s", "noise", "cpu s", "MB/s", "x loads/core", "x loads", "peak MB", "store")
    yield f"{'reader':28}" + "".join(f"{title:>13}" for title in titles)
    for name, one in best.items():
        store = f"{one.told['store'] / size:.1%}" if "store" in one.told else ""
        calls = f"{one.told['calls']:,}" if "calls" in one.told else ""
        yield (
            f"{TITLES.get(name, name):28}{calls:>13}"
            f"{one.clock:13.2f}{one.slowest / one.clock:13.2f}{one.processor:13.2f}"
            f"{size / 1e6 / one.clock:13.0f}"
            f"{best[BASELINE].processor / one.processor:13.2f}{best[BASELINE].clock / one.clock:13.2f}"
            f"{one.peak_mb:13.0f}{store:>13}"
        )
