"""Translates files of SWE-agent and mini-swe-agent in which each record is one agent run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from ingest.decoding.fields import read_object, read_text
from ingest.events import Event, SessionSeen, TurnEnded
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.task_names import swe_bench_instance, task_name
from ingest.log_format import About, Record, Translator
from lenient.regex import compile_regex

_STOPPED = compile_regex(r"\bexit_\w|early_exit|LimitsExceeded|TimeExceeded|RetriesExhausted")


class SweRun(ABC):
    """One agent run, read from one record. A subclass yields the events.

    `where` and `ts` are the position in the file and the time of the newest event.
    """

    harness: ClassVar[str]

    def __init__(self, session_id: str, record: Record) -> None:
        self.session_id = session_id
        self.record = record
        self.info = read_object(record.value.get("info"))
        self.where = record.where
        self.ts: datetime | None = None

    @abstractmethod
    def events(self, file: str) -> Iterator[Event]:
        """Yield the events of the agent run in order. `file` is the name of the log file."""

    def event_place(self) -> dict[str, Any]:
        """Return the fields `session_id`, `where` and `ts` of the next event."""
        return {"session_id": self.session_id, "where": self.where, "ts": self.ts}

    def make_session(self, file: str, *, version: str, model: str | None, task: Any) -> SessionSeen:
        """Return the `SessionSeen` event of the agent run.

        `version` is the key in `info` under which the harness version is stored. If `task` is empty, the task
        is the SWE-bench instance in the file name `file`.
        """
        return SessionSeen(
            **self.event_place(),
            harness=self.harness,
            harness_version=read_text(self.info.get(version)),
            model=model,
            task=task_name(None, task) or swe_bench_instance(file),
        )

    def make_end(self) -> TurnEnded:
        """Return the end of the agent run's only turn.

        The turn's status is the exit status, and its answer is the patch. If the harness stopped the agent
        (`exit_cost`, `submitted (exit_context)`), there is no answer: the patch is then unfinished.
        """
        status = read_text(self.info.get("exit_status"))
        stopped = status is not None and _STOPPED.search(status) is not None
        answer = "" if stopped else read_text(self.info.get("submission")) or ""
        return TurnEnded(**self.event_place(), status=status, answer=answer)


def translate_runs(kind: type[SweRun], about: About) -> Translator:
    """Return a translator for files in which each record is an agent run of the class `kind`."""
    return SessionPerRecord(about, partial(take_run, kind, about.name))


def take_run(kind: type[SweRun], file: str, record: Record, session_id: str) -> Iterator[Event]:
    """Yield the events of a record that is an agent run of the class `kind`. `file` is the log's name."""
    return kind(session_id, record).events(file)
