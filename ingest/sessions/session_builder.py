"""Builds the sessions of one file from events. Numbers turns and steps, and joins results to tool calls.

To limit memory, a turn is written when two later turns have begun. Idle sessions wait in a temporary file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from ingest.events import (
    CallMade,
    Event,
    ProbeSeen,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TrialLookTaken,
    TrialRunPlanned,
    TurnEnded,
    TurnStarted,
)
from ingest.sessions.classification import CallDefinitions, add_log_definitions, restore_definition
from ingest.sessions.file_rows import FileRows
from ingest.sessions.past_sessions import PastSession, PastSessions
from ingest.sessions.path_facts import NO_FACTS, PathFacts
from ingest.sessions.redacted_arguments import mark_redacted
from ingest.sessions.results.failure_envelopes import DEFAULT_RULES, FailureRules
from ingest.sessions.results.refusal_texts import settle_layer
from ingest.sessions.row_batches import TableRows
from ingest.sessions.session_state import OpenSessionStates, SessionState
from ingest.sessions.stored_text import json_text, shorten_name
from ingest.sessions.table_rows import date_columns, late_result_row, prompt_row, session_hash, stable_id
from ingest.sessions.turns import OpenTurn
from lenient import ToolCatalog

OPEN_TURNS = 2  # results and turn ends may come after the next turn has begun
_OF_RUNS = (TrialRunPlanned, TrialLookTaken)  # events whose `session_id` is the name of a trial run
_WEIGHED = 256  # largest number of events after which the memory of open sessions is checked


class SessionBuilder:
    """Builds table rows from the events of one file, given in file order.

    `catalog` has the definitions of --tools. `forgotten` are hashes (`session_hash`) of deleted sessions.
    Events of these sessions are dropped. `facts` supply values that are missing in the log. `failures` are
    the rules for results whose content reports a failure. `past` are stored sessions that the file may
    continue. `rewritten` means that the file contains these sessions from their beginning
    (`ingest.sessions.past_sessions`).
    """

    def __init__(
        self,
        *,
        file_id: int,
        source: str,
        catalog: ToolCatalog,
        forgotten: Collection[str] = (),
        facts: PathFacts = NO_FACTS,
        failures: FailureRules = DEFAULT_RULES,
        past: PastSessions | None = None,
        rewritten: bool = False,
    ) -> None:
        self._forgotten = forgotten
        self._past = dict(past or {})
        self._rewritten = rewritten
        self.forgot = False  # True when the file contains a session that the user deleted
        self._source = source
        self._catalog = catalog
        self._definitions = [CallDefinitions(catalog)]
        # texts of definitions → index of the set in `_definitions`
        self._offered: dict[tuple[str, ...], int] = {}
        # definitions from the file's earlier content → index of the set in `_definitions`
        self._recalled: dict[tuple[tuple[str, str, str], ...], int] = {}
        self._sessions = OpenSessionStates()
        self._last_session: SessionState | None = None  # the session of the previous event
        self._events = 0  # number of events since the sessions were last weighed
        self._facts = facts
        self._rows = FileRows(file_id, source, facts, failures)

    @property
    def pending(self) -> int:
        """The number of rows that are ready."""
        return self._rows.pending

    def take(self, event: Event) -> None:
        """Add one event. Events of several sessions may be interleaved."""
        session = self._last_session
        if session is None or session.session_id != event.session_id:
            session = self._switch_session(event)
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
            self.spill_sessions()

    def _switch_session(self, event: Event) -> SessionState:
        if self._last_session is not None:
            self._sessions.spill(self._last_session.session_id, 0)
        self._last_session = self._sessions.open(event.session_id, lambda: self._begin_session(event))
        return self._last_session

    def _begin_session(self, event: Event) -> SessionState:
        forgotten = bool(self._forgotten) and session_hash(self._source, event.session_id) in self._forgotten
        self.forgot = self.forgot or forgotten
        is_listed = type(event) not in _OF_RUNS
        return SessionState(event.session_id, event.where, forgotten, is_listed)

    def spill_sessions(self) -> None:
        """Move sessions to a temporary file if the open sessions take too much memory."""
        self._events = 0
        if self._last_session is not None:
            self._sessions.spill(self._last_session.session_id)

    def finish(self) -> None:
        """Write all open turns and all sessions.

        Call this at the end of the log.
        """
        for _ in self.finish_each():
            pass

    def finish_each(self) -> Iterator[None]:
        """Write all open turns and all sessions.

        Yield after each session, so that the caller can drain the rows.
        """
        self._last_session = None
        for session in self._sessions.drain():
            self._close_turns(session, keep=0, at_end=True)
            if session.is_listed and not session.forgotten:
                self._rows.add_session(session)
            yield

    def close(self) -> None:
        """Remove the temporary file, if there is one.

        Call `close` even if the log was not read to the end.
        """
        self._sessions.close()

    def resume(self, file_id: int, failures: FailureRules = DEFAULT_RULES) -> None:
        """Continue the same log under another file id, with the rules of the present load."""
        self._rows.file_id, self._rows.failures = file_id, failures

    def drain(self) -> dict[str, TableRows]:
        """Return the rows that are ready, by table name, as `FileRows.drain` does."""
        return self._rows.drain()

    # --- one event -------------------------------------------------------------------------------

    def _handle_session(self, event: SessionSeen, session: SessionState) -> None:
        session.learn(event)

    def _handle_prompt(self, event: PromptSeen, session: SessionState) -> None:
        row = prompt_row(event, self._facts)
        session.put_in_force(prompt_id=row["prompt_id"])
        session.prompt_hash = row["text_hash"]
        self._rows.add_once("prompts", stable_id(row["prompt_id"], row["text_hash"]), row)

    def _handle_tools(self, event: ToolsOffered, session: SessionState) -> None:
        texts = tuple(json_text(definition, sort_keys=True) for definition in event.definitions)
        if texts not in self._offered:
            definitions, problems = add_log_definitions(self._catalog, texts)
            self._offered[texts] = len(self._definitions)
            self._definitions.append(definitions)
            for problem in problems:
                self._rows.add("rejects", event.where, {"code": "bad_definition", "reason": problem})
        session.put_in_force(definitions=self._offered[texts])

    def _handle_probe(self, event: ProbeSeen, session: SessionState) -> None:
        row = {
            "session_id": session.session_id,
            **date_columns(event.ts or session.started, self._facts),
            "source": self._source,
            "provider": event.provider or session.context.provider,
            "probe_id": event.probe_id,
            "ok": event.ok,
            "error": event.error,
        }
        self._rows.add_probe(event, row, event.model or session.context.model)

    def _handle_trial_run(self, event: TrialRunPlanned, _session: SessionState) -> None:
        self._rows.add_trial_run(event)

    def _handle_trial_look(self, event: TrialLookTaken, _session: SessionState) -> None:
        self._rows.add_trial_look(event)

    def _handle_turn_start(self, event: TurnStarted, session: SessionState) -> None:
        if event.turn is None and session.open_turns and session.open_turns[-1].is_between_steps:
            return  # the message came while the model worked, so the turn continues
        number = event.turn
        if number is None and (past := self._pop_past(session)):
            # Formats begin a turn without text and key when the user's message is not in the file.
            is_made_up = event.text is None and event.key is None
            if is_made_up and (goes_on := past.open_turn_at(event.ts)):
                self._recall(session, past)
                self._begin_turn(session, goes_on.number, event).go_on(goes_on.turn_id, goes_on.steps)
                return
            number = past.number_of(event.ts, event.text, rewritten=self._rewritten)
            if number != past.turns[0].number:
                self._recall(session, past)
        turn = self.open_turn(session, number or session.last_turn + 1, event)
        turn.text, turn.key, turn.begun = event.text, event.key, True
        for earlier in session.open_turns[:-1]:
            earlier.superseded = True

    def _handle_step(self, event: StepMade, session: SessionState) -> None:
        turn, context = self.open_turn(session, event.turn, event), session.context
        provider, model = event.provider or context.provider, event.model or context.model
        if provider != event.provider or model != event.model:
            event = replace(event, provider=provider, model=model)
        turn.add_step(event)
        if event.step is not None:
            turn.note_number(event.step)
        turn.prompt_id, turn.prompt_hash = context.prompt_id, session.prompt_hash
        turn.definitions = context.definitions

    def _handle_call(self, event: CallMade, session: SessionState) -> None:
        turn = self.open_turn(session, event.turn, event)
        turn.prompt_id, turn.prompt_hash = session.context.prompt_id, session.prompt_hash
        if event.step is not None:
            turn.note_number(event.step)
        turn.add_call(mark_redacted(event), session.context)

    def _handle_result(self, event: ResultSeen, session: SessionState) -> None:
        session.saw_result = True
        event = settle_layer(event)
        for turn in reversed(session.open_turns):
            if turn.take_result(event):
                return
        # The call may be in another file or already written. ingest.store.generation_file later joins result
        # and call.
        row = {"source": self._source, "session_id": event.session_id}
        self._rows.add("late_results", event.where, {**row, **late_result_row(event)})

    def _handle_turn_end(self, event: TurnEnded, session: SessionState) -> None:
        self.open_turn(session, event.turn, event).end = event

    def open_turn(self, session: SessionState, number: int | None, event: Event) -> OpenTurn:
        """Return the open turn with this number. If `number` is None, return the latest turn. Begin the turn
        if necessary.

        A new turn gets the time and the position of `event`.
        """
        for turn in reversed(session.open_turns):
            if number is None or turn.number == number:
                if turn.ts is None:  # the user's message had no time in the log
                    turn.ts = event.ts
                return turn
        past = self._pop_past(session)
        if past is None:
            return self._begin_turn(session, number or session.last_turn + 1, event)
        if type(event) is not TurnStarted or number != past.turns[0].number:
            self._recall(session, past)
        if number is not None:
            turn = self._begin_turn(session, number, event)
            begun = past.find_turn(number)
            turn.begun_as = begun.turn_id if begun is not None else None
            return turn
        goes_on = past.open_turn_at(event.ts, at_its_end=type(event) is TurnEnded)
        if goes_on is None:
            return self._begin_turn(session, past.turns[-1].number + 1, event)
        turn = self._begin_turn(session, goes_on.number, event)
        turn.go_on(goes_on.turn_id, goes_on.steps)
        return turn

    def _begin_turn(self, session: SessionState, number: int, event: Event) -> OpenTurn:
        session.last_turn = max(session.last_turn, number)
        turn = OpenTurn(
            number=number,
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

    def _pop_past(self, session: SessionState) -> PastSession | None:
        """Return the stored state of a session when the first turn of the session begins in this file.

        For later turns, return None.
        """
        if not self._past or session.last_turn:
            return None
        return self._past.pop(shorten_name(session.session_id), None)

    def _recall(self, session: SessionState, past: PastSession) -> None:
        """Restore model, prompt and definitions of the stored session, except values that this file has
        already set.
        """
        context = session.context
        past_values = {"prompt_id": past.prompt_id, "provider": past.provider, "model": past.model}
        session.put_in_force(**{name: getattr(context, name) or value for name, value in past_values.items()})
        if context.prompt_id is None:
            session.prompt_hash = past.prompt_hash
        if context.definitions == 0 and past.definitions:
            if past.definitions not in self._recalled:
                self._recalled[past.definitions] = len(self._definitions)
                recalled = ToolCatalog.from_definitions(
                    restore_definition(*parts) for parts in past.definitions
                )
                self._definitions.append(CallDefinitions(self._catalog, recalled=recalled))
            session.put_in_force(definitions=self._recalled[past.definitions])

    def _close_turns(self, session: SessionState, *, keep: int, at_end: bool) -> None:
        while len(session.open_turns) > keep:
            turn = session.open_turns.pop(0)
            turn.superseded = turn.superseded or not (at_end and not session.open_turns)
            self._rows.add_turn(session, turn, self._definitions)


_RULES: Mapping[type[Event], Callable[[SessionBuilder, Any, SessionState], None]] = {
    SessionSeen: SessionBuilder._handle_session,
    PromptSeen: SessionBuilder._handle_prompt,
    ToolsOffered: SessionBuilder._handle_tools,
    ProbeSeen: SessionBuilder._handle_probe,
    TurnStarted: SessionBuilder._handle_turn_start,
    StepMade: SessionBuilder._handle_step,
    CallMade: SessionBuilder._handle_call,
    ResultSeen: SessionBuilder._handle_result,
    TurnEnded: SessionBuilder._handle_turn_end,
    TrialRunPlanned: SessionBuilder._handle_trial_run,
    TrialLookTaken: SessionBuilder._handle_trial_look,
}
