"""Reads OpenHands' messages about rejected tool calls: the failure stage, and the call's name and text."""

from __future__ import annotations

import msgspec

from ingest.events import FaultLayer
from lenient.regex import compile_regex


class LostCall(msgspec.Struct, frozen=True):
    """A tool call that never became an action: its failure stage and, if known, its tool and raw text."""

    layer: FaultLayer
    tool: str | None = None
    raw: str | None = None


_UNREAD = "Failed to parse tool call arguments: "
_IN_CALL = compile_regex(r"[Mm]issing required argument \S{1,200} in tool call (\S{1,200})")
_UNKNOWN = compile_regex(r"Tool '?([^\s']{1,200})'? (?:is not registered|not found)")
_NO_CALL = ("No action", "Malformed action", "Your last response did not include a function call")
_JSON_ENGINE = compile_regex(
    r"Expecting (value|',' delimiter|property name|':' delimiter)|Unterminated string|Extra data: "
    r"|Invalid (control character|\\)"
)


def find_lost_call(text: str) -> LostCall | None:
    """Return the tool call that could not run, according to an error text. Return None for any other text."""
    if text.startswith(_UNREAD):
        return LostCall(FaultLayer.SYNTAX, raw=text.removeprefix(_UNREAD))
    if missing := _IN_CALL.search(text):
        return LostCall(FaultLayer.SCHEMA, tool=missing.group(1))
    if unknown := _UNKNOWN.match(text):
        return LostCall(FaultLayer.SCHEMA, tool=unknown.group(1))
    return LostCall(FaultLayer.EMISSION) if text.startswith(_NO_CALL) else None


def refusal_layer(text: str, *, expected: bool) -> FaultLayer:
    """Return the failure stage of an `AgentErrorEvent`, according to its text.

    `expected` is True when the SDK treats the error as a mistake that the agent can correct.
    """
    if text.startswith("Error validating"):
        unread = _JSON_ENGINE.search(text) and " validation error" not in text
        return FaultLayer.SYNTAX if unread else FaultLayer.SCHEMA
    lost = find_lost_call(text)
    if lost is not None and lost.layer is not FaultLayer.EMISSION:
        return lost.layer
    return FaultLayer.TOOL_REJECTED if expected else FaultLayer.EXECUTION
