"""Checks whether a store can be opened, and how old its newest load is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import (
    NothingLoadedError,
    UnshownStoreError,
    published_generation,
    read_store,
)
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_steps import NightRecords
from callgauge.serving.settings import texts_are_shown

_CACHE_SECONDS = 2.0  # An answer is cached for this many seconds.
_NIGHTS = 7  # Only this many nightly runs are examined.
_NOTHING_LOADED = "Nothing has been loaded yet: run callgauge nightly."
_NOT_OPEN = "The store cannot be opened; see the Data page or the log of the load."


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """The health of a store. It contains no stored data and no paths.

    `loaded_at` is the end of the newest load, even if that load found nothing new. It is None before the
    first load. `limit` is the maximum age of the newest load. `reason` describes the problem, or is None if
    the store is healthy.
    """

    loaded_at: datetime | None
    limit: timedelta
    reason: str | None

    def describe(self) -> dict[str, object]:
        """Return the health as JSON values. Times are ISO 8601 in UTC. Durations are in seconds."""
        description: dict[str, object] = {"reason": self.reason} if self.reason else {}
        if self.loaded_at is not None:
            description["last_load"] = self.loaded_at.isoformat(timespec="seconds")
            description["age_seconds"] = round((datetime.now(UTC) - self.loaded_at).total_seconds())
        return {**description, "limit_seconds": round(self.limit.total_seconds())}


class HealthWatch:
    """Checks that the store in `folder` can be opened, and that the newest load is at most `hours` old.

    A published store file is opened once, because the file never changes. Thread-safe.
    """

    def __init__(self, folder: Path, hours: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._limit = timedelta(hours=hours)
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: tuple[tuple[str, int, int], datetime | None] | None = None
        self._cached: tuple[float, StoreHealth] | None = None

    def check(self) -> StoreHealth:
        """Return the health of the store, which may be cached for two seconds."""
        with self._lock:
            if self._cached is None or self._clock() - self._cached[0] >= _CACHE_SECONDS:
                self._cached = (self._clock(), self._look())
            return self._cached[1]

    def _look(self) -> StoreHealth:
        try:
            loaded = self._find_load()
        except NothingLoadedError:
            return StoreHealth(None, self._limit, _NOTHING_LOADED)
        except (UnshownStoreError, MetricError, OSError):
            return StoreHealth(None, self._limit, _NOT_OPEN)
        loaded = max(filter(None, (loaded, self._find_night())), default=None)
        if loaded is None:
            return StoreHealth(None, self._limit, _NOTHING_LOADED)
        age = datetime.now(UTC) - loaded
        late = f"The newest load ended {_in_hours(age)} hours ago; {_in_hours(self._limit)} are the limit."
        return StoreHealth(loaded, self._limit, late if age > self._limit else None)

    def _find_load(self) -> datetime | None:
        path = published_generation(str(self._folder))
        state = path.stat()
        identity = (str(path), state.st_ino, state.st_mtime_ns)
        if self._opened is None or self._opened[0] != identity:
            with read_store(self._folder, texts=texts_are_shown()) as store:
                loaded_at = store.ask("last_load")["loaded_at"].iloc[0]
            self._opened = (identity, loaded_at.replace(tzinfo=UTC) if loaded_at is not None else None)
        return self._opened[1]

    def _find_night(self) -> datetime | None:
        """Return the end of the newest nightly load, even if this load published no store file."""
        try:
            steps = NightRecords(self._folder).list_steps(_NIGHTS, until=datetime.now(UTC).date())
        except MemoryProblemError:
            return None  # The pages report this problem; here the store file decides the age.
        ends = [step.ended for step in steps if (step.step, step.outcome) == ("load", "done")]
        return max(filter(None, ends), default=None)


def _in_hours(span: timedelta) -> str:
    return f"{span.total_seconds() / 3600:.3g}"
