"""A file in, its format and its lines out: bounded, fingerprinted, counted; knows no format by name.

A file is read as far as it reached when it was looked at, so that a log that is being written is recorded
with exactly the bytes that were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ingest.collect import look_at
from ingest.containers import Container, container_of, read_records
from ingest.events import Rejected
from ingest.formats import About, Format, claimants
from ingest.lines import MAX_LINE
from ingest.records import Record
from ingest.sources.content import bounded

HEAD_OBJECTS = 50
HEAD_BYTES = 1024 * 1024  # a file whose first line is longer is still judged by that line
_SIGNATURES = (
    (b"\x1f\x8b", "is compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it first"),
    (b"BZh", "is compressed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "is compressed with xz; unpack it first"),
    (b"PK\x03\x04", "is a zip archive; unpack it first"),
    (b"\xff\xfe", "is UTF-16 text; convert it to UTF-8 first"),
    (b"\xfe\xff", "is UTF-16 text; convert it to UTF-8 first"),
)


class Unusable(Exception):  # noqa: N818 - a verdict on a file; the load goes on without it
    """Why a file as a whole cannot be used: the end of a sentence that begins with its name."""


class LineCount:
    """Passes records on and remembers on which line the last one began."""

    def __init__(self, records: Iterable[Record | Rejected]) -> None:
        self._records = records
        self.number = 0

    def __iter__(self) -> Iterator[Record | Rejected]:
        for record in self._records:
            self.number = record.where.line
            yield record


@dataclass(frozen=True, slots=True)
class Recognised:
    """How a file is to be read."""

    form: Format
    container: Container
    about: About


def recognise(path: Path, size: int, max_line: int) -> Recognised:
    """The one format that claims the file. Raises Unusable with the reason, or OSError."""
    if size == 0:
        raise Unusable("is empty")
    with bounded(path, size).buffered() as stream:
        first = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
        container = container_of(first)
        head = _head(read_records(stream, container, max_line))
    if not head:
        raise Unusable(_why_nothing(path, size))
    claiming = claimants(head)
    if not claiming:
        keys = ", ".join(list(head[0])[:8])
        raise Unusable(
            f"is in no format known here (its first object has the keys {keys[:200]}); "
            "`callgauge formats` lists those that are"
        )
    if len(claiming) > 1:
        names = " and ".join(form.SOURCE.name for form in claiming)
        raise Unusable(f"is claimed by {names}; only one can be right, so please report it")
    about = About(path.name, _identity(first), Beside(path.parent, max_line))
    return Recognised(claiming[0], container, about)


def _identity(first: bytes) -> str:
    """Of the first line, or the first kilobyte of it: what a file keeps when it grows."""
    return blake2b(first[:1024].split(b"\n")[0], digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Beside:
    """The files of a folder by name, for logs that are spread over several."""

    folder: Path
    max_size: int

    def __call__(self, name: str) -> bytes | None:
        path = self.folder / name
        if path.name != name:  # a name out of a log must not lead elsewhere
            return None
        try:
            with path.open("rb") as stream:
                data = stream.read(self.max_size + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= self.max_size else None


@dataclass(frozen=True, slots=True)
class Claim:
    """Which format reads a file: its name, or why there is none (the end of a sentence that begins "it")."""

    name: str | None
    reason: str | None


def format_of(path: Path, max_line: int = MAX_LINE) -> Claim:
    """The answer for one path, whatever is there."""
    found = look_at(path)
    if found.problem is not None:
        return Claim(None, found.problem)
    try:
        return Claim(recognise(path, found.size, max_line).form.SOURCE.name, None)
    except Unusable as unusable:
        return Claim(None, str(unusable))
    except OSError as error:
        return Claim(None, f"cannot be read: {error.strerror or error}")


def _head(records: Iterable[Record | Rejected]) -> list[dict[str, Any]]:
    head: list[dict[str, Any]] = []
    for record in records:
        if isinstance(record, Record):
            head.append(record.value)
        if len(head) == HEAD_OBJECTS or record.where.offset >= HEAD_BYTES:
            break
    return head


def _why_nothing(path: Path, size: int) -> str:
    with path.open("rb") as stream:
        start = stream.read(min(size, 8192))
    for signature, reason in _SIGNATURES:
        if start.startswith(signature):
            return reason
    if b"\0" in start:
        return "is a binary file"
    if start.lstrip().startswith((b"{", b"[")):
        return "is no JSON document, and no line of it is a JSON object"
    return f"has no JSON object on any of its first lines ({min(size, HEAD_BYTES):,} bytes looked at)"
