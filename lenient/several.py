"""Two values in a row and the node of the definition → which of them is meant, and why the other is not.

Knows nothing of text.
"""

from __future__ import annotations

from typing import Any

from lenient.located import Located
from lenient.nodes import Node, spelling


def choose(first: Located, other: Located, node: Node | None) -> tuple[str, bool]:
    """The code for the value that is dropped, and whether the first is kept.

    What counts is not empty, no repetition, and has what the tool requires.
    """
    if first.value == {} and other.value:
        return "empty_object_skipped", False
    if first.value == other.value:
        return "repeated_value_skipped", True
    if _holds(other.value, first.value):
        return "repeated_value_skipped", False
    if other.value == {}:
        return "empty_object_skipped", True
    is_worse = (_lacks(first, node) and not _lacks(other, node)) or (
        is_foreign(first, node) and not is_foreign(other, node)
    )
    return "further_value_dropped", not is_worse


def is_foreign(located: Located, node: Node | None) -> bool:
    """Has an object nothing of what the tool declares? Within narration it is not the arguments."""
    if node is None or not node.fields or not isinstance(located.value, dict):
        return False
    names = {spelling(name) for name in node.fields}
    return bool(located.value) and not any(spelling(name) in names for name in located.value)


def _lacks(located: Located, node: Node | None) -> bool:
    """Does the value lack a parameter that the tool requires?"""
    required = node.required if node is not None else frozenset()
    return bool(required) and not (isinstance(located.value, dict) and required <= located.value.keys())


def _holds(value: Any, part: Any) -> bool:
    """Is the one value an object with all members of the other and more? Merged streams grow so."""
    return isinstance(value, dict) and isinstance(part, dict) and part.items() <= value.items()
