"""Finds results that are a failure envelope: an object in which the tool itself reports a failure.

Many tools return a failure as a value, which the agent treats as a success: `{"success": false, "error": "no
such city"}`. Such a call failed, whatever flag the log has. Other tools return the same words as data, for
example in a health check. So an object counts as an envelope only if it is the whole result and has one of
these fields at the top level:

- `success` or `ok` is the boolean false, and the object has an error text or no other content;
- `status` is the text "error", and the other fields contain only codes and texts of the error.

If the log marks the result of a shell tool as a success, the result stays a success, because a command's
output is data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from ingest.events import FaultLayer, FlagSource, ResultSeen, ResultStatus
from ingest.sessions.results.refusal_texts import find_refusal
from lenient import parse_arguments

FIELDS = frozenset({"success", "ok", "status"})
"""The fields of an envelope that report a failure of the tool."""

_MESSAGE = 500  # characters of an error text that are stored as the reason
# characters; a shorter result was not truncated, because the store keeps 2,000 characters
_MAY_BE_CUT = 1_900
_ERRORS = ("error", "errors", "error_message", "errorMessage")
_WORDS = (*_ERRORS, "message", "msg", "reason", "detail", "details")
_CODES = frozenset({"code", "error_code", "errorCode", "error_type", "errorType"})
_ABOUT_THE_ERROR = FIELDS | _CODES | frozenset(_WORDS)
_LIKELY = re.compile(
    r"[\"'](?:success|ok)[\"']\s*:\s*[fF]alse|[\"']status[\"']\s*:\s*[\"']error", re.IGNORECASE
)
# A truncated envelope is not valid JSON, so this pattern recognises its beginning.
_CUT = re.compile(r'\{\s*"(success|ok)"\s*:\s*false\s*,\s*"(?:error|error_message|errorMessage)"\s*:\s*"[^"]')
# Codex writes these lines before the result of an MCP tool.
_FRAME = re.compile(r"Wall time: [\d.]{1,20} seconds\nOutput:\n")
_PART = re.compile(r'\[\s*\{\s*"type"\s*:\s*"text"')
_SHELLS = re.compile(
    r"(?i)(?:(?:local|run|exec(?:ute)?)[_-]?)*(?:bash|shell|terminal|zsh|powershell|pwsh|cmd|command|commands)"
    r"(?:[_-]?(?:command|cmd|tool|v\d))*|exec|execute|run_terminal_cmd"
)
_STATUSES = {FlagSource.ABSENT: ResultStatus.UNKNOWN, FlagSource.EXPLICIT: ResultStatus.OK}
_SOURCES = {FlagSource.ABSENT: FlagSource.ENVELOPE, FlagSource.EXPLICIT: FlagSource.ENVELOPE_AGAINST_OK}
_ORIGINALS = {made: source for source, made in _SOURCES.items()}


class FailureRules(msgspec.Struct, frozen=True):
    """The fields by which a result counts as a failure: a default, and exceptions by patterns of tool names.

    The first pattern that matches the tool name applies.
    """

    fields: frozenset[str] = FIELDS
    tools: tuple[tuple[str, frozenset[str]], ...] = ()

    def judge(self, tool: str | None, result: ResultSeen) -> ResultSeen:
        """Return the result as a failure if its content is an envelope that counts as a failure for this
        tool.

        Otherwise return the result unchanged.
        """
        content = result.content
        source = result.flag_source
        if content is None or "{" not in content or _STATUSES.get(source) is not result.status:
            return result
        if _LIKELY.search(content) is None:
            return result
        own = next((fields for pattern, fields in self.tools if fnmatchcase(tool or "", pattern)), None)
        if own is None and source is FlagSource.EXPLICIT and _SHELLS.fullmatch(tool or ""):
            return result
        error = find_error(content, self.fields if own is None else own)
        if error is None:
            return result
        layer = find_refusal(error) or FaultLayer.EXECUTION
        status = ResultStatus.DENIED if layer is FaultLayer.REFUSED else ResultStatus.ERROR
        return replace(
            result, status=status, flag_source=_SOURCES[source], fault_layer=layer, message=error[:_MESSAGE]
        )


DEFAULT_RULES = FailureRules()


def find_error(content: str, fields: frozenset[str] = FIELDS) -> str | None:
    """Return the error message of an envelope. Return the whole content if the envelope has no error message.

    Return None if the content is not an envelope.
    """
    frame = _FRAME.match(content)
    text = (content[frame.end() :] if frame else content).strip()
    if _PART.match(text):
        text = _read_part(text)
    if not text.startswith("{"):
        return None
    value = _read_object(text)
    if value is None:
        cut = _CUT.match(text) if len(text) >= _MAY_BE_CUT else None
        return text if cut and cut[1] in fields else None
    if not any(_says_failed(value, field) for field in fields):
        return None
    return _error_text(value) or text


def told_flag(status: ResultStatus, source: FlagSource) -> tuple[ResultStatus, FlagSource]:
    """Undo the change by `FailureRules.judge`. Return the status in the log and the source of this status."""
    original = _ORIGINALS.get(source)
    return (status, source) if original is None else (_STATUSES[original], original)


def _says_failed(value: Mapping[str, Any], field: str) -> bool:
    if field == "status":
        says_so = isinstance(value.get(field), str) and value[field].lower() == "error"
    else:
        says_so = value.get(field) is False
    if not says_so or value.get("success") is True or value.get("ok") is True:
        return False
    is_alone = all(name in _ABOUT_THE_ERROR or not member for name, member in value.items())
    return is_alone or (field != "status" and any(value.get(name) for name in _ERRORS))


def _error_text(value: Mapping[str, Any]) -> str | None:
    error = next((value[name] for name in _WORDS if value.get(name)), None)
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        error = error["message"]
    return error if error is None or isinstance(error, str) else orjson.dumps(error).decode()


def _read_object(text: str) -> Mapping[str, Any] | None:
    """Return the object in a string of JSON or in a printed Python dict. Return None for other strings."""
    try:
        value = orjson.loads(text)
    except ValueError:
        if not text.endswith("}"):
            return None
        read = parse_arguments(text)
        is_certain = all(diagnostic.severity == "note" for diagnostic in read.diagnostics)
        value = read.arguments if is_certain else None
    return value if isinstance(value, dict) else None


def _read_part(text: str) -> str:
    try:
        parts = orjson.loads(text)
    except ValueError:
        return ""
    content = parts[0].get("text") if len(parts) == 1 and isinstance(parts[0], dict) else None
    return content.strip() if isinstance(content, str) else ""
