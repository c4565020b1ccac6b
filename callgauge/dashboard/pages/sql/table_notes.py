"""What each table of the store is for, in the words of the schema:

table_notes.md, written by `./dev docs`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).with_name("table_notes.md")
_SECTION = re.compile(r"^## (\w+)\n(.*?)^```sql", re.MULTILINE | re.DOTALL)


@cache
def read_table_notes() -> dict[str, str]:
    """Return the paragraphs on each table; none where the columns speak for themselves."""
    text = _PAGE.read_text(encoding="utf-8")
    return {name: said.strip() for name, said in _SECTION.findall(text)}
