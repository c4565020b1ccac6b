"""Takes the arguments out of a whole call that stands where only its arguments are due."""

from __future__ import annotations

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.diagnostics import Diagnostic, Findings, shorten
from lenient.scan.located_value import LocatedValue

_NAMES = ("name", "function", "tool", "tool_name", "function_name", "recipient_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params", "tool_input", "kwargs")
HOLDS_ARGUMENTS = frozenset({*_ARGUMENTS, "function"})
"""The names under which a call holds its arguments: an object without any of them is no call."""
_BESIDE = frozenset({"type", "id", "call_id", "index", "status"})


def open_envelope(located: LocatedValue, node: Node, name: str, findings: Findings) -> LocatedValue | None:
    """Return the arguments within a call such as `{"name": …, "arguments": …}`, None for other values.

    `name` is the tool's name: the call must name it. The definition must declare no parameter like the one
    that holds the arguments, and nothing else may stand beside them but what calls have (`id`, `type`). The
    arguments are an object, or text that the caller reads. The rest is reported as `call_envelope_removed`.
    """
    outer = located
    if isinstance(located.value, dict) and "function" in located.value:
        inner = located.value["function"]
        if isinstance(inner, dict) and located.value.keys() <= _BESIDE | {"function"} and _may_open(node):
            located = located.child("function")
    value, fields = located.value, known_fields(node)
    if not isinstance(value, dict) or not _may_open(node) or len(value) < 2:
        return None
    held = [key for key in _ARGUMENTS if key in value and key not in fields]
    named = [key for key in _NAMES if value.get(key) == name]
    if len(held) != 1 or len(named) != 1 or not value.keys() <= {*held, *named, *_BESIDE}:
        return None
    arguments = located.child(held[0])
    if not isinstance(arguments.value, (dict, str)):
        return None
    piece, start, end = outer.piece, outer.mark.start, outer.mark.end
    span, found = piece.raw_span(start, end), shorten(piece.text[start : min(end, start + 200)])
    findings.add(Diagnostic("call_envelope_removed", "$", *span, found=found, detail=held[0]))
    return arguments


def _may_open(node: Node) -> bool:
    """Return True when further fields are not allowed: otherwise each name may be one of the tool's own."""
    return bool(known_fields(node)) and node.extra is None
