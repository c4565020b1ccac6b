"""Paths in, a published generation and a report out: which file is read, in what order, what a failure costs.

A file that fails costs itself, a line that fails costs that line; what the store knew of a file stays until
the file has been read anew to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingest.changes import (
    Change,
    Copy,
    Decision,
    Known,
    Ledger,
    Outside,
    Status,
    as_copy,
    decide,
    in_safe_order,
)
from ingest.collect import Named, collect
from ingest.continuing import Unfinished
from ingest.definitions import given_definitions
from ingest.generations import Folder, OnWrite, Patience, hold, ignore, none, published
from ingest.intake import Intake, Settings, take_in
from ingest.labels import read_labels
from ingest.lines import MAX_LINE
from ingest.lookup import is_outdated, labels_are_news, read_forgotten, read_ledger
from ingest.privacy.wanted import ALL, Wanted, keep_private
from ingest.publishing import Totals, publish
from ingest.reading import Unusable, unreadable
from ingest.reports import LoadReport, Progress
from ingest.selection import known_format, selected
from ingest.sources import solid
from ingest.sources.found import Found
from ingest.sources.naming import stream_name
from ingest.store import utc_now
from ingest.tails import keep_state, state_of, take_over
from ingest.unfolding import unfold
from ingest.writing import Writer

OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]
KEPT = "; what was loaded from it before stays"


def go_on() -> bool:
    """The `Stop` of a load that nobody interrupts."""
    return False


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
) -> LoadReport:
    """Load logs into a store and publish the new generation, if there is anything new.

    `paths` are files, folders, patterns, addresses and `-` (see `ingest.collect`), `tools` files of tool
    definitions (see `ingest.definitions`), `labels` a file of people's names for prompts (see
    `ingest.labels`), `max_line` is in bytes, `form` the name of the format that all are read as. Files that
    did not change `since` (see `ingest.selection`) are left out; at most `limit` are read: those that are in,
    or that no format takes, do not count. `private` says what is left out of all texts. `again` names files
    that are read though they are in. Once `stop()` is true, the file at work is given up after its batch, and
    what was read whole so far is published. Raises InputError, StoreError, StoreBusy or StoreVersionError
    with nothing published; all are IngestErrors.
    """
    started, started_at = time.monotonic(), utc_now()
    store_dir = store_dir.absolute()
    catalog, notes = given_definitions(store_dir, tools)
    names, known_as = read_labels(labels), known_format(form)
    found, left = selected(collect(paths, store_dir), since)
    with hold(store_dir, on_write, patience) as folder:
        current = published(store_dir)
        ledger = read_ledger(current) if current else Ledger()
        forgotten = read_forgotten(current) if current else frozenset[str]()
        privacy, left_out = private.of(store_dir)
        keep_private(store_dir, left_out, (row.read_with.privacy for row in ledger.rows()))
        settings = Settings.of(catalog, max_line, known_as, privacy, left_out, forgotten)
        run = _Load(folder, ledger, settings, on_progress, stop, limit=limit, again=again)
        run.totals.left = left
        try:
            run.take_in_all(
                [replace(one, name=privacy.path(one.name)) for one in found] if privacy else found
            )
            news = run.totals.changed or (current is not None and _is_behind(current, names))
            generation = publish(run.writer, folder, run.totals, started_at, names) if news else None
        except BaseException:
            run.writer.abandon()
            raise
        if generation is None:
            run.writer.abandon()
    run.totals.notes += (*notes, *run.not_private())
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
        ledger: Ledger,
        settings: Settings,
        on_progress: OnProgress | None,
        stop: Stop,
        *,
        limit: int | None,
        again: Collection[str],
    ) -> None:
        self._ledger = ledger
        self._settings = settings
        self._on_progress = on_progress
        self._stop = stop
        self._limit = limit
        self._again = again
        self.writer = Writer(folder, ledger.last_id + 1)
        self.totals = Totals()

    def take_in_all(self, files: Iterable[Found]) -> None:
        try:
            self._take_in_logs(self._unfolded(files))
        finally:
            solid.rewind()

    def _unfolded(self, files: Iterable[Found]) -> Sequence[Found]:
        unfolded = unfold(files, self._ledger, self._settings.options, self._again)
        for known in unfolded.turned:
            self._ledger.remove(known)
            self.totals.replaced.append(known.file_id)
        return unfolded.logs

    def _take_in_logs(self, files: Sequence[Found]) -> None:
        total, done = sum(found.seen.size for found in files), 0
        base = Progress(
            name="", files_done=0, files_total=len(files), bytes_done=0, bytes_total=total, rejects=0
        )
        for position, found in enumerate(in_safe_order(files, self._ledger)):
            rejects = self.totals.rejects
            base = replace(base, name=found.name, files_done=position, bytes_done=done, rejects=rejects)
            self._tell(base)
            if self._stop() or not self._takes_in(found, base):
                self.totals.unread = len(files) - position
                break
            done += found.seen.size
        self._tell(replace(base, files_done=len(files), bytes_done=total, rejects=self.totals.rejects))

    def not_private(self) -> Iterator[str]:
        """A sentence when files stay in that were read with more than this load may keep."""
        options = self._settings.options
        public = [
            row
            for row in self._ledger.rows()
            if row.fingerprint and options.leave_out_more_than(row.read_with)
        ]
        if public:
            yield f"{len(public):,} files in the store were read without these rules; load them again, too"

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
            if read < found.seen.size and self._stop():
                raise _Stopped
            self._tell(replace(base, bytes_done=base.bytes_done + read, rejects=base.rejects + rejects))

        try:
            decision = self._decide(found)
            if decision.change is not Change.READ:
                self._passed_over(found, decision)
            elif self._limit is not None and len(self.totals.loaded) >= self._limit:
                self.totals.left += 1
            else:
                known = decision.known
                quoting, begun = known is None or not known.forgetful, self._begun(found, known)
                intake = take_in(found, self._settings, self.writer, on_bytes, begun, quoting=quoting)
                self._read(found, known, intake)
        except Unusable as unusable:
            self._refused(found, unusable)

    def _begun(self, found: Found, known: Known | None) -> Unfinished | None:
        """Where the reading of a file that has grown stopped; None where it is to be read whole."""
        if known is None or known.status is not Status.LOADED or not found.place.again:
            return None
        grown = found.content_size is not None and found.content_size > known.size
        same = known.read_with.tools == self._settings.options.tools
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

    def _passed_over(self, found: Found, decision: Decision) -> None:
        known = decision.known
        if decision.change is Change.MOVED and known is not None and found.place.again:
            self._rename(known, found)
        elif decision.change is Change.REFUSED and known is not None:
            self.totals.add_rejected(found.name, known.reason or "")
        else:
            self.totals.unchanged += 1
            if decision.change is Change.COPIED and known is not None:
                self._copied(known, found)
            elif known is not None:
                self._seen_anew(known, found)

    def _copied(self, known: Known, found: Found) -> None:
        if found.place.again:
            copy = Copy(found.name, known.file_id, Outside.of(found))
            self._ledger.add_copy(copy)
            self.totals.copies.append(copy)
            self.totals.worth_noting |= found.is_dear

    def _seen_anew(self, known: Known, found: Found) -> None:
        if found.settled or (known.outside.seen == found.seen and found.archive is None):
            return
        outside = Outside.of(found)
        if known.outside != outside:
            self._ledger.remove(known)
            self._ledger.add(replace(known, outside=outside))
            self.totals.seen_anew.append((known.file_id, outside))
            self.totals.worth_noting |= found.is_dear

    def _rename(self, known: Known, found: Found) -> None:
        self._ledger.remove(known)
        outside = Outside.of(found)
        row = replace(known, name=found.name, outside=outside, status=Status.LOADED, reason=None)
        self._ledger.add(row)
        self.totals.renamed.append(row)

    def _read(self, found: Found, known: Known | None, intake: Intake) -> None:
        """Count what was read, unless its end shows that it is in: of a stream only reading tells that."""
        is_new = known is None or known.fingerprint is None
        same = self._ledger.of_content(intake.fingerprint) if is_new else []
        if known is not None:
            self._ledger.remove(known)
            self.totals.replaced.append(known.file_id)
            self.totals.less_kept |= self._settings.options.leave_out_more_than(known.read_with)
        if same:
            self.writer.take_back_file()
            self._passed_over(found, as_copy(same))
            return
        if known is not None and intake.begun is not None:
            intake.rows.update(take_over(self.writer.building, known.file_id, intake.file_id, intake.begun))
        if intake.unfinished is not None:
            keep_state(self.writer.building, intake.file_id, intake.unfinished)
        content = (intake.bytes, intake.fingerprint, intake.head, intake.source)
        name = found.name if found.place.again else stream_name(intake.fingerprint)
        outside = Outside.of(found)
        forgetful = intake.forgot or (known is not None and known.forgetful)
        row = Known(intake.file_id, name, Status.LOADED, None, outside, intake.read_with, *content, forgetful)
        self._ledger.add(row)
        self.totals.add_loaded(row, intake)

    def _refused(self, found: Found, unusable: Unusable) -> None:
        """Record why, unless the store says just that already. Rows of an earlier reading stay."""
        known, reason = self._ledger.at(found.name), self._settings.privacy.text(str(unusable))
        if unusable.may_pass:
            found = replace(found, archive_seen=None)
        if known is not None and known.fingerprint is not None:
            reason += KEPT
        self.totals.add_rejected(found.name, reason)
        if known is None:
            outside = Outside.of(found)
            row = Known(self.writer.begin_file(), found.name, Status.REJECTED, reason, outside)
            self._ledger.add(row)
            self.totals.refused_new.append(row)
            return
        if (known.status, known.reason) != (Status.REJECTED, reason):
            self._ledger.remove(known)
            known = replace(known, status=Status.REJECTED, reason=reason)
            self._ledger.add(known)
            self.totals.refused_again.append((known.file_id, reason))
        if found.archive is not None:
            self._seen_anew(known, found)
