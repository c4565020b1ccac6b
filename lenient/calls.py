"""Text that a model wrote → the tool calls in it, for models that write calls as text; one function per
dialect.

Each dialect finds names, raw arguments and places; the arguments are read by `lenient.parse` like any
others. A cut-off last call is found too. Text without a call gives no calls. Knows no page and no log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import unescape

from lenient.coerce import compact
from lenient.diagnostics import Findings, TooManyFindingsError
from lenient.layers import valid_end
from lenient.parse import parse_arguments
from lenient.repair import UnreadableError, scan
from lenient.repair.strings import Lookahead
from lenient.request import ToolCallRequest
from lenient.source import Mark, Piece
from lenient.tools import ToolCatalog
from lenient.unwrap import OBJECT_START

_NAME_KEYS = (
    "name",
    "tool",
    "tool_name",
    "tool_call",
    "function",
    "function_name",
    "action",
    "recipient_name",
)
_ARGUMENT_KEYS = (
    "arguments",
    "input",
    "parameters",
    "args",
    "tool_input",
    "action_input",
    "params",
    "kwargs",
)
_HOLDER_KEYS = ("function", "tool_call", "function_call")
_LIST_KEYS = ("tool_calls", "tool_uses", "calls")
_TOOL_CALL = re.compile(r"<tool_call>\s*+")
_INVOKE = re.compile(r"<(?:antml:)?invoke\s+name\s*=\s*[\"']([^\"'<>]{1,200})[\"']\s*>")
_INVOKE_END = re.compile(r"</(?:antml:)?invoke>")
_PARAMETER = re.compile(
    r"<(?:antml:)?parameter\s+name\s*=\s*[\"']([^\"'<>]{1,200})[\"'][^<>\n]{0,200}>(.*?)(?:</(?:antml:)?parameter>|\Z)",
    re.DOTALL,
)
_FENCE = re.compile(r"```[ \t]*(?:[A-Za-z][\w+\-]*)?[ \t]*\n?")


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call found in text: its dialect, its span in the text, and its arguments as read.

    `complete` is False when the text ends before the call does.
    """

    dialect: str
    name: str
    start: int
    end: int
    complete: bool
    request: ToolCallRequest


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    raw: str
    start: int
    end: int
    complete: bool
    call_id: str | None = None


def extract_tool_calls(text: str, catalog: ToolCatalog | None = None) -> tuple[TextCall, ...]:
    """The calls in a text, in order, by the first dialect that finds any; () when there are none.

    With a catalogue, a bare object counts as a call only when its name is in it, unless it carries
    arguments. Never raises.
    """
    for dialect, find in DIALECTS.items():
        found = list(find(text, catalog))
        if found:
            return tuple(_read(dialect, call, catalog) for call in found)
    return ()


def _read(dialect: str, found: _Found, catalog: ToolCatalog | None) -> TextCall:
    tool = catalog.get(found.name) if catalog is not None else None
    request = parse_arguments(found.raw, tool, tool_name=found.name, tool_call_id=found.call_id)
    return TextCall(dialect, found.name, found.start, found.end, found.complete, request)


def _hermes(text: str, catalog: ToolCatalog | None) -> Iterator[_Found]:
    """`<tool_call>{"name": …, "arguments": {…}}</tool_call>`, as Hermes and Qwen 2.5 write it."""
    for tag in _TOOL_CALL.finditer(text):
        for found in _objects(text, tag.end(), text.find("</tool_call>", tag.end()), catalog):
            yield found
            break


def _anthropic(text: str, catalog: ToolCatalog | None) -> Iterator[_Found]:
    """`<invoke name="…"><parameter name="…">…</parameter></invoke>`; values are text or JSON."""
    starts = list(_INVOKE.finditer(text))
    for index, opening in enumerate(starts):
        limit = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        closing = _INVOKE_END.search(text, opening.end(), limit)
        end = closing.start() if closing else limit
        tool = catalog.get(opening.group(1)) if catalog is not None else None
        kinds = {parameter.name: parameter.kind for parameter in tool.parameters} if tool is not None else {}
        values = {
            name: _parameter_text(value, str(kinds.get(name, "")))
            for name, value in _PARAMETER.findall(text[opening.end() : end])
        }
        raw = "{" + ", ".join(f"{compact(name)}: {value}" for name, value in values.items()) + "}"
        yield _Found(
            opening.group(1), raw, opening.start(), closing.end() if closing else end, closing is not None
        )


def _parameter_text(value: str, kind: str) -> str:
    """The JSON text of an XML parameter: objects, arrays, numbers and booleans are written bare in this
    dialect.
    """
    text = unescape(value.removeprefix("\n").removesuffix("\n"))
    if kind not in ("", "string", "enum_token", "uri", "timestamp", "attachment_reference"):
        trimmed = text.strip()
        if re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null", trimmed, re.ASCII):
            return trimmed
    return compact(text)


def _fenced(text: str, catalog: ToolCatalog | None) -> Iterator[_Found]:
    """A call as a JSON object in a Markdown fence."""
    position = 0
    while (fence := _FENCE.search(text, position)) is not None:
        end = text.find("\n```", fence.end())
        yield from _objects(text, fence.end(), end, catalog)
        if end < 0:
            return
        position = end + 4


def _bare(text: str, catalog: ToolCatalog | None) -> Iterator[_Found]:
    """A call as a JSON object, or a list of such, in plain text."""
    yield from _objects(text, 0, -1, catalog)


DIALECTS: Mapping[str, Callable[[str, ToolCatalog | None], Iterator[_Found]]] = {
    "anthropic_invoke": _anthropic,
    "hermes": _hermes,
    "fenced_json": _fenced,
    "bare_json": _bare,
}
"""The dialects, the more specific first."""


def _objects(text: str, start: int, end: int, catalog: ToolCatalog | None) -> Iterator[_Found]:
    """The calls among the objects of `text[start:end]`; `end` -1 = to the end of the text."""
    limit = len(text) if end < 0 else end
    piece = Piece(text[:limit])
    position, ahead = start, Lookahead(piece.text)
    while (opening := OBJECT_START.search(piece.text, position)) is not None:
        findings = Findings()
        strict = valid_end(piece.text, opening.start()) is not None
        try:
            found = scan(piece, opening.start(), None, findings, ahead=ahead, strict=strict)
        except (UnreadableError, TooManyFindingsError):
            return
        complete = not any(finding.code == "missing_closer" for finding in findings.items)
        yield from _calls_in(piece.text, found.value, found.mark, catalog, complete)
        position = max(found.end, opening.end())


def _calls_in(
    text: str, value: Any, mark: Mark, catalog: ToolCatalog | None, complete: bool
) -> Iterator[_Found]:
    """The call that an object is, or the calls in its list of calls."""
    children = mark.children
    if not isinstance(value, dict) or not isinstance(children, dict):
        return
    for key in _LIST_KEYS:
        inner = children.get(key)
        if isinstance(value.get(key), list) and inner is not None and isinstance(inner.children, list):
            for entry, place in zip(value[key], inner.children, strict=True):
                yield from _calls_in(text, entry, place, catalog, complete)
            return
    for key in _HOLDER_KEYS:
        if isinstance(value.get(key), dict):
            yield from _calls_in(text, value[key], children[key], catalog, complete)
            return
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str) and value[key]), None)
    if name is None:
        return
    holder = next((key for key in _ARGUMENT_KEYS if isinstance(value.get(key), (dict, str))), None)
    if holder is None:
        if catalog is not None and catalog.get(name) is not None:
            yield _Found(name, "", mark.start, mark.end, complete)
        return
    place = children[holder]
    call_id = value.get("id") if isinstance(value.get("id"), str) else None
    yield _Found(name, text[place.start : place.end], mark.start, mark.end, complete, call_id)
