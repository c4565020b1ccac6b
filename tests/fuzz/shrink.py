"""Shortens a string while a condition stays true, by delta debugging."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Text = TypeVar("Text", str, bytes)


def shrunk(text: Text, still: Callable[[Text], bool], tries: int = 3_000) -> Text:
    """Return a shorter string for which `still` is true. Call `still` at most `tries` times."""
    size = len(text) // 2
    while size and tries > 0:
        at = 0
        while at < len(text) and tries > 0:
            shorter = text[:at] + text[at + size :]
            tries -= 1
            if still(shorter):
                text = shorter
            else:
                at += size
        size //= 2
    return text
