"""Examples for the playground, one for each typical fault, with the tool definition.

EXAMPLES are raw arguments, and REPLIES are whole replies of a model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PlaygroundExample:
    title: str
    raw: str
    definition: str


def _tool_text(name: str, required: list[str], properties: dict[str, Any]) -> str:
    lines = ",\n".join(f"      {json.dumps(key)}: {json.dumps(schema)}" for key, schema in properties.items())
    return (
        f'{{\n  "name": "{name}",\n  "input_schema": {{\n    "type": "object",\n'
        f'    "properties": {{\n{lines}\n    }},\n    "required": {json.dumps(required)}\n  }}\n}}'
    )


_SEARCH = _tool_text(
    "search_docs",
    ["query"],
    {
        "query": {"type": "string"},
        "top_k": {"type": "integer"},
        "exact": {"type": "boolean"},
        "section": {"type": "string", "enum": ["guide", "api", "blog"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
)
_FILE = _tool_text(
    "write_file", ["path", "content"], {"path": {"type": "string"}, "content": {"type": "string"}}
)
_TICKET = _tool_text(
    "create_ticket",
    ["title", "fields"],
    {
        "title": {"type": "string"},
        "fields": {
            "type": "object",
            "properties": {"priority": {"type": "integer"}, "due": {"type": "string", "format": "date-time"}},
            "required": ["priority"],
        },
    },
)
_CLOSED = json.dumps(
    {
        "name": "read_file",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
    indent=2,
)

EXAMPLES = (
    PlaygroundExample("Clean", '{"query": "retry policy", "top_k": 5, "exact": false}', _SEARCH),
    PlaygroundExample(
        "Values of another type",
        '{"query": "retry policy", "top_k": "5", "exact": "True", "tags": "api"}',
        _SEARCH,
    ),
    PlaygroundExample(
        "In a code fence, with words around it",
        'I will search the docs.\n```json\n{"query": "retry policy", "top_k": 5}\n```\n',
        _SEARCH,
    ),
    PlaygroundExample(
        "Single quotes, Python words, trailing comma",
        "{'query': 'it\\'s broken', 'exact': True, 'top_k': None,}",
        _SEARCH,
    ),
    PlaygroundExample(
        "An object sent as a string",
        json.dumps({"title": "Login fails", "fields": json.dumps({"priority": "2"})}),
        _TICKET,
    ),
    PlaygroundExample(
        "Encoded as a string, twice",
        json.dumps(json.dumps('{"query": "retry policy", "top_k": 5}')),
        _SEARCH,
    ),
    PlaygroundExample(
        "Cut off in the middle of a string",
        '{"path": "notes/today.md", "content": "First line\\nSecond li',
        _FILE,
    ),
    PlaygroundExample(
        "Unescaped quotes inside a string", '{"path": "a.md", "content": "She wrote "stop" and left"}', _FILE
    ),
    PlaygroundExample("A value outside the enum", '{"query": "retry policy", "section": "Guides"}', _SEARCH),
    PlaygroundExample("A required parameter is missing", '{"querry": "retry policy", "top_k": 3}', _SEARCH),
    PlaygroundExample(
        "A parameter that the definition forbids", '{"path": "a.md", "mode": "append"}', _CLOSED
    ),
    PlaygroundExample("Not a call at all", "Sure! I have searched the docs and found three pages.", _SEARCH),
    PlaygroundExample(
        "Hostile text, and a parameter that is not declared",
        '{"query": "<img src=x onerror=alert(1)> **bold** \u202egnp.exe", "top_k": 5, "__proto__": {"x": 1}}',
        _SEARCH,
    ),
)

REPLIES = (
    PlaygroundExample(
        "Two calls between a dialect's tags",
        "I will look at both.\n"
        '<tool_call>\n{"name": "search_docs", "arguments": {"query": "retry policy", "top_k": "5"}}\n'
        "</tool_call>\n"
        '<tool_call>\n{"name": "search_docs", "arguments": {"query": "back off",}}\n</tool_call>',
        _SEARCH,
    ),
    PlaygroundExample(
        "A call that was written out instead of made",
        'I\'ll save that now:\n\n```json\n{"name": "write_file", "arguments": '
        '{"path": "notes.md", "content": "Call back."}}\n```\n',
        _FILE,
    ),
    PlaygroundExample(
        "Two Python calls, the second cut off",
        '[search_docs(query="retry policy", top_k=5), search_docs(query="back o',
        _SEARCH,
    ),
    PlaygroundExample(
        "An answer that only speaks of a call",
        'You would send `{"name": "search_docs", "arguments": {"query": "x"}}` to the tool.',
        _SEARCH,
    ),
)
