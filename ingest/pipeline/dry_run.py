"""Forecasts a load from the beginnings of the files, without changing or locking the store.

A compressed tar archive must be read completely, because otherwise its members cannot be listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from ingest.decoding.lines import MAX_LINE
from ingest.formats import format_problems, is_last_resort
from ingest.formats.chat_jsonl import describe_record
from ingest.load_report import ForeignKind, RejectedFile
from ingest.pipeline.planning.archive_expansion import expand_archives
from ingest.pipeline.planning.change_detection import (
    ReadOptions,
    has_what_it_lacked,
    is_still_foreign,
    looks_the_same,
    sort_safely,
)
from ingest.pipeline.planning.naming import MAP_UNUSED, NO_PATHS, read_mapping, read_naming
from ingest.pipeline.planning.selection import check_format_name, select_since
from ingest.pipeline.planning.tool_catalog import read_given_definitions
from ingest.pipeline.reading.file_reader import ReadSettings
from ingest.pipeline.reading.format_recognition import (
    UnusableFileError,
    describe_read_error,
    recognise_content,
)
from ingest.privacy.configuration import ALL, PrivacyOptions
from ingest.record_mapping import RecordMapping, put_fields
from ingest.sessions.path_facts import PathFacts
from ingest.sources.archives import tar_archive
from ingest.sources.discovery import HiddenNames, Named, find_logs
from ingest.sources.log_content import HEAD, LogContent, open_log
from ingest.sources.log_file import LogFile
from ingest.store.generations import published_generation
from ingest.store.ledger import FileStatus, Ledger, LedgerRow
from ingest.store.reader import read_ledger

_MAPPED_SHOWN = 3
_LOOKED_FOR = ("messages", "model", "session_id", "timestamp", "tools", "usage")


class PlannedAction(StrEnum):
    """What a load would do with a file.

    A load reads the file unless the action is `UNCHANGED`, `COMPANION` or `REJECTED`. For `ALIKE`, the load
    first compares the content.
    """

    NEW = "new"
    GROWN = "grown"
    CHANGED = "changed"
    AGAIN = "again"  # already loaded, but the new options or a new file next to it would add data
    ALIKE = "alike"  # begins like a loaded log of the same size; skipped if all bytes are equal
    UNCHANGED = "unchanged"
    COMPANION = "companion"  # read together with another file, or not a log
    REJECTED = "rejected"


class FileShare(msgspec.Struct, frozen=True):
    """The files for which a load would take the same action and use the same format.

    `files` is the number of files, `bytes` their total size on disk. `form` is the name of the format. It is
    None when no format was recognised or the format was not checked.
    """

    would: PlannedAction
    form: str | None
    files: int
    bytes: int


class MappedRecord(msgspec.Struct, frozen=True):
    """The mapped values of record `number` in `file`, as a load would read them.

    `fields` has a short form of each field's value. `missing` are the fields that were not found.
    """

    file: str
    number: int
    fields: dict[str, str]
    missing: tuple[str, ...]


class LoadForecast(msgspec.Struct, frozen=True):
    """The forecast of a load: the files by action and format, and the files that it would reject.

    `companions` are files that are read together with another file; the reason names that file. `left` is the
    number of files excluded by `--since` and `--limit`. `notes` are sentences about other skipped files, and
    about mapped fields that were not found. `mapped` are the first mapped records.
    """

    shares: tuple[FileShare, ...]
    rejected: tuple[RejectedFile, ...]
    companions: tuple[RejectedFile, ...]
    left: int
    notes: tuple[str, ...]
    mapped: tuple[MappedRecord, ...] = ()


def forecast_load(
    paths: Iterable[Named],
    store_dir: Path,
    *,
    tools: Sequence[Path] = (),
    max_line: int = MAX_LINE,
    form: str | None = None,
    since: str | None = None,
    limit: int | None = None,
    private: PrivacyOptions = ALL,
    from_path: Sequence[str] = (),
    model: str | None = None,
    mapping: Mapping[str, str] = NO_PATHS,
) -> LoadForecast:
    """Return what `ingest.pipeline.load.load` would do with the same options.

    Raises the same errors as `load`, except StoreBusy.
    """
    store_dir = store_dir.absolute()
    catalog, _ = read_given_definitions(store_dir, tools)
    known_as, naming = check_format_name(form), read_naming(store_dir, from_path, model, mapping)
    hidden = HiddenNames()
    log_files, left = select_since(find_logs(paths, store_dir, hidden), since)
    current = published_generation(store_dir)
    ledger = read_ledger(current) if current else Ledger()
    words = (row.read_with.privacy for row in ledger.rows())
    privacy, left_out = private.for_store(store_dir, words, keep=False)
    options = ReadSettings.from_options(catalog, max_line, known_as, privacy, left_out, naming=naming).options
    planner = LoadPlanner(ledger, options, limit, left)
    try:
        for log in sort_safely(expand_archives(log_files, ledger, options, privacy).logs, ledger):
            planner.plan_file(log)
    finally:
        tar_archive.close_kept_archive()
    return planner.forecast((*hidden.notes(), *format_problems()))


class LoadPlanner:
    """Decides what a load would do with each file given to `plan_file`. `forecast` returns the totals.

    `limit` is the largest number of files to read, or None for all files. `left` is the number of files that
    were already excluded.
    """

    def __init__(self, ledger: Ledger, options: ReadOptions, limit: int | None, left: int) -> None:
        self._ledger = ledger
        self._options = options
        self._limit = limit
        self._read = 0
        self._sums: dict[tuple[PlannedAction, str | None], tuple[int, int]] = {}
        self._rejected: list[RejectedFile] = []
        self._companions: list[RejectedFile] = []
        self._left = left
        self._mapped: list[MappedRecord] = []
        self._gaps: list[str] = []

    def forecast(self, notes: tuple[str, ...]) -> LoadForecast:
        shares = [FileShare(*kind, *sums) for kind, sums in self._sums.items()]
        shares.sort(key=lambda share: (list(PlannedAction).index(share.would), share.form or ""))
        refused, companions = tuple(self._rejected), tuple(self._companions)
        is_unused = self._options.naming.mapped and self._read and not self._mapped
        notes = (*notes, *self._gaps, *([MAP_UNUSED] if is_unused else []))
        return LoadForecast(tuple(shares), refused, companions, self._left, notes, tuple(self._mapped))

    def plan_file(self, log_file: LogFile) -> None:
        row = self._ledger.find_by_name(log_file.name)
        if row is not None and row.status is not FileStatus.LOADED:
            self._plan_rejected_file(log_file, row)
        elif self._is_in(log_file, row):
            self._add_action(log_file, PlannedAction.UNCHANGED, row.source if row else None)
        elif self._limit is not None and self._read >= self._limit:
            self._left += 1
        else:
            self._plan_by_content(log_file, row)

    def _plan_rejected_file(self, log_file: LogFile, row: LedgerRow) -> None:
        if log_file.settled or is_still_foreign(log_file, row, self._options):
            is_companion = row.status is FileStatus.COMPANION
            self._add_rejected(log_file, row.reason or "", is_companion=is_companion, foreign=row.foreign)
        else:
            self._plan_by_content(log_file, None)

    def _is_in(self, log_file: LogFile, known_row: LedgerRow | None) -> bool:
        if log_file.settled:
            return True
        row = known_row or self._ledger.find_copy(log_file.name)
        if row is None or (known_row is not None and self._options.reads_otherwise_than(known_row)):
            return False
        if known_row is not None and has_what_it_lacked(log_file, known_row):
            return False
        return looks_the_same(log_file, row)

    def _plan_by_content(self, log_file: LogFile, row: LedgerRow | None) -> None:
        if log_file.problem is not None:
            self._add_rejected(log_file, log_file.problem)
            return
        try:
            would, form = self.read_head(log_file, row)
        except UnusableFileError as unusable:
            self._add_rejected(
                log_file, str(unusable), is_companion=unusable.is_companion, foreign=unusable.foreign
            )
        except OSError as error:
            self._add_rejected(log_file, str(describe_read_error(error)))
        else:
            self._read += would is not PlannedAction.ALIKE
            self._add_action(log_file, would, form)

    def read_head(self, log_file: LogFile, row: LedgerRow | None) -> tuple[PlannedAction, str]:
        with open_log(log_file, rewinds=True) as content:
            head = bytearray(HEAD)
            del head[content.readinto(head) :]
            would = self._planned_action(log_file, row, content, bytes(head))
            content.go_back()
            facts = self._options.facts_of(log_file.name, row)
            mapping = read_mapping(facts)
            recognised = recognise_content(
                content, log_file, self._options.max_line, self._options.form, mapping
            )
        if mapping is not None and is_last_resort(recognised.form):
            self._show_mapping(log_file.name, facts, mapping, recognised.head)
        return would, recognised.form.SOURCE.name

    def _show_mapping(
        self, file: str, facts: PathFacts, mapping: RecordMapping, records: Sequence[dict[str, Any]]
    ) -> None:
        numbered = list(enumerate(records, 1))
        numbered = [pair for pair in numbered if not mapping.skips(mapping.apply(pair[1]))] or numbered
        gaps = mapping.list_gaps([record for _, record in numbered])
        self._gaps += [f"no {gap} in {file}" for gap in gaps]
        supplied_facts = {"model": facts.model, "timestamp": facts.date, "tools": self._options.tools}
        for number, record in numbered:
            if len(self._mapped) == _MAPPED_SHOWN:
                return
            mapped_fields = mapping.find_fields(record)
            fields = describe_record(put_fields(record, mapped_fields))
            missing = [name for name in _LOOKED_FOR if name not in fields and not supplied_facts.get(name)]
            missing += [name for name, _ in mapping.paths if name not in mapped_fields and name not in fields]
            self._mapped.append(MappedRecord(file, number, fields, tuple(dict.fromkeys(missing))))

    def _planned_action(
        self, log_file: LogFile, known_row: LedgerRow | None, content: LogContent, head: bytes
    ) -> PlannedAction:
        size = None if content.packed or not log_file.place.can_reopen else log_file.seen.size
        if known_row is None:
            alike = self._ledger.find_by_head(content.head)
            return (
                PlannedAction.ALIKE if any(size in (None, row.size) for row in alike) else PlannedAction.NEW
            )
        if self._options.reads_otherwise_than(known_row) or has_what_it_lacked(log_file, known_row):
            return PlannedAction.AGAIN
        if sha256(head[: known_row.size]).hexdigest() != known_row.head:
            return PlannedAction.CHANGED
        if size == known_row.size:
            return PlannedAction.ALIKE
        larger = log_file.seen.size > known_row.outside.seen.size if size is None else size > known_row.size
        return PlannedAction.GROWN if larger else PlannedAction.CHANGED

    def _add_rejected(
        self,
        log_file: LogFile,
        reason: str,
        *,
        is_companion: bool = False,
        foreign: ForeignKind | None = None,
    ) -> None:
        listed = self._companions if is_companion else self._rejected
        listed.append(RejectedFile(log_file.name, reason, foreign))
        self._add_action(log_file, PlannedAction.COMPANION if is_companion else PlannedAction.REJECTED)

    def _add_action(self, log_file: LogFile, would: PlannedAction, form: str | None = None) -> None:
        files, size = self._sums.get((would, form), (0, 0))
        self._sums[would, form] = (files + 1, size + log_file.seen.size)
