"""The content of a shared store's `CURRENT`: the published store file, its segments, and replaced files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.errors import StoreError

CURRENT = "CURRENT"
_FORMAT = 1
# The object store is not trusted. This pattern checks names that become file names on this machine.
GENERATION = re.compile(r"gen-(\d{6,12})-[0-9a-f]{12}\.duckdb", re.ASCII)
SEGMENT = re.compile(r"seg-[0-9a-f]{12}\.duckdb")
_FILE = re.compile(r"[\w.-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REMEMBERED = timedelta(days=1)  # how long CURRENT lists a replaced store file


class Replaced(msgspec.Struct, frozen=True):
    """The files of a store file that was replaced at the time `at`. Files that the next store file also uses
    are left out.
    """

    files: Sequence[str]
    at: datetime


class Pointer(msgspec.Struct, frozen=True):
    """A published store file. `segments` maps names of segment files to their sizes in bytes."""

    generation: str
    size: int
    sha256: str
    segments: Mapping[str, int]
    published_at: datetime
    replaced: Sequence[Replaced] = ()

    @property
    def files(self) -> set[str]:
        """The names of the store file and its segment files."""
        return {self.generation, *self.segments}

    def follow(self, before: Pointer | None, *, alone: bool = False) -> Pointer:
        """Return this pointer with the files that it replaces and the files that were replaced recently.

        With `alone`, all these files can be removed immediately.
        """
        if before is None:
            return self
        lately = [
            replacement for replacement in before.replaced if self.published_at - replacement.at < _REMEMBERED
        ]
        replaced = [*lately, Replaced(sorted(before.files - self.files), self.published_at)]
        if alone:
            replaced = [replace(replacement, at=replacement.at - _REMEMBERED) for replacement in replaced]
        return replace(self, replaced=tuple(replaced))

    def to_json(self) -> bytes:
        fields = {"format": _FORMAT, **msgspec.to_builtins(self, builtin_types=(datetime,))}
        return json.dumps(fields, default=datetime.isoformat, indent=1).encode()


def find_unnamed(
    pointer: Pointer | None,
    files: Mapping[str, datetime],
    now: datetime,
    grace: timedelta,
    unfinished: timedelta,
) -> Iterator[str]:
    """Yield the files of a store that are no longer used or that a killed load left.

    `files` maps names to the times of writing. Readers may use replaced files for the time `grace`. A file
    that no pointer names may belong to a load in progress until the time `unfinished` has passed.
    """
    named = pointer.files if pointer else set()
    since = (
        {name: replacement.at for replacement in pointer.replaced for name in replacement.files}
        if pointer
        else {}
    )
    for name, written in files.items():
        if name in named or not (GENERATION.fullmatch(name) or SEGMENT.fullmatch(name)):
            continue
        if now - since[name] >= grace if name in since else now - written >= unfinished:
            yield name


def read_pointer(data: bytes, address: str) -> Pointer:
    """Return the pointer in a string from `to_json`. Raises StoreError for any other string."""
    try:
        fields = json.loads(data)
        if fields["format"] > _FORMAT:
            raise StoreError(f"{address} was written by a newer version of Callgauge; update this one")
        return Pointer(
            generation=_check(GENERATION, fields["generation"]),
            size=_check_size(fields["size"]),
            sha256=_check(_SHA256, fields["sha256"]),
            segments={_check(SEGMENT, name): _check_size(size) for name, size in fields["segments"].items()},
            published_at=_check_time(fields["published_at"]),
            replaced=tuple(
                Replaced([_check(_FILE, name) for name in entry["files"]], _check_time(entry["at"]))
                for entry in fields["replaced"]
            ),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise StoreError(
            f"{CURRENT} in {address} is not a file of Callgauge; check the address, or restore an "
            "earlier version of that file"
        ) from None


def _check(pattern: re.Pattern[str], name: Any) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise ValueError
    return name


def _check_size(size: Any) -> int:
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ValueError
    return size


def _check_time(text: Any) -> datetime:
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError
    return when
