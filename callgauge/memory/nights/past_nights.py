"""The last nightly runs, and whether a nightly run is overdue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path

from callgauge.memory.nights.night_lock import is_night_running
from callgauge.memory.nights.night_steps import NightRecords, NightStep, StepName
from callgauge.memory.nights.source_states import SourceState, SourceStates

_SHOWN = 30
_FEWEST = 3  # An expected interval needs at least this many nightly runs.
_LATE = timedelta(hours=2)  # A run is late only after the expected interval and this tolerance.
_SHORTEST = timedelta(hours=26)  # A run is never overdue within this time after the last run.
_RHYTHM = 14  # The expected interval comes from this many latest intervals between runs.


@dataclass(frozen=True, slots=True)
class PastNight:
    """One nightly run with its steps in order. `is_running` means that a process is executing the nightly run
    now.
    """

    night: date
    steps: tuple[NightStep, ...]
    is_running: bool

    @property
    def began(self) -> datetime:
        return min(step.began for step in self.steps)

    @property
    def seconds(self) -> float | None:
        """The total duration of the steps in seconds. Pauses between two processes do not count."""
        if any(step.ended is None for step in self.steps):
            return None
        return sum((step.ended - step.began).total_seconds() for step in self.steps if step.ended)

    def step(self, name: StepName) -> NightStep | None:
        return next((step for step in self.steps if step.step == name), None)

    @property
    def unfinished(self) -> tuple[NightStep, ...]:
        """The steps that failed, were stopped, or were killed."""
        if self.is_running:
            return tuple(step for step in self.steps if step.outcome is not None and not step.is_over)
        return tuple(step for step in self.steps if not step.is_over)


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The last nightly runs, newest first, and the sources. Both are empty before the first nightly run."""

    nights: tuple[PastNight, ...]
    sources: tuple[SourceState, ...]

    def find_silent(self, now: datetime) -> list[SourceState]:
        """Return the silent sources, the longest silence first."""
        silent = [source for source in self.sources if source.is_silent(now)]
        return sorted(silent, key=lambda source: -source.count_silent_days(now))

    def find_missing_night(self, now: datetime) -> datetime | None:
        """Return the start of the newest nightly run if the next nightly run is overdue. Otherwise return
        None.

        The expected interval is the second longest of the latest intervals. So nightly runs on working days
        only are not overdue at weekends.
        """
        begun = [night.began for night in self.nights[: _RHYTHM + 1]]
        if len(begun) < _FEWEST:
            return None
        gaps = sorted(later - earlier for later, earlier in pairwise(begun))
        return begun[0] if now - begun[0] > max(gaps[-2] + _LATE, _SHORTEST) else None


def read_service_state(folder: Path) -> ServiceState:
    """Return the nightly runs and sources of the store in `folder`. Raises MemoryProblemError."""
    steps = NightRecords(folder).list_steps(_SHOWN)
    running = any(step.outcome is None for step in steps) and is_night_running(folder)
    return ServiceState(_group_nights(steps, running), tuple(SourceStates(folder).read()))


def _group_nights(steps: Sequence[NightStep], running: bool) -> tuple[PastNight, ...]:
    return tuple(
        PastNight(night, night_steps, running and any(step.outcome is None for step in night_steps))
        for night, night_steps in (
            (night, tuple(some)) for night, some in groupby(steps, lambda step: step.night)
        )
    )
