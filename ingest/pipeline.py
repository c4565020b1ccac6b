"""Paths in, a published generation and a report out: which file is read, in what order, what a failure costs.

A file that fails costs itself, a line that fails costs that line; what the store knew of a file stays until
the file has been read anew to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingest.changes import Change, Known, Ledger, Status, decide, in_safe_order
from ingest.collect import Found, collect
from ingest.definitions import given_definitions
from ingest.generations import Folder, OnWrite, Patience, hold, ignore, none, published
from ingest.intake import Intake, Settings, take_in
from ingest.labels import read_labels
from ingest.lines import MAX_LINE
from ingest.lookup import is_outdated, labels_are_news, read_forgotten, read_ledger
from ingest.publishing import Totals, publish
from ingest.reading import Unusable
from ingest.reports import LoadReport, Progress
from ingest.store import utc_now
from ingest.writing import Writer

OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]
KEPT = "; what was loaded from it before stays"


def go_on() -> bool:
    """The `Stop` of a load that nobody interrupts."""
    return False


def load(
    paths: Iterable[Path],
    store_dir: Path,
    *,
    tools: Sequence[Path] = (),
    labels: Path | None = None,
    max_line: int = MAX_LINE,
    on_progress: OnProgress | None = None,
    on_write: OnWrite = ignore,
    stop: Stop = go_on,
    patience: Patience = none,
    again: Collection[str] = (),
) -> LoadReport:
    """Load logs into a store and publish the new generation, if there is anything new.

    `paths` are files and folders, `tools` files of tool definitions (see `ingest.definitions`), `labels` a
    file of people's names for prompts (see `ingest.labels`), `max_line` is in bytes, `again` names files that
    are read though they are in. Once `stop()` is true, the file at work is given up after its batch, and what
    was read whole so far is published. Raises InputError, StoreError, StoreBusy or StoreVersionError with
    nothing published; all are IngestErrors.
    """
    started, started_at = time.monotonic(), utc_now()
    store_dir = store_dir.absolute()
    catalog, notes = given_definitions(store_dir, tools)
    names, found = read_labels(labels), collect(paths, store_dir)
    with hold(store_dir, on_write, patience) as folder:
        current = published(store_dir)
        known = read_ledger(current) if current else []
        forgotten = read_forgotten(current) if current else frozenset[str]()
        settings = Settings.of(catalog, max_line, forgotten)
        run = _Load(folder, known, settings, on_progress, stop, again)
        try:
            run.take_in_all(found)
            news = run.totals.changed or (current is not None and _is_behind(current, names))
            generation = publish(run.writer, folder, run.totals, started_at, names) if news else None
        except BaseException:
            run.writer.abandon()
            raise
        if generation is None:
            run.writer.abandon()
    run.totals.notes += notes
    return run.totals.report(generation, time.monotonic() - started)


def _is_behind(current: Path, names: Mapping[str, str]) -> bool:
    """True when the published generation lacks something that no log needs to be read for."""
    return is_outdated(current) or labels_are_news(current, names)


class _Stopped(BaseException):  # not an Exception: reading a file turns those into a verdict on the file
    """Somebody asked for an end."""


class _Load:
    """The files of one load, one after another."""

    def __init__(
        self,
        folder: Folder,
        known: Sequence[Known],
        settings: Settings,
        on_progress: OnProgress | None,
        stop: Stop,
        again: Collection[str],
    ) -> None:
        self._ledger = Ledger(known)
        self._settings = settings
        self._on_progress = on_progress
        self._stop = stop
        self._again = again
        self.writer = Writer(folder, max((row.file_id for row in known), default=0) + 1)
        self.totals = Totals()

    def take_in_all(self, files: Sequence[Found]) -> None:
        total, done = sum(found.size for found in files), 0
        for position, found in enumerate(in_safe_order(files, self._ledger)):
            base = Progress(
                name=found.name,
                files_done=position,
                files_total=len(files),
                bytes_done=done,
                bytes_total=total,
                rejects=self.totals.rejects,
            )
            self._tell(base)
            if self._stop() or not self._takes_in(found, base):
                self.totals.unread = len(files) - position
                break
            done += found.size
        self._tell(replace(base, files_done=len(files), bytes_done=total, rejects=self.totals.rejects))

    def _takes_in(self, found: Found, base: Progress) -> bool:
        """Take a file in; False when somebody asked for an end before its own."""
        try:
            self._take_in(found, base)
        except _Stopped:
            self.writer.take_back_file()
            return False
        return True

    def _tell(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def _take_in(self, found: Found, base: Progress) -> None:
        def on_bytes(read: int, rejects: int) -> None:
            if read < found.size and self._stop():
                raise _Stopped
            self._tell(replace(base, bytes_done=base.bytes_done + read, rejects=base.rejects + rejects))

        try:
            known, change = self._decide(found)
            if change is Change.UNCHANGED:
                self.totals.unchanged += 1
            elif change is Change.MOVED and known is not None:
                self._rename(known, found)
            else:
                quoting = known is None or not known.forgetful
                intake = take_in(found, self._settings, self.writer, on_bytes, quoting=quoting)
                self._loaded(found, known, intake)
        except Unusable as unusable:
            self._refused(found, str(unusable))

    def _decide(self, found: Found) -> tuple[Known | None, Change]:
        if found.problem is not None:
            raise Unusable(found.problem)
        known = self._ledger.at(found.name)
        if known is not None and found.name in self._again:
            return known, Change.READ
        try:
            decision = decide(found, self._ledger, self._settings.options)
        except OSError as error:
            raise Unusable(f"cannot be read: {error.strerror or error}") from error
        return decision.known, decision.change

    def _rename(self, known: Known, found: Found) -> None:
        self._ledger.remove(known)
        self._ledger.add(
            replace(known, name=found.name, mtime_ns=found.mtime_ns, status=Status.LOADED, reason=None)
        )
        self.totals.renamed.append((known.file_id, found.name, found.mtime_ns))

    def _loaded(self, found: Found, known: Known | None, intake: Intake) -> None:
        if known is not None:
            self._ledger.remove(known)
            self.totals.replaced.append(known.file_id)
        content = (found.size, found.mtime_ns, intake.fingerprint, intake.read_with)
        forgetful = intake.forgot or (known is not None and known.forgetful)
        row = Known(intake.file_id, found.name, Status.LOADED, None, *content, forgetful)
        self._ledger.add(row)
        self.totals.add_loaded(row, intake)

    def _refused(self, found: Found, reason: str) -> None:
        """Record why, unless the store says just that already. Rows of an earlier reading stay."""
        known = self._ledger.at(found.name)
        if known is not None and known.fingerprint is not None:
            reason += KEPT
        self.totals.add_rejected(found.name, reason)
        if known is None:
            row = Known(
                self.writer.begin_file(),
                found.name,
                Status.REJECTED,
                reason,
                found.size,
                found.mtime_ns,
                None,
            )
            self._ledger.add(row)
            self.totals.refused_new.append(row)
        elif (known.status, known.reason) != (Status.REJECTED, reason):
            self._ledger.remove(known)
            self._ledger.add(replace(known, status=Status.REJECTED, reason=reason))
            self.totals.refused_again.append((known.file_id, reason))
