"""Tests tool definitions that are made from Python functions, methods and classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal, Required, TypedDict

import pytest

from lenient import ToolDefinition, ToolDefinitionError, parse_arguments


class Colour(Enum):
    RED = "red"


def search_files(
    pattern: str,
    depth: int = 3,
    *,
    tags: list[str] | None = None,
    mode: Literal["fast", "exact"] = "fast",
    colour: Colour = Colour.RED,
    since: Annotated[datetime | None, "not before"] = None,
    weights: dict[str, float] | None = None,
) -> None:
    """Search the files of the workspace.

    Args:
        pattern: a glob pattern
        depth: how deep to look
    """


def test_a_function_is_a_definition() -> None:
    tool = ToolDefinition.from_function(search_files)
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    assert (tool.name, tool.description) == ("search_files", "Search the files of the workspace.")
    assert {name for name, parameter in parameters.items() if parameter.required} == {"pattern"}
    assert parameters["pattern"].description == "a glob pattern"
    assert parameters["depth"].default == 3
    request = parse_arguments(
        '{"pattern": "*.py", "depth": "2", "mode": "FAST", "weights": {"a": "1"}}', tool
    )
    assert request.arguments == {"pattern": "*.py", "depth": 2, "mode": "fast", "weights": {"a": 1}}
    filled = parse_arguments('{"pattern": "*.py"}', tool).with_defaults()
    assert filled.arguments == {
        "pattern": "*.py",
        "depth": 3,
        "tags": None,
        "mode": "fast",
        "colour": "red",
        "since": None,
        "weights": None,
    }


def test_a_method_has_no_self() -> None:
    class Box:
        def open(self, key: str) -> None: ...

    assert [parameter.name for parameter in ToolDefinition.from_function(Box().open).parameters] == ["key"]


def google(a: int, b: str = "x", *args: int, **rest: int) -> None:
    """Do a thing.

    More of it
    here.

    Args:
        a (int): the first
            goes on: here
        b: the second
        *args: are no parameter

    Returns:
        Nothing: at all
    """


def numpy(a: int, b: str = "x", **rest: int) -> None:
    """Do a thing.

    More of it
    here.

    Parameters
    ----------
    a : int
        the first
        goes on: here
    b : str, optional
        the second

    Returns
    -------
    None
    """


def sphinx(a: int, b: str = "x", **rest: int) -> None:
    """Do a thing.

    More of it
    here.

    :param a: the first
      goes on: here
    :param str b: the second
    :type b: str
    :returns: nothing
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_every_style_of_docstring_says_the_same(function: Callable[..., None]) -> None:
    tool = ToolDefinition.from_function(function)
    assert tool.description == "Do a thing.\n\nMore of it here."
    assert tool.to_json_schema() == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "the first goes on: here"},
            "b": {"type": "string", "description": "the second", "default": "x"},
        },
        "required": ["a"],
        "additionalProperties": {"type": "integer"},
    }


class Options(TypedDict, total=False):
    depth: Required[int]
    label: str


@dataclass
class Range:
    low: int
    high: int = 9
    tags: list[str] = field(default_factory=list)
    colour: Colour = Colour.RED


@dataclass
class Tree:
    left: Tree | None
    right: Tree | None


class Model:
    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {
            "type": "object", "description": "A model.", "properties": {"n": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"type": "integer"}},
        }  # fmt: skip


HINTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": (str, {"type": "string"}),
    "optional": (int | None, {"type": ["integer", "null"]}),
    "union": (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    "anything in a union": (int | Any, {}),
    "literal": (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    "mixed literal": (Literal["a", 1], {"enum": ["a", 1]}),
    "optional literal": (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}),
    "enum": (Colour, {"type": "string", "enum": ["red"]}),
    "annotated": (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    "set": (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    "pair": (
        tuple[int, str],
        {
            "type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2, "maxItems": 2,
        },
    ),
    "tuple of any length": (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    "map": (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    "typed dict": (
        Options,
        {
            "type": "object",
            "properties": {"depth": {"type": "integer"}, "label": {"type": "string"}},
            "required": ["depth"],
        },
    ),
    "dataclass": (
        Range,
        {
            "type": "object",
            "properties": {
                "low": {"type": "integer"},
                "high": {"type": "integer", "default": 9},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                "colour": {"type": "string", "enum": ["red"], "default": "red"},
            },
            "required": ["low"],
        },
    ),
    "a class that holds itself": (
        Tree,
        {
            "type": "object",
            "properties": {"left": {"type": ["object", "null"]}, "right": {"type": ["object", "null"]}},
            "required": ["left", "right"],
        },
    ),
    "a name that means nothing": ("Nowhere", {}),
}  # fmt: skip


@pytest.mark.parametrize(("hint", "schema"), HINTS.values(), ids=HINTS)
def test_a_hint_is_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    def function(value: Any, known: int) -> None: ...

    function.__annotations__ = {"value": hint, "known": int}
    properties = ToolDefinition.from_function(function).to_json_schema()["properties"]
    assert properties == {"value": schema, "known": {"type": "integer"}}


class Tools:
    @classmethod
    def of_class(cls, key: int) -> None: ...

    @staticmethod
    def static(key: int) -> None: ...

    def method(self, key: int) -> None: ...

    def __call__(self, key: int) -> None: ...


def two(first: str, key: int) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        Tools.of_class, Tools.static, Tools.method, Tools().method, Tools(), Tools.__dict__["of_class"],
        Tools.__dict__["static"], functools.partial(two, "x"),
    ],
)  # fmt: skip
def test_what_binding_fills_in_is_no_parameter(function: Callable[..., None]) -> None:
    schema = ToolDefinition.from_function(function).to_json_schema()
    assert schema["properties"] == {"key": {"type": "integer"}}
    assert schema["required"] == ["key"]


def test_a_class_that_knows_its_schema_is_asked_for_it() -> None:
    def function(model: Model) -> None: ...

    tool = ToolDefinition.from_function(function)
    assert parse_arguments('{"model": {"n": "3"}}', tool).arguments == {"model": {"n": 3}}
    assert ToolDefinition.from_function(Model).description == "A model."


def test_what_cannot_be_called_gets_one_sentence() -> None:
    with pytest.raises(ToolDefinitionError, match="no signature"):
        ToolDefinition.from_function(5)  # type: ignore[arg-type]  # that is the point
