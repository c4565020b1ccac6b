"""Makes a store of a billion calls out of one day: it is made and summed up, and all others are like it.

The sums of all days are in the generation, in full. Of the newest days the facts are there, without texts. A
segment of older days holds views alone, which read the newest ones with other days and ids. So lists and ids
agree with the sums, whatever day a page opens.

What is fiction: all days have the same numbers. What a page reads of old days costs the views, too, and the
newest days' blocks, which it finds in the cache.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb

from tests.bench.dashboard.made_store import CALLS_A_SESSION, INGEST, LAST, begin, make_day, sum_up

CALLS, DAYS = 1_000_000_000, 730
SPAN, A_SEGMENT = 30, 10  # days with facts of their own, and days of one segment
FILTERS: tuple[dict[str, Any], ...] = (
    {"from_day": LAST - timedelta(days=29)},
    {"from_day": LAST - timedelta(days=29), "models": ["model-7"]},
    {"from_day": LAST - timedelta(days=29), "tools": ["bash"]},
    {"from_day": LAST - timedelta(days=6), "prompts": ["agent4@1"]},
    {"models": ["model-7"]},
)
_FACTS = ("sessions", "turns", "tool_calls", "diagnostics", "step_texts")
_TEXTS = ("user_text", "answer_text", "raw_arguments", "arguments", "result_text", "text")
_IDS = ("session_id", "turn_id", "call_id", "chain_id", "example")
# 400 prompts, the first more often than the last; each with three of 400 models, one source and one strategy.
_MIX = """
    UPDATE made_sessions SET
        prompt_id = 'agent' || n || '@1', model = 'model-' || (n * 7 + (hash(id, 2) % 3)::INT * 131) % 400,
        provider = 'acme', source = if(n % 4 = 0, 'claude_code', 'session_history'),
        strategy = if(n % 10 = 9, 'json_fallback', 'tool_use')
    FROM (
        SELECT id AS number, (400 * pow((hash(id, 4) % 10000) / 10000.0, 1.5))::INT % 400 AS n
        FROM made_sessions
    )
    WHERE id = number
"""


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[tuple[str, str], ...]

    def read(self, place: str, selected: str) -> str:
        return f'SELECT {selected} FROM {place}."{self.name}"'  # noqa: S608 - our tables

    def shifted(self, days: int, mark: str, *, texts: bool) -> str:
        """Return what to select for the same rows so many days earlier; `mark` ends each id."""
        return ", ".join(self._column(name, kind, days, mark, texts) for name, kind in self.columns)

    def _column(self, name: str, kind: str, days: int, mark: str, texts: bool) -> str:
        if name in _TEXTS and not texts:
            return f"NULL::{kind} AS {name}"
        if name in _IDS:
            return f"{name} || '{mark}' AS {name}"
        if kind == "DATE":
            return f"{name} - {days} AS {name}"
        if kind == "TIMESTAMP":
            return f"{name} - INTERVAL {days} DAYS AS {name}"
        return f'"{name}"'


def make_large(folder: Path, calls: int = CALLS, days: int = DAYS) -> None:
    """Write a store with about so many calls on so many days into an empty folder."""
    with tempfile.TemporaryDirectory(dir=folder) as aside, duckdb.connect() as con:
        con.execute("SET preserve_insertion_order = true; SET TimeZone = 'UTC'; SET memory_limit = '4GB'")
        template = Path(aside) / "template.duckdb"
        _make_template(template, max(1, calls // days // CALLS_A_SESSION))
        con.execute(f"ATTACH '{template}' AS template (READ_ONLY)")
        con.execute(f"ATTACH '{folder / 'gen-000001.duckdb'}' AS made")
        _make_tables(con, "made", [])
        tables = list(_tables(con))
        for table in tables:
            _fill(con, table, days)
        facts = [table for table in tables if table.name in _FACTS]
        for number, first in enumerate(range(0, days, A_SEGMENT), start=1):
            _make_segment(con, folder, number, first, facts)
        con.execute("CHECKPOINT made")
    (folder / "CURRENT").write_text("gen-000001.duckdb\n", encoding="utf-8")


def _make_template(path: Path, sessions: int) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("SET memory_limit = '4GB'")
        begin(con)
        make_day(con, LAST, 0, sessions, _MIX)
        sum_up(con)


def _make_tables(con: duckdb.DuckDBPyConnection, catalog: str, names: list[str]) -> None:
    """Make the tables of the schema in an attached file, all of them or those that are named."""
    con.execute(f"USE {catalog}")
    con.execute((INGEST / "schema.sql").read_text("utf-8"))
    if names:
        told = con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [catalog])
        for (name,) in told.fetchall():
            if name not in names:
                con.execute(f'DROP TABLE "{name}"')
    con.execute("USE memory")


def _tables(con: duckdb.DuckDBPyConnection) -> Iterator[_Table]:
    rows = con.execute(
        "SELECT table_name, list((column_name, data_type) ORDER BY column_index) FROM duckdb_columns() "
        "WHERE database_name = 'made' GROUP BY table_name ORDER BY table_name"
    )
    for name, columns in rows.fetchall():
        yield _Table(name, tuple((column[0], column[1]) for column in columns))


def _mark(earlier: int) -> str:
    """Return the end of all ids of a day: of a newest day, and for older ones how many spans before."""
    return f".{earlier % SPAN}" + (f".{earlier // SPAN}" if earlier >= SPAN else "")


def _fill(con: duckdb.DuckDBPyConnection, table: _Table, days: int) -> None:
    """Copy a small table, or a rollup for every day."""
    target = f'made."{table.name}"'
    if table.name in _FACTS:
        return
    if not table.name.startswith("daily_") and table.name != "task_trials":
        con.execute(f"INSERT INTO {target} {table.read('template', '*')}")
        return
    for earlier in reversed(range(days)):
        selected = table.shifted(earlier, _mark(earlier), texts=True)
        con.execute(f"INSERT INTO {target} {table.read('template', selected)}")


def _make_segment(
    con: duckdb.DuckDBPyConnection, folder: Path, number: int, first: int, facts: list[_Table]
) -> None:
    """Write the segment of the days from `first` days before the last on, backwards."""
    name, alias = f"seg-{number:012x}.duckdb", f"segment_{number}"
    con.execute(f"ATTACH '{folder / name}' AS {alias}")
    if first < SPAN:
        _make_tables(con, alias, list(_FACTS))
        for table in facts:
            for earlier in reversed(range(first, first + A_SEGMENT)):
                selected = table.shifted(earlier, _mark(earlier), texts=False)
                con.execute(f'INSERT INTO {alias}."{table.name}" {table.read("template", selected)}')
    else:
        spans = first // SPAN
        base = f"segment_{1 + first % SPAN // A_SEGMENT}"
        for table in facts:
            selected = table.shifted(spans * SPAN, f".{spans}", texts=False)
            con.execute(f'CREATE VIEW {alias}."{table.name}" AS {table.read(f"{base}.main", selected)}')
    con.execute(f"CHECKPOINT {alias}")
    counted = ("sessions", "turns", "tool_calls")
    sizes = dict(
        con.execute(
            "SELECT table_name, estimated_size FROM duckdb_tables() WHERE database_name = 'template'"
        ).fetchall()
    )
    last_day, first_day = LAST - timedelta(days=first), LAST - timedelta(days=first + A_SEGMENT - 1)
    row = (number, name, (folder / name).stat().st_size, *(A_SEGMENT * sizes[each] for each in counted))
    con.execute("INSERT INTO made.segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*row, first_day, last_day])
