"""Translates the events of an OpenHands stream (before 1.0)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_count, read_object, read_objects, read_text, read_time
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
from ingest.formats.openhands.action_texts import find_lost_call
from ingest.formats.provider_messages.chat_messages import join_content, list_calls, make_call
from ingest.formats.provider_messages.openai_chat import count_input

_TEXT_ACTIONS = frozenset(
    ("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "delegate", "think",
     "call_tool_mcp", "task_tracking")
)  # fmt: skip
_NOT_ARGUMENTS = frozenset(("thought", "blocking", "hidden", "confirmation_state", "security_risk"))


class StreamEvents:
    """Translator of one conversation."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._begun = False
        self._response: str | None = None
        self._text_calls: dict[int, str] = {}  # id of an action written as text → id of its call
        self._shared: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        ts: datetime | None = read_time(event.get("timestamp"))
        self._shared = {"session_id": self._session_id, "where": where, "ts": ts}
        if not self._begun:
            self._begun = True
            yield SessionSeen(**self._shared, harness="OpenHands")
        if isinstance(event.get("action"), str):
            yield from self._take_action(event, event["action"], read_object(event.get("args")))
        elif isinstance(event.get("observation"), str):
            yield from self._take_observation_event(event, event["observation"])

    def _take_action(self, event: Mapping[str, Any], action: str, args: Mapping[str, Any]) -> Iterator[Event]:
        metadata = read_object(event.get("tool_call_metadata"))
        if action == "system":
            yield PromptSeen(**self._shared, text=read_text(args.get("content")))
            if definitions := tuple(read_objects(args.get("tools"))):
                yield ToolsOffered(**self._shared, definitions=definitions)
        elif action == "message" and event.get("source") == "user":
            self._response = None
            yield TurnStarted(**self._shared, text=read_text(args.get("content")))
        elif action == "message" and event.get("source") == "agent":
            words = read_text(args.get("content"))
            yield StepMade(**self._shared, text=words)
            if args.get("wait_for_response") is True:
                yield TurnEnded(**self._shared, answer=words or "")
        elif metadata:
            yield from self._take_native_call(metadata)
        elif event.get("source") == "agent" and action in _TEXT_ACTIONS:
            yield from self._take_written_call(event, action, args)
        if action == "finish":
            yield from self._take_finish_action(event, args, metadata)

    def _take_native_call(self, metadata: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the native tool call of an action. Yield a step first if the action begins a new response."""
        response = read_object(metadata.get("model_response"))
        choices = read_objects(response.get("choices"))
        message = read_object(choices[0].get("message")) if choices else {}
        response_id, call_id = read_text(response.get("id")), read_text(metadata.get("tool_call_id"))
        if response_id is None or response_id != self._response:
            self._response = response_id
            usage = read_object(response.get("usage"))
            yield StepMade(
                **self._shared,
                text=join_content(message.get("content")),
                model=read_text(response.get("model")),
                strategy=Strategy.TOOL_USE,
                **count_input(usage),
                output_tokens=read_count(usage.get("completion_tokens")),
            )
        made = next((call for call in list_calls(message) if call["id"] == call_id), None)
        name = metadata.get("function_name")
        call = made or {"id": call_id, "name": name, "arguments": None}
        yield make_call(call, self._shared, strategy=Strategy.TOOL_USE)

    def _take_written_call(
        self, event: Mapping[str, Any], action: str, args: Mapping[str, Any]
    ) -> Iterator[Event]:
        """Yield the step and the tool call of an action that the agent wrote as text.

        The arguments are decoded, because the log does not contain the text.
        """
        number = read_count(event.get("id"))
        call_id = f"action {number}" if number is not None else None
        if number is not None and call_id is not None:
            self._text_calls[number] = call_id
        yield StepMade(
            **self._shared, text=read_text(args.get("thought")) or None, strategy=Strategy.JSON_FALLBACK
        )
        yield CallMade(
            **self._shared,
            tool=action,
            tool_call_id=call_id,
            arguments={name: value for name, value in args.items() if name not in _NOT_ARGUMENTS},
            args_source=ArgsSource.RESERIALISED,
            strategy=Strategy.JSON_FALLBACK,
        )

    def _take_finish_action(
        self, event: Mapping[str, Any], args: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> Iterator[Event]:
        if call_id := read_text(metadata.get("tool_call_id")):
            yield ResultSeen(
                **self._shared,
                tool_call_id=call_id,
                status=ResultStatus.UNKNOWN,
                flag_source=FlagSource.ABSENT,
            )
        answers = (
            read_text(args.get("final_thought")),
            read_text(args.get("thought")),
            read_text(event.get("message")),
        )
        yield TurnEnded(**self._shared, status="finish", answer=next(filter(None, answers), ""))

    def _take_observation_event(self, event: Mapping[str, Any], kind: str) -> Iterator[Event]:
        content = read_text(event.get("content")) or ""
        call_id = read_text(read_object(event.get("tool_call_metadata")).get("tool_call_id"))
        cause = read_count(event.get("cause"))
        if call_id is None and cause is not None:
            call_id = self._text_calls.pop(cause, None)
        if call_id is not None:
            yield self._make_result(event, kind, content, call_id)
        elif kind == "error" and not cause and (lost := find_lost_call(content)) is not None:
            self._response = None
            yield StepMade(**self._shared, strategy=Strategy.TOOL_USE)
            yield CallMade(
                **self._shared,
                tool=lost.tool,
                raw_arguments=lost.raw,
                args_source=ArgsSource.MISSING if lost.raw is None else ArgsSource.RAW,
                strategy=Strategy.TOOL_USE,
                refused_by_harness=lost.layer,
                harness_message=content[:MESSAGE_READ],
            )

    def _make_result(self, event: Mapping[str, Any], kind: str, content: str, call_id: str) -> ResultSeen:
        status, source, layer = _read_verdict(kind, content, read_object(event.get("extras")))
        return ResultSeen(
            **self._shared,
            tool_call_id=call_id,
            status=status,
            flag_source=source,
            fault_layer=layer,
            message=content[:MESSAGE_READ] if layer else None,
            content=content,
        )


def _read_verdict(
    kind: str, content: str, extras: Mapping[str, Any]
) -> tuple[ResultStatus, FlagSource, FaultLayer | None]:
    """Return (status, source of the status, failure stage) of the tool call that has this observation."""
    if kind == "error":
        lost = find_lost_call(content)
        layer = FaultLayer.EXECUTION if lost is None or lost.layer is FaultLayer.EMISSION else lost.layer
        return ResultStatus.ERROR, FlagSource.EXPLICIT, layer
    if kind == "user_rejected":
        return ResultStatus.DENIED, FlagSource.EXPLICIT, FaultLayer.REFUSED
    if content.startswith("ERROR:"):
        refused = "Invalid `" in content or "parameter" in content[:200].lower()
        layer = FaultLayer.TOOL_REJECTED if refused else FaultLayer.EXECUTION
        return ResultStatus.ERROR, FlagSource.DERIVED_TEXT, layer
    code = read_object(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    if kind == "run" and isinstance(code, int) and not isinstance(code, bool) and code != -1:
        if code == 0:
            return ResultStatus.OK, FlagSource.DERIVED_EXIT_CODE, None
        return ResultStatus.ERROR, FlagSource.DERIVED_EXIT_CODE, FaultLayer.EXECUTION
    if kind in ("read", "edit", "write"):
        return ResultStatus.OK, FlagSource.DERIVED_TEXT, None
    return ResultStatus.UNKNOWN, FlagSource.ABSENT, None
