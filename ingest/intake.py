"""One file in, its rows handed to the writer and its counts out; a file that fails leaves no row behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

from ingest.batches import Row
from ingest.changes import Options, ReadWith
from ingest.collect import Found
from ingest.containers import read_batches
from ingest.errors import IngestError
from ingest.events import REJECT_CODES, Event, Rejected
from ingest.formats import decoder_of, skim_of
from ingest.reading import Recognised, Unusable, recognise
from ingest.rows import definition_row, identity
from ingest.sources.content import BoundedFile, bounded
from ingest.work import FileWork
from ingest.writing import Writer
from lenient import ToolCatalog

DRAIN_ROWS = 5_000
DRAIN_BYTES = 8 * 1024 * 1024  # of log; a few rows can be large


@dataclass(frozen=True, slots=True)
class Intake:
    """What was read of a file. `rows` counts by table."""

    file_id: int
    source: str
    fingerprint: str
    lines: int
    bytes: int
    rows: Counter[str]
    read_with: ReadWith
    forgot: bool = False  # a session in it is to be forgotten


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for every file of a load."""

    catalog: ToolCatalog
    options: Options
    forgotten: frozenset[str] = frozenset()  # hashes of sessions that no load may bring back

    @classmethod
    def of(cls, catalog: ToolCatalog, max_line: int, forgotten: frozenset[str] = frozenset()) -> Settings:
        """Hashes the definitions, so once a load."""
        ids = sorted(definition_row(tool)["definition_id"] for tool in catalog)
        return cls(catalog, Options(identity(*ids) if ids else None, max_line), forgotten)


def take_in(
    found: Found,
    settings: Settings,
    writer: Writer,
    on_bytes: Callable[[int, int], None],
    *,
    quoting: bool = True,
) -> Intake:
    """Read a file to its end. Raises Unusable with the reason, its rows taken back, or StoreError.

    `on_bytes(bytes_read, rejects)` is called now and then. `quoting` False = rejects quote no line.
    """
    try:
        recognised = recognise(found.path, found.size, settings.options.max_line)
    except OSError as error:
        raise Unusable(f"cannot be read: {error.strerror or error}") from error
    run = _Run(found, recognised, settings, writer, on_bytes, quoting)
    try:
        return run.to_the_end()
    except IngestError:
        raise
    except OSError as error:
        writer.take_back_file()
        raise Unusable(f"cannot be read beyond line {run.line:,}: {error.strerror or error}") from error
    except Exception as error:  # a format must not stop a night, whatever a log holds
        writer.take_back_file()
        raise Unusable(
            f"broke the reading of {recognised.form.SOURCE.name} logs at line {run.line:,} "
            f"({type(error).__name__}: {str(error)[:200]}); please report it with that line"
        ) from error


class _Run:
    def __init__(
        self,
        found: Found,
        recognised: Recognised,
        settings: Settings,
        writer: Writer,
        on_bytes: Callable[[int, int], None],
        quoting: bool,
    ) -> None:
        self._quoting = quoting
        self._found = found
        self._recognised = recognised
        self._source = recognised.form.SOURCE.name
        self._settings = settings
        self._writer = writer
        self._on_bytes = on_bytes
        self._rows: Counter[str] = Counter()
        self._file_id = writer.begin_file()
        self._work = FileWork(
            file_id=self._file_id,
            source=self._source,
            catalog=settings.catalog,
            forgotten=settings.forgotten,
        )
        self._handed = 0  # bytes of log whose rows the writer has
        self._cut = False  # a line was too long to be read
        self._lines = 0
        self.line = 0  # on which the record begins that is being read

    def to_the_end(self) -> Intake:
        with (
            bounded(self._found.path, self._found.size) as raw,
            raw.buffered() as stream,
            closing(self._work),
        ):
            self._read(raw, stream)
            while stream.read(DRAIN_BYTES):
                pass  # a format may stop early; the fingerprint is of the whole file
            self._work.finish()
            self._hand_over(raw.bytes_read)
            return Intake(
                file_id=self._file_id,
                source=self._source,
                fingerprint=raw.fingerprint,
                lines=self._lines,
                bytes=raw.bytes_read,
                rows=self._rows,
                read_with=ReadWith(
                    self._settings.options.tools, self._settings.options.max_line if self._cut else None
                ),
                forgot=self._work.forgot,
            )

    def _read(self, raw: BoundedFile, stream: BinaryIO) -> None:
        """Every record through the translator, its events into the work."""
        form, container = self._recognised.form, self._recognised.container
        translator = form.translator(self._recognised.about)
        max_line = self._settings.options.max_line
        with closing(translator):
            for batch in read_batches(stream, container, max_line, decoder_of(form), skim_of(form)):
                for record in batch.records:
                    self.line = record.where.line
                    self._take([record] if isinstance(record, Rejected) else translator.take(record))
                self._lines = max(self._lines, batch.line)
                self._work.weigh()
                if self._work.pending >= DRAIN_ROWS or raw.bytes_read - self._handed >= DRAIN_BYTES:
                    self._hand_over(raw.bytes_read)
            self._take(translator.finish())

    def _take(self, events: Iterable[Event | Rejected]) -> None:
        for event in events:
            if isinstance(event, Rejected):
                self._reject(event)
            else:
                self._work.take(event)

    def _reject(self, event: Rejected) -> None:
        self._cut = self._cut or event.code == "line_too_long"
        row: Row = {
            "file_id": self._file_id,
            "line": event.where.line,
            "byte_offset": event.where.offset,
            "code": event.code,
            "reason": event.reason if self._quoting else REJECT_CODES.get(event.code, event.code),
            "snippet": event.snippet if self._quoting else "",
        }
        self._give("rejects", [row])

    def _hand_over(self, bytes_read: int) -> None:
        for table, rows in self._work.drain().items():
            self._give(table, rows)
        self._writer.after(bytes_read - self._handed)
        self._handed = bytes_read
        self._on_bytes(bytes_read, self._rows["rejects"])

    def _give(self, table: str, rows: list[Row]) -> None:
        self._writer.add(table, rows)
        self._rows[table] += len(rows)
