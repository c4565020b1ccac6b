"""Measures how long every metric takes on a store.

The result is the median over filters that are not in any cache.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from callgauge.analysis import day_paging
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation

FACTS = re.compile(
    r"\b(?:FROM|JOIN)\s+(?:tool_calls|turns|sessions|diagnostics|task_trials)\b", re.IGNORECASE
)
ROUNDS = 2
# promised times: for metrics that read only daily sums, and for metrics that read single calls
SUMS_MS, FACTS_MS = 100, 1000
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"models": ["falcon-3"]},
    {"models": ["kestrel-mini", "osprey-2"], "from_day": date(2026, 10, 1)},
    {"tools": ["bash"], "to_day": date(2026, 11, 1)},
    {"prompts": ["agent@2"], "sources": ["session_history"]},
)
HEADLINES = ["parse_error", "strict_failure", "execution", "retried", "derived_ok"]
STREAMED = ("replayed_calls",)  # a page reads this metric in parts; ./dev bench replay measures the parts
PAGE = {"limit": 50, "offset": 0}
LISTS = {
    day_list.metric: day_list
    for day_list in (day_paging.CALLS, day_paging.SESSIONS, day_paging.DISAGREEMENTS)
}
ASKED: dict[str, tuple[dict[str, Any], ...]] = {
    "slices": (
        {"rates": HEADLINES},
        {"rates": HEADLINES, "by": "model"},
        {"rates": ["parse_error"], "by": "model", "also": "day"},
        {"rates": ["parse_error"], "by": "model", "also": "prompt"},
        {"rates": ["parse_error", "execution"], "by": "tool", "also": "strategy"},
        {"rates": ["derived_ok"], "by": "tool"},
        {"rates": ["parse_error"], "by": "model", "also": "tool"},
        {"rates": ["parse_error"], "by": "tool", "also": "day"},
        {"rates": list(RATES), "by": "model"},
    ),
    "strata": (
        {"rates": ["parse_error"], "by": "model", "first": "tool", "second": "strategy"},
        {"rates": ["derived_ok"], "by": "prompt", "first": "source", "second": "provider", "third": "model"},
    ),
    "calls": (
        {},
        {"fault": "arguments"},
        {"code": "missing_required"},
        {"turns": "retried"},
        {"search": "module_17"},
    ),
    "sessions": ({}, {"order": "faults"}, {"order": "retries"}, {"search": "project 17"}),
    "session_copies": (PAGE,),
    "signatures": (PAGE,),
    "session": ({"session": "s4000"},),
    "session_turns": ({"session": "s4000", "source": "claude_code"},),
}


@dataclass(frozen=True, slots=True)
class Took:
    """Times in ms over all filters. The time for each filter is the shortest time of several rounds.

    `facts` is True when the metric reads more than the daily sums. `median` and `worst` are wall times. `cpu`
    is the median CPU time of all threads.
    """

    metric: str
    also: str
    facts: bool
    median: float
    worst: float
    cpu: float

    @property
    def keeps_promise(self) -> bool:
        return self.median <= (FACTS_MS if self.facts else SUMS_MS)


def measured(store: Path, filters: Sequence[dict[str, Any]] = FILTERS) -> Iterator[Took]:
    with open_generation(store / (store / "CURRENT").read_text().strip(), texts=True) as connection:
        for name, metric in metrics().items():
            if name in STREAMED:
                continue
            for parameters in ASKED.get(name, ({},)):
                rounds = [
                    [_ms(connection, name, parameters | chosen) for chosen in filters] for _ in range(ROUNDS)
                ]
                walls = [min(wall for wall, _ in of_one) for of_one in zip(*rounds, strict=True)]
                cpus = [min(cpu for _, cpu in of_one) for of_one in zip(*rounds, strict=True)]
                yield Took(
                    name,
                    ", ".join(f"{key}={value}" for key, value in parameters.items()),
                    bool(FACTS.search(metric.sql)),
                    statistics.median(walls),
                    max(walls),
                    statistics.median(cpus),
                )


def _ms(connection: Connection, name: str, filters: dict[str, Any]) -> tuple[float, float]:
    remembered: dict[str, pd.DataFrame] = {}

    def ask(metric: str, **parameters: Any) -> pd.DataFrame:
        key = repr((metric, sorted(parameters.items())))
        if key not in remembered:
            remembered[key] = answer_metric(connection, metric, parameters)
        return remembered[key]

    started, cpu = time.perf_counter(), time.process_time()
    if name in LISTS:  # reads the list with all queries of the list's page
        day_paging.read_page(ask, LISTS[name], filters, LISTS[name].per_page)
    else:
        ask(name, **filters)
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - cpu)
