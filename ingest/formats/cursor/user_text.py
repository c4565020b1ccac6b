"""Finds what the user typed in the text that Cursor sends for it."""

from __future__ import annotations

import re

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def read_query(text: str) -> str:
    """Return what stands in `<user_query>`, all of it where there are several; else the whole text."""
    found = _QUERY.findall(text)
    return "\n".join(found) if found else text
