"""Collects the table rows for the turns and sessions of one file until `drain` returns the rows.

Each prompt and each tool definition gets only one row per file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.events import LogLine, ProbeSeen, PromptSeen, TrialLookTaken, TrialRunPlanned
from ingest.sessions.classification import CallDefinitions, ToolSize
from ingest.sessions.path_facts import NO_FACTS, FactSource, PathFacts
from ingest.sessions.results.failure_envelopes import DEFAULT_RULES, FailureRules
from ingest.sessions.row_batches import TableRows
from ingest.sessions.session_state import SessionState
from ingest.sessions.stored_text import cut_text, json_text
from ingest.sessions.table_rows import (
    JUDGED,
    Row,
    TurnPlace,
    call_mark,
    call_values,
    date_columns,
    definition_row,
    diagnostic_rows,
    find_mcp_server,
    prompt_row,
    stable_id,
    turn_mark,
    turn_row,
)
from ingest.sessions.turns import OpenTurn
from lenient import ToolDefinition

_CALL_COLUMNS = (
    "call_id", "chain_id", "definition_id", "line", "byte_offset", "ts", "day",
    "model", "model_name", "model_source", "file_id", "session_id", "turn", "turn_id", "source", "duplicate",
    *JUDGED,
)  # fmt: skip

_JSON_FACTS = frozenset(
    {
        "arms", "task_order", "task_groups", "definitions", "prices", "endpoints", "versions", "hashes",
    }
)  # fmt: skip


class FileRows:
    """The rows of one file that `drain` has not returned yet. `pending` is the number of these rows.

    `facts` supply the name of the experiment. They also supply the model, the prompt and the day if the log
    does not contain them. `failures` are the rules for results whose content reports a failure.
    """

    def __init__(
        self,
        file_id: int,
        source: str,
        facts: PathFacts = NO_FACTS,
        failures: FailureRules = DEFAULT_RULES,
    ) -> None:
        self.file_id = file_id
        self.failures = failures
        self.pending = 0
        self._facts = facts
        self._source = source
        self._rows: dict[str, list[Row]] = {}
        self._calls: list[tuple[Any, ...]] = []
        self._known: set[str] = set()  # ids of prompts and definitions for which this file already has a row
        self._definition_ids: dict[int, str] = {}  # id() of a definition in memory → its stored id
        # tool lists that already have rows → the ids of the lists
        self._list_ids: dict[tuple[ToolSize, ...], str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the cache of definition ids.

        The keys of the cache are `id()` values, which are not valid after unpickling.
        """
        return {**self.__dict__, "_definition_ids": {}}

    def drain(self) -> dict[str, TableRows]:
        """Return the rows that are ready, by table name, and empty the buffer.

        Columns of schema.sql that a row does not contain are NULL.
        """
        rows: dict[str, TableRows] = {table: TableRows.from_dicts(some) for table, some in self._rows.items()}
        if self._calls:
            rows["tool_calls"] = TableRows(_CALL_COLUMNS, self._calls)
        self._rows, self._calls, self.pending = {}, [], 0
        return rows

    def add(self, table: str, where: LogLine, row: Row) -> None:
        """Add a row to a table. The row gets the file's id, and the line and byte offset of `where`."""
        self._add(table, {"file_id": self.file_id, "line": where.line, "byte_offset": where.offset, **row})

    def add_once(self, table: str, key: str, row: Row) -> None:
        if key not in self._known:
            self._known.add(key)
            self._add(table, row)

    def _add(self, table: str, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)
        self.pending += 1

    def add_session(self, session: SessionState) -> None:
        facts = session.facts
        row = {
            "session_id": session.session_id,
            "source": self._source,
            "harness": facts.get("harness"),
            "harness_version": facts.get("harness_version"),
            "parent_session_id": facts.get("parent_session_id"),
            "task": facts.get("task"),
            "user_name": facts.get("user"),
            "run": facts.get("run") or (self._facts.run.value if self._facts.run else None),
            "trial_run": facts.get("trial_run"),
            "arm": facts.get("arm"),
            "repeat_no": facts.get("repeat_no"),
            "capabilities": facts.get("capabilities"),
            "sampling": facts.get("sampling"),
            "project": facts.get("project"),
            "branch": facts.get("branch"),
            "sub_agent": facts.get("sub_agent"),
            "environment": facts.get("environment"),
            "started_at": session.started,
            "ended_at": session.ended,
            "day": date_columns(session.started, self._facts)["day"],
            "turns": session.turns,
            "steps": session.steps,
            "calls": session.calls,
            "faults": session.faults,
            "duplicate_calls": 0,
            "duplicate": False,
        }
        self.add("sessions", session.where, row)

    def add_trial_run(self, event: TrialRunPlanned) -> None:
        facts = {
            name: json_text(value) if name in _JSON_FACTS and value is not None else value
            for name, value in event.facts.items()
        }
        self.add("trial_runs", event.where, {**facts, "created_at": event.ts, "duplicate": False})

    def add_trial_look(self, event: TrialLookTaken) -> None:
        self.add("trial_looks", event.where, {**event.facts, "taken_at": event.ts, "duplicate": False})

    def add_probe(self, event: ProbeSeen, row: Row, model: str | None) -> None:
        named, _ = self._name_model(model)
        self.add("probes", event.where, {**row, "model": named, "model_name": named})

    def _name_model(self, model: str | None) -> tuple[str | None, FactSource | None]:
        if model is not None:
            return model, FactSource.LOG
        fact = self._facts.model
        return (fact.value, fact.source) if fact else (None, None)

    def _name_prompt(self, turn: OpenTurn) -> None:
        if self._facts.prompt is None:
            return
        row = prompt_row(PromptSeen(session_id="", where=turn.where), self._facts)
        nameless = [call for call in turn.calls if call.prompt_id is None]
        for call in nameless:
            call.prompt_id = row["prompt_id"]
        if turn.prompt_id is None:
            turn.prompt_id = row["prompt_id"]
        elif not nameless:
            return
        self.add_once("prompts", stable_id(row["prompt_id"], None), row)

    def add_turn(self, session: SessionState, turn: OpenTurn, definitions: Sequence[CallDefinitions]) -> None:
        """Judge a turn, add its row and the rows of its calls, and add its counts to the session."""
        place = TurnPlace(self._source, session.session_id, turn.number)
        turn_id = self._turn_id(turn, place)
        offered = definitions[turn.definitions].offered
        judged = turn.judge(definitions, self.failures, results_expected=session.saw_result)
        self._name_prompt(turn)
        model, model_source = self._name_model(turn.model)
        self._add_calls(session.session_id, turn, turn_id, self._call_ids(turn, turn_id, place))
        self._add_texts(session.session_id, turn, turn_id, judged.answer)
        row = {
            "session_id": session.session_id,
            "turn": turn.number,
            "turn_id": turn_id,
            "source": self._source,
            "duplicate": False,
            **date_columns(turn.ts, self._facts),
            **turn_row(turn, judged),
            "model": model,
            "model_name": model,
            "model_source": model_source,
            "results_expected": session.saw_result,
            "offered_tools": len(offered) if offered is not None else None,
            "tool_list": self._list_tools(definitions[turn.definitions].sizes),
        }
        self.add("turns", turn.where, row)
        session.turns += 1
        session.steps += row["steps"]
        session.calls += row["calls"]
        session.faults += row["faults"]

    def _add_calls(self, session_id: str, turn: OpenTurn, turn_id: str, call_ids: Sequence[str]) -> None:
        shared = (self.file_id, session_id, turn.number, turn_id, self._source, False)
        add = self._calls.append
        for call_id, call in zip(call_ids, turn.calls, strict=True):
            event, link = call.event, call.link
            verdict, request, definition = call.classified
            origin = verdict.definition_origin
            ts, where = event.ts or turn.ts, event.where
            model, model_source = self._name_model(call.model)
            add(
                (
                    call_id,
                    None if link is None else call_ids[link.first],
                    None if definition is None else self._definition_id(definition, origin),
                    where.line,
                    where.offset,
                    ts,
                    self._facts.day if ts is None else ts.date(),
                    model,
                    model,
                    model_source,
                    *shared,
                    *call_values(turn, call),
                )
            )
            if request is not None and request.diagnostics:
                for finding in diagnostic_rows(request):
                    self._add("diagnostics", {"call_id": call_id, "file_id": self.file_id, **finding})
        self.pending += len(call_ids)

    def _add_texts(self, session_id: str, turn: OpenTurn, turn_id: str, answer: str | None) -> None:
        """Add the model's text of each step to `step_texts`, except the answer, which the row of the turn
        contains.
        """
        for number, step in turn.steps.items():
            if step.text and not (number == turn.last_step and step.text == answer):
                model, _ = self._name_model(step.model)
                row = {
                    "session_id": session_id,
                    "turn_id": turn_id,
                    "turn": turn.number,
                    "step": number,
                    "source": self._source,
                    "ts": step.ts,
                    "model": model,
                    "model_name": model,
                    "text": cut_text(step.text),
                }
                self.add("step_texts", step.where, row)

    def _turn_id(self, turn: OpenTurn, place: TurnPlace) -> str:
        """Return the id of a turn.

        The id is a hash of the turn's key. For a turn without a key, it is a hash of the session, the turn's
        number and the user's message. A turn that began in an earlier file keeps the id from that file.
        """
        if turn.begun_as is not None and not turn.begun:
            return turn.begun_as
        if turn.key:
            return stable_id(self._source, turn.key, "")
        begun_by = turn.text if turn.begun else None
        return place.id + turn_mark(begun_by)

    def _call_ids(self, turn: OpenTurn, turn_id: str, place: TurnPlace) -> list[str]:
        """Return the ids of a turn's calls.

        The id is a hash of the call's key. For a call without a key, it is a hash of the call's position and
        content. If the turn has a key, positions count within the turn, because forked sessions copy such
        turns. Otherwise positions count within the session.
        """
        ids: list[str] = []
        if not turn_id.startswith(place.id):
            place = TurnPlace(turn_id)
        for call in turn.calls:
            event = call.event
            if event.key is not None:
                ids.append(stable_id(self._source, event.key))
                continue
            sent = event.raw_arguments if event.arguments is None else event.arguments
            mark = call_mark(event.tool_call_id, event.tool, event.args_source, sent)
            ids.append(place.make_call_id(call.step, call.ordinal) + mark)
        return ids

    def _list_tools(self, sizes: tuple[ToolSize, ...]) -> str | None:
        """Return the id of a list of offered tools. On first use of a list, add its rows. Return None for an
        empty list.
        """
        if not sizes:
            return None
        list_id = self._list_ids.get(sizes)
        if list_id is None:
            list_id = self._list_ids[sizes] = stable_id(*sizes)
            for size in sizes:
                row = {"tool": size.tool, "mcp_server": find_mcp_server(size.tool), "bytes": size.size}
                self._add("tool_lists", {"tool_list": list_id, **row})
        return list_id

    def _definition_id(self, definition: ToolDefinition, origin: str | None) -> str:
        definition_id = self._definition_ids.get(id(definition))
        if definition_id is not None:
            return definition_id
        row = definition_row(definition)
        self.add_once("tool_definitions", row["definition_id"], {**row, "origin": origin})
        return self._definition_ids.setdefault(id(definition), str(row["definition_id"]))
