"""Reads a TOML file by its declared keys, and notes every mistake with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callgauge.checked_files.field_types import UNREAD, KeyedTable, Mistake
from callgauge.checked_files.file_problems import Problem, read_text
from callgauge.checked_files.toml_lines import KeyPath, find_key_lines, find_line, write_key

_MOST_BYTES = 4 << 20
_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class TomlReading:
    """One reading of a file: its text, and the mistakes found so far. `what`: the kind of file, for messages.

    Example: `TomlReading(path, "a plan, a TOML file as docs/trials.md shows it")`.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self.text = ""
        self.lines: dict[KeyPath, int] = {}
        self.mistakes: list[Mistake] = []

    def problems(self) -> list[Problem]:
        """Return the mistakes in the order of the file."""
        found = [
            Problem(self.path, find_line(self.lines, one.key), write_key(one.key), one.what, one.advice)
            for one in self.mistakes
        ]
        return sorted(found, key=lambda problem: problem.line or 0)

    def note(self, key: KeyPath, what: str, advice: str) -> None:
        self.mistakes.append(Mistake(key, what, advice))

    def read_table(self, table: KeyedTable, defaults: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the values of the file's keys, without those that have mistakes; None when it is no TOML.

        `defaults`: tables that the file need not have, by their key.
        """
        try:
            self.text = read_text(self.path, _MOST_BYTES)
            told = tomllib.loads(self.text)
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
        read: Mapping[str, Any] = _drop_unread(table.read({**defaults, **told}, (), self.mistakes))
        return read

    def _note_syntax(self, told: str) -> None:
        place = _SYNTAX_PLACE.search(told)
        self.lines[("",)] = int(place[1]) if place and place[1] else self.text.count("\n") + 1
        self.note(("",), f"this is no TOML: {_SYNTAX_PLACE.sub('', told)}", "correct this line")


def _drop_unread(read: Any) -> Any:
    """Return what was read without what could not be read."""
    if isinstance(read, Mapping):
        return {name: _drop_unread(value) for name, value in read.items() if value is not UNREAD}
    return read
