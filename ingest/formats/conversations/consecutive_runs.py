"""Splits a file into consecutive agent runs, by the session id in each event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from ingest.decoding.fields import read_text
from ingest.events import Event, LogLine


class Run(Protocol):
    """Interface of the translator of one agent run."""

    session_id: str

    def take(self, event: Mapping[str, Any], where: LogLine) -> Iterable[Event]:
        """Return the translated events that are complete after this event of the log."""

    def finish(self) -> Iterable[Event]:
        """Return the translated events that were still incomplete when the agent run ended."""


class ConsecutiveRuns:
    """Translates the agent runs in a file, one after another.

    `key` is the name of the field that contains an event's session id. `make_run` makes the translator of one
    session.
    """

    def __init__(self, key: str, make_run: Callable[[str], Run]) -> None:
        self._key = key
        self._make_run = make_run
        self._run: Run | None = None

    def take(self, event: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        session = read_text(event.get(self._key)) or ""
        if self._run is None or session != self._run.session_id:
            yield from self.finish()
            self._run = self._make_run(session)
        yield from self._run.take(event, where)

    def finish(self) -> Iterator[Event]:
        run, self._run = self._run, None
        if run is not None:
            yield from run.finish()
