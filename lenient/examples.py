"""The example of a code, run: what a page of documentation shows and what a test holds true."""

from __future__ import annotations

from lenient.calls import extract_tool_calls
from lenient.codes import Code
from lenient.parse import parse_arguments
from lenient.request import ToolCallRequest
from lenient.tools import ToolCatalog, ToolDefinition


def run_example(code: Code) -> ToolCallRequest:
    """Parse the example of a code as its row says."""
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
        return extract_tool_calls(example.raw, ToolCatalog.of([tool] if tool else []))[0].request
    if example.called is not None and tool is not None:
        return parse_arguments(example.raw, ToolCatalog.of([tool]), tool_name=example.called)
    request = parse_arguments(example.raw, tool)
    return request.with_defaults() if example.with_defaults else request
