"""Chooses one of two successive values by the definition, and finds where a value begins anew."""

from __future__ import annotations

from typing import Any

from lenient.definitions.json_schema.nodes import Node, known_fields, normalise_name
from lenient.scan.located_value import LocatedValue
from lenient.scan.source_text import ValueSpan
from lenient.scan.valid_json import find_valid_end

_SAME = 4  # characters that are compared first
_MOST, _MAX_BEGINNING = 64, 4_096  # braces looked at, characters before the new beginning


def find_anew(text: str) -> int | None:
    """Return where an object begins anew after its own beginning, as in `{"a": "x{"a": "xy"}`, else None.

    What stands before is the beginning of what follows, and what follows is valid JSON.
    """
    start, at = text[:_SAME], 0
    for _ in range(_MOST):
        at = text.find("{", at + 1, _MAX_BEGINNING)
        if at < 0:
            return None
        if text.startswith(start[:at], at) and text.startswith(text[:at], at):
            return at if find_valid_end(text, at) is not None else None
    return None


def choose_value(first: LocatedValue, other: LocatedValue, node: Node | None) -> tuple[str, bool]:
    """Return the diagnostic code for the dropped value, and True when `first` is the one to keep.

    The value to keep is not empty, does not repeat the other value, and has the parameters that the tool
    requires.
    """
    if first.value == {} and other.value:
        return "empty_object_skipped", False
    if first.value == other.value:
        return "repeated_value_skipped", True
    if _extends_value(other.value, first.value):
        return "repeated_value_skipped", False
    if other.value == {}:
        return "empty_object_skipped", True
    is_worse = (_lacks_required(first, node) and not _lacks_required(other, node)) or (
        is_foreign_object(first, node) and not is_foreign_object(other, node)
    )
    return "further_value_dropped", not is_worse


def is_foreign_object(located: LocatedValue, node: Node | None) -> bool:
    """Return True when a non-empty object has none of the fields that the tool declares.

    Such an object within narration is not the arguments.
    """
    if node is None or not node.fields or not isinstance(located.value, dict):
        return False
    names = {normalise_name(name) for name in node.fields}
    return bool(located.value) and not any(normalise_name(name) in names for name in located.value)


def find_moved_member(value: Any, mark: ValueSpan, node: Node | None) -> ValueSpan | None:
    """Return the span of a member that the object right before it holds or declares, too, else None.

    Only a member counts that is not declared where it stands.
    """
    if not isinstance(value, dict) or not isinstance(mark.children, dict):
        return None
    marks: dict[str, ValueSpan] = mark.children
    fields, before = known_fields(node), set[str]()
    for name, inner in value.items():
        if name in before and name not in fields:
            return marks[name]
        if isinstance(inner, dict):
            moved = find_moved_member(inner, marks[name], fields.get(name))
            if moved is not None:
                return moved
            before = inner.keys() | known_fields(fields.get(name)).keys()
    return None


def _lacks_required(located: LocatedValue, node: Node | None) -> bool:
    """Return True when the value lacks a parameter that the tool requires."""
    required = node.required if node is not None else frozenset()
    return bool(required) and not (isinstance(located.value, dict) and required <= located.value.keys())


def _extends_value(value: Any, part: Any) -> bool:
    """Return True when the object `value` has all members of the object `part`.

    Merged streams repeat an object that grows in this way.
    """
    return isinstance(value, dict) and isinstance(part, dict) and part.items() <= value.items()
