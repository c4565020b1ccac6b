"""A log that was found and what the store knows in, the decision out: skip it, note its name, or read it.

A log is known by the fingerprint of its content, unpacked. Its name and how it looks from outside only save
the reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from ingest.collect import is_there
from ingest.ledger import Known, Ledger, ReadWith, Status
from ingest.sources.content import HEAD, fingerprint_of, opened
from ingest.sources.found import Found, Seen


class Change(StrEnum):
    UNCHANGED = "unchanged"  # its content is in
    COPIED = "copied"  # its content is in, under another name that is there as well
    MOVED = "moved"  # its content is in, under a name that is no longer there
    REFUSED = "refused"  # it was refused before, and is part of something that has not changed since
    READ = "read"  # new, grown, rewritten, or refused last time


_read_with = lru_cache(maxsize=8)(ReadWith)  # mostly one for all files of a load, which may be many


@dataclass(frozen=True, slots=True)
class Options:
    """What this load would read with. `form` is the format that all files are read as, None = their own."""

    tools: str | None = None
    max_line: int = 0
    form: str | None = None
    privacy: str | None = None

    def as_read(self, *, cut: bool) -> ReadWith:
        """What a reading depended on; `cut`: a line was longer than `max_line`."""
        return _read_with(self.tools, self.max_line if cut else None, self.privacy)

    def see_more_than(self, past: ReadWith) -> bool:
        """True when a reading now could tell more than that one did, or must tell less.

        No definitions never beat some.
        """
        other_tools = self.tools is not None and self.tools != past.tools
        longer_lines = past.cut_at is not None and past.cut_at < self.max_line
        return other_tools or longer_lines or self.leave_out_more_than(past)

    def leave_out_more_than(self, past: ReadWith) -> bool:
        """True when that reading kept what this load is to leave out."""
        return self.privacy is not None and self.privacy != past.privacy

    def read_otherwise_than(self, known: Known) -> bool:
        """True when this load would read a file that is in by another format, or see more in it."""
        other_form = self.form is not None and self.form != known.source
        return other_form or self.see_more_than(known.read_with)


@dataclass(frozen=True, slots=True)
class Decision:
    """`known` is the row that this file continues, replaces, renames or repeats; None for a new file."""

    change: Change
    known: Known | None = None


def in_safe_order(files: Iterable[Found], ledger: Ledger) -> list[Found]:
    """Known names first: when logs rotate, old content must have left the ledger before it turns up anew.

    The members of an archive stay in its order: a compressed one can only be read forward.
    """

    def key(found: Found) -> tuple[bool, str, int]:
        return ledger.at(found.name) is None, found.archive or found.name, found.order

    return sorted(files, key=key)


def decide(found: Found, ledger: Ledger, options: Options) -> Decision:
    """What to do with a readable file. Raises OSError when its content is needed and cannot be read."""
    known = ledger.at(found.name)
    refused = known is not None and known.status is Status.REJECTED
    if found.settled:
        return Decision(Change.REFUSED if refused else Change.UNCHANGED, known)
    if known is not None and (refused or options.read_otherwise_than(known)):
        # Permissions, a disk or a newer version may have mended it; to find out costs the first lines.
        return Decision(Change.READ, known)
    row = known or ledger.copy_at(found.name)
    if row is not None and found.seen.tells and row.outside.seen == found.seen:
        return Decision(Change.UNCHANGED, known)
    same = _of_same_content(found, ledger)
    if known is not None:
        # Another row's content is no reason to skip a known name: that row may be replaced in this very load.
        return Decision(Change.UNCHANGED if known in same else Change.READ, known)
    if public := next((row for row in same if options.leave_out_more_than(row.read_with)), None):
        return Decision(Change.READ, public)
    return as_copy(same) if same else Decision(Change.READ)


def as_copy(same: Sequence[Known]) -> Decision:
    """What a new name is whose content is in, in these rows."""
    gone = next((row for row in same if not _still_there(row)), None)
    return Decision(Change.MOVED, gone) if gone else Decision(Change.COPIED, same[0])


def _of_same_content(found: Found, ledger: Ledger) -> Sequence[Known]:
    """The rows whose content is that of the file. Reads it only where something speaks for a row."""
    if found.fingerprint is not None:
        return ledger.of_content(found.fingerprint)
    if not found.place.again or not len(ledger):
        return []  # of a stream, the pipeline asks when it has been read
    alike = ledger.of_size(found.content_size) if found.content_size is not None else _alike(found, ledger)
    if not alike:
        return []
    return ledger.of_content(fingerprint_of(found))


def _alike(found: Found, ledger: Ledger) -> Sequence[Known]:
    with opened(found) as content:
        content.readinto(bytearray(HEAD))
        return ledger.of_head(content.head)


def _still_there(row: Known) -> bool:
    if row.read_with.privacy is not None:
        return True  # its name may be redacted, so nobody can look; it keeps it
    outside = row.outside
    if outside.archive is None:
        return is_there(row.name, outside.seen)
    return outside.archive_seen is not None and is_there(outside.archive, seen_of(outside.archive_seen))


def mark_of(archive: Seen, members: int, reader: str) -> str:
    """How an archive looked whose members were all read, or refused, by this version of us."""
    return json.dumps([archive.size, archive.mtime_ns, archive.version, members, reader])


def seen_of(mark: str) -> Seen:
    """The archive's part of what `mark_of` made; nothing that is there looks like a mark that is damaged."""
    try:
        size, mtime_ns, version, *_ = json.loads(mark)
    except ValueError:
        return Seen()
    return Seen(size, mtime_ns, version)
