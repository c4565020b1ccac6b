"""Writes a regression case for the parser's tests: raw text, its tool definitions, and the parser's findings.

The file is a list of one case in the format of `tests/cases/lenient/README.md`. To add the case to the tests,
copy the file into that folder. The expected result is what the installed parser returns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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

_NAMED = 3  # maximum number of codes in the name of a case


def case_json(raw: str | bytes, tool: ToolDefinition | None = None) -> str:
    """Return the case file for the raw arguments of one tool call, parsed with the definition `tool`."""
    request = parse_arguments(raw, tool)
    codes = [diagnostic.code for diagnostic in request.diagnostics]
    case: dict[str, Any] = {"name": _case_name(tool.name if tool else "arguments", request.outcome, codes)}
    case |= {"raw_hex": raw.hex()} if isinstance(raw, bytes) else {"raw": raw}
    if tool is not None:
        case["tool"] = tool.to_anthropic(defaults=True)
    return _case_file(case | expected_outcome(request))


def text_case_json(
    text: str, tools: Sequence[ToolDefinition] = (), *, dialect: str | None = None, leaked: bool = False
) -> str:
    """Return the case file for the tool calls that a model wrote as text.

    `dialect` is the dialect that the model writes, or None. If `leaked` is True, find only the calls that
    should have been native tool calls, and ignore `dialect`.
    """
    catalog = ToolCatalog.from_definitions(tools) if tools else None
    calls = leaked_tool_calls(text, catalog) if leaked else extract_tool_calls(text, catalog, dialect=dialect)
    case: dict[str, Any] = {
        "name": _case_name("text", "calls", [call.dialect for call in calls]),
        "text": text,
    }
    if tools:
        case["tools"] = [tool.to_anthropic(defaults=True) for tool in tools]
    if leaked:
        case["leaked"] = True
    elif dialect is not None:
        case["told"] = dialect
    return _case_file(case | {"calls": [expected_call(call) for call in calls]})


def expected_outcome(request: ToolCallRequest) -> dict[str, Any]:
    """Return a case's fields with the expected arguments, outcome, diagnostics and rejected arguments."""
    result = {
        "arguments": request.arguments,
        "outcome": request.outcome.value,
        "diagnostics": [describe_finding(diagnostic) for diagnostic in request.diagnostics],
    }
    return result | ({"rejected": dict(request.rejected)} if request.rejected else {})


def expected_call(call: TextCall) -> dict[str, Any]:
    """Return the expected fields of a call that was written as text: dialect, name, span, and the fields of
    the call's request.
    """
    raw = call.request.raw_arguments
    fields: dict[str, Any] = {"dialect": call.dialect, "name": call.name, "span": [call.start, call.end]}
    fields["complete"] = call.complete
    if call.request.tool_call_id is not None:
        fields["id"] = call.request.tool_call_id
    if call.offset is None and raw:
        fields["built"] = raw
    if call.diagnostics:
        fields["around"] = [describe_finding(diagnostic) for diagnostic in call.diagnostics]
    return fields | expected_outcome(call.request)


def describe_finding(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic in the format of a case file. Fields that are None are left out."""
    span = None if diagnostic.start is None else [diagnostic.start, diagnostic.end]
    fields = {
        "code": diagnostic.code,
        "path": diagnostic.path,
        "span": span,
        "detail": diagnostic.detail,
        "hint": diagnostic.hint,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _case_name(subject: str, what: str, codes: Sequence[str]) -> str:
    several = list(dict.fromkeys(codes))
    more = f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    return f"{subject}: {what}, {', '.join(several[:_NAMED]) or 'nothing found'}{more}"


def _case_file(case: dict[str, Any]) -> str:
    """Return the content of a case file. Lone surrogates, which UTF-8 cannot encode, are escaped."""
    written = json.dumps([case], indent=2, ensure_ascii=False) + "\n"
    try:
        written.encode()
    except UnicodeEncodeError:
        written = json.dumps([case], indent=2) + "\n"
    return written
