"""Generates a store of a billion calls from one day. All other days are copies of this day.

The store has daily sums for all days. For each month length, the code of the loader writes one segment file.
The other old months are copies of these files with other days and ids.

The newest days have rows of single calls, without content. Older days have only views of these rows, with
other days and ids.

Two things are unrealistic. All days have the same numbers. A query of old days reads blocks of the newest
days, which are in the cache.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from bench.dashboard.made_store import CALLS_A_SESSION, INGEST, LAST, begin, make_day, sum_up
from ingest.store.building_months import BuildingMonths
from ingest.store.building_segments import OPEN, make_tables, new_name, next_number, private_path
from ingest.store.connection import GENERATED, WITHOUT_LOG, connect_for_building, copy_database
from ingest.store.generations import BUILDING, ignore_write
from ingest.store.segments import IDS, attach_file, is_sum

CALLS, DAYS = 1_000_000_000, 730
SPAN, A_SEGMENT = 30, 10  # number of days with rows of their own; number of days in one segment file
_NARROWED: tuple[dict[str, Any], ...] = (
    {}, {"models": ["model-7"]}, {"tools": ["bash"]}, {"prompts": ["agent4@1"]},
)  # fmt: skip
MODELS = ("model-7", "model-14", "model-21", "model-28", "model-35")
CHANGES: Sequence[Mapping[str, str]] = (
    {"model": "model-7"}, {"model": "model-14"}, {"model": "model-21", "tool": "bash"}, {"tool": "read"},
    {"source": "claude_code"},
)  # fmt: skip
RANGES: Mapping[str, tuple[dict[str, Any], ...]] = {
    f"the last {days} days": tuple(
        filters | {"from_day": LAST - timedelta(days=days - 1)} for filters in _NARROWED
    )
    for days in (30, 92)
} | {"all days": _NARROWED}
_FACTS = ("sessions", "turns", "tool_calls", "diagnostics", "step_texts")
_TEXTS = ("user_text", "answer_text", "raw_arguments", "arguments", "result_text", "text")
_IDS = ("session_id", "turn_id", "call_id", "chain_id", "example")
# There are 400 prompts of decreasing frequency. Each prompt has three of 400 models, one source and one
# strategy.
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
# The last part of all ids of a day is the day's number in its span. Older days add the span's number.
_MARK_OF = f"""
    CREATE OR REPLACE TEMP MACRO mark_of(earlier) AS (
        SELECT '.' || earlier % {SPAN} || if(earlier >= {SPAN}, '.' || earlier // {SPAN}, '')
    )"""


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[tuple[str, str], ...]

    def read(self, place: str, selected: str) -> str:
        return f'SELECT {selected} FROM {place}."{self.name}"'  # noqa: S608 - our tables

    def shifted(self, days: int, mark: str, *, texts: bool) -> str:
        """Return the SELECT list that copies the rows and moves their dates `days` days into the past.

        `mark` is the SQL of a suffix, which is added to each id. Without `texts`, columns of texts are NULL.
        """
        return ", ".join(self._column(name, kind, days, mark, texts) for name, kind in self.columns)

    def moved(self, days: int) -> str:
        return ", ".join(self._moved_column(name, kind, days) for name, kind in self.columns)

    def without_generated(self) -> _Table:
        return replace(self, columns=tuple(column for column in self.columns if column[0] not in GENERATED))

    def _column(self, name: str, kind: str, days: int, mark: str, texts: bool) -> str:
        if name in _TEXTS and not texts:
            return f"NULL::{kind} AS {name}"
        if name in _IDS:
            return f"{name} || {mark} AS {name}"
        if kind == "DATE":
            return f"{name} - {days} AS {name}"
        if kind == "TIMESTAMP":
            return f"{name} - INTERVAL {days} DAYS AS {name}"
        return f'"{name}"'

    def _moved_column(self, name: str, kind: str, days: int) -> str:
        if name in _IDS:
            on = "example_ts" if name == "example" else "day"
            earlier = f"DATE '{LAST}' - ({on}::DATE + {days})"
            return f"split_part({name}, '.', 1) || mark_of({earlier}) AS {name}"
        return self._column(name, kind, -days, "", texts=True)


def make_large(folder: Path, calls: int = CALLS, days: int = DAYS) -> None:
    """Write a store with about this many calls on this many days into an empty folder."""
    building = folder / BUILDING
    with tempfile.TemporaryDirectory(dir=folder) as aside, closing(connect_for_building(building)) as con:
        con.execute("SET TimeZone = 'UTC'")
        template = Path(aside) / "template.duckdb"
        _make_template(template, max(1, calls // days // CALLS_A_SESSION))
        con.execute(f"ATTACH '{template}' AS template (READ_ONLY)")
        con.execute((INGEST / "schema.sql").read_text("utf-8"))
        tables = list(_tables(con))
        _fill_small_tables(con, tables)
        _fill_days(con, building, tables, days)
        facts = [table for table in tables if table.name in _FACTS]
        for number, first in enumerate(range(0, days, A_SEGMENT), start=next_number(con)):
            _make_segment(con, folder, number, first, facts)
        copy_database(con, OPEN, folder / "gen-000001.duckdb")
    building.unlink()
    for path in folder.glob(f"{BUILDING}.seg-*.duckdb"):
        path.rename(folder / path.name.removeprefix(f"{BUILDING}."))
    (folder / "CURRENT").write_text("gen-000001.duckdb\n", encoding="utf-8")


def _make_template(path: Path, sessions: int) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute("SET memory_limit = '4GB'")
        begin(con)
        make_day(con, LAST, 0, sessions, _MIX)
        sum_up(con)


def _tables(con: duckdb.DuckDBPyConnection, catalog: str = OPEN) -> Iterator[_Table]:
    rows = con.execute(
        "SELECT table_name, list((column_name, data_type) ORDER BY column_index) FROM duckdb_columns() "
        "WHERE database_name = ? GROUP BY table_name ORDER BY table_name",
        [catalog],
    )
    for name, columns in rows.fetchall():
        yield _Table(name, tuple((column[0], column[1]) for column in columns))


def _fill_small_tables(con: duckdb.DuckDBPyConnection, tables: list[_Table]) -> None:
    for table in tables:
        if table.name not in _FACTS and not is_sum(table.name):
            con.execute(f'INSERT INTO "{table.name}" {table.read("template", "*")}')


def _fill_days(con: duckdb.DuckDBPyConnection, building: Path, tables: list[_Table], days: int) -> None:
    """Write the sums of all days.

    As when logs are loaded, the newest month comes first, so the rows of all other months count as old.
    """
    con.execute(_MARK_OF)
    months = BuildingMonths(con, building, ignore_write, [])
    all_days = (LAST - timedelta(days=earlier) for earlier in range(days))
    for _, in_month in groupby(all_days, lambda day: (day.year, day.month)):
        of_month = sorted(in_month)
        if (like := _find_sealed(con, of_month)) is not None:
            _copy_month(con, building, like, of_month[0])
            continue
        for day in of_month:
            _fill_day(con, tables, (LAST - day).days)
        con.execute("CHECKPOINT")
        months.seal()


def _fill_day(con: duckdb.DuckDBPyConnection, tables: list[_Table], earlier: int) -> None:
    for table in tables:
        if is_sum(table.name):
            selected = table.shifted(earlier, f"mark_of({earlier})", texts=True)
            con.execute(f'INSERT INTO "{table.name}" {table.read("template", selected)}')


def _find_sealed(con: duckdb.DuckDBPyConnection, days: Sequence[date]) -> int | None:
    """Return the number of a segment with a whole month of the same length, or None.

    Also return None when `days` do not begin on the first day of a month.
    """
    if days[0].day > 1:
        return None
    row = con.execute(
        "SELECT min(number) FROM segments WHERE day(first_day) = 1 AND day(last_day) = ? "
        "AND last_day = last_day(month)",
        [len(days)],
    ).fetchone()
    return row[0] if row else None


def _copy_month(con: duckdb.DuckDBPyConnection, building: Path, like: int, month: date) -> None:
    name, number = new_name(), next_number(con)
    path, base, alias = private_path(building, name), f"segment_{like}", f"segment_{number}"
    query = "SELECT name, month FROM segments WHERE number = ?"
    ((base_name, base_month),) = con.execute(query, [like]).fetchall()
    attach_file(con, str(private_path(building, base_name)), base)
    attach_file(con, str(path), alias, WITHOUT_LOG)
    tables = list(_tables(con, base))
    make_tables(con, alias, [table.name for table in tables if not table.name.startswith("monthly_")])
    later = (month - base_month).days
    for table in tables:
        rows = table.read(base, table.moved(later))
        if table.name.startswith("monthly_"):
            con.execute(f'CREATE TABLE {alias}."{table.name}" AS {rows}')
        else:
            con.execute(f'INSERT INTO {alias}."{table.name}" {rows}')
    con.execute(f"CHECKPOINT {alias}; DETACH {alias}; DETACH {base}")
    con.execute(
        "INSERT INTO segments BY NAME SELECT * REPLACE (? AS number, ? AS name, ? AS size_bytes, "
        "first_day + ? AS first_day, last_day + ? AS last_day, ? AS month) FROM segments WHERE number = ?",
        [number, name, path.stat().st_size, later, later, month, like],
    )


def _make_segment(
    con: duckdb.DuckDBPyConnection, folder: Path, number: int, first: int, facts: list[_Table]
) -> None:
    name, alias = f"seg-{number:012x}.duckdb", f"segment_{number}"
    con.execute(f"ATTACH '{folder / name}' AS {alias}")
    if first < SPAN:
        make_tables(con, alias, _FACTS)
        for table in facts:
            for earlier in reversed(range(first, first + A_SEGMENT)):
                selected = table.without_generated().shifted(earlier, f"mark_of({earlier})", texts=False)
                rows = table.read("template", selected)
                con.execute(f'INSERT INTO {alias}."{table.name}" BY NAME {rows}')
    else:
        spans = first // SPAN
        base = f"segment_{number - first // A_SEGMENT + first % SPAN // A_SEGMENT}"
        for table in facts:
            selected = table.shifted(spans * SPAN, f"'.{spans}'", texts=False)
            con.execute(f'CREATE VIEW {alias}."{table.name}" AS {table.read(f"{base}.main", selected)}')
    # stays empty, because this store never receives a load
    con.execute(f"CREATE TABLE {alias}.{IDS} (id_hash UBIGINT)")
    con.execute(f"CHECKPOINT {alias}")
    counted = ("sessions", "turns", "tool_calls")
    sizes = dict(
        con.execute(
            "SELECT table_name, estimated_size FROM duckdb_tables() WHERE database_name = 'template'"
        ).fetchall()
    )
    last_day, first_day = LAST - timedelta(days=first), LAST - timedelta(days=first + A_SEGMENT - 1)
    row = (number, name, (folder / name).stat().st_size, *(A_SEGMENT * sizes[each] for each in counted))
    columns = "number, name, size_bytes, sessions, turns, calls, first_day, last_day, has_deleted"
    values = [*row, first_day, last_day, False]
    con.execute(f"INSERT INTO segments ({columns}) SELECT {', '.join('?' * len(values))}", values)
