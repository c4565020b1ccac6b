"""Tests the checks of tool definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from lenient import (
    DEFINITION_CODES,
    DefinitionFinding,
    ToolCatalog,
    ToolDefinition,
    definition_findings,
    lint,
)
from lenient.diagnostics.codes import Severity
from lenient.lint import apply_edits
from lenient.lint.definition_codes import DefinitionCode
from lenient.lint.rules import find_listed_values
from tests.parser.strategies import definitions

ROWS = DEFINITION_CODES.values()


def findings(declared: Any) -> tuple[DefinitionFinding, ...]:
    return definition_findings(ToolCatalog.load(json.dumps(declared)))


def of_parameter(schema: Any, *, name: str = "value", required: bool = False) -> list[str]:
    """Return the diagnostic codes for a tool definition with one parameter of this schema."""
    described = {"description": "What it is.", **schema} if isinstance(schema, dict) else schema
    parameters = {"type": "object", "properties": {name: described}, "additionalProperties": False}
    if required:
        parameters["required"] = [name]
    tool = ToolDefinition.from_json_schema(name="example", description="Does it.", schema=parameters)
    return [finding.code for finding in definition_findings(tool)]


@pytest.mark.parametrize("code", ROWS, ids=DEFINITION_CODES)
def test_the_example_of_a_code_is_found_to_have_it(code: DefinitionCode) -> None:
    codes = {found.code for found in findings(code.example)}
    assert code.name in codes
    assert codes <= {code.name, "object_free_form"}


@pytest.mark.parametrize("code", ROWS, ids=DEFINITION_CODES)
def test_a_code_is_explained_in_sentences(code: DefinitionCode) -> None:
    assert re.fullmatch(r"[a-z_]+", code.name)
    for text in (code.summary, code.why, code.advice):
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".")


def test_every_code_is_emitted_by_a_check() -> None:
    sources = sorted(Path(lint.__file__).parent.glob("*.py"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources if path.name != "codes.py")
    assert {name for name in DEFINITION_CODES if f'"{name}"' not in text} == set()


def patched(target: Any, patch: Any) -> Any:
    """Return a value after a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def applied(declared: Any, finding: DefinitionFinding) -> Any:
    if finding.path is None:
        return patched(declared, finding.suggested)
    changed = json.loads(json.dumps(declared))
    holder: Any = changed
    steps = ["input_schema", *(step for name in finding.path.split(".")[1:] for step in ("properties", name))]
    for step in steps[:-1]:
        holder = holder[step]
    holder[steps[-1]] = patched(holder[steps[-1]], finding.suggested)
    return changed


PATCHED = [
    (code.example, finding)
    for code in ROWS
    for finding in findings(code.example)
    if isinstance(finding.suggested, Mapping)
]


@pytest.mark.parametrize(("declared", "found"), PATCHED, ids=[finding.code for _, finding in PATCHED])
def test_a_suggested_patch_takes_the_finding_away(declared: Any, found: DefinitionFinding) -> None:
    after = findings(applied(declared, found))
    assert (found.code, found.path) not in {(finding.code, finding.path) for finding in after}


FOLDER = {
    "type": "object",
    "properties": {
        "kind": {"const": "folder", "description": "A folder."},
        "path": {"type": "string", "description": "Its path."},
    },
    "required": ["kind", "path"],
    "additionalProperties": False,
}
EVERYWHERE = {
    "type": "object",
    "properties": {"kind": {"const": "all", "description": "Everywhere."}},
    "required": ["kind"],
    "additionalProperties": False,
}


def test_a_sound_definition_is_left_in_peace() -> None:
    tool = {
        "name": "search_files",
        "description": "Find files by name. Returns at most `limit` paths.",
        "input_schema": {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A glob, such as `*.py`; must be relative.",
                            "examples": ["*.py"]},
                "mode": {"enum": ["fast", "exact"], "description": "How to look.", "default": "fast"},
                "limit": {"type": "integer", "description": "How many paths at most.", "default": 10},
                "since": {"type": "string", "format": "date-time", "description": "Not older than this."},
                "wait_seconds": {"type": "number", "description": "How long to wait."},
                "target": {"description": "Where to look.", "oneOf": [FOLDER, EVERYWHERE]},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    }  # fmt: skip
    assert [finding.message for finding in findings(tool)] == []


@pytest.mark.parametrize(
    ("described", "values"),
    [
        ("One of: a, b, c.", ["a", "b", "c"]),
        ("The unit: one of 'metric', 'imperial'", ["metric", "imperial"]),
        ("Must be either `asc` or `desc`.", ["asc", "desc"]),
        ("Allowed values: low|medium|high", ["low", "medium", "high"]),
        ("Possible values are full-time, part-time, or none.", ["full-time", "part-time", "none"]),
        ("Options are standard, deluxe and suite (default standard)", ["standard", "deluxe", "suite"]),
        ("One of the folders of the user.", []),
        ("Either a path or the name of a file.", []),
        ("One of: red, green, etc.", []),
        ("Formats, for example one of: json, yaml, ...", []),
        ("Must be absolute.", []),
        ("Can be relative or absolute.", []),
        ("The values to add, parted by commas.", []),
    ],
)
def test_only_a_closed_list_in_prose_is_taken_for_an_enum(described: str, values: list[str]) -> None:
    assert find_listed_values(described) == values


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        ({"type": "string", "description": "The path of the file."}, []),
        ({"type": "string", "description": "The number of the house."}, ["number_as_text"]),
        ({"type": "string", "description": "Phone number of the user."}, []),
        ({"type": "string", "description": "Required parameter of the command `view`."}, []),
        ({"type": "string", "description": "This field is required."}, ["required_contradicted"]),
        ({"type": ["string", "null"], "description": "Whether to wait."}, ["boolean_as_text"]),
        ({"type": "boolean", "default": "false"}, ["default_unfit"]),
        ({"type": "string", "default": None}, []),
        ({"type": ["object", "null"], "additionalProperties": {"type": "string"}}, []),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, []),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, ["branches_overlap"]),
        ({"type": "any"}, ["type_unknown"]),
    ],
)
def test_what_is_found_about_one_parameter(schema: dict[str, Any], codes: list[str]) -> None:
    assert of_parameter(schema) == codes


@pytest.mark.parametrize(
    ("name", "schema", "codes"),
    [
        ("created_at", {"type": "string"}, ["format_missing"]),
        ("createdAt", {"type": "string"}, ["format_missing"]),
        ("date", {"type": "string", "description": "As YYYY-MM-DD."}, []),
        ("update", {"type": "string"}, []),
        ("timeout", {"type": "integer"}, ["unit_missing"]),
        ("timeout_ms", {"type": "integer"}, []),
        ("timeout", {"type": "integer", "description": "In milliseconds."}, []),
    ],
)
def test_a_name_promises_a_format_or_a_unit(name: str, schema: dict[str, Any], codes: list[str]) -> None:
    assert of_parameter(schema, name=name) == codes


def test_a_default_that_the_parser_would_convert_is_suggested_converted() -> None:
    schema = {"type": "boolean", "description": "A.", "default": "False"}
    parameters = {"type": "object", "additionalProperties": False, "properties": {"a": schema}}
    [finding] = findings({"name": "t", "description": "T.", "input_schema": parameters})
    assert (finding.code, finding.path, finding.suggested) == ("default_unfit", "$.a", {"default": False})
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith("t $.a: The default does not fit")


def test_a_place_is_found_through_references_and_lists() -> None:
    tool = {
        "name": "t",
        "description": "T.",
        "input_schema": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"a": {"type": "array", "description": "A.", "items": {"$ref": "#/$defs/item"}}},
            "$defs": {
                "item": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"next": {"$ref": "#/$defs/item"}, "b": {"type": "string"}},
                }
            },
        },
    }
    assert [(finding.code, finding.path) for finding in findings(tool)] == [
        ("parameter_description_missing", "$.a[].next"),
        ("parameter_description_missing", "$.a[].b"),
    ]


@pytest.mark.thorough
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tool=definitions)
def test_no_definition_makes_it_raise(tool: ToolDefinition) -> None:
    for finding in definition_findings(tool):
        assert finding.message
        assert finding.suggested
    assert tool.to_markdown()


# --- automatic edits


def edited(schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    tool = ToolDefinition.from_json_schema(name="example", description="Does it.", schema=schema)
    made, settled = apply_edits(tool)
    assert tool.to_json_schema() == schema
    return made.to_json_schema(), [finding.code for finding in settled]


def test_suggested_edits_are_made_where_they_settle_their_finding() -> None:
    mode = {"type": "string", "description": "The mode, one of: fast, exact, fuzzy."}
    count = {"type": "string", "description": "Number of results."}
    inner = {"type": "object", "properties": {"mode": mode}, "description": "How."}
    schema = {"type": "object", "properties": {"mode": mode, "how": inner, "limit": count}}
    made, codes = edited(schema)
    assert made["properties"]["mode"]["enum"] == ["fast", "exact", "fuzzy"]
    assert made["properties"]["how"]["properties"]["mode"]["enum"] == ["fast", "exact", "fuzzy"]
    assert made["properties"]["limit"]["type"] == "integer"
    assert sorted(codes) == ["enum_in_prose", "enum_in_prose", "number_as_text"]


def test_a_default_that_does_not_fit_is_taken_out_or_converted() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "default": "ten", "description": "A."},
            "b": {"type": "integer", "default": "10", "description": "B."},
        },
    }
    made, codes = edited(schema)
    assert "default" not in made["properties"]["a"]
    assert made["properties"]["b"]["default"] == 10
    assert codes == ["default_unfit"] * 2


def test_notes_names_and_advice_in_words_change_nothing() -> None:
    schema = {"type": "object", "properties": {"a": {"description": "A."}, "tags": {"type": "array"}}}
    assert edited(schema) == (schema, [])
    named = ToolDefinition.from_json_schema(name="files.search", description="Does it.", schema=schema)
    assert apply_edits(named) == (named, ())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tool=definitions)
def test_edits_settle_what_they_say_and_bring_the_tool_no_other_name(tool: ToolDefinition) -> None:
    made, settled = apply_edits(tool)
    left = {(finding.code, finding.path) for finding in definition_findings(made)}
    assert made.name == tool.name
    assert not left & {(finding.code, finding.path) for finding in settled}
