"""Edits a stored tool definition: makes it accept, or ask more clearly for, the arguments that models send.

Each function returns the changes of one edit, or an empty tuple if the edit would change nothing. A parameter
inside a `$ref` is not edited.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callgauge.analysis.replay.fix_results import DefinitionChange
from lenient.definitions.json_schema.value_kinds import convert_example
from lenient.lint.rules import find_listed_values

_CLOSED = ("enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not")
"""Keywords that restrict a value in addition to its type, so that a wider type may have no effect."""
_BRANCHES = ("anyOf", "oneOf")
_DEPTH = 32
_TOKEN = 4  # bytes per token, as in the metric `offered_tools`
Path = tuple[str | int, ...]


def read_schema(definition: str | None) -> Any:
    """Return a stored JSON Schema, or None if it cannot be read."""
    try:
        return json.loads(definition or "null")
    except (ValueError, RecursionError):
        return None


def find_declaration(definition: str | None, parameter: str) -> dict[str, Any] | None:
    """Return the JSON Schema of a parameter, such as `filters[].name`.

    Return None when the parameter is not declared. `definition` is the JSON Schema of all parameters, as JSON
    text.
    """
    place = find_place(read_schema(definition), parameter)
    return place.declared if place else None


class DeclaredPlace(NamedTuple):
    """The declaration of a parameter, and its path in the schema."""

    declared: dict[str, Any]
    path: Path


def find_place(schema: Any, parameter: str) -> DeclaredPlace | None:
    """Return the place of a parameter in a schema, or None when the parameter is not declared."""
    return next((place for name, place in list_parameters(schema) if name == parameter), None)


def list_parameters(schema: Any) -> Iterator[tuple[str, DeclaredPlace]]:
    """Yield each parameter that the metric `parameter_faults` could name, such as `filters[].name`."""
    yield from _list_below(schema, "", ("schema",), 0)


def _list_below(schema: Any, parent: str, path: Path, depth: int) -> Iterator[tuple[str, DeclaredPlace]]:
    if not isinstance(schema, dict) or depth > _DEPTH:
        return
    properties = schema.get("properties")
    inner = {
        (f"{parent}.{name}" if parent else name): (declared, (*path, "properties", name))
        for name, declared in (properties.items() if isinstance(properties, dict) else ())
        if not {".", "[", "]"} & set(name)
    }
    if parent:
        inner[f"{parent}[]"] = schema.get("items"), (*path, "items")
    for name, (declared, below) in inner.items():
        if isinstance(declared, dict):
            yield name, DeclaredPlace(declared, below)
            yield from _list_below(declared, name, below, depth + 1)


# --- types ---------------------------------------------------------------------------------------------


def describe_type(declared: dict[str, Any] | None) -> str:
    """Return the declared type of a parameter in one line, or a dash when no type is declared."""
    if declared is None:
        return "–"
    types = list_types(declared)
    if types:
        return " or ".join(types)
    return "one of a list" if "enum" in declared else "any"


def list_types(declared: Mapping[str, Any]) -> list[str]:
    """Return the declared types of a parameter, also if they are branches of an `anyOf`."""
    branches = _plain_branches(declared)
    if branches:
        return list(dict.fromkeys(name for _, inner in branches for name in _own_types(inner)))
    return _own_types(declared)


def _own_types(declared: Mapping[str, Any]) -> list[str]:
    types = declared.get("type")
    if isinstance(types, str):
        return [types]
    return [name for name in types if isinstance(name, str)] if isinstance(types, list) else []


def _plain_branches(declared: Mapping[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """Return the branches of an `anyOf` or `oneOf` with their paths, if each branch declares a type."""
    keyword = next((name for name in _BRANCHES if isinstance(declared.get(name), list)), None)
    if keyword is None or any(name in declared for name in _CLOSED if name != keyword):
        return []
    branches = declared[keyword]
    if not all(isinstance(inner, dict) and _own_types(inner) for inner in branches):
        return []
    return [((keyword, number), inner) for number, inner in enumerate(branches)]


def json_type(value: Any) -> str:
    """Return the JSON Schema type of a value."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def has_type(value: Any, types: Sequence[str]) -> bool:
    """Return True if a value has one of the declared types. 3.0 is also an integer."""
    name = json_type(value)
    if name in types or (name == "integer" and "number" in types):
        return True
    return name == "number" and "integer" in types and value.is_integer()


def accept_types(schema: Any, parameter: str, added: Sequence[str]) -> tuple[DefinitionChange, ...]:
    """Return the changes that make a parameter accept further types."""
    place = find_place(schema, parameter)
    if place is None:
        return ()
    declared, path = place
    new = [name for name in dict.fromkeys(added) if name not in list_types(declared)]
    branches = _plain_branches(declared)
    if branches:
        keyword = str(branches[0][0][0])
        if any("enum" in inner or "const" in inner for _, inner in branches):
            return ()
        return tuple(
            DefinitionChange((*path, keyword, len(branches) + number), (), ({"type": name},))
            for number, name in enumerate(new)
        )
    types = _own_types(declared)
    if not types or not new or any(keyword in declared for keyword in _CLOSED):
        return ()
    return (DefinitionChange((*path, "type"), (declared["type"],), ([*types, *new],)),)


def find_enum(declared: Mapping[str, Any]) -> tuple[Path, list[Any]] | None:
    """Return the list of allowed values of a parameter and the path of the list, or None."""
    if isinstance(declared.get("enum"), list) and not {"$ref", "anyOf", "oneOf", "allOf"} & declared.keys():
        return ("enum",), declared["enum"]
    lists = [
        (path, inner) for path, inner in _plain_branches(declared) if isinstance(inner.get("enum"), list)
    ]
    return ((*lists[0][0], "enum"), lists[0][1]["enum"]) if len(lists) == 1 else None


def add_enum_value(schema: Any, parameter: str, value: Any) -> tuple[DefinitionChange, ...]:
    """Return the change that adds a value to the allowed values of a parameter."""
    place = find_place(schema, parameter)
    enum = find_enum(place.declared) if place else None
    if place is None or enum is None or value in enum[1]:
        return ()
    path, values = enum
    return (DefinitionChange((*place.path, *path, len(values)), (), (value,)),)


# --- units ---------------------------------------------------------------------------------------------

_FAMILIES: tuple[dict[str, tuple[float, tuple[str, ...]]], ...] = (
    {
        "milliseconds": (0.001, ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds")),
        "seconds": (1, ("s", "sec", "secs", "second", "seconds")),
        "minutes": (60, ("m", "min", "mins", "minute", "minutes")),
        "hours": (3600, ("h", "hr", "hrs", "hour", "hours")),
        "days": (86400, ("d", "day", "days")),
    },
    {
        "bytes": (1, ("b", "byte", "bytes")),
        "kilobytes": (1000, ("kb", "kib", "kilobyte", "kilobytes")),
        "megabytes": (10**6, ("mb", "mib", "megabyte", "megabytes")),
        "gigabytes": (10**9, ("gb", "gib", "gigabyte", "gigabytes")),
    },
    {
        "millimetres": (0.001, ("mm",)),
        "centimetres": (0.01, ("cm",)),
        "metres": (1, ("meter", "meters", "metre", "metres")),
        "kilometres": (1000, ("km", "kilometer", "kilometers", "kilometre", "kilometres")),
        "miles": (1609.344, ("mi", "mile", "miles")),
    },
    {
        "grams": (1, ("g", "gram", "grams")),
        "kilograms": (1000, ("kg", "kilogram", "kilograms")),
        "pounds": (453.59237, ("lb", "lbs", "pound", "pounds")),
    },
    {"percent": (1, ("%", "percent"))},
    {"pixels": (1, ("px", "pixel", "pixels"))},
)
_UNITS = {
    word: (family, unit)
    for family, units in enumerate(_FAMILIES)
    for unit, (_, words) in units.items()
    for word in words
}
_WITH_UNIT = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z]{1,12}|%)\s*")


def _split_quantity(text: Any) -> tuple[float, int, str] | None:
    """Return the number, the family of the unit and the unit of a text such as "5 min", or None."""
    match = _WITH_UNIT.fullmatch(text) if isinstance(text, str) else None
    if match is None or (word := match[2].lower()) not in _UNITS:
        return None
    return (float(match[1]), *_UNITS[word])


def read_unit(text: Any) -> str | None:
    """Return the unit of a text such as "30s" or "5 min", or None."""
    quantity = _split_quantity(text)
    return quantity[2] if quantity else None


def convert_to_unit(text: Any, unit: str) -> int | float | None:
    """Return the number of a text such as "5 min" in another unit, or None if it cannot be converted."""
    quantity = _split_quantity(text)
    if quantity is None or unit not in (units := _FAMILIES[quantity[1]]):
        return None
    number, _, sent = quantity
    converted = round(number * units[sent][0] / units[unit][0], 9)
    return int(converted) if converted.is_integer() else converted


def names_unit(description: str, unit: str) -> bool:
    """Return True if a description already names a unit, such as "in seconds"."""
    words = next(words for units in _FAMILIES for name, (_, words) in units.items() if name == unit)
    spellings = {*(word for word in words if len(word) > 1), unit, unit.rstrip("s")}
    return any(re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", description.lower()) for word in spellings)


def name_unit(schema: Any, parameter: str, unit: str) -> tuple[DefinitionChange, ...]:
    """Return the change that names the unit of a number in its description."""
    place = find_place(schema, parameter)
    if place is None:
        return ()
    written = place.declared.get("description")
    description = written if isinstance(written, str) else ""
    if names_unit(description, unit):
        return ()
    start = description.rstrip()
    start += "" if not start or start[-1] in ".!?:;" else "."
    after = f"{start} Unit: {unit}; send only the number.".strip()
    return (
        DefinitionChange((*place.path, "description"), (written,) if written is not None else (), (after,)),
    )


# --- examples ------------------------------------------------------------------------------------------


def type_examples(declared: Mapping[str, Any], path: Path = ()) -> tuple[DefinitionChange, ...]:
    """Return the changes that give the default and the examples of a parameter in its declared type."""
    types = list_types(declared)
    changes = [
        DefinitionChange((*path, keyword), (declared[keyword],), (after,))
        for keyword in ("default", "example")
        if keyword in declared and (after := _convert(declared[keyword], types)) is not _UNCHANGED
    ]
    examples = declared.get("examples")
    changes += [
        DefinitionChange((*path, "examples", number), (example,), (after,))
        for number, example in enumerate(examples if isinstance(examples, list) else ())
        if (after := _convert(example, types)) is not _UNCHANGED
    ]
    return tuple(changes)


_UNCHANGED = object()


def _convert(example: Any, types: Sequence[str]) -> Any:
    if not types or example is None or has_type(example, types):
        return _UNCHANGED
    if "string" in types and isinstance(example, int | float):
        return json.dumps(example)
    after = convert_example(example, {"type": list(types)})
    return after if has_type(after, types) else _UNCHANGED


# --- parameters that no call sends ---------------------------------------------------------------------


def list_droppable(schema: Any, description: str) -> list[str]:
    """Return the optional parameters that nothing else in a definition mentions."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return []
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    return [
        name
        for name, declared in schema["properties"].items()
        if name not in needed
        and isinstance(declared, dict)
        and not {".", "[", "]"} & set(name)
        and not _is_mentioned(name, schema, description)
    ]


def _is_mentioned(name: str, schema: Mapping[str, Any], description: str) -> bool:
    others = {key: inner for key, inner in schema["properties"].items() if key != name}
    text = json.dumps([{**schema, "properties": others}, description], ensure_ascii=False, default=str)
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def drop_parameter(schema: Any, parameter: str) -> tuple[DefinitionChange, ...]:
    """Return the change that removes a parameter."""
    place = find_place(schema, parameter)
    return (DefinitionChange(place.path, (place.declared,), ()),) if place else ()


# --- texts without meaning -----------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ONLY_LISTS = re.compile(
    r"\W*(?:(?:must|can|should|may) be |is )?(?:one of|either|(?:allowed |valid |possible |supported )?"
    r"(?:values|options)(?: are| is|:))",
    re.IGNORECASE,
)
_TITLE_ENDS = ("arguments", "args", "input", "inputs", "params", "parameters", "schema", "model", "request")
_LONG_SENTENCE = 20
REASONS = {
    "schema": "$schema",
    "title": "titles that repeat a name",
    "name": "descriptions that repeat a name",
    "repeated": "sentences that the definition repeats",
    "values": "lists of values that the enum already declares",
    "blanks": "blanks",
}


def shorten_texts(
    tool: str, description: str, schema: Any, skipped: Sequence[Path] = ()
) -> tuple[tuple[DefinitionChange, ...], tuple[str, ...]]:
    """Return the changes that remove texts without meaning, and the reasons as values of REASONS.

    `skipped` holds the paths of declarations that other edits change.
    """
    if not isinstance(schema, dict):
        return (), ()
    changes: list[DefinitionChange] = []
    reasons: dict[str, None] = {}
    if isinstance(schema.get("$schema"), str):
        changes.append(DefinitionChange(("schema", "$schema"), (schema["$schema"],), ()))
        reasons["schema"] = None
    clean = _clean_blanks(description)
    if clean != description:
        changes.append(DefinitionChange(("description",), (description,), (clean,)))
        reasons["blanks"] = None
    for node in _walk(schema, ("schema",), tool, description, 0):
        if any(node.path[: len(path)] == path for path in skipped):
            continue
        for change, reason in _shorten_node(node, tool):
            changes.append(change)
            reasons[reason] = None
    return tuple(changes), tuple(REASONS[reason] for reason in reasons)


class _SchemaNode(NamedTuple):
    """A schema inside the definition, with its path, its name, and the description above it."""

    schema: dict[str, Any]
    path: Path
    name: str
    above: str


def _walk(schema: Any, path: Path, name: str, above: str, depth: int) -> Iterator[_SchemaNode]:
    if not isinstance(schema, dict) or depth > _DEPTH:
        return
    yield _SchemaNode(schema, path, name, above)
    own = schema.get("description")
    own = own if isinstance(own, str) and own.strip() else above
    for keyword in ("properties", "$defs", "definitions"):
        inner = schema.get(keyword)
        for key, below in inner.items() if isinstance(inner, dict) else ():
            yield from _walk(below, (*path, keyword, key), str(key), own, depth + 1)
    for keyword in ("items", "additionalProperties"):
        yield from _walk(schema.get(keyword), (*path, keyword), name, own, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        several = schema.get(keyword)
        for number, below in enumerate(several if isinstance(several, list) else ()):
            yield from _walk(below, (*path, keyword, number), name, own, depth + 1)


def _shorten_node(node: _SchemaNode, tool: str) -> Iterator[tuple[DefinitionChange, str]]:
    title = node.schema.get("title")
    if isinstance(title, str) and _repeats_name(title, node, tool):
        yield DefinitionChange((*node.path, "title"), (title,), ()), "title"
    written = node.schema.get("description")
    if not isinstance(written, str) or not written:
        return
    if _plain(written) == _plain(node.name) or written.strip() == node.above.strip():
        reason = "name" if _plain(written) == _plain(node.name) else "repeated"
        yield DefinitionChange((*node.path, "description"), (written,), ()), reason
        return
    after, reason = _shorten_description(written, node)
    if after != written:
        yield DefinitionChange((*node.path, "description"), (written,), (after,) if after else ()), reason


def _repeats_name(title: str, node: _SchemaNode, tool: str) -> bool:
    if len(node.path) > 1:
        return _plain(title) == _plain(node.name)
    # The title of a plain JSON Schema is the name of its tool, so only a title with an ending repeats it.
    return title != tool and _plain(title) in {_plain(tool) + end for end in _TITLE_ENDS}


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _shorten_description(written: str, node: _SchemaNode) -> tuple[str, str]:
    """Return a description without repetitions, and the reason as a key of REASONS."""
    enum = find_enum(node.schema)
    values = {str(value) for value in enum[1] if value is not None} if enum else set()
    known = set(_SENTENCE_END.split(node.above.strip()))
    sentences: list[str] = []
    reason = "blanks"
    for sentence in _SENTENCE_END.split(written.strip()):
        if values and _ONLY_LISTS.match(sentence) and set(find_listed_values(sentence)) == values:
            reason = "values"
        elif len(sentence) >= _LONG_SENTENCE and (sentence in known or sentence in sentences):
            reason = "repeated"
        else:
            sentences.append(sentence)
    return (" ".join(sentences), reason) if reason != "blanks" else (_clean_blanks(written), reason)


def _clean_blanks(text: str) -> str:
    """Return a text without indentation, blanks at the ends of lines, and more than one empty line."""
    if "```" in text:
        return text
    lines = [line.rstrip() for line in inspect.cleandoc(text).splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


# --- changes -------------------------------------------------------------------------------------------


def apply_changes(definition: Mapping[str, Any], changes: Sequence[DefinitionChange]) -> dict[str, Any]:
    """Return a changed copy of a definition with the keys description and schema."""
    edited = copy.deepcopy(dict(definition))
    for change in changes:
        *above, key = change.path
        parent: Any = edited
        for step in above:
            parent = parent[step]
        if isinstance(parent, list) and not change.before:
            parent.append(change.after[0])
        elif change.after:
            parent[key] = change.after[0]
        else:
            del parent[key]
    return edited


def are_equal(value: Any, other: Any) -> bool:
    """Return True if two values are the same JSON. True and 1 differ."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def count_bytes(tool: str, definition: Mapping[str, Any]) -> int:
    """Return the size of a definition as compact JSON."""
    declared = {
        "name": tool, "description": definition["description"], "input_schema": definition["schema"],
    }  # fmt: skip
    text = json.dumps(declared, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def count_tokens(size: int) -> int:
    """Return the estimated number of tokens of a text of `size` bytes. `size` may be negative."""
    return round(size / _TOKEN)
