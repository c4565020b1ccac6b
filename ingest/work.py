"""Events of one file in, rows of its sessions out: numbers turns and steps, joins results to calls.

Memory is bounded: a turn is written when two later ones have begun, and sessions that have long been silent
wait in a temporary file. Knows no format and no database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.batches import Rows
from ingest.events import (
    CallMade,
    Event,
    ProbeSeen,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.judgement import Definitions, Verdict, with_log_definitions
from ingest.open_sessions import OpenSessions
from ingest.rows import (
    JUDGED,
    Row,
    call_values,
    dated,
    definition_row,
    diagnostic_rows,
    identity,
    late_result_row,
    prompt_row,
    session_hash,
    turn_row,
)
from ingest.texts import json_text
from ingest.turns import Call, Context, Turn
from lenient import ToolCatalog

OPEN_TURNS = 2  # results and turn ends may come a little late
_CALL_COLUMNS = (
    "call_id", "chain_id", "definition_id", "file_id", "line", "byte_offset", "ts", "day",
    "session_id", "turn", "turn_id", "source", "duplicate",
    *JUDGED,
)  # fmt: skip
_WEIGHED = 256  # events after which the open sessions are weighed, at the latest


class _Session(msgspec.Struct):
    session_id: str
    where: Where
    forgotten: bool = False  # nothing of it is taken in
    facts: dict[str, str] = msgspec.field(default_factory=dict)
    started: datetime | None = None
    ended: datetime | None = None
    prompt_id: str | None = None
    prompt_hash: str | None = None
    definitions: int = 0  # which of the file's sets of definitions: 0 = those given with --tools
    open_turns: list[Turn] = msgspec.field(default_factory=list)
    last_turn: int = 0
    saw_result: bool = False
    counts: dict[str, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(("turns", "steps", "calls", "faults"), 0)
    )

    def served_by(
        self, provider: str | None = None, model: str | None = None
    ) -> tuple[str | None, str | None]:
        """The provider and model of something that may name its own."""
        return provider or self.facts.get("provider"), model or self.facts.get("model")

    @property
    def held(self) -> int:
        """Characters of text that wait in the open turns, roughly."""
        return sum(turn.held for turn in self.open_turns)


class FileWork:
    """The events of one file in, in file order; rows by table name out."""

    def __init__(
        self, *, file_id: int, source: str, catalog: ToolCatalog, forgotten: Collection[str] = ()
    ) -> None:
        self._forgotten = forgotten
        self.forgot = False  # a session in the file is to be forgotten
        self._file_id = file_id
        self._source = source
        self._given = catalog
        self._definitions = [Definitions(catalog)]
        self._offered: dict[tuple[str, ...], int] = {}  # texts of definitions → their place in _definitions
        self._sessions = OpenSessions[_Session]()
        self._spoken: _Session | None = None  # of the event before: mostly it goes on
        self._events = 0  # since the sessions were weighed
        self._definition_ids: dict[int, str] = {}  # by the definition's identity in memory
        self._rows: dict[str, list[Row]] = {}
        self._calls: list[tuple[Any, ...]] = []
        self._known: set[str] = set()  # prompts and definitions of this file that are already written
        self.pending = 0

    def take(self, event: Event) -> None:
        """Work one event in. Events of several sessions may come mixed."""
        session = self._spoken
        if session is None or session.session_id != event.session_id:
            session = self._another_session(event)
        if session.forgotten:
            return
        ts = event.ts
        if ts is not None:
            if session.started is None or ts < session.started:
                session.started = ts
            if session.ended is None or ts > session.ended:
                session.ended = ts
        _RULES[type(event)](self, event, session)
        self._events += 1
        if self._events == _WEIGHED:
            self.weigh()

    def _another_session(self, event: Event) -> _Session:
        if self._spoken is not None:
            self._sessions.weigh(self._spoken.session_id, 0)
        self._spoken = self._sessions.open(event.session_id, lambda: self._begun(event))
        return self._spoken

    def _begun(self, event: Event) -> _Session:
        forgotten = bool(self._forgotten) and session_hash(self._source, event.session_id) in self._forgotten
        self.forgot = self.forgot or forgotten
        return _Session(event.session_id, event.where, forgotten)

    def weigh(self) -> None:
        """Move sessions that wait for more to a file, when they fill the memory."""
        self._events = 0
        if self._spoken is not None:
            self._sessions.weigh(self._spoken.session_id)

    def finish(self) -> None:
        """Write the turns that are still open, and the sessions."""
        self._spoken = None
        for session in self._sessions.drain():
            self._close_turns(session, keep=0, at_end=True)
            if not session.forgotten:
                self._add("sessions", self._session_row(session))

    def close(self) -> None:
        """Give the temporary file up, if there is one, whether or not the log was read to its end."""
        self._sessions.close()

    def __getstate__(self) -> dict[str, Any]:
        """Between two records, with nothing to drain. Places in memory are other ones when it comes back."""
        return {**self.__dict__, "_definition_ids": {}}

    def go_on(self, file_id: int) -> None:
        """Read on, under another file's id."""
        self._file_id = file_id

    def open_turns(self) -> list[tuple[str, int, int]]:
        """Session, number and first line of the turns that later events may change, of sessions in memory."""
        return [
            (session.session_id, turn.number, turn.where.line)
            for session in self._sessions.in_memory()
            for turn in session.open_turns
        ]

    def drain(self) -> dict[str, Rows]:
        """The rows that are ready, and an empty buffer. Names are columns of schema.sql; others are NULL."""
        rows: dict[str, Rows] = {table: Rows.of(some) for table, some in self._rows.items()}
        if self._calls:
            rows["tool_calls"] = Rows(_CALL_COLUMNS, self._calls)
        self._rows, self._calls, self.pending = {}, [], 0
        return rows

    # --- one event -------------------------------------------------------------------------------

    def _session_seen(self, event: SessionSeen, session: _Session) -> None:
        names = ("harness", "harness_version", "parent_session_id", "user", "provider", "model")
        session.facts.update({name: value for name in names if (value := getattr(event, name)) is not None})

    def _prompt_seen(self, event: PromptSeen, session: _Session) -> None:
        row = prompt_row(event)
        session.prompt_id, session.prompt_hash = row["prompt_id"], row["text_hash"]
        self._add_once("prompts", identity(row["prompt_id"], row["text_hash"]), row)

    def _tools_offered(self, event: ToolsOffered, session: _Session) -> None:
        texts = tuple(json_text(definition, sort_keys=True) for definition in event.definitions)
        if texts not in self._offered:
            definitions, problems = with_log_definitions(self._given, texts)
            self._offered[texts] = len(self._definitions)
            self._definitions.append(definitions)
            for problem in problems:
                told = {"code": "bad_definition", "reason": problem}
                self._add("rejects", {**self._place(event.where), **told})
        session.definitions = self._offered[texts]

    def _probe_seen(self, event: ProbeSeen, session: _Session) -> None:
        provider, model = session.served_by(event.provider, event.model)
        row = {
            "session_id": session.session_id,
            **self._place(event.where),
            **dated(event.ts or session.started),
            "source": self._source,
            "provider": provider,
            "model": model,
            "ok": event.ok,
            "error": event.error,
        }
        self._add("probes", row)

    def _turn_started(self, event: TurnStarted, session: _Session) -> None:
        turn = self._turn(session, event.turn or session.last_turn + 1, event)
        turn.text, turn.key, turn.begun = event.text, event.key, True
        for earlier in session.open_turns[:-1]:
            earlier.superseded = True

    def _step_made(self, event: StepMade, session: _Session) -> None:
        turn = self._turn(session, event.turn, event)
        provider, model = session.served_by(event.provider, event.model)
        if (provider, model) != (event.provider, event.model):
            event = replace(event, provider=provider, model=model)
        turn.add_step(event)
        turn.note_number(event.step)
        turn.prompt_id, turn.prompt_hash = session.prompt_id, session.prompt_hash
        turn.definitions = session.definitions

    def _call_made(self, event: CallMade, session: _Session) -> None:
        turn = self._turn(session, event.turn, event)
        turn.prompt_id, turn.prompt_hash = session.prompt_id, session.prompt_hash
        turn.note_number(event.step)
        turn.add_call(event, Context(*session.served_by(), session.prompt_id, session.definitions))

    def _result_seen(self, event: ResultSeen, session: _Session) -> None:
        session.saw_result = True
        for turn in reversed(session.open_turns):
            if turn.take_result(event):
                return
        # Its call may stand in another file, or in a turn that is written: ingest.store joins them.
        row = {"source": self._source, "session_id": event.session_id, **self._place(event.where)}
        self._add("late_results", {**row, **late_result_row(event)})

    def _turn_ended(self, event: TurnEnded, session: _Session) -> None:
        self._turn(session, event.turn, event).end = event

    def _turn(self, session: _Session, number: int | None, event: Event) -> Turn:
        """The open turn of this number (None = the newest), begun here when there is none."""
        for turn in reversed(session.open_turns):
            if number is None or turn.number == number:
                return turn
        session.last_turn = max(session.last_turn, number or session.last_turn + 1)
        provider, model = session.served_by()
        turn = Turn(
            number=number or session.last_turn,
            where=event.where,
            ts=event.ts or session.ended,
            provider=provider,
            model=model,
            prompt_id=session.prompt_id,
            prompt_hash=session.prompt_hash,
        )
        session.open_turns.append(turn)
        self._close_turns(session, keep=OPEN_TURNS, at_end=False)
        return turn

    # --- rows ------------------------------------------------------------------------------------

    def _close_turns(self, session: _Session, *, keep: int, at_end: bool) -> None:
        while len(session.open_turns) > keep:
            turn = session.open_turns.pop(0)
            turn.superseded = turn.superseded or not (at_end and not session.open_turns)
            self._write_turn(session, turn)

    def _write_turn(self, session: _Session, turn: Turn) -> None:
        turn_id = identity(self._source, turn.key or session.session_id, "" if turn.key else turn.number)
        judged = turn.judged(self._definitions, results_expected=session.saw_result)
        shared = {
            "session_id": session.session_id,
            "turn": turn.number,
            "turn_id": turn_id,
            "source": self._source,
            "duplicate": False,
        }
        call_ids = [self._call_id(session, turn, call) for call in turn.calls]
        for position, call in enumerate(turn.calls):
            self._write_call(turn, call, call_ids, position, tuple(shared.values()))
        row = {**shared, **dated(turn.ts), **self._place(turn.where), **turn_row(turn, judged)}
        row["results_expected"] = session.saw_result
        offered = self._definitions[turn.definitions].offered
        row["offered_tools"] = len(offered) if offered is not None else None
        self._add("turns", row)
        session.counts["turns"] += 1
        for name in ("steps", "calls", "faults"):
            session.counts[name] += row[name]

    def _call_id(self, session: _Session, turn: Turn, call: Call) -> str:
        if call.event.key is not None:
            return identity(self._source, call.event.key)
        return identity(self._source, session.session_id, turn.number, call.step, call.ordinal)

    def _write_call(
        self, turn: Turn, call: Call, call_ids: list[str], position: int, shared: tuple[Any, ...]
    ) -> None:
        verdict, event = call.verdict, call.event
        ts, where = event.ts or turn.ts, event.where
        self._calls.append(
            (
                call_ids[position],
                call_ids[call.link.first] if call.link else None,
                self._definition_id(verdict) if verdict.definition else None,
                self._file_id,
                where.line,
                where.offset,
                ts,
                ts.date() if ts else None,
                *shared,
                *call_values(turn, call),
            )
        )
        self.pending += 1
        for finding in diagnostic_rows(verdict) if verdict.request else ():
            self._add("diagnostics", {"call_id": call_ids[position], "file_id": self._file_id, **finding})

    def _definition_id(self, verdict: Verdict) -> str | None:
        if verdict.definition is None:
            return None
        known = self._definition_ids.get(id(verdict.definition))
        if known is not None:
            return known
        row = definition_row(verdict.definition)
        origin = verdict.definition_origin
        self._add_once("tool_definitions", row["definition_id"], {**row, "origin": origin})
        return self._definition_ids.setdefault(id(verdict.definition), str(row["definition_id"]))

    def _session_row(self, session: _Session) -> Row:
        facts = {
            name: session.facts.get(name)
            for name in ("harness", "harness_version", "parent_session_id", "task")
        }
        return {
            "session_id": session.session_id,
            **self._place(session.where),
            "source": self._source,
            **facts,
            "user_name": session.facts.get("user"),
            "started_at": session.started,
            "ended_at": session.ended,
            "day": dated(session.started)["day"],
            **session.counts,
            "duplicate_calls": 0,
        }

    def _place(self, where: Where) -> Row:
        return {"file_id": self._file_id, "line": where.line, "byte_offset": where.offset}

    def _add(self, table: str, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)
        self.pending += 1

    def _add_once(self, table: str, key: str, row: Row) -> None:
        if key not in self._known:
            self._known.add(key)
            self._add(table, row)


_RULES: Mapping[type[Event], Callable[[FileWork, Any, _Session], None]] = {
    SessionSeen: FileWork._session_seen,
    PromptSeen: FileWork._prompt_seen,
    ToolsOffered: FileWork._tools_offered,
    ProbeSeen: FileWork._probe_seen,
    TurnStarted: FileWork._turn_started,
    StepMade: FileWork._step_made,
    CallMade: FileWork._call_made,
    ResultSeen: FileWork._result_seen,
    TurnEnded: FileWork._turn_ended,
}
