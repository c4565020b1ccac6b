"""An opened log in, its format and what its lines stand in out; knows no format by name.

A log is read as far as it reached when it was looked at, so that one that is being written is recorded with
exactly the bytes that were read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ingest.containers import Container, container_of, read_records
from ingest.events import Rejected
from ingest.formats import About, Format, claimants, formats
from ingest.records import Record
from ingest.sources.content import Content, opened
from ingest.sources.damage import Damaged
from ingest.sources.found import Found, Place

HEAD_OBJECTS = 50
HEAD_BYTES = 1024 * 1024  # a file whose first line is longer is still judged by that line
_PACKED = re.compile(r"\.(gz|bz2|xz|zstd?)$", re.IGNORECASE)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Unusable(Exception):  # noqa: N818 - a verdict on a file; the load goes on without it
    """Why a file as a whole cannot be used: the end of a sentence that begins with its name.

    `may_pass`: it lies in the disk or the network, not in the file.
    """

    may_pass = False


def unreadable(error: OSError, beyond: str = "") -> Unusable:
    """The verdict on a file that could not be read, or not `beyond` some place in it."""
    unusable = Unusable(f"cannot be read{beyond}: {error.strerror or error}")
    unusable.may_pass = not isinstance(error, Damaged)
    return unusable


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
class Head:
    """The beginning of a log: its first bytes, what its lines stand in, the first objects."""

    first: bytes
    container: Container
    objects: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Recognised:
    """How a log is to be read."""

    form: Format
    container: Container
    about: About


def head_of(content: Content, max_line: int) -> Head:
    """The beginning of a log, which is then rewound. Raises OSError."""
    stream = content.buffered()
    first = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    container = container_of(first)
    objects: list[dict[str, Any]] = []
    for record in read_records(stream, container, max_line):
        if isinstance(record, Record):
            objects.append(record.value)
        if len(objects) == HEAD_OBJECTS or record.where.offset >= HEAD_BYTES:
            break
    stream.detach()
    content.rewind()
    return Head(first, container, objects)


def recognise(content: Content, found: Found, max_line: int, form: str | None = None) -> Recognised:
    """The one format that claims the log, or the one of this name; the log is at its beginning again.

    `content` must be rewindable. Raises Unusable with the reason, or OSError.
    """
    head = head_of(content, max_line)
    return Recognised(claimant(head, form), head.container, _about(head, content, found, max_line))


def recognised(found: Found, max_line: int, form: str | None = None) -> Recognised:
    """How a log is to be read, found out without reading it. Raises Unusable, OSError."""
    with opened(found, rewinds=True) as content:
        return recognise(content, found, max_line, form)


def claimant(head: Head, form: str | None = None) -> Format:
    """The one format that claims a log which begins so, or the one of this name. Raises Unusable."""
    if not head.objects:
        raise Unusable(_why_nothing(head.first))
    if form is not None:
        return formats()[form]
    claiming = claimants(head.objects)
    if not claiming:
        keys = ", ".join(list(head.objects[0])[:8])
        raise Unusable(
            f"is in no format known here (its first object has the keys {keys[:200]}); "
            "`callgauge formats` lists those that are"
        )
    if len(claiming) > 1:
        names = [one.SOURCE.name for one in claiming]
        raise Unusable(
            f"is claimed by {' and '.join(names)}; only one can be right: choose with --format NAME, "
            "and please report it"
        )
    return claiming[0]


def _about(head: Head, content: Content, found: Found, max_line: int) -> About:
    name = found.place.own_name
    if content.packed:
        name = _PACKED.sub("", name)
    identity = blake2b(
        head.first[:1024].split(b"\n")[0], digest_size=8
    ).hexdigest()  # kept when the log grows
    return About(name, identity, Beside(found.place, max_line))


@dataclass(frozen=True, slots=True)
class Beside:
    """The files of the same folder by name, for logs that are spread over several."""

    place: Place
    max_size: int

    def __call__(self, name: str) -> bytes | None:
        try:
            place = self.place.beside(name)
            if place is None:
                return None
            with closing(io.BufferedReader(place.open())) as stream:
                data = stream.read(self.max_size + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= self.max_size else None


def _why_nothing(first: bytes) -> str:
    start = first[:8192]
    if not start:
        return "is empty"
    if start.startswith(_UTF16):
        return "is UTF-16 text; convert it to UTF-8 first"
    if b"\0" in start:
        return "is a binary file"
    if start.lstrip().startswith((b"{", b"[")):
        return "is no JSON document, and no line of it is a JSON object"
    return f"has no JSON object on any of its first lines ({len(first):,} bytes looked at)"
