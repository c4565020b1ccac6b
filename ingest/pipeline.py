"""Paths in, a published generation and a report out: which file is read, in what order, what a failure costs.

A file that fails costs itself, a line that fails costs that line; what the store knew of a file stays until
the file has been read anew to its end.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingest.booking import Book
from ingest.changes import Change, Decision, decide, in_safe_order
from ingest.collect import Named, collect
from ingest.continuing import Unfinished
from ingest.crew import hands_for
from ingest.definitions import given_definitions
from ingest.foresight import is_likely_read
from ingest.generations import Folder, OnWrite, Patience, hold, ignore, none, published
from ingest.intake import Job, Settings
from ingest.labels import read_labels
from ingest.ledger import Known, Ledger, Status
from ingest.lines import MAX_LINE
from ingest.lookup import is_outdated, labels_are_news, read_memory
from ingest.privacy.names import read_with_more
from ingest.privacy.wanted import ALL, Wanted
from ingest.publishing import Totals, publish
from ingest.reading import Unusable, unreadable
from ingest.reports import LoadReport, Progress
from ingest.selection import known_format, selected
from ingest.sources.found import Found
from ingest.stopping import Stop, Stopped, go_on
from ingest.store import utc_now
from ingest.tails import state_of
from ingest.unfolding import unfold
from ingest.writing import Writer

OnProgress = Callable[[Progress], None]


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
    private: Wanted = ALL,
    on_progress: OnProgress | None = None,
    on_write: OnWrite = ignore,
    stop: Stop = go_on,
    patience: Patience = none,
    again: Collection[str] = (),
    workers: int | None = None,
) -> LoadReport:
    """Load logs into a store and publish the new generation, if there is anything new.

    `paths` are files, folders, patterns, addresses and `-` (see `ingest.collect`), `tools` files of tool
    definitions (see `ingest.definitions`), `labels` a file of people's names for prompts (see
    `ingest.labels`), `max_line` is in bytes, `form` the name of the format that all are read as. Files that
    did not change `since` (see `ingest.selection`) are left out; at most `limit` are read: those that are in,
    or that no format takes, do not count. `private` says what is left out of all texts. `again` names files
    that are read though they are in. `workers` processes read (None = as many as pay, see `ingest.crew`),
    this one writes. Once `stop()` is true, the file at work is given up after its batch, and what was read
    whole so far is published. Raises InputError, StoreError, StoreBusy or StoreVersionError with nothing
    published; all are IngestErrors.
    """
    started, started_at = time.monotonic(), utc_now()
    store_dir = store_dir.absolute()
    catalog, notes = given_definitions(store_dir, tools)
    names, known_as = read_labels(labels), known_format(form)
    found, left = selected(collect(paths, store_dir), since)
    with hold(store_dir, on_write, patience) as folder:
        current = published(store_dir)
        ledger, forgotten = read_memory(current) if current else (Ledger(), frozenset[str]())
        privacy, left_out = private.of(store_dir, (row.read_with.privacy for row in ledger.rows()))
        settings = Settings.of(catalog, max_line, known_as, privacy, left_out, forgotten)
        run = _Load(folder, ledger, settings, on_progress, stop, limit=limit, again=again, workers=workers)
        run.totals.left = left
        try:
            run.take_in_all(found)
            del found  # of 100,000 files 90 MB, which the tables can use
            news = run.totals.changed or (current is not None and _is_behind(current, names))
            generation = publish(run.writer, folder, run.totals, started_at, names) if news else None
        except BaseException:
            run.writer.abandon()
            raise
        if generation is None:
            run.writer.abandon()
    run.totals.notes += (*notes, *read_with_more(ledger, settings.options))
    return run.totals.report(generation, time.monotonic() - started)


def _is_behind(current: Path, names: Mapping[str, str]) -> bool:
    """True when the published generation lacks something that no log needs to be read for."""
    return is_outdated(current) or labels_are_news(current, names)


class _Load:
    """The files of one load, one after another."""

    def __init__(
        self,
        folder: Folder,
        ledger: Ledger,
        settings: Settings,
        on_progress: OnProgress | None,
        stop: Stop,
        *,
        limit: int | None,
        again: Collection[str],
        workers: int | None,
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._on_progress = on_progress
        self._stop = stop
        self._limit = limit
        self._again = again
        self.writer = Writer(folder, ledger.last_id + 1)
        self.totals = Totals()
        self._book = Book(ledger, self.totals, settings, self.writer)
        self._hands = hands_for(workers, settings, self.writer, folder)

    def take_in_all(self, files: Iterable[Found]) -> None:
        gc.freeze()  # what is imported by now stays; looking through it again and again is of no use
        try:
            self._take_in_logs(self._unfolded(files))
        finally:
            gc.unfreeze()
            self._hands.close()

    def _unfolded(self, files: Iterable[Found]) -> Sequence[Found]:
        settings = self._settings
        unfolded = unfold(files, self._ledger, settings.options, settings.privacy, self._again)
        self.totals.veiled = unfolded.veiled
        for known in unfolded.turned:
            self._book.turned(known)
        return unfolded.logs

    def _take_in_logs(self, files: Sequence[Found]) -> None:
        total, done = sum(found.seen.size for found in files), 0
        progress = partial(Progress, files_total=len(files), bytes_total=total)
        base = progress(name="", files_done=0, bytes_done=0, rejects=0)
        ordered = in_safe_order(files, self._ledger)
        self._hands.expect(ordered, self._is_likely_read, self._likely_job)
        for position, found in enumerate(ordered):
            rejects = self.totals.rejects
            base = progress(name=found.name, files_done=position, bytes_done=done, rejects=rejects)
            self._tell(base)
            self._hands.reach(position)
            if self._stop() or not self._takes_in(found, base):
                self.totals.unread = len(files) - position
                break
            done += found.seen.size
        self._tell(replace(base, files_done=len(files), bytes_done=total, rejects=self.totals.rejects))

    def _takes_in(self, found: Found, base: Progress) -> bool:
        """Take a file in; False when somebody asked for an end before its own."""
        try:
            self._take_in(found, base)
        except Stopped:
            self.writer.take_back_file()
            return False
        return True

    def _tell(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def _take_in(self, found: Found, base: Progress) -> None:
        def on_bytes(read: int, rejects: int) -> None:
            if read < found.seen.size and self._stop():
                raise Stopped
            self._tell(replace(base, bytes_done=base.bytes_done + read, rejects=base.rejects + rejects))

        try:
            decision = self._decide(found)
            if decision.change is not Change.READ:
                self._book.passed_over(found, decision)
            elif self._limit is not None and len(self.totals.loaded) >= self._limit:
                self.totals.left += 1
            else:
                intake = self._hands.take_in(self._job(found, decision.known), on_bytes)
                self._book.read(found, decision.known, intake)
        except Unusable as unusable:
            self._book.refused(found, unusable)

    def _is_likely_read(self, found: Found) -> bool:
        if self._limit is not None and len(self.totals.loaded) + self._hands.ahead >= self._limit:
            return False
        return is_likely_read(found, self._ledger, self._settings.options, self._again)

    def _likely_job(self, found: Found) -> Job:
        return self._job(found, self._ledger.at(found.name))

    def _job(self, found: Found, known: Known | None) -> Job:
        return Job(found, self._begun(found, known), quoting=known is None or not known.forgetful)

    def _begun(self, found: Found, known: Known | None) -> Unfinished | None:
        """Where the reading of a file that has grown stopped; None where it is to be read whole."""
        if known is None or known.status is not Status.LOADED or not found.place.again:
            return None
        grown = found.content_size is not None and found.content_size > known.size
        options = self._settings.options
        same = (known.read_with.tools, known.read_with.privacy) == (options.tools, options.privacy)
        return state_of(self.writer.building, known.file_id) if grown and same else None

    def _decide(self, found: Found) -> Decision:
        if found.problem is not None:
            raise Unusable(found.problem)
        known = self._ledger.at(found.name)
        if known is not None and found.name in self._again:
            return Decision(Change.READ, known)
        try:
            return decide(found, self._ledger, self._settings.options)
        except OSError as error:
            raise unreadable(error) from error
