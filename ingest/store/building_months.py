"""Keeps the daily sums of old months in segment files of the store file being built, one per month.

When the sums in the main file take more than `SEAL_AT` bytes, old months move to segment files, which later
loads need not copy. A segment file also has the month's totals. A segment file is never changed. Before a
load changes a sum of the month, it moves the month back to the main file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from ingest.errors import StoreError
from ingest.store.building_segments import (
    OPEN,
    count_bytes,
    make_tables,
    new_name,
    next_number,
    private_path,
)
from ingest.store.connection import WITHOUT_LOG
from ingest.store.daily_tables import DAILY_TABLES, DailyTable
from ingest.store.generations import OnWrite
from ingest.store.segments import (
    SEARCHED_SUMS,
    TRIALS,
    Connection,
    Segment,
    attach_file,
    attach_segments,
    monthly_table,
    view_rows,
)
from ingest.store.shared.segment_places import find_segment_places

SEAL_AT = 256 * 1024 * 1024
"""When the sums in the main file take more bytes than this, old months move to segment files."""
KEPT_OPEN = timedelta(days=31)
"""A month that ended less than this before the newest day stays in the main file, because loads often change
its sums.
"""
ROWS_AT_ONCE = 200_000
"""Rows of a table that are sorted and added up together. More rows are processed in parts, to save memory."""
_WORTH = 64  # a month whose sums take less than 1/64 of SEAL_AT stays in the main file

_DAILY = tuple(table.name for table in DAILY_TABLES)
_SUMS = (*_DAILY, TRIALS)
_OF_MONTH = "day BETWEEN $first AND last_day($first::DATE)"
_ALL_DAYS = " UNION ALL ".join(f"(SELECT day FROM {{catalog}}.{table})" for table in _SUMS)  # noqa: S608 - our own names
_OPEN_MONTHS = f"""
    SELECT date_trunc('month', day)::DATE AS month, last_day(month) AS ends, count(*) AS n, max(day) AS newest
    FROM ({_ALL_DAYS.format(catalog=OPEN)}) WHERE day IS NOT NULL GROUP BY month ORDER BY month"""  # noqa: S608 - our own names
_NAMED_MONTHS = "SELECT DISTINCT date_trunc('month', day)::DATE FROM ({query}) WHERE day IS NOT NULL"
_ON_SEALED_DAYS = f"""
    SELECT min(day) FROM ({_ALL_DAYS.format(catalog=OPEN)})
    WHERE date_trunc('month', day) IN (SELECT month FROM segments WHERE month IS NOT NULL)"""  # noqa: S608 - our own names
_DESCRIBE = f"""
    INSERT INTO segments (number, name, size_bytes, first_day, last_day, has_deleted, month)
    SELECT ?, ?, ?, min(day), max(day), false, ? FROM ({_ALL_DAYS})"""  # noqa: S608 - our own names


class BuildingMonths:
    """The month segments of the store file being built, attached to its connection.

    Makes temporary views `stored_…`, which show the sums of all days. The tables without this prefix contain
    only the sums in the main file.
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
        self._months = [segment for segment in segments if segment.month is not None]
        attach_segments(con, self._months, find_segment_places(building.parent))
        if has_migrated:
            self._pull(list(self._months))
        self._make_views()

    def __bool__(self) -> bool:
        return bool(self._months)

    def _make_views(self) -> None:
        catalogs = [OPEN, *(month.alias for month in self._months)]
        view_rows(self._con, "stored", SEARCHED_SUMS, catalogs)

    # --- months that this load will change -------------------------------------------------------

    def pull_days(self, query: str) -> None:
        """Move the months that contain selected days back into the main file. `query` selects the days."""
        if self._months:
            wanted = {month for (month,) in self._con.execute(_NAMED_MONTHS.format(query=query)).fetchall()}
            self._pull([month for month in self._months if month.month in wanted])

    def pull_rows(self, table: str, condition: str) -> None:
        """Move months back into the main file if a row of a sums table in the month meets a condition."""
        template = f"SELECT EXISTS (FROM {{alias}}.{table} WHERE {condition})"
        self._pull(
            [
                month
                for month in self._months
                if self._con.execute(template.format(alias=month.alias)).fetchone() == (True,)
            ]
        )

    def _pull(self, months: Sequence[Segment]) -> None:
        for month in months:
            self._on_write("month back")
            for table in _SUMS:
                self._con.execute(f"INSERT INTO {OPEN}.{table} BY NAME FROM {month.alias}.{table}")
            self._con.execute("DELETE FROM segments WHERE number = ?", [month.number])
            self._months.remove(month)
        if months:
            self._make_views()
        for month in months:
            self._con.execute(f"DETACH {month.alias}")

    # --- new segments ---------------------------------------------------------------------------

    def seal(self) -> bool:
        """Move old months to segment files if the sums take over `SEAL_AT` bytes. Return whether any month
        moved.

        Deleted rows still take space in the main file, so the caller must rewrite this file. Raises
        StoreError when a load wrote a sum for a month that already has a segment file.
        """
        if self._building.stat().st_size <= SEAL_AT and not self._months:
            return False
        self._check_open_days()
        sealed = self._choose_months()
        for month in sealed:
            self._make_segment(month)
        return bool(sealed)

    def _check_open_days(self) -> None:
        conflict = self._con.execute(_ON_SEALED_DAYS).fetchone() if self._months else None
        if conflict and conflict[0]:
            raise StoreError(
                f"sums of {conflict[0]} conflict with those of its month; nothing was published. "
                "This is a bug; please report it"
            )

    def _choose_months(self) -> list[date]:
        rows = self._con.execute(_OPEN_MONTHS).fetchall()
        today = datetime.now(UTC).date()  # a wrong clock may have written future days
        newest = min(today, max((row[-1] for row in rows), default=today))
        old = [(month, n) for month, ends, n, _ in rows if newest - ends >= KEPT_OPEN]
        size = count_bytes(self._con, _SUMS) if old else 0
        if size <= SEAL_AT:
            return []
        total = sum(n for _, _, n, _ in rows)
        return [month for month, n in old if size * n // total >= SEAL_AT // _WORTH]

    def _make_segment(self, month: date) -> None:
        number = next_number(self._con)
        segment = Segment(number, new_name(), month)
        path = private_path(self._building, segment.name)
        self._on_write("month")
        attach_file(self._con, str(path), segment.alias, WITHOUT_LOG)
        make_tables(self._con, segment.alias, _SUMS)
        for name in _DAILY:
            monthly = f"{segment.alias}.{monthly_table(name)}"
            self._con.execute(f"CREATE TABLE {monthly} AS FROM {segment.alias}.{name} LIMIT 0")
        for table in DAILY_TABLES:
            self._move_days(segment, table.name, table.order)
            self._add_up(segment, table)
        self._move_days(segment, TRIALS)
        self._on_write("month checkpoint")
        self._con.execute(f"CHECKPOINT {segment.alias}")
        self._con.execute(
            _DESCRIBE.format(catalog=segment.alias), [number, segment.name, path.stat().st_size, month]
        )
        self._con.execute(f"DETACH {segment.alias}")

    def _move_days(self, segment: Segment, table: str, order: Sequence[str] = ()) -> None:
        rows = f"FROM {OPEN}.{table} WHERE {_OF_MONTH}"
        days: dict[str, Any] = {"first": segment.month}
        moved = 0
        for part, sort in self._find_parts(rows, order, days):
            insertion = f"INSERT INTO {segment.alias}.{table} BY NAME {rows}{_in_part(part)} {sort}"
            ((n,),) = self._con.execute(insertion, days | part).fetchall()
            moved += n
        if [(moved,)] != self._con.execute(f"DELETE {rows}", days).fetchall():
            raise StoreError(f"{segment.name} lacks rows of {table}. This is a bug: report it")

    def _add_up(self, segment: Segment, table: DailyTable) -> None:
        days = f"{segment.alias}.{table.name}"
        columns = self._con.table(f"{segment.alias}.main.{table.name}").columns
        for part, sort in self._find_parts(f"FROM {days}", table.order):
            query = table.sum_month(columns, f"(FROM {days} WHERE true{_in_part(part)})")
            insertion = f"INSERT INTO {segment.alias}.{monthly_table(table.name)} BY NAME {query} {sort}"
            self._con.execute(insertion, part)

    def _find_parts(
        self, rows: str, order: Sequence[str], parameters: Mapping[str, Any] | None = None
    ) -> list[tuple[dict[str, Any], str]]:
        """Return the conditions that split the rows into groups, and the ORDER BY for each group.

        All rows of a group have the same value, not NULL, in each column of `order` except the day.
        """
        names = [name for name in order if name != "day"]
        if not names:
            return [({}, "")]
        counted = f"SELECT {', '.join(names)}, count(*) {rows} GROUP BY ALL ORDER BY ALL"
        counts = self._con.execute(counted, parameters).fetchall()
        if sum(n for *_, n in counts) <= ROWS_AT_ONCE:
            return [({}, f"ORDER BY {', '.join(order)}")]
        return [(dict(zip(names, values, strict=True)), "") for *values, _ in counts]


def _in_part(part: Mapping[str, Any]) -> str:
    return "".join(f" AND {name} = ${name}" for name in part)
