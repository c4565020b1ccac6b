"""The name of a field as sent → the declared name it stands for, or the one that was perhaps meant.

Knows nothing of values.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from lenient.nodes import Node, inner_nodes, spelling

_MAX_NAME = 64
_MAX_NAMES = 200  # as many as a call can reasonably have


def declared_name(node: Node, key: str, sent: Mapping[str, Any]) -> str:
    """The declared name that a key stands for by another spelling; the key itself when there is none.

    Exactly one declared name must fit, and it must not have been sent by itself or by an earlier key.
    """
    if not node.fields or len(key) > _MAX_NAME or inner_nodes(node, key):
        return key
    name = node.spellings.get(spelling(key))
    if name is None or name in sent:
        return key
    earlier = (node.spellings.get(spelling(other)) for other in _keys_before(sent, key))
    return key if name in earlier else name


def near_name(node: Node, name: str) -> str | None:
    """The declared name most like one that is not declared: only ever suggested."""
    if len(name) > _MAX_NAME:
        return None
    near = difflib.get_close_matches(name, list(node.fields)[:_MAX_NAMES], 1, 0.75)
    return near[0] if near else None


def _keys_before(sent: Mapping[str, Any], key: str) -> list[str]:
    keys = list(sent)[:_MAX_NAMES]
    return keys[: keys.index(key)] if key in keys else keys
