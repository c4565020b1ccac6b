"""Reads TOML files and knows the line of each mistake. `tomllib` reports lines only for syntax errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from callgauge.checked_files.field_types import UNREAD, KeyedTable
from callgauge.checked_files.file_problems import KeyPath, Mistake, Problem, read_text, write_key

_MOST_BYTES = 4 << 20
_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_TEXT = re.compile(
    r'"""(?:[^"\\]|\\.|""?(?!"))*"{3,5}'
    r"|'''(?:[^']|''?(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)


class TomlReading:
    """A file that is being read: the content, and the mistakes found so far.

    `what` describes the kind of file for messages. Example: `TomlReading(path, "a plan, a TOML file as
    docs/trials.md shows it")`.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self.text = ""
        self.lines: dict[KeyPath, int] = {}
        self.mistakes: list[Mistake] = []

    def problems(self) -> list[Problem]:
        """Return the mistakes, sorted by line."""
        problems = [
            Problem(self.path, find_line(self.lines, each.key), write_key(each.key), each.what, each.advice)
            for each in self.mistakes
        ]
        return sorted(problems, key=lambda problem: problem.line or 0)

    def note(self, key: KeyPath, what: str, advice: str) -> None:
        self.mistakes.append(Mistake(key, what, advice))

    def read_table(self, table: KeyedTable, defaults: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the valid values of the file by key. Return None when the TOML is invalid.

        `defaults` holds the tables that the file may omit, by key.
        """
        try:
            self.text = read_text(self.path, _MOST_BYTES)
            decoded = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as problem:
            self._note_syntax(str(problem))
            return None
        except RecursionError:
            self.note((), "is nested too deeply", f"name {self.what}")
            return None
        except ValueError as problem:
            self.note((), str(problem), f"name {self.what}")
            return None
        self.lines = find_key_lines(self.text)
        values: Mapping[str, Any] = _drop_unread(table.read({**defaults, **decoded}, (), self.mistakes))
        return values

    def _note_syntax(self, message: str) -> None:
        place = _SYNTAX_PLACE.search(message)
        self.lines[("",)] = int(place[1]) if place and place[1] else self.text.count("\n") + 1
        self.note(("",), f"invalid TOML: {_SYNTAX_PLACE.sub('', message)}", "correct this line")


def _drop_unread(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: _drop_unread(value) for name, value in values.items() if value is not UNREAD}
    return values


def find_key_lines(text: str) -> dict[KeyPath, int]:
    """Return for each key of a TOML file the line where the key first occurs. Lines count from 1.

    If the TOML is invalid, the result is incomplete.
    """
    finder = _KeyLines(text)
    with suppress(IndexError, ValueError, RecursionError):
        finder.read_document()
    return finder.lines


def find_line(lines: dict[KeyPath, int], key: KeyPath) -> int | None:
    """Return the line of a key, or else of the innermost table that contains the key.

    Return None if neither line is known.
    """
    return next((lines[key[:end]] for end in range(len(key), 0, -1) if key[:end] in lines), None)


class _KeyLines:
    """Scans the content of a TOML file. `at` is the position of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.line = 1
        self.counted = 0  # `line` includes the newlines before this position
        self.lines: dict[KeyPath, int] = {}
        self.tables: dict[KeyPath, int] = {}  # for each array of tables, the index of its last table

    def read_document(self) -> None:
        table: KeyPath = ()
        while True:
            self.skip_blank()
            if self.at >= len(self.text):
                return
            if self.text.startswith("[", self.at):
                table = self.read_header()
            else:
                self.read_pair(table)

    def skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def read_header(self) -> KeyPath:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path: KeyPath = ()
        names = self.read_key()
        for number, (name, line) in enumerate(names):
            path = (*path, name)
            is_last = number == len(names) - 1
            if is_array and is_last:
                self.lines.setdefault(path, line)
                self.tables[path] = self.tables.get(path, -1) + 1
            if path in self.tables:
                path = (*path, self.tables[path])
            self.lines.setdefault(path, line)
        self.skip_blank()
        self.at += 2 if is_array else 1
        return path

    def read_key(self) -> list[tuple[str, int]]:
        """Read a dotted key and return the names in the key, each with its line."""
        names = []
        while True:
            self.skip_blank()
            line = self.count_line()
            quoted = _TEXT.match(self.text, self.at)
            match = quoted or _BARE.match(self.text, self.at)
            if match is None:
                raise ValueError
            name = tomllib.loads(f"name = {match[0]}")["name"] if quoted else match[0]
            names.append((name, line))
            self.at = match.end()
            self.skip_blank()
            if not self.text.startswith(".", self.at):
                return names
            self.at += 1

    def read_pair(self, table: KeyPath) -> None:
        path = table
        for name, line in self.read_key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.at = self.text.index("=", self.at) + 1
        self.read_value(path)

    def read_value(self, path: KeyPath) -> None:
        self.skip_blank()
        if self.text[self.at] == "{":
            self.read_items("}", lambda _number: self.read_pair(path))
        elif self.text[self.at] == "[":
            self.read_items("]", lambda number: self.read_item((*path, number)))
        else:
            match = _TEXT.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            if match is None:
                raise ValueError
            self.at = match.end()

    def read_item(self, path: KeyPath) -> None:
        self.skip_blank()
        self.lines.setdefault(path, self.count_line())
        self.read_value(path)

    def read_items(self, end: str, read_item: Callable[[int], None]) -> None:
        """Read comma-separated items between brackets."""
        self.at += 1
        number = 0
        while True:
            self.skip_blank()
            if self.text[self.at] == end:
                self.at += 1
                return
            read_item(number)
            number += 1
            self.skip_blank()
            if self.text[self.at] == ",":
                self.at += 1

    def count_line(self) -> int:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.line
