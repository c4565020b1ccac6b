"""Parses the example of a diagnostic code, for the documentation and the tests."""

from __future__ import annotations

from lenient.arguments.parse import parse_arguments
from lenient.arguments.request import ToolCallRequest
from lenient.calls import extract_tool_calls
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.diagnostics.codes import Code


def run_example(code: Code) -> ToolCallRequest:
    """Parse the example of a diagnostic code with the options of the example."""
    example = code.example
    tool = None
    if example.properties is not None:
        schema = {
            "type": "object",
            "properties": dict(example.properties),
            "required": list(example.required),
        }
        tool = ToolDefinition.from_json_schema(name="example", schema=schema)
    if example.is_text and isinstance(example.raw, str):
        call = extract_tool_calls(example.raw, ToolCatalog.from_definitions([tool] if tool else []))[0]
        return call.request._replace(diagnostics=(*call.diagnostics, *call.request.diagnostics))
    if example.called is not None and tool is not None:
        return parse_arguments(example.raw, ToolCatalog.from_definitions([tool]), tool_name=example.called)
    request = parse_arguments(example.raw, tool)
    return request.with_defaults() if example.with_defaults else request
