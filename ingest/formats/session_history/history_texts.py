"""Reads verdicts on calls from the texts and status words of a session history.

The texts are those that programs have written into this log (docs/session-log.md) since its first version.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ingest.events import FaultLayer, FlagSource, ResultStatus
from lenient.regex import compile_regex


class UnparsedCall(msgspec.Struct, frozen=True):
    """A tool call whose arguments were not JSON: the JSON parser's error message and the arguments."""

    message: str
    raw: str


class CallVerdict(msgspec.Struct, frozen=True):
    """The status of a tool call, the source of the status, and the failure stage."""

    status: ResultStatus
    flag_source: FlagSource
    layer: FaultLayer | None = None


_MARK = "[tool_use parse error] "
_UNPARSED = compile_regex(r"^\[tool_use parse error\] ", re.MULTILINE)
_CALL_FAILED = "LLM call failed: "
# The error messages of JavaScriptCore, V8 and Python for text that is not JSON.
_JSON_ENGINE = compile_regex(
    r"JSON Parse error: |Unexpected (token|end of JSON|non-whitespace)"
    r"|is not valid JSON|Unterminated string in JSON|(Expected|Bad) .{1,80} in JSON at position"
    r"|Expecting (value|',' delimiter|property name)|Unterminated string starting at"
)
_OVER_LIMIT = compile_regex(r"Context tokens \(\d{1,12}\) exceed the limit")
# The parser read the provider's HTML error page, not the model's text.
_WEB_PAGE = compile_regex(r"(Unexpected|Unrecognized) token '?<")

DENIED = CallVerdict(ResultStatus.DENIED, FlagSource.EXPLICIT, FaultLayer.REFUSED)
_SCHEMA = CallVerdict(ResultStatus.ERROR, FlagSource.EXPLICIT, FaultLayer.SCHEMA)
_FAILED = CallVerdict(ResultStatus.ERROR, FlagSource.EXPLICIT, FaultLayer.EXECUTION)
_STATUS = {
    "success": CallVerdict(ResultStatus.OK, FlagSource.EXPLICIT),
    "approval_denied": DENIED,
    "policy_denied": DENIED,
    "sandbox_denied": DENIED,
    "cancelled": DENIED,
    "input_unparsable": CallVerdict(ResultStatus.ERROR, FlagSource.EXPLICIT, FaultLayer.SYNTAX),
    "tool_not_found": _SCHEMA,
    "input_invalid": _SCHEMA,
    "tool_rejected": CallVerdict(ResultStatus.ERROR, FlagSource.EXPLICIT, FaultLayer.TOOL_REJECTED),
    "execution_failed": _FAILED,
}
STATUS_WORDS = tuple(_STATUS)

_PREFIX = compile_regex(r"(Tool execution failed: |Error: |AI_\w{1,60}: )*")
_NOT_JSON = compile_regex(
    r"Invalid input for tool \S{1,200}: JSON parsing failed|JSON parsing failed|invalid JSON"
)
_NOT_AS_DEFINED = compile_regex(
    r"Unknown tool: |Model tried to call unavailable tool|Invalid input for tool|Invalid arguments"
    r"|Type validation failed|\S{1,200} invalid input: "
)

_TURN_OK = {"ok": True, "error": False, "prompt_limit": False, "max_steps": False}


def split_unparsed(content: str) -> tuple[list[UnparsedCall], str]:
    """Return the unparsable tool calls that an answer reports, and the answer's text before them.

    Each report begins with `[tool_use parse error]`. The raw text of a call extends to the next report.
    """
    # Most answers contain no report. This check takes a twentieth of the pattern's time.
    if _MARK not in content:
        return [], content
    starts = [match.start() for match in _UNPARSED.finditer(content)]
    if not starts:
        return [], content
    blocks = [content[start:end] for start, end in zip(starts, [*starts[1:], len(content)], strict=True)]
    return [_read_unparsed(block.removesuffix("\n")) for block in blocks], content[: starts[0]].rstrip("\n")


def _read_unparsed(block: str) -> UnparsedCall:
    message, _, raw = block.removeprefix(_MARK).partition("; raw: ")
    return UnparsedCall(message, raw)


def read_observation(status: str | None, content: str) -> CallVerdict:
    """Return the verdict of an observation according to its status word.

    If the status word is missing or unknown, the verdict depends on the text. The few failure texts of the
    log's first version are recognised.
    """
    verdict = _STATUS.get(status or "")
    if verdict is _FAILED and (layer := _find_layer_in(content)) is not None:
        # The AI SDK reports invalid arguments as failed executions; only the text shows the difference.
        return CallVerdict(verdict.status, verdict.flag_source, layer)
    if verdict is not None:
        return verdict
    layer = _find_layer_in(content) or (
        FaultLayer.EXECUTION if content.startswith("Tool execution failed: ") else None
    )
    if layer is not None:
        return CallVerdict(ResultStatus.ERROR, FlagSource.DERIVED_TEXT, layer)
    return CallVerdict(ResultStatus.UNKNOWN, FlagSource.ABSENT)


def _find_layer_in(content: str) -> FaultLayer | None:
    prefix = _PREFIX.match(content)
    text = content[prefix.end() :] if prefix else content
    if _NOT_JSON.match(text):
        return FaultLayer.SYNTAX
    return FaultLayer.SCHEMA if _NOT_AS_DEFINED.match(text) else None


def find_unparsable_call(answer: str) -> str | None:
    """Return the JSON error in a turn's final text which reports that a model call failed.

    Return None for any other text.
    """
    message = answer.removeprefix(_CALL_FAILED)
    blames_arguments = _JSON_ENGINE.search(message) and not _WEB_PAGE.search(message)
    return message if message != answer and blames_arguments else None


def is_failure_text(answer: str) -> bool:
    """Return True for a final text that the agent program wrote because the model gave no answer."""
    return answer.startswith((_CALL_FAILED, "Unable to produce a final answer.")) or bool(
        _OVER_LIMIT.match(answer)
    )


def read_turn_status(status: str | None) -> bool | None:
    """Return True for a successful turn, False for a failed turn, and None for any other status.

    `cancelled` gives None, because the user made this choice.
    """
    return _TURN_OK.get(status or "")


def find_arguments(content: str, tool: str | None, value: Any) -> str | None:
    """Return the text of the arguments in an answer that is itself the tool call, `{"tool": …, "input": …}`.

    Return None unless the answer contains exactly one such object, with `tool` as the tool and `value` as the
    input.
    """
    calls = [(start, call) for start, call in _find_objects(content) if isinstance(call.get("tool"), str)]
    if len(calls) != 1:
        return None
    start, call = calls[0]
    if call["tool"] != tool or "input" not in call or call["input"] != value:
        return None
    return _member_text(content, start, "input")


_TRIES = 20  # maximum number of opening braces that are tried; an answer that is a call has only a few
_DECODER = json.JSONDecoder()


def _find_objects(content: str) -> list[tuple[int, dict[str, Any]]]:
    """Return (start, value) of the outermost JSON objects in a text."""
    objects: list[tuple[int, dict[str, Any]]] = []
    start = content.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(content, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            objects.append((start, value))
        start = content.find("{", end)
    return objects


_GAP = compile_regex(r"[ \t\n\r,:]*")


def _member_text(content: str, start: int, name: str) -> str | None:
    """Return the value of the member `name` as written in the valid JSON object at `start`.

    Return None when the member is missing or occurs twice.
    """
    members: list[str] = []
    at = _skip_gap(content, start + 1)
    while content[at] != "}":
        key, at = _DECODER.raw_decode(content, at)
        at = _skip_gap(content, at)
        _, end = _DECODER.raw_decode(content, at)
        if key == name:
            members.append(content[at:end])
        at = _skip_gap(content, end)
    return members[0] if len(members) == 1 else None


def _skip_gap(content: str, at: int) -> int:
    gap = _GAP.match(content, at)
    return gap.end() if gap else at
