"""Measures how long every metric takes on a store: the median over filters that nobody has asked before."""

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
SUMS_MS, FACTS_MS = 100, 1000  # what is promised where the daily sums suffice, and where the facts are needed
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"models": ["falcon-3"]},
    {"models": ["kestrel-mini", "osprey-2"], "from_day": date(2026, 10, 1)},
    {"tools": ["bash"], "to_day": date(2026, 11, 1)},
    {"prompts": ["agent@2"], "sources": ["session_history"]},
)
# What pages give besides the filters; a metric that is not here is asked with the filters alone.
HEADLINES = ["parse_error", "strict_failure", "execution", "retried", "derived_ok"]
STREAMED = ("replayed_calls",)  # a page reads it piece by piece; ./dev bench replay measures that
PAGE = {"limit": 50, "offset": 0}
LISTS = {one.metric: one for one in (day_paging.CALLS, day_paging.SESSIONS, day_paging.DISAGREEMENTS)}
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
    """In ms over the filters, each the best of its rounds. `facts`: it reads more than the daily sums.

    `median` and `worst`: by the clock; `cpu`: the median of all threads' time.
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
            for asked in ASKED.get(name, ({},)):
                rounds = [[_ms(connection, name, asked | given) for given in filters] for _ in range(ROUNDS)]
                walls = [min(wall for wall, _ in of_one) for of_one in zip(*rounds, strict=True)]
                cpus = [min(cpu for _, cpu in of_one) for of_one in zip(*rounds, strict=True)]
                yield Took(
                    name,
                    ", ".join(f"{key}={value}" for key, value in asked.items()),
                    bool(FACTS.search(metric.sql)),
                    statistics.median(walls),
                    max(walls),
                    statistics.median(cpus),
                )


def _ms(connection: Connection, name: str, given: dict[str, Any]) -> tuple[float, float]:
    """Ask a metric once; return the time by the clock and of all threads."""
    remembered: dict[str, pd.DataFrame] = {}

    def ask(metric: str, **asked: Any) -> pd.DataFrame:
        key = repr((metric, sorted(asked.items())))
        if key not in remembered:
            remembered[key] = answer_metric(connection, metric, asked)
        return remembered[key]

    started, cpu = time.perf_counter(), time.process_time()
    if name in LISTS:  # as its page does: with all that it takes to fill one page
        day_paging.read_page(ask, LISTS[name], given, LISTS[name].per_page)
    else:
        ask(name, **given)
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - cpu)
