"""Errors, scores and raw responses of an Inspect sample in, what they mean out; knows no event."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.events import FaultLayer, ResultStatus, Seen
from ingest.fields import table, tables, text
from ingest.shapes.chat import calls_of

_UNREAD = "Error parsing the following tool call arguments:\n\n"
_DETAILS = "\n\nError details: "
_CUT, _MARGIN = 16 * 1024, 1_000  # bytes; longer arguments are cut in the middle
_NOT_AS_DEFINED = re.compile(
    r"\b\d{1,6} validation errors?\b|Required parameter \S{1,200} not provided|Unable to convert '"
)
_UNKNOWN_TOOL = re.compile(r"Tool '?\S{1,200}'? not found")


def parsing_layer(said: str) -> FaultLayer:
    """The layer of a parse error, which names three of them and the tool's own."""
    if said.startswith(_UNREAD):
        return FaultLayer.SYNTAX
    as_defined = _NOT_AS_DEFINED.search(said[:2_000]) or _UNKNOWN_TOOL.match(said)
    return FaultLayer.SCHEMA if as_defined else FaultLayer.TOOL_REJECTED


def error_verdict(error: Mapping[str, Any]) -> tuple[ResultStatus, FaultLayer]:
    """What became of a call that ended with a ToolCallError."""
    kind, said = error.get("type"), text(error.get("message")) or ""
    if kind == "parsing":
        return ResultStatus.ERROR, parsing_layer(said)
    if kind == "approval":
        return ResultStatus.DENIED, FaultLayer.REFUSED
    return ResultStatus.ERROR, FaultLayer.EXECUTION


def call_facts(parse_error: Any) -> dict[str, Any]:
    """Further fields of CallMade for a call that Inspect could not parse; `sent` is the text it quotes."""
    if not isinstance(parse_error, str):
        return {"syntax_seen": Seen.FAILURES, "schema_seen": Seen.FAILURES}
    facts: dict[str, Any] = {
        "refused_by_harness": parsing_layer(parse_error),
        "harness_message": parse_error,
    }
    raw, found, _ = parse_error.removeprefix(_UNREAD).rpartition(_DETAILS)
    whole = len(raw.encode("utf-8", "surrogatepass")) < _CUT - _MARGIN
    if parse_error.startswith(_UNREAD) and found and whole:
        facts["sent"] = raw
    return facts


def raw_arguments(response: Any) -> dict[str, str]:
    """The model's own argument texts by call id, in the response of an OpenAI-like API, chat or Responses."""
    return {
        call["id"]: call["arguments"]
        for call in _calls_in(table(response))
        if isinstance(call["id"], str) and isinstance(call["arguments"], str)
    }


def _calls_in(response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for choice in tables(response.get("choices")):
        yield from calls_of(table(choice.get("message")))
    for item in tables(response.get("output")):
        if item.get("type") == "function_call":
            yield {"id": item.get("call_id"), "arguments": item.get("arguments")}


def scored(sample: Mapping[str, Any]) -> bool | None:
    """The verdict of the scores: where all of them give one and agree."""
    scores = tables([*table(sample.get("scores")).values()]) or tables([sample.get("score")])
    verdicts = {_verdict(score.get("value")) for score in scores}
    return verdicts.pop() if len(verdicts) == 1 else None


def _verdict(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"C": True, "I": False, "N": False}.get(value)
    if isinstance(value, bool):
        return value
    return value == 1 if isinstance(value, int | float) and value in (0, 1) else None
