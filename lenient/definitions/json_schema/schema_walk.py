"""Walks through all positions in a JSON Schema, for the Markdown pages and the lint.

References are resolved. A recursive schema is entered only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lenient.definitions.json_schema.flattening import Flattener, GatheredKey
from lenient.diagnostics import Path, render_path

_MAX_PLACES = 5_000
_MAX_LEVELS = 12


_Waiting = tuple[Path, str | None, Any, bool, int, tuple[int, ...]]
"""The position, name, schema, whether it is required, the level, and the ids of the outer schemas."""


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """One position in a JSON Schema: the root, a field, the items of a list, or a branch.

    `own` is the original schema. In `schema`, references and `allOf` are merged. `name` is the name of a
    field, or None for any other position. `unsupported` are the keywords that cannot be checked. `level` is
    the number of fields and items above this position.
    """

    path: Path
    name: str | None
    own: Mapping[str, Any]
    schema: Mapping[str, Any]
    unsupported: tuple[str, ...]
    required: bool
    level: int


def walk_places(schema: Mapping[str, Any]) -> Iterator[SchemaPlace]:
    """Yield every position in a schema. An outer position comes before its inner positions."""
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
        flat = flattener.flatten(own, 0)
        flat = flat if isinstance(flat, Mapping) else {}
        plain = {key: value for key, value in flat.items() if isinstance(key, str)}
        yield SchemaPlace(
            path, name, own, plain, tuple(flat.get(GatheredKey.UNSUPPORTED, ())), required, level
        )
        target = flattener.find_shared_target(own)
        key = id(own if target is None else target)
        if key not in above and level < _MAX_LEVELS:
            inner = list(_list_inner(plain, path, level, (*above, key)))
            waiting.extend(reversed(inner))


def _list_inner(
    schema: Mapping[str, Any], path: Path, level: int, above: tuple[int, ...]
) -> Iterator[_Waiting]:
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


def render_place(path: Path) -> str:
    """Return a position in a schema as `$.filters.years[]`. `[]` means items, `.*` any field."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(_MARKS[step] if step in _MARKS else render_path((None, step))[1:])
    return "$" + "".join(reversed(steps))


_MARKS: Mapping[str | int, str] = {"[]": "[]", "*": ".*"}
