"""One schema of a document → one flat schema that says the same: references followed, `allOf` merged into it.

Knows nothing of what the keywords mean for a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lenient.merging import SAYING_NOTHING, Gathered, merged, prepared
from lenient.references import NOWHERE, REFERENCES, References

MAX_NODES = 20_000
"""Parts beyond which the rest of a definition is not checked: merging branches can multiply them."""

MAX_SCHEMA_DEPTH = 64


class Flattener:
    """The schemas of one document; `count` bounds the work, whoever uses it may begin again."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.references = References(root)
        self.opening: set[int] = set()
        self.count = 0

    def shared_target(self, schema: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
        """What a schema refers to when it says nothing else, so that all who refer to it share one node."""
        is_root = schema is self.root
        if is_root:
            return schema
        if not any(isinstance(schema.get(keyword), str) for keyword in REFERENCES):
            return None
        if not (self.references.old or SAYING_NOTHING.union(REFERENCES).issuperset(schema)):
            return None
        target: Any = self.references.target(schema)
        return target if isinstance(target, Mapping) else None

    def flattened(self, schema: Any, depth: int) -> Any:
        """The schema, prepared, with its references and its `allOf` merged into it; or a boolean."""
        if not isinstance(schema, Mapping):
            return schema is not False
        if id(schema) in self.opening:  # it demands what it demands: that says nothing
            return {Gathered.UNSUPPORTED: ["$ref to itself"]}
        if depth > MAX_SCHEMA_DEPTH or self.count > MAX_NODES:
            return {Gathered.UNSUPPORTED: ["nesting"]}
        self.count += 1
        self.opening.add(id(schema))
        try:
            return self.joined(schema, depth)
        finally:
            self.opening.discard(id(schema))

    def joined(self, schema: Mapping[Any, Any], depth: int) -> Any:
        own = {key: value for key, value in schema.items() if key != "allOf" and key not in REFERENCES}
        result: Any = prepared(own)
        if not REFERENCES.isdisjoint(schema):
            target = self.references.target(schema)
            if target is NOWHERE:
                pointer = next(str(schema[keyword]) for keyword in schema if keyword in REFERENCES)
                result = merged(result, {Gathered.UNSUPPORTED: [f"$ref {pointer}"[:100]]})
            elif self.references.old:
                return self.flattened(target, depth + 1)
            else:
                result = merged(result, self.flattened(target, depth + 1))
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            result = merged(result, self.flattened(part, depth + 1))
        return result
