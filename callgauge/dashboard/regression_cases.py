"""Writes a regression case that the test suite runs: a text, its definitions, and what the parser finds.

The file is a list of one case in the format of `tests/cases/lenient/README.md`: dropped into that folder it
is a test as it is. What the test expects is what the parser of this installation finds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lenient import (
    Diagnostic,
    TextCall,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    extract_tool_calls,
    leaked_tool_calls,
    parse_arguments,
)

_NAMED = 3  # codes that the name of a case lists


def case_json(raw: str | bytes, tool: ToolDefinition | None = None) -> str:
    """The case of one call's arguments."""
    request = parse_arguments(raw, tool)
    codes = [found.code for found in request.diagnostics]
    case: dict[str, Any] = {"name": _case_name(tool.name if tool else "arguments", request.outcome, codes)}
    case |= {"raw_hex": raw.hex()} if isinstance(raw, bytes) else {"raw": raw}
    if tool is not None:
        case["tool"] = tool.to_anthropic()
    return _case_file(case | expected_outcome(request))


def text_case_json(
    text: str, tools: Sequence[ToolDefinition] = (), *, told: str | None = None, leaked: bool = False
) -> str:
    """The case of the calls in a model's text; `leaked`: only those that should have been native."""
    catalog = ToolCatalog.from_definitions(tools) if tools else None
    calls = leaked_tool_calls(text, catalog) if leaked else extract_tool_calls(text, catalog, dialect=told)
    case: dict[str, Any] = {
        "name": _case_name("text", "calls", [call.dialect for call in calls]),
        "text": text,
    }
    if tools:
        case["tools"] = [tool.to_anthropic() for tool in tools]
    if leaked:
        case["leaked"] = True
    elif told is not None:
        case["told"] = told
    return _case_file(case | {"calls": [expected_call(call) for call in calls]})


def expected_outcome(request: ToolCallRequest) -> dict[str, Any]:
    """What a case expects of a request."""
    result = {
        "arguments": to_plain(request.arguments),
        "outcome": request.outcome.value,
        "diagnostics": [describe_finding(found) for found in request.diagnostics],
    }
    return result | ({"rejected": to_plain(dict(request.rejected))} if request.rejected else {})


def expected_call(call: TextCall) -> dict[str, Any]:
    """What a case expects of a call in text."""
    raw = call.request.raw_arguments
    fields: dict[str, Any] = {"dialect": call.dialect, "name": call.name, "span": [call.start, call.end]}
    fields["complete"] = call.complete
    if call.request.tool_call_id is not None:
        fields["id"] = call.request.tool_call_id
    if call.offset is None and raw:
        fields["built"] = raw
    if call.diagnostics:
        fields["around"] = [describe_finding(found) for found in call.diagnostics]
    return fields | expected_outcome(call.request)


def describe_finding(found: Diagnostic) -> dict[str, Any]:
    """One diagnostic as a case file writes it; fields that say nothing are left out."""
    span = None if found.start is None else [found.start, found.end]
    fields = {
        "code": found.code,
        "path": found.path,
        "span": span,
        "detail": found.detail,
        "hint": found.hint,
    }
    return {key: value for key, value in fields.items() if value is not None}


def to_plain(value: Any) -> Any:
    """A value as a case file writes it: timestamps in ISO 8601."""
    return json.loads(json.dumps(value, default=datetime.isoformat))


def _case_name(subject: str, what: str, found: Sequence[str]) -> str:
    several = list(dict.fromkeys(found))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return f"{subject}: {what}, {', '.join(several[:_NAMED]) or 'nothing found'}{more}"


def _case_file(case: dict[str, Any]) -> str:
    """In the one spelling of case files; half characters, which no file can hold, stay escaped."""
    written = json.dumps([case], indent=2, ensure_ascii=False) + "\n"
    try:
        written.encode()
    except UnicodeEncodeError:
        written = json.dumps([case], indent=2) + "\n"
    return written
