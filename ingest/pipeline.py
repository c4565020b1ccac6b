"""Paths in, a published generation and a report out: which file is read, in what order, what a failure costs.

A file that fails costs itself, a line that fails costs that line; what the store knew of a file stays until
the file has been read anew to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingest.changes import Change, Known, Ledger, Status, decide, in_safe_order
from ingest.collect import Found, collect
from ingest.errors import OptionError
from ingest.generations import Folder, OnWrite, hold, ignore, published
from ingest.intake import Intake, Settings, take_in
from ingest.labels import read_labels
from ingest.lines import MAX_LINE
from ingest.publishing import Totals, publish
from ingest.reading import Unusable
from ingest.reports import LoadReport, Progress
from ingest.store import is_outdated, labels_are_news, read_ledger, utc_now
from ingest.writing import Writer
from lenient import ToolCatalog, ToolDefinitionError

OnProgress = Callable[[Progress], None]
KEPT = "; what was loaded from it before stays"


def load(
    paths: Iterable[Path],
    store_dir: Path,
    *,
    tools: Sequence[Path] = (),
    labels: Path | None = None,
    max_line: int = MAX_LINE,
    on_progress: OnProgress | None = None,
    on_write: OnWrite = ignore,
) -> LoadReport:
    """Load logs into a store and publish the new generation, if there is anything new.

    `paths` are files and folders, `tools` files of tool definitions in any shape `lenient` reads,
    `labels` a file of people's names for prompts (see `ingest.labels`), `max_line`
    is in bytes. Raises InputError, StoreError, StoreBusy or StoreVersionError, with nothing published; all
    are IngestErrors.
    """
    started, started_at = time.monotonic(), utc_now()
    settings, names = Settings.of(read_tools(tools), max_line), read_labels(labels)
    store_dir = store_dir.absolute()
    found = collect(paths, store_dir)
    with hold(store_dir, on_write) as folder:
        current = published(store_dir)
        run = _Load(folder, read_ledger(current) if current else [], settings, on_progress)
        try:
            run.take_in_all(found)
            news = run.totals.changed or (current is not None and _is_behind(current, names))
            generation = publish(run.writer, folder, run.totals, started_at, names) if news else None
        except BaseException:
            run.writer.abandon()
            raise
        if generation is None:
            run.writer.abandon()
    return run.totals.report(generation, time.monotonic() - started)


def _is_behind(current: Path, names: Mapping[str, str]) -> bool:
    """True when the published generation lacks something that no log needs to be read for."""
    return is_outdated(current) or labels_are_news(current, names)


def read_tools(files: Iterable[Path]) -> ToolCatalog:
    """The definitions of all files; of two with one name the later file's counts. Raises OptionError."""
    catalog = ToolCatalog()
    for file in files:
        try:
            loaded = ToolCatalog.load(file)
        except ToolDefinitionError as error:
            raise OptionError(f"these tool definitions cannot be used: {error}") from error
        if not len(loaded):
            raise OptionError(f"these tool definitions cannot be used: {file} defines no tool")
        catalog = catalog.overlaid(loaded)
    return catalog


class _Load:
    """The files of one load, one after another."""

    def __init__(
        self, folder: Folder, known: Sequence[Known], settings: Settings, on_progress: OnProgress | None
    ) -> None:
        self._ledger = Ledger(known)
        self._settings = settings
        self._on_progress = on_progress
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
            self._take_in(found, base)
            done += found.size
        self._tell(replace(base, files_done=len(files), bytes_done=total, rejects=self.totals.rejects))

    def _tell(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def _take_in(self, found: Found, base: Progress) -> None:
        def on_bytes(read: int, rejects: int) -> None:
            self._tell(replace(base, bytes_done=base.bytes_done + read, rejects=base.rejects + rejects))

        try:
            known, change = self._decide(found)
            if change is Change.UNCHANGED:
                self.totals.unchanged += 1
            elif change is Change.MOVED and known is not None:
                self._rename(known, found)
            else:
                self._loaded(found, known, take_in(found, self._settings, self.writer, on_bytes))
        except Unusable as unusable:
            self._refused(found, str(unusable))

    def _decide(self, found: Found) -> tuple[Known | None, Change]:
        if found.problem is not None:
            raise Unusable(found.problem)
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
        row = Known(intake.file_id, found.name, Status.LOADED, None, *content)
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
