"""Recognises tool calls in a JSON value.

Models use different keys for the name and the arguments. A tool call may be in a list of tool calls or inside
another object. `CallEvidence` lists the evidence that a tool call needs outside of delimiter tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_in_text import JsonInText, is_json, read_json_value
from lenient.calls.reading.model_text import ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics import Diagnostic, UnreadableError
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.string_end import Lookahead

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
"""An object with one of these keys logs a finished tool call, so it is not a new tool call."""
_STRING_HOLDERS = ("content", "response", "answer", "output", "message", "text", "json")
_MAX_CALLS = 10_000


class CallEvidence(Enum):
    """The evidence that an object needs to count as a tool call.

    `TOKENS`: delimiter tokens surround the object, so no more evidence is needed. `TEXT`: the tool was
    offered, or the object is the whole reply and contains only a name and an arguments object. Without a
    catalog, `TEXT` only requires that the object contains a name and an arguments object.
    """

    TOKENS = "tokens"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class _JsonPart:
    value: Any
    mark: ValueSpan

    def child(self, step: str | int) -> _JsonPart:
        children: Any = self.mark.children
        return _JsonPart(self.value[step], children[step])


def call_envelope(reply: ModelText, name: str | None) -> Node | None:
    """Return the definition node of an object that calls the tool `name`, or None when the tool is unknown.

    The node helps to find the ends of strings in broken JSON.
    """
    root = reply.arguments_node(name) if name else None
    if root is None:
        return None
    fields = dict.fromkeys(_ARGUMENT_KEYS[:4], root) | dict.fromkeys((*_NAME_KEYS[:3], "id"), Node())
    return Node(kind=ValueKind.JSON_OBJECT, fields=fields)


def find_calls(
    reply: ModelText, read: JsonInText, bar: CallEvidence, *, whole: bool = False
) -> list[FoundCall]:
    """Return the tool calls in a JSON value of the reply.

    `bar` is the evidence that a tool call needs. `whole` is True when the reply contains only this value.
    """
    shapes = _CallFinder(reply, read, bar, whole)
    calls = list(shapes.find_in(_JsonPart(read.value, read.mark), 0))[:_MAX_CALLS]
    if calls:
        beyond = tuple(shapes.mends_outside(calls))
        calls[-1] = replace(calls[-1], complete=read.complete, around=calls[-1].around + beyond)
    return calls


class _CallFinder:
    """A search for the tool calls in one JSON value.

    `bar` and `whole` have the same meaning as in `find_calls`.
    """

    def __init__(self, reply: ModelText, read: JsonInText, bar: CallEvidence, whole: bool) -> None:
        self.reply = reply
        self.read = read
        self.bar = bar
        self.whole = whole

    def find_in(self, part: _JsonPart, depth: int) -> Iterator[FoundCall]:
        if depth > 4:
            return
        if isinstance(part.value, list):
            for index in range(len(part.value)):
                yield from self.find_in(part.child(index), depth + 1)
        elif isinstance(part.value, dict):
            yield from self.find_in_object(part, depth)

    def find_in_object(self, part: _JsonPart, depth: int) -> Iterator[FoundCall]:
        value = part.value
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list) and not (_REPORTS & value.keys()):
                yield from self.find_in(part.child(key), depth + 1)
                return
        name_key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str) and value[key]), None)
        if name_key is None:
            yield from self.find_in_nameless(part, depth)
            return
        yield from self.find_in_named(part, name_key)

    def find_in_nameless(self, part: _JsonPart, depth: int) -> Iterator[FoundCall]:
        """Yield the tool calls in an object without a name.

        A tool call may be an inner object, or the key may be the tool's name and the value the arguments.
        """
        value = part.value
        for key in _HOLDER_KEYS:
            if isinstance(value.get(key), dict):
                inner = part.child(key)
                if not self.reply.offers(key):
                    id_key = next((k for k in _ID_KEYS if isinstance(value.get(k), str)), None)
                    start, end = self.read.base + part.mark.start, self.read.base + part.mark.end
                    for call in self.find_in(inner, depth + 1):
                        own_id = call.call_id or (value[id_key] if id_key else None)
                        yield replace(call, call_id=own_id, start=start, end=end)
                    return
        if self.reply.catalog is not None and value and all(map(self.reply.offers, value)):
            for key in value:
                if isinstance(value[key], dict) and (
                    self.whole or self.bar is CallEvidence.TOKENS or len(value) == 1
                ):
                    yield self.make_call(part, key, part.child(key), None)
            return
        if depth == 0 and self.whole and len(value) == 1 and self.reply.catalog is not None:
            yield from self.find_in_encoded(part)

    def find_in_encoded(self, part: _JsonPart) -> Iterator[FoundCall]:
        """Yield the tool call in `{"content": "<a call as JSON>"}`, where a string contains the tool call.

        Models that were asked for JSON content write this.
        """
        [(key, text)] = part.value.items()
        if key not in _STRING_HOLDERS or not isinstance(text, str) or text.lstrip()[:1] != "{":
            return
        inner = read_json_value(SourceText(text), len(text) - len(text.lstrip()), Lookahead(text), 0)
        if isinstance(inner, UnreadableError) or text[inner.end :].strip():
            return
        place = part.mark
        for call in _CallFinder(self.reply, inner, self.bar, True).find_in(
            _JsonPart(inner.value, inner.mark), 1
        ):
            encoding = Diagnostic("string_encoding_removed", "$", 0, len(call.raw))
            start, end = self.read.base + place.start, self.read.base + place.end
            yield replace(call, start=start, end=end, offset=None, built=(encoding, *call.built), around=())

    def find_in_named(self, part: _JsonPart, name_key: str) -> Iterator[FoundCall]:
        value, name = part.value, part.value[name_key]
        holder = next((key for key in _ARGUMENT_KEYS if key in value and key != name_key), None)
        if self.bar is CallEvidence.TEXT and not self.is_meant(value, name_key, holder):
            return
        if not self.read.complete and part.child(name_key).mark.end == len(self.read.piece):
            return  # the name is incomplete, because the text ends within it
        call_id = next((value[key] for key in _ID_KEYS if isinstance(value.get(key), str)), None)
        if holder is not None:
            yield self.make_call(part, name, part.child(holder), call_id)
            return
        beside = [key for key in value if key != name_key and key not in _BESIDES]
        if beside:
            yield self.make_flat_call(part, name, beside, call_id)
        else:
            yield self.make_call(part, name, None, call_id)

    def is_meant(self, value: Mapping[str, Any], name_key: str, holder: str | None) -> bool:
        """Return True when an object without delimiter tokens is a tool call, not data, a definition or a
        log.
        """
        name = value[name_key]
        if _REPORTS & value.keys():
            return False
        tool = self.reply.find_tool(name)
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
        """Return True when an object without a key for the arguments is a call of the tool.

        `besides` are the keys other than the name. They must be declared parameters and include all required
        parameters. An object with only a name counts when no parameter is required, or when the object is the
        whole reply.
        """
        if tool is None:
            return False
        required = {parameter.name for parameter in tool.parameters if parameter.required}
        declared = {parameter.name for parameter in tool.parameters}
        return required <= besides <= declared if besides else not required or self.whole

    def make_call(
        self, part: _JsonPart, name: str, arguments: _JsonPart | None, call_id: str | None
    ) -> FoundCall:
        base, text = self.read.base, self.read.piece
        around = tuple(self.mends_around(part, arguments.mark if arguments is not None else None))
        name = self.reply.plain_name(name)
        start, end = base + part.mark.start, base + part.mark.end
        if arguments is None or arguments.value is None:
            return FoundCall(name, "", start, end, True, None, call_id, around=around)
        place = arguments.mark
        raw = text[place.start : place.end]
        return FoundCall(name, raw, start, end, True, base + place.start, call_id, around=around)

    def make_flat_call(self, part: _JsonPart, name: str, keys: list[str], call_id: str | None) -> FoundCall:
        """Return the tool call whose parameters `keys` are in the same object as the tool's name.

        The raw arguments are built as a JSON object of these parameters.
        """
        text, children = self.read.piece, part.mark.children
        places = {key: children[key] for key in keys} if isinstance(children, dict) else {}
        raw = ", ".join(
            f"{to_json_text(key)}: {text[place.start : place.end]}" for key, place in places.items()
        )
        start, end = self.read.base + part.mark.start, self.read.base + part.mark.end
        return FoundCall(name, "{" + raw + "}", start, end, True, None, call_id)

    def mends_around(self, part: _JsonPart, inside: ValueSpan | None) -> Iterator[Diagnostic]:
        """Yield the diagnostics of repairs inside a tool call's object but outside of its arguments.

        `inside` is the span of the arguments. Repairs in this span are reported when the arguments are
        parsed.
        """
        closed = inside is not None and is_json(self.read.piece[inside.start : inside.end])
        for repair in self.read.repairs:
            if (
                repair.start is None
                or repair.end is None
                or not part.mark.start <= repair.start <= part.mark.end
            ):
                continue
            at_end = inside is not None and repair.start == inside.end
            if inside is None or not inside.start <= repair.start <= inside.end or (closed and at_end):
                yield self.move_to_reply(repair)

    def mends_outside(self, calls: list[FoundCall]) -> Iterator[Diagnostic]:
        for repair in self.read.repairs:
            placed = self.move_to_reply(repair)
            at = placed.start
            if at is not None and not any(call.start <= at <= call.end for call in calls):
                yield placed

    def move_to_reply(self, repair: Diagnostic) -> Diagnostic:
        if repair.start is None or repair.end is None:
            return repair
        return repair._replace(start=self.read.base + repair.start, end=self.read.base + repair.end)


def _is_schema(arguments: Any) -> bool:
    return isinstance(arguments, dict) and isinstance(arguments.get("properties"), dict)


def _declares(tool: ToolDefinition, name: str) -> bool:
    return any(parameter.name == name for parameter in tool.parameters)


def _is_name(name: str) -> bool:
    """Return True if a string can be a tool's name: at most 128 characters, and no whitespace."""
    return len(name) <= 128 and not any(sign.isspace() for sign in name)
