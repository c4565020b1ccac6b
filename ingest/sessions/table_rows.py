"""Makes the rows of schema.sql's tables from judged turns, calls, prompts and definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from hashlib import blake2b, sha256
from typing import Any
from zlib import crc32

from ingest.events import ArgsSource, CallMade, FlagSource, PromptSeen, ResultSeen, ResultStatus, StepMade
from ingest.sessions.path_facts import NO_FACTS, PathFacts
from ingest.sessions.stored_text import (
    TEXT_KEPT,
    cut_message,
    cut_text,
    json_text,
    shorten_name,
    spell_non_finite,
    strip_thought,
)
from ingest.sessions.turns import Conclusion, OpenCall, OpenTurn, content_bytes
from lenient import PARSER_VERSION, ToolCallRequest, ToolDefinition

Row = dict[str, Any]
_SEVERITIES = ("note", "warning", "error")
# Looking up an Enum member is slow, so each member is looked up only once.
_RANDOM_LENGTH = 20
_RANDOM = re.compile(r"(?=[A-Za-z]*[0-9][A-Za-z]*[0-9])(?=[0-9]*[A-Za-z][0-9]*[A-Za-z])[0-9A-Za-z]{20,}")
_RESERIALISED, _MISSING, _ABSENT = ArgsSource.RESERIALISED, ResultStatus.MISSING, FlagSource.ABSENT

# Plain characters match as one run. To match them one by one takes three times as long.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
MCP_TOOL = "^mcp__(.+?)__."
"""Matches the name of an MCP server's tool. The group is the server's name. DuckDB also uses this pattern."""
_MCP_TOOL = re.compile(MCP_TOOL)
_HOLDERS = frozenset({dict, list})
_LOOKED_AT = 65_536  # number of characters that are searched for the nesting depth


def find_mcp_server(tool: str | None) -> str | None:
    """Return the MCP server in a tool name like mcp__server__tool. Return None for other names."""
    if tool is None or not tool.startswith("mcp__"):
        return None
    named = _MCP_TOOL.match(tool)
    return named[1] if named else None


def stable_id(*parts: object) -> str:
    """Return an id made from the given values: 16 hexadecimal digits.

    The same values give the same id in every file and every load.
    """
    return _hash(*parts).hexdigest()


def _hash(*parts: object) -> blake2b:
    return blake2b("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=8)


class TurnPlace:
    """The position of a turn, and of its calls. The id of a call begins with the id of its position.

    `identity` has the values that identify the turn: source, session and number, or an id made from the
    turn's key.
    """

    def __init__(self, *identity: object) -> None:
        self._hash = _hash(*identity)
        self.id = self._hash.hexdigest()

    def make_call_id(self, step: int, ordinal: int) -> str:
        """Return the `stable_id` of the turn's identity, the step and the ordinal."""
        place = self._hash.copy()
        place.update(b"\x1f%d\x1f%d" % (step, ordinal))
        return place.hexdigest()


def call_mark(tool_call_id: str | None, tool: str | None, args_source: ArgsSource, sent: Any) -> str:
    """Return 8 hexadecimal digits that distinguish a call from other calls at the same position.

    Two experiments may use the same session id, so different calls can have the same position. `sent` are the
    arguments: the model's text, or the decoded value for RESERIALISED. `sent` is hashed only if the log's id
    may be reused ("call_1"). So most copies are recognised even if their arguments were cut, redacted or
    rewritten.
    """
    if tool_call_id is not None and is_random_id(tool_call_id):
        return _mark(tool_call_id)
    arguments = json_text(sent, sort_keys=True) if args_source is _RESERIALISED else sent
    return _mark("\x1f".join((tool_call_id or "", tool or "", arguments or "")))


def is_random_id(name: str) -> bool:
    """Return True for an id that looks random, like the ids that providers make.

    Such an id has 20 letters and digits in a row, with at least two letters and two digits. Dashes are
    ignored.
    """
    return len(name) >= _RANDOM_LENGTH and _RANDOM.search(name.replace("-", "")) is not None


def turn_mark(text: str | None) -> str:
    """Return 8 hexadecimal digits that distinguish a turn from other turns at the same position.

    Return '' if the turn has no text.
    """
    return "" if text is None else _mark(cut_text(text) or "")


def _mark(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def session_hash(source: str, session_id: str) -> str:
    """Return the hash of a session. The store recognises deleted sessions by this hash."""
    return stable_id("forgotten", source, shorten_name(session_id))


def prompt_row(event: PromptSeen, facts: PathFacts = NO_FACTS) -> Row:
    """Return the row of a prompt.

    If the log does not name the prompt, the name comes from `facts`.
    """
    text_hash = sha256(event.text.encode("utf-8", "surrogatepass")).hexdigest() if event.text else None
    name, version = event.name, event.version
    if name is None and facts.prompt is not None:
        name, _, version = facts.prompt.value.partition("@")
    if name is not None:
        prompt_id: str | None = f"{name}@{version}" if version else name
    else:
        prompt_id = text_hash[:12] if text_hash else None
    row = {"name": name, "version": version or None, "text": event.text, "text_hash": text_hash}
    return {"prompt_id": prompt_id, **row}


def date_columns(ts: datetime | None, facts: PathFacts = NO_FACTS) -> dict[str, datetime | date | None]:
    """Return the columns `ts` and `day`: a time and its day (UTC). Without a time, `facts` give the day."""
    return {"ts": ts, "day": ts.date() if ts else facts.day}


def turn_row(turn: OpenTurn, conclusion: Conclusion) -> Row:
    end, steps = turn.end, turn.steps.values()
    return {
        "provider": turn.provider,
        "prompt_id": turn.prompt_id,
        "prompt_hash": turn.prompt_hash,
        "user_text": cut_text(turn.text),
        "answer_text": _cut_answer(conclusion.answer),
        "ended_at": end.ts if end else None,
        "steps": max(len(turn.steps), turn.last_step + 1),
        "calls": len(turn.calls),
        "faults": len([call for call in turn.calls if call.fault_layer is not None]),
        "retries": len([call for call in turn.calls if call.link is not None and call.link.attempt > 1]),
        "recorded_status": end.status if end else None,
        "recorded_ok": end.recorded_ok if end else None,
        "derived_ok": conclusion.ok,
        "derived_reason": conclusion.reason,
        "stop_reason": turn.steps[max(turn.steps)].stop_reason if turn.steps else None,
        "resent": _sum_known([step.resent for step in steps]),
        "verdict_reason": end.verdict_reason if end else None,
        "compensations": end.compensations if end else None,
        "cost": end.cost if end else None,
        "input_tokens": _sum_known([step.input_tokens for step in steps]),
        "output_tokens": _sum_known([step.output_tokens for step in steps]),
        **_count_tokens(steps),
        "latency_ms": end.latency_ms if end else None,
        "model_latency_ms": _sum_known([step.latency_ms for step in steps]),
        "begun": turn.begun,
        "first_step": turn.first_step,
    }


def _cut_answer(answer: str | None) -> str | None:
    """Return the first `TEXT_KEPT` characters of an answer.

    If the answer is longer, a thought at its beginning is removed before the answer is cut.
    """
    if answer is None or len(answer) <= TEXT_KEPT:
        return answer
    return cut_text(strip_thought(answer) or answer)


def _sum_known(numbers: Sequence[float | None]) -> float | None:
    measured = [number for number in numbers if number is not None]
    return sum(measured) if measured else None


def _count_tokens(steps: Iterable[StepMade]) -> dict[str, int]:
    counted = fresh = cached = written = output = 0
    for step in steps:
        if step.input_tokens is not None and step.output_tokens is not None:
            counted += 1
            fresh += step.input_tokens - (step.cached_tokens or 0) - (step.cache_write_tokens or 0)
            cached += step.cached_tokens or 0
            written += step.cache_write_tokens or 0
            output += step.output_tokens
    return {
        "counted_steps": counted,
        "counted_input": fresh,
        "counted_cached": cached,
        "counted_cache_write": written,
        "counted_output": output,
    }


JUDGED = (
    "step", "ordinal", "provider", "prompt_id",
    "tool", "tool_sent", "mcp_server", "tool_call_id", "strategy", "args_source",
    "raw_arguments", "arguments_depth", "own_arguments", "as_sent", "rejected", "worst_severity", "lossy",
    "outcome", "syntax_seen", "schema_seen", "parse_error", "parse_warning",
    "harness_verdict", "harness_message", "refused_by_harness", "syntax_told", "schema_told",
    "definition_origin", "tools_offered", "fault_layer",
    "result_status", "error_flag_source", "result_text", "result_bytes", "result_fault_layer", "latency_ms",
    "simulated",
    "retry_of", "attempt", "retry_kind", "chain_outcome",
    "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
    "model_latency_ms", "parser_version",
)  # fmt: skip
"""The columns of `tool_calls` that `call_values` fills from a turn, in its order."""


def call_row(turn: OpenTurn, call: OpenCall) -> Row:
    """Return the values of `call_values` in a dictionary with the column names as keys."""
    return dict(zip(JUDGED, call_values(turn, call), strict=True))


def call_values(turn: OpenTurn, call: OpenCall) -> tuple[Any, ...]:
    """Return the values of the `JUDGED` columns of `tool_calls`, in that order.

    Token counts are those of the whole step.
    """
    event, link, result = call.event, call.link, call.result
    verdict, request, _ = call.classified
    step = turn.steps.get(call.step)
    return (
        call.step,
        call.ordinal,
        call.provider,
        call.prompt_id,
        call.tool,
        event.tool if event.tool != call.tool else None,
        event.mcp_server or (result.mcp_server if result else None) or find_mcp_server(call.tool),
        event.tool_call_id,
        event.strategy or (step.strategy if step else None),
        event.args_source,
        *_argument_values(event, request),
        verdict.outcome,
        verdict.syntax_seen,
        verdict.schema_seen,
        verdict.parse_error,
        verdict.parse_warning,
        verdict.harness_verdict,
        verdict.harness_message,
        event.refused_by_harness,
        event.syntax_seen,
        event.schema_seen,
        verdict.definition_origin,
        verdict.tools_offered,
        verdict.fault_layer,
        result.status if result else _MISSING,
        result.flag_source if result else _ABSENT,
        result.content if result else None,
        call.result_bytes,
        result.fault_layer if result else None,
        result.latency_ms if result else None,
        result.simulated if result else None,
        event.retry_of,
        link.attempt if link else None,
        link.retry_kind if link else None,
        link.outcome if link else None,
        step.input_tokens if step else None,
        step.cached_tokens if step else None,
        step.cache_write_tokens if step else None,
        step.output_tokens if step else None,
        step.latency_ms if step else None,
        PARSER_VERSION,
    )


def _argument_values(event: CallMade, request: ToolCallRequest | None) -> tuple[Any, ...]:
    """Return raw_arguments, arguments_depth, own_arguments, as_sent, rejected, worst_severity and lossy."""
    decoded = json_text(event.arguments) if event.arguments is not None else None
    raw = (decoded or "null") if event.args_source is _RESERIALISED else event.raw_arguments
    depth = text_depth(raw) if decoded is None else value_depth(event.arguments)
    if request is None:
        return raw, depth, None, decoded is not None, None, None, False
    arguments = json_text(request.arguments) if request.arguments is not None else None
    as_sent = arguments is not None and arguments == raw
    rejected = json_text(spell_non_finite(request.rejected)) if request.rejected else None
    findings = request.diagnostics
    worst = max((finding.severity for finding in findings), key=_SEVERITIES.index, default=None)
    lossy = any(finding.lossy for finding in findings)
    return raw, depth, None if as_sent else arguments, as_sent, rejected, worst, lossy


def late_result_row(result: ResultSeen) -> Row:
    """Return the row of `late_results` for a result whose call is not in an open turn.

    The row has all columns that `tool_calls` copies from a result.
    """
    return {
        "ts": result.ts,
        "tool_call_id": result.tool_call_id,
        "tool": result.tool,
        "turn": result.turn,
        "step": result.step,
        "ordinal": result.ordinal,
        "result_status": result.status,
        "error_flag_source": result.flag_source,
        "result_fault_layer": result.fault_layer,
        "harness_message": cut_message(result.message),
        "result_text": cut_text(result.content),
        "result_bytes": content_bytes(result.content),
        "latency_ms": result.latency_ms,
    }


def diagnostic_rows(request: ToolCallRequest) -> Iterator[Row]:
    """Yield a row for each diagnostic of a call, in order. `position` counts from 0."""
    for position, finding in enumerate(request.diagnostics):
        yield {
            "position": position,
            "code": finding.code,
            "stage": finding.stage,
            "severity": finding.severity,
            "lossy": finding.lossy,
            "path": finding.path,
            "span_start": finding.start,
            "span_end": finding.end,
            "found": finding.found,
            "became": finding.became,
            "detail": finding.detail,
        }


def definition_row(definition: ToolDefinition) -> Row:
    """Return the row of `tool_definitions`. The row contains the definition as canonical JSON.

    `definition_id` is a hash of what the model received: the name, the description and the schema.
    """
    text = json_text(definition.to_json_schema(), sort_keys=True)
    identity = f"{definition.name}\n{definition.description}\n{text}".encode("utf-8", "surrogatepass")
    return {
        "definition_id": sha256(identity).hexdigest()[:12],
        "tool": definition.name,
        "description": definition.description,
        "definition": text,
    }


def text_depth(text: str | None) -> int | None:
    """Return the nesting depth of a JSON-like text: 0 without a bracket, 1 for a flat object. Return None for
    None.

    Only the first 65,536 characters count. Brackets in strings do not count.
    """
    if text is None:
        return None
    # Most arguments are a flat object: the only opening bracket is the first character.
    if text[:1] == "{" and "[" not in text and text.count("{") == 1:
        return 1
    deepest = depth = 0
    for char in _STRING.sub("", text[:_LOOKED_AT]):
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth = max(0, depth - 1)
    return deepest


def value_depth(value: Any) -> int:
    """Return the depth of a decoded value: 0 for a scalar, 1 for a flat object."""
    if type(value) is dict and not any(map(_HOLDERS.__contains__, map(type, value.values()))):
        return 1
    depth, level = 0, [value]
    while level := [value for value in level if isinstance(value, dict | list)]:
        depth += 1
        level = [
            value for holder in level for value in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return depth
