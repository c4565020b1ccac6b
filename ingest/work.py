"""Events of one file in, rows of its sessions out: numbers turns and steps, joins results to calls.

Memory is bounded: a turn is written when two later ones have begun, and sessions that have long been silent
wait in a temporary file. Knows no format and no database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

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
)
from ingest.file_rows import FileRows
from ingest.judgement import Definitions, with_log_definitions
from ingest.rows import dated, identity, late_result_row, prompt_row, session_hash
from ingest.session import OpenOnes, Session
from ingest.texts import json_text
from ingest.turns import Turn
from lenient import ToolCatalog

OPEN_TURNS = 2  # results and turn ends may come a little late
_WEIGHED = 256  # events after which the open sessions are weighed, at the latest


class FileWork:
    """The events of one file in, in file order; rows by table name out."""

    def __init__(
        self, *, file_id: int, source: str, catalog: ToolCatalog, forgotten: Collection[str] = ()
    ) -> None:
        self._forgotten = forgotten
        self.forgot = False  # a session in the file is to be forgotten
        self._source = source
        self._given = catalog
        self._definitions = [Definitions(catalog)]
        self._offered: dict[tuple[str, ...], int] = {}  # texts of definitions → their place in _definitions
        self._sessions = OpenOnes()
        self._spoken: Session | None = None  # of the event before: mostly it goes on
        self._events = 0  # since the sessions were weighed
        self._rows = FileRows(file_id, source)

    @property
    def pending(self) -> int:
        """How many rows are ready."""
        return self._rows.pending

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

    def _another_session(self, event: Event) -> Session:
        if self._spoken is not None:
            self._sessions.weigh(self._spoken.session_id, 0)
        self._spoken = self._sessions.open(event.session_id, lambda: self._begun(event))
        return self._spoken

    def _begun(self, event: Event) -> Session:
        forgotten = bool(self._forgotten) and session_hash(self._source, event.session_id) in self._forgotten
        self.forgot = self.forgot or forgotten
        return Session(event.session_id, event.where, forgotten)

    def weigh(self) -> None:
        """Move sessions that wait for more to a file, when they fill the memory."""
        self._events = 0
        if self._spoken is not None:
            self._sessions.weigh(self._spoken.session_id)

    def finish(self) -> None:
        """Write the turns that are still open, and the sessions."""
        for _ in self.finish_each():
            pass

    def finish_each(self) -> Iterator[None]:
        """The same, session by session, so that rows can be drained in between."""
        self._spoken = None
        for session in self._sessions.drain():
            self._close_turns(session, keep=0, at_end=True)
            if not session.forgotten:
                self._rows.add_session(session)
            yield

    def close(self) -> None:
        """Give the temporary file up, if there is one, whether or not the log was read to its end."""
        self._sessions.close()

    def go_on(self, file_id: int) -> None:
        """Read on, under another file's id."""
        self._rows.file_id = file_id

    def drain(self) -> dict[str, Rows]:
        """The rows that are ready, by table; see `FileRows.drain`."""
        return self._rows.drain()

    # --- one event -------------------------------------------------------------------------------

    def _session_seen(self, event: SessionSeen, session: Session) -> None:
        session.learn(event)

    def _prompt_seen(self, event: PromptSeen, session: Session) -> None:
        row = prompt_row(event)
        session.put_in_force(prompt_id=row["prompt_id"])
        session.prompt_hash = row["text_hash"]
        self._rows.add_once("prompts", identity(row["prompt_id"], row["text_hash"]), row)

    def _tools_offered(self, event: ToolsOffered, session: Session) -> None:
        texts = tuple(json_text(definition, sort_keys=True) for definition in event.definitions)
        if texts not in self._offered:
            definitions, problems = with_log_definitions(self._given, texts)
            self._offered[texts] = len(self._definitions)
            self._definitions.append(definitions)
            for problem in problems:
                self._rows.add("rejects", event.where, {"code": "bad_definition", "reason": problem})
        session.put_in_force(definitions=self._offered[texts])

    def _probe_seen(self, event: ProbeSeen, session: Session) -> None:
        row = {
            "session_id": session.session_id,
            **dated(event.ts or session.started),
            "source": self._source,
            "provider": event.provider or session.context.provider,
            "model": event.model or session.context.model,
            "ok": event.ok,
            "error": event.error,
        }
        self._rows.add("probes", event.where, row)

    def _turn_started(self, event: TurnStarted, session: Session) -> None:
        turn = self._turn(session, event.turn or session.last_turn + 1, event)
        turn.text, turn.key, turn.begun = event.text, event.key, True
        for earlier in session.open_turns[:-1]:
            earlier.superseded = True

    def _step_made(self, event: StepMade, session: Session) -> None:
        turn, context = self._turn(session, event.turn, event), session.context
        provider, model = event.provider or context.provider, event.model or context.model
        if provider != event.provider or model != event.model:
            event = replace(event, provider=provider, model=model)
        turn.add_step(event)
        if event.step is not None:
            turn.note_number(event.step)
        turn.prompt_id, turn.prompt_hash = context.prompt_id, session.prompt_hash
        turn.definitions = context.definitions

    def _call_made(self, event: CallMade, session: Session) -> None:
        turn = self._turn(session, event.turn, event)
        turn.prompt_id, turn.prompt_hash = session.context.prompt_id, session.prompt_hash
        if event.step is not None:
            turn.note_number(event.step)
        turn.add_call(event, session.context)

    def _result_seen(self, event: ResultSeen, session: Session) -> None:
        session.saw_result = True
        for turn in reversed(session.open_turns):
            if turn.take_result(event):
                return
        # Its call may stand in another file, or in a turn that is written: ingest.store joins them.
        row = {"source": self._source, "session_id": event.session_id}
        self._rows.add("late_results", event.where, {**row, **late_result_row(event)})

    def _turn_ended(self, event: TurnEnded, session: Session) -> None:
        self._turn(session, event.turn, event).end = event

    def _turn(self, session: Session, number: int | None, event: Event) -> Turn:
        """The open turn of this number (None = the newest), begun here when there is none."""
        for turn in reversed(session.open_turns):
            if number is None or turn.number == number:
                if turn.ts is None:  # the log does not date the message that began it
                    turn.ts = event.ts
                return turn
        session.last_turn = max(session.last_turn, number or session.last_turn + 1)
        turn = Turn(
            number=number or session.last_turn,
            where=event.where,
            ts=event.ts or session.ended,
            provider=session.context.provider,
            model=session.context.model,
            prompt_id=session.context.prompt_id,
            prompt_hash=session.prompt_hash,
        )
        session.open_turns.append(turn)
        self._close_turns(session, keep=OPEN_TURNS, at_end=False)
        return turn

    def _close_turns(self, session: Session, *, keep: int, at_end: bool) -> None:
        while len(session.open_turns) > keep:
            turn = session.open_turns.pop(0)
            turn.superseded = turn.superseded or not (at_end and not session.open_turns)
            self._rows.add_turn(session, turn, self._definitions)


_RULES: Mapping[type[Event], Callable[[FileWork, Any, Session], None]] = {
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
