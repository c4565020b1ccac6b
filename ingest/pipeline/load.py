"""Loads logs into a store: decides which files to read and in what order, and handles failures.

A failure affects only the file or the line that fails. The stored rows of a file stay until the file has been
read again completely.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ingest.decoding.lines import MAX_LINE
from ingest.formats import format_problems
from ingest.load_report import LoadReport, Progress
from ingest.pipeline.ledger_update import LedgerUpdate
from ingest.pipeline.planning.archive_expansion import expand_archives
from ingest.pipeline.planning.change_detection import (
    Change,
    ChangeDecision,
    begins_like,
    decide_change,
    is_likely_read,
    select_facts,
    sort_safely,
)
from ingest.pipeline.planning.naming import MAP_UNUSED, NO_PATHS, Naming, read_labels, read_naming
from ingest.pipeline.planning.redacted_names import warn_of_earlier_privacy
from ingest.pipeline.planning.selection import check_format_name, select_since
from ingest.pipeline.planning.tool_catalog import read_given_definitions
from ingest.pipeline.publish import LoadTotals, has_new_aliases, publish
from ingest.pipeline.reading.checkpoint import Checkpoint
from ingest.pipeline.reading.file_reader import ReadJob, ReadSettings
from ingest.pipeline.reading.format_recognition import UnusableFileError, describe_read_error
from ingest.pipeline.resume import read_checkpoint, read_past_sessions
from ingest.pipeline.workers.executor_choice import ExecutorOptions, make_executor
from ingest.privacy.configuration import ALL, PrivacyOptions
from ingest.sessions.past_sessions import PastSessions
from ingest.sessions.path_facts import PathFacts
from ingest.sources.discovery import HiddenNames, Named, find_logs
from ingest.sources.log_file import LogFile
from ingest.store.connection import start_database
from ingest.store.generation_file import utc_now
from ingest.store.generations import (
    OnWrite,
    Patience,
    StoreFolder,
    do_not_wait,
    ignore_write,
    lock_store,
    published_generation,
)
from ingest.store.ledger import FileStatus, Ledger, LedgerCopy, LedgerRow
from ingest.store.reader import (
    has_new_labels,
    is_outdated,
    read_ledger_and_forgotten,
    read_newest_time,
)
from ingest.store.writer import FactWriter

OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]
"""Function that returns True after the user has asked the load to stop."""


def never_stop() -> bool:
    """Return False. Use this as the `Stop` function of a load that cannot be stopped."""
    return False


class LoadCancelled(BaseException):  # not an Exception, so that the file reader does not catch it
    """The user stopped the load while a file was being read."""


def load(
    paths: Iterable[Named],
    store_dir: Path,
    *,
    tools: Sequence[Path] = (),
    labels: Path | None = None,
    max_line: int = MAX_LINE,
    form: str | None = None,
    since: str | None = None,
    limit: int | None = None,
    private: PrivacyOptions = ALL,
    from_path: Sequence[str] = (),
    model: str | None = None,
    mapping: Mapping[str, str] = NO_PATHS,
    on_progress: OnProgress | None = None,
    on_write: OnWrite = ignore_write,
    stop: Stop = never_stop,
    patience: Patience = do_not_wait,
    again: Collection[str] = (),
    workers: int | None = None,
    on: str | None = None,
    shared: str | None = None,
    replacing: bool = False,
) -> LoadReport:
    """Load logs into a store. Publish the new data, if there is any.

    No store is created when no file could be read.

    `paths` are files, folders, patterns, addresses and `-` (`ingest.sources.discovery`). `tools` are files of
    tool definitions (`ingest.pipeline.planning.tool_catalog`). `labels` is a file with users' names for
    prompts (`ingest.pipeline.planning.naming`). `max_line` is the longest line to read, in bytes. `form` is
    the name of the format for all files. If `form` is None, the format of each file is recognised.

    `since` excludes files that have not changed since that time (`ingest.pipeline.planning.selection`).
    `limit` is the largest number of files to read; loaded and unreadable files do not count. `private`
    defines what is removed from all texts. `from_path` are patterns that find model, prompt, run and date in
    paths. `model` is used for logs that do not name a model. `mapping` has the paths of fields in records of
    chat transcripts (`ingest.pipeline.planning.naming`). `again` names files to read again although they are
    in the store. `workers`, `on` and `shared` set the number of processes and the cluster that read logs
    (`ExecutorOptions`). `replacing` removes stored data that a file no longer contains.

    When `stop()` returns True, reading ends after the current batch. Files that were read completely are
    published. Raises InputError, StoreError, StoreBusy or StoreVersionError, which are IngestErrors. After an
    error, nothing is published.
    """
    started, started_at = time.monotonic(), utc_now()
    executor = ExecutorOptions(workers, on, shared)
    store_dir = store_dir.absolute()
    catalog, notes = read_given_definitions(store_dir, tools)
    names, known_as = read_labels(labels), check_format_name(form)
    naming = read_naming(store_dir, from_path, model, mapping)
    log_files, left = select_since(find_logs(paths, store_dir, hidden := HiddenNames()), since)
    locked = lock_store(store_dir, on_write, patience)
    with locked as folder, start_database(folder.building_path) as database:
        current = published_generation(store_dir)
        ledger, forgotten = read_ledger_and_forgotten(current, database)
        privacy, left_out = private.for_store(store_dir, (row.read_with.privacy for row in ledger.rows()))
        settings = ReadSettings.from_options(
            catalog, max_line, known_as, privacy, left_out, forgotten, naming
        )
        writer = FactWriter(folder, ledger.last_id + 1, database)
        options: dict[str, Any] = {"limit": limit, "again": again, "replacing": replacing, "writer": writer}
        run = LogLoader(folder, ledger, settings, on_progress, stop, executor=executor, **options)
        run.totals.left = left
        try:
            run.load_all(log_files)
            del log_files  # 100,000 files take 90 MB, which the tables can use
            news = _has_news(run.totals, current, names, naming)
            generation = publish(run.writer, folder, run.totals, started_at, names, naming) if news else None
        except BaseException:
            run.writer.abandon()
            raise
        if generation is None:
            run.writer.abandon()
        run.drop_rows()
    warnings = (*format_problems(), *warn_of_earlier_privacy(ledger, settings.options))
    run.totals.notes += (*notes, *hidden.notes(), *warnings)
    if generation is None and current is not None:
        run.totals.newest = read_newest_time(current, run.totals.present)
    return run.totals.make_report(generation, time.monotonic() - started)


def _has_news(totals: LoadTotals, current: Path | None, names: Mapping[str, str], naming: Naming) -> bool:
    if current is None:  # a store with only unreadable files would look as if its data were lost
        return bool(totals.loaded)
    if totals.has_changes or is_outdated(current):
        return True
    return has_new_labels(current, names) or has_new_aliases(current, naming.aliases)


def _is_mapped(row: LedgerRow | LedgerCopy) -> bool:
    return isinstance(row, LedgerCopy) or PathFacts.from_json(row.read_with.facts).mapping is not None


class LogLoader:
    """Loads the files of one load, one after another.

    `writer` has the rows written so far. `totals` has the counts.
    """

    def __init__(
        self,
        folder: StoreFolder,
        ledger: Ledger,
        settings: ReadSettings,
        on_progress: OnProgress | None,
        stop: Stop,
        *,
        writer: FactWriter,
        limit: int | None,
        again: Collection[str],
        executor: ExecutorOptions,
        replacing: bool,
    ) -> None:
        self._folder = folder
        self._ledger = ledger
        self._replacing = replacing
        self._settings = settings
        self._on_progress = on_progress
        self._stop = stop
        self._limit = limit
        self._again = again
        self.writer = writer
        self.totals = LoadTotals()
        self._book = LedgerUpdate(ledger, self.totals, settings, self.writer, replacing=replacing)
        self._executor = make_executor(executor, settings, self.writer, folder)

    def load_all(self, files: Iterable[LogFile]) -> None:
        gc.freeze()  # imported modules stay in memory, so the garbage collector need not scan them again
        try:
            self._load_logs(self.expand_archives(files))
        finally:
            gc.unfreeze()
            self._executor.close()

    def drop_rows(self) -> None:
        """Remove the rows that a cluster's workers shared. Call this after the load is published."""
        self._executor.drop_rows()
        self._folder.remove_shared_rows()

    def expand_archives(self, files: Iterable[LogFile]) -> Sequence[LogFile]:
        settings = self._settings
        unfolded = expand_archives(files, self._ledger, settings.options, settings.privacy, self._again)
        self.totals.veiled = unfolded.veiled
        for row in unfolded.turned:
            self._book.note_became_archive(row)
        return unfolded.logs

    def _load_logs(self, files: Sequence[LogFile]) -> None:
        total, done = sum(log_file.seen.size for log_file in files), 0
        progress = partial(Progress, files_total=len(files), bytes_total=total)
        base = progress(name="", files_done=0, bytes_done=0, rejects=0)
        ordered = sort_safely(files, self._ledger)
        self._executor.expect(ordered, self._is_likely_read, self._plan_job)
        for position, log_file in enumerate(ordered):
            rejects = self.totals.rejects
            base = progress(name=log_file.name, files_done=position, bytes_done=done, rejects=rejects)
            self._report_progress(base)
            self._executor.reach(position)
            if self._stop() or not self._try_load_log(log_file, base):
                self.totals.unread = len(files) - position
                break
            done += log_file.seen.size
        if self._replacing:
            loaded = FileStatus.LOADED
            rows = (self._ledger.find_by_name(log_file.name) for log_file in files)
            self._book.remove_earlier({row.name for row in rows if row is not None and row.status is loaded})
        known_rows = (
            self._ledger.find_by_name(log_file.name) or self._ledger.find_copy(log_file.name)
            for log_file in files
        )
        present = [row for row in known_rows if row is not None]
        self.totals.present = [row.file_id for row in present]
        if present and self._settings.options.naming.mapped and not any(map(_is_mapped, present)):
            self.totals.notes += (MAP_UNUSED,)
        self._report_progress(
            replace(base, files_done=len(files), bytes_done=total, rejects=self.totals.rejects)
        )

    def _try_load_log(self, log_file: LogFile, base: Progress) -> bool:
        last_id = self.writer.last_id
        try:
            self._load_log(log_file, base)
        except LoadCancelled:
            if self.writer.last_id != last_id:  # else no row has come, and the last file is an earlier one
                self.writer.take_back_file()
            return False
        return True

    def _report_progress(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def _load_log(self, log_file: LogFile, base: Progress) -> None:
        def on_bytes(read: int, rejects: int) -> None:
            if read < log_file.seen.size and self._stop():
                raise LoadCancelled
            self._report_progress(
                replace(base, bytes_done=base.bytes_done + read, rejects=base.rejects + rejects)
            )

        try:
            decision = self.decide_change(log_file)
            if decision.change is not Change.READ:
                self._book.note_skipped(log_file, decision)
            elif self._limit is not None and len(self.totals.loaded) >= self._limit:
                self.totals.left += 1
            else:
                intake = self._executor.read_file(self._make_job(log_file, decision), on_bytes)
                self._book.note_read(log_file, decision, intake)
        except UnusableFileError as unusable:
            self._book.note_refused(log_file, unusable)

    def _is_likely_read(self, log_file: LogFile) -> bool:
        if self._limit is not None and len(self.totals.loaded) + self._executor.count_ahead >= self._limit:
            return False
        return is_likely_read(log_file, self._ledger, self._settings.options, self._again)

    def _plan_job(self, log_file: LogFile) -> ReadJob:
        return self._make_job(log_file, ChangeDecision(Change.READ, self._ledger.find_by_name(log_file.name)))

    def _make_job(self, log_file: LogFile, decision: ChangeDecision) -> ReadJob:
        row = decision.known
        facts = self._settings.options.facts_of(log_file.name, row)
        return ReadJob(
            log_file,
            self._find_checkpoint(log_file, row, facts),
            quoting=row is None or not row.forgetful,
            facts=facts,
            known=(row.size, row.content_hash) if row and row.content_hash is not None else None,
            past=self._find_past(log_file, decision),
        )

    def _find_past(self, log_file: LogFile, decision: ChangeDecision) -> PastSessions | None:
        row, left = decision.known, decision.left
        if self._replacing or not log_file.place.can_reopen:
            return None
        before = row.follows if row is not None else None
        if left is not None and left.fingerprint is not None:
            before = before or left.file_id
        elif row is not None and row.fingerprint is not None:
            with suppress(OSError):  # reading the file will report the error
                # For a member of an archive, this check would have to unpack the archive up to the member.
                grows = log_file.archive is None and begins_like(log_file, row)
                before = before if grows else row.file_id
        return read_past_sessions(self.writer.builder, before) if before is not None else None

    def _find_checkpoint(
        self, log_file: LogFile, row: LedgerRow | None, facts: PathFacts
    ) -> Checkpoint | None:
        """Return the checkpoint of a file that has grown since it was loaded.

        Return None when there is no usable checkpoint.
        """
        if row is None or row.status is not FileStatus.LOADED or not log_file.place.can_reopen:
            return None
        grown = log_file.content_size is not None and log_file.content_size > row.size
        options = self._settings.options
        past = row.read_with
        now = select_facts(facts, options.form or row.source).to_json()
        same = (past.tools, past.privacy, past.facts) == (options.tools, options.privacy, now)
        return read_checkpoint(self.writer.builder, row.file_id) if grown and same else None

    def decide_change(self, log_file: LogFile) -> ChangeDecision:
        if log_file.problem is not None:
            raise UnusableFileError(log_file.problem)
        row = self._ledger.find_by_name(log_file.name)
        if row is not None and log_file.name in self._again:
            return ChangeDecision(Change.READ, row)
        try:
            return decide_change(log_file, self._ledger, self._settings.options)
        except OSError as error:
            raise describe_read_error(error) from error
