"""Name, description and JSON Schema of a tool → Markdown for prompts and pages: heading, sentence, table.

Everything that comes from a definition is escaped: it can be no markup, no link, no HTML and no further row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lenient.diagnostics import shorten
from lenient.json_values import compact
from lenient.parameters import type_names
from lenient.places import Place, place_path, places

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


def written(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """The definition as Markdown; optional fields have an empty cell under `required`."""
    parts = [f"### {_name(name)}"]
    if description.strip():
        parts.append(text(description))
    rows = [_row(place) for place in places(schema) if place.name is not None]
    parts.append("\n".join([_HEAD, *rows]) if rows else "No parameters.")
    return "\n\n".join(parts) + "\n"


def text(value: str) -> str:
    """Any text as one line that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\g<0>", shorten(_BLANKS.sub(" ", value).strip(), _MAX_TEXT))


def _name(value: str) -> str:
    """A name as code, which needs no escapes and stays as a model must write it; else as text."""
    return f"`{value}`" if _PLAIN_NAME.fullmatch(value) else text(value)


def _row(place: Place) -> str:
    described = place.own.get("description") or place.schema.get("description")
    said = [text(described)] if isinstance(described, str) and described.strip() else []
    said += _bounds(place.schema)
    required = "yes" if place.required else ""
    return f"| {_name(place_path(place.path)[2:])} | {_type(place.schema)} | {required} | {'; '.join(said)} |"


def _type(schema: Mapping[str, Any]) -> str:
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list):
        more = ["…"] if len(listed) > _MAX_LISTED else []
        return ", ".join([text(compact(value)) for value in listed[:_MAX_LISTED]] + more)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            known = [
                _type(branch) if isinstance(branch, Mapping) else "any" for branch in branches[:_MAX_LISTED]
            ]
            return " or ".join(dict.fromkeys(known))
    return " or ".join(_type_names(schema)) or "any"


def _type_names(schema: Mapping[str, Any]) -> Iterator[str]:
    for name in type_names(schema):
        items = schema.get("items")
        if name == "array" and isinstance(items, Mapping):
            yield f"array of {text(' or '.join(type_names(items)) or 'any')}"
        else:
            yield text(name)


def _bounds(schema: Mapping[str, Any]) -> list[str]:
    return [
        template.format(text(value if isinstance(value, str) and key != "default" else compact(value)))
        for key, template in _BOUNDS.items()
        if (value := schema.get(key)) is not None
    ]
