"""Files in, which format reads each and why the others do not out: told by what each of them looked for.

A format says only yes or no. What it asked the first objects for is written down while it decides, so that a
reason is what happened, not what somebody wrote about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.changes import Ledger, Options
from ingest.collect import Named, each_of
from ingest.formats import Format, formats
from ingest.lines import MAX_LINE
from ingest.reading import Unusable, chosen, head_of, unreadable
from ingest.sources.content import opened
from ingest.sources.found import Found
from ingest.unfolding import unfold

_NAMED = 4  # keys that a reason names
_KEYS = 12  # … and the answer, of the first object


@dataclass(frozen=True, slots=True)
class Claim:
    """Which format reads a file: its name, or why there is none (the end of a sentence that begins "it").

    `container` is what its objects stand in, `keys` are those of the first one; `others` say, for each format
    that does not read it, what that looked for.
    """

    file: str
    name: str | None
    reason: str | None
    container: str | None = None
    keys: tuple[str, ...] = ()
    others: dict[str, str] = field(default_factory=dict)


def claims_of(named: Named, max_line: int = MAX_LINE) -> Iterator[Claim]:
    """The answer for every log that the name stands for, whatever is there. Raises OptionError."""
    nowhere = Path("/dev/null")  # there is no store to leave out
    for found in unfold(each_of(named, nowhere), Ledger(), Options()).logs:
        yield _claim(found, max_line)


def _claim(found: Found, max_line: int) -> Claim:
    if found.problem is not None:
        return Claim(found.name, None, found.problem)
    try:
        with opened(found, rewinds=True) as content:
            head = head_of(content, max_line)
    except OSError as error:
        return Claim(found.name, None, str(unreadable(error)))
    try:
        name, reason = chosen(head).SOURCE.name, None
    except Unusable as unusable:
        name, reason = None, str(unusable)
    if not head.objects:
        return Claim(found.name, name, reason)
    not_its = [form for form in formats().values() if not form.recognise(head.objects)]
    others = {form.SOURCE.name: _why_not(form, head.objects) for form in not_its}
    return Claim(found.name, name, reason, head.container, tuple(head.objects[0])[:_KEYS], others)


def _why_not(form: Format, objects: Sequence[dict[str, Any]]) -> str:
    asked = _Asked()
    try:
        form.recognise([_Watched(value, asked) for value in objects])
    except (TypeError, ValueError):  # a format may hand objects on to what takes plain ones only
        return "looks for something else"
    missing = [key for key in asked.missing if key not in asked.there]
    if missing:
        return f"looks for {_listed(missing)}: not there"
    if asked.there:
        return f"looks at {_listed(list(asked.there))}, and finds other values than its own"
    return "looks for something else"


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(f"`{key[:60]}`" for key in keys[:_NAMED]) + more


class _Asked:
    """Paths of keys that were looked up, in order, by whether they were there."""

    def __init__(self) -> None:
        self.there: dict[str, None] = {}
        self.missing: dict[str, None] = {}


class _Watched(dict[str, Any]):
    """An object that writes down which of its keys were looked up, and in its values the same."""

    def __init__(self, value: dict[str, Any], asked: _Asked, path: str = "") -> None:
        super().__init__(value)
        self._asked = asked
        self._path = path

    def _look_up(self, key: object) -> bool:
        there = super().__contains__(key)
        (self._asked.there if there else self._asked.missing)[f"{self._path}{key}"] = None
        return there

    def __contains__(self, key: object) -> bool:
        return self._look_up(key)

    def __getitem__(self, key: str) -> Any:
        self._look_up(key)
        return self._watched(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._watched(key, super().get(key)) if self._look_up(key) else default

    def _watched(self, key: str, value: Any) -> Any:
        path = f"{self._path}{key}"
        if isinstance(value, dict):
            return _Watched(value, self._asked, f"{path}.")
        if isinstance(value, list):
            inside = f"{path}[]."
            return [_Watched(item, self._asked, inside) if isinstance(item, dict) else item for item in value]
        return value
