"""Reads one file. `read_file` opens the file and finds the format. `FileReader` turns the file into rows.

If the reading fails, the rows of the file are removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import BinaryIO, Protocol

import msgspec
from msgspec.structs import replace

from ingest.decoding.containers import Container, read_batches
from ingest.decoding.lines import BEGIN, cut_reason, cut_snippet
from ingest.decoding.session_files import FileRecords
from ingest.errors import DamagedFileError, IngestError
from ingest.events import REJECT_CODES, CallMade, Event, LogLine, Rejected
from ingest.formats import line_decoder, line_skimmer
from ingest.log_format import Record
from ingest.pipeline.planning.change_detection import ReadOptions, select_facts
from ingest.pipeline.planning.naming import NO_RULES, Naming, read_mapping
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
from ingest.third_party_formats import InstalledFormat, describe_format_error
from lenient import ToolCatalog

# largest number of missing file names that are stored for a log; a later load looks for each file
_MISSING = 1_000
# if a file has no rows in these tables, the format did not understand the file
_READ = ("turns", "tool_calls", "probes", "late_results")

_PLACED = 10_000  # lines with events at the end of a log, after which the waiting lines are compared
DRAIN_ROWS = 5_000
DRAIN_BYTES = 8 * 1024 * 1024  # bytes of log between two writes, because a few rows can be large


class FileResult(msgspec.Struct, frozen=True):
    """The result of reading a file.

    `lines` and `bytes` count the whole file, even if the reading resumed at the checkpoint `begun`. `rows`
    counts the written rows by table. `unfinished` is the checkpoint for the next load, or None.
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
    forgot: bool = False  # True when the file contains a session that must be deleted
    continues: bool = False  # True when the file begins with the content that the job names
    lacks: tuple[str, ...] = ()  # names of missing files that would be read together with this file
    missing: tuple[str, ...] = ()  # facts that the format searches for but that no line contains

    @property
    def lines_read(self) -> int:
        return self.lines - (self.begun.line - 1 if self.begun else 0)

    @property
    def bytes_read(self) -> int:
        return self.bytes - (self.begun.offset if self.begun else 0)


class ReadSettings(msgspec.Struct, frozen=True):
    """The settings that are the same for all files of a load."""

    catalog: ToolCatalog
    options: ReadOptions
    privacy: Privacy = PUBLIC
    forgotten: frozenset[str] = frozenset()  # hashes of deleted sessions, which a load must not restore

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
        """Return the settings of a load. The definitions are hashed, so call this only once per load.

        `form` is the name of the format for all files. If `form` is None, the format of each file is
        recognised. `left_out` is a short description of `privacy` for the ledger. `naming` finds facts in
        paths.
        """
        catalog = privacy.redact_definitions(catalog)
        ids = sorted(definition_row(tool)["definition_id"] for tool in catalog)
        options = ReadOptions(stable_id(*ids) if ids else None, max_line, form, left_out, naming)
        return cls(catalog, options, privacy, forgotten)


class MissingSiblings:
    """Returns the content of files in the log's folder by name, and records the names of missing files."""

    def __init__(self, siblings: SiblingFiles) -> None:
        self._siblings = siblings
        self.names: set[str] = set()

    def __call__(self, name: str) -> bytes | None:
        data = self._siblings(name)
        if data is None and len(self.names) < _MISSING and not can_open(self._siblings.place.sibling(name)):
            self.names.add(name)
        return data


class RowSink(Protocol):
    """Interface of an object that stores rows, one file after another."""

    def begin_file(self) -> int:
        """Start the next file and return its id. The rows that follow belong to this file."""

    def add(self, table: str, rows: TableRows) -> None: ...

    def flush_when_due(self, bytes_read: int) -> None:
        """Write the rows added so far, if there are enough rows.

        The reader calls this method from time to time. `bytes_read` is the number of bytes of log read since
        the last call.
        """

    def take_back_file(self) -> None:
        """Remove the rows of the latest file."""


OnBytes = Callable[[int, int], None]
"""Function that the reader calls from time to time with its progress.

The arguments are the number of stored (compressed) bytes read so far, and the number of rejects.
"""


class ReadJob(msgspec.Struct, frozen=True):
    """A file to read.

    `begun` is the checkpoint of an earlier load. If `begun` is None, the whole file is read. If `quoting` is
    False, rejects contain nothing of the log's content. `facts` supply facts that are missing in the log.
    `known` is the size in bytes and the fingerprint of the file's earlier content. It is None for a new file.
    `past` are the sessions of the earlier content.
    """

    found: LogFile
    begun: Checkpoint | None = None
    quoting: bool = True
    facts: PathFacts = NO_FACTS
    known: tuple[int, str] | None = None
    past: PastSessions | None = None


def read_file(job: ReadJob, settings: ReadSettings, sink: RowSink, on_bytes: OnBytes) -> FileResult:
    """Read a file to its end and return the result. If the job has a checkpoint, resume there.

    The checkpoint is ignored if the bytes before it have changed. If the file is unusable, its rows are
    removed and UnusableFileError is raised. Raises StoreError.
    """
    options = settings.options
    try:
        content = open_log(job.found, rewinds=True)
    except OSError as error:
        raise describe_read_error(error) from error
    with content:
        try:
            mapping = read_mapping(job.facts)
            recognised = recognise_content(content, job.found, options.max_line, options.form, mapping)
        except OSError as error:
            raise describe_read_error(error) from error
        reader = FileReader(job, settings, content, recognised, RowOutput(sink, content, on_bytes))
        try:
            result = reader.read()
        except IngestError:
            raise
        except OSError as error:
            sink.take_back_file()
            raise describe_read_error(error, f" beyond line {reader.line:,}") from error
        except Exception as error:  # an error in a format must not stop a load
            sink.take_back_file()
            reason = settings.privacy.redact_text(describe_format_error(error))[:200]
            where = f"{recognised.form.SOURCE.name} logs at line {reader.line:,}"
            advice = "please report it with that line"
            if isinstance(recognised.form, InstalledFormat):
                advice = recognised.form.report_to
            raise UnusableFileError(f"caused an error while reading {where} ({reason}); {advice}") from error
    if not recognised.is_claimed and not any(result.rows[table] for table in _READ):
        sink.take_back_file()
        unusable = UnusableFileError(
            f"contains no {recognised.form.SOURCE.name} data; leave out --format, or see "
            "`callgauge formats FILE` for its format"
        )
        unusable.is_noted = False
        raise unusable
    return result


class RowOutput:
    """Passes the rows of one file to the sink, and counts them by table.

    While `checkpoint` is set, the rows are also listed in the checkpoint.
    """

    def __init__(self, sink: RowSink, content: LogContent, on_bytes: OnBytes) -> None:
        self.file_id = sink.begin_file()
        self.counts: Counter[str] = Counter()
        self.checkpoint: Checkpoint | None = None
        self.flushed = 0  # bytes of log from which rows were passed to the sink
        self._sink = sink
        self._content = content
        self._on_bytes = on_bytes

    def add(self, table: str, rows: TableRows) -> None:
        if self.checkpoint is not None:
            self.checkpoint = self.checkpoint.count_rows(table, rows)
        self._sink.add(table, rows)
        self.counts[table] += len(rows)

    def flush_when_due(self, sessions: SessionBuilder) -> None:
        """Flush the rows of the sessions when there are many rows, or when many bytes of log were read."""
        if sessions.pending >= DRAIN_ROWS or self._content.bytes_read - self.flushed >= DRAIN_BYTES:
            self.flush(sessions)

    def flush(self, sessions: SessionBuilder) -> None:
        for table, rows in sessions.drain().items():
            self.add(table, rows)
        bytes_read = self._content.bytes_read
        self._sink.flush_when_due(bytes_read - self.flushed)
        self.flushed = bytes_read
        self._on_bytes(self._content.stored_read, self.counts["rejects"])


class FileReader:
    """Reads one log in a known format: turns bytes into records, events, sessions, and rows of tables.

    Call `read` once. `read` calls the other methods in the order of their definitions. `line` is the line on
    which the current record begins.
    """

    def __init__(
        self,
        job: ReadJob,
        settings: ReadSettings,
        content: LogContent,
        recognised: RecognisedLog,
        output: RowOutput,
    ) -> None:
        self._job = job
        self._settings = settings
        self._content = content
        self._log = recognised
        self._output = output
        self._redact_events = settings.privacy.redact_events if settings.privacy else None
        self._siblings = MissingSiblings(recognised.siblings)
        self._begun: Checkpoint | None = None  # the checkpoint at which the reading resumed
        self._lines = 0
        self._has_long_line = False
        self._is_torn = False  # True when the last line is incomplete
        self.line = 0

    def read(self) -> FileResult:
        if self._job.known is not None:
            self._content.note_prefix(self._job.known[0])
        if not self._resume():
            self._begin()
        with self._content.open_buffered() as stream, closing(self._sessions):
            self._read_records(stream)
            self._reject_cut_off_end()
            while stream.read(DRAIN_BYTES):
                pass  # a format may stop early, but the fingerprint needs the whole file
            # when the log ends, there can be any number of open sessions
            for _ in self._sessions.finish_each():
                self._output.flush_when_due(self._sessions)
            self._output.flush(self._sessions)
            return self._make_result()

    def _resume(self) -> bool:
        begun = self._job.begun
        if begun is None:
            return False
        if not skip_known_prefix(self._content, begun) or (state := unpack_state(begun.state)) is None:
            self._content.rewind()
            return False
        self._translator, self._sessions, self._unread = state
        self._sessions.resume(self._output.file_id, self._settings.options.naming.failures)
        self._begun, self._lines, self._output.flushed = begun, begun.line - 1, begun.offset
        return True

    def _begin(self) -> None:
        form, container = self._log.form, self._log.container
        self._translator = form.translator(replace(self._log.about, read_sibling=self._siblings))
        self._sessions = SessionBuilder(
            file_id=self._output.file_id,
            source=form.SOURCE.name,
            catalog=self._settings.catalog,
            forgotten=self._settings.forgotten,
            facts=self._job.facts,
            failures=self._settings.options.naming.failures,
            past=self._job.past,
            rewritten=container.is_rewritten,
        )
        self._unread = UnreadCalls(container)

    def _read_records(self, stream: BinaryIO) -> None:
        form, files = self._log.form, FileRecords()
        start = LogLine(self._begun.line, self._begun.offset) if self._begun else BEGIN
        last_whole: LogLine | None = None
        with closing(self._translator):
            for batch in read_batches(
                stream,
                self._log.container,
                self._settings.options.max_line,
                line_decoder(form),
                line_skimmer(form),
                start,
                files,
            ):
                if not batch.whole:
                    self._keep_checkpoint(last_whole)
                last_whole = batch.behind if batch.whole else None
                self._translate(batch.records)
                self._lines = max(self._lines, batch.line)
                self._add_member_files(files)
                self._sessions.spill_sessions()
                self._output.flush_when_due(self._sessions)
            self._keep_checkpoint(last_whole)
            for event in self._translator.finish():
                self._take_events((event,))
                self._output.flush_when_due(self._sessions)
                if len(self._unread.placed) > _PLACED:
                    self._unread.drop_placed()
            self._take_events(self._unread.finish())

    def _translate(self, records: Iterable[Record | Rejected]) -> None:
        translate, take_events = self._translator.take, self._take_events
        unread = self._unread
        silent: list[Record] = []  # lines from which the format has made no event yet
        for record in records:
            self.line = record.where.line
            if type(record) is Rejected:
                take_events((self._note_torn(record),))
            elif (events := translate(record)) and (made := take_events(events)) is not Made.NOTHING:
                if made is Made.EVENTS:
                    unread.look(record)
            elif unread.by_line:
                silent.append(record)
            else:
                unread.look(record)
        if unread.by_line:
            take_events(unread.look_at_silent(silent))

    def _note_torn(self, reject: Rejected) -> Rejected:
        """Return the reject of a line.

        If the line is incomplete because the data is damaged, add a description of the damage.
        """
        damage = self._content.cut_off
        if reject.code != "torn_line" or damage is None:
            return reject
        self._is_torn = True
        return replace(_make_end_reject(reject.where, damage), snippet=reject.snippet)

    def _take_events(self, events: Iterable[Event | Rejected]) -> Made:
        made, unread, take = Made.NOTHING, self._unread, self._sessions.take
        for event in events if self._redact_events is None else self._redact_events(events):
            if type(event) is Rejected:  # if the event is not a Rejected, isinstance takes four times as long
                self._add_reject(event)
                made = Made.CALLS
            else:
                if type(event) is CallMade:
                    unread.note_call(event)
                    made = Made.CALLS
                elif made is Made.NOTHING:
                    made = Made.EVENTS
                if unread.by_line:
                    unread.placed.add(event.where.offset)
                take(event)
        return made

    def _add_reject(self, reject: Rejected) -> None:
        self._has_long_line = self._has_long_line or reject.code == "line_too_long"
        quoting = self._job.quoting
        row: Row = {
            "file_id": self._output.file_id,
            "line": reject.where.line,
            "byte_offset": reject.where.offset,
            "code": reject.code,
            "reason": cut_reason(reject.reason) if quoting else REJECT_CODES.get(reject.code, reject.code),
            "snippet": cut_snippet(reject.snippet) if quoting else "",
        }
        self._output.add("rejects", TableRows.from_dicts([row]))

    def _add_member_files(self, files: FileRecords) -> None:
        starts, files.starts = files.starts, []
        tree = self._job.found.place
        if not starts or not isinstance(tree, SessionTree):
            return
        redact = self._settings.privacy.redact_path
        rows = [
            (self._output.file_id, start.where.line, start.where.offset, redact(tree.root + start.path))
            for start in starts
        ]
        self._output.add("file_members", TableRows(("file_id", "line", "byte_offset", "path"), rows))

    def _keep_checkpoint(self, behind: LogLine | None) -> None:
        """Make a checkpoint at `behind`, the end of the last complete line.

        No checkpoint is made for a small or compressed file, or when the content is redacted.
        """
        if behind is None or self._content.packed or behind.offset < checkpoint.WORTH:
            return
        if self._settings.privacy:
            return  # a translator's state contains log texts before their redaction, so it must not be stored
        self._output.flush(self._sessions)
        state = pack_state(self._translator, self._sessions, self._unread)
        if state is not None:
            prefix = self._content.fingerprint_of(behind.offset)
            self._output.checkpoint = Checkpoint(behind.offset, behind.line, prefix, state)

    def _reject_cut_off_end(self) -> None:
        """Add a reject for the position at which compressed data ends too early.

        Raises DamagedFileError for a JSON document, because a JSON document cannot be read without its end.
        """
        damage = self._content.cut_off
        if damage is None:
            return
        if self._log.container in (Container.DOCUMENT, Container.YAML):
            raise DamagedFileError(damage)
        if not self._is_torn:
            self._add_reject(_make_end_reject(LogLine(self._lines + 1, self._content.bytes_read), damage))

    def _make_result(self) -> FileResult:
        content, output, known_content = self._content, self._output, self._job.known
        fingerprint, head = content.fingerprint, content.head
        redact = self._settings.privacy.redact_path
        return FileResult(
            file_id=output.file_id,
            source=self._log.form.SOURCE.name,
            fingerprint=fingerprint,
            # equal texts share one object to save memory; a load may have 100,000 files
            head=fingerprint if head == fingerprint else head,
            lines=self._lines,
            bytes=content.bytes_read,
            rows=output.counts,
            read_with=self._settings.options.read_with(
                cut=self._has_long_line, facts=select_facts(self._job.facts, self._log.form.SOURCE.name)
            ),
            begun=self._begun,
            unfinished=output.checkpoint,
            forgot=self._sessions.forgot,
            # Leave out names that the privacy rules would change, because the store must not contain such
            # names.
            lacks=tuple(name for name in sorted(self._siblings.names) if redact(name) == name),
            continues=known_content is not None and content.prefix(known_content[0]) == known_content[1],
            missing=self._list_missing(),
        )

    def _list_missing(self) -> tuple[str, ...]:
        facts = self._job.facts
        supplied_facts = {
            "model": facts.model,
            "time": facts.date,
            "tool definitions": self._settings.catalog,
        }
        list_missing = getattr(self._translator, "list_missing", tuple)
        return tuple(fact for fact in list_missing() if not supplied_facts.get(fact))


def _make_end_reject(where: LogLine, damage: str) -> Rejected:
    return Rejected(where, "cut_off", f"{damage}, here; the lines before are in")
