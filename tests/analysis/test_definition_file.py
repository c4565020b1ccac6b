"""Tests edits of a tool's definition inside the user's own file."""

from __future__ import annotations

import difflib
import json
from typing import Any

import pytest

from callgauge.analysis.replay.definition_file import FileEditError, edit_text
from callgauge.analysis.replay.fix_results import DefinitionChange, DefinitionFix, EditKind, ToolFixes
from lenient import ToolCatalog

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "description": "How many."},
        "order": {"type": "string", "enum": ["a", "b"]},
        "trace": {"type": "boolean"},
    },
    "required": ["limit"],
}
PLACE = ("schema", "properties")
FIXES = (
    DefinitionFix(
        EditKind.TYPE,
        "limit",
        (DefinitionChange((*PLACE, "limit", "type"), ("integer",), (["integer", "string"],)),),
    ),
    DefinitionFix(
        EditKind.ENUM, "order", (DefinitionChange((*PLACE, "order", "enum", 2), (), ("c",)),), ('"c"',)
    ),
    DefinitionFix(EditKind.DROP, "trace", (DefinitionChange((*PLACE, "trace"), ({"type": "boolean"},), ()),)),
)
RESULT = ToolFixes("search", "Finds.", SCHEMA, fixes=FIXES)
OTHER = {"name": "other", "description": "é", "input_schema": {"type": "object", "properties": {}}}
NAMED = {"name": "search", "description": "Finds."}
SHAPES: dict[str, Any] = {
    "anthropic": [OTHER, {"name": "search", "description": "Finds.", "input_schema": SCHEMA}],
    "openai": {"tools": [{"type": "function", "function": {**NAMED, "parameters": SCHEMA}}]},
    "mcp": {"result": {"tools": [{"name": "search", "description": "Finds.", "inputSchema": SCHEMA}, OTHER]}},
    "bedrock": {"toolConfig": {"tools": [{"toolSpec": {**NAMED, "inputSchema": {"json": SCHEMA}}}]}},
    "map": {"search": {**SCHEMA, "description": "Finds."}},
    "plain": {"title": "search", "description": "Finds.", **SCHEMA},
    "named by the file": SCHEMA,
}  # fmt: skip


@pytest.mark.parametrize("indent", [2, 4, "\t", None])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_edits_are_made_in_every_shape_and_everything_else_stays(shape: str, indent: Any) -> None:
    text = json.dumps(SHAPES[shape], indent=indent, ensure_ascii=False)
    edit = edit_text(text, RESULT, "search")
    assert (len(edit.applied), edit.unfit) == (3, ())
    catalog = ToolCatalog.load(json.loads(edit.text)) if shape != "named by the file" else None
    tool = catalog.get("search") if catalog else None
    properties = (tool.schema or {})["properties"] if tool else json.loads(edit.text)["properties"]
    assert properties == {
        "limit": {"type": ["integer", "string"], "description": "How many."},
        "order": {"type": "string", "enum": ["a", "b", "c"]},
    }
    if indent:
        lines = list(difflib.unified_diff(text.splitlines(), edit.text.splitlines(), n=0, lineterm=""))[2:]
        assert sum(line[0] == "+" for line in lines) <= 4
        assert sum(line[0] == "-" for line in lines) <= 6


def test_line_ends_and_escapes_of_the_file_stay() -> None:
    text = (
        '[\r\n  {"name": "search", "note": "\\u00e9", "input_schema":\r\n    '
        + json.dumps(SCHEMA)
        + "}\r\n]\r\n"
    )
    edit = edit_text(text, RESULT, "x")
    assert edit.text.count("\r\n") == text.count("\r\n")
    assert "\\u00e9" in edit.text


def test_an_edit_that_does_not_fit_is_left_out_and_named() -> None:
    schema = json.loads(json.dumps(SCHEMA))
    schema["properties"]["limit"]["type"] = "number"
    del schema["properties"]["trace"]
    edit = edit_text(json.dumps({"name": "search", "input_schema": schema}), RESULT, "x")
    assert edit.differs
    assert [fix.kind for fix in edit.applied] == [EditKind.ENUM]
    assert [fix.kind for fix in edit.unfit] == [EditKind.TYPE, EditKind.DROP]


def test_the_same_definition_does_not_differ() -> None:
    assert not edit_text(json.dumps(SHAPES["openai"]), RESULT, "x").differs
    assert not edit_text(json.dumps(SHAPES["plain"]), RESULT, "x").differs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("def search(): ...", "it is not JSON"),
        ('{"a": 1,}', "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[1] x", "it is not JSON"),
        ("[]", "it has no tool 'search'"),
        (json.dumps([OTHER]), "it has no tool 'search'"),
        (json.dumps([*SHAPES["anthropic"], *SHAPES["anthropic"]]), "it defines the tool 'search' 2 times"),
        ('{"name": "search", "parameters": "{}"}', "are not a JSON object"),
    ],
)
def test_a_text_that_cannot_be_edited_is_refused(text: str, words: str) -> None:
    with pytest.raises(FileEditError, match=words.replace("(", r"\(")):
        edit_text(text, RESULT, "x")
