"""Converts a JSON Schema to a BAML function, and converts the results of BAML to plain values.

BAML cannot express bounds, patterns or closed objects, so these constraints are left out.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from bench.parser.typed import first_word, resolved

_HEAD = """client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
type Any = int | float | bool | string | null | Any[] | map<string, Any>
"""
_SIMPLE = {"string": "string", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}
_DEEPEST = 12


class _Source:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root, self.classes = root, list[str]()
        self.names: dict[str, dict[str, str]] = {}

    def write_type(self, schema: Any, depth: int = 0) -> str:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return "Any"
        if "$ref" in schema:
            return self.write_type(resolved(self.root, schema["$ref"]), depth + 1)
        word, details = first_word(schema)
        if word == "enum":
            return _literals(details)
        members = self._branches(details, depth) if word == "anyOf" else self._types(details, schema, depth)
        return _union(members) if members else "Any"

    def _branches(self, branches: list[Any], depth: int) -> list[str]:
        return [self.write_type(branch, depth + 1) for branch in branches]

    def _types(self, names: list[str], schema: Mapping[str, Any], depth: int) -> list[str]:
        return [self._one(name, schema, depth) for name in names]

    def _one(self, name: str, schema: Mapping[str, Any], depth: int) -> str:
        if name == "array":
            return f"{self.write_type(schema.get('items'), depth + 1)}[]"
        if name == "object":
            return self._object(schema, depth)
        return _SIMPLE.get(name, "Any")

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        properties = schema.get("properties") or {}
        if not properties:
            return f"map<string, {self.write_type(schema.get('additionalProperties'), depth + 1)}>"
        name = f"Arguments{len(self.names) + 1}"
        self.names[name] = {f"f{index}": field for index, field in enumerate(properties)}
        required = schema.get("required") or []
        lines = [
            f"  f{index} {self.write_type(inner, depth + 1)}{'' if field in required else '?'} "
            f"@alias({json.dumps(field)})"
            for index, (field, inner) in enumerate(properties.items())
        ]
        self.classes.append("\n".join([f"class {name} {{", *lines, "}"]))
        return name


def _union(members: list[str]) -> str:
    return members[0] if len(members) == 1 else f"({' | '.join(members)})"


def _literals(values: list[Any]) -> str:
    literals = [json.dumps(value) for value in values if isinstance(value, (str, bool, int))]
    return _union(literals) if len(literals) == len(values) else "Any"


def reader(schema: Mapping[str, Any] | None) -> Callable[[str], dict[str, Any]]:
    """Return a function that reads arguments from a string.

    Without a schema, the function reads any object. The function raises BAML's errors.
    """
    os.environ.setdefault("BAML_LOG", "OFF")
    os.environ.setdefault("RUST_LIB_BACKTRACE", "0")  # the stack trace of a refusal must not be timed
    baml: Any = importlib.import_module("baml_py")
    source = _Source(schema or {})
    returned = source.write_type({"type": "object"} | dict(schema or {}))
    function = f'function Read() -> {returned} {{\n  client Nobody\n  prompt #"none"#\n}}\n'
    text = "\n".join([_HEAD, *source.classes, function])
    runtime = baml.BamlRuntime.from_files("baml_src", {"baml_src/tool.baml": text}, {})
    context, classes = runtime.create_context_manager(), ModuleType("arguments")
    for name, names in source.names.items():
        setattr(classes, name, _Maker(names))

    def read(raw: str) -> dict[str, Any]:
        read: dict[str, Any] = runtime.parse_llm_response(
            "Read", raw, classes, classes, classes, False, context, None, None, {}
        )
        return read

    return read


class _Maker:
    """Replaces a class of BAML's client and builds the object with the real field names.

    BAML sets an absent optional field to null, so nulls are left out.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def model_validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {self.names[name]: value for name, value in fields.items() if value is not None}
