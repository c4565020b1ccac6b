"""Reads the records of a data set with their line numbers, from JSON Lines, JSON, YAML or CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_LEAVE_OUT = "leave it out, or write it as a task of ours (docs/trials.md)"
_MEND = "fix the file"
MOST_BYTES = 256 * 1024 * 1024


class ForeignTaskError(Exception):
    """Raised for a mistake in a task file of another evaluation program. The message says what to do.

    `line` counts from 1. It is None for a mistake of the whole file.
    """

    def __init__(self, message: str, line: int | None = None, *, advice: str = _LEAVE_OUT) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.advice = advice


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One object of a file, and the line on which it begins."""

    line: int
    value: dict[str, Any]


def read_records(path: Path) -> list[ForeignRecord]:
    """Return the objects of a file, in order. Each item of a list or of a `tests:` list is one object.

    Raises ForeignTaskError.
    """
    text = read_text(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return list(_read_csv(text, "\t" if path.suffix.lower() == ".tsv" else ","))
    is_json = text.lstrip()[:1] in ("{", "[")
    values = list(_read_json(text)) if is_json else _read_yaml(text)
    wrong = next((line for line, value in values if not isinstance(value, dict)), None)
    if wrong is not None:
        raise ForeignTaskError("a task must be an object", wrong)
    return [ForeignRecord(line, value) for line, value in values]


def read_first_record(path: Path) -> dict[str, Any]:
    """Return the first object of a JSON file, or of the JSON list in the file. Raises ForeignTaskError if
    there is no object.
    """
    text = read_text(path)
    at = _skip_blank(text, 0)
    if text[at : at + 1] == "[":
        at = _skip_blank(text, at + 1)
    if text[at : at + 1] != "{":
        raise ForeignTaskError("it begins with no object")
    value: dict[str, Any] = _decode(text, at)[0]
    return value


def read_text(path: Path) -> str:
    """Return the content of a file as a string. Raises ForeignTaskError."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ForeignTaskError(f"it is larger than {MOST_BYTES >> 20} MB", advice="split it")
        data = path.read_bytes()
    except OSError as problem:
        raise ForeignTaskError(f"it cannot be read: {problem.strerror}", advice="name another file") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise ForeignTaskError("the text is not UTF-8", line, advice=_MEND) from None


def _read_json(text: str) -> Iterator[tuple[int, Any]]:
    lines = _LineCounter(text)
    at = _skip_blank(text, 0)
    if text[at] != "[":
        while at < len(text):
            line = lines.find(at)
            value, at = _decode(text, at)
            yield line, value
            at = _skip_blank(text, at)
        return
    at = _skip_blank(text, at + 1)
    while text[at : at + 1] != "]":
        line = lines.find(at)
        value, at = _decode(text, at)
        yield line, value
        at = _skip_blank(text, at)
        if text[at : at + 1] == ",":
            at = _skip_blank(text, at + 1)
        elif text[at : at + 1] != "]":
            raise ForeignTaskError(
                "the list continues without a comma, or does not end", lines.find(at), advice=_MEND
            )
    if text[at + 1 :].strip():
        raise ForeignTaskError(
            "something follows after the list", lines.find(_skip_blank(text, at + 1)), advice=_MEND
        )


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as problem:
        raise ForeignTaskError(f"this is not JSON: {problem.msg}", problem.lineno, advice=_MEND) from None
    except RecursionError:
        raise ForeignTaskError("it is nested too deep", text.count("\n", 0, at) + 1) from None


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


class _LineCounter:
    """Returns the line number of a position in a string.

    Each position must be after the previous position.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text, 0, 1

    def find(self, at: int) -> int:
        self.line += self.text.count("\n", self.at, at)
        self.at = at
        return self.line


def _read_yaml(text: str) -> list[tuple[int, Any]]:
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else None
        raise ForeignTaskError(f"this is not YAML: {problem.problem}", line, advice=_MEND) from None
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise ForeignTaskError(f"this is not YAML: {problem}", advice=_MEND) from None
    if isinstance(value, list) and isinstance(node, yaml.SequenceNode):
        return [(item.start_mark.line + 1, record) for item, record in zip(node.value, value, strict=True)]
    if isinstance(value, dict) and isinstance(node, yaml.MappingNode):
        return [(node.start_mark.line + 1, {**value, **_mark_tests(node)})]
    raise ForeignTaskError("it has neither a list of tasks nor an object with tasks", 1)


TEST_LINES = "\0lines of tests"
"""The key of a YAML document under which the line numbers of its `tests` are stored."""


def _mark_tests(node: yaml.MappingNode) -> dict[str, list[int]]:
    for key, value in node.value:
        if key.value == "tests" and isinstance(value, yaml.SequenceNode):
            return {TEST_LINES: [item.start_mark.line + 1 for item in value.value]}
    return {}


def _read_csv(text: str, delimiter: str) -> Iterator[ForeignRecord]:
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 2
    try:
        for row in rows:
            if None in row:
                raise ForeignTaskError(
                    "the row has more cells than the head has columns", begins, advice=_MEND
                )
            yield ForeignRecord(
                begins, {str(name): value for name, value in row.items() if value is not None}
            )
            begins = rows.line_num + 1
    except csv.Error as problem:
        raise ForeignTaskError(f"this is not CSV: {problem}", begins, advice=_MEND) from None
