"""Resolves the references of a schema document: JSON pointers, `$anchor`, `$id` and names.

Nothing is fetched: a reference to another document resolves to NOWHERE.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

NOWHERE: Final = object()
"""The target of a reference that this document does not hold."""

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})  # hold values, not schemas
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")
_MAX_INDEXED = 200_000


class References:
    """The schemas of one document that references can name.

    `old` is True for a document of draft 7 or before, where keywords beside a `$ref` do not count.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.resources: dict[str, Any] = {}
        self.anchors: dict[tuple[str, str], Any] = {}
        self.dynamic: dict[str, list[Any]] = {}
        self.bases: dict[int, str] = {}
        dialect = root.get("$schema") if isinstance(root, Mapping) else None
        self.old = isinstance(dialect, str) and any(draft in dialect for draft in _OLD_DRAFTS)
        self._register_all()

    def find_target(self, holder: Mapping[str, Any]) -> Any:
        """Return the schema that the reference in `holder` names; NOWHERE when the document lacks it."""
        if isinstance(holder.get("$ref"), str):
            return self._resolve(holder["$ref"], self.bases.get(id(holder), ""))
        if isinstance(holder.get("$dynamicRef"), str):
            return self._find_dynamic(holder)
        if holder.get("$recursiveRef") != "#" or self.dynamic:
            return NOWHERE
        return self._resolve("#", self.bases.get(id(holder), ""))

    def _find_dynamic(self, holder: Mapping[str, Any]) -> Any:
        """Return the target of a `$dynamicRef`; NOWHERE when several places have its anchor."""
        reference = holder["$dynamicRef"]
        places = self.dynamic.get(urldefrag(reference).fragment, [])
        if len(places) > 1:
            return NOWHERE
        return self._resolve(reference, self.bases.get(id(holder), ""))

    def _resolve(self, reference: str, base: str) -> Any:
        url, fragment = _split_reference(reference, base)
        resource = self.resources.get(url, NOWHERE)
        if resource is NOWHERE or not fragment:
            return resource
        if not fragment.startswith("/"):
            return self.anchors.get((url, fragment), NOWHERE)
        return _follow_pointer(resource, unquote(fragment))

    def _register_all(self) -> None:
        """Walk the document once and register all names; those beyond the bound are not registered."""
        self.resources[""] = self.root
        waiting: list[tuple[Any, str]] = [(self.root, "")]
        for _ in range(_MAX_INDEXED):
            if not waiting:
                return
            schema, base = waiting.pop()
            if isinstance(schema, Mapping):
                base = self._register_names(schema, base)
            waiting.extend((inner, base) for inner in _iterate_inner(schema))

    def _register_names(self, schema: Mapping[str, Any], base: str) -> str:
        """Register the names of one schema; return the base address for the schemas inside it."""
        sibling_of_ref = self.old and "$ref" in schema
        for key in () if sibling_of_ref else ("$id", "id"):
            name = schema.get(key)
            if isinstance(name, str) and (key == "$id" or (self.old and name[:1] != "#")):
                url, fragment = _split_reference(name, base)
                if fragment:  # draft 7 writes anchors so
                    self.anchors[url or base, fragment] = schema
                else:
                    base = url
                    self.resources[url] = schema
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(key), str):
                self.anchors.setdefault((base, schema[key]), schema)
        if isinstance(schema.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(schema["$dynamicAnchor"], []).append(schema)
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.setdefault("", []).append(schema)
        if base and not REFERENCES.isdisjoint(schema):
            self.bases[id(schema)] = base
        return base


def _split_reference(reference: str, base: str) -> tuple[str, str]:
    """Split a reference, relative to a base, into the address of the document and the fragment."""
    if reference.startswith("#"):
        return base, reference[1:]
    try:
        url, fragment = urldefrag(urljoin(base, reference))
    except ValueError:  # no address at all
        return reference, ""
    return url, fragment


def _iterate_inner(schema: Any) -> Iterator[Any]:
    if isinstance(schema, Mapping):
        yield from (value for key, value in schema.items() if key not in _VALUES)
    elif isinstance(schema, list):
        yield from schema


def _follow_pointer(target: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer, or NOWHERE."""
    for step in pointer[1:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  the same step, unescaped
        if isinstance(target, Mapping) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and int(step[:9]) < len(target):
            target = target[int(step[:9])]
        else:
            return NOWHERE
    return target
