"""Reads the attributes of a span into one flat dictionary, and rebuilds lists from indexed keys.

OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding) wraps every value in an object that
names the value's type. Jaeger stores lists as JSON text and whole numbers as text. Other programs write plain
JSON, with dots in the keys or nested objects. Conventions without lists write an index into the key
(`llm.output_messages.10.message.role`); such items are sorted by number, not alphabetically.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingest.decoding.fields import read_objects
from ingest.formats.provider_messages.embedded_json import open_json

Attributes = Mapping[str, Any]

_DEEPEST = 100  # maximum number of nested levels in an OTLP value
_PARTS = 12  # maximum number of dotted parts in a key, and of nested objects that become dotted keys
_WRAPPERS = ("stringValue", "boolValue", "doubleValue", "bytesValue")


def read_otlp(pairs: Any, depth: int = 0) -> dict[str, Any]:
    """Return OTLP attributes `[{key, value: AnyValue}]` as a dictionary. Leave out attributes without key."""
    named = [pair for pair in read_objects(pairs) if isinstance(pair.get("key"), str)]
    return {pair["key"]: read_any_value(pair.get("value"), depth) for pair in named}


def read_any_value(value: Any, depth: int = 0) -> Any:
    """Return the value inside an OTLP AnyValue.

    A value that is not an AnyValue is returned unchanged. A value of an unknown type, or nested too deeply,
    gives None.
    """
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
    """Return nested objects as one dictionary with dotted keys.

    Each nested object is also kept whole under its own key. A value that is not an object becomes an empty
    dictionary.
    """
    attributes: dict[str, Any] = {}
    _flatten(value, "", attributes, _PARTS)
    return attributes


def _flatten(value: Any, prefix: str, attributes: dict[str, Any], levels: int) -> None:
    if not isinstance(value, dict) or not levels:
        return
    for key, inner in value.items():
        attributes.setdefault(prefix + key, inner)
        _flatten(inner, f"{prefix}{key}.", attributes, levels - 1)


def first_value(attributes: Attributes, *keys: str) -> Any:
    """Return the first value under the given keys that is neither None nor an empty string.

    Return None when there is no such value.
    """
    return next((value for key in keys if (value := attributes.get(key)) not in (None, "")), None)


def first_text(attributes: Attributes, *keys: str) -> str | None:
    """Return the first non-empty string under the given keys. Return None when there is no such string."""
    values = (attributes.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def parse_count(value: Any, lowest: int | None = 0) -> int | None:
    """Return a whole number of at least `lowest`. Return None for any other value.

    The number may also be a string (OTLP, Jaeger) or a float such as 5.0 (data frames). If `lowest` is None,
    there is no lower bound.
    """
    as_text = isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) <= 19
    if as_text or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if lowest is None or value >= lowest else None


def first_count(attributes: Attributes, *keys: str) -> int | None:
    """Return the first whole number of at least 0 under the given keys.

    Return None when there is no such number.
    """
    return next((number for key in keys if (number := parse_count(attributes.get(key))) is not None), None)


def collect_indexed(attributes: Attributes, name: str) -> list[Any]:
    """Return the list that is stored under the keys `name.0…`, `name.1…`, or under `name` itself.

    The list under `name` may be JSON text. Dotted keys in an item (`{"message.role": …}`) become nested
    objects. Return an empty list when no such key exists.
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
    """Return an object with dots in its keys (`{"message.role": …}`) as nested objects."""
    return build_tree(item.items())


def build_tree(pairs: Iterable[tuple[str, Any]]) -> Any:
    """Make nested objects, or a list, from dotted keys.

    If a key is also the beginning of another key, the first of the two keys is kept.
    """
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
    """An object that was made from dotted keys. An object of the log is a plain dictionary."""


def restore_lists(node: dict[str, Any]) -> Any:
    """Turn objects whose keys are all numbers into lists, in the order of these numbers."""
    built = {
        key: restore_lists(value) if isinstance(value, AttributeNode) else value
        for key, value in node.items()
    }
    if built and all(key.isdecimal() and len(key) <= 9 for key in built):
        return [built[key] for key in sorted(built, key=int)]
    return built
