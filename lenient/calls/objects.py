"""A JSON value from a model's text → the calls that it is, in whatever shape models write a call.

Knows the keys under which names and arguments stand, lists of calls, and objects around a call. Whether an
object that looks like a call is meant as one is decided here for text without tokens: `Bar`. Knows no
dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from lenient.calls.found import Found
from lenient.calls.reply import Reply
from lenient.calls.values import Value, is_json, read_value
from lenient.diagnostics import Diagnostic
from lenient.json_values import compact
from lenient.nodes import Node
from lenient.parameters import ValueKind
from lenient.repair import UnreadableError
from lenient.repair.strings import Lookahead
from lenient.source import Mark, Piece
from lenient.tools import ToolDefinition

_NAME_KEYS = (
    "name", "tool", "tool_name", "tool_call", "function", "function_name", "action", "recipient_name", "api",
)  # fmt: skip
_ARGUMENT_KEYS = (
    "arguments", "input", "parameters", "args", "tool_input", "action_input", "params", "kwargs", "tool_args",
    "function_args", "tool_arguments", "function_arguments", "tool_parameters", "parameter",
)  # fmt: skip
_HOLDER_KEYS = ("function", "tool_call", "function_call", "tool", "call", "action", "tool_use", "command")
_LIST_KEYS = ("tool_calls", "tool_uses", "calls", "function_calls", "actions")
_ID_KEYS = ("id", "tool_call_id", "call_id", "tool_use_id")
_BESIDES = frozenset({*_ID_KEYS, "type", "index"})
_REPORTS = frozenset(
    {"output", "result", "results", "observation", "response", "error", "status", "tool_result"}
)
"""Keys of a call that was already run: a log, not a call."""
_STRING_HOLDERS = ("content", "response", "answer", "output", "message", "text", "json")
_MAX_CALLS = 10_000


class Bar(Enum):
    """How much must speak for a call.

    `TOKENS`: tokens around it say that it is one. `TEXT`: the name was offered, or the object is the whole
    reply and has a name, an arguments object and nothing else; without a catalog that shape alone decides.
    """

    TOKENS = "tokens"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class _Part:
    """A value within the value that was read."""

    value: Any
    mark: Mark

    def child(self, step: str | int) -> _Part:
        children: Any = self.mark.children
        return _Part(self.value[step], children[step])


def envelope(reply: Reply, name: str | None) -> Node | None:
    """What an object that calls this tool looks like: evidence for where its strings end."""
    root = reply.root(name) if name else None
    if root is None:
        return None
    fields = dict.fromkeys(_ARGUMENT_KEYS[:4], root) | dict.fromkeys((*_NAME_KEYS[:3], "id"), Node())
    return Node(kind=ValueKind.JSON_OBJECT, fields=fields)


def calls_in(reply: Reply, read: Value, bar: Bar, *, whole: bool = False) -> list[Found]:
    """The calls in a value. `whole` = there is nothing else in the reply."""
    shapes = _Shapes(reply, read, bar, whole)
    found = list(shapes.of(_Part(read.value, read.mark), 0))[:_MAX_CALLS]
    if found:
        beyond = tuple(shapes.mends_outside(found))
        found[-1] = replace(found[-1], complete=read.complete, around=found[-1].around + beyond)
    return found


class _Shapes:
    """Looks for calls in one value."""

    def __init__(self, reply: Reply, read: Value, bar: Bar, whole: bool) -> None:
        self.reply = reply
        self.read = read
        self.bar = bar
        self.whole = whole

    def of(self, part: _Part, depth: int) -> Iterator[Found]:
        if depth > 4:
            return
        if isinstance(part.value, list):
            for index in range(len(part.value)):
                yield from self.of(part.child(index), depth + 1)
        elif isinstance(part.value, dict):
            yield from self.of_object(part, depth)

    def of_object(self, part: _Part, depth: int) -> Iterator[Found]:
        value = part.value
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list) and not (_REPORTS & value.keys()):
                yield from self.of(part.child(key), depth + 1)
                return
        name_key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str) and value[key]), None)
        if name_key is None:
            yield from self.of_nameless(part, depth)
            return
        yield from self.of_named(part, name_key)

    def of_nameless(self, part: _Part, depth: int) -> Iterator[Found]:
        """A call inside another object, or an object whose key is the tool's name."""
        value = part.value
        for key in _HOLDER_KEYS:
            if isinstance(value.get(key), dict):
                inner = part.child(key)
                if not self.reply.offers(key):
                    id_key = next((k for k in _ID_KEYS if isinstance(value.get(k), str)), None)
                    start, end = self.read.base + part.mark.start, self.read.base + part.mark.end
                    for call in self.of(inner, depth + 1):
                        own_id = call.call_id or (value[id_key] if id_key else None)
                        yield replace(call, call_id=own_id, start=start, end=end)
                    return
        if self.reply.catalog is not None and value and all(map(self.reply.offers, value)):
            for key in value:
                if isinstance(value[key], dict) and (self.whole or self.bar is Bar.TOKENS or len(value) == 1):
                    yield self.found(part, key, part.child(key), None)
            return
        if depth == 0 and self.whole and len(value) == 1 and self.reply.catalog is not None:
            yield from self.of_encoded(part)

    def of_encoded(self, part: _Part) -> Iterator[Found]:
        """`{"content": "<a call as JSON>"}`, as models write it that were asked for JSON content."""
        [(key, text)] = part.value.items()
        if key not in _STRING_HOLDERS or not isinstance(text, str) or text.lstrip()[:1] != "{":
            return
        inner = read_value(Piece(text), len(text) - len(text.lstrip()), Lookahead(text), 0)
        if isinstance(inner, UnreadableError) or text[inner.end :].strip():
            return
        place = part.mark
        for call in _Shapes(self.reply, inner, self.bar, True).of(_Part(inner.value, inner.mark), 1):
            encoding = Diagnostic("string_encoding_removed", "$", 0, len(call.raw))
            start, end = self.read.base + place.start, self.read.base + place.end
            yield replace(call, start=start, end=end, offset=None, built=(encoding, *call.built), around=())

    def of_named(self, part: _Part, name_key: str) -> Iterator[Found]:
        value, name = part.value, part.value[name_key]
        holder = next((key for key in _ARGUMENT_KEYS if key in value and key != name_key), None)
        if self.bar is Bar.TEXT and not self.is_meant(value, name_key, holder):
            return
        if not self.read.complete and part.child(name_key).mark.end == len(self.read.piece):
            return  # the text's end cut the name off
        call_id = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str)), None)
        if holder is not None:
            yield self.found(part, name, part.child(holder), call_id)
            return
        beside = [key for key in value if key != name_key and key not in _BESIDES]
        if beside:
            yield self.flat(part, name, beside, call_id)
        else:
            yield self.found(part, name, None, call_id)

    def is_meant(self, value: Mapping[str, Any], name_key: str, holder: str | None) -> bool:
        """Is an object without tokens around it a call, and not data, a definition or a log?"""
        name = value[name_key]
        if _REPORTS & value.keys():
            return False
        tool = self.reply.tool(name)
        arguments = value.get(holder) if holder is not None else None
        if _is_schema(arguments) and (tool is None or not _declares(tool, "properties")):
            return False
        besides = value.keys() - {name_key, holder} - _BESIDES
        if self.reply.offers(name):
            if holder is not None:
                return arguments is None or isinstance(arguments, (dict, str, list))
            return self.may_stand_alone(tool, besides)
        exact = holder is not None and isinstance(arguments, dict) and not besides and _is_name(name)
        return exact and (self.reply.catalog is None or self.whole)

    def may_stand_alone(self, tool: ToolDefinition | None, besides: set[str]) -> bool:
        """A name and perhaps its parameters beside it, without a key for the arguments."""
        if tool is None:
            return False
        required = {parameter.name for parameter in tool.parameters if parameter.required}
        declared = {parameter.name for parameter in tool.parameters}
        return required <= besides <= declared if besides else not required or self.whole

    def found(self, part: _Part, name: str, arguments: _Part | None, call_id: str | None) -> Found:
        base, text = self.read.base, self.read.piece
        around = tuple(self.mends(part, arguments.mark if arguments is not None else None))
        name = self.reply.plain_name(name)
        start, end = base + part.mark.start, base + part.mark.end
        if arguments is None or arguments.value is None:
            return Found(name, "", start, end, True, None, call_id, around=around)
        place = arguments.mark
        raw = text[place.start : place.end]
        return Found(name, raw, start, end, True, base + place.start, call_id, around=around)

    def flat(self, part: _Part, name: str, keys: list[str], call_id: str | None) -> Found:
        """The parameters stand beside the name: the raw arguments are the object without it."""
        text, children = self.read.piece, part.mark.children
        places = {key: children[key] for key in keys} if isinstance(children, dict) else {}
        raw = ", ".join(f"{compact(key)}: {text[place.start : place.end]}" for key, place in places.items())
        start, end = self.read.base + part.mark.start, self.read.base + part.mark.end
        return Found(name, "{" + raw + "}", start, end, True, None, call_id)

    def mends(self, part: _Part, inside: Mark | None) -> Iterator[Diagnostic]:
        """The mends of an object that lie outside its arguments; those inside are found again there."""
        closed = inside is not None and is_json(self.read.piece[inside.start : inside.end])
        for mend in self.read.mends:
            if mend.start is None or mend.end is None or not part.mark.start <= mend.start <= part.mark.end:
                continue
            at_end = inside is not None and mend.start == inside.end
            if inside is None or not inside.start <= mend.start <= inside.end or (closed and at_end):
                yield self.in_text(mend)

    def mends_outside(self, found: list[Found]) -> Iterator[Diagnostic]:
        """The mends that belong to none of the calls, but to a list or an object around them."""
        for mend in self.read.mends:
            placed = self.in_text(mend)
            at = placed.start
            if at is not None and not any(call.start <= at <= call.end for call in found):
                yield placed

    def in_text(self, mend: Diagnostic) -> Diagnostic:
        """The mend with its span in the reply."""
        if mend.start is None or mend.end is None:
            return mend
        return mend._replace(start=self.read.base + mend.start, end=self.read.base + mend.end)


def _is_schema(arguments: Any) -> bool:
    """Is it the JSON Schema of a tool's parameters? Then the object is a definition."""
    return isinstance(arguments, dict) and isinstance(arguments.get("properties"), dict)


def _declares(tool: ToolDefinition, name: str) -> bool:
    return any(parameter.name == name for parameter in tool.parameters)


def _is_name(name: str) -> bool:
    """Could it be the name of a tool? `Ada Lovelace` could not."""
    return len(name) <= 128 and not any(sign.isspace() for sign in name)
