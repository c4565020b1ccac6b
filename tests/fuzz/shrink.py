"""A text and a question that it answers with yes → a shorter text that still does.

Leaves out ever smaller stretches, as delta debugging does. Knows nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Text = TypeVar("Text", str, bytes)


def shrunk(text: Text, still: Callable[[Text], bool], tries: int = 3_000) -> Text:
    """A text out of which no stretch can be taken; `tries` bounds how often `still` is asked."""
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
