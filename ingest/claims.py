"""Files in, which format reads each and why the others do not out: told by what each of them looked for.

A format says only yes or no. What it asked the first objects for is written down while it decides, so that a
reason is what happened, not what somebody wrote about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.changes import Options
from ingest.collect import Named, each_of
from ingest.formats import Format, formats
from ingest.ledger import Ledger
from ingest.lines import MAX_LINE
from ingest.reading import Unusable, about_of, chosen, head_of, unreadable
from ingest.sources.content import opened
from ingest.sources.found import Found
from ingest.unfolding import unfold

_NAMED = 4  # keys that a reason names
_BEFORE = "turns away before it looks at a key (the number of objects is not its own, say)"
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
            about = about_of(found, content, head, max_line)
    except OSError as error:
        return Claim(found.name, None, str(unreadable(error)))
    try:
        name, reason = chosen(head, about).SOURCE.name, None
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
    except (TypeError, ValueError):  # it may hand objects on to what takes plain ones only
        return "looks at whole objects"
    if missing := [key for key in asked.missing if key not in asked.there]:
        return f"asks for {_listed(missing)}: not there"
    if asked.there:
        return f"goes by {_listed(list(asked.there))}: another log's"
    if asked.either:
        return f"asks for one of {_listed(list(asked.either))}: not there"
    return _BEFORE


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(f"`{key[:60]}`" for key in keys[:_NAMED]) + more


class _Asked:
    """Paths of keys that were looked up, in order: those that were there, those that were not, and those of a
    set of which none was there (whether one should be, or none, the question does not tell).
    """

    def __init__(self) -> None:
        self.there: dict[str, None] = {}
        self.missing: dict[str, None] = {}
        self.either: dict[str, None] = {}


class _Watched(dict[str, Any]):
    """An object that writes down which of its keys were looked up, and in its values the same."""

    def __init__(self, value: dict[str, Any], asked: _Asked, path: str = "") -> None:
        super().__init__(value)
        self._asked = asked
        self._path = path

    def look_up(self, key: object) -> bool:
        there = super().__contains__(key)
        (self._asked.there if there else self._asked.missing)[f"{self._path}{key}"] = None
        return there

    def look_up_any(self, keys: Iterable[object]) -> None:
        wanted = sorted(map(str, keys))
        there = [key for key in wanted if super(_Watched, self).__contains__(key)]
        (self._asked.there if there else self._asked.either).update(
            dict.fromkeys(f"{self._path}{key}" for key in there or wanted)
        )

    def __contains__(self, key: object) -> bool:
        return self.look_up(key)

    def __getitem__(self, key: str) -> Any:
        self.look_up(key)
        return self._watched(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._watched(key, super().get(key)) if self.look_up(key) else default

    def keys(self) -> _Keys:  # type: ignore[override]  # dict's own class of keys cannot be derived from
        return _Keys(self)

    def _watched(self, key: str, value: Any) -> Any:
        path = f"{self._path}{key}"
        if isinstance(value, dict):
            return _Watched(value, self._asked, f"{path}.")
        if isinstance(value, list):
            inside = f"{path}[]."
            return [_Watched(item, self._asked, inside) if isinstance(item, dict) else item for item in value]
        return value


class _Keys(KeysView[str]):
    """The keys of a watched object: comparing them with a set looks the set's members up."""

    def __init__(self, watched: _Watched) -> None:
        super().__init__(watched)
        self._watched = watched

    def __ge__(self, other: Set[Any]) -> bool:
        return all([self._watched.look_up(key) for key in sorted(map(str, other))])  # noqa: C419 - each is asked

    def __and__(self, other: Iterable[Any]) -> set[str]:
        self._watched.look_up_any(other)
        return set(iter(self)) & set(other)

    __rand__ = __and__  # type: ignore[assignment]
