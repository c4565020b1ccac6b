"""The example queries of the SQL page: each `.sql` file in this folder is one query with a header.

`-- title:` is the name of the query, and `-- question:` is the question that the query answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_FIELD = re.compile(r"^-- (title|question): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    name: str
    title: str
    question: str
    sql: str


@cache
def queries() -> dict[str, Query]:
    """Every query of this folder by name."""
    return {path.stem: _read_query(path) for path in sorted(_FOLDER.glob("*.sql"))}


def _read_query(path: Path) -> Query:
    sql = path.read_text(encoding="utf-8")
    fields = dict(_FIELD.findall(sql))
    return Query(path.stem, fields["title"], fields["question"], sql)
