"""Measures how deep the arguments of a call nest, also in text that is not valid JSON."""

from __future__ import annotations

import re
from typing import Any

# A run of plain characters is one step: an alternative for each character takes three times as long.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_HOLDERS = frozenset({dict, list})
_LOOKED_AT = 65_536  # characters; what is nested deeper than that far down is not seen


def text_depth(text: str | None) -> int | None:
    """Return the nesting depth of a JSON-like text: 0 without a bracket, 1 for a flat object; None for None.

    Only the first 65,536 characters are measured, without the text in strings.
    """
    if text is None:
        return None
    # Most arguments are flat: one opener, and it opens the text.
    if text[:1] == "{" and "[" not in text and text.count("{") == 1:
        return 1
    deepest = depth = 0
    for char in _STRING.sub("", text[:_LOOKED_AT]):
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth = max(0, depth - 1)
    return deepest


def value_depth(value: Any) -> int:
    """Return the depth of a decoded value: 0 for a scalar, 1 for a flat object."""
    if type(value) is dict and not any(map(_HOLDERS.__contains__, map(type, value.values()))):
        return 1  # most arguments
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [each for one in level for each in (one.values() if isinstance(one, dict) else one)]
    return depth
