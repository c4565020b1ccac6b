"""How many calls a replay would read, and what the store has of them, without reading fifty million rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from callgauge.analysis.day_paging import oldest_of_newest
from callgauge.dashboard import store_queries

SIZED = 2_000_000  # calls of the newest days whose texts and versions are counted


@dataclass(frozen=True, slots=True)
class ReplayedSlice:
    """How many calls match, and what the store has of them by the version of the parser.

    `since`: `sizes` are of the days from this one on; None when they are of all days.
    """

    calls: int
    sizes: list[dict[Any, Any]]
    since: date | None


def measure_slice(given: Mapping[str, Any]) -> ReplayedSlice:
    """Count the calls of the chosen filters: the newest in the store itself, older ones in the daily sums."""
    days = store_queries.ask("call_days", **given)
    since = oldest_of_newest(days, SIZED)
    newest = given if since is None else {**given, "from_day": since}
    sizes = store_queries.ask("replayed_size", **newest).to_dict("records")
    calls = sum(row["calls"] for row in sizes)
    if since is not None:
        kept = store_queries.ask("kept_since").facts_before.iloc[
            0
        ]  # older calls are gone, their sums are not
        calls += sum(
            int(most)
            for day, most in zip(days.day, days.most, strict=True)
            if day is None or (day < since and (kept is None or day >= kept))
        )
    return ReplayedSlice(calls, sizes, since)
