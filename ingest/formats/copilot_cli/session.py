"""The events of one Copilot CLI session in file order in, turns, steps, calls and results out."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    Where,
)
from ingest.fields import moment, table, tables, text, whole
from ingest.records import Record
from ingest.shapes.chat import Flag, arguments_of
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue, decoded, native
from ingest.shapes.marks import unique_id
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in

_TEXTS: Texts = (
    (
        FaultLayer.REFUSED,
        re.compile(r"The user rejected|Permission (?:to run|was) |User denied", re.IGNORECASE),
    ),
    (FaultLayer.TOOL_REJECTED, re.compile(r"Path does not exist")),
    (
        FaultLayer.SCHEMA,
        re.compile(r"Multiple validation errors:|Tool '\S{1,200}' (?:does not exist|not found)"),
    ),
)
_REFUSED_CODES = frozenset({"denied", "rejected"})
_EXIT = re.compile(r"<(?:shellId: \S{1,80} completed|exited) with exit code (-?\d{1,10})>\s*\Z")
_TAIL = 200  # characters at the end of a result in which its exit code stands
_REMEMBERED = 1_000  # calls, and sub-agents, that run at the same time


class Session:
    """One file: a session and the sub-agents it started."""

    def __init__(self, identity: str) -> None:
        self._main = Dialogue(identity)
        self._agents: dict[str, Dialogue] = {}  # by the id of the call that started them
        self._begun: dict[str, datetime] = {}  # call id → when it began to run
        self._where = Where(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        event = record.value
        rule = _RULES.get(text(event.get("type")) or "")
        if rule is None:
            return ()
        self._where, self._ts = record.where, moment(event.get("timestamp"))
        return rule(self, table(event.get("data")), event)

    def finish(self) -> Iterator[Event]:
        for dialogue in (self._main, *self._agents.values()):
            yield from dialogue.end()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    # --- the session ---------------------------------------------------------------------------

    def _start(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        self._main.session_id = text(data.get("sessionId")) or self._main.session_id
        yield SessionSeen(
            **self._here(self._main),
            harness="copilot_cli",
            harness_version=text(data.get("copilotVersion")),
            model=text(data.get("selectedModel")),
        )

    def _model(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        model = text(data.get("newModel")) or text(data.get("selectedModel"))
        yield SessionSeen(**self._here(self._main), model=model)

    def _prompt(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        words = text(data.get("content"))
        if words:
            yield PromptSeen(**self._here(self._main), text=words)

    # --- turns ---------------------------------------------------------------------------------

    def _asked(self, data: Mapping[str, Any], event: Mapping[str, Any]) -> Iterable[Event]:
        key = unique_id(text(event.get("id")))
        self._main.ask(self._where, self._ts, text(data.get("content")), key)
        return ()

    def _aborted(self, _data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        self._main.stopped(self._where, self._ts, CANCELLED)
        return self._main.end()

    def _failed(self, _data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterable[Event]:
        self._main.stopped(self._where, self._ts, ERROR, ok=False)
        return ()

    def _agent_ended(self, data: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Event]:
        dialogue = self._agents.pop(text(data.get("toolCallId")) or "", None)
        if dialogue is not None:
            well = event.get("type") == "subagent.completed"
            dialogue.stopped(
                self._where, self._ts, "completed" if well else ERROR, ok=None if well else False
            )
            yield from dialogue.end()

    # --- steps ---------------------------------------------------------------------------------

    def _message(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        dialogue = yield from self._speaker(data)
        yield from dialogue.step(
            self._where,
            self._ts,
            text(data.get("content")),
            model=text(data.get("model")),
            output_tokens=whole(data.get("outputTokens")) or None,
        )
        for request in tables(data.get("toolRequests")):
            yield dialogue.call(self._where, self._ts, **_call(request))

    def _run(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterable[Event]:
        call_id = text(data.get("toolCallId"))
        if call_id is not None and self._ts is not None:
            self._begun[call_id] = self._ts
            if len(self._begun) > _REMEMBERED:
                del self._begun[next(iter(self._begun))]
        return ()

    def _result(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        call_id, error = text(data.get("toolCallId")), table(data.get("error"))
        content = text(table(data.get("result")).get("content")) or text(error.get("message"))
        flag = _flag(data.get("success"), content or "", text(error.get("code")))
        begun = self._begun.pop(call_id or "", None)
        ran = (self._ts - begun).total_seconds() if self._ts and begun else None
        dialogue = yield from self._speaker(data)
        yield ResultSeen(
            **self._here(dialogue),
            tool_call_id=call_id,
            content=content,
            latency_ms=ran * 1000 if ran is not None and ran >= 0 else None,
            **flag.fields,
        )

    def _speaker(self, data: Mapping[str, Any]) -> Generator[Event, None, Dialogue]:
        """Whose event it is: the session's, or that of a sub-agent."""
        started_by = text(data.get("parentToolCallId"))
        if started_by is None:
            return self._main
        if started_by not in self._agents:
            if len(self._agents) >= _REMEMBERED:
                yield from self._agents.pop(next(iter(self._agents))).end()
            dialogue = Dialogue(f"{self._main.session_id}/{started_by}")
            self._agents[started_by] = dialogue
            parent = self._main.session_id
            yield SessionSeen(**self._here(dialogue), harness="copilot_cli", parent_session_id=parent)
        return self._agents[started_by]

    def _here(self, dialogue: Dialogue) -> dict[str, Any]:
        return {"session_id": dialogue.session_id, "where": self._where, "ts": self._ts}


def _call(request: Mapping[str, Any]) -> dict[str, Any]:
    call_id, sent = text(request.get("toolCallId")), request.get("arguments")
    free_text = request.get("type") == "custom" and isinstance(sent, str)
    return {
        **(decoded({"input": sent}) if free_text else arguments_of(sent)),
        "tool": text(request.get("name")),
        **native(call_id),
    }


def _flag(success: Any, content: str, code: str | None) -> Flag:
    if success is False:
        refused = FaultLayer.REFUSED if code in _REFUSED_CODES else None
        return failed(content, refused or layer_in(content, _TEXTS) or FaultLayer.EXECUTION)
    ended = _EXIT.search(content[-_TAIL:])
    if ended and int(ended.group(1)):
        return failed(content, source=FlagSource.DERIVED_EXIT_CODE)
    return PASSED if success is True else Flag()


_RULES: Mapping[str, Callable[[Session, Mapping[str, Any], Mapping[str, Any]], Iterable[Event]]] = {
    "session.start": Session._start,
    "session.resume": Session._model,
    "session.model_change": Session._model,
    "system.message": Session._prompt,
    "user.message": Session._asked,
    "abort": Session._aborted,
    "session.error": Session._failed,
    "subagent.completed": Session._agent_ended,
    "subagent.failed": Session._agent_ended,
    "assistant.message": Session._message,
    "tool.execution_start": Session._run,
    "tool.execution_complete": Session._result,
}
