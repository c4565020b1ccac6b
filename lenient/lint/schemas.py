"""Lint of schemas: finds types, fields and values that are impossible or doubtful."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lenient.definitions.json_schema.constraints import compile_pattern
from lenient.definitions.json_schema.nodes import Node, normalise_name
from lenient.definitions.json_schema.scalar_schema import lists_its_type
from lenient.definitions.json_schema.schema_compiler import compile_schema
from lenient.definitions.json_schema.schema_walk import SchemaPlace
from lenient.definitions.json_schema.unions import are_all_disjoint
from lenient.definitions.json_schema.value_kinds import KINDS_BY_TYPE, TYPE_NAMES, type_names
from lenient.definitions.tools import ToolDefinition
from lenient.lint.findings import LintFinding
from lenient.validate.defaults import convert_default
from lenient.validate.schema_match import SchemaMatcher

_PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_MAX_LEVEL = 4
_TYPED_BY = {"type", "enum", "const", "anyOf", "oneOf", "properties", "items", "prefixItems", "not", "if"}
_FIELDS = {
    "properties",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "anyOf",
    "oneOf",
    "if",
}


def check_schema(place: SchemaPlace, root: Mapping[str, Any]) -> Iterator[LintFinding]:
    """Yield the findings about the schema of one place; `root` is the document that holds its `$defs`."""
    schema = place.schema
    yield from (LintFinding("keyword_unsupported", keyword) for keyword in place.unsupported)
    yield from _check_type(place)
    if "object" in type_names(schema) or "properties" in schema:
        yield from _check_object(place)
    if "array" in type_names(schema) and not {"items", "prefixItems"} & schema.keys():
        yield LintFinding("items_missing", None, "Say what the items are, such as items: {type: string}.")
    if "pattern" in schema and compile_pattern(schema["pattern"]) is None:
        yield LintFinding("pattern_unusable", str(schema["pattern"])[:100])
    yield from _check_values(place, root)
    if place.level == _MAX_LEVEL + 1:
        yield LintFinding("nested_deep", f"level {place.level}")


def _check_type(place: SchemaPlace) -> Iterator[LintFinding]:
    schema = place.schema
    written = schema.get("type")
    for name in written if isinstance(written, list) else [written] if written is not None else []:
        known = TYPE_NAMES.get(str(name).lower())
        if known is not None:
            yield LintFinding("type_unknown", str(name), {"type": known})
        elif str(name).lower() not in KINDS_BY_TYPE and name != "null":
            yield LintFinding("type_unknown", str(name)[:100])
    if place.path is not None and not _TYPED_BY & schema.keys() and not place.unsupported:
        yield LintFinding("type_missing")


def _check_object(place: SchemaPlace) -> Iterator[LintFinding]:
    schema = place.schema
    properties = schema.get("properties")
    names = [str(name) for name in properties] if isinstance(properties, Mapping) else []
    if not names and place.path is not None and not _FIELDS & schema.keys():
        yield LintFinding("object_free_form")
    if names and not {"additionalProperties", "unevaluatedProperties", "patternProperties"} & schema.keys():
        yield LintFinding("object_open", None, {"additionalProperties": False})
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in names and "patternProperties" not in schema:
            yield LintFinding("required_undeclared", str(name)[:100])
    seen: dict[str, str] = {}
    for name in names:
        if not _PROPERTY_NAME.fullmatch(name):
            yield LintFinding("parameter_name_refused", name[:100], f"Call it {clean_name(name)!r}.")
        other = seen.setdefault(normalise_name(name), name)
        if other != name:
            yield LintFinding("parameter_names_alike", f"{other[:100]}, {name[:100]}")


def clean_name(name: str) -> str:
    """Return the most similar name that providers accept."""
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_")[:64] or "unnamed"


def _check_values(place: SchemaPlace, root: Mapping[str, Any]) -> Iterator[LintFinding]:
    schema = place.schema
    listed = schema.get("enum")
    if "enum" in schema and (not isinstance(listed, list) or not listed):
        yield LintFinding("enum_empty")
        return
    asked = {"default", "example", "examples", "enum", "anyOf", "oneOf"} & schema.keys()
    if not asked:
        return
    node = _compile_place(place, root)
    if not lists_its_type(node) and node.typed:
        yield LintFinding("enum_type_mismatch", ", ".join(map(str, listed or ()))[:100])
    elif (
        "default" in schema
        and schema["default"] is not None
        and SchemaMatcher().matches(node, schema["default"]) is False
    ):
        yield LintFinding("default_unfit", str(schema["default"])[:100], _suggest_default(place, root))
    if place.required and schema.get("default") is not None:
        yield LintFinding("default_required", str(schema["default"])[:100], {"default": None})
    examples = schema.get("examples", [schema["example"]] if "example" in schema else [])
    for example in examples if isinstance(examples, list) else ():
        if SchemaMatcher().matches(node, example) is False:
            yield LintFinding("example_unfit", str(example)[:100])
    if not are_all_disjoint(node.branches):
        yield LintFinding("branches_overlap", f"{len(node.branches)} branches")


def _suggest_default(place: SchemaPlace, root: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON merge patch for a default that does not fit its schema.

    The patch replaces the default by its converted value, or removes it when it cannot be converted.
    """
    try:
        json.dumps(place.schema["default"])
    except (TypeError, ValueError):  # a default made in Python
        return {"default": None}
    tool = ToolDefinition.from_json_schema(name="place", schema=_wrap_in_document(place, root))
    default = convert_default(tool, tool.parameters[0])
    return {"default": default if isinstance(default, (str, bool, int, float, list, dict)) else None}


def _compile_place(place: SchemaPlace, root: Mapping[str, Any]) -> Node:
    """Compile a place within its document, so that its references can be resolved."""
    return compile_schema(_wrap_in_document(place, root)).fields["place"]


def _wrap_in_document(place: SchemaPlace, root: Mapping[str, Any]) -> dict[str, Any]:
    shared = {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root}
    own = {key: value for key, value in place.schema.items() if key not in ("$id", "$schema")}
    return {"type": "object", "properties": {"place": own}, **shared}
