"""Reads one file to its end: passes its rows to a sink and returns counts.

When the reading fails, the rows of the file are taken back.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from msgspec.structs import replace

from ingest.decoding.containers import Container, read_batches
from ingest.decoding.lines import BEGIN, cut_snippet
from ingest.decoding.session_files import FileRecords
from ingest.errors import DamagedFileError, IngestError
from ingest.events import REJECT_CODES, CallMade, Event, LogLine, Rejected
from ingest.formats import line_decoder, line_skimmer
from ingest.pipeline.planning.change_detection import ReadOptions
from ingest.pipeline.planning.naming import NO_RULES, Naming
from ingest.pipeline.reading import checkpoint
from ingest.pipeline.reading.checkpoint import Checkpoint, pack_state, skip_known_prefix, unpack_state
from ingest.pipeline.reading.format_recognition import (
    RecognisedLog,
    SiblingFiles,
    UnusableFileError,
    describe_read_error,
    recognise_content,
)
from ingest.pipeline.reading.unread_calls import Made, UnreadCalls
from ingest.privacy.event_redaction import PUBLIC, Privacy
from ingest.sessions.past_sessions import PastSessions
from ingest.sessions.path_facts import NO_FACTS, PathFacts
from ingest.sessions.row_batches import Row, TableRows
from ingest.sessions.session_builder import SessionBuilder
from ingest.sessions.table_rows import definition_row, stable_id
from ingest.sources.log_content import LogContent, open_log
from ingest.sources.log_file import LogFile, can_open
from ingest.sources.session_trees import SessionTree
from ingest.store.ledger import ReadWith
from lenient import ToolCatalog

_MISSING = 1_000  # names of files that are remembered for a log: a later load looks for each
_READ = ("turns", "tool_calls", "probes", "late_results")  # tables: a file without such rows told nothing

DRAIN_ROWS = 5_000
DRAIN_BYTES = 8 * 1024 * 1024  # of log; a few rows can be large


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result of reading a file.

    `lines` and `bytes` are those of the whole file, even if the reading resumed at the checkpoint `begun`.
    `rows` counts the rows written, by table. `unfinished` is the checkpoint for the next load, None if there
    is none.
    """

    file_id: int
    source: str
    fingerprint: str
    head: str
    lines: int
    bytes: int
    rows: Counter[str]
    read_with: ReadWith
    begun: Checkpoint | None = None
    unfinished: Checkpoint | None = None
    forgot: bool = False  # a session in it is to be forgotten
    continues: bool = False  # it begins with all of the content that the job names
    lacks: tuple[str, ...] = ()  # names of files that would be read with it and are not beside it

    @property
    def lines_read(self) -> int:
        return self.lines - (self.begun.line - 1 if self.begun else 0)

    @property
    def bytes_read(self) -> int:
        return self.bytes - (self.begun.offset if self.begun else 0)


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """The settings that are the same for all files of a load."""

    catalog: ToolCatalog
    options: ReadOptions
    privacy: Privacy = PUBLIC
    forgotten: frozenset[str] = frozenset()  # hashes of sessions that no load may bring back

    @classmethod
    def from_options(
        cls,
        catalog: ToolCatalog,
        max_line: int,
        form: str | None = None,
        privacy: Privacy = PUBLIC,
        left_out: str | None = None,
        forgotten: frozenset[str] = frozenset(),
        naming: Naming = NO_RULES,
    ) -> ReadSettings:
        """Return the settings of a load. Hashes the definitions, so call it once per load.

        `form` is the name of the format for all files, None = each file's own. `left_out` describes `privacy`
        in a few words, as the ledger records it. `naming` finds facts in the paths of files.
        """
        catalog = privacy.redact_definitions(catalog)
        ids = sorted(definition_row(tool)["definition_id"] for tool in catalog)
        options = ReadOptions(stable_id(*ids) if ids else None, max_line, form, left_out, naming)
        return cls(catalog, options, privacy, forgotten)


class MissingSiblings:
    """Function that returns a file's content from the log's folder, and notes the names of missing files."""

    def __init__(self, siblings: SiblingFiles) -> None:
        self._siblings = siblings
        self.names: set[str] = set()

    def __call__(self, name: str) -> bytes | None:
        data = self._siblings(name)
        if data is None and len(self.names) < _MISSING and not can_open(self._siblings.place.sibling(name)):
            self.names.add(name)
        return data


class RowSink(Protocol):
    """Interface of an object that stores the rows of one file after another."""

    def begin_file(self) -> int:
        """Start the next file and return its id; the rows that follow belong to it."""

    def add(self, table: str, rows: TableRows) -> None: ...

    def flush_when_due(self, bytes_read: int) -> None:
        """Write the rows added so far, if there are enough of them.

        The reader calls it from time to time; `bytes_read` is the number of bytes of log read since the last
        call.
        """

    def take_back_file(self) -> None:
        """Remove the rows of the file that was started last."""


OnBytes = Callable[[int, int], None]
"""Function that the reader calls from time to time with its progress.

The arguments are the number of stored (compressed) bytes read so far, and the number of rejects.
"""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A file to read.

    `begun` is the checkpoint of an earlier load, None = read the whole file. `quoting` False = rejects do not
    contain text of the log. `facts` fill in what the log does not say. `known` are the size in bytes
    and the fingerprint of the content that the file had, None = the file is new. `past` are the sessions of
    contents that the file had before.
    """

    found: LogFile
    begun: Checkpoint | None = None
    quoting: bool = True
    facts: PathFacts = NO_FACTS
    known: tuple[int, str] | None = None
    past: PastSessions | None = None


def read_file(job: ReadJob, settings: ReadSettings, sink: RowSink, on_bytes: OnBytes) -> FileResult:
    """Read a file to its end and return the result; resume at the checkpoint of the job, if it has one.

    The checkpoint is ignored if the file no longer begins with the same bytes. Raises UnusableFileError with
    the reason, after taking back the file's rows, or StoreError.
    """
    options = settings.options
    try:
        content = open_log(job.found, rewinds=True)
    except OSError as error:
        raise describe_read_error(error) from error
    with content:
        try:
            recognised = recognise_content(content, job.found, options.max_line, options.form)
        except OSError as error:
            raise describe_read_error(error) from error
        run = FileReading(content, recognised, settings, sink, on_bytes, job)
        return _read_recognised(run, recognised, sink, job.begun)


def _read_recognised(
    run: FileReading, recognised: RecognisedLog, sink: RowSink, begun: Checkpoint | None
) -> FileResult:
    try:
        result = run.read_to_end(begun)
    except IngestError:
        raise
    except OSError as error:
        sink.take_back_file()
        raise describe_read_error(error, f" beyond line {run.line:,}") from error
    except Exception as error:  # a format must not stop a night, whatever a log holds
        sink.take_back_file()
        raise UnusableFileError(
            f"broke the reading of {recognised.form.SOURCE.name} logs at line {run.line:,} "
            f"({type(error).__name__}: {run.redact_text(str(error))[:200]}); please report it with that line"
        ) from error
    if not recognised.is_claimed and not any(result.rows[table] for table in _READ):
        sink.take_back_file()
        unusable = UnusableFileError(
            f"holds nothing that {recognised.form.SOURCE.name} logs do; leave --format out, or see "
            "`callgauge formats FILE` for what it is"
        )
        unusable.is_noted = False
        raise unusable
    return result


class FileReading:
    def __init__(
        self,
        content: LogContent,
        recognised: RecognisedLog,
        settings: ReadSettings,
        sink: RowSink,
        on_bytes: OnBytes,
        job: ReadJob,
    ) -> None:
        self._quoting, self._facts = job.quoting, job.facts
        self._known = job.known
        if job.known is not None:
            content.note_prefix(job.known[0])
        self._content = content
        self._recognised = recognised
        self._source = recognised.form.SOURCE.name
        self._settings = settings
        self._veiled = (
            settings.privacy.redact_events if settings.privacy else None
        )  # None: nothing is left out
        self._sink = sink
        self._on_bytes = on_bytes
        self._rows: Counter[str] = Counter()
        self._file_id = sink.begin_file()
        self._missing = MissingSiblings(recognised.siblings)
        about = dataclasses.replace(recognised.about, read_sibling=self._missing)
        self._translator = recognised.form.translator(about)
        self._work = SessionBuilder(
            file_id=self._file_id,
            source=self._source,
            catalog=settings.catalog,
            forgotten=settings.forgotten,
            facts=job.facts,
            past=job.past,
            rewritten=recognised.container.is_rewritten,
        )
        self._unread = UnreadCalls(recognised.container)
        self._files = FileRecords()
        self._tree = job.found.place if isinstance(job.found.place, SessionTree) else None
        self._begun: Checkpoint | None = None
        self._unfinished: Checkpoint | None = None
        self._handed = 0  # bytes of log whose rows the writer has
        self._cut = False  # a line was too long to be read
        self._is_torn = False  # the last line is cut off
        self._lines = 0
        self.line = 0  # on which the record begins that is being read

    def read_to_end(self, begun: Checkpoint | None) -> FileResult:
        raw = self._content
        if begun is not None:
            self._resume_from(begun)
        with raw.open_buffered() as stream, closing(self._work):
            self.read_records(raw, stream)
            self._end_cut_off_log()
            while stream.read(DRAIN_BYTES):
                pass  # a format may stop early; the fingerprint is of the whole file
            for _ in self._work.finish_each():
                self._hand_over_many()
            self._hand_over(raw.bytes_read)
            fingerprint, head = raw.fingerprint, raw.head
            return FileResult(
                file_id=self._file_id,
                source=self._source,
                fingerprint=fingerprint,
                head=fingerprint if head == fingerprint else head,  # one text of two alike: files may be many
                lines=self._lines,
                bytes=raw.bytes_read,
                rows=self._rows,
                read_with=self._options_used(),
                begun=self._begun,
                unfinished=self._unfinished,
                forgot=self._work.forgot,
                lacks=self._names_to_look_for(),
                continues=self._known is not None and raw.prefix(self._known[0]) == self._known[1],
            )

    def _names_to_look_for(self) -> tuple[str, ...]:
        """Return the names of missing files beside the log, without those that privacy rules would change."""
        privacy = self._settings.privacy
        return tuple(name for name in sorted(self._missing.names) if privacy.redact_path(name) == name)

    def _end_cut_off_log(self) -> None:
        """Add a reject for the place where compressed data breaks off.

        Raises DamagedFileError for a document, which is nothing without its end.
        """
        why = self._content.cut_off
        if why is None:
            return
        if self._recognised.container in (Container.DOCUMENT, Container.YAML):
            raise DamagedFileError(why)
        if not self._is_torn:
            self._add_reject(self._reject_end(LogLine(self._lines + 1, self._content.bytes_read), why))

    def _reject_end(self, where: LogLine, why: str) -> Rejected:
        return Rejected(where, "cut_off", f"{why}, here; the lines before are in")

    def redact_text(self, text: str) -> str:
        return self._settings.privacy.redact_text(text)

    def _options_used(self) -> ReadWith:
        return self._settings.options.read_with(cut=self._cut, facts=self._facts)

    def _resume_from(self, begun: Checkpoint) -> None:
        """Resume at the checkpoint if the file still begins with the same bytes, else start anew."""
        if not skip_known_prefix(self._content, begun) or (reading := unpack_state(begun.state)) is None:
            self._content.rewind()
        else:
            self._translator, self._work, self._unread = reading
            self._work.resume(self._file_id)
            self._begun, self._lines, self._handed = begun, begun.line - 1, begun.offset

    def read_records(self, raw: LogContent, stream: BinaryIO) -> None:
        """Translate each record into events, and pass these to the session builder."""
        form, container = self._recognised.form, self._recognised.container
        translator, max_line = self._translator, self._settings.options.max_line
        take, unread, take_events = translator.take, self._unread, self._take_events
        nothing, calls = Made.NOTHING, Made.CALLS
        at = LogLine(self._begun.line, self._begun.offset) if self._begun else BEGIN
        behind: LogLine | None = None
        with closing(translator):
            for batch in read_batches(
                stream, container, max_line, line_decoder(form), line_skimmer(form), at, self._files
            ):
                if not batch.whole:
                    self._keep_checkpoint(behind)
                behind = batch.behind if batch.whole else None
                for record in batch.records:
                    self.line = record.where.line
                    if type(record) is Rejected:
                        self._take_events((self._note_torn(record),))
                        continue
                    events = take(record)
                    made = take_events(events) if events else nothing
                    if made is not calls and (unread_lines := unread.look(record, made)):
                        take_events(unread_lines)
                self._lines = max(self._lines, batch.line)
                self._note_files()
                self._work.spill_sessions()
                if self._work.pending >= DRAIN_ROWS or raw.bytes_read - self._handed >= DRAIN_BYTES:
                    self._hand_over(raw.bytes_read)
            self._keep_checkpoint(behind)
            for event in translator.finish():
                self._take_events((event,))
                self._hand_over_many()
            self._take_events(unread.finish())

    def _note_files(self) -> None:
        """Store where the content of each file of the session begins in the content of the log."""
        starts, self._files.starts = self._files.starts, []
        if self._tree is None or not starts:
            return
        redact = self._settings.privacy.redact_path
        rows = [
            (self._file_id, start.where.line, start.where.offset, redact(self._tree.root + start.path))
            for start in starts
        ]
        self._give_rows("file_members", TableRows(("file_id", "line", "byte_offset", "path"), rows))

    def _keep_checkpoint(self, behind: LogLine | None) -> None:
        """Make a checkpoint at `behind`, the end of the last whole line.

        Makes none for a file that is small or compressed, or when texts are redacted.
        """
        if behind is None or self._content.packed or behind.offset < checkpoint.WORTH:
            return
        if self._settings.privacy:
            return  # a translator holds what a log said, as it said it
        self._hand_over(self._content.bytes_read)
        state = pack_state(self._translator, self._work, self._unread)
        if state is not None:
            prefix = self._content.fingerprint_of(behind.offset)
            self._unfinished = Checkpoint(behind.offset, behind.line, prefix, state)

    def _note_torn(self, line: Rejected) -> Rejected:
        """Return the reject of a line; of a torn one in compressed data that breaks off, say that."""
        why = self._content.cut_off
        if line.code != "torn_line" or why is None:
            return line
        self._is_torn = True
        return replace(self._reject_end(line.where, why), snippet=line.snippet)

    def _take_events(self, events: Iterable[Event | Rejected]) -> Made:
        made, unread = Made.NOTHING, self._unread
        for event in events if self._veiled is None else self._veiled(events):
            if type(event) is Rejected:  # isinstance takes four times as long where it is none
                self._add_reject(event)
                made = Made.CALLS
            else:
                if type(event) is CallMade:
                    unread.note_call(event)
                    made = Made.CALLS
                elif made is Made.NOTHING:
                    made = Made.EVENTS
                if unread.waits:
                    unread.placed.add(event.where.offset)
                self._work.take(event)
        return made

    def _add_reject(self, event: Rejected) -> None:
        self._cut = self._cut or event.code == "line_too_long"
        row: Row = {
            "file_id": self._file_id,
            "line": event.where.line,
            "byte_offset": event.where.offset,
            "code": event.code,
            "reason": event.reason if self._quoting else REJECT_CODES.get(event.code, event.code),
            "snippet": cut_snippet(event.snippet) if self._quoting else "",
        }
        self._give_rows("rejects", TableRows.from_dicts([row]))

    def _hand_over_many(self) -> None:
        """Pass the rows to the sink when there are at least `DRAIN_ROWS`.

        A log can end with any number of open sessions, so this is called after each of them.
        """
        if self._work.pending >= DRAIN_ROWS:
            self._hand_over(self._content.bytes_read)

    def _hand_over(self, bytes_read: int) -> None:
        for table, rows in self._work.drain().items():
            self._give_rows(table, rows)
        self._sink.flush_when_due(bytes_read - self._handed)
        self._handed = bytes_read
        self._on_bytes(self._content.stored_read, self._rows["rejects"])

    def _give_rows(self, table: str, rows: TableRows) -> None:
        if self._unfinished is not None:
            self._unfinished = self._unfinished.count_rows(table, rows)
        self._sink.add(table, rows)
        self._rows[table] += len(rows)
