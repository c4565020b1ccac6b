"""Chooses between two values in a row by the definition; says why the other is dropped."""

from __future__ import annotations

from typing import Any

from lenient.definitions.json_schema.nodes import Node, normalise_name
from lenient.scan.located_value import LocatedValue


def choose_value(first: LocatedValue, other: LocatedValue, node: Node | None) -> tuple[str, bool]:
    """Return the code for the value that is dropped, and whether the first is kept.

    What counts is not empty, no repetition, and has what the tool requires.
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
    """Return True when an object has nothing of what the tool declares:

    in narration it is not the arguments.
    """
    if node is None or not node.fields or not isinstance(located.value, dict):
        return False
    names = {normalise_name(name) for name in node.fields}
    return bool(located.value) and not any(normalise_name(name) in names for name in located.value)


def _lacks_required(located: LocatedValue, node: Node | None) -> bool:
    """Return True when the value lacks a parameter that the tool requires."""
    required = node.required if node is not None else frozenset()
    return bool(required) and not (isinstance(located.value, dict) and required <= located.value.keys())


def _extends_value(value: Any, part: Any) -> bool:
    """Return True when one object has all members of the other and more. Merged streams grow so."""
    return isinstance(value, dict) and isinstance(part, dict) and part.items() <= value.items()
