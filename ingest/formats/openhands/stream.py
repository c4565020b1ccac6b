"""One event of an OpenHands stream before 1.0 in, our events out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
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
from ingest.fields import moment, table, tables, text, whole
from ingest.formats.openhands.texts import lost_call
from ingest.shapes.chat import call_made, calls_of, content_text
from ingest.shapes.verdicts import MESSAGE

_TEXT_ACTIONS = frozenset(
    ("run", "run_ipython", "read", "write", "edit", "browse", "browse_interactive", "delegate", "think",
     "call_tool_mcp", "task_tracking")
)  # fmt: skip
_NOT_ARGUMENTS = frozenset(("thought", "blocking", "hidden", "confirmation_state", "security_risk"))


class StreamEvents:
    """A conversation; keeps the newest response and the actions that were written as text."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._begun = False
        self._response: str | None = None
        self._text_calls: dict[int, str] = {}  # id of an action → the id its call was given
        self._shared: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any], where: Where) -> Iterator[Event]:
        ts: datetime | None = moment(event.get("timestamp"))
        self._shared = {"session_id": self._session_id, "where": where, "ts": ts}
        if not self._begun:
            self._begun = True
            yield SessionSeen(**self._shared, harness="OpenHands")
        if isinstance(event.get("action"), str):
            yield from self._action(event, event["action"], table(event.get("args")))
        elif isinstance(event.get("observation"), str):
            yield from self._observation(event, event["observation"])

    def _action(self, event: Mapping[str, Any], action: str, args: Mapping[str, Any]) -> Iterator[Event]:
        metadata = table(event.get("tool_call_metadata"))
        if action == "system":
            yield PromptSeen(**self._shared, text=text(args.get("content")))
            if definitions := tuple(tables(args.get("tools"))):
                yield ToolsOffered(**self._shared, definitions=definitions)
        elif action == "message" and event.get("source") == "user":
            self._response = None
            yield TurnStarted(**self._shared, text=text(args.get("content")))
        elif action == "message" and event.get("source") == "agent":
            words = text(args.get("content"))
            yield StepMade(**self._shared, text=words)
            if args.get("wait_for_response") is True:
                yield TurnEnded(**self._shared, answer=words or "")
        elif metadata:
            yield from self._native(metadata)
        elif event.get("source") == "agent" and action in _TEXT_ACTIONS:
            yield from self._written(event, action, args)
        if action == "finish":
            yield from self._finish(event, args, metadata)

    def _native(self, metadata: Mapping[str, Any]) -> Iterator[Event]:
        """The call behind an action, and its step where it is the first of its response."""
        response = table(metadata.get("model_response"))
        choices = tables(response.get("choices"))
        message = table(choices[0].get("message")) if choices else {}
        response_id, call_id = text(response.get("id")), text(metadata.get("tool_call_id"))
        if response_id is None or response_id != self._response:
            self._response = response_id
            usage = table(response.get("usage"))
            yield StepMade(
                **self._shared,
                text=content_text(message.get("content")),
                model=text(response.get("model")),
                strategy=Strategy.TOOL_USE,
                input_tokens=whole(usage.get("prompt_tokens")),
                output_tokens=whole(usage.get("completion_tokens")),
            )
        made = next((call for call in calls_of(message) if call["id"] == call_id), None)
        name = metadata.get("function_name")
        call = made or {"id": call_id, "name": name, "arguments": None}
        yield call_made(call, self._shared, strategy=Strategy.TOOL_USE)

    def _written(self, event: Mapping[str, Any], action: str, args: Mapping[str, Any]) -> Iterator[Event]:
        """An action that the agent wrote as text: only what was read of it is left."""
        number = whole(event.get("id"))
        call_id = f"action {number}" if number is not None else None
        if number is not None and call_id is not None:
            self._text_calls[number] = call_id
        yield StepMade(
            **self._shared, text=text(args.get("thought")) or None, strategy=Strategy.JSON_FALLBACK
        )
        yield CallMade(
            **self._shared,
            tool=action,
            tool_call_id=call_id,
            arguments={name: value for name, value in args.items() if name not in _NOT_ARGUMENTS},
            args_source=ArgsSource.RESERIALISED,
            strategy=Strategy.JSON_FALLBACK,
        )

    def _finish(
        self, event: Mapping[str, Any], args: Mapping[str, Any], metadata: Mapping[str, Any]
    ) -> Iterator[Event]:
        if call_id := text(metadata.get("tool_call_id")):
            yield ResultSeen(
                **self._shared,
                tool_call_id=call_id,
                status=ResultStatus.UNKNOWN,
                flag_source=FlagSource.ABSENT,
            )
        said = (text(args.get("final_thought")), text(args.get("thought")), text(event.get("message")))
        yield TurnEnded(**self._shared, status="finish", answer=next(filter(None, said), ""))

    def _observation(self, event: Mapping[str, Any], kind: str) -> Iterator[Event]:
        content = text(event.get("content")) or ""
        call_id = text(table(event.get("tool_call_metadata")).get("tool_call_id"))
        cause = whole(event.get("cause"))
        if call_id is None and cause is not None:
            call_id = self._text_calls.pop(cause, None)
        if call_id is not None:
            yield self._result(event, kind, content, call_id)
        elif kind == "error" and not cause and (lost := lost_call(content)) is not None:
            self._response = None
            yield StepMade(**self._shared, strategy=Strategy.TOOL_USE)
            yield CallMade(
                **self._shared,
                tool=lost.tool,
                raw_arguments=lost.raw,
                args_source=ArgsSource.MISSING if lost.raw is None else ArgsSource.RAW,
                strategy=Strategy.TOOL_USE,
                refused_by_harness=lost.layer,
                harness_message=content[:MESSAGE],
            )

    def _result(self, event: Mapping[str, Any], kind: str, content: str, call_id: str) -> ResultSeen:
        status, source, layer = _verdict(kind, content, table(event.get("extras")))
        return ResultSeen(
            **self._shared,
            tool_call_id=call_id,
            status=status,
            flag_source=source,
            fault_layer=layer,
            message=content[:MESSAGE] if layer else None,
            content=content,
        )


def _verdict(
    kind: str, content: str, extras: Mapping[str, Any]
) -> tuple[ResultStatus, FlagSource, FaultLayer | None]:
    """What an observation says of its call."""
    if kind == "error":
        lost = lost_call(content)
        layer = FaultLayer.EXECUTION if lost is None or lost.layer is FaultLayer.EMISSION else lost.layer
        return ResultStatus.ERROR, FlagSource.EXPLICIT, layer
    if kind == "user_rejected":
        return ResultStatus.DENIED, FlagSource.EXPLICIT, FaultLayer.REFUSED
    if content.startswith("ERROR:"):
        refused = "Invalid `" in content or "parameter" in content[:200].lower()
        layer = FaultLayer.TOOL_REJECTED if refused else FaultLayer.EXECUTION
        return ResultStatus.ERROR, FlagSource.DERIVED_TEXT, layer
    code = table(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    if kind == "run" and isinstance(code, int) and not isinstance(code, bool) and code != -1:
        if code == 0:
            return ResultStatus.OK, FlagSource.DERIVED_EXIT_CODE, None
        return ResultStatus.ERROR, FlagSource.DERIVED_EXIT_CODE, FaultLayer.EXECUTION
    if kind in ("read", "edit", "write"):
        return ResultStatus.OK, FlagSource.DERIVED_TEXT, None
    return ResultStatus.UNKNOWN, FlagSource.ABSENT, None
