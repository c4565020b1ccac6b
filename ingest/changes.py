"""A file on disk and what the store knows in, the decision out: skip it, note its new name, or read it.

A file is known by the fingerprint of its content. Its path, size and time of change only save the reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ingest.collect import Found, look_at, path_of
from ingest.sources.content import fingerprint_of


class Status(StrEnum):
    """The spelling in `files.status`."""

    LOADED = "loaded"
    REJECTED = "rejected"


class Change(StrEnum):
    UNCHANGED = "unchanged"  # its content is in
    MOVED = "moved"  # its content is in, under a name that is no longer there
    READ = "read"  # new, grown, rewritten, or refused last time


@dataclass(frozen=True, slots=True)
class ReadWith:
    """The options that a reading depended on. `tools`: hash of the definitions given; None = none were.

    `cut_at`: the longest line allowed, in bytes, where a line was longer than that; None = none was.
    """

    tools: str | None = None
    cut_at: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What this load would read with."""

    tools: str | None = None
    max_line: int = 0

    def see_more_than(self, past: ReadWith) -> bool:
        """True when a reading now could tell more than that one did. No definitions never beat some."""
        other_tools = self.tools is not None and self.tools != past.tools
        return other_tools or (past.cut_at is not None and past.cut_at < self.max_line)


@dataclass(frozen=True, slots=True)
class Known:
    """A row of `files`, as far as decisions need it. `fingerprint` None = nothing of it was read."""

    file_id: int
    name: str
    status: Status
    reason: str | None
    size: int
    mtime_ns: int
    fingerprint: str | None
    read_with: ReadWith = ReadWith()


@dataclass(frozen=True, slots=True)
class Decision:
    """`known` is the row that this file continues, replaces or renames; None for a new file."""

    change: Change
    known: Known | None = None


class Ledger:
    """What is in, by name and by size. Kept up to date while a load goes on."""

    def __init__(self, rows: Iterable[Known]) -> None:
        self._by_name: dict[str, Known] = {}
        self._by_size: dict[int, dict[int, Known]] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Known) -> None:
        self._by_name[row.name] = row
        if row.fingerprint is not None:
            self._by_size.setdefault(row.size, {})[row.file_id] = row

    def remove(self, row: Known) -> None:
        self._by_name.pop(row.name, None)
        self._by_size.get(row.size, {}).pop(row.file_id, None)

    def at(self, name: str) -> Known | None:
        return self._by_name.get(name)

    def of_size(self, size: int) -> list[Known]:
        return list(self._by_size.get(size, {}).values())


def in_safe_order(files: Iterable[Found], ledger: Ledger) -> list[Found]:
    """Known names first: when logs rotate, old content must have left the ledger before it turns up anew."""
    return sorted(files, key=lambda found: (ledger.at(found.name) is None, found.name))


def decide(found: Found, ledger: Ledger, options: Options) -> Decision:
    """What to do with a readable file. Raises OSError when its content is needed and cannot be read."""
    known = ledger.at(found.name)
    if known is not None and options.see_more_than(known.read_with):
        return Decision(Change.READ, known)
    if known is not None and known.status is Status.REJECTED:
        # Permissions, a disk or a newer version may have mended it; to find out costs the first lines.
        return Decision(Change.READ, known)
    if known is not None and (known.size, known.mtime_ns) == (found.size, found.mtime_ns):
        return Decision(Change.UNCHANGED, known)
    alike = ledger.of_size(found.size)
    content = fingerprint_of(found.path, found.size) if alike else None
    same = [row for row in alike if row.fingerprint == content]
    if known is not None:
        # Another row's content is no reason to skip a known name: that row may be replaced in this very load.
        return Decision(Change.UNCHANGED if known in same else Change.READ, known)
    if not same:
        return Decision(Change.READ)
    gone = next((row for row in same if not _still_there(row)), None)
    return Decision(Change.MOVED, gone) if gone else Decision(Change.UNCHANGED, same[0])


def _still_there(row: Known) -> bool:
    now = look_at(path_of(row.name))
    return now.problem is None and (now.size, now.mtime_ns) == (row.size, row.mtime_ns)
