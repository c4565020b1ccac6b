"""The log formats: one module per producer, discovered, not listed.

A format module opens with its field notes and has

- `SOURCE`: a `Source`, what this producer can tell and what it cannot;
- `recognise(head)`: True when the first records of a file are this producer's;
- `translator(about)`: a new `Translator` for one file; it is given the file's records one by one.

It may have `decode(line)`, which makes the value of a record from a line where JSON objects are more than it
needs, `skim(data)`, which does so quickly for the lines it understands (see `ingest.containers.Skim`), and
`explain(about)`, which says of a file that no format reads how it belongs to one that this format does.
A format recognises and translates, nothing else. What several of them share (chat messages, content blocks,
spans) is in `ingest.shapes`. Two formats that claim one file are an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from ingest.events import Event, Rejected
from ingest.lines import decode_object
from ingest.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a format can tell: shown per source on the Data page, so that no unmeasurable 0 % reads as good.

    Each field but the first two is a short phrase for people that begins with `yes`, `partly` or `no`.
    """

    name: str  # the module's name; the value of every `source` column
    title: str
    raw_arguments: str
    argument_failures: str
    error_flag: str
    definitions: str
    system_prompt: str
    model: str
    turn_end: str
    cannot_tell: str  # one or two sentences


def nothing_beside(_name: str) -> None:
    """For a log that is looked at by itself."""


@dataclass(frozen=True, slots=True)
class About:
    """What a translator may know of its file besides its records.

    `name` is the file's own name without folders. `identity` is made from its first bytes, the same in every
    copy of the file and after it grew: a session id where the log names none. `beside(name)` are the bytes of
    a file in the same folder, None when there is none (or it is larger than `--max-line`).
    """

    name: str = ""
    identity: str = ""
    beside: Callable[[str], bytes | None] = nothing_beside


class Translator(Protocol):
    """One file's records in, in order, its events out; keeps what is open between records.

    It can be pickled between two records: a file that grew is read on from there.
    """

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        """The events that are complete with this record."""

    def finish(self) -> Iterable[Event | Rejected]:
        """What was still open at the end of the file."""

    def close(self) -> None:
        """Give up temporary files; called once, whether or not the file was read to its end."""


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """True when `head`, the first decodable objects of a file (at most 50), is this format's."""

    def translator(self, about: About) -> Translator:
        """A translator for one file."""


@cache
def formats() -> dict[str, Format]:
    """Every format module of this package by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: cast("Format", importlib.import_module(f"{__name__}.{name}")) for name in names}


def claimants(head: Sequence[dict[str, Any]]) -> list[Format]:
    """The formats that take a file which begins with these records; one is right, none or two are refused."""
    return [candidate for candidate in formats().values() if candidate.recognise(head)]


def decoder_of(form: Format) -> Callable[..., Any]:
    """How the format's lines become the values of records."""
    return cast("Callable[..., Any]", getattr(form, "decode", decode_object))


def skim_of(form: Format) -> Callable[[bytes], Any] | None:
    """The quick way for the lines it understands, where the format has one."""
    return cast("Callable[[bytes], Any] | None", getattr(form, "skim", None))


def explanation_of(form: Format, about: About) -> str | None:
    """What the format knows of a file that none reads; None where it has nothing to say."""
    explain = cast("Callable[[About], str | None] | None", getattr(form, "explain", None))
    return explain(about) if explain is not None else None


def translated(
    form: Format, records: Iterable[Record | Rejected], about: About
) -> Iterator[Event | Rejected]:
    """A whole file: its records through one translator, rejects passed on in place."""
    translator = form.translator(about)
    try:
        for record in records:
            if isinstance(record, Rejected):
                yield record
            else:
                yield from translator.take(record)
        yield from translator.finish()
    finally:
        translator.close()
