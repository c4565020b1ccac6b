"""An opened log in, its format out, or why it has none; knows no format by name.

A log is read as far as it reached when it was looked at, so that one that is being written is recorded with
exactly the bytes that were read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ingest.containers import Container, container_of, read_records
from ingest.events import Rejected
from ingest.formats import About, Format, claimants, explanation_of, formats
from ingest.records import Record
from ingest.sources.content import Content, opened
from ingest.sources.damage import Damaged
from ingest.sources.found import Found, Place
from ingest.sources.naming import shown

HEAD_OBJECTS = 50
HEAD_BYTES = 1024 * 1024  # a file whose first line is longer is still judged by that line
_FIRST_LOOK = (4, 64 * 1024)  # objects and bytes; most files are known by them, and a night has many
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


@dataclass(frozen=True, slots=True)
class Recognised:
    """How a log is to be read."""

    form: Format
    container: Container
    about: About


def recognised(found: Found, max_line: int, form: str | None = None) -> Recognised:
    """How a log is to be read, found out without reading it. Raises Unusable, OSError."""
    with opened(found, rewinds=True) as content:
        return recognise(content, found, max_line, form)


def recognise(content: Content, found: Found, max_line: int, form: str | None = None) -> Recognised:
    """The one format that claims the log, or the one of this name; the log is at its beginning again.

    `content` must be rewindable. Raises Unusable with the reason, or OSError.
    """
    head = head_of(content, max_line)
    about = about_of(found, content, head, max_line)
    return Recognised(chosen(head, about, form), head.container, about)


def about_of(found: Found, content: Content, head: Head, max_line: int) -> About:
    name = found.place.own_name
    if content.packed:
        name = _PACKED.sub("", name)
    return About(name, _identity(head), Beside(found.place, max_line))


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a log shows: its first bytes and objects, and which formats claim them."""

    first: bytes
    container: Container
    objects: list[dict[str, Any]]
    claiming: list[Format]


def head_of(content: Content, max_line: int) -> Head:
    """The beginning of a log, which is then rewound. Raises OSError."""
    head = _look(content, max_line, *_FIRST_LOOK)
    if len(head.claiming) != 1 and head.first:
        content.back()
        head = _look(content, max_line, HEAD_OBJECTS, HEAD_BYTES)
    content.rewind()
    return head


def _look(content: Content, max_line: int, objects: int, at_most: int) -> Head:
    """Look at so many objects, or as many as begin in so many bytes. Raises OSError."""
    stream = content.buffered(at_most)
    first = stream.peek(at_most)[:at_most]
    container = container_of(first)
    seen = _objects(read_records(stream, container, max_line, size=at_most), objects, at_most)
    stream.detach()
    return Head(first, container, seen, claimants(seen))


def _objects(records: Iterable[Record | Rejected], objects: int, at_most: int) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    for record in records:
        if isinstance(record, Record):
            seen.append(record.value)
        if len(seen) == objects or record.where.offset >= at_most:
            break
    return seen


def chosen(head: Head, about: About, form: str | None = None) -> Format:
    """The one format that claims a log which begins so, or the one of this name. Raises Unusable."""
    if not head.objects:
        raise Unusable("; ".join((_why_nothing(head.first), *_explained(about))))
    if form is not None:
        return formats()[form]
    if not head.claiming:
        keys = ", ".join(list(head.objects[0])[:8])
        known = "`callgauge formats` lists those that are"
        why = f"is in no format known here (its first object has the keys {keys[:200]})"
        raise Unusable("; ".join((why, *(_explained(about) or [known]))))
    if len(head.claiming) > 1:
        names = " and ".join(one.SOURCE.name for one in head.claiming)
        raise Unusable(
            f"is claimed by {names}; only one can be right: name it with --format, and please report it"
        )
    return head.claiming[0]


def _explained(about: About) -> list[str]:
    """What formats know of a file that none of them reads."""
    told = (explanation_of(form, about) for form in formats().values())
    return [" ".join(shown(one).split()) for one in told if one is not None]


def _identity(head: Head) -> str:
    """Of the first line, or the first kilobyte of it: what a file keeps when it grows.

    A document does not grow, and many begin alike ("[" alone on its line): all that was looked at counts.
    """
    grows = head.container in (Container.LINES, Container.STREAM)
    kept = head.first[:1024].split(b"\n")[0] if grows else head.first
    return blake2b(kept, digest_size=8).hexdigest()


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
