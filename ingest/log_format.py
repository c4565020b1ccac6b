"""What a log format is: what it can tell, what it is told of a file, and the translator that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ingest.events import Event, Rejected
from ingest.record import Record


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


def read_no_sibling(_name: str) -> None:
    """Return None: the log is looked at by itself."""


@dataclass(frozen=True, slots=True)
class About:
    """What a translator may know of its file besides its records.

    `name` is the file's own name without folders. `identity` is made from its first bytes, the same in every
    copy of the file and after it grew: a session id where the log names none. `read_sibling(name)` returns
    the bytes of a file in the same folder, None when there is none (or it is larger than `--max-line`).
    """

    name: str = ""
    identity: str = ""
    read_sibling: Callable[[str], bytes | None] = read_no_sibling


class Translator(Protocol):
    """Turns one file's records, in their order, into events; keeps what is open between records.

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
