"""Flattens schemas: resolves references and merges `allOf` into one flat schema with the same demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lenient.definitions.json_schema.merging import SAYING_NOTHING, GatheredKey, merge_schemas, prepare_schema
from lenient.definitions.json_schema.references import NOWHERE, REFERENCES, References

MAX_NODES = 20_000
"""Parts beyond which the rest of a definition is not checked: merging branches can multiply them."""

MAX_SCHEMA_DEPTH = 64


class Flattener:
    """A flattener of the schemas in one document.

    `count` is the number of parts flattened so far, which `MAX_NODES` limits; the caller may set it back to
    0.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self.references = References(root)
        self.opening: set[int] = set()
        self.count = 0

    def find_shared_target(self, schema: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
        """Return the target of a schema that is only a reference, None for any other schema.

        All references to one target share one node. The root of the document is its own target.
        """
        is_root = schema is self.root
        if is_root:
            return schema
        if not any(isinstance(schema.get(keyword), str) for keyword in REFERENCES):
            return None
        if not (self.references.old or SAYING_NOTHING.union(REFERENCES).issuperset(schema)):
            return None
        target: Any = self.references.find_target(schema)
        return target if isinstance(target, Mapping) else None

    def flatten(self, schema: Any, depth: int) -> Any:
        """Return the prepared schema with its references and its `allOf` merged, or a boolean schema."""
        if not isinstance(schema, Mapping):
            return schema is not False
        if id(schema) in self.opening:  # a schema that refers to itself demands nothing
            return {GatheredKey.UNSUPPORTED: ["$ref to itself"]}
        if depth > MAX_SCHEMA_DEPTH or self.count > MAX_NODES:
            return {GatheredKey.UNSUPPORTED: ["nesting"]}
        self.count += 1
        self.opening.add(id(schema))
        try:
            return self.merge_parts(schema, depth)
        finally:
            self.opening.discard(id(schema))

    def merge_parts(self, schema: Mapping[Any, Any], depth: int) -> Any:
        own = {key: value for key, value in schema.items() if key != "allOf" and key not in REFERENCES}
        result: Any = prepare_schema(own)
        if not REFERENCES.isdisjoint(schema):
            target = self.references.find_target(schema)
            if target is NOWHERE:
                pointer = next(str(schema[keyword]) for keyword in schema if keyword in REFERENCES)
                result = merge_schemas(result, {GatheredKey.UNSUPPORTED: [f"$ref {pointer}"[:100]]})
            elif self.references.old:
                return self.flatten(target, depth + 1)
            else:
                result = merge_schemas(result, self.flatten(target, depth + 1))
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            result = merge_schemas(result, self.flatten(part, depth + 1))
        return result
