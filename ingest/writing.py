"""Rows of one file after another in, batches in the generation being built out; begun with the first."""

from __future__ import annotations

from collections import Counter

from ingest.batches import Batch, Columns, Rows
from ingest.generations import Folder
from ingest.store import Building

BATCH_ROWS = 20_000  # some 50 MB of everyday rows; larger batches load no faster
BATCH_BYTES = 32 * 1024 * 1024  # of log read since the last batch: rows can be as long as their lines


class Writer:
    """The only one who writes facts. `unfit` counts, by file id, the values that no column could hold."""

    def __init__(self, folder: Folder, first_file_id: int) -> None:
        self._folder = folder
        self._building: Building | None = None
        self._batch = Batch()
        self._bytes = 0
        self._file_id = first_file_id - 1
        self._written = False  # rows of the present file are in the building file already
        self.unfit: Counter[int] = Counter()

    @property
    def building(self) -> Building:
        """The generation being built, begun as a copy of the published one when first asked for."""
        if self._building is None:
            self._building = Building(self._folder.copy_aside(), self._folder.on_write)
        return self._building

    @property
    def begun(self) -> bool:
        return self._building is not None

    def begin_file(self) -> int:
        """The id of the next file, whose rows come now."""
        self._file_id += 1
        self._written = False
        self._batch.begin_file()
        return self._file_id

    def add(self, table: str, rows: Rows) -> None:
        self._batch.add(table, rows)

    def after(self, bytes_read: int) -> None:
        """Write the batch when it is due, `bytes_read` further bytes of log later."""
        self._bytes += bytes_read
        if self._batch.count >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self._written = True
            self.flush()

    def take_back_file(self) -> None:
        """Undo the present file."""
        self._batch.take_back_file()
        self.unfit.pop(self._file_id, None)
        if self._written:
            self.building.forget(self._file_id)

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._bytes = self._batch.empty(), 0
        if not waiting:
            return
        schemas = self.building.schemas
        rejects = waiting.pop("rejects", Columns())
        tables = {}
        for name, columns in waiting.items():
            tables[name], unfit = columns.to_arrow(name, schemas[name])
            told = [row for row in unfit if row["file_id"] is not None]
            self.unfit.update(row["file_id"] for row in told)
            rejects.extend(Rows.of(told))
        if rejects.count:
            tables["rejects"], _ = rejects.to_arrow("rejects", schemas["rejects"])
        self.building.add(tables)

    def abandon(self) -> None:
        """Give up what was built."""
        if self._building is not None:
            self._building.abandon()
        self._folder.discard()
