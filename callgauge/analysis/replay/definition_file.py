"""Edits the definition of one tool inside a JSON text, and keeps everything else in the text unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgauge.analysis.replay.definition_edits import are_equal
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
    declared, schema = _find_tool(_parse(text), result.tool, default_name)
    written = declared.members.get("description")
    present = schema.read(text)
    if declared is schema:  # a plain JSON Schema also contains the name and the description of the tool
        present = {
            key: value
            for key, value in present.items()
            if key in result.schema or key not in ("title", "description")
        }
    description = written.value.scalar if written else result.schema.get("description", "")
    differs = not are_equal(present, result.schema) or description != result.description
    for fix in result.fixes:
        edited: str | None = text
        for change in _renumber(fix.changes, text, result.tool, default_name):
            edited = _apply(edited, change, result.tool, default_name) if edited is not None else None
        if edited is None:
            unfit.append(fix)
        else:
            applied.append(fix)
            text = edited
    return FileEdit(text, tuple(applied), tuple(unfit), differs)


def _renumber(
    changes: Sequence[DefinitionChange], text: str, tool: str, default_name: str
) -> Iterator[DefinitionChange]:
    """Yield the changes. A value that is appended to a list gets the index after the list's last value."""
    for change in changes:
        if isinstance(change.path[-1], int) and not change.before:
            place = _find_place(text, change.path[:-1], tool, default_name)
            if place is not None and place.kind == "[":
                yield DefinitionChange((*change.path[:-1], len(place.items)), (), change.after)
                continue
        yield change


# --- positions in the text -----------------------------------------------------------------------------


@dataclass(slots=True)
class _JsonNode:
    """A JSON value at text[start:end]. `kind` is its first character. `scalar` is the value of a text or a
    number.
    """

    start: int
    end: int
    kind: str
    scalar: Any = None
    members: dict[str, _Member] = field(default_factory=dict)
    items: list[_JsonNode] = field(default_factory=list)

    def read(self, text: str) -> Any:
        return json.loads(text[self.start : self.end])


@dataclass(slots=True)
class _Member:
    start: int  # where the key starts
    value: _JsonNode


def _parse(text: str) -> _JsonNode:
    try:
        node = _parse_value(text, _skip(text, 0))
    except (ValueError, IndexError, RecursionError) as error:
        where = (
            f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "it is cut"
        )
        raise FileEditError(f"it is not JSON ({where})") from None
    if _skip(text, node.end) != len(text):
        raise FileEditError("it is not JSON: text follows the first value")
    return node


def _parse_value(text: str, at: int) -> _JsonNode:
    kind = text[at]
    if kind not in "{[":
        scalar, end = _DECODER.raw_decode(text, at)
        return _JsonNode(at, end, kind, scalar)
    node, closing = _JsonNode(at, at, kind), "}" if kind == "{" else "]"
    at = _skip(text, at + 1)
    while text[at] != closing:
        start = at
        if kind == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or text[at] != ":":
                raise json.JSONDecodeError("Expecting a member", text, at)
            at = _skip(text, at + 1)
        inner = _parse_value(text, at)
        if kind == "{":
            node.members[key] = _Member(start, inner)
        else:
            node.items.append(inner)
        at = _skip(text, inner.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
            if text[at] == closing:
                raise json.JSONDecodeError("Unexpected comma", text, at)
        elif text[at] != closing:
            raise json.JSONDecodeError("Expecting a comma", text, at)
    node.end = at + 1
    return node


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


# --- the tool in the text ------------------------------------------------------------------------------


def _find_tool(root: _JsonNode, tool: str, default_name: str) -> tuple[_JsonNode, _JsonNode]:
    """Return the declaration of a tool and its schema. Raises FileEditError."""
    places = list(_list_tools(root, tool))
    if not places and root.kind == "{" and default_name == tool and "properties" in root.members:
        places = [(root, root)]
    if not places:
        raise FileEditError(f"it has no tool {tool!r}")
    if len(places) > 1:
        raise FileEditError(f"it defines the tool {tool!r} {len(places)} times")
    declared, schema = places[0]
    if schema.kind != "{":
        raise FileEditError(f"the parameters of the tool {tool!r} are not a JSON object")
    return declared, schema


def _list_tools(node: _JsonNode, tool: str) -> Iterator[tuple[_JsonNode, _JsonNode]]:
    if node.kind == "[":
        for item in node.items:
            yield from _list_tools(item, tool)
        return
    schema = _find_schema(node)
    if _is_text(node, "name", tool) and schema is not None:
        yield node, schema
    elif _is_text(node, "title", tool) and schema is None and "properties" in node.members:
        yield node, node
    elif schema is None and "properties" not in node.members:
        for key, member in node.members.items():
            inner = member.value
            if key == tool and inner.kind == "{" and not _names_itself(inner):
                below = _find_schema(inner)
                if below is not None or "properties" in inner.members:
                    yield inner, below or inner
                    continue
            yield from _list_tools(inner, tool)


def _names_itself(node: _JsonNode) -> bool:
    return "name" in node.members


def _is_text(node: _JsonNode, key: str, wanted: str) -> bool:
    member = node.members.get(key)
    return member is not None and member.value.kind == '"' and member.value.scalar == wanted


def _find_schema(node: _JsonNode) -> _JsonNode | None:
    for key in _SCHEMA_KEYS:
        if key in node.members:
            schema = node.members[key].value
            inner = schema.members.get("json")  # Bedrock puts the schema under the key `json`
            return inner.value if inner and len(schema.members) == 1 else schema
    return None


def _find_place(text: str, path: Sequence[str | int], tool: str, default_name: str) -> _JsonNode | None:
    """Return the value at a path that starts with "description" or "schema", or None."""
    declared, schema = _find_tool(_parse(text), tool, default_name)
    place, rest = (schema, path[1:]) if path[:1] == ("schema",) else (declared, path)
    for key in rest:
        if isinstance(key, int):
            if place.kind != "[" or key >= len(place.items):
                return None
            place = place.items[key]
        else:
            member = place.members.get(key)
            if member is None:
                return None
            place = member.value
    return place


# --- changes of the text -------------------------------------------------------------------------------


def _apply(text: str, change: DefinitionChange, tool: str, default_name: str) -> str | None:
    """Return the text after a change, or None if the change does not fit."""
    parent = _find_place(text, change.path[:-1], tool, default_name)
    node = _find_place(text, change.path, tool, default_name)
    if parent is None:
        return None
    if not are_equal((node.read(text),) if node else (), change.before):
        return None
    last = change.path[-1]
    if node is None:
        return _insert(text, parent, last, change.after[0])
    if change.after:
        return text[: node.start] + _write(change.after[0], text, node.start) + text[node.end :]
    return _remove(text, parent, str(last)) if isinstance(last, str) else None


def _insert(text: str, parent: _JsonNode, key: str | int, value: Any) -> str | None:
    if (parent.kind == "[") != isinstance(key, int):
        return None
    if parent.kind == "{":
        siblings = [(member.start, member.value.end) for member in parent.members.values()]
    else:
        siblings = [(item.start, item.end) for item in parent.items]
    if siblings:
        before = siblings[-2][1] if len(siblings) > 1 else parent.start
        at = siblings[-1][1]
        blanks = (
            text[before + 1 : siblings[-1][0]].lstrip(",") if len(siblings) == 1 else _find_gap(text, before)
        )
        blanks = "," + (blanks if blanks.strip() == "" else " ")
    else:
        at, blanks = parent.start + 1, ""
    if len(siblings) == 1 and parent.kind == "[" and blanks == ",":
        blanks = ", "
    name = (
        "" if isinstance(key, int) else f"{json.dumps(key, ensure_ascii=_is_ascii(text))}{_find_colon(text)}"
    )
    return text[:at] + blanks + name + _write(value, text, at, blanks) + text[at:]


def _find_gap(text: str, end: int) -> str:
    """Return the blanks after the comma that follows a value."""
    comma = _skip(text, end)
    return text[comma + 1 : _skip(text, comma + 1)]


def _remove(text: str, parent: _JsonNode, key: str) -> str:
    names = list(parent.members)
    at = names.index(key)
    member = parent.members[key]
    if at:
        previous = parent.members[names[at - 1]].value.end
        return text[:previous] + text[member.value.end :]
    if len(names) > 1:
        return text[: member.start] + text[parent.members[names[1]].start :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _write(value: Any, text: str, at: int, blanks: str = "") -> str:
    """Return a value as JSON in the style of the text around position `at`."""
    is_compact = _find_colon(text) == ":"
    separators = (",", ":") if is_compact else (", ", ": ")
    inline = json.dumps(value, ensure_ascii=_is_ascii(text), separators=separators)
    if is_compact or "\n" not in text or len(inline) <= _INLINE or isinstance(value, str):
        return inline
    step = re.search(r"\n([ \t]+)\S", text)
    line = text[text.rfind("\n", 0, at) + 1 : at]
    start = blanks.rpartition("\n")[2] if "\n" in blanks else line[: len(line) - len(line.lstrip())]
    written = json.dumps(value, ensure_ascii=_is_ascii(text), indent=step[1] if step else 2)
    end = "\r\n" if "\r\n" in text else "\n"
    return written.replace("\n", end + start)


def _is_ascii(text: str) -> bool:
    """Return True if the text writes other characters as escapes."""
    return text.isascii() and "\\u" in text


def _find_colon(text: str) -> str:
    """Return the colon between keys and values with the blank that the text uses."""
    match = re.search(r'"[ \t]*:([ \t]*)', text)
    return ":" if match and not match[1] else ": "
