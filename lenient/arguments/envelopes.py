"""Removes envelopes around the arguments of a tool call.

An envelope is an object that contains the complete tool call, or an object with one key such as `arguments`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import Node, inner_nodes, known_fields, normalise_name
from lenient.diagnostics import Diagnostic, Findings, render_path, shorten
from lenient.scan.source_text import LocatedValue

_NAMES = ("name", "function", "tool", "tool_name", "function_name", "recipient_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params", "tool_input", "kwargs")
HOLDS_ARGUMENTS = frozenset({*_ARGUMENTS, "function"})
"""The keys under which a tool call or an envelope contains the arguments."""
_BESIDE = frozenset({"type", "id", "call_id", "index", "status"})

Decode = Callable[[LocatedValue, Findings], LocatedValue | None]
"""Returns the object or array that a string value contains as JSON, or None when there is neither."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An object that wraps the arguments under the key `key`.

    `is_call` is True when the object is a complete tool call with the tool's name. If the arguments were
    encoded as a string, `text` is the JSON in the string, and `findings` are the diagnostics of decoding this
    JSON. `text` is None when the arguments are an object.
    """

    outer: LocatedValue
    key: str
    is_call: bool
    inner: LocatedValue
    text: LocatedValue | None
    findings: Findings

    def report(self) -> Diagnostic:
        code = "call_envelope_removed" if self.is_call else "arguments_envelope_removed"
        return _report(code, self.outer, "$", self.key)

    def report_text(self) -> list[Diagnostic]:
        """Return the diagnostics of decoding arguments that were encoded as a string."""
        if self.text is None:
            return []
        where, became = render_path((None, self.key)), shorten(to_json_text(self.inner.value))
        diagnostic = _report("string_literal_converted_to_object", self.text, where)._replace(became=became)
        return [diagnostic, *self.findings.items]


def open_envelopes(located: LocatedValue, node: Node, name: str, decode: Decode, most: int) -> list[Envelope]:
    """Return at most `most` envelopes around the arguments, the outermost first.

    A complete tool call must contain the tool's name `name`. In any other envelope, the keys of the inner
    object must be declared.
    """
    opened: list[Envelope] = []
    count = 0
    while len(opened) < most and (envelope := _open_envelope(located, node, name, decode)) is not None:
        opened.append(envelope)
        located = envelope.inner
        if all(outer.is_call for outer in opened) or _fits_names(located.value, node):
            count = len(opened)
    return opened[:count]


def _open_envelope(located: LocatedValue, node: Node, name: str, decode: Decode) -> Envelope | None:
    value = located.value
    if not isinstance(value, dict) or HOLDS_ARGUMENTS.isdisjoint(value):
        return None
    location, is_call = _find_call_arguments(located, node, name), True
    if location is None:
        location, is_call = _find_wrapped_arguments(located, node), False
    if location is None:
        return None
    holder, key = location
    inner, findings, text = holder.child(key), Findings(), None
    if isinstance(inner.value, str):
        text, decoded = inner, decode(inner, findings)
        if decoded is None:
            return None
        inner = decoded
    if not isinstance(inner.value, dict) or not (is_call or _may_unwrap(node, inner.value)):
        return None
    return Envelope(located, key, is_call, inner, text, findings)


def _find_call_arguments(located: LocatedValue, node: Node, name: str) -> tuple[LocatedValue, str] | None:
    """Return the object that contains the arguments of a call to this tool, and the key of the arguments.

    Return None when the value is not such a call. The key must not be a declared parameter, and all other
    keys must belong to a tool call (`name`, `id`, `type`).
    """
    if not known_fields(node) or node.extra is not None:
        return None  # if undeclared parameters are allowed, every key may be a parameter
    if "function" in located.value and located.value.keys() <= _BESIDE | {"function"}:
        inner = located.value["function"]
        located = located.child("function") if isinstance(inner, dict) else located
    value, fields = located.value, known_fields(node)
    keys = [key for key in _ARGUMENTS if key in value and key not in fields]
    named = [key for key in _NAMES if value.get(key) == name]
    if len(keys) != 1 or len(named) != 1 or not value.keys() <= {*keys, *named, *_BESIDE}:
        return None
    return located, keys[0]


def _find_wrapped_arguments(located: LocatedValue, node: Node) -> tuple[LocatedValue, str] | None:
    """Return the inner object and its key, if the outer object has one key: an undeclared word such as
    `arguments`.

    Return None for any other outer object.
    """
    [*names] = located.value
    if len(names) != 1 or names[0] not in _ARGUMENTS or _is_declared(node, names[0]):
        return None
    return located, names[0]


def _may_unwrap(node: Node, value: dict[str, Any]) -> bool:
    """Return True when the object around these arguments cannot be a parameter of the tool.

    When the tool allows undeclared parameters, the arguments must contain all required parameters.
    """
    return node.extra is None or bool(node.required and node.required <= value.keys())


def _fits_names(value: Any, node: Node) -> bool:
    return all(_is_declared(node, name) for name in value)


def _is_declared(node: Node, name: str) -> bool:
    fields = known_fields(node)
    if name in fields or inner_nodes(node, name):
        return True
    spelling = normalise_name(name)
    return any(normalise_name(declared) == spelling for declared in fields)


def _report(code: str, located: LocatedValue, where: str, detail: str | None = None) -> Diagnostic:
    span = located.piece.raw_span(located.mark.start, located.mark.end)
    return Diagnostic(code, where, *span, found=shorten(located.snippet()), detail=detail)
