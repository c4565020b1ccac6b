"""Generates a store with many days of seeded rows. The rates change on known days, on which tests expect
alerts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.analysis.store_fixture import a_call, publish, small_tables

LAST = date(2026, 11, 20)
_A_DAY = {"kestrel-14b": 70, "falcon-3": 60, "heron-large": 50}
_USUAL = 0.03
_REFUSED = {
    "raw_arguments": '{"path": "a" "limit": 20}',
    "arguments": None,
    "outcome": "failed",
    "fault_layer": "syntax",
    "parse_error": "json_parse_error:expected a comma",
    "error_text": "expected a comma",
}

Rate = Callable[[str, date], float]


def usual_rate(model: str, day: date) -> float:
    return _USUAL


def regressed(since: date, until: date | None = None, *, to: float = 0.3, model: str = "kestrel-14b") -> Rate:
    """Return a rate function: the rate of one model is higher from `since` to `until`, inclusive."""

    def rate(name: str, day: date) -> float:
        return to if name == model and since <= day <= (until or date.max) else _USUAL

    return rate


def publish_nights(
    store: Path,
    rate: Rate = usual_rate,
    *,
    last: date = LAST,
    days: int = 40,
    number: int = 1,
    tool_calls: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Publish a store with this number of days, of which `last` is the last day.

    `rate` returns the probability of a rejected call for a model and a day. A day has the same calls for
    every value of `last`. The rows in `tool_calls` are added.
    """
    calls = []
    for back in reversed(range(days)):
        day = last - timedelta(back)
        drawn = random.Random(day.toordinal())
        for model, several in _A_DAY.items():
            for n in range(several):
                name = f"{day}-{model}-{n}"
                refused = _REFUSED if drawn.random() < rate(model, day) else {}
                own = {"model": model, "session_id": name, "turn_id": f"{name}:1", "tool": "read_file"}
                when = {"day": str(day), "ts": f"{day}T10:00:00"}
                calls.append(a_call(n, **(own | when | refused | {"call_id": name})))
    small: dict[str, Any] = {**small_tables()}
    loaded = f"{last + timedelta(1)}T04:00:00"
    runs = [{**run, "started_at": loaded, "finished_at": loaded} for run in small["ingest_runs"]]
    made: dict[str, Any] = {
        "ingest_runs": runs,
        "tool_calls": [*calls, *tool_calls],
        "turns": [],
        "diagnostics": [],
    }
    publish(store, {**small, **made}, number=number)
