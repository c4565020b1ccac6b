"""Translates the events of a conversation of the OpenHands agent SDK (1.x)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.openhands.action_texts import find_lost_call, refusal_layer
from ingest.formats.provider_messages.chat_messages import argument_fields, join_content


class SdkEvents:
    """Translator of one conversation."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._begun = False
        self._response: str | None = None
        self._shared: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        self._shared = {
            "session_id": self._session_id,
            "where": where,
            "ts": read_time(event.get("timestamp")),
        }
        if not self._begun:
            self._begun = True
            yield SessionSeen(**self._shared, harness="OpenHands")
        rule = _RULES.get(str(event.get("kind")))
        if rule is not None:
            yield from rule(self, event)

    def _take_prompt(self, event: Mapping[str, Any]) -> Iterator[Event]:
        stated = event.get("system_prompt")
        yield PromptSeen(**self._shared, text=read_text(stated) or read_text(read_object(stated).get("text")))
        offered = tuple(
            definition
            for definition in read_objects(event.get("tools"))
            if {"function", "parameters", "input_schema", "inputSchema"} & definition.keys()
        )
        if offered:
            yield ToolsOffered(**self._shared, definitions=offered)

    def _take_message(self, event: Mapping[str, Any]) -> Iterator[Event]:
        words = join_content(read_object(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            yield TurnStarted(**self._shared, text=words)
        elif event.get("source") == "agent":
            yield StepMade(**self._shared, text=words)
            yield TurnEnded(**self._shared, answer=words or "")
        # OpenHands asks the model for the missing call.
        elif (lost := find_lost_call(words or "")) is not None:
            yield CallMade(
                **self._shared,
                tool=None,
                args_source=ArgsSource.MISSING,
                refused_by_harness=lost.layer,
                harness_message=words,
            )

    def _take_action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        response = read_text(event.get("llm_response_id"))
        if response is None or response != self._response:
            self._response = response
            yield StepMade(
                **self._shared, text=join_content(event.get("thought")), strategy=Strategy.TOOL_USE
            )
        call = read_object(event.get("tool_call"))
        tool = read_text(event.get("tool_name")) or read_text(call.get("name"))
        function = read_object(call.get("function")) or call
        sent = function.get("arguments", event.get("action"))
        yield CallMade(
            **self._shared,
            tool=tool,
            tool_call_id=read_text(event.get("tool_call_id")),
            strategy=Strategy.TOOL_USE,
            **argument_fields(sent),
        )
        if tool == "finish":
            answer = read_text(read_object(event.get("action")).get("message"))
            yield TurnEnded(**self._shared, status="finish", answer=answer)

    def _take_observation(self, event: Mapping[str, Any]) -> Iterator[Event]:
        observation = read_object(event.get("observation"))
        content = join_content(observation.get("content")) or read_text(observation.get("output"))
        status, source = _read_status(observation)
        failed = status is ResultStatus.ERROR
        yield self._make_result(
            event, status, source, content, (content or "")[:MESSAGE_READ] if failed else None
        )

    def _take_error(self, event: Mapping[str, Any]) -> Iterator[Event]:
        message = read_text(event.get("error")) or ""
        expected = read_object(event.get("classification")).get("kind") == "agent_action"
        layer = refusal_layer(message, expected=expected)
        yield self._make_result(
            event, ResultStatus.ERROR, FlagSource.EXPLICIT, message, message[:MESSAGE_READ], layer
        )

    def _take_rejection(self, event: Mapping[str, Any]) -> Iterator[Event]:
        reason = read_text(event.get("rejection_reason"))
        denied = ResultStatus.DENIED
        yield self._make_result(event, denied, FlagSource.EXPLICIT, reason, reason, FaultLayer.REFUSED)

    def _take_failed(self, event: Mapping[str, Any]) -> Iterator[Event]:
        yield TurnEnded(**self._shared, status=read_text(event.get("code")) or "error")

    def _take_state(self, event: Mapping[str, Any]) -> Iterator[Event]:
        model = read_text(
            read_object(read_object(read_object(event.get("value")).get("agent")).get("llm")).get("model")
        )
        if model is not None:
            yield SessionSeen(**self._shared, model=model)

    def _make_result(
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
            tool_call_id=read_text(event.get("tool_call_id")),
            tool=read_text(event.get("tool_name")),
            status=status,
            flag_source=source,
            fault_layer=layer,
            message=message,
            content=content,
        )


def _read_status(observation: Mapping[str, Any]) -> tuple[ResultStatus, FlagSource]:
    flag = observation.get("is_error")
    code = observation.get("exit_code", read_object(observation.get("metadata")).get("exit_code"))
    if flag is not True and isinstance(code, int) and not isinstance(code, bool) and code != -1:
        return ResultStatus.ERROR if code else ResultStatus.OK, FlagSource.DERIVED_EXIT_CODE
    if isinstance(flag, bool):
        return ResultStatus.ERROR if flag else ResultStatus.OK, FlagSource.EXPLICIT
    return ResultStatus.UNKNOWN, FlagSource.ABSENT


_RULES: Mapping[str, Callable[[SdkEvents, Mapping[str, Any]], Iterator[Event]]] = {
    "SystemPromptEvent": SdkEvents._take_prompt,
    "MessageEvent": SdkEvents._take_message,
    "ActionEvent": SdkEvents._take_action,
    "ObservationEvent": SdkEvents._take_observation,
    "AgentErrorEvent": SdkEvents._take_error,
    "UserRejectObservation": SdkEvents._take_rejection,
    "ConversationErrorEvent": SdkEvents._take_failed,
    "ConversationStateUpdateEvent": SdkEvents._take_state,
}
KINDS = frozenset((*_RULES, "PauseEvent", "Condensation", "CondensationRequest", "TokenEvent"))
"""The kinds of event that identify a file. Other kinds are skipped."""
