"""Tests that the OpenAPI document, its references and its schemas are valid."""

from __future__ import annotations

import json
import re
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from callgauge.api.openapi import make_document

TEXT, OBJECT = {"type": "string", "minLength": 1}, {"type": "object"}
PARAMETER = {
    "type": "object",
    "required": ["name", "in", "schema"],
    "properties": {
        "name": TEXT,
        "in": {"enum": ["query", "path", "header", "cookie"]},
        "description": TEXT,
        "required": {"type": "boolean"},
        "schema": OBJECT,
        "style": {"const": "form"},
        "explode": {"type": "boolean"},
    },
    "additionalProperties": False,
    # A parameter in a path is always required (OpenAPI 3.1, Parameter Object).
    "if": {"properties": {"in": {"const": "path"}}},
    "then": {"required": ["required"], "properties": {"required": {"const": True}}},
}
RESPONSE = {
    "type": "object",
    "required": ["description"],
    "properties": {
        "description": TEXT,
        "content": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]+/[a-z.+-]+$"},
            "additionalProperties": {
                "type": "object",
                "required": ["schema"],
                "properties": {"schema": OBJECT},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
OPERATION = {
    "type": "object",
    "required": ["operationId", "summary", "responses"],
    "properties": {
        "operationId": {"type": "string", "pattern": "^\\w+$"},
        "summary": TEXT,
        "description": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "parameters": {"type": "array", "items": PARAMETER, "uniqueItems": True},
        "responses": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": "^([1-5][0-9X]{2}|default)$"},
            "additionalProperties": RESPONSE,
        },
    },
    "additionalProperties": False,
}
DOCUMENT = {
    "type": "object",
    "required": ["openapi", "info", "paths"],
    "properties": {
        "openapi": {"pattern": "^3\\.1\\.\\d+$"},
        "info": {"type": "object", "required": ["title", "version"], "additionalProperties": TEXT},
        "servers": {"type": "array", "items": {"type": "object", "required": ["url"]}},
        "security": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array"}}},
        "tags": {"type": "array", "items": {"type": "object", "required": ["name"]}},
        "paths": {
            "type": "object",
            "propertyNames": {"pattern": "^/"},
            "additionalProperties": {
                "type": "object",
                "properties": {"get": OPERATION},
                "additionalProperties": False,
            },
        },
        "components": {
            "type": "object",
            "propertyNames": {"enum": ["schemas", "securitySchemes"]},
        },
    },
    "additionalProperties": False,
}
"""This schema allows only the parts of the OpenAPI 3.1 specification that the document uses."""


def values_of(key: str, value: Any) -> list[Any]:
    """Return the values of all keys with this name, at any depth of a document."""
    if isinstance(value, dict):
        own = [value[key]] if key in value else []
        return own + [item for each in value.values() for item in values_of(key, each)]
    return [item for each in value for item in values_of(key, each)] if isinstance(value, list) else []


def test_the_document_is_valid() -> None:
    document = json.loads(json.dumps(make_document()))
    Draft202012Validator.check_schema(DOCUMENT)
    assert [error.message for error in Draft202012Validator(DOCUMENT).iter_errors(document)] == []
    for schema in (*values_of("schema", document), *document["components"]["schemas"].values()):
        Draft202012Validator.check_schema(schema)
    for reference in values_of("$ref", document):
        place: Any = document
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]
    ids = values_of("operationId", document)
    assert len(ids) == len(set(ids)) > 90
    schemes = document["components"]["securitySchemes"]
    assert all(name in schemes for scheme in document["security"] for name in scheme)


def test_each_part_of_an_address_is_a_parameter_and_none_is_named_twice() -> None:
    for path, item in make_document()["paths"].items():
        parameters = item["get"].get("parameters", ())
        in_path = {parameter["name"] for parameter in parameters if parameter["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path))
        assert len(parameters) == len({parameter["name"] for parameter in parameters}), path
