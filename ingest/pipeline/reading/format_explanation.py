"""Explains which format reads a file and why all other formats do not.

A format answers only yes or no. So the explanation uses the keys that the format looked up in the first
objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Sequence, Set
from typing import Any

import msgspec

from ingest.decoding.lines import MAX_LINE
from ingest.formats import formats, is_asked_first
from ingest.log_format import Format
from ingest.pipeline.planning.archive_expansion import expand_archives
from ingest.pipeline.planning.change_detection import ReadOptions
from ingest.pipeline.reading.format_recognition import (
    UnusableFileError,
    check_side_file,
    choose_format,
    describe_log,
    describe_read_error,
    read_head,
)
from ingest.sources.discovery import Named, find_named
from ingest.sources.log_content import open_log
from ingest.sources.log_file import LogFile
from ingest.store.ledger import Ledger
from ingest.third_party_formats import InstalledFormat

_NAMED = 4  # largest number of keys in a reason
_BEFORE = "does not match before any key is checked (for example by the number of objects)"
_NOT_ASKED = "reads only files that no other format reads"
_KEYS = 12  # largest number of keys of the first object in the answer


class FormatClaim(msgspec.Struct, frozen=True):
    """The answer for one file: the format that reads the file, or the reason why no format does.

    `name` is the name of the format. If `name` is None, `reason` continues a sentence that begins with the
    file's name. `container` is how the objects are arranged in the file. `keys` are the keys of the first
    object. `others` maps each format that does not read the file to an explanation.
    """

    file: str
    name: str | None
    reason: str | None
    container: str | None = None
    keys: tuple[str, ...] = ()
    others: dict[str, str] = {}


def explain_files(named: Named) -> Iterator[FormatClaim]:
    """Yield a `FormatClaim` for each log that a path, pattern or address names. Raises OptionError."""
    for log_file in expand_archives(find_named(named), Ledger(), ReadOptions()).logs:
        yield _explain_file(log_file)


def _explain_file(log_file: LogFile) -> FormatClaim:
    if log_file.problem is not None:
        return FormatClaim(log_file.name, None, log_file.problem)
    try:
        with open_log(log_file, rewinds=True) as content:
            head = read_head(content, MAX_LINE)
            about = describe_log(log_file, content, head, MAX_LINE)
    except OSError as error:
        return FormatClaim(log_file.name, None, str(describe_read_error(error)))
    try:
        check_side_file(log_file.place, head)
        name, reason = choose_format(head, about).SOURCE.name, None
    except UnusableFileError as unusable:
        name, reason = None, str(unusable)
    if not head.objects:
        return FormatClaim(log_file.name, name, reason)
    not_its = [form for form in formats().values() if form not in head.claiming]
    others = {form.SOURCE.name: explain_refusal(form, head.objects) for form in not_its}
    return FormatClaim(log_file.name, name, reason, head.container, tuple(head.objects[0])[:_KEYS], others)


def explain_refusal(form: Format, objects: Sequence[dict[str, Any]]) -> str:
    if not is_asked_first(form) and form.recognise(objects):
        return _NOT_ASKED
    if isinstance(form, InstalledFormat) and (failed := form.describe_error(objects)) is not None:
        return failed
    looked_up = LookedUpKeys()
    try:
        form.recognise([WatchedObject(value, looked_up) for value in objects])
    # the format may pass objects to functions that accept only plain dictionaries
    except (TypeError, ValueError):
        return "checks whole objects"
    if missing := [key for key in looked_up.missing if key not in looked_up.there]:
        return f"needs {_list_keys(missing)}: not there"
    if looked_up.there:
        return f"goes by {_list_keys(list(looked_up.there))}: another log's"
    if looked_up.either:
        return f"asks for one of {_list_keys(list(looked_up.either))}: not there"
    return _BEFORE


def _list_keys(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(f"`{key[:60]}`" for key in keys[:_NAMED]) + more


class LookedUpKeys:
    """The paths of keys that a format looked up, in the order of the look-ups.

    `there` are keys that existed. `missing` are keys that did not exist. `either` are keys that were looked
    up as a set and were all missing. Such a look-up does not show whether the format requires or forbids the
    keys.
    """

    def __init__(self) -> None:
        self.there: dict[str, None] = {}
        self.missing: dict[str, None] = {}
        self.either: dict[str, None] = {}


class WatchedObject(dict[str, Any]):
    """A dictionary that records look-ups of its keys. Look-ups in the objects inside it are also recorded."""

    def __init__(self, value: dict[str, Any], looked_up: LookedUpKeys, path: str = "") -> None:
        super().__init__(value)
        self._asked = looked_up
        self._path = path

    def look_up(self, key: object) -> bool:
        is_present = super().__contains__(key)
        (self._asked.there if is_present else self._asked.missing)[f"{self._path}{key}"] = None
        return is_present

    def look_up_any(self, keys: Iterable[object]) -> None:
        wanted = sorted(map(str, keys))
        present = [key for key in wanted if super(WatchedObject, self).__contains__(key)]
        (self._asked.there if present else self._asked.either).update(
            dict.fromkeys(f"{self._path}{key}" for key in present or wanted)
        )

    def __contains__(self, key: object) -> bool:
        return self.look_up(key)

    def __getitem__(self, key: str) -> Any:
        self.look_up(key)
        return self._watch_value(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._watch_value(key, super().get(key)) if self.look_up(key) else default

    def keys(self) -> WatchedKeys:  # type: ignore[override]  # dict's own class of keys cannot be derived from
        return WatchedKeys(self)

    def _watch_value(self, key: str, value: Any) -> Any:
        path = f"{self._path}{key}"
        if isinstance(value, dict):
            return WatchedObject(value, self._asked, f"{path}.")
        if isinstance(value, list):
            inside = f"{path}[]."
            return [
                WatchedObject(item, self._asked, inside) if isinstance(item, dict) else item for item in value
            ]
        return value


class WatchedKeys(KeysView[str]):
    """The keys of a `WatchedObject`.

    A comparison with a set counts as a look-up of all members of the set.
    """

    def __init__(self, watched: WatchedObject) -> None:
        super().__init__(watched)
        self._watched = watched

    def __ge__(self, other: Set[Any]) -> bool:
        return all([self._watched.look_up(key) for key in sorted(map(str, other))])  # noqa: C419 - each is asked

    def __and__(self, other: Iterable[Any]) -> set[str]:
        self._watched.look_up_any(other)
        return set(iter(self)) & set(other)

    __rand__ = __and__  # type: ignore[assignment]
