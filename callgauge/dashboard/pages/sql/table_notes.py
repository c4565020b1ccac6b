"""Reads the notes on each table of the store from table_notes.md, which `./dev docs` generates."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).with_name("table_notes.md")
_SECTION = re.compile(r"^## (\w+)\n(.*?)^```sql", re.MULTILINE | re.DOTALL)


@cache
def read_table_notes() -> dict[str, str]:
    """Return the notes by table name. A table without notes has an empty text."""
    text = _PAGE.read_text(encoding="utf-8")
    return {name: note.strip() for name, note in _SECTION.findall(text)}
