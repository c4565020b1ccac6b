"""Tests the repair of realistic damaged arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lenient import ToolDefinition, parse_arguments
from lenient.diagnostics.codes import Stage

OBJECTS: list[dict[str, Any]] = [
    {"path": "src/app.py", "content": 'def main():\n    print("hello")\n    return {"a": 1}\n'},
    {"path": "a.html", "content": '<a class="x" href="/y?a=1&b=2">go</a>\n', "append": False},
    {"content": '{\n  "name": "demo",\n  "scripts": {"build": "tsc"}\n}\n', "path": "package.json"},
    {"command": "git commit -m \"fix: a, b\" && echo '$HOME' | awk '{print $1}'", "timeout": 30},
    {"command": 'for f in *.py; do echo "$f"; done', "description": "It's a loop: print, then stop"},
    {"pattern": 'def \\w+\\(self, "x"\\)', "path": "C:\\Users\\dev", "limit": 5},
    {"query": "SELECT \"n\" FROM t WHERE a = 'b' AND c IN (1, 2)", "params": [1, "two", None, True]},
    {"todos": [{"content": 'Fix "it"', "status": "open"}, {"content": "a, b: c", "status": "done"}]},
    {"title": "会议：预算", "location": {"name": "上海", "lat": -1.5}, "attendees": ["Ann", "Bob"]},
]


def written(value: Any, *, key: str = '"{}": ', comma: str = ", ", end: str = "") -> str:
    """Return the value as JSON. The arguments set the form of keys and commas, and the characters before a
    closing brace.
    """
    if isinstance(value, dict):
        members = (key.format(name) + written(item, key=key, comma=comma) for name, item in value.items())
        return "{" + comma.join(members) + end + "}"
    if isinstance(value, list):
        return "[" + comma.join(written(item, key=key, comma=comma) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def first_key(value: dict[str, Any], form: str) -> str:
    """Return the value as JSON whose last key is written in this form."""
    name = list(value)[-1]
    return written(value).replace(f'"{name}": ', form.format(name), 1)


DAMAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "inner quotes are not escaped": lambda value: written(value).replace('\\"', '"'),
    "neither inner quotes nor line ends are escaped": lambda value: (
        written(value).replace('\\"', '"').replace("\\n", "\n")
    ),
    "Python's form": repr,
    "keys without quotes": lambda value: written(value, key="{}: "),
    "a comma too many": lambda value: written(value, end=","),
    "no commas": lambda value: written(value, comma=" "),
    "no commas at line ends": lambda value: written(value, comma="\n"),
    "no colons": lambda value: written(value, key='"{}" '),
    "an arrow for a colon": lambda value: written(value, key='"{}" => '),
    "full-width punctuation": lambda value: written(value, key='"{}"：', comma="，"),
    "comments with quotes and braces": lambda value: written(value, comma=', // it\'s "x": {\n'),
    "the last key without its first quote": lambda value: first_key(value, '{}": '),
    "the last key without its last quote": lambda value: first_key(value, '"{}: '),
    "the last key with its colon inside": lambda value: first_key(value, '"{}:" '),
    "the last key with a quote too many": lambda value: first_key(value, '"{}"": '),
    "the first brace is missing": lambda value: written(value)[1:],
    "the last brace is missing": lambda value: written(value)[:-1],
    "a brace too many": lambda value: written(value) + "}",
    "a bracket for the last brace": lambda value: written(value)[:-1] + "]",
    "a quote before the object": lambda value: '"' + written(value),
    "encoded twice": lambda value: json.dumps(json.dumps(written(value))),
    "escaped without a string around": lambda value: json.dumps(written(value))[1:-1],
    "a fence and narration": lambda value: f"Here it is:\n```json\n{written(value)}\n```\nDone.",
}


@pytest.mark.parametrize("known", [True, False], ids=["with a definition", "without one"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_object_comes_back_whole(damage: str, known: bool) -> None:
    for intended in OBJECTS:
        schema = {"type": "object", "properties": {name: {} for name in intended}}
        tool = ToolDefinition.from_json_schema(name="tool", schema=schema) if known else None
        request = parse_arguments(DAMAGES[damage](intended), tool)
        assert request.arguments == intended
        assert request.parse_error is None


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(OBJECTS),
    st.sampled_from(sorted(DAMAGES)),
    st.integers(0, 300),
    st.sampled_from(["", '"', "'", "{", "}", "]", ",", ":", "\\", "\n", "\u200b", "”"]),
)
def test_no_text_is_mended_without_a_word(value: dict[str, Any], damage: str, at: int, put: str) -> None:
    text = DAMAGES[damage](value)
    text = text[: at % len(text)] + put + text[at % len(text) + 1 :]
    try:
        json.loads(text)
    except ValueError:
        request = parse_arguments(text)
        mends = [
            diagnostic
            for diagnostic in request.diagnostics
            if diagnostic.stage in (Stage.UNWRAP, Stage.REPAIR)
        ]
        assert mends
