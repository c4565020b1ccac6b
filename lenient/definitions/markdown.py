"""Writes tool definitions as Markdown for prompts and pages: heading, description, table of parameters.

All text of a definition is escaped: it cannot add markup, links, HTML or rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.schema_walk import SchemaPlace, render_place, walk_places
from lenient.definitions.json_schema.value_kinds import type_names
from lenient.diagnostics import shorten

_MARKUP = re.compile(
    r"[\\`*\[\]<>|~&$#@^]"  # anywhere
    r"|(?<!\w)_|_(?!\w)|:(?=//)|:(?=[\w+-]{1,40}:)|(?<=www)\."  # emphasis, links, names of pictures
    r"|^[-+=]|(?<=^\d)[.)]"  # lists
)
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_PLAIN_NAME = re.compile(r"[\w.\[\]*:/ -]{1,200}")
_MAX_TEXT = 1_000
_MAX_LISTED = 20
_HEAD = "| parameter | type | required | description |\n|---|---|---|---|"
_BOUNDS = {
    "minimum": "≥ {}", "maximum": "≤ {}", "exclusiveMinimum": "> {}", "exclusiveMaximum": "< {}",
    "multipleOf": "multiple of {}",
    "minLength": "at least {} characters", "maxLength": "at most {} characters",
    "minItems": "at least {} items", "maxItems": "at most {} items", "pattern": "matches {}", "format": "{}",
    "default": "default {}",
}  # fmt: skip


def write_markdown(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """Return a definition as Markdown; the cell `required` of an optional field is empty."""
    parts = [f"### {_write_name(name)}"]
    if description.strip():
        parts.append(escape_markup(description))
    rows = [_write_row(place) for place in walk_places(schema) if place.name is not None]
    parts.append("\n".join([_HEAD, *rows]) if rows else "No parameters.")
    return "\n\n".join(parts) + "\n"


def escape_markup(value: str) -> str:
    """Return a text on one line, escaped so that Markdown shows it unchanged, of at most 1,000 characters."""
    return _MARKUP.sub(r"\\\g<0>", shorten(_BLANKS.sub(" ", value).strip(), _MAX_TEXT))


def _write_name(value: str) -> str:
    """Return a name as Markdown code, exactly as a model must write it; an unusual name as escaped text."""
    return f"`{value}`" if _PLAIN_NAME.fullmatch(value) else escape_markup(value)


def _write_row(place: SchemaPlace) -> str:
    described = place.own.get("description") or place.schema.get("description")
    said = [escape_markup(described)] if isinstance(described, str) and described.strip() else []
    said += _describe_bounds(place.schema)
    required = "yes" if place.required else ""
    name, kind = _write_name(render_place(place.path)[2:]), _describe_type(place.schema)
    return f"| {name} | {kind} | {required} | {'; '.join(said)} |"


def _describe_type(schema: Mapping[str, Any]) -> str:
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list):
        more = ["…"] if len(listed) > _MAX_LISTED else []
        return ", ".join([escape_markup(to_json_text(value)) for value in listed[:_MAX_LISTED]] + more)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            known = [
                _describe_type(branch) if isinstance(branch, Mapping) else "any"
                for branch in branches[:_MAX_LISTED]
            ]
            return " or ".join(dict.fromkeys(known))
    return " or ".join(_describe_types(schema)) or "any"


def _describe_types(schema: Mapping[str, Any]) -> Iterator[str]:
    for name in type_names(schema):
        items = schema.get("items")
        if name == "array" and isinstance(items, Mapping):
            yield f"array of {escape_markup(' or '.join(type_names(items)) or 'any')}"
        else:
            yield escape_markup(name)


def _describe_bounds(schema: Mapping[str, Any]) -> list[str]:
    return [
        template.format(
            escape_markup(value if isinstance(value, str) and key != "default" else to_json_text(value))
        )
        for key, template in _BOUNDS.items()
        if (value := schema.get(key)) is not None
    ]
