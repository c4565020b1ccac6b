"""The log formats: one module for each program that writes logs, plus third-party formats.

A format module begins with notes on the fields of the log. The module defines
- `SOURCE`: a `Source` (`ingest.log_format`), which states what these logs can and cannot show;
- `recognise(head)`: return True when this program wrote the file that begins with the records `head`;
- `translator(about)`: return a new `Translator` for one file, which receives the file's records one by one.

Four functions are optional. `decode(line)` returns the value of a record and need not decode the whole line
as a JSON object. `skim(data)` is a faster decoder for the lines that it can read (see
`ingest.decoding.containers.Skim`). `read_with(about)` returns the name of the second file that is needed to
read a file. `explain(about)` returns a sentence that says why a file cannot be read alone.

A format module only recognises and translates. Code that several formats share is in folders named by their
content: `provider_messages`, `conversations`, `spans`, `span_conventions`, `traces`. It is an error if two
formats claim the same file. A format with `LAST_RESORT = True` is asked only about a file that no other
format claims.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from ingest.decoding.lines import decode_object
from ingest.events import Event, Rejected
from ingest.log_format import About, Format, Record
from ingest.record_mapping import RecordMapping
from ingest.third_party_formats import InstalledFormat, load_installed_formats


@cache
def _own_formats() -> dict[str, Format]:
    """Return all formats of this package by name.

    A format is a module that defines `SOURCE`.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: cast("Format", module) for name, module in modules.items() if hasattr(module, "SOURCE")}


@cache
def _installed_formats() -> tuple[dict[str, InstalledFormat], tuple[str, ...]]:
    return load_installed_formats(_own_formats())


@cache
def formats() -> dict[str, Format]:
    """Return every format by name.

    The formats of this package come before those of other installed packages.
    """
    return {**_own_formats(), **_installed_formats()[0]}


def format_problems() -> tuple[str, ...]:
    """Return a sentence for each third-party format that cannot be used."""
    return _installed_formats()[1]


def distribution_of(form: Format) -> str | None:
    """Return name and version of the package that contains a third-party format.

    Return None for a format of this package.
    """
    return form.distribution if isinstance(form, InstalledFormat) else None


def claiming_formats(head: Sequence[dict[str, Any]], mapping: RecordMapping | None = None) -> list[Format]:
    """Return the formats that recognise a file which begins with the records `head`.

    The formats of this package are asked first, then third-party formats, then formats of last resort. Only
    the matches of one group are returned. The caller reads the file only when exactly one format is returned.
    """
    first, installed, last = _formats_by_turn()
    for group in (first, installed):
        if claiming := [form for form in group if form.recognise(head)]:
            return claiming
    mapped = head if mapping is None else mapping.apply_all(head)
    return [form for form in last if form.recognise(mapped)]


@cache
def _formats_by_turn() -> tuple[Sequence[Format], Sequence[Format], Sequence[Format]]:
    """Return the formats of this package, those of other packages, and the formats of last resort."""
    own = _own_formats().values()
    return (
        [form for form in own if not is_last_resort(form)],
        list(_installed_formats()[0].values()),
        [form for form in own if is_last_resort(form)],
    )


def is_asked_first(form: Format) -> bool:
    """Return True for a format of this package that is not a format of last resort."""
    return not (is_last_resort(form) or isinstance(form, InstalledFormat))


def is_last_resort(form: Format) -> bool:
    return getattr(form, "LAST_RESORT", False)


def line_decoder(form: Format) -> Callable[..., Any]:
    """Return the format's `decode` function. Return `decode_object` when the format defines no `decode`."""
    return cast("Callable[..., Any]", getattr(form, "decode", decode_object))


def line_skimmer(form: Format) -> Callable[[bytes], Any] | None:
    """Return the format's `skim` function, a faster decoder.

    Return None when the format defines no `skim`.
    """
    return cast("Callable[[bytes], Any] | None", getattr(form, "skim", None))


def find_companion(about: About) -> str | None:
    """Return the name of the second file that a format needs to read the file `about`.

    Return None when no second file is needed.
    """
    return next((name for find in _functions_named("read_with") if (name := find(about))), None)


def describe_side_file(about: About) -> str | None:
    """Describe a file that an agent keeps next to its logs, such as "a side file of Droid".

    Return None for any other file.
    """
    return next((words for describe in _functions_named("side_file") if (words := describe(about))), None)


def explain_unread(about: About, head: Sequence[dict[str, Any]]) -> list[str]:
    """Return the reasons why no format reads a file, such as an error in a third-party format."""
    failed = [form.describe_error(head) for form in _installed_formats()[0].values()] if head else []
    explained = [explain(about) for explain in _functions_named("explain")]
    return [sentence for sentence in (*explained, *failed) if sentence is not None]


@cache
def _functions_named(name: str) -> list[Callable[[About], str | None]]:
    """Return the functions called `name` of all formats that define such a function."""
    own = _own_formats().values()
    return [function for form in own if (function := getattr(form, name, None)) is not None]


def translate_file(
    form: Format, records: Iterable[Record | Rejected], about: About
) -> Iterator[Event | Rejected]:
    """Yield the events of a whole file, translated by a new translator of the format.

    Rejected records are yielded unchanged, between the events.
    """
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
