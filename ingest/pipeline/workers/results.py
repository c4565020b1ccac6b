"""The parts of files that a worker has sent, with their rows, to be taken one after another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from ingest.pipeline.workers.messages import RowsPart, Shipment, TaskEnded, read_tables
from ingest.sessions.row_batches import Row

TakenIn = Callable[[int], None]
"""Function that is called when a file of rows has been deleted; the argument is its size in bytes."""


@dataclass(slots=True)
class ReceivedPart:
    """A part of a file, with its rows as Arrow tables.

    `unfit` are rows of `rejects` for values that no column can hold. All rows have a ticket in place of a
    file id.
    """

    part: RowsPart
    tables: dict[str, pa.Table]
    unfit: list[Row]

    @property
    def bytes(self) -> int:
        return self.part.bytes

    @property
    def read_and_rejected(self) -> tuple[int, int]:
        return self.part.read, self.part.rejects

    def for_file(self, file_id: int) -> tuple[dict[str, pa.Table], list[Row]]:
        """Return the tables and the unfit values with `file_id` as their file id."""
        tables = {name: _set_file_id(table, file_id) for name, table in self.tables.items()}
        return tables, [row | {"file_id": file_id} for row in self.unfit]


class ReceivedShipment:
    """A shipment of a worker, whose parts are taken or skipped in order.

    The file of rows is opened with the first part taken, and deleted after the last part; the rows stay
    readable as long as a table refers to them.
    """

    def __init__(self, shipment: Shipment, taken_in: TakenIn) -> None:
        self._shipment = shipment
        self._taken_in = taken_in
        self._parts = deque(shipment.parts)
        self._tables: dict[str, pa.Table] | None = None
        self._at: Counter[str] = Counter()

    @property
    def ticket(self) -> int | None:
        """Ticket of the file that the next part belongs to; None when no part is left."""
        return self._parts[0].ticket if self._parts else None

    def skip_part(self) -> None:
        """Drop the next part."""
        part = self._parts.popleft()
        if isinstance(part, RowsPart):
            self._at.update(part.rows)
        self._close()

    def take_part(self) -> ReceivedPart | TaskEnded:
        """Return the next part, or the end of a file."""
        part = self._parts[0]
        if isinstance(part, TaskEnded):
            self.skip_part()
            return part
        if self._tables is None:
            self._tables = self._open_tables()
        tables = {
            name: self._tables[name].slice(self._at[name], count)
            for name, count in part.rows.items()
            if count
        }
        unfit = [row for row in self._shipment.unfit if row["file_id"] == part.ticket]
        self._shipment.unfit = [row for row in self._shipment.unfit if row["file_id"] != part.ticket]
        self.skip_part()
        return ReceivedPart(part, tables, unfit)

    def _open_tables(self) -> dict[str, pa.Table]:
        path = self._shipment.path
        return read_tables(path, self._shipment.tables) if path else {}

    def _close(self) -> None:
        if self._parts:
            return
        self._tables = None
        if self._shipment.path:
            with suppress(OSError):
                self._shipment.path.unlink()
            self._taken_in(self._shipment.size)


def _set_file_id(table: pa.Table, file_id: int) -> pa.Table:
    column = table.schema.get_field_index("file_id")
    if column < 0:
        return table
    of = table.schema.field(column)
    return table.set_column(column, of, pa.repeat(pa.scalar(file_id, of.type), table.num_rows))
