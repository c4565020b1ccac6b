"""The ledger: the list of files whose content is in the store. Files are found by name and by content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from ingest.load_report import ForeignKind
from ingest.sources.log_content import CUT_OFF
from ingest.sources.log_file import FileStamp, LogFile

Key = TypeVar("Key")


class FileStatus(StrEnum):
    """What a load did with a file. These are the values of `files.status`."""

    LOADED = "loaded"
    EARLIER = "earlier"  # loaded before the file got other content; the sessions stay in the store
    # read together with another file, or an agent's file that is not a log; `reason` says which of the two
    COMPANION = "companion"
    REJECTED = "rejected"


class ReadWith(msgspec.Struct, frozen=True):
    """The options of a load that affected how a file was read.

    `tools` is the hash of the given tool definitions, or None. `cut_at` is the longest allowed line in bytes.
    It is None when no line was longer. `privacy` describes which data was removed
    (`ingest.privacy.configuration`). It is None when nothing was removed. `facts` are the facts about the
    file that are not in its content (`ingest.sessions.path_facts.PathFacts.to_json`).
    """

    tools: str | None = None
    cut_at: int | None = None
    privacy: str | None = None
    facts: str | None = None


class FileLook(msgspec.Struct, frozen=True):
    """The stamp of a log at the last check. If the stamp is unchanged, a load need not open the file.

    `archive` names the archive that contains the log. `archive_seen` is the stamp of this archive.
    """

    seen: FileStamp
    archive: str | None = None
    archive_seen: str | None = None

    @classmethod
    def look_of(cls, log_file: LogFile) -> FileLook:
        return cls(log_file.seen, log_file.archive, log_file.archive_seen)


class LedgerRow(msgspec.Struct, frozen=True):
    """A row of the table `files`, with the columns that decide whether a file must be read.

    `size` is the length of the content in bytes. `fingerprint` is a hash of the content, or None when nothing
    was read. `head` is a hash of the first bytes of the content. `foreign` is the kind of a rejected file
    that is not a log. `refused_by` is the version that rejected the file (`reader_version` in
    `planning.change_detection`). A row with the status EARLIER is found only by its content, because its name
    now belongs to the file's new content.
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
    # True when sessions of the file were deleted, so that rejects must not quote the file
    forgetful: bool = False
    foreign: ForeignKind | None = None
    refused_by: str | None = None
    follows: int | None = None  # id of the row with the earlier content of this file
    lacks: tuple[str, ...] = ()  # names of missing files that would be read together with this file

    @property
    def is_cut_off(self) -> bool:
        return self.fingerprint is not None and self.fingerprint.endswith(CUT_OFF)

    @property
    def content_hash(self) -> str | None:
        """The SHA-256 of the first `size` bytes of the content.

        This is the fingerprint without its suffix.
        """
        return self.fingerprint and self.fingerprint.removesuffix(CUT_OFF)


class LedgerCopy(msgspec.Struct, frozen=True):
    """Another file name with the same content, from a row of the table `copies`."""

    name: str
    file_id: int
    outside: FileLook


class _LedgerIndex(Generic[Key]):
    """Rows of the ledger by a property of their content."""

    def __init__(self, key: Callable[[LedgerRow], Key | None]) -> None:
        self._key = key
        self._rows: dict[Key, list[LedgerRow]] | None = None

    def find_rows(self, key: Key, rows: Iterable[LedgerRow]) -> Sequence[LedgerRow]:
        """Return the rows with this key. `rows` are all rows, from which the index is built."""
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
            self._rows[key] = [other for other in rows if other.file_id != row.file_id]


class Ledger:
    """The list of files in the store, by name and by content. A load keeps it up to date."""

    def __init__(self, rows: Iterable[LedgerRow] = (), copies: Iterable[LedgerCopy] = ()) -> None:
        self._by_name: dict[str, LedgerRow] = {}
        self._by_size = _LedgerIndex(attrgetter("size"))
        self._by_head = _LedgerIndex(attrgetter("head"))
        self._by_content = _LedgerIndex(attrgetter("fingerprint"))
        self._earlier: dict[int, LedgerRow] = {}
        self._ids: set[int] = set()
        self.last_id = 0
        self._copies: dict[str, LedgerCopy] = {}
        self._by_archive: dict[str, dict[str, LedgerRow | LedgerCopy]] = {}
        for row in rows:
            self.add(row)
        for copy in copies:
            self.add_copy(copy)

    def __len__(self) -> int:
        return len(self._by_name) + len(self._earlier)

    def add(self, row: LedgerRow) -> None:
        self._ids.add(row.file_id)
        self.last_id = max(self.last_id, row.file_id)
        for index in self.all_indexes:
            index.add(row)
        if row.status is FileStatus.EARLIER:
            self._earlier[row.file_id] = row
            return
        self._drop_copy(row.name)
        self._by_name[row.name] = row
        self._join_archive(row)

    def remove(self, row: LedgerRow) -> None:
        self._ids.discard(row.file_id)
        for index in self.all_indexes:
            index.remove(row)
        if self._earlier.pop(row.file_id, None) is None:
            self._by_name.pop(row.name, None)
            self._leave_archive(row)

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
        yield from self._by_name.values()
        yield from self._earlier.values()

    def earlier_rows(self) -> Collection[LedgerRow]:
        """Return the rows for earlier content. The files of these rows now have other content."""
        return self._earlier.values()

    def find_by_name(self, name: str) -> LedgerRow | None:
        return self._by_name.get(name)

    def find_copy(self, name: str) -> LedgerCopy | None:
        """Return the copy with this name.

        Return None if no copy has this name, or if the copy's content is not in the store.
        """
        copy = self._copies.get(name)
        return copy if copy and copy.file_id in self._ids else None

    def find_copies(self, file_id: int) -> list[LedgerCopy]:
        """Return the other file names for a row's content."""
        return [copy for copy in self._copies.values() if copy.file_id == file_id]

    def find_members(self, archive: str) -> list[LedgerRow | LedgerCopy]:
        """Return the rows and copies of the members of an archive."""
        members = self._by_archive.get(archive, {}).values()
        return [row for row in members if row.file_id in self._ids]

    def find_by_size(self, size: int) -> Sequence[LedgerRow]:
        """Return the rows whose content has this length in bytes."""
        return self._by_size.find_rows(size, self.rows())

    def find_by_head(self, head: str) -> Sequence[LedgerRow]:
        return self._by_head.find_rows(head, self.rows())

    def find_by_content(self, fingerprint: str) -> Sequence[LedgerRow]:
        return self._by_content.find_rows(fingerprint, self.rows())
