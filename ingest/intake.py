"""One file in, its rows handed to the writer and its counts out; a file that fails leaves no row behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from ingest.batches import Row
from ingest.changes import Options, ReadWith
from ingest.collect import Found
from ingest.containers import read_records
from ingest.errors import IngestError
from ingest.events import Rejected
from ingest.formats import decoder_of, translated
from ingest.reading import LineCount, Recognised, Unusable, recognise
from ingest.rows import definition_row, identity
from ingest.sources.content import bounded
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


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for every file of a load."""

    catalog: ToolCatalog
    options: Options

    @classmethod
    def of(cls, catalog: ToolCatalog, max_line: int) -> Settings:
        """Hashes the definitions, so once a load."""
        ids = sorted(definition_row(tool)["definition_id"] for tool in catalog)
        return cls(catalog, Options(identity(*ids) if ids else None, max_line))


def take_in(found: Found, settings: Settings, writer: Writer, on_bytes: Callable[[int, int], None]) -> Intake:
    """Read a file to its end. Raises Unusable with the reason, its rows taken back, or StoreError.

    `on_bytes(bytes_read, rejects)` is called now and then.
    """
    try:
        recognised = recognise(found.path, found.size, settings.options.max_line)
    except OSError as error:
        raise Unusable(f"cannot be read: {error.strerror or error}") from error
    run = _Run(found, recognised, settings, writer, on_bytes)
    try:
        return run.to_the_end()
    except IngestError:
        raise
    except OSError as error:
        writer.take_back_file()
        raise Unusable(
            f"cannot be read beyond line {run.lines.number:,}: {error.strerror or error}"
        ) from error
    except Exception as error:  # a format must not stop a night, whatever a log holds
        writer.take_back_file()
        raise Unusable(
            f"broke the reading of {recognised.form.SOURCE.name} logs at line {run.lines.number:,} "
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
    ) -> None:
        self._found = found
        self._recognised = recognised
        self._source = recognised.form.SOURCE.name
        self._settings = settings
        self._writer = writer
        self._on_bytes = on_bytes
        self._rows: Counter[str] = Counter()
        self._file_id = writer.begin_file()
        self._work = FileWork(file_id=self._file_id, source=self._source, catalog=settings.catalog)
        self._handed = 0  # bytes of log whose rows the writer has
        self._cut = False  # a line was too long to be read
        self.lines = LineCount(())

    def to_the_end(self) -> Intake:
        with (
            bounded(self._found.path, self._found.size) as raw,
            raw.buffered() as stream,
            closing(self._work),
        ):
            form, container = self._recognised.form, self._recognised.container
            max_line = self._settings.options.max_line
            self.lines = LineCount(read_records(stream, container, max_line, decoder_of(form)))
            for event in translated(form, self.lines, self._recognised.about):
                if isinstance(event, Rejected):
                    self._reject(event)
                else:
                    self._work.take(event)
                if self._work.pending >= DRAIN_ROWS or raw.bytes_read - self._handed >= DRAIN_BYTES:
                    self._hand_over(raw.bytes_read)
            while stream.read(DRAIN_BYTES):
                pass  # a format may stop early; the fingerprint is of the whole file
            self._work.finish()
            self._hand_over(raw.bytes_read)
            return Intake(
                file_id=self._file_id,
                source=self._source,
                fingerprint=raw.fingerprint,
                lines=self.lines.number,
                bytes=raw.bytes_read,
                rows=self._rows,
                read_with=ReadWith(
                    self._settings.options.tools, self._settings.options.max_line if self._cut else None
                ),
            )

    def _reject(self, event: Rejected) -> None:
        self._cut = self._cut or event.code == "line_too_long"
        row: Row = {
            "file_id": self._file_id,
            "line": event.where.line,
            "byte_offset": event.where.offset,
            "code": event.code,
            "reason": event.reason,
            "snippet": event.snippet,
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
