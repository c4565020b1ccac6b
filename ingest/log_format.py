"""The interface of a log format: its description, the facts about a file, and the translator of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ingest.events import Event, Rejected
from ingest.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The description of a format: which facts its logs hold.

    The Data page shows this per source, so that a 0 % which cannot be measured is not taken for a good value.
    Each field except `name`, `title` and `cannot_tell` is a short phrase for people that begins with `yes`,
    `partly` or `no`.
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
    """Return None for every name: the default for a log without a folder."""


@dataclass(frozen=True, slots=True)
class About:
    """The facts about a file that a translator gets besides the records.

    `name` is the file's own name without folders, `folder` that of the folder it lies in; both may be empty.
    `identity` is made from the first bytes of the file, so it is the same in every copy and after the file
    grew; it serves as session id where the log names none. `read_sibling(name)` returns the bytes of a file
    in the same folder, or None when there is none or it is larger than `--max-line`.
    """

    name: str = ""
    identity: str = ""
    read_sibling: Callable[[str], bytes | None] = read_no_sibling
    folder: str = ""


class Translator(Protocol):
    """Translates the records of one file, in file order, into events; keeps state between records.

    A translator can be pickled between two records: when the file has grown, reading continues from there.
    """

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        """Return the events that are complete with this record."""

    def finish(self) -> Iterable[Event | Rejected]:
        """Return the events that were still incomplete at the end of the file."""

    def close(self) -> None:
        """Remove temporary files; called once, whether or not the file was read to its end."""


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """Return True when the file is in this format.

        `head` holds the first decodable objects of the file, at most 50.
        """

    def translator(self, about: About) -> Translator:
        """Return a new translator for one file."""
