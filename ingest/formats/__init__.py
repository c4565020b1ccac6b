"""The log formats: one module per producer, discovered, not listed.

A format module opens with its field notes and has

- `SOURCE`: a `Source`, what this producer can tell and what it cannot;
- `recognise(head)`: True when the first records of a file are this producer's;
- `translate(lines)`: the file's lines as events and rejects, in file order.

A format recognises and translates, nothing else. Two formats that claim one file are an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from ingest.events import Event, Rejected
from ingest.lines import Line


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


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """True when `head`, the first decodable objects of a file (at most 50), is this format's."""

    def translate(self, lines: Iterable[Line | Rejected]) -> Iterator[Event | Rejected]:
        """The events of one file. Rejects that come in are passed on in place."""


@cache
def formats() -> dict[str, Format]:
    """Every format module of this package by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: cast("Format", importlib.import_module(f"{__name__}.{name}")) for name in names}


def claimants(head: Sequence[dict[str, Any]]) -> list[Format]:
    """The formats that take a file which begins with these records; one is right, none or two are refused."""
    return [candidate for candidate in formats().values() if candidate.recognise(head)]
