"""docs/tables.md in, what each table of the store is for out; its words are those of the schema itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).parents[1] / "docs" / "tables.md"
_SECTION = re.compile(r"^## (\w+)\n(.*?)^```sql", re.MULTILINE | re.DOTALL)


@cache
def table_notes() -> dict[str, str]:
    """Table → paragraphs; empty for a table whose columns speak for themselves."""
    text = _PAGE.read_text(encoding="utf-8")
    return {name: said.strip() for name, said in _SECTION.findall(text)}
