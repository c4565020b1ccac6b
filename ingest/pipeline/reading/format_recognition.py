"""Recognises the format of a log from its first records, or says why it has none.

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

from ingest.damaged_file import DamagedFileError
from ingest.decoding.containers import Container, detect_container, read_records
from ingest.events import Rejected
from ingest.formats import claiming_formats, explain_unread, formats
from ingest.log_format import About, Format
from ingest.record import Record
from ingest.sources.log_content import LogContent, open_log
from ingest.sources.log_file import LogFile, LogPlace
from ingest.sources.stored_names import stored_path

HEAD_OBJECTS = 50
HEAD_BYTES = 1024 * 1024  # a file whose first line is longer is still judged by that line
_FIRST_LOOK = (4, 64 * 1024)  # objects and bytes; most files are known by them, and a night has many
_PACKED = re.compile(r"\.(gz|bz2|xz|zstd?)$", re.IGNORECASE)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class UnusableFileError(Exception):
    """Why a file as a whole cannot be used: the end of a sentence that begins with its name.

    `may_pass`: it lies in the disk or the network, not in the file.
    """

    may_pass = False


def describe_read_error(error: OSError, beyond: str = "") -> UnusableFileError:
    """Return the verdict on a file that could not be read, or not `beyond` some place in it."""
    unusable = UnusableFileError(f"cannot be read{beyond}: {error.strerror or error}")
    unusable.may_pass = not isinstance(error, DamagedFileError)
    return unusable


@dataclass(frozen=True, slots=True)
class RecognisedLog:
    """How a log is to be read."""

    form: Format
    container: Container
    about: About


def recognise_log(found: LogFile, max_line: int, form: str | None = None) -> RecognisedLog:
    """Find out how a log is to be read, without reading it. Raises UnusableFileError, OSError."""
    with open_log(found, rewinds=True) as content:
        return recognise_content(content, found, max_line, form)


def recognise_content(
    content: LogContent, found: LogFile, max_line: int, form: str | None = None
) -> RecognisedLog:
    """Return the one format that claims the log, or the one of this name; the log is at its beginning again.

    `content` must be rewindable. Raises UnusableFileError with the reason, or OSError.
    """
    head = read_head(content, max_line)
    about = describe_log(found, content, head, max_line)
    return RecognisedLog(choose_format(head, about, form), head.container, about)


def describe_log(found: LogFile, content: LogContent, head: LogHead, max_line: int) -> About:
    name = found.place.own_name
    if content.packed:
        name = _PACKED.sub("", name)
    return About(name, _head_identity(head), SiblingFiles(found.place, max_line))


@dataclass(frozen=True, slots=True)
class LogHead:
    """What the beginning of a log shows: its first bytes and objects, and which formats claim them."""

    first: bytes
    container: Container
    objects: list[dict[str, Any]]
    claiming: list[Format]


def read_head(content: LogContent, max_line: int) -> LogHead:
    """Read the beginning of a log, which is then rewound. Raises OSError."""
    head = _read_objects_up_to(content, max_line, *_FIRST_LOOK)
    if len(head.claiming) != 1 and head.first:
        content.go_back()
        head = _read_objects_up_to(content, max_line, HEAD_OBJECTS, HEAD_BYTES)
    content.rewind()
    return head


def _read_objects_up_to(content: LogContent, max_line: int, objects: int, at_most: int) -> LogHead:
    """Read so many objects, or as many as begin in so many bytes. Raises OSError."""
    stream = content.open_buffered(at_most)
    first = stream.peek(at_most)[:at_most]
    container = detect_container(first)
    seen = _collect_objects(read_records(stream, container, max_line, size=at_most), objects, at_most)
    stream.detach()
    return LogHead(first, container, seen, claiming_formats(seen))


def _collect_objects(
    records: Iterable[Record | Rejected], objects: int, at_most: int
) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    for record in records:
        if isinstance(record, Record):
            seen.append(record.value)
        if len(seen) == objects or record.where.offset >= at_most:
            break
    return seen


def choose_format(head: LogHead, about: About, form: str | None = None) -> Format:
    """Return the one format that claims a log which begins so, or the one of this name. Raises
    UnusableFileError.
    """
    if not head.objects:
        raise UnusableFileError("; ".join((_describe_no_records(head.first), *_collect_explanations(about))))
    if form is not None:
        return formats()[form]
    if not head.claiming:
        keys = ", ".join(list(head.objects[0])[:8])
        known = "`callgauge formats` lists those that are"
        why = f"is in no format known here (its first object has the keys {keys[:200]})"
        raise UnusableFileError("; ".join((why, *(_collect_explanations(about) or [known]))))
    if len(head.claiming) > 1:
        names = " and ".join(one.SOURCE.name for one in head.claiming)
        raise UnusableFileError(
            f"is claimed by {names}; only one can be right: name it with --format, and please report it"
        )
    return head.claiming[0]


def _collect_explanations(about: About) -> list[str]:
    """Return what formats know of a file that none of them reads."""
    told = (explain_unread(form, about) for form in formats().values())
    return [" ".join(stored_path(one).split()) for one in told if one is not None]


def _head_identity(head: LogHead) -> str:
    """Return the first line, or the first kilobyte of it: what a file keeps when it grows.

    A document does not grow, and many begin alike ("[" alone on its line): all that was looked at counts.
    """
    grows = head.container in (Container.LINES, Container.STREAM)
    kept = head.first[:1024].split(b"\n")[0] if grows else head.first
    return blake2b(kept, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class SiblingFiles:
    """The files of the same folder by name, for logs that are spread over several."""

    place: LogPlace
    max_size: int

    def __call__(self, name: str) -> bytes | None:
        try:
            place = self.place.sibling(name)
            if place is None:
                return None
            with closing(io.BufferedReader(place.open())) as stream:
                data = stream.read(self.max_size + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= self.max_size else None


def _describe_no_records(first: bytes) -> str:
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
