"""Judged turns, calls, prompts and definitions in, rows of schema.sql's tables out; keeps no state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from hashlib import blake2b, sha256
from typing import Any

from ingest.events import ArgsSource, CallMade, FlagSource, PromptSeen, ResultSeen, ResultStatus
from ingest.judgement import Verdict
from ingest.texts import json_text, kept, spelled
from ingest.turns import Call, Conclusion, Turn, size_of
from lenient import PARSER_VERSION, ToolCallRequest, ToolDefinition

Row = dict[str, Any]
_SEVERITIES = ("note", "warning", "error")
# Named once: looking a member up in its Enum takes as long as making a small object.
_RESERIALISED, _MISSING, _ABSENT = ArgsSource.RESERIALISED, ResultStatus.MISSING, FlagSource.ABSENT


def identity(*parts: object) -> str:
    """A stable id of what the parts name: 16 hexadecimal digits, the same in every file and every load."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()


def session_hash(source: str, session_id: str) -> str:
    """What is remembered of a session that was forgotten."""
    return identity("forgotten", source, session_id)


def prompt_row(event: PromptSeen) -> Row:
    text_hash = sha256(event.text.encode("utf-8", "surrogatepass")).hexdigest() if event.text else None
    if event.name is not None:
        prompt_id: str | None = f"{event.name}@{event.version}" if event.version else event.name
    else:
        prompt_id = text_hash[:12] if text_hash else None
    row = {"name": event.name, "version": event.version, "text": event.text, "text_hash": text_hash}
    return {"prompt_id": prompt_id, **row}


def dated(ts: datetime | None) -> dict[str, datetime | date | None]:
    return {"ts": ts, "day": ts.date() if ts else None}


def turn_row(turn: Turn, conclusion: Conclusion) -> Row:
    end = turn.end
    return {
        "provider": turn.provider,
        "model": turn.model,
        "prompt_id": turn.prompt_id,
        "prompt_hash": turn.prompt_hash,
        "user_text": kept(turn.text),
        "answer_text": kept(conclusion.answer),
        "ended_at": end.ts if end else None,
        "steps": max(len(turn.steps), turn.last_step + 1),
        "calls": len(turn.calls),
        "faults": sum(call.fault_layer is not None for call in turn.calls),
        "retries": sum(call.link is not None and call.link.attempt > 1 for call in turn.calls),
        "recorded_status": end.status if end else None,
        "recorded_ok": end.recorded_ok if end else None,
        "derived_ok": conclusion.ok,
        "derived_reason": conclusion.reason,
        "input_tokens": _sum(step.input_tokens for step in turn.steps.values()),
        "output_tokens": _sum(step.output_tokens for step in turn.steps.values()),
        "latency_ms": end.latency_ms if end else None,
        "model_latency_ms": _sum(step.latency_ms for step in turn.steps.values()),
        "begun": turn.begun,
        "first_step": turn.first_step,
    }


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def call_row(turn: Turn, call: Call) -> Row:
    """Everything of `tool_calls` that the turn knows. Tokens are those of the whole step that made it.

    All keys are always there: rows alike are turned into columns quickest.
    """
    event, verdict, link, result = call.event, call.verdict, call.link, call.result
    step = turn.steps.get(call.step)
    row: Row = {
        "step": call.step,
        "ordinal": call.ordinal,
        "provider": call.provider,
        "model": call.model,
        "prompt_id": call.prompt_id,
        "tool": call.tool,
        "tool_sent": event.tool if event.tool != call.tool else None,
        "tool_call_id": event.tool_call_id,
        "strategy": event.strategy or (step.strategy if step else None),
        "args_source": event.args_source,
        "outcome": verdict.outcome,
        "syntax_seen": verdict.syntax_seen,
        "schema_seen": verdict.schema_seen,
        "parse_error": verdict.parse_error,
        "parse_warning": verdict.parse_warning,
        "harness_verdict": verdict.harness_verdict,
        "harness_message": verdict.harness_message,
        "refused_by_harness": event.refused_by_harness,
        "syntax_told": event.syntax_seen,
        "schema_told": event.schema_seen,
        "definition_origin": verdict.definition_origin,
        "tools_offered": verdict.tools_offered,
        "fault_layer": verdict.fault_layer,
        "result_status": result.status if result else _MISSING,
        "error_flag_source": result.flag_source if result else _ABSENT,
        "result_text": result.content if result else None,
        "result_bytes": call.result_bytes,
        "result_fault_layer": result.fault_layer if result else None,
        "latency_ms": result.latency_ms if result else None,
        "retry_of": event.retry_of,
        "attempt": link.attempt if link else None,
        "retry_kind": link.retry_kind if link else None,
        "chain_outcome": link.outcome if link else None,
        "input_tokens": step.input_tokens if step else None,
        "output_tokens": step.output_tokens if step else None,
        "model_latency_ms": step.latency_ms if step else None,
        "parser_version": PARSER_VERSION,
    }
    _add_arguments(row, event, verdict.request)
    return row


def _add_arguments(row: Row, event: CallMade, request: ToolCallRequest | None) -> None:
    decoded = json_text(event.arguments) if event.arguments is not None else None
    findings = request.diagnostics if request else ()
    arguments = request.arguments if request else None
    row["raw_arguments"] = (decoded or "null") if event.args_source is _RESERIALISED else event.raw_arguments
    row["arguments"] = decoded if request is None else json_text(arguments) if arguments is not None else None
    row["rejected"] = json_text(spelled(request.rejected)) if request and request.rejected else None
    row["worst_severity"] = max((f.severity for f in findings), key=_SEVERITIES.index) if findings else None
    row["lossy"] = any(finding.lossy for finding in findings) if findings else False


def late_result_row(result: ResultSeen) -> Row:
    """A result whose call is not open: everything that a row of `tool_calls` would take from it."""
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
        "harness_message": result.message,
        "result_text": kept(result.content),
        "result_bytes": size_of(result.content),
        "latency_ms": result.latency_ms,
    }


def diagnostic_rows(verdict: Verdict) -> Iterator[Row]:
    """Lenient's findings on a call, in order; `position` counts from 0."""
    for position, finding in enumerate(verdict.request.diagnostics if verdict.request else ()):
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
    """The definition in its canonical JSON; `definition_id` is the hash of all that the model was told."""
    text = json_text(definition.to_json_schema(), sort_keys=True)
    told = f"{definition.name}\n{definition.description}\n{text}".encode("utf-8", "surrogatepass")
    return {
        "definition_id": sha256(told).hexdigest()[:12],
        "tool": definition.name,
        "description": definition.description,
        "definition": text,
    }
