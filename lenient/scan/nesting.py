"""Finds members that were read into an inner object because its closing brace is missing.

In `{"filters": {"year": 1, "limit": 5}`, one brace is missing. Whether the brace belongs before `limit` or at
the end depends on the object for which the definition declares `limit`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.scan.source_text import ValueSpan


class StrayMembers(NamedTuple):
    """Members of an inner object that belong to an outer object.

    `inner` is the inner object including these members, `marks` maps its names to spans, `names` are the
    members to move, and `end` is the offset where the inner object ends without them.
    """

    inner: dict[str, Any]
    marks: dict[str, ValueSpan]
    names: list[str]
    end: int


def find_strays(
    outer: dict[str, Any],
    marks: dict[str, ValueSpan],
    fields: Mapping[str, Node],
) -> StrayMembers | None:
    """Return the members of an inner object that belong to `outer`, None when there are none.

    A member belongs to `outer` when its name is declared in `fields`, the fields of `outer`, and not for the
    inner object. `marks` are the spans of the members of `outer`. The search follows the last member of each
    object and the last item of each array.
    """
    value, mark, node = _find_last_object(outer, marks, fields)
    while isinstance(value, (dict, list)) and value and mark is not None:
        if isinstance(value, list):
            children: Any = mark.children
            value, mark, node = value[-1], children[-1], node.items if node is not None else None
            continue
        own = known_fields(node)
        inner_marks: Any = mark.children
        names = _find_stray_names(value, own, outer, fields)
        if 0 < len(names) < len(value):
            kept = [name for name in value if name not in names]
            return StrayMembers(value, inner_marks, names, inner_marks[kept[-1]].end)
        value, mark, node = _find_last_object(value, inner_marks, own)
    return None


def _find_last_object(
    value: dict[str, Any], marks: dict[str, ValueSpan], fields: Mapping[str, Node]
) -> tuple[Any, ValueSpan | None, Node | None]:
    if not value:
        return None, None, None
    name = next(reversed(value))
    return value[name], marks[name], fields.get(name)


def _find_stray_names(
    inner: dict[str, Any], own: Collection[str], outer: dict[str, Any], fields: Collection[str]
) -> list[str]:
    """Return the last names of `inner` that are declared for `outer` and not for `inner`."""
    names: list[str] = []
    for name in reversed(inner):
        if name in own or name not in fields or name in outer:
            break
        names.append(name)
    return names[::-1]


def is_ambiguous(outer: dict[str, Any], fields: Collection[str]) -> bool:
    """Return True when a missing brace may also belong before a member of the last inner object.

    This is the case when that object has several members and no `fields` are declared for `outer`.
    """
    last = outer[next(reversed(outer))] if outer else None
    return isinstance(last, dict) and len(last) > 1 and not fields
