"""Stores the rows that a cluster's workers read. All machines of the cluster can access the files of rows.

The rows of a log are several pieces and a list of pieces. The list is written last, so the rows are complete
or missing. A file is named by its content, so workers that read the same log write equal files.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from ingest.backup.places import BackupPlace, open_place
from ingest.errors import BackupError, StoreError
from ingest.pipeline.planning.change_detection import reader_version
from ingest.pipeline.reading.file_reader import ReadJob, ReadSettings
from ingest.pipeline.workers.messages import Shipment, TaskEnded, write_tables_to
from ingest.sources.stored_names import is_address
from lenient import PARSER_VERSION

_FOLDER = "rows"


def name_rows(
    job: ReadJob, settings: ReadSettings, schemas: Mapping[str, pa.Schema], fingerprint: str
) -> str:
    """Return the name for the rows of a log. The name is a hash of everything on which the rows depend."""
    options = settings.options
    reading = (options.tools, options.max_line, options.form, options.privacy, sorted(settings.forgotten))
    about = (job.found.name, job.quoting, job.facts, job.known, job.begun, job.past)
    versions = (reader_version(), PARSER_VERSION, sorted(map(str, schemas.values())))
    return sha256(
        repr((fingerprint, reading, about, versions)).encode("utf-8", "backslashreplace")
    ).hexdigest()


class SharedRows:
    """Rows of logs in a folder or an object store. Each log's rows have a name from `name_rows`.

    Methods raise StoreError. The constructor raises OptionError if nothing can be written to the address.
    """

    def __init__(self, place: str) -> None:
        self.place = place if is_address(place) else str(Path(place).absolute())
        self._place: BackupPlace = open_place(self.place)

    def write_tables(self, name: str, number: int, tables: Mapping[str, pa.Table]) -> tuple[str, int]:
        """Write a piece of the rows called `name`. Return the name of the piece and its size in bytes."""
        sink = pa.BufferOutputStream()
        write_tables_to(sink, tables)
        data = sink.getvalue().to_pybytes()
        piece = f"{_FOLDER}/{name}-{number:06d}.arrow"
        with self._explain_errors():
            self._place.write(piece, data)
        return piece, len(data)

    def open_piece(self, piece: str) -> pa.NativeFile:
        """Return the bytes of a piece as a stream."""
        with self._explain_errors():
            return pa.BufferReader(self._place.read(piece))

    def complete(self, name: str, shipments: list[Shipment]) -> None:
        """Write the list of pieces of the rows called `name`.

        After this, other processes can use the rows.
        """
        with self._explain_errors():
            self._place.write(_list_name(name), pickle.dumps(shipments))

    def find(self, name: str) -> list[Shipment] | None:
        """Return the shipments of the rows called `name`. Return None when these rows are incomplete."""
        try:
            with self._explain_errors():
                data = self._place.read(_list_name(name))
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None
            raise
        shipments: list[Shipment] = pickle.loads(data)  # noqa: S301 - the place is the team's own
        return shipments

    def remove(self, name: str) -> None:
        """Remove the rows called `name`. The list of their pieces is removed last."""
        for shipment in self.find(name) or ():
            if shipment.file is not None:
                with self._explain_errors():
                    self._place.remove(shipment.file)
        with self._explain_errors():
            self._place.remove(_list_name(name))

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except BackupError as error:
            cause = error.__cause__
            reason = " ".join(str(cause).split())[:200]
            raise StoreError(
                f"rows cannot be shared in {self._place.name} ({type(cause).__name__}: {reason}); free some "
                "space, change its permissions, or name another place with --shared, and run this again. "
                "The published store is unchanged."
            ) from cause


def find_end(shipments: list[Shipment]) -> TaskEnded | None:
    """Return the `TaskEnded` of the file to which these shipments belong, or None."""
    last = shipments[-1].parts[-1]
    return last if isinstance(last, TaskEnded) else None


def _list_name(name: str) -> str:
    return f"{_FOLDER}/{name}.rows"
