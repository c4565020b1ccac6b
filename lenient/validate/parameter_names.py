"""Matches the name of a field as sent to a declared name, by spelling or by similarity."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from lenient.definitions.json_schema.nodes import Node, inner_nodes, normalise_name

_MAX_NAME = 64
_MAX_NAMES = 200  # as many as a call can reasonably have


def find_declared_name(node: Node, key: str, sent: Mapping[str, Any]) -> str:
    """Return the declared name of which `key` is another spelling, else `key` itself.

    Exactly one declared name must match, and neither this name nor an earlier spelling of it may be in
    `sent`.
    """
    if not node.fields or len(key) > _MAX_NAME or inner_nodes(node, key):
        return key
    name = node.spellings.get(normalise_name(key))
    if name is None or name in sent:
        return key
    earlier = (node.spellings.get(normalise_name(other)) for other in _keys_before(sent, key))
    return key if name in earlier else name


def suggest_name(node: Node, name: str) -> str | None:
    """Return the declared name most similar to an undeclared name, None when none is similar.

    The result serves as a hint only; the value is not moved to that name.
    """
    if len(name) > _MAX_NAME:
        return None
    near = difflib.get_close_matches(name, list(node.fields)[:_MAX_NAMES], 1, 0.75)
    return near[0] if near else None


def _keys_before(sent: Mapping[str, Any], key: str) -> list[str]:
    keys = list(sent)[:_MAX_NAMES]
    return keys[: keys.index(key)] if key in keys else keys
