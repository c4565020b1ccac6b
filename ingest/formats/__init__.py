"""The log formats: one module per producer, discovered, not listed.

A format module opens with its field notes and has

- `SOURCE`: a `Source` (`ingest.log_format`), what this producer can tell and what it cannot;
- `recognise(head)`: True when the first records of a file are this producer's;
- `translator(about)`: a new `Translator` for one file; it is given the file's records one by one.

It may have `decode(line)`, which makes the value of a record from a line where JSON objects are more than it
needs, `skim(data)`, which does so quickly for the lines it understands (see
`ingest.decoding.containers.Skim`), and `explain(about)`, which says of a file that no format reads how it
belongs to one that this format does. A format recognises and translates, nothing else. What several of them
share is in folders named by their content: `provider_messages`, `conversations`, `spans`, `span_conventions`,
`traces`. Two formats that claim one file are an error.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from ingest.decoding.lines import decode_object
from ingest.events import Event, Rejected
from ingest.log_format import About, Format
from ingest.record import Record


@cache
def formats() -> dict[str, Format]:
    """Every format of this package by name: its modules that say what they read in `SOURCE`."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: cast("Format", module) for name, module in modules.items() if hasattr(module, "SOURCE")}


def claiming_formats(head: Sequence[dict[str, Any]]) -> list[Format]:
    """The formats that take a file which begins with these records; one is right, none or two are refused."""
    return [candidate for candidate in formats().values() if candidate.recognise(head)]


def line_decoder(form: Format) -> Callable[..., Any]:
    """How the format's lines become the values of records."""
    return cast("Callable[..., Any]", getattr(form, "decode", decode_object))


def line_skimmer(form: Format) -> Callable[[bytes], Any] | None:
    """The quick way for the lines it understands, where the format has one."""
    return cast("Callable[[bytes], Any] | None", getattr(form, "skim", None))


def explain_unread(form: Format, about: About) -> str | None:
    """What the format knows of a file that none reads; None where it has nothing to say."""
    explain = cast("Callable[[About], str | None] | None", getattr(form, "explain", None))
    return explain(about) if explain is not None else None


def translate_file(
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
