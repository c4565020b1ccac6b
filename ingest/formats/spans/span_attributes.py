"""Reads the attributes of a span, however a file spells them, as one flat dictionary, and lists back out of
indices.

OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) wraps every value in an object that
names its type; Jaeger keeps lists as JSON text and whole numbers as text; others have plain JSON, with dots
in the keys or objects in objects. Conventions that cannot have lists write an index into the key
(`llm.output_messages.10.message.role`): they are put in order by number, not by spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingest.decoding.fields import read_objects
from ingest.formats.provider_messages.embedded_json import open_json

Attributes = Mapping[str, Any]

_DEEPEST = 100  # levels of an OTLP value
_PARTS = 12  # dotted parts of a key, levels of objects whose keys become part of it
_WRAPPERS = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def read_otlp(pairs: Any, depth: int = 0) -> dict[str, Any]:
    """Read `[{key, value: AnyValue}]` as a dictionary; pairs without a key are passed over."""
    named = [pair for pair in read_objects(pairs) if isinstance(pair.get("key"), str)]
    return {pair["key"]: read_any_value(pair.get("value"), depth) for pair in named}


def read_any_value(value: Any, depth: int = 0) -> Any:
    """Read the value inside an OTLP AnyValue; a bare value as it is, None where it is nested too deep."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None if depth > _DEEPEST else value
    for wrapper in _WRAPPERS:
        if wrapper in value:
            return value[wrapper]
    if "intValue" in value:
        return parse_count(value["intValue"], lowest=None)
    if isinstance(array := value.get("arrayValue"), dict):
        items = array.get("values")
        return [read_any_value(item, depth + 1) for item in items] if isinstance(items, list) else []
    if isinstance(listed := value.get("kvlistValue"), dict):
        return read_otlp(listed.get("values"), depth + 1)
    return None


def flatten(value: Any) -> dict[str, Any]:
    """Return objects in objects as dotted keys; an object stays under its own key, too: it may be data."""
    found: dict[str, Any] = {}
    _flatten(value, "", found, _PARTS)
    return found


def _flatten(value: Any, prefix: str, found: dict[str, Any], levels: int) -> None:
    if not isinstance(value, dict) or not levels:
        return
    for key, inner in value.items():
        found.setdefault(prefix + key, inner)
        _flatten(inner, f"{prefix}{key}.", found, levels - 1)


def first_value(attributes: Attributes, *keys: str) -> Any:
    """Return the value of the first of the keys whose value is neither None nor empty text."""
    return next((value for key in keys if (value := attributes.get(key)) not in (None, "")), None)


def first_text(attributes: Attributes, *keys: str) -> str | None:
    """Return the value of the first of the keys that holds text."""
    values = (attributes.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def parse_count(value: Any, lowest: int | None = 0) -> int | None:
    """Read a whole number; as text, too (OTLP and Jaeger), and 5.0 (data frames) is 5."""
    as_text = isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) <= 19
    if as_text or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if lowest is None or value >= lowest else None


def first_count(attributes: Attributes, *keys: str) -> int | None:
    """Return the value of the first of the keys that holds a whole number from 0."""
    return next((number for key in keys if (number := parse_count(attributes.get(key))) is not None), None)


def collect_indexed(attributes: Attributes, name: str) -> list[Any]:
    """Return the list that `name.0…`, `name.1…` spell, or that stands under `name` itself (as JSON text,
    too).

    Keys within an item become objects in objects; so do the keys of items that are a list already, as data
    frames have them (`{"message.role": …}`).
    """
    whole = open_json(attributes.get(name))
    if isinstance(whole, list):
        return [nest_dotted(item) if isinstance(item, dict) else item for item in whole]
    start = name + "."
    tree = build_tree(
        (key[len(start) :], value) for key, value in attributes.items() if key.startswith(start)
    )
    return tree if isinstance(tree, list) else []


def nest_dotted(item: Attributes) -> Any:
    """Return an object with dots in its keys, `{"message.role": …}`, as objects in objects."""
    return build_tree(item.items())


def build_tree(pairs: Iterable[tuple[str, Any]]) -> Any:
    """Nest dotted keys; where a key is a value and the start of another, the first stays."""
    root: dict[str, Any] = {}
    for key, value in pairs:
        node = root
        *parents, last = key.split(".", _PARTS)
        for parent in parents:
            inner = node.setdefault(parent, AttributeNode())
            if not isinstance(inner, AttributeNode):
                break
            node = inner
        else:
            node.setdefault(last, value)
    return restore_lists(root)


class AttributeNode(dict[str, Any]):
    """An object made out of dotted keys; a value of the log is never one."""


def restore_lists(node: dict[str, Any]) -> Any:
    """Turn objects whose keys are all numbers into lists, in the order of the numbers."""
    built = {
        key: restore_lists(value) if isinstance(value, AttributeNode) else value
        for key, value in node.items()
    }
    if built and all(key.isdecimal() and len(key) <= 9 for key in built):
        return [built[key] for key in sorted(built, key=int)]
    return built
