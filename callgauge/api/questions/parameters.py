"""Declares the parameters of questions, and reads them from URLs and tool arguments.

Unknown names are errors. If a misspelled filter were ignored, the numbers would be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from callgauge.api.questions.problems import ProblemError, refuse_name

Kind = Literal["text", "texts", "day", "integer", "number", "flag"]
Given = Mapping[str, Sequence[str]]
"""The received texts by parameter name. A repeated name has several texts."""
_LONGEST = 4_000  # A value has at most this many characters.
_MOST = 200  # A parameter has at most this many values.
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a question.

    `kind` is the type. A parameter of the type `texts` may occur several times. `choices` are the allowed
    values. `low` and `high` limit a number. `default` replaces a missing value. `is_in_path` means that the
    value is a segment of the URL path.
    """

    name: str
    kind: Kind
    about: str
    choices: tuple[str, ...] = ()
    default: Any = None
    low: float | None = None
    high: float | None = None
    is_required: bool = False
    is_in_path: bool = False
    longest: int = _LONGEST

    def read(self, values: Sequence[str]) -> Any:
        """Convert the received strings to the parameter's value. Raises ProblemError."""
        if len(values) > _MOST:
            raise ProblemError(400, f"{self.name} was given {len(values)} times; at most {_MOST} are read.")
        if self.kind != "texts" and len(values) > 1:
            raise ProblemError(400, f"{self.name} takes one value; it was given {len(values)} times.")
        for value in values:
            self._check_text(value)
        return tuple(values) if self.kind == "texts" else self._read_value(values[0])

    def _check_text(self, value: str) -> None:
        if len(value) > self.longest:
            raise ProblemError(400, f"{self.name} has {len(value):,} characters; {self.longest:,} are read.")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise ProblemError(400, f"{self.name} contains a NUL or half of a character.")
        if self.choices and value not in self.choices:
            raise refuse_name(self.name, value, self.choices)

    def _read_value(self, value: str) -> Any:
        try:
            if self.kind == "day":
                return date.fromisoformat(value)
            if self.kind == "flag":
                return self._read_flag(value)
            if self.kind in ("integer", "number"):
                return self._read_number(value)
        except ValueError:
            raise ProblemError(400, f"{self.name}={value[:40]!r} is not a {_WORDS[self.kind]}.") from None
        return value

    def _read_flag(self, value: str) -> bool:
        if value.lower() in (*_TRUE, *_FALSE):
            return value.lower() in _TRUE
        raise ValueError(value)

    def _read_number(self, value: str) -> float:
        number = int(value) if self.kind == "integer" else float(value)
        if number != number:
            raise ValueError(value)
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise ProblemError(400, f"{self.name} is a number from {self.low:g} to {self.high:g}.")
        return number

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the value for OpenAPI and tool definitions."""
        item_schema: dict[str, Any] = {"type": _TYPES[self.kind]}
        if self.kind == "day":
            item_schema["format"] = "date"
        if self.choices:
            item_schema["enum"] = list(self.choices)
        if self.low is not None:
            item_schema["minimum"] = self.low
        if self.high is not None:
            item_schema["maximum"] = self.high
        schema = {"type": "array", "items": item_schema} if self.kind == "texts" else item_schema
        return schema if self.default is None else {**schema, "default": _to_plain(self.default)}


_WORDS = {
    "day": "date; use 2026-11-09",
    "flag": "boolean; use true or false",
    "integer": "whole number",
    "number": "number",
}
_TYPES = {
    "text": "string",
    "texts": "string",
    "day": "string",
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
}


def _to_plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def read_parameters(declared: Sequence[Parameter], query: Given) -> dict[str, Any]:
    """Return the value of each declared parameter, or its default. Raises ProblemError."""
    by_name = {parameter.name: parameter for parameter in declared}
    for name in query:
        if name not in by_name:
            raise refuse_name("parameter", name, by_name)
    parameters: dict[str, Any] = {}
    for name, parameter in by_name.items():
        values = [value for value in query.get(name, ()) if value != ""]
        if not values and parameter.is_required:
            raise ProblemError(400, f"{name} is needed: {parameter.about}")
        parameters[name] = parameter.read(values) if values else parameter.default
    return parameters


def write_texts(arguments: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return tool arguments as the strings of a URL query. Raises ProblemError.

    Accepts a number as a string, and a single value instead of a list, because models send such arguments.
    """
    return {
        name: [_write_text(name, each) for each in (value if isinstance(value, list) else [value])]
        for name, value in arguments.items()
        if value is not None
    }


def _write_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ProblemError(400, f"{name} is a {type(value).__name__}; use a string, a number or a list of them.")
