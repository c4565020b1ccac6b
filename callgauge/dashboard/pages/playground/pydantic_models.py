"""Creates the pydantic model that a team would write for a tool definition, or says why none is possible.

A definition may only use JSON Schema keywords that pydantic checks with the same meaning, so that the
comparison is fair.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Optional

from lenient import ToolDefinition
from lenient.definitions.json_schema.value_kinds import type_names

_KNOWN = frozenset({
    "type", "properties", "required", "items", "enum", "description", "title", "default", "examples",
    "example", "additionalProperties", "nullable", "format", "$schema", "$id", "$comment",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
    "maxItems",
})  # fmt: skip
_BOUNDS = {
    "minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt",
    "minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length",
}  # fmt: skip
_PLAIN: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
_DEEPEST = 6
_MOST = 200  # maximum number of fields, including nested models: creating models is slow


class NotSimpleError(Exception):
    """No pydantic model can express the definition; the message is a sentence with the reason."""


def make_pydantic_model(tool: ToolDefinition) -> Any:
    """Return the pydantic model of the tool's arguments, in lax mode. Raises NotSimpleError."""
    schema = tool.to_json_schema()
    if type_names(schema) not in ([], ["object"]) or not isinstance(schema.get("properties"), Mapping):
        raise NotSimpleError("The definition declares no properties to make a model from.")
    return _ModelMaker().make_model(schema, "$")


class _ModelMaker:
    """Creates the nested pydantic models of one definition, and limits the total number of their fields."""

    def __init__(self) -> None:
        self.pydantic: Any = importlib.import_module("pydantic")
        self.fields = 0

    def make_model(self, schema: Mapping[str, Any], path: str) -> Any:
        self._check(schema, path)
        extra, required = schema.get("additionalProperties", True), schema.get("required") or []
        if isinstance(extra, Mapping):
            raise NotSimpleError(f"No model is made: `additionalProperties` at {path} is a schema.")
        declared = {
            f"f{number}": self._declare_field(name, inner, f"{path}.{name}", name in required)
            for number, (name, inner) in enumerate(schema["properties"].items())
        }
        config = self.pydantic.ConfigDict(
            extra="forbid" if extra is False else "allow", protected_namespaces=()
        )
        return self.pydantic.create_model("Arguments", __config__=config, **declared)

    def _declare_field(self, name: str, schema: Any, path: str, required: bool) -> tuple[Any, Any]:
        self.fields += 1
        if self.fields > _MOST:
            raise NotSimpleError(f"No model is made: the definition has more than {_MOST} fields.")
        kind = self._type_of(schema, path)
        if required:
            return kind, self.pydantic.Field(alias=name)
        return Optional[kind], self.pydantic.Field(default=None, alias=name)  # noqa: UP045  made while it runs

    def _type_of(self, schema: Any, path: str) -> Any:
        if not isinstance(schema, Mapping):
            raise NotSimpleError(f"No model is made: {path} is not an object schema.")
        self._check(schema, path)
        if "enum" in schema:
            return self._make_literal(schema["enum"], path)
        names = type_names(schema) + (["null"] if schema.get("nullable") is True else [])
        if not names:
            return Any
        return reduce(or_, [self._make_nested(name, schema, path) for name in names])

    def _make_nested(self, name: str, schema: Mapping[str, Any], path: str) -> Any:
        made: Any
        if name == "array":
            inner = self._type_of(schema["items"], f"{path}[]") if "items" in schema else Any
            made = list[inner]  # type: ignore[valid-type]
        elif name == "object" and isinstance(schema.get("properties"), Mapping):
            made = self.make_model(schema, path)
        elif name == "object":
            extra = schema.get("additionalProperties")
            inner = self._type_of(extra, f"{path}.*") if isinstance(extra, Mapping) else Any
            made = dict[str, inner]  # type: ignore[valid-type]
        elif name in _PLAIN:
            made = datetime if name == "string" and schema.get("format") == "date-time" else _PLAIN[name]
        else:
            raise NotSimpleError(f"No model is made: {path} has the type {name[:40]!r}.")
        bounds: dict[str, Any] = {_BOUNDS[word]: schema[word] for word in _BOUNDS if word in schema}
        if name == "array":
            bounds["fail_fast"] = True  # otherwise a list of a million wrong items gives a million errors
        return Annotated[made, self.pydantic.Field(**bounds)] if bounds and made is not datetime else made

    def _make_literal(self, values: Any, path: str) -> Any:
        if not isinstance(values, list) or not values or not all(_is_literal(value) for value in values):
            raise NotSimpleError(f"No model is made: the `enum` at {path} lists more than plain values.")
        return Literal[tuple(values)]

    def _check(self, schema: Mapping[str, Any], path: str) -> None:
        unknown = sorted(
            str(word) for word in schema if word not in _KNOWN and not str(word).startswith("x-")
        )
        if unknown:
            raise NotSimpleError(
                f"No model is made: `{unknown[0][:40]}` at {path[:80]} is more than a model says."
            )
        if path.count(".") + path.count("[]") > _DEEPEST:
            raise NotSimpleError("No model is made: the definition is nested too deep.")


def _is_literal(value: Any) -> bool:
    return value is None or isinstance(value, str | int | bool)
