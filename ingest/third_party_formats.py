"""Log formats of other Python distributions. They declare entry points in the group `callgauge.formats`.

Callgauge asks these formats only about files that its own formats cannot read. Errors of these formats are
caught, so a broken format never stops another format. docs/integrations.md describes the interface.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

import msgspec
from msgspec.structs import fields

from ingest.events import Event, Rejected
from ingest.log_format import About, Format, Record, Source, Translator

GROUP = "callgauge.formats"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
_LONGEST_REASON = 200
_T = TypeVar("_T")


class FormatPluginError(Exception):
    """An error inside a third-party format. The message has the type and the text of the original error."""


class InstalledFormat(msgspec.Struct, eq=False):
    """A third-party format whose errors are caught. `distribution` is its distribution's name and version."""

    SOURCE: Source
    distribution: str
    module: Format

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """Return True when the format recognises a file that begins with `head`. Return False when the format
        raises an error.
        """
        try:
            return bool(self.module.recognise(head))
        except (Exception, SystemExit):
            return False

    def describe_error(self, head: Sequence[dict[str, Any]]) -> str | None:
        """Return a sentence about the error that `recognise` raises for a file, or None without an error."""
        try:
            self.module.recognise(head)
        except (Exception, SystemExit) as error:
            return f"the format {self.SOURCE.name} failed on it: {_describe(error)}; {self.report_to}"
        return None

    def translator(self, about: About) -> Translator:
        """Return a translator for one file. The errors of the translator are raised as FormatPluginError."""
        made = _guard(lambda: self.module.translator(about))
        for name in ("take", "finish", "close"):
            if not callable(getattr(made, name, None)):
                raise FormatPluginError(f"its translator has no method {name}()")
        return _GuardedTranslator(made)

    @property
    def report_to(self) -> str:
        """Return the end of an error message: who should get a bug report, and what the user can do now."""
        return f"report it to the authors of {self.distribution}, or uninstall it"


class _GuardedTranslator:
    """Raises every error of a third-party translator as a FormatPluginError."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        return _guard(lambda: _check_events(self._translator.take(record)))

    def finish(self) -> Iterable[Event | Rejected]:
        return _guard(lambda: _check_events(self._translator.finish()))

    def close(self) -> None:
        _guard(self._translator.close)

    def __reduce__(self) -> str:
        """Raise TypeError, because a checkpoint can restore only classes of Callgauge.

        So Callgauge reads the whole file again if the file grows.
        """
        raise TypeError("a third-party translator is not pickled")


def _guard(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except (Exception, SystemExit) as error:
        if isinstance(error, FormatPluginError):
            raise
        raise FormatPluginError(_describe(error)) from error


def _check_events(events: Iterable[Event | Rejected]) -> list[Event | Rejected]:
    checked = list(events)
    for event in checked:
        if not isinstance(event, Event | Rejected):
            raise FormatPluginError(f"it yielded an object of type {type(event).__name__}, not an event")
    return checked


def describe_format_error(error: Exception) -> str:
    """Return the type and the text of an error that a format raised."""
    return str(error) if isinstance(error, FormatPluginError) else f"{type(error).__name__}: {error}"


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())[:_LONGEST_REASON]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def load_installed_formats(
    own_names: Collection[str],
) -> tuple[dict[str, InstalledFormat], tuple[str, ...]]:
    """Return the third-party formats by name, and one sentence for each format that cannot be used.

    `own_names` are the names of Callgauge's own formats. A third-party format must not have one of these
    names.
    """
    try:
        declared = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, name_distribution(entry)))
    except Exception as error:
        return {}, (
            f"cannot list third-party formats: {_describe(error)}; `pip check` may find the distribution",
        )
    times = Counter(entry.name for entry in declared)
    formats: dict[str, InstalledFormat] = {}
    problems = []
    for entry in declared:
        try:
            formats[entry.name] = _load_format(entry, own_names, times)
        except FormatPluginError as error:
            problems.append(
                f"the format {entry.name!r} of {name_distribution(entry)} is not used: {error} "
                f"(entry point {entry.name} = {entry.value}); update the distribution or uninstall it"
            )
    return formats, tuple(problems)


def name_distribution(entry: EntryPoint) -> str:
    """Return the name and version of the distribution that declares an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unnamed distribution"


def _load_format(entry: EntryPoint, own_names: Collection[str], times: Counter[str]) -> InstalledFormat:
    """Return the format of an entry point. Raises FormatPluginError if the format is unusable."""
    if not _NAME.fullmatch(entry.name):
        raise FormatPluginError("its name is not lower-case letters, digits and _, beginning with a letter")
    if entry.name in own_names:
        raise FormatPluginError("Callgauge already has a format of this name")
    if times[entry.name] > 1:
        raise FormatPluginError(f"{times[entry.name]} distributions have a format of this name")
    try:
        module = entry.load()
    except (Exception, SystemExit) as error:
        raise FormatPluginError(f"its import failed with {_describe(error)}") from error
    source = getattr(module, "SOURCE", None)
    if not isinstance(source, Source):
        raise FormatPluginError("it has no SOURCE that is a callgauge.log_formats.Source")
    if wrong := [each.name for each in fields(Source) if not isinstance(getattr(source, each.name), str)]:
        raise FormatPluginError(f"these fields of its SOURCE are not strings: {', '.join(wrong)}")
    if source.name != entry.name:
        raise FormatPluginError(f"SOURCE.name is {source.name!r} but must equal the entry point's name")
    if lacking := [name for name in ("recognise", "translator") if not callable(getattr(module, name, None))]:
        raise FormatPluginError(f"it has no function {' and no function '.join(lacking)}")
    return InstalledFormat(source, name_distribution(entry), cast("Format", module))
