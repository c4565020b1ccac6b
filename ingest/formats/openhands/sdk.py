"""One event of the OpenHands agent SDK (1.x) in, our events out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.fields import moment, table, tables, text
from ingest.formats.openhands.texts import lost_call, refusal_layer
from ingest.shapes.chat import arguments_of, content_text
from ingest.shapes.verdicts import MESSAGE


class SdkEvents:
    """A conversation; keeps the id of the newest response."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._begun = False
        self._response: str | None = None
        self._shared: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any], where: Where) -> Iterator[Event]:
        self._shared = {
            "session_id": self._session_id,
            "where": where,
            "ts": moment(event.get("timestamp")),
        }
        if not self._begun:
            self._begun = True
            yield SessionSeen(**self._shared, harness="OpenHands")
        rule = _RULES.get(str(event.get("kind")))
        if rule is not None:
            yield from rule(self, event)

    def _prompt(self, event: Mapping[str, Any]) -> Iterator[Event]:
        stated = event.get("system_prompt")
        yield PromptSeen(**self._shared, text=text(stated) or text(table(stated).get("text")))
        offered = tuple(
            one
            for one in tables(event.get("tools"))
            if {"function", "parameters", "input_schema", "inputSchema"} & one.keys()
        )
        if offered:
            yield ToolsOffered(**self._shared, definitions=offered)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Event]:
        words = content_text(table(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            yield TurnStarted(**self._shared, text=words)
        elif event.get("source") == "agent":
            yield StepMade(**self._shared, text=words)
            yield TurnEnded(**self._shared, answer=words or "")
        elif (lost := lost_call(words or "")) is not None:  # the harness asks for the call that did not come
            yield CallMade(
                **self._shared,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=lost.layer,
                harness_message=words,
            )

    def _action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        response = text(event.get("llm_response_id"))
        if response is None or response != self._response:
            self._response = response
            yield StepMade(
                **self._shared, text=content_text(event.get("thought")), strategy=Strategy.TOOL_USE
            )
        call = table(event.get("tool_call"))
        tool = text(event.get("tool_name")) or text(call.get("name"))
        function = table(call.get("function")) or call
        sent = function.get("arguments", event.get("action"))
        yield CallMade(
            **self._shared,
            tool=tool,
            tool_call_id=text(event.get("tool_call_id")),
            strategy=Strategy.TOOL_USE,
            **arguments_of(sent),
        )
        if tool == "finish":
            answer = text(table(event.get("action")).get("message"))
            yield TurnEnded(**self._shared, status="finish", answer=answer)

    def _observed(self, event: Mapping[str, Any]) -> Iterator[Event]:
        seen = table(event.get("observation"))
        content = content_text(seen.get("content")) or text(seen.get("output"))
        status, source = _status_of(seen)
        failed = status is ResultStatus.ERROR
        yield self._result(event, status, source, content, (content or "")[:MESSAGE] if failed else None)

    def _error(self, event: Mapping[str, Any]) -> Iterator[Event]:
        said = text(event.get("error")) or ""
        expected = table(event.get("classification")).get("kind") == "agent_action"
        layer = refusal_layer(said, expected=expected)
        yield self._result(event, ResultStatus.ERROR, FlagSource.EXPLICIT, said, said[:MESSAGE], layer)

    def _rejected(self, event: Mapping[str, Any]) -> Iterator[Event]:
        said = text(event.get("rejection_reason"))
        denied = ResultStatus.DENIED
        yield self._result(event, denied, FlagSource.EXPLICIT, said, said, FaultLayer.REFUSED)

    def _failed(self, event: Mapping[str, Any]) -> Iterator[Event]:
        yield TurnEnded(**self._shared, status=text(event.get("code")) or "error")

    def _state(self, event: Mapping[str, Any]) -> Iterator[Event]:
        model = text(table(table(table(event.get("value")).get("agent")).get("llm")).get("model"))
        if model is not None:
            yield SessionSeen(**self._shared, model=model)

    def _result(
        self,
        event: Mapping[str, Any],
        status: ResultStatus,
        source: FlagSource,
        content: str | None,
        message: str | None,
        layer: FaultLayer | None = None,
    ) -> ResultSeen:
        return ResultSeen(
            **self._shared,
            tool_call_id=text(event.get("tool_call_id")),
            tool=text(event.get("tool_name")),
            status=status,
            flag_source=source,
            fault_layer=layer,
            message=message,
            content=content,
        )


def _status_of(seen: Mapping[str, Any]) -> tuple[ResultStatus, FlagSource]:
    flag = seen.get("is_error")
    code = seen.get("exit_code", table(seen.get("metadata")).get("exit_code"))
    if flag is not True and isinstance(code, int) and not isinstance(code, bool) and code != -1:
        return ResultStatus.ERROR if code else ResultStatus.OK, FlagSource.DERIVED_EXIT_CODE
    if isinstance(flag, bool):
        return ResultStatus.ERROR if flag else ResultStatus.OK, FlagSource.EXPLICIT
    return ResultStatus.UNKNOWN, FlagSource.ABSENT


_RULES: Mapping[str, Callable[[SdkEvents, Mapping[str, Any]], Iterator[Event]]] = {
    "SystemPromptEvent": SdkEvents._prompt,
    "MessageEvent": SdkEvents._message,
    "ActionEvent": SdkEvents._action,
    "ObservationEvent": SdkEvents._observed,
    "AgentErrorEvent": SdkEvents._error,
    "UserRejectObservation": SdkEvents._rejected,
    "ConversationErrorEvent": SdkEvents._failed,
    "ConversationStateUpdateEvent": SdkEvents._state,
}
KINDS = frozenset((*_RULES, "PauseEvent", "Condensation", "CondensationRequest", "TokenEvent"))
"""The kinds of event by which a file is recognised; others pass silently."""
