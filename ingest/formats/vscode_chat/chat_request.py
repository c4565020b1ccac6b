"""Makes the turn of one request of a chat session: its steps, calls and results, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_count, read_epoch_ms, read_object, read_objects, read_text
from ingest.events import Event, FaultLayer, FlagSource, LogLine, ResultSeen, TurnStatus
from ingest.formats.conversations.agent_session import AgentSession, sent_call_fields
from ingest.formats.conversations.result_layers import Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, list_calls
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import Record

# The extension's own answers to a call (microsoft/vscode-copilot-chat, `toolCalling.tsx`, `toolsService.ts`).
_TEXTS: Texts = (
    (FaultLayer.SCHEMA, re.compile(r"ERROR: Your input to the tool was invalid")),
    (FaultLayer.EXECUTION, re.compile(r"ERROR while calling tool:")),
    (FaultLayer.REFUSED, re.compile(r"The user cancelled the tool call|The user (?:chose to )?skip")),
)
_REFUSED = "a person did not allow the call"
_DENIED, _SKIPPED = 0, 5  # ToolConfirmKind
_STATES = {1: TurnStatus.COMPLETED, 2: TurnStatus.CANCELLED, 3: TurnStatus.ERROR}
_UNFINISHED = (0, 4)  # pending, needs input
_PICTURE = "toolInvocationSerialized"
_SHOWN = (None, "markdownContent")
_DEEPEST = 40  # nodes in nodes of a result


def translate_request(
    request: Mapping[str, Any], dialogue: AgentSession, record: Record | None, where: LogLine
) -> Iterator[Event]:
    """Yield the events of a request. `record` is the document that holds it, None in a log of changes."""
    result = read_object(request.get("result"))
    told = read_object(result.get("metadata"))
    ident, ts = read_text(request.get("requestId")), read_epoch_ms(request.get("timestamp"))
    where = _find_place(record, ident, where)
    asked = read_text(read_object(request.get("message")).get("text"))
    dialogue.ask(where, ts, asked, unique_id(ident))
    rounds = read_objects(told.get("toolCallRounds")) or [{"response": _join_markdown(request)}]
    results = read_object(told.get("toolCallResults"))
    calls = [call for one in rounds for call in _list_calls(one)]
    refused = _refused_calls(request, calls)
    facts = _model_facts(request, told, alone=len(rounds) == 1)
    for one in rounds:
        ts = read_epoch_ms(one.get("timestamp")) or ts
        made = _list_calls(one)
        yield from dialogue.add_step(
            _find_place(record, made[0]["id"], where) if made else where,
            ts,
            read_text(one.get("response")),
            **facts,
        )
        for call in made:
            place = _find_place(record, call["id"], where)
            yield dialogue.add_call(place, ts, **sent_call_fields(call))
            if call["id"] in results or call["id"] in refused:
                content = _read_content(results.get(call["id"]))
                flag = _read_flag(content or "", refused=call["id"] in refused)
                yield ResultSeen(
                    session_id=dialogue.session_id, where=place, ts=ts, tool_call_id=read_text(call["id"]),
                    content=content, **flag.fields,
                )  # fmt: skip
    _note_end(request, result, dialogue, where)


def _find_place(record: Record | None, ident: Any, where: LogLine) -> LogLine:
    return record.find_line(f'"{ident}"') if record is not None and isinstance(ident, str) else where


def _list_calls(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a round; an id that is no text becomes None."""
    made = list_calls({"tool_calls": one.get("toolCalls")})
    return [{**call, "id": read_text(call["id"])} for call in made]


def _model_facts(request: Mapping[str, Any], told: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    """Return the `StepMade` fields for the model; the token counts belong to a reply that stands alone."""
    chosen = read_text(request.get("modelId")) or ""
    vendor, _, name = chosen.rpartition("/")
    facts: dict[str, Any] = {
        "model": read_text(told.get("resolvedModel")) or (name if name != "auto" else "") or None,
        "provider": vendor or None,
    }
    if alone:
        facts["input_tokens"] = read_count(told.get("promptTokens")) or None
        facts["output_tokens"] = read_count(told.get("outputTokens")) or None
    return facts


def _join_markdown(request: Mapping[str, Any]) -> str | None:
    """Return the text that the person saw, for requests without `toolCallRounds`."""
    shown = [part for part in read_objects(request.get("response")) if part.get("kind") in _SHOWN]
    said = [part.get("value", read_object(part.get("content")).get("value")) for part in shown]
    words = [read_text(one) or read_text(read_object(one).get("value")) for one in said]
    return "".join(word for word in words if word) or None


def _refused_calls(request: Mapping[str, Any], calls: list[dict[str, Any]]) -> set[Any]:
    """Return the ids of the calls that a person did not allow, as the pictures of the calls tell."""
    pictures = [part for part in read_objects(request.get("response")) if part.get("kind") == _PICTURE]
    known = {call["id"] for call in calls}
    by_order = len(pictures) == len(calls)
    refused: set[Any] = set()
    for number, picture in enumerate(pictures):
        said = picture.get("isConfirmed")
        kind = read_object(said).get("type")
        if said is False or (not isinstance(kind, bool) and kind in (_DENIED, _SKIPPED)):
            ident = picture.get("toolCallId")
            if isinstance(ident, str) and ident in known:
                refused.add(ident)
            elif by_order:
                refused.add(calls[number]["id"])
    return refused


def _read_content(result: Any) -> str | None:
    """Return the text of a tool's result: parts of text, or trees of text nodes."""
    found: list[str] = []
    waiting: list[tuple[Any, int]] = [(read_object(result).get("content"), 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, list):
            waiting.extend((item, depth + 1) for item in reversed(value))
        elif isinstance(value, str) and depth:
            found.append(value)
        elif isinstance(value, dict) and depth < _DEEPEST:
            if isinstance(value.get("text"), str):
                found.append(value["text"])
            waiting.extend((value[key], depth + 1) for key in ("children", "node", "value") if key in value)
    return "".join(found) or None


def _read_flag(content: str, *, refused: bool) -> ResultFlag:
    if refused:
        return failed_flag(content or _REFUSED, FaultLayer.REFUSED)
    layer = find_layer(content, _TEXTS)
    return failed_flag(content, layer, FlagSource.DERIVED_TEXT) if layer is not None else ResultFlag()


def _note_end(
    request: Mapping[str, Any], result: Mapping[str, Any], dialogue: AgentSession, where: LogLine
) -> None:
    state = read_object(request.get("modelState"))
    failed = bool(read_object(result.get("errorDetails")))
    cancelled = request.get("isCanceled") is True
    value = read_count(state.get("value"))
    if value in _UNFINISHED and not failed and not cancelled:
        dialogue.close_without_end()
        return
    status = _STATES.get(value) if value is not None else None
    status = TurnStatus.CANCELLED if cancelled else TurnStatus.ERROR if failed else status
    if status is not None:
        dialogue.note_stop(
            where, read_epoch_ms(state.get("completedAt")), status.value, ok=False if failed else None
        )
