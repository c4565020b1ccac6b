"""Reads the errors, scores and raw responses of an Inspect sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import FaultLayer, ResultStatus, Visibility
from ingest.formats.provider_messages.chat_messages import list_calls
from lenient.regex import compile_regex

_UNREAD = "Error parsing the following tool call arguments:\n\n"
_DETAILS = "\n\nError details: "
# Inspect cuts arguments above 16 KiB in the middle. Arguments within the margin may have been cut.
_CUT, _MARGIN = 16 * 1024, 1_000
_NOT_AS_DEFINED = compile_regex(
    r"\b\d{1,6} validation errors?\b|Required parameter \S{1,200} not provided|Unable to convert '"
)
_UNKNOWN_TOOL = compile_regex(r"Tool '?\S{1,200}'? not found")


def parse_error_layer(message: str) -> FaultLayer:
    """Return the failure stage of a parse error, according to the error's text.

    Return TOOL_REJECTED if the text is not about the syntax or the schema.
    """
    if message.startswith(_UNREAD):
        return FaultLayer.SYNTAX
    as_defined = _NOT_AS_DEFINED.search(message[:2_000]) or _UNKNOWN_TOOL.match(message)
    return FaultLayer.SCHEMA if as_defined else FaultLayer.TOOL_REJECTED


def error_verdict(error: Mapping[str, Any]) -> tuple[ResultStatus, FaultLayer]:
    """Return the status and the failure stage of a tool call that ended with a `ToolCallError`."""
    kind, message = error.get("type"), read_text(error.get("message")) or ""
    if kind == "parsing":
        return ResultStatus.ERROR, parse_error_layer(message)
    if kind == "approval":
        return ResultStatus.DENIED, FaultLayer.REFUSED
    return ResultStatus.ERROR, FaultLayer.EXECUTION


def call_facts(parse_error: Any) -> dict[str, Any]:
    """Return further fields of `CallMade` for a tool call.

    `sent` is the whole argument text that a parse error quotes. If there is no parse error, the fields state
    that Inspect would have recorded one.
    """
    if not isinstance(parse_error, str):
        return {"syntax_seen": Visibility.FAILURES, "schema_seen": Visibility.FAILURES}
    facts: dict[str, Any] = {
        "refused_by_harness": parse_error_layer(parse_error),
        "harness_message": parse_error,
    }
    raw, separator, _ = parse_error.removeprefix(_UNREAD).rpartition(_DETAILS)
    whole = len(raw.encode("utf-8", "surrogatepass")) < _CUT - _MARGIN
    if parse_error.startswith(_UNREAD) and separator and whole:
        facts["sent"] = raw
    return facts


def find_raw_arguments(response: Any) -> dict[str, str]:
    """Return the model's own argument text for each call id, from the response of an OpenAI-like API."""
    return {
        call["id"]: call["arguments"]
        for call in _find_calls(read_object(response))
        if isinstance(call["id"], str) and isinstance(call["arguments"], str)
    }


def _find_calls(response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for choice in read_objects(response.get("choices")):
        yield from list_calls(read_object(choice.get("message")))
    for item in read_objects(response.get("output")):
        if item.get("type") == "function_call":
            yield {"id": item.get("call_id"), "arguments": item.get("arguments")}


def read_scores(sample: Mapping[str, Any]) -> bool | None:
    """Return the verdict on which all scores agree.

    Return None if the scores disagree or a score has no verdict.
    """
    scores = read_objects([*read_object(sample.get("scores")).values()]) or read_objects(
        [sample.get("score")]
    )
    verdicts = {_read_verdict(score.get("value")) for score in scores}
    return verdicts.pop() if len(verdicts) == 1 else None


def _read_verdict(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"C": True, "I": False, "N": False}.get(value)
    if isinstance(value, bool):
        return value
    return value == 1 if isinstance(value, int | float) and value in (0, 1) else None
