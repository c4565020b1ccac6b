"""Rules of the lint: finds names, descriptions, types, fields and values that cause wrong tool calls.

Linear-time patterns find constraints that a description states but the schema does not declare. Doubtful
findings are not reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lenient.coerce.defaults import convert_default
from lenient.coerce.schema_match import SchemaMatcher
from lenient.definitions.json_schema.constraints import compile_pattern
from lenient.definitions.json_schema.nodes import Node, are_all_disjoint, normalise_name
from lenient.definitions.json_schema.schema_compiler import compile_schema, lists_its_type
from lenient.definitions.json_schema.schema_walk import SchemaPlace
from lenient.definitions.json_schema.value_kinds import KINDS_BY_TYPE, TYPE_NAMES, type_names
from lenient.definitions.tools import ToolDefinition
from lenient.lint.definition_codes import LintFinding
from lenient.regex import compile_regex

MAX_DESCRIPTION = 1_024
_READ = 2_000  # the number of description characters that are checked


def _compile_words(pattern: str) -> re.Pattern[str]:
    return compile_regex(pattern, re.IGNORECASE)


_LISTED = _compile_words(
    r"\b(?:(?:must|can|should|may) be(?: one of)?|one of|either|(?:allowed |valid |possible )?values|options)"
    r"(?: are| is| either| one of|:)*[ \t]+(?:the following:?[ \t]+)?([^.;()\n]{3,300})"
)
_ITEM = compile_regex(r"""["'`“‘]?([A-Za-z0-9][\w.+/-]{0,40})["'`”’]?""")
_SEPARATOR = compile_regex(r"\s*(?:,\s*or\b|,\s*and\b|,|\||/|\bor\b|\band\b)\s*")
_QUOTED = compile_regex(r"""["'`“‘]""")
_OPEN_ENDED = _compile_words(r"\b(?:e\.?g|etc|such as|for example|for instance|like)\b|\.\.\.|…")
_OPTIONAL = _compile_words(r"^\W*optional\b|\(optional\)|\bis optional\b|\bif omitted\b|\bdefaults? to\b")
_REQUIRED = _compile_words(
    r"(?:^\W*required\b|\(required\)|\bis required\b|\bmust be provided\b)"
    r"(?! (?:parameters?|arguments?|for|when|if|only|by|unless|in|with|to)\b)"
)
_NUMBER = _compile_words(
    r"^\W*(?:(?:the|a|maximum|minimum|max|min|total) )*(?:number|count|amount) of\b|^\W*how many\b"
)
_BOOLEAN = _compile_words(r"^\W*(?:whether|if true|true if|set to true|true or false|boolean)\b")
_LIST = _compile_words(
    r"\b(?:comma|semicolon|space|newline|pipe)[ -]?(?:separated|delimited)\b"
    r"|^\W*(?:(?:a|the) )?(?:list|array) of\b"
)
_JSON = _compile_words(
    r"\bJSON[ -]?(?:string|text|encoded|formatted|object|array)\b|\bstringified\b|\bas JSON\b"
)
_DATE = _compile_words(r"(?:^|_)date$|^(?:date|birthday)(?:_|$)")
_MOMENT = _compile_words(
    r"(?:^|_)(?:datetime|date_time|timestamp)(?:_|$)|_at$|^(?:since|until)$|(?:^|_)(?:start|end)_time$"
)
_FORMAT_WORDS = _compile_words(r"yyyy|iso|rfc|epoch|unix|\d{4}-\d\d|format|%[YmdHMS]|\d\d:\d\d")
_MEASURE = _compile_words(
    r"(?:^|_)(?:timeout|duration|delay|interval|ttl|latency|distance|weight|temperature|speed|max_age)$"
)
_UNIT_WORDS = _compile_words(
    r"second|minute|hour|\bday|week|month|year|millis|micros|nanos"
    r"|\b(?:ms|s|sec|min|h|km|m|cm|mm|mi|ft|kg|g|lbs?|oz|°?[cf]|kmh|mph|kph)\b"
    r"|met(?:er|re)|mile|feet|foot|inch|gram|pound|ounce|celsius|fahrenheit|kelvin|percent|byte|\bunits?\b"
    r"|character|token"
)
_CAMEL = compile_regex(r"(?<=[a-z0-9])(?=[A-Z])")


def check_description(place: SchemaPlace) -> Iterator[LintFinding]:
    """Yield the findings about the name and the description at one position in the schema."""
    described = _find_description(place)
    if not described.strip():
        if place.name is not None:
            yield LintFinding("parameter_description_missing")
    elif len(described) > MAX_DESCRIPTION:
        yield LintFinding("description_too_long", f"{len(described):,} characters")
    if place.name is None:
        return
    if place.required and _OPTIONAL.search(described[:_READ]):
        yield LintFinding("required_contradicted", "required, but described as optional")
    elif not place.required and _REQUIRED.search(described[:_READ]):
        yield LintFinding("required_contradicted", "optional, but described as required")
    if _is_free_text(place.schema):
        yield from _check_free_text(place.name, described[:_READ])
    elif {"integer", "number"} & set(type_names(place.schema)) and not place.schema.get("enum"):
        words = _CAMEL.sub("_", place.name).lower()
        if _MEASURE.search(words) and not _UNIT_WORDS.search(described[:_READ]):
            yield LintFinding("unit_missing")


def _find_description(place: SchemaPlace) -> str:
    """Return the description at a position in the schema.

    If the description is missing, return the description of the reference's target, or '' when there is none.
    """
    for schema in (place.own, place.schema):
        if isinstance(schema.get("description"), str):
            return str(schema["description"])
    return ""


def _is_free_text(schema: Any) -> bool:
    types = [name for name in type_names(schema) if name != "null"]
    return (
        types == ["string"] and not {"enum", "const", "pattern", "format", "contentEncoding"} & schema.keys()
    )


def _check_free_text(name: str, described: str) -> Iterator[LintFinding]:
    words = _CAMEL.sub("_", name).lower()
    listed = find_listed_values(described)
    if listed:
        yield LintFinding("enum_in_prose", ", ".join(listed), {"enum": listed})
    elif _NUMBER.search(described):
        yield LintFinding("number_as_text", None, {"type": "number" if "amount" in described else "integer"})
    elif _BOOLEAN.search(described):
        yield LintFinding("boolean_as_text", None, {"type": "boolean"})
    elif _LIST.search(described):
        yield LintFinding("list_as_text", None, {"type": "array", "items": {"type": "string"}})
    elif _JSON.search(described):
        yield LintFinding(
            "json_as_text", None, {"type": "array" if "array" in described.lower() else "object"}
        )
    elif not _FORMAT_WORDS.search(described):
        if _MOMENT.search(words):
            yield LintFinding("format_missing", None, {"format": "date-time"})
        elif _DATE.search(words):
            yield LintFinding("format_missing", None, {"format": "date"})


def find_listed_values(described: str) -> list[str]:
    """Return the allowed values that a description lists, or [] when other values may be allowed, too."""
    for listing in _LISTED.finditer(described):
        text = listing.group(1).strip()
        after = described[listing.end() : listing.end() + 4]
        if _OPEN_ENDED.search(text) or _OPEN_ENDED.search(after):
            continue
        parts = [part for part in _SEPARATOR.split(text) if part]
        items = [_ITEM.fullmatch(part.strip()) for part in parts]
        several = len(items) >= (2 if _QUOTED.search(text) or ":" in listing.group() else 3)
        if several and all(items):
            return list(dict.fromkeys(item.group(1) for item in items if item is not None))
    return []


# --- schemas -------------------------------------------------------------------------------------------

_PROPERTY_NAME = compile_regex(r"[a-zA-Z0-9_.-]{1,64}")
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
    """Yield the findings about one position in the schema. `root` is the document with the `$defs`."""
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
        type_name = TYPE_NAMES.get(str(name).lower())
        if type_name is not None:
            yield LintFinding("type_unknown", str(name), {"type": type_name})
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
    spellings: dict[str, str] = {}
    for name in names:
        if not _PROPERTY_NAME.fullmatch(name):
            yield LintFinding("parameter_name_refused", name[:100], f"Call it {clean_name(name)!r}.")
        other = spellings.setdefault(normalise_name(name), name)
        if other != name:
            yield LintFinding("parameter_names_alike", f"{other[:100]}, {name[:100]}")


def clean_name(name: str) -> str:
    """Return the most similar tool name that providers accept."""
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_")[:64] or "unnamed"


def _check_values(place: SchemaPlace, root: Mapping[str, Any]) -> Iterator[LintFinding]:
    schema = place.schema
    listed = schema.get("enum")
    if "enum" in schema and (not isinstance(listed, list) or not listed):
        yield LintFinding("enum_empty")
        return
    keywords = {"default", "example", "examples", "enum", "anyOf", "oneOf"} & schema.keys()
    if not keywords:
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

    The patch replaces the default with the converted value, or removes the default if no conversion is
    possible.
    """
    try:
        json.dumps(place.schema["default"])
    except (TypeError, ValueError):  # a default that was set in Python and has no JSON type
        return {"default": None}
    tool = ToolDefinition.from_json_schema(name="place", schema=_wrap_in_document(place, root))
    default = convert_default(tool, tool.parameters[0])
    return {"default": default if isinstance(default, (str, bool, int, float, list, dict)) else None}


def _compile_place(place: SchemaPlace, root: Mapping[str, Any]) -> Node:
    return compile_schema(_wrap_in_document(place, root)).fields["place"]


def _wrap_in_document(place: SchemaPlace, root: Mapping[str, Any]) -> dict[str, Any]:
    shared = {key: root[key] for key in ("$defs", "definitions", "$schema") if key in root}
    own = {key: value for key, value in place.schema.items() if key not in ("$id", "$schema")}
    return {"type": "object", "properties": {"place": own}, **shared}
