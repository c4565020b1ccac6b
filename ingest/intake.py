"""One file in, its rows handed to the writer and its counts out; a file that fails leaves no row behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from ingest import continuing
from ingest.batches import Row, Rows
from ingest.changes import Options
from ingest.containers import read_batches
from ingest.continuing import Unfinished, kept, passes, restored
from ingest.errors import IngestError
from ingest.events import REJECT_CODES, Event, Rejected, Where
from ingest.formats import decoder_of, skim_of
from ingest.ledger import ReadWith
from ingest.lines import BEGIN
from ingest.privacy.seam import PUBLIC, Privacy
from ingest.reading import Recognised, Unusable, recognise, unreadable
from ingest.rows import definition_row, identity
from ingest.sources.content import Content, opened
from ingest.sources.found import Found
from ingest.work import FileWork
from lenient import ToolCatalog

DRAIN_ROWS = 5_000
DRAIN_BYTES = 8 * 1024 * 1024  # of log; a few rows can be large


@dataclass(frozen=True, slots=True)
class Intake:
    """What was read of a file. `rows` counts by table.

    `lines` and `bytes` are the whole file's; the reading began behind `begun`, where it went on.
    `unfinished`: what the next load needs to do so.
    """

    file_id: int
    source: str
    fingerprint: str
    head: str
    lines: int
    bytes: int
    rows: Counter[str]
    read_with: ReadWith
    begun: Unfinished | None = None
    unfinished: Unfinished | None = None
    forgot: bool = False  # a session in it is to be forgotten

    @property
    def lines_read(self) -> int:
        return self.lines - (self.begun.line - 1 if self.begun else 0)

    @property
    def bytes_read(self) -> int:
        return self.bytes - (self.begun.offset if self.begun else 0)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for every file of a load."""

    catalog: ToolCatalog
    options: Options
    privacy: Privacy = PUBLIC
    forgotten: frozenset[str] = frozenset()  # hashes of sessions that no load may bring back

    @classmethod
    def of(
        cls,
        catalog: ToolCatalog,
        max_line: int,
        form: str | None = None,
        privacy: Privacy = PUBLIC,
        left_out: str | None = None,
        forgotten: frozenset[str] = frozenset(),
    ) -> Settings:
        """Hashes the definitions, so once a load. `left_out`: the words for `privacy` in the ledger."""
        catalog = privacy.definitions(catalog)
        ids = sorted(definition_row(tool)["definition_id"] for tool in catalog)
        options = Options(identity(*ids) if ids else None, max_line, form, left_out)
        return cls(catalog, options, privacy, forgotten)


class Sink(Protocol):
    """Takes the rows of one file after another."""

    def begin_file(self) -> int:
        """The id of the next file, whose rows come now."""

    def add(self, table: str, rows: Rows) -> None: ...

    def after(self, bytes_read: int) -> None:
        """Told now and then from how much more of the log those rows came: a chance to pass them on."""

    def take_back_file(self) -> None:
        """Undo the present file."""


OnBytes = Callable[[int, int], None]
"""Called now and then with the bytes read so far, as stored, and the number of rejects."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read. `begun`: where an earlier load stopped; `quoting` False = rejects quote no line."""

    found: Found
    begun: Unfinished | None = None
    quoting: bool = True


def take_in(job: Job, settings: Settings, sink: Sink, on_bytes: OnBytes) -> Intake:
    """Read a file to its end. Raises Unusable with the reason, its rows taken back, or StoreError.

    It is read on from where it was begun if it still begins with the same bytes.
    """
    options = settings.options
    try:
        content = opened(job.found, rewinds=True)
    except OSError as error:
        raise unreadable(error) from error
    with content:
        try:
            recognised = recognise(content, job.found, options.max_line, options.form)
        except OSError as error:
            raise unreadable(error) from error
        run = _Run(content, recognised, settings, sink, on_bytes, job.quoting)
        return _take_in(run, recognised, sink, job.begun)


def _take_in(run: _Run, recognised: Recognised, sink: Sink, begun: Unfinished | None) -> Intake:
    try:
        return run.to_the_end(begun)
    except IngestError:
        raise
    except OSError as error:
        sink.take_back_file()
        raise unreadable(error, f" beyond line {run.line:,}") from error
    except Exception as error:  # a format must not stop a night, whatever a log holds
        sink.take_back_file()
        raise Unusable(
            f"broke the reading of {recognised.form.SOURCE.name} logs at line {run.line:,} "
            f"({type(error).__name__}: {str(error)[:200]}); please report it with that line"
        ) from error


class _Run:
    def __init__(
        self,
        content: Content,
        recognised: Recognised,
        settings: Settings,
        sink: Sink,
        on_bytes: OnBytes,
        quoting: bool,
    ) -> None:
        self._quoting = quoting
        self._content = content
        self._recognised = recognised
        self._source = recognised.form.SOURCE.name
        self._settings = settings
        self._veiled = settings.privacy.events if settings.privacy else None  # None: nothing is left out
        self._sink = sink
        self._on_bytes = on_bytes
        self._rows: Counter[str] = Counter()
        self._file_id = sink.begin_file()
        self._translator = recognised.form.translator(recognised.about)
        self._work = FileWork(
            file_id=self._file_id,
            source=self._source,
            catalog=settings.catalog,
            forgotten=settings.forgotten,
        )
        self._begun: Unfinished | None = None
        self._unfinished: Unfinished | None = None
        self._handed = 0  # bytes of log whose rows the writer has
        self._cut = False  # a line was too long to be read
        self._lines = 0
        self.line = 0  # on which the record begins that is being read

    def to_the_end(self, begun: Unfinished | None) -> Intake:
        raw = self._content
        if begun is not None:
            self._go_on(begun)
        with raw.buffered() as stream, closing(self._work):
            self._read(raw, stream)
            while stream.read(DRAIN_BYTES):
                pass  # a format may stop early; the fingerprint is of the whole file
            for _ in self._work.finish_each():
                self._hand_over_many()
            self._hand_over(raw.bytes_read)
            fingerprint, head = raw.fingerprint, raw.head
            return Intake(
                file_id=self._file_id,
                source=self._source,
                fingerprint=fingerprint,
                head=fingerprint if head == fingerprint else head,  # one text of two alike: files may be many
                lines=self._lines,
                bytes=raw.bytes_read,
                rows=self._rows,
                read_with=self._read_with(),
                begun=self._begun,
                unfinished=self._unfinished,
                forgot=self._work.forgot,
            )

    def _read_with(self) -> ReadWith:
        return self._settings.options.as_read(cut=self._cut)

    def _go_on(self, begun: Unfinished) -> None:
        """Take up the earlier reading, if the file still begins with what it read."""
        if not passes(self._content, begun) or (reading := restored(begun.state)) is None:
            self._content.rewind()
        else:
            self._translator, self._work = reading
            self._work.go_on(self._file_id)
            self._begun, self._lines, self._handed = begun, begun.line - 1, begun.offset

    def _read(self, raw: Content, stream: BinaryIO) -> None:
        """Every record through the translator, its events into the work."""
        form, container = self._recognised.form, self._recognised.container
        translator, max_line = self._translator, self._settings.options.max_line
        take = translator.take
        at = Where(self._begun.line, self._begun.offset) if self._begun else BEGIN
        behind: Where | None = None
        with closing(translator):
            for batch in read_batches(stream, container, max_line, decoder_of(form), skim_of(form), at):
                if not batch.whole:
                    self._keep(behind)
                behind = batch.behind if batch.whole else None
                for record in batch.records:
                    self.line = record.where.line
                    events = [record] if type(record) is Rejected else take(record)
                    if events:
                        self._take(events)
                self._lines = max(self._lines, batch.line)
                self._work.weigh()
                if self._work.pending >= DRAIN_ROWS or raw.bytes_read - self._handed >= DRAIN_BYTES:
                    self._hand_over(raw.bytes_read)
            self._keep(behind)
            for event in translator.finish():
                self._take((event,))
                self._hand_over_many()

    def _keep(self, behind: Where | None) -> None:
        """Keep what it takes to read on behind the last whole line, if that is worth it."""
        if behind is None or self._content.packed or behind.offset < continuing.WORTH:
            return
        if self._settings.privacy:
            return  # a translator holds what a log said, as it said it
        self._hand_over(self._content.bytes_read)
        state = kept(self._translator, self._work)
        if state is not None:
            prefix = self._content.fingerprint_of(behind.offset)
            self._unfinished = Unfinished(behind.offset, behind.line, prefix, state)

    def _take(self, events: Iterable[Event | Rejected]) -> None:
        for event in events if self._veiled is None else self._veiled(events):
            if type(event) is Rejected:  # isinstance takes four times as long where it is none
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
        self._give("rejects", Rows.of([row]))

    def _hand_over_many(self) -> None:
        """Hand the rows over when there are many: a log can end with any number of sessions open."""
        if self._work.pending >= DRAIN_ROWS:
            self._hand_over(self._content.bytes_read)

    def _hand_over(self, bytes_read: int) -> None:
        for table, rows in self._work.drain().items():
            self._give(table, rows)
        self._sink.after(bytes_read - self._handed)
        self._handed = bytes_read
        self._on_bytes(self._content.stored_read, self._rows["rejects"])

    def _give(self, table: str, rows: Rows) -> None:
        if self._unfinished is not None:
            self._unfinished = self._unfinished.told_after(table, rows)
        self._sink.add(table, rows)
        self._rows[table] += len(rows)
