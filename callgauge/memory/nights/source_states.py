"""The state of each source in callgauge.toml after its last load, with the time of its newest data."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import date, datetime
from pathlib import Path

import msgspec

from callgauge.memory.memory_file import MemoryFile, cut_text

_ALL = "SELECT name, newest, first_seen, looked, silent_after, problem FROM source_states ORDER BY name"
# The stored time never moves back, even when a log is deleted.
_NOTE = """
    INSERT INTO source_states VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
      newest = coalesce(max(newest, excluded.newest), newest, excluded.newest), looked = excluded.looked,
      silent_after = excluded.silent_after, problem = excluded.problem"""


class SourceState(msgspec.Struct, frozen=True):
    """A source after its last load.

    `looked` is the time of the last load. `newest` is the time of the newest data, or None if there is no
    data. The source counts as silent after `silent_after` days without data. If `silent_after` is None, the
    source never counts as silent. `problem` is the reason why the load failed, or empty.
    """

    name: str
    newest: datetime | None
    first_seen: datetime
    looked: datetime
    silent_after: float | None
    problem: str

    def count_silent_days(self, now: datetime) -> float:
        """Return the days since the newest data, or since the first load if there is no data."""
        return (now - (self.newest or self.first_seen)).total_seconds() / 86_400

    @property
    def silence_key(self) -> str:
        """The key of the alert about the current silence of the source. A later silence has another key."""
        return make_silence_key(self.name, (self.newest or self.first_seen).date())

    def is_silent(self, now: datetime) -> bool:
        return self.silent_after is not None and self.count_silent_days(now) > self.silent_after


def make_silence_key(name: str, last_day: date) -> str:
    """Return the key of the alert for a source that has been silent since `day`."""
    return json.dumps(["silent", name, last_day.isoformat()])


class SourceStates:
    """The states of the sources of the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def read(self) -> Sequence[SourceState]:
        """Return the sources of the last configuration, sorted by name."""
        (rows,) = self._file.read_rows(_ALL)
        return [
            SourceState(
                name,
                None if newest is None else datetime.fromisoformat(newest),
                datetime.fromisoformat(first),
                datetime.fromisoformat(looked),
                days,
                problem,
            )
            for name, newest, first, looked, days, problem in rows
        ]

    def note(self, state: SourceState) -> None:
        """Save the state of a source after a load. The first load sets `first_seen`."""
        times = (state.newest, state.first_seen, state.looked)
        texts = (moment and moment.isoformat(timespec="seconds") for moment in times)
        self._file.write((_NOTE, [(state.name, *texts, state.silent_after, cut_text(state.problem))]))

    def drop_others(self, names: Collection[str]) -> None:
        """Remove the sources that are no longer in the configuration."""
        self._file.write(
            (
                "DELETE FROM source_states WHERE name = ?",
                [(state.name,) for state in self.read() if state.name not in names],
            )
        )
