"""The ledger: what the store knows of the files that are in it, found by name and by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, TypeVar

from ingest.sources.log_file import FileStamp, LogFile

Key = TypeVar("Key")


class FileStatus(StrEnum):
    """The spelling in `files.status`."""

    LOADED = "loaded"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ReadWith:
    """The options that a reading depended on. `tools`: hash of the definitions given; None = none were.

    `cut_at`: the longest line allowed, in bytes, where a line was longer than that; None = none was.
    `privacy`: what was left out, see `ingest.privacy.configuration`; None = nothing.
    """

    tools: str | None = None
    cut_at: int | None = None
    privacy: str | None = None


@dataclass(frozen=True, slots=True)
class FileLook:
    """How a log looked when it was read, or found to be in: it spares the next load opening it.

    `archive` names the archive that it is a member of, `archive_seen` is how that looked.
    """

    seen: FileStamp
    archive: str | None = None
    archive_seen: str | None = None

    @classmethod
    def look_of(cls, found: LogFile) -> FileLook:
        return cls(found.seen, found.archive, found.archive_seen)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A row of `files`, as far as decisions need it. `fingerprint` None = nothing of it was read.

    `size` is that of the content, in bytes, `head` the fingerprint of its first bytes.
    """

    file_id: int
    name: str
    status: FileStatus
    reason: str | None
    outside: FileLook
    read_with: ReadWith = ReadWith()
    size: int = 0
    fingerprint: str | None = None
    head: str | None = None
    source: str | None = None
    forgetful: bool = False  # sessions of it are forgotten: no line of it is quoted


@dataclass(frozen=True, slots=True)
class LedgerCopy:
    """A row of `copies`: a name under which the content of a file can be found as well."""

    name: str
    file_id: int
    outside: FileLook


class _LedgerIndex(Generic[Key]):
    """Rows by what tells their content; made when it is first asked: mostly names and looks tell enough."""

    def __init__(self, key: Callable[[LedgerRow], Key | None]) -> None:
        self._key = key
        self._rows: dict[Key, list[LedgerRow]] | None = None

    def find_rows(self, key: Key, rows: Iterable[LedgerRow]) -> Sequence[LedgerRow]:
        """Return the rows of this key; `rows` are all there are."""
        if self._rows is None:
            self._rows = {}
            for row in rows:
                self.add(row)
        return self._rows.get(key, ())

    def add(self, row: LedgerRow) -> None:
        if self._rows is not None and row.fingerprint is not None and (key := self._key(row)) is not None:
            self._rows.setdefault(key, []).append(row)

    def remove(self, row: LedgerRow) -> None:
        key = self._key(row)
        if self._rows is not None and key is not None and (rows := self._rows.get(key)):
            self._rows[key] = [one for one in rows if one.file_id != row.file_id]


class Ledger:
    """What is in the store, by name and by content. Kept up to date while a load goes on."""

    def __init__(self, rows: Iterable[LedgerRow] = (), copies: Iterable[LedgerCopy] = ()) -> None:
        self._by_name: dict[str, LedgerRow] = {}
        self._by_size = _LedgerIndex(attrgetter("size"))
        self._by_head = _LedgerIndex(attrgetter("head"))
        self._by_content = _LedgerIndex(attrgetter("fingerprint"))
        self._ids: set[int] = set()
        self.last_id = 0
        self._copies: dict[str, LedgerCopy] = {}
        self._by_archive: dict[str, dict[str, LedgerRow | LedgerCopy]] = {}
        for row in rows:
            self.add(row)
        for copy in copies:
            self.add_copy(copy)

    def __len__(self) -> int:
        return len(self._by_name)

    def add(self, row: LedgerRow) -> None:
        self._drop_copy(row.name)
        self._ids.add(row.file_id)
        self.last_id = max(self.last_id, row.file_id)
        for index in self.all_indexes:
            index.add(row)
        self._by_name[row.name] = row
        self._join_archive(row)

    def remove(self, row: LedgerRow) -> None:
        self._ids.discard(row.file_id)
        self._by_name.pop(row.name, None)
        self._leave_archive(row)
        for index in self.all_indexes:
            index.remove(row)

    @property
    def all_indexes(self) -> tuple[_LedgerIndex[Any], ...]:
        return self._by_size, self._by_head, self._by_content

    def add_copy(self, copy: LedgerCopy) -> None:
        self._drop_copy(copy.name)
        self._copies[copy.name] = copy
        self._join_archive(copy)

    def _drop_copy(self, name: str) -> None:
        copy = self._copies.pop(name, None) if self._copies else None
        if copy is not None:
            self._leave_archive(copy)

    def _join_archive(self, row: LedgerRow | LedgerCopy) -> None:
        if row.outside.archive is not None:
            self._by_archive.setdefault(row.outside.archive, {})[row.name] = row

    def _leave_archive(self, row: LedgerRow | LedgerCopy) -> None:
        if row.outside.archive is not None:
            self._by_archive.get(row.outside.archive, {}).pop(row.name, None)

    def rows(self) -> Iterable[LedgerRow]:
        return self._by_name.values()

    def find_by_name(self, name: str) -> LedgerRow | None:
        return self._by_name.get(name)

    def find_copy(self, name: str) -> LedgerCopy | None:
        """Return the copy of this name, as long as the file that it repeats is in."""
        copy = self._copies.get(name)
        return copy if copy and copy.file_id in self._ids else None

    def find_members(self, archive: str) -> list[LedgerRow | LedgerCopy]:
        """Return what is known of the members of an archive."""
        members = self._by_archive.get(archive, {}).values()
        return [row for row in members if row.file_id in self._ids]

    def find_by_size(self, size: int) -> Sequence[LedgerRow]:
        """Return the rows whose content has so many bytes."""
        return self._by_size.find_rows(size, self.rows())

    def find_by_head(self, head: str) -> Sequence[LedgerRow]:
        return self._by_head.find_rows(head, self.rows())

    def find_by_content(self, fingerprint: str) -> Sequence[LedgerRow]:
        return self._by_content.find_rows(fingerprint, self.rows())
