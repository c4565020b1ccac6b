"""Edits the definition of one tool inside a JSON text, and keeps everything else in the text unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from callgauge.analysis.replay.definition_edits import Path, are_equal
from callgauge.analysis.replay.fix_results import DefinitionChange, DefinitionFix, ToolFixes

_SCHEMA_KEYS = (
    "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema",
    "args_schema",
)  # fmt: skip
_BLANKS = re.compile(r"[ \t\r\n]*")
_INLINE = 70  # maximum number of characters of a list or an object that is written on one line
_DECODER = json.JSONDecoder()


class FileEditError(Exception):
    """Raised when a text cannot be edited. The message is one sentence without the name of the file."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edited text.

    `applied` and `unfit` hold the edits that were made, and the edits that do not fit the definition in the
    text. `differs` is True if the definition in the text is not the newest definition in the store.
    """

    text: str
    applied: tuple[DefinitionFix, ...]
    unfit: tuple[DefinitionFix, ...]
    differs: bool


def edit_text(text: str, result: ToolFixes, default_name: str) -> FileEdit:
    """Return the text after the edits of `result`.

    `default_name` is the name of a plain JSON Schema without a title. Raises FileEditError if the text is not
    JSON, or does not define the tool once.
    """
    applied, unfit = [], []
    tool = _ToolText(text, result.tool, default_name)
    differs = _differs(tool, result)
    for fix in result.fixes:
        edited: _ToolText | None = tool
        for change in fix.changes:
            edited = edited.apply(change) if edited else None
        if edited is None:
            unfit.append(fix)
        else:
            applied.append(fix)
            tool = edited
    return FileEdit(tool.text, tuple(applied), tuple(unfit), differs)


def _differs(tool: _ToolText, result: ToolFixes) -> bool:
    declared, schema = tool.read(tool.declared), tool.read(tool.schema)
    description = declared.get("description", result.schema.get("description", ""))
    if tool.declared == tool.schema:  # a plain JSON Schema also has the name and the description of the tool
        added = {"title", "description"} - result.schema.keys()
        schema = {key: value for key, value in schema.items() if key not in added}
    return not are_equal(schema, result.schema) or description != result.description


class _Span(NamedTuple):
    """The place of a JSON value: text[value:end]. `start` is where its key starts, or equals `value`."""

    start: int
    value: int
    end: int


class _ToolText:
    """A JSON text that defines a tool. `declared` and `schema` are the paths of its definition."""

    def __init__(self, text: str, name: str, default_name: str) -> None:
        """Raises FileEditError."""
        self.text = text
        self._names = name, default_name
        self._spans: dict[Path, _Span] = {}
        try:
            self._document = json.loads(text)
            start = _skip(text, 0)
            _find_spans(text, start, start, (), self._spans)
        except json.JSONDecodeError as error:
            raise FileEditError(f"it is not JSON (line {error.lineno}: {error.msg})") from None
        except RecursionError:
            raise FileEditError("it is not JSON (it is nested too deeply)") from None
        self.declared, self.schema = _find_tool(self._document, name, default_name)

    def read(self, path: Path) -> Any:
        """Return the value at a path of the document. Raises LookupError and TypeError."""
        return reduce(getitem, path, self._document)

    def apply(self, change: DefinitionChange) -> _ToolText | None:
        """Return the text after a change, or None if the change does not fit."""
        *above, key = change.path
        path = (*self.schema, *above[1:]) if above else self.declared
        try:
            parent = self.read(path)
        except (LookupError, TypeError):
            return None
        kind: Any = list if isinstance(key, int) else dict
        if not isinstance(parent, kind):
            return None
        siblings: list[str | int] = [*(parent if isinstance(parent, dict) else range(len(parent)))]
        if isinstance(key, int) and not change.before:
            key = len(parent)
        if not are_equal((parent[key],) if key in siblings else (), change.before):
            return None
        if not change.before:
            edited = self._insert(path, siblings, key, change.after[0])
        elif change.after:
            _, start, end = self._spans[(*path, key)]
            edited = self.text[:start] + self._write(change.after[0], start) + self.text[end:]
        else:
            edited = self._remove(path, siblings, key)
        return _ToolText(edited, *self._names)

    def _insert(self, path: Path, keys: Sequence[str | int], key: str | int, value: Any) -> str:
        """Return the text with a new last value of an object or a list."""
        text, siblings = self.text, [self._spans[(*path, each)] for each in keys]
        start = self._spans[path].value
        if not siblings:
            position, blanks = start + 1, ""
        elif len(siblings) == 1:
            position, before = siblings[0].end, text[start + 1 : siblings[0].start]
            blanks = f",{before or ' '}" if isinstance(key, int) else f",{before}"
        else:
            position, comma = siblings[-1].end, _skip(text, siblings[-2].end)
            blanks = text[comma : siblings[-1].start]
        name = "" if isinstance(key, int) else f"{self._write(key)}{self._colon}"
        return text[:position] + blanks + name + self._write(value, position, blanks) + text[position:]

    def _remove(self, path: Path, keys: Sequence[str | int], key: str | int) -> str:
        """Return the text without a member of an object."""
        text, number = self.text, keys.index(key)
        _, start, end = self._spans[path]
        member = self._spans[(*path, key)]
        if number:
            return text[: self._spans[(*path, keys[number - 1])].end] + text[member.end :]
        if len(keys) > 1:
            return text[: member.start] + text[self._spans[(*path, keys[1])].start :]
        return text[: start + 1] + text[end - 1 :]

    @property
    def _colon(self) -> str:
        """The colon between keys and values with the blank that the text uses."""
        match = re.search(r'"[ \t]*:([ \t]*)', self.text)
        return ":" if match and not match[1] else ": "

    def _write(self, value: Any, position: int = 0, blanks: str = "") -> str:
        """Return a value as JSON in the style of the text around a position."""
        text = self.text
        is_ascii = text.isascii() and "\\u" in text  # the text writes other characters as escapes
        is_compact = self._colon == ":"
        separators = (",", ":") if is_compact else (", ", ": ")
        inline = json.dumps(value, ensure_ascii=is_ascii, separators=separators)
        if is_compact or "\n" not in text or len(inline) <= _INLINE or isinstance(value, str):
            return inline
        step = re.search(r"\n([ \t]+)\S", text)
        line = text[text.rfind("\n", 0, position) + 1 : position]
        indent = blanks.rpartition("\n")[2] if "\n" in blanks else line[: len(line) - len(line.lstrip())]
        written = json.dumps(value, ensure_ascii=is_ascii, indent=step[1] if step else 2)
        return written.replace("\n", ("\r\n" if "\r\n" in text else "\n") + indent)


def _find_spans(text: str, start: int, value: int, path: Path, spans: dict[Path, _Span]) -> int:
    """Add the places of a value and of the values in it to `spans`. Return the end of the value."""
    if text[value] not in "{[":
        end = _DECODER.raw_decode(text, value)[1]
    else:
        key: str | int
        number, end = 0, _skip(text, value + 1)
        while text[end] not in "}]":
            key = number
            inner = end
            if text[value] == "{":
                key, end = _DECODER.raw_decode(text, end)
                end = _skip(text, _skip(text, end) + 1)
            end = _skip(text, _find_spans(text, inner, end, (*path, key), spans))
            number += 1
            if text[end] == ",":
                end = _skip(text, end + 1)
        end += 1
    spans[path] = _Span(start, value, end)
    return end


def _skip(text: str, position: int) -> int:
    """Return the position after blanks."""
    match = _BLANKS.match(text, position)
    return match.end() if match else position


# --- the tool in the text ------------------------------------------------------------------------------


def _find_tool(document: Any, name: str, default_name: str) -> tuple[Path, Path]:
    """Return the paths of the declaration of a tool and of its schema. Raises FileEditError."""
    places = list(_list_tools(document, (), name))
    if not places and default_name == name and isinstance(document, dict) and "properties" in document:
        places = [((), ())]
    if not places:
        raise FileEditError(f"it has no tool {name!r}")
    if len(places) > 1:
        raise FileEditError(f"it defines the tool {name!r} {len(places)} times")
    [(declared, schema)] = places
    if not isinstance(reduce(getitem, schema, document), dict):
        raise FileEditError(f"the parameters of the tool {name!r} are not a JSON object")
    return declared, schema


def _list_tools(value: Any, path: Path, name: str) -> Iterator[tuple[Path, Path]]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _list_tools(item, (*path, number), name)
    if not isinstance(value, dict):
        return
    schema = _find_schema(value)
    if schema and value.get("name") == name:
        yield path, (*path, *schema)
    elif not schema and "properties" in value:
        if value.get("title") == name:
            yield path, path
    elif not schema:
        for key, inner in value.items():
            below = (*path, key)
            if key == name and isinstance(inner, dict) and "name" not in inner:
                own = _find_schema(inner)
                if own or "properties" in inner:
                    yield below, (*below, *own)
                    continue
            yield from _list_tools(inner, below, name)


def _find_schema(value: Mapping[str, Any]) -> Path:
    """Return the keys under which a declaration has its schema. They are empty if it has none."""
    key = next((key for key in _SCHEMA_KEYS if key in value), None)
    if key is None:
        return ()
    schema = value[key]  # Bedrock puts the schema under the key `json`
    return (key, "json") if isinstance(schema, dict) and list(schema) == ["json"] else (key,)
