"""One tool part of an OpenCode message in, what its call and its result say out; keeps no state."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from ingest.events import ArgsSource, FaultLayer, FlagSource, Seen, Strategy
from ingest.fields import table, text
from ingest.shapes.chat import Flag
from ingest.shapes.dialogue import decoded
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in

REFUSED_CALL = "invalid"  # the tool that stands for a call which the AI SDK could not hand over
_NOT_JSON = re.compile(r"JSON parsing failed: Text: (.*)\.\nError message: ", re.DOTALL)
_NOT_VALID = re.compile(r"Type validation failed: Value: (.*)\.\nError message: ", re.DOTALL)

_TEXTS: Texts = (
    (FaultLayer.SCHEMA, re.compile(r"The \S{1,200} tool was called with invalid arguments|MCP error -32602")),
    (
        FaultLayer.REFUSED,
        re.compile(
            r"The user (?:rejected permission|has specified a rule|dismissed this question)"
            r"|Tool execution aborted|Permission denied|Rule prevents tool usage"
        ),
    ),
    (
        FaultLayer.TOOL_REJECTED,
        re.compile(
            r"apply_patch verification failed|oldString |Could not find oldString|Found multiple matches"
            r"|No changes to apply|(?:Error: )?(?:Offset \d+ is out of range|File not found: )"
            r"|You must read (?:the )?file |File \S.{0,4000}? has been modified since"
        ),
    ),
)
_TIMEOUT = re.compile(r"<(?:bash|shell)_metadata>[^<]{0,400}(terminated command after|User aborted)")
_TAIL = 600  # characters at the end of an output in which the harness says why a command was stopped


def call_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `CallMade`."""
    given = table(part.get("state")).get("input")
    facts: dict[str, Any] = {
        "tool": text(part.get("tool")),
        "tool_call_id": text(part.get("callID")),
        "strategy": Strategy.TOOL_USE,
        "syntax_seen": Seen.FAILURES,
        "schema_seen": Seen.FAILURES,
        **decoded(given),
    }
    error = _refusal(part)
    if error is None:
        return facts
    return {**facts, "tool": text(table(given).get("tool")), "arguments": None, **_refused(error)}


def _refusal(part: Mapping[str, Any]) -> str | None:
    """The reason for which the AI SDK did not hand the call over."""
    given = table(table(part.get("state")).get("input"))
    return text(given.get("error")) if part.get("tool") == REFUSED_CALL else None


def _refused(error: str) -> dict[str, Any]:
    """What the model sent, out of the reason for which it was refused."""
    told: dict[str, Any] = {"refused_by_harness": _layer_of(error), "harness_message": error}
    if (found := _NOT_JSON.search(error)) is not None:
        return {**told, "raw_arguments": found.group(1), "args_source": ArgsSource.RAW}
    if (found := _NOT_VALID.search(error)) is not None:
        try:
            return {**told, **decoded(orjson.loads(found.group(1)))}
        except json.JSONDecodeError:
            pass
    return {**told, "args_source": ArgsSource.MISSING}


def _layer_of(error: str) -> FaultLayer:
    return FaultLayer.SYNTAX if "JSON parsing failed" in error else FaultLayer.SCHEMA


def result_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of `ResultSeen`; None where the call has no result yet."""
    state = table(part.get("state"))
    content = text(state.get("output")) or text(state.get("error"))
    error = _refusal(part)
    if error is not None:
        flag = failed(error, _layer_of(error), FlagSource.DERIVED_TEXT)
    elif state.get("status") == "error":
        flag = failed(content or "", layer_in(content or "", _TEXTS) or FaultLayer.EXECUTION)
    elif state.get("status") == "completed":
        flag = _completed(table(state.get("metadata")).get("exit"), content or "")
    else:
        return None
    return {"status": flag.status, "flag_source": flag.source, "content": content, **flag.facts}


def _completed(code: Any, content: str) -> Flag:
    if isinstance(code, int) and code:
        return failed(content, source=FlagSource.DERIVED_EXIT_CODE)
    stopped = _TIMEOUT.search(content[-_TAIL:])
    if stopped is None:
        return PASSED
    by_user = stopped.group(1) == "User aborted"
    layer = FaultLayer.REFUSED if by_user else FaultLayer.EXECUTION
    return failed(content[-_TAIL:], layer, FlagSource.DERIVED_TEXT)
