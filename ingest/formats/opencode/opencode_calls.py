"""Builds the event fields of one tool part in an OpenCode message: its call and its result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from ingest.decoding.fields import read_object, read_text
from ingest.events import ArgsSource, FaultLayer, FlagSource, Strategy, Visibility
from ingest.formats.conversations.agent_session import decoded_argument_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag

REFUSED_CALL = "invalid"  # the tool that stands for a call which the AI SDK could not hand over
# How the AI SDK quotes what it could not read, or what did not fit; both end with the same words.
_NOT_JSON, _NOT_VALID = "JSON parsing failed: Text: ", "Type validation failed: Value: "
_QUOTE_ENDS = ".\nError message: "

_TEXTS: Texts = (
    (FaultLayer.SCHEMA, re.compile(r"The \S{1,200} tool was called with invalid arguments|MCP error -32602")),
    (
        FaultLayer.REFUSED,
        re.compile(
            r"The user (?:rejected permission|has specified a rule|dismissed this question)"
            r"|Tool execution aborted|Permission denied|Rule prevents tool usage"
        ),
    ),
)
_TIMEOUT = re.compile(r"<(?:bash|shell)_metadata>[^<]{0,400}(terminated command after|User aborted)")
_TAIL = 600  # characters at the end of an output in which the harness says why a command was stopped


def call_fields(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `CallMade` for a tool part."""
    given = read_object(part.get("state")).get("input")
    facts: dict[str, Any] = {
        "tool": read_text(part.get("tool")),
        "tool_call_id": read_text(part.get("callID")),
        "strategy": Strategy.TOOL_USE,
        "syntax_seen": Visibility.FAILURES,
        "schema_seen": Visibility.FAILURES,
        **decoded_argument_fields(given),
    }
    error = _refusal_reason(part)
    if error is None:
        return facts
    return {
        **facts,
        "tool": read_text(read_object(given).get("tool")),
        "arguments": None,
        **_refused_arguments(error),
    }


def _refusal_reason(part: Mapping[str, Any]) -> str | None:
    """Return the reason why the AI SDK did not hand the call to a tool; None for other calls."""
    given = read_object(read_object(part.get("state")).get("input"))
    return read_text(given.get("error")) if part.get("tool") == REFUSED_CALL else None


def _refused_arguments(error: str) -> dict[str, Any]:
    """Return the fields of a refused call: the layer, the reason and the arguments quoted in the reason."""
    told: dict[str, Any] = {"refused_by_harness": _find_layer(error), "harness_message": error}
    raw = _quoted_text(error, _NOT_JSON)
    if raw is not None:
        return {**told, "raw_arguments": raw, "args_source": ArgsSource.RAW}
    value = _quoted_text(error, _NOT_VALID)
    try:
        return {**told, **decoded_argument_fields(None if value is None else orjson.loads(value))}
    except json.JSONDecodeError:
        return {**told, "args_source": ArgsSource.MISSING}


def _quoted_text(error: str, words: str) -> str | None:
    """Return the text that an error quotes after `words`; None when it quotes none.

    The quotation may contain its own end mark, so it runs to the last end mark of the error.
    """
    begins, ends = error.find(words), error.rfind(_QUOTE_ENDS)
    return error[begins + len(words) : ends] if 0 <= begins < ends else None


def _find_layer(error: str) -> FaultLayer:
    return FaultLayer.SYNTAX if _NOT_JSON in error else FaultLayer.SCHEMA


def result_fields(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of `ResultSeen` for a tool part; None where the call has no result yet."""
    state = read_object(part.get("state"))
    content = read_text(state.get("output")) or read_text(state.get("error"))
    error = _refusal_reason(part)
    if error is not None:
        flag = failed_flag(error, _find_layer(error), FlagSource.DERIVED_TEXT)
    elif state.get("status") == "error":
        flag = failed_flag(content or "", find_layer(content or "", _TEXTS) or FaultLayer.EXECUTION)
    elif state.get("status") == "completed":
        flag = _completed_flag(read_object(state.get("metadata")).get("exit"), content or "")
    else:
        return None
    return {"status": flag.status, "flag_source": flag.source, "content": content, **flag.facts}


def _completed_flag(code: Any, content: str) -> ResultFlag:
    if isinstance(code, int) and code:
        return failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE)
    stopped = _TIMEOUT.search(content[-_TAIL:])
    if stopped is None:
        return PASSED
    by_user = stopped.group(1) == "User aborted"
    layer = FaultLayer.REFUSED if by_user else FaultLayer.EXECUTION
    return failed_flag(content[-_TAIL:], layer, FlagSource.DERIVED_TEXT)
