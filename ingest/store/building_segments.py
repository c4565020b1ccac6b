"""Moves fact rows between the store file being built and its segment files. Makes new segment files.

A published segment file is never changed. A load that must move rows out of a segment file works on a copy
with a new name. When the main file has many fact rows, the rows move to segment files, which later loads need
not copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

from msgspec.structs import replace

from ingest.errors import explain_os_errors
from ingest.store.connection import COPY, GENERATED, WITHOUT_LOG, check_copy
from ingest.store.generations import BUILDING, OnWrite
from ingest.store.scripts import read_script
from ingest.store.segments import (
    FACT_TABLES,
    IDS,
    Connection,
    Segment,
    attach_file,
    attach_segments,
    view_rows,
)
from ingest.store.shared.segment_places import find_segment_places

SEAL_AT = 512 * 1024 * 1024
"""When the fact rows in the main file take more bytes than this, they move to segment files. A load copies
the main file, so this limits the size of the copy.
"""
OPEN = "building"
"""The name under which the main file being built is attached."""

_BYTES = "SELECT count(DISTINCT block_id) * 262144 FROM pragma_storage_info('{table}') WHERE block_id >= 0"
# Returns the first file of each slice; slices have about the same number of turns and calls.
_SLICES = """
    SELECT min(file_id) FROM (
        SELECT
            file_id,
            (sum(count(*)) OVER (ORDER BY file_id) - count(*)) * ? // sum(count(*)) OVER () AS slice
        FROM (SELECT file_id FROM building.tool_calls UNION ALL SELECT file_id FROM building.turns)
        GROUP BY file_id
    ) GROUP BY slice ORDER BY slice"""
_OF_SLICE = "file_id >= $low AND ($high IS NULL OR file_id < $high)"
_OF_SESSIONS = "SELECT rowid FROM {source} SEMI JOIN chosen_sessions USING (source, session_id)"
_OF_FILES = "SELECT rowid FROM {source} WHERE file_id IN (FROM chosen_files)"
_OF_CALLS = """
    SELECT rowid FROM {source} WHERE (call_id, file_id) IN (
        SELECT (call_id, file_id) FROM {calls} WHERE rowid IN (FROM pulled_tool_calls))"""
# hash() may give other results in another version of DuckDB, so the table `segments` stores the version.
# The order lets a search for a few ids skip most blocks.
_LIST_IDS = f"""
    CREATE OR REPLACE TABLE {{alias}}.{IDS} AS
    SELECT hash(call_id) AS id_hash FROM {{alias}}.tool_calls
    UNION ALL SELECT hash(turn_id) FROM {{alias}}.turns
    ORDER BY id_hash"""  # noqa: S608 - our own names
_LISTED = "SELECT number FROM segments WHERE ids_by = version()"
_SEARCHED_IDS = """
    CREATE OR REPLACE TEMP TABLE searched_ids AS
    SELECT hash(call_id) AS id_hash FROM latest_calls UNION SELECT hash(turn_id) FROM latest_turns"""
_FIND_MCP_SERVERS = """
    UPDATE {alias}.tool_calls SET mcp_server = find_mcp_server(tool)
    WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__')"""
_SEARCHED = ("tool_calls", "turns")
_DESCRIBE = """
    UPDATE segments SET
        name = ?, size_bytes = ?, has_deleted = ?, ids_by = version(),
        sessions = (SELECT count(*) FROM {alias}.sessions),
        turns = (SELECT count(*) FROM {alias}.turns),
        calls = (SELECT count(*) FROM {alias}.tool_calls),
        first_day = days.first_day, last_day = days.last_day,
        model_names = (
            SELECT list(model_name ORDER BY model_name) FROM (
                SELECT model_name FROM {alias}.tool_calls UNION SELECT model_name FROM {alias}.turns
                UNION SELECT model_name FROM {alias}.step_texts
            ) WHERE model_name IS NOT NULL
        )
    FROM (
        SELECT if(count(day) = count(*), min(day), NULL) AS first_day, max(greatest(day, until)) AS last_day
        FROM (
            SELECT day, day AS until FROM {alias}.tool_calls
            UNION ALL SELECT day, ended_at::DATE FROM {alias}.turns
            UNION ALL SELECT day, ended_at::DATE FROM {alias}.sessions
        )
    ) AS days
    WHERE number = ?"""


class BuildingSegments:
    """The fact segments of the store file being built, attached to its connection.

    The temporary views `stored_sessions`, `stored_turns`, `stored_tool_calls`, `stored_diagnostics` and
    `stored_step_texts` show the rows of all files. The tables without this prefix contain only the rows in
    the main file.
    """

    def __init__(
        self,
        con: Connection,
        building: Path,
        on_write: OnWrite,
        segments: Sequence[Segment],
        *,
        has_migrated: bool = False,
    ) -> None:
        self._con = con
        self._building = building
        self._on_write = on_write
        self._segments = {segment.number: segment for segment in segments if segment.month is None}
        self._changed: dict[int, Path] = {}  # this load's copies of segment files, by segment number
        self._with_deleted: set[int] = set()
        self._places = find_segment_places(building.parent)
        attach_segments(con, list(self._segments.values()), self._places)
        if has_migrated:
            self._write_anew(list(self._segments))
            for segment in self._segments.values():
                con.execute(_FIND_MCP_SERVERS.format(alias=segment.alias))
                con.execute(_LIST_IDS.format(alias=segment.alias))
            con.execute("UPDATE segments SET ids_by = version()")
        self._make_views()

    def __bool__(self) -> bool:
        return bool(self._segments)

    def _make_views(self) -> None:
        catalogs = [OPEN, *(segment.alias for segment in self._segments.values())]
        view_rows(self._con, "stored", FACT_TABLES, catalogs)
        self._view_searched(catalogs)

    def _view_searched(self, catalogs: Sequence[str]) -> None:
        view_rows(self._con, "searched", _SEARCHED, catalogs)

    def narrow_search(self) -> None:
        """Restrict `searched_tool_calls` and `searched_turns` to segments that may contain the searched ids.

        The searched ids are in `latest_calls` and `latest_turns`.
        """
        if not self._segments:
            return
        self._con.execute(_SEARCHED_IDS)
        listed = {number for (number,) in self._con.execute(_LISTED).fetchall()}
        template = f"SELECT EXISTS (FROM {{alias}}.{IDS} SEMI JOIN searched_ids USING (id_hash))"
        near = [OPEN]
        for number, segment in self._segments.items():
            query = template.format(alias=segment.alias)
            if number not in listed or self._con.execute(query).fetchone() == (True,):
                near.append(segment.alias)
        self._view_searched(near)

    # --- rows that this load will change -------------------------------------------------------

    def pull_sessions(self, query: str) -> None:
        """Move all rows of sessions into the main file. `query` selects their source and session_id."""
        if self._segments:
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE chosen_sessions AS {query}")
            self._pull(_OF_SESSIONS)

    def pull_files(self, query: str, values: Sequence[Any] = ()) -> None:
        """Move all rows of files into the main file. `query` selects their file_id."""
        if self._segments:
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE chosen_files AS {query}", values)
            self._pull(_OF_FILES)

    def _pull(self, chosen: str) -> None:
        for segment in list(self._segments.values()):
            if not self._holds(segment, chosen):
                continue
            own = self._own(segment)
            self._mark_rows(own, chosen)
            for table in FACT_TABLES:
                rows = f"{own.alias}.{table} WHERE rowid IN (FROM pulled_{table})"
                select = f"SELECT {_kept_columns(table)} FROM {rows}"  # noqa: S608
                self._con.execute(f"INSERT INTO {OPEN}.{table} BY NAME {select}")
                self._con.execute(f"DELETE FROM {rows}")  # noqa: S608
            self._with_deleted.add(own.number)

    def _holds(self, segment: Segment, chosen: str) -> bool:
        rows = chosen.format(source=f"{segment.alias}.sessions")
        return self._con.execute(f"SELECT EXISTS ({rows})").fetchone() == (True,)

    def _mark_rows(self, segment: Segment, chosen: str) -> None:
        calls = f"{segment.alias}.tool_calls"
        for table in ("sessions", "turns", "tool_calls", "step_texts", "diagnostics"):
            query = _OF_CALLS if table == "diagnostics" else chosen
            rows = query.format(source=f"{segment.alias}.{table}", calls=calls)
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE pulled_{table} AS {rows}")

    def _own(self, segment: Segment) -> Segment:
        """Copy a segment file unless this load has already copied it."""
        if segment.number in self._changed:
            return self._segments[segment.number]
        own = replace(segment, name=new_name())
        path = private_path(self._building, own.name)
        self._on_write("segment copy")
        self._con.execute(f"DETACH {segment.alias}")
        with explain_os_errors(self._building.parent):
            self._places.copy(segment.name, path)
        attach_file(self._con, str(path), own.alias, WITHOUT_LOG)
        self._segments[own.number], self._changed[own.number] = own, path
        return own

    # --- new segments ---------------------------------------------------------------------------

    def seal(self) -> bool:
        """Move the fact rows to segment files if the rows take over `SEAL_AT` bytes. Return whether rows
        moved.

        Deleted rows still take space in the main file, so the caller must rewrite the main file.
        """
        if self._building.stat().st_size <= SEAL_AT:
            return False
        size = count_bytes(self._con, FACT_TABLES)
        if size <= SEAL_AT or self._is_empty(OPEN):
            return False
        slices = max(1, round(size / SEAL_AT)) if SEAL_AT else 1
        bounds = [low for (low,) in self._con.execute(_SLICES, [slices]).fetchall()][1:]
        for low, high in pairwise([0, *bounds, None]):
            self._make_segment(low, high)
        for table in FACT_TABLES:
            self._con.execute(f"DELETE FROM {OPEN}.{table}")  # noqa: S608 - our own names
        self._make_views()
        return True

    def _make_segment(self, low: int | None, high: int | None) -> None:
        number = next_number(self._con)
        segment = Segment(number, new_name())
        path = private_path(self._building, segment.name)
        self._on_write("segment")
        attach_file(self._con, str(path), segment.alias, WITHOUT_LOG)
        self._segments[number], self._changed[number] = segment, path
        self._copy_facts(OPEN, segment.alias, f"WHERE {_OF_SLICE}", {"low": low, "high": high})
        self._con.execute("INSERT INTO segments (number) VALUES (?)", [number])

    def _copy_facts(
        self, source: str, target: str, chosen: str = "", values: Mapping[str, Any] | None = None
    ) -> None:
        """Copy fact rows of one attached file into another attached file, which is empty."""
        make_tables(self._con, target, FACT_TABLES)
        for table in FACT_TABLES:
            rows = f"SELECT {_kept_columns(table)} FROM {source}.{table} {chosen}"  # noqa: S608
            self._con.execute(f"INSERT INTO {target}.{table} BY NAME {rows}", values)

    def clean(self) -> None:
        """Rewrite segment files that may still contain bytes of deleted rows."""
        stale = {
            number
            for (number,) in self._con.execute("SELECT number FROM segments WHERE has_deleted").fetchall()
        }
        self._write_anew(sorted(stale | self._with_deleted))
        self._con.execute("UPDATE segments SET has_deleted = false")

    def _write_anew(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            segment = self._segments[number]
            fresh = replace(segment, name=new_name())
            path = private_path(self._building, fresh.name)
            self._on_write("segment clean")
            attach_file(self._con, str(path), COPY, WITHOUT_LOG)
            self._copy_facts(segment.alias, COPY)
            check_copy(self._con, segment.alias, FACT_TABLES, path)
            self._con.execute(f"DETACH {COPY}")
            self._con.execute(f"DETACH {segment.alias}")
            attach_file(self._con, str(path), fresh.alias, WITHOUT_LOG)
            if number in self._changed:
                self._changed[number].unlink()
            self._segments[number], self._changed[number] = fresh, path
            self._with_deleted.discard(number)

    def finish(self) -> None:
        """Complete the segment files that this load changed or made, and add them to the table `segments`."""
        for number, path in self._changed.items():
            segment = self._segments[number]
            self._on_write("segment checkpoint")
            if self._is_empty(segment.alias):
                self._con.execute(f"DETACH {segment.alias}")
                self._con.execute("DELETE FROM segments WHERE number = ?", [number])
                path.unlink()
                continue
            self._con.execute(_LIST_IDS.format(alias=segment.alias))
            self._con.execute(f"CHECKPOINT {segment.alias}")
            values = [segment.name, path.stat().st_size, number in self._with_deleted, number]
            self._con.execute(_DESCRIBE.format(alias=segment.alias), values)
            self._con.execute(f"DETACH {segment.alias}")

    def _is_empty(self, catalog: str) -> bool:
        condition = " OR ".join(f"EXISTS (FROM {catalog}.{table})" for table in FACT_TABLES)
        return self._con.execute(f"SELECT {condition}").fetchone() == (False,)


def _kept_columns(table: str) -> str:
    return f"* EXCLUDE ({', '.join(GENERATED)})" if table == "tool_calls" else "*"


def count_bytes(con: Connection, tables: Iterable[str]) -> int:
    """Return the size in bytes of tables in the main file. Call this after a checkpoint."""
    return sum(int(con.execute(_BYTES.format(table=table)).fetchall()[0][0]) for table in tables)


def make_tables(con: Connection, target: str, names: Iterable[str]) -> None:
    """Make the named tables of the schema in an attached file."""
    tables = rf"(?ms)^CREATE TABLE (?:{'|'.join(names)}) \(.*?^\);"
    con.execute(f"USE {target}")
    try:
        con.execute("\n".join(re.findall(tables, read_script("schema.sql"))))
    finally:
        con.execute(f"USE {OPEN}")


def next_number(con: Connection) -> int:
    """Return the number of the next segment of the store file being built."""
    ((number,),) = con.execute("SELECT coalesce(max(number), 0) + 1 FROM segments").fetchall()
    return int(number)


def new_name() -> str:
    """Return an unused name for a segment file."""
    return f"seg-{token_hex(6)}.duckdb"


def private_path(building: Path, name: str) -> Path:
    """Return the path of a segment file before the file is published. See `StoreFolder.publish`."""
    return building.with_name(f"{BUILDING}.{name}")
