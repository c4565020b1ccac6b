"""Detects what is new in a log: skip it, note its name, or read it.

A log is known by the fingerprint of its content, unpacked. Its name and how it looks from outside only save
the reading.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from ingest.sources.discovery import still_exists
from ingest.sources.log_content import HEAD, compute_fingerprint, open_log
from ingest.sources.log_file import FileStamp, LogFile
from ingest.store.ledger import FileStatus, Ledger, LedgerRow, ReadWith


class Change(StrEnum):
    UNCHANGED = "unchanged"  # its content is in
    COPIED = "copied"  # its content is in, under another name that is there as well
    MOVED = "moved"  # its content is in, under a name that is no longer there
    REFUSED = "refused"  # it was refused before, and is part of something that has not changed since
    READ = "read"  # new, grown, rewritten, or refused last time


_read_with = lru_cache(maxsize=8)(ReadWith)  # mostly one for all files of a load, which may be many


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What this load would read with. `form` is the format that all files are read as, None = their own."""

    tools: str | None = None
    max_line: int = 0
    form: str | None = None
    privacy: str | None = None

    def read_with(self, *, cut: bool) -> ReadWith:
        """Return what a reading depended on; `cut`: a line was longer than `max_line`."""
        return _read_with(self.tools, self.max_line if cut else None, self.privacy)

    def sees_more_than(self, past: ReadWith) -> bool:
        """Return True when a reading now could tell more than that one did, or must tell less.

        No definitions never beat some.
        """
        other_tools = self.tools is not None and self.tools != past.tools
        longer_lines = past.cut_at is not None and past.cut_at < self.max_line
        return other_tools or longer_lines or self.leaves_out_more_than(past)

    def leaves_out_more_than(self, past: ReadWith) -> bool:
        """Return True when that reading kept what this load is to leave out."""
        return self.privacy is not None and self.privacy != past.privacy

    def reads_otherwise_than(self, known: LedgerRow) -> bool:
        """Return True when this load would read a file that is in by another format, or see more in it."""
        other_form = self.form is not None and self.form != known.source
        return other_form or self.sees_more_than(known.read_with)


@dataclass(frozen=True, slots=True)
class ChangeDecision:
    """`known` is the row that this file continues, replaces, renames or repeats; None for a new file."""

    change: Change
    known: LedgerRow | None = None


def sort_safely(files: Iterable[LogFile], ledger: Ledger) -> list[LogFile]:
    """Put known names first: when logs rotate, old content must leave the ledger before it turns up anew.

    The members of an archive stay in its order: a compressed one can only be read forward.
    """

    def key(found: LogFile) -> tuple[bool, str, int]:
        return ledger.find_by_name(found.name) is None, found.archive or found.name, found.order

    return sorted(files, key=key)


def decide_change(found: LogFile, ledger: Ledger, options: ReadOptions) -> ChangeDecision:
    """Say what to do with a readable file. Raises OSError when its content is needed and cannot be read."""
    known = ledger.find_by_name(found.name)
    refused = known is not None and known.status is FileStatus.REJECTED
    if found.settled:
        return ChangeDecision(Change.REFUSED if refused else Change.UNCHANGED, known)
    if known is not None and (refused or options.reads_otherwise_than(known)):
        # Permissions, a disk or a newer version may have mended it; to find out costs the first lines.
        return ChangeDecision(Change.READ, known)
    row = known or ledger.find_copy(found.name)
    if row is not None and found.seen.is_telling and row.outside.seen == found.seen:
        return ChangeDecision(Change.UNCHANGED, known)
    same = _find_same_content(found, ledger)
    if known is not None:
        # Another row's content is no reason to skip a known name: that row may be replaced in this very load.
        return ChangeDecision(Change.UNCHANGED if known in same else Change.READ, known)
    if public := next((row for row in same if options.leaves_out_more_than(row.read_with)), None):
        return ChangeDecision(Change.READ, public)
    return decide_copy(same) if same else ChangeDecision(Change.READ)


def decide_copy(same: Sequence[LedgerRow]) -> ChangeDecision:
    """Say what a new name is whose content is in, in these rows."""
    gone = next((row for row in same if not _row_still_exists(row)), None)
    return ChangeDecision(Change.MOVED, gone) if gone else ChangeDecision(Change.COPIED, same[0])


def _find_same_content(found: LogFile, ledger: Ledger) -> Sequence[LedgerRow]:
    """Return the rows whose content is that of the file. Reads it only where something speaks for a row."""
    if found.fingerprint is not None:
        return ledger.find_by_content(found.fingerprint)
    if not found.place.can_reopen or not len(ledger):
        return []  # of a stream, the pipeline asks when it has been read
    alike = (
        ledger.find_by_size(found.content_size)
        if found.content_size is not None
        else _find_alike(found, ledger)
    )
    if not alike:
        return []
    return ledger.find_by_content(compute_fingerprint(found))


def _find_alike(found: LogFile, ledger: Ledger) -> Sequence[LedgerRow]:
    with open_log(found) as content:
        content.readinto(bytearray(HEAD))
        return ledger.find_by_head(content.head)


def _row_still_exists(row: LedgerRow) -> bool:
    if row.read_with.privacy is not None:
        return True  # its name may be redacted, so nobody can look; it keeps it
    outside = row.outside
    if outside.archive is None:
        return still_exists(row.name, outside.seen)
    return outside.archive_seen is not None and still_exists(
        outside.archive, parse_archive_mark(outside.archive_seen)
    )


def is_likely_read(found: LogFile, ledger: Ledger, options: ReadOptions, again: Collection[str] = ()) -> bool:
    """Guess whether a load will read a file, before its turn; the load decides when it gets there.

    False where telling would take reading: a file of the size of another may be its copy.
    """
    if found.problem is not None or found.settled or not found.place.can_reopen:
        return False
    known = ledger.find_by_name(found.name)
    if known is not None and (found.name in again or known.status is FileStatus.REJECTED):
        return True
    if known is not None and options.reads_otherwise_than(known):
        return True
    row = known or ledger.find_copy(found.name)
    if row is not None and found.seen.is_telling and row.outside.seen == found.seen:
        return False
    if found.fingerprint is not None:
        return not ledger.find_by_content(found.fingerprint)
    if found.content_size is None:
        return known is not None or not len(ledger)
    return found.content_size != known.size if known else not ledger.find_by_size(found.content_size)


def make_archive_mark(archive: FileStamp, members: int, reader: str) -> str:
    """Return how an archive looked whose members were all read, or refused, by this version of Callgauge."""
    return json.dumps([archive.size, archive.mtime_ns, archive.version, members, reader])


def parse_archive_mark(mark: str) -> FileStamp:
    """Return the archive's part of an archive mark; nothing that exists looks like a damaged mark."""
    try:
        size, mtime_ns, version, *_ = json.loads(mark)
    except ValueError:
        return FileStamp()
    return FileStamp(size, mtime_ns, version)
