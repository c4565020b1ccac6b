"""Converts a JSON Schema to the Python types that pydantic and msgspec check.

A keyword that neither library can express (`not`, `if`, a recursive `$ref`) allows any value.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import reduce
from typing import Annotated, Any, Literal, Optional, Union

_SIMPLE: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
}
_BOUNDS = {
    "minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt",
    "minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length",
    "multipleOf": "multiple_of",
}  # fmt: skip
_DEEPEST = 12
Fields = list[tuple[str, Any, bool]]  # name, type, required
MakeObject = Callable[[str, Fields, bool], Any]  # parameters: name, fields, whether other fields are allowed


class Types:
    """Makes types from the schemas of one tool.

    `make_object` and `bounded` create the types of one library.
    """

    def __init__(self, root: Mapping[str, Any], make_object: MakeObject, bounded: Callable[..., Any]) -> None:
        self.root, self.make_object, self.bounded = root, make_object, bounded
        self.made = 0

    def make_type(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return Any
        if "$ref" in schema:
            return self.make_type(resolved(self.root, schema["$ref"]), depth + 1)
        word, details = first_word(schema)
        if word == "enum":
            return _literal(details)
        if word == "anyOf":
            return _union([self.make_type(branch, depth + 1) for branch in details])
        return _union([self._one(name, schema, depth) for name in details]) if details else Any

    def _one(self, name: str, schema: Mapping[str, Any], depth: int) -> Any:
        if name == "array":
            items = schema.get("items")
            made: Any = list[self.make_type(items, depth + 1)]  # type: ignore[misc]  # made while it runs
        elif name == "object":
            made = self._object(schema, depth)
        else:
            made = datetime if schema.get("format") == "date-time" else _SIMPLE.get(name, Any)
        bounds = {_BOUNDS[word]: schema[word] for word in _BOUNDS if word in schema}
        fits = name in ("string", "integer", "number", "array") and bounds and made is not datetime
        return Annotated[made, self.bounded(**bounds)] if fits else made

    def _object(self, schema: Mapping[str, Any], depth: int) -> Any:
        properties, extra = schema.get("properties") or {}, schema.get("additionalProperties", True)
        if not properties:
            values = self.make_type(extra, depth + 1) if isinstance(extra, Mapping) else Any
            return dict[str, values]  # type: ignore[valid-type]  # made while it runs
        required = schema.get("required") or []
        fields = [
            (name, self.make_type(inner, depth + 1), name in required) for name, inner in properties.items()
        ]
        self.made += 1
        return self.make_object(f"Arguments{self.made}", fields, extra is not False)


def first_word(schema: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the deciding keyword and its content: `enum` and values, `anyOf` and schemas, or `type` and type
    names.

    Without type names, any value is allowed.
    """
    if "const" in schema or "enum" in schema:
        return "enum", schema["enum"] if "enum" in schema else [schema["const"]]
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return "anyOf", branches
    names = schema.get("type") or []
    names = [name.lower() for name in ([names] if isinstance(names, str) else names)]
    return "type", [*names, "null"] if schema.get("nullable") is True else names


def resolved(root: Mapping[str, Any], reference: str) -> Any:
    """Return the target of a reference into the same schema, or an empty schema if the target is missing."""
    steps = reference.removeprefix("#").strip("/")
    return reduce(lambda at, step: at.get(step, {}), steps.split("/") if steps else [], root)


def _union(members: list[Any]) -> Any:
    return Union[tuple(members)]  # noqa: UP007  # made while it runs


def _literal(values: list[Any]) -> Any:
    plain = [value for value in values if isinstance(value, (str, int, bool)) or value is None]
    return Literal[tuple(plain)] if len(plain) == len(values) else Any


def pydantic_model(schema: Mapping[str, Any]) -> Any:
    """Return a pydantic model in lax mode.

    The model keeps unknown parameters unless the schema forbids them.
    """
    pydantic: Any = importlib.import_module("pydantic")

    def make_object(name: str, fields: Fields, open_: bool) -> Any:
        config = pydantic.ConfigDict(extra="allow" if open_ else "forbid", protected_namespaces=())
        declared = {
            f"f{index}": (kind, pydantic.Field(alias=field)) if required
            else (Optional[kind], pydantic.Field(default=None, alias=field))  # noqa: UP045  # made while it runs
            for index, (field, kind, required) in enumerate(fields)
        }  # fmt: skip
        return pydantic.create_model(name, __config__=config, **declared)

    return Types(schema, make_object, pydantic.Field).make_type(_as_object(schema))


def msgspec_struct(schema: Mapping[str, Any]) -> Any:
    """Return a msgspec struct.

    The struct cannot keep unknown parameters, so it refuses them.
    """
    msgspec: Any = importlib.import_module("msgspec")

    def make_object(name: str, fields: Fields, open_: bool) -> Any:
        declared = [
            (f"f{index}", kind) if required else (f"f{index}", Union[kind, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007
            for index, (_, kind, required) in enumerate(fields)
        ]
        rename = {f"f{index}": field for index, (field, _, _) in enumerate(fields)}
        return msgspec.defstruct(name, declared, rename=rename, forbid_unknown_fields=True, kw_only=True)

    return Types(schema, make_object, msgspec.Meta).make_type(_as_object(schema))


def _as_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object"} | dict(schema)
