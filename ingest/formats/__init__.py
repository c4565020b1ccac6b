"""The log formats: one module per producer of logs, found by listing this package, and third-party formats.

A format module begins with notes on the producer's fields and has

- `SOURCE`: a `Source` (`ingest.log_format`), which states the facts that this producer's logs can and cannot
  show;
- `recognise(head)`: return True when the first records of a file are this producer's;
- `translator(about)`: return a new `Translator` for one file, which is given the file's records one by one.

Four functions are optional. `decode(line)` makes the value of a record from a line, where decoding the whole
line as a JSON object would be more work than the format needs. `skim(data)` does the same quickly for the
lines that it can read (see `ingest.decoding.containers.Skim`). `read_with(about)` names the file together
with which this format reads a file that no format reads by itself; `explain(about)` says what is missing for
that.

A format module only recognises and translates. Code that several formats share is in folders named by their
content: `provider_messages`, `conversations`, `spans`, `span_conventions`, `traces`. Two
formats that claim the same file are an error. A format with `LAST_RESORT = True` is asked only about a file
that no other format claims.
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
    """Return every format of this package by name: the modules of the package that define `SOURCE`."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: cast("Format", module) for name, module in modules.items() if hasattr(module, "SOURCE")}


@cache
def _installed_formats() -> tuple[dict[str, InstalledFormat], tuple[str, ...]]:
    return load_installed_formats(_own_formats())


@cache
def formats() -> dict[str, Format]:
    """Return every format by name: those of this package, then those of other distributions."""
    return {**_own_formats(), **_installed_formats()[0]}


def format_problems() -> tuple[str, ...]:
    """Return a sentence for each third-party format that cannot be used."""
    return _installed_formats()[1]


def distribution_of(form: Format) -> str | None:
    """Return the name and version of the distribution of a third-party format; None for one of our own."""
    return form.distribution if isinstance(form, InstalledFormat) else None


def claiming_formats(head: Sequence[dict[str, Any]], mapping: RecordMapping | None = None) -> list[Format]:
    """Return the formats that recognise a file which begins with the records `head`.

    The caller reads the file only when exactly one format is returned. Third-party formats are asked when no
    format of ours claims the file, so that none of them can take a file from it; then the formats of last
    resort, which get the records as `mapping` maps them.
    """
    own, installed = _own_formats().values(), _installed_formats()[0].values()
    claiming = [form for form in own if not is_last_resort(form) and form.recognise(head)]
    if claiming or (claiming := [form for form in installed if form.recognise(head)]):
        return claiming
    mapped = head if mapping is None else mapping.apply_all(head)
    return [form for form in own if is_last_resort(form) and form.recognise(mapped)]


def is_asked_first(form: Format) -> bool:
    """Return whether the format's claim counts whatever other formats say of the file."""
    return not (is_last_resort(form) or isinstance(form, InstalledFormat))


def is_last_resort(form: Format) -> bool:
    return getattr(form, "LAST_RESORT", False)


def line_decoder(form: Format) -> Callable[..., Any]:
    """Return the format's `decode`, which turns a line into the value of a record, else `decode_object`."""
    return cast("Callable[..., Any]", getattr(form, "decode", decode_object))


def line_skimmer(form: Format) -> Callable[[bytes], Any] | None:
    """Return the format's `skim`, the quick decoder of a line's bytes; None when the format has none."""
    return cast("Callable[[bytes], Any] | None", getattr(form, "skim", None))


def find_companion(about: About) -> str | None:
    """Return the name of the file beside it with which a format reads a file; None when none does."""
    return next((name for find in _functions_named("read_with") if (name := find(about))), None)


def describe_side_file(about: About) -> str | None:
    """Return whose side file a file is, such as "a side file of Droid"; None for a file that may be a log."""
    return next((words for describe in _functions_named("side_file") if (words := describe(about))), None)


def explain_unread(about: About, head: Sequence[dict[str, Any]]) -> list[str]:
    """Return the explanations for a file that no format reads, such as a format that failed; mostly none."""
    failed = [form.describe_error(head) for form in _installed_formats()[0].values()] if head else []
    explained = [explain(about) for explain in _functions_named("explain")]
    return [sentence for sentence in (*explained, *failed) if sentence is not None]


@cache
def _functions_named(name: str) -> list[Callable[[About], str | None]]:
    """Return the optional function `name` of each format that has it."""
    own = _own_formats().values()
    return [function for form in own if (function := getattr(form, name, None)) is not None]


def translate_file(
    form: Format, records: Iterable[Record | Rejected], about: About
) -> Iterator[Event | Rejected]:
    """Yield the events of a whole file, made of its records by one new translator of the format.

    Rejects among the records are passed on unchanged, in their place. The translator is closed at the end.
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
