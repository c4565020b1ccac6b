"""Reads the outcome of a call from the text of a tool's result in a Codex rollout.

Codex itself writes the outcome at the beginning of a result, in fixed sentences (openai/codex,
`codex-rs/core/src/tools`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_object
from ingest.events import FaultLayer, FlagSource, ResultStatus
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_result
from lenient.regex import compile_regex

# characters at the beginning (before 2025-09: at the end) of a result that state how a command ended
_HEAD = 400

_EXIT_CODE = FlagSource.DERIVED_EXIT_CODE

_FRAMED = compile_regex(r"Chunk ID: |Exit code: |Wall time: |Process (?:exited|running)")
_EXIT = compile_regex(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_WALL = compile_regex(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_OLD = compile_regex(
    r'"metadata":\{"exit_code":(-?\d{1,10}),"duration_seconds":(\d{1,9}(?:\.\d{1,9})?)\}\}\s*\Z'
)

_UNPARSED = "failed to parse function arguments"
# serde's messages for JSON that does not match a tool's Rust type. Other messages of serde mean invalid JSON.
_SCHEMA = compile_regex(
    r"missing field|unknown field|duplicate field|unknown variant|invalid (?:type|value|length)"
    r"|did not match any"
)
_TEXTS: Texts = (
    (FaultLayer.SCHEMA, compile_regex(r"unsupported (?:custom tool )?call: ")),
    (
        FaultLayer.REFUSED,
        compile_regex(
            r"(?:exec command |patch )?rejected by user|aborted(?: by user)?(?: after [\d.]+s)?\s*\Z"
            r"|patch rejected: |approval policy is |This action was rejected"
            r"|user (?:rejected|cancelled) MCP tool call|exec_command failed .{0,4000}?Rejected\(",
            re.DOTALL,
        ),
    ),
    (
        FaultLayer.TOOL_REJECTED,
        compile_regex(r"apply_patch (?:verification failed|handler received)|write_stdin failed: "),
    ),
    (
        FaultLayer.EXECUTION,
        compile_regex(
            r"exec_command failed|execution error|failed in sandbox|sandbox (?:error|denied)"
            r"|tool call error|command timed out"
        ),
    ),
)


def output_text(payload: Mapping[str, Any]) -> str | None:
    """Return the text of a result. Return None when the result has no text.

    The output is a string, a list of parts or, before 2025-09, an object.
    """
    output = payload.get("output")
    return join_result(read_object(output).get("content") if isinstance(output, dict) else output)


def read_flag(content: str, is_success: bool | None = None) -> ResultFlag:
    """Return the status of a tool result, according to its text and to the exit code in the text.

    `is_success` is the outcome that an earlier event reported, or None.
    """
    fault = _find_fault(content)
    if fault is not None:
        return failed_flag(content, fault, FlagSource.DERIVED_TEXT)
    code = _parse_exit_code(content)
    if code is not None and (code or is_success is None):
        return failed_flag(content, source=_EXIT_CODE) if code else ResultFlag(ResultStatus.OK, _EXIT_CODE)
    if is_success is not None:
        return PASSED if is_success else failed_flag(content)
    return ResultFlag()


def read_event_status(payload: Mapping[str, Any]) -> bool | None:
    """Return True or False if an event of Codex reports that the tool call succeeded or failed.

    Return None when the event reports no outcome.
    """
    success, code = payload.get("success"), payload.get("exit_code")
    if isinstance(success, bool):
        return success
    if isinstance(code, int):
        return code == 0
    result = payload.get("result")
    if isinstance(result, dict):
        return "Err" not in result and read_object(result.get("Ok")).get("isError") is not True
    return None


def parse_wall_time(content: str) -> float | None:
    """Return the tool call's duration in milliseconds, or None if the result does not state the duration."""
    match = _WALL.search(_command_head(content)) or _OLD.search(content[-_HEAD:])
    return round(float(match.group(match.lastindex or 1)) * 1000, 3) if match else None


def _find_fault(content: str) -> FaultLayer | None:
    if content.startswith(_UNPARSED):
        return FaultLayer.SCHEMA if _SCHEMA.search(content[:1000]) else FaultLayer.SYNTAX
    return find_layer(content, _TEXTS)


def _parse_exit_code(content: str) -> int | None:
    match = _EXIT.search(_command_head(content))
    if match is None and content.startswith('{"output":'):
        match = _OLD.search(content[-_HEAD:])
    return int(match.group(1)) if match else None


def _command_head(content: str) -> str:
    """Return the lines that Codex wrote before a command's output. Return '' for results of other tools."""
    if not _FRAMED.match(content):
        return ""
    return content[:_HEAD].split("\nOutput:", 1)[0]
