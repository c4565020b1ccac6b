"""The schema of a place → what makes its type, its fields or its values impossible or doubtful."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lenient.fits import Fits
from lenient.graph import compile_schema
from lenient.leaves import lists_its_type
from lenient.lint.findings import Found
from lenient.nodes import Node, spelling
from lenient.parameters import KINDS_BY_TYPE, TYPE_NAMES, type_names
from lenient.parse import parse_arguments
from lenient.places import Place
from lenient.rules import compile_pattern
from lenient.tools import ToolDefinition
from lenient.unions import all_apart

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


def shape_findings(place: Place, root: Mapping[str, Any]) -> Iterator[Found]:
    """What is wrong with one place, whatever it is called."""
    schema = place.schema
    yield from (Found("keyword_unsupported", keyword) for keyword in place.unsupported)
    yield from _types(place)
    if "object" in type_names(schema) or "properties" in schema:
        yield from _objects(place)
    if "array" in type_names(schema) and not {"items", "prefixItems"} & schema.keys():
        yield Found("items_missing", None, "Say what the items are, such as items: {type: string}.")
    if "pattern" in schema and compile_pattern(schema["pattern"]) is None:
        yield Found("pattern_unusable", str(schema["pattern"])[:100])
    yield from _values(place, root)
    if place.level == _MAX_LEVEL + 1:
        yield Found("nested_deep", f"level {place.level}")


def _types(place: Place) -> Iterator[Found]:
    schema = place.schema
    written = schema.get("type")
    for name in written if isinstance(written, list) else [written] if written is not None else []:
        known = TYPE_NAMES.get(str(name).lower())
        if known is not None:
            yield Found("type_unknown", str(name), {"type": known})
        elif str(name).lower() not in KINDS_BY_TYPE and name != "null":
            yield Found("type_unknown", str(name)[:100])
    if place.path is not None and not _TYPED_BY & schema.keys() and not place.unsupported:
        yield Found("type_missing")


def _objects(place: Place) -> Iterator[Found]:
    schema = place.schema
    properties = schema.get("properties")
    names = [str(name) for name in properties] if isinstance(properties, Mapping) else []
    if not names and place.path is not None and not _FIELDS & schema.keys():
        yield Found("object_free_form")
    if names and not {"additionalProperties", "unevaluatedProperties", "patternProperties"} & schema.keys():
        yield Found("object_open", None, {"additionalProperties": False})
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in names and "patternProperties" not in schema:
            yield Found("required_undeclared", str(name)[:100])
    seen: dict[str, str] = {}
    for name in names:
        if not _PROPERTY_NAME.fullmatch(name):
            yield Found("parameter_name_refused", name[:100], f"Call it {cleaned(name)!r}.")
        other = seen.setdefault(spelling(name), name)
        if other != name:
            yield Found("parameter_names_alike", f"{other[:100]}, {name[:100]}")


def cleaned(name: str) -> str:
    """The nearest name that providers take."""
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_")[:64] or "unnamed"


def _values(place: Place, root: Mapping[str, Any]) -> Iterator[Found]:
    schema = place.schema
    listed = schema.get("enum")
    if "enum" in schema and (not isinstance(listed, list) or not listed):
        yield Found("enum_empty")
        return
    asked = {"default", "example", "examples", "enum", "anyOf", "oneOf"} & schema.keys()
    if not asked:
        return
    node = _node(place, root)
    if not lists_its_type(node) and node.typed:
        yield Found("enum_type_mismatch", ", ".join(map(str, listed or ()))[:100])
    elif "default" in schema and schema["default"] is not None and Fits()(node, schema["default"]) is False:
        yield Found("default_unfit", str(schema["default"])[:100], _fitting_default(place, root))
    if place.required and schema.get("default") is not None:
        yield Found("default_required", str(schema["default"])[:100], {"default": None})
    examples = schema.get("examples", [schema["example"]] if "example" in schema else [])
    for example in examples if isinstance(examples, list) else ():
        if Fits()(node, example) is False:
            yield Found("example_unfit", str(example)[:100])
    if not all_apart(node.branches):
        yield Found("branches_overlap", f"{len(node.branches)} branches")


def _fitting_default(place: Place, root: Mapping[str, Any]) -> dict[str, Any]:
    """A patch with the default as the parser would convert it, or without it."""
    tool = ToolDefinition.from_json_schema(name="place", schema=_document(place, root))
    try:
        raw = json.dumps({"place": place.schema["default"]})
    except (TypeError, ValueError):  # a default made in Python
        return {"default": None}
    converted = parse_arguments(raw, tool).arguments or {}
    default = converted.get("place")
    return {"default": default if isinstance(default, (str, bool, int, float, list, dict)) else None}


def _node(place: Place, root: Mapping[str, Any]) -> Node:
    """The place compiled within its document, so that its references lead where they should."""
    return compile_schema(_document(place, root)).fields["place"]


def _document(place: Place, root: Mapping[str, Any]) -> dict[str, Any]:
    shared = {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root}
    own = {key: value for key, value in place.schema.items() if key not in ("$id", "$schema")}
    return {"type": "object", "properties": {"place": own}, **shared}
