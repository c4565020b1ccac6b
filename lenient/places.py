"""The JSON Schema of a tool's arguments → every place in it, with its path and its flat schema.

Pages and the lint walk over them.
References are followed; a place within itself is not entered again. Knows nothing of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lenient.diagnostics import Path, render_path
from lenient.flattening import Flattener
from lenient.merging import Gathered

_MAX_PLACES = 5_000
_MAX_LEVELS = 12


_Waiting = tuple[Path, str | None, Any, bool, int, tuple[int, ...]]
"""Path, name, schema, required, level, and the schemas above it."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the arguments.

    `schema` has its references and `allOf` merged into it; `own` is what stands there as written. `name` is
    None for the root, items and branches. `level` counts the fields and items above it.
    """

    path: Path
    name: str | None
    own: Mapping[str, Any]
    schema: Mapping[str, Any]
    unsupported: tuple[str, ...]
    required: bool
    level: int


def places(schema: Mapping[str, Any]) -> Iterator[Place]:
    """Every place, each before those inside it."""
    flattener = Flattener(schema)
    waiting: list[tuple[Path, str | None, Any, bool, int, tuple[int, ...]]] = [
        (None, None, schema, False, 0, ())
    ]
    for _ in range(_MAX_PLACES):
        if not waiting:
            return
        path, name, own, required, level, above = waiting.pop()
        if not isinstance(own, Mapping):
            own = {} if own is not False else {"not": {}}
        flattener.count = 0
        flat = flattener.flattened(own, 0)
        flat = flat if isinstance(flat, Mapping) else {}
        plain = {key: value for key, value in flat.items() if isinstance(key, str)}
        yield Place(path, name, own, plain, tuple(flat.get(Gathered.UNSUPPORTED, ())), required, level)
        target = flattener.shared_target(own)
        key = id(own if target is None else target)
        if key not in above and level < _MAX_LEVELS:
            inner = list(_inside(plain, path, level, (*above, key)))
            waiting.extend(reversed(inner))


def _inside(schema: Mapping[str, Any], path: Path, level: int, above: tuple[int, ...]) -> Iterator[_Waiting]:
    properties, required = schema.get("properties"), schema.get("required")
    wanted = required if isinstance(required, list) else []
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield (path, str(name)), str(name), inner, name in wanted, level + 1, above
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield (path, "[]"), None, items, False, level + 1, above
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        yield (path, "*"), None, extra, False, level + 1, above
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            if isinstance(branch, Mapping) and branch.get("type") != "null":
                yield path, None, branch, False, level, above


def place_path(path: Path) -> str:
    """The path of a place: `$.filters.years[]`; items are `[]`, values of any name `.*`."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(_MARKS[step] if step in _MARKS else render_path((None, step))[1:])
    return "$" + "".join(reversed(steps))


_MARKS: Mapping[str | int, str] = {"[]": "[]", "*": ".*"}
