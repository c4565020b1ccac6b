"""Reads entries of the Berkeley Function Calling Leaderboard: one `{id, question, function}` per line.

The expected answers are in a second file: `possible_answer/<the same name>`, or `possible_answer_<name>` in
the same folder. Each line of this file is `{id, ground_truth: [{function: {parameter: [accepted values]}}]}`.
The value `""` means that the parameter may be left out. If an accepted value is an object, each of its fields
has a list of accepted values. Type names are those of Python. A dot in a function name becomes `_`, as in
BFCL itself, because some providers allow no dots. Entries with several turns need BFCL's simulated APIs, and
entries for Java and JavaScript expect literals of these programming languages. Such entries cannot become
tasks. Irrelevance entries expect no tool call.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from callgauge.trials.planning.foreign_tasks.chat import read_messages
from callgauge.trials.planning.foreign_tasks.records import ForeignRecord, ForeignTaskError, read_records

_TYPES = {
    "dict": "object", "float": "number", "double": "number", "tuple": "array", "list": "array",
    "bool": "boolean",
}  # fmt: skip
_VALUES = ("default", "enum", "const", "examples")
_OTHER_LANGUAGE = re.compile(r"(?:simple_)?(java|javascript)_")
_IRRELEVANT = re.compile(r"(?:live_)?irrelevance_")
_MOST_READINGS = 1_000  # The maximum number of combinations of one accepted object.


def is_entry(record: Mapping[str, Any]) -> bool:
    return "question" in record and "function" in record


def read_answers(path: Path) -> dict[str, Any]:
    """Return the expected answers by entry id. Return {} when the second file does not exist.

    Raises ForeignTaskError, whose message names the second file.
    """
    for beside in (path.parent / "possible_answer" / path.name, path.parent / f"possible_answer_{path.name}"):
        if beside.is_file():
            try:
                return {
                    str(record.value.get("id")): record.value.get("ground_truth")
                    for record in read_records(beside)
                }
            except ForeignTaskError as problem:
                where = f"{beside}:{problem.line}" if problem.line else str(beside)
                raise ForeignTaskError(f"{where}: {problem.message}", advice=problem.advice) from None
    return {}


def read_entry(record: ForeignRecord, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the task that an entry describes. Raises ForeignTaskError."""
    entry = record.value
    name = str(entry.get("id") or f"line-{record.line}")
    if (other := _OTHER_LANGUAGE.match(name)) is not None:
        raise ForeignTaskError(f"its answers are literals of {other[1].capitalize()}, which no check reads")
    question, functions = entry["question"], entry["function"]
    if not isinstance(question, list) or not isinstance(functions, list):
        raise ForeignTaskError("question or function is not a list")
    if len(question) != 1:
        raise ForeignTaskError("an entry of several turns is played against BFCL's simulated APIs")
    line: dict[str, Any] = {
        "id": name,
        "input": read_messages(question[0]),
        "definitions": [_read_function(function) for function in functions],
    }
    if _IRRELEVANT.match(name):
        return line | {"expect": {"no_call": True}}
    if answers.get(name) is not None:
        line["expect"] = {"calls": _read_truth(answers[name]), "loose": True}
    return line


def _read_function(function: Any) -> dict[str, Any]:
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ForeignTaskError("a function has no name")
    return {
        "name": _clean_name(function["name"]),
        "description": str(function.get("description") or ""),
        "parameters": _read_schema(function.get("parameters") or {"type": "object", "properties": {}}),
    }


def _clean_name(name: str) -> str:
    return name.replace(".", "_")


def _read_schema(value: Any) -> Any:
    """Return a schema with the type names of JSON Schema. BFCL's type `any` becomes a schema without type."""
    if isinstance(value, list):
        return [_read_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = {name: member if name in _VALUES else _read_schema(member) for name, member in value.items()}
    kind = value.get("type")
    if isinstance(kind, str):  # The value is an object when a parameter is named `type`.
        if kind.lower() == "any":
            del read["type"]
        else:
            read["type"] = _TYPES.get(kind, kind)
    return read


def _read_truth(truth: Any) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    for call in truth if isinstance(truth, list) else [truth]:
        if not isinstance(call, dict) or len(call) != 1:
            raise ForeignTaskError("a ground truth is not of the form {function: {parameter: [values]}}")
        ((name, parameters),) = call.items()
        if not isinstance(parameters, dict) or not all(
            isinstance(values, list) for values in parameters.values()
        ):
            raise ForeignTaskError(f"the ground truth of {name} has no list of values for each parameter")
        accepted = {
            parameter: [reading for value in values for reading in _list_readings(value)]
            for parameter, values in parameters.items()
        }
        calls.append({_clean_name(name): accepted})
    return calls


def _list_readings(value: Any) -> Iterator[Any]:
    """Yield every concrete value that an accepted value stands for. Each field of an accepted object lists
    several values.
    """
    if isinstance(value, dict):
        names = list(value)
        fields = [list(_list_field(value[name])) for name in names]
        for chosen in _combine(fields):
            yield {name: choice for name, choice in zip(names, chosen, strict=True) if choice is not _ABSENT}
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from map(list, _combine([list(_list_readings(item)) for item in value]))
    else:
        yield value


_ABSENT = object()


def _list_field(values: Any) -> Iterator[Any]:
    for value in values if isinstance(values, list) else [values]:
        if value == "":
            yield _ABSENT
        else:
            yield from _list_readings(value)


def _combine(choices: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    if math.prod(map(len, choices)) > _MOST_READINGS:
        raise ForeignTaskError(f"an accepted object has more than {_MOST_READINGS:,} values")
    return itertools.product(*choices)
