"""Replaces each archive in the list of files by the logs that it contains.

An archive is not opened if it has not changed and all its members were read. The ledger then supplies its
members.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec.structs import replace

from ingest.pipeline.planning.change_detection import (
    ReadOptions,
    is_still_foreign,
    make_archive_mark,
    reader_version,
)
from ingest.pipeline.planning.redacted_names import redact_names
from ingest.privacy.event_redaction import PUBLIC, Privacy
from ingest.sources.archive_members import Archive, list_members, look_inside
from ingest.sources.log_file import LogFile
from ingest.sources.session_trees import SessionTree, gather_trees
from ingest.store.ledger import FileStatus, Ledger, LedgerCopy, LedgerRow

_SPREAD = "is a session in many files, which cannot be put together in a compressed tar; unpack it"


class ExpandedFiles(msgspec.Struct):
    """The logs to load, and the ledger rows to change.

    `turned` are rows to remove, because their files were loaded as logs but are archives now. `veiled` are
    rows with the new names that the privacy rules require.
    """

    logs: list[LogFile] = []
    turned: list[LedgerRow] = []
    veiled: list[LedgerRow] = []


def expand_archives(
    files: Iterable[LogFile],
    ledger: Ledger,
    options: ReadOptions,
    privacy: Privacy = PUBLIC,
    again: Collection[str] = (),
) -> ExpandedFiles:
    """Return all logs in the files, under the names that the store may record.

    A file that cannot be opened is included, with its `problem` set. `privacy` are the rules for names.
    `again` are names of logs that are opened although they are already in the store.
    """
    result = ExpandedFiles()
    named, result.veiled = redact_names(files, privacy, ledger)
    for log_file in named:
        if (
            log_file.problem is not None
            or not log_file.place.can_reopen
            or _is_unchanged_log(log_file, ledger, options)
        ):
            result.logs.append(log_file)
        elif settled := _known_members(log_file, ledger, options, again):
            result.logs += settled
        else:
            _expand_file(log_file, ledger, result)
    if privacy:
        result.logs = [replace(log, name=privacy.redact_path(log.name)) for log in result.logs]
    return result


def _is_unchanged_log(log_file: LogFile, ledger: Ledger, options: ReadOptions) -> bool:
    row = ledger.find_by_name(log_file.name) or ledger.find_copy(log_file.name)
    if isinstance(row, LedgerRow) and row.status is not FileStatus.LOADED:
        return is_still_foreign(log_file, row, options)
    return row is not None and log_file.seen.is_telling and row.outside.seen == log_file.seen


def _known_members(
    archive: LogFile, ledger: Ledger, options: ReadOptions, again: Collection[str]
) -> list[LogFile]:
    """Return the members of an unchanged archive from the ledger.

    Return an empty list if the archive must be opened.
    """
    if not archive.seen.is_telling:
        return []
    by_mark: dict[str | None, list[LedgerRow | LedgerCopy]] = {}
    for row in ledger.find_members(archive.name):  # includes members that are no longer in the archive
        by_mark.setdefault(row.outside.archive_seen, []).append(row)
    for mark, rows in by_mark.items():
        if mark == make_archive_mark(archive.seen, len(rows), reader_version()):
            anew = any(row.name in again or _would_read_otherwise(row, options) for row in rows)
            return [] if anew else [_member_of_row(archive, row) for row in rows]
    return []


def _would_read_otherwise(row: LedgerRow | LedgerCopy, options: ReadOptions) -> bool:
    return isinstance(row, LedgerRow) and options.reads_otherwise_than(row)


def _member_of_row(archive: LogFile, row: LedgerRow | LedgerCopy) -> LogFile:
    outside = row.outside
    return LogFile(
        row.name,
        archive.place,
        outside.seen,
        archive=outside.archive,
        archive_seen=outside.archive_seen,
        settled=True,
    )


def _expand_file(log_file: LogFile, ledger: Ledger, result: ExpandedFiles) -> None:
    try:
        log_file, archive = look_inside(log_file)
    except OSError as error:
        result.logs.append(_unreadable_archive(log_file, error))
        return
    if archive is None:
        result.logs.append(log_file)
        return
    members, broken = _read_members(log_file, archive, fingerprints=len(ledger) > 0)
    if broken is not None:
        result.logs += [*members, _unreadable_archive(log_file, broken)]
        return
    mark = make_archive_mark(log_file.seen, len(members), reader_version())
    result.logs += [replace(member, archive_seen=mark) for member in members]
    if not members:
        problem = "is an archive without files (hidden files are skipped)"
        result.logs.append(replace(log_file, problem=problem))
    elif known_row := ledger.find_by_name(log_file.name):
        result.turned.append(known_row)


def _read_members(
    log_file: LogFile, archive: Archive, *, fingerprints: bool
) -> tuple[list[LogFile], OSError | None]:
    members: list[LogFile] = []
    try:
        for member in list_members(log_file, archive, fingerprints=fingerprints):
            members.append(member)  # noqa: PERF402 - those before a broken place count
    except OSError as error:
        return _gather_members(members, archive), error
    return _gather_members(members, archive), None


def _gather_members(members: list[LogFile], archive: Archive) -> list[LogFile]:
    """Return the members of an archive. All files of one session become one log.

    In a compressed archive, a session of several files is rejected, because its files are at different
    positions of the stream.
    """
    return [
        replace(log, problem=_SPREAD) if archive.compression and isinstance(log.place, SessionTree) else log
        for log in gather_trees(members).logs
    ]


def _unreadable_archive(log_file: LogFile, error: OSError) -> LogFile:
    return replace(log_file, problem=f"cannot be read: {error.strerror or error}")
