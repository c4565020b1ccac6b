"""Judged turns, calls, prompts and definitions in, rows of schema.sql's tables out; keeps no state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from hashlib import blake2b, sha256
from typing import Any

from ingest.events import ArgsSource, CallMade, FlagSource, PromptSeen, ResultStatus
from ingest.judgement import Verdict
from ingest.texts import json_text, kept, spelled
from ingest.turns import Call, Conclusion, Turn
from lenient import PARSER_VERSION, ToolDefinition

Row = dict[str, Any]
_SEVERITIES = ("note", "warning", "error")


def identity(*parts: object) -> str:
    """A stable id of what the parts name: 16 hexadecimal digits, the same in every file and every load."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()


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
        "first_step": min([*turn.steps, *(call.step for call in turn.calls)], default=None),
    }


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def call_row(turn: Turn, call: Call) -> Row:
    """Everything of `tool_calls` that the turn knows. Tokens are those of the whole step that made it."""
    event, verdict, link = call.event, call.verdict, call.link
    step = turn.steps.get(call.step)
    return {
        "step": call.step,
        "ordinal": call.ordinal,
        "provider": call.provider,
        "model": call.model,
        "prompt_id": call.prompt_id,
        "tool": call.tool,
        "tool_sent": event.tool if event.tool != call.tool else None,
        "tool_call_id": event.tool_call_id,
        "strategy": event.strategy or (step.strategy if step else None),
        **_arguments_row(event, verdict),
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
        **_result_row(call),
        "retry_of": event.retry_of,
        "attempt": link.attempt if link else None,
        "retry_kind": link.retry_kind if link else None,
        "chain_outcome": link.outcome if link else None,
        "input_tokens": step.input_tokens if step else None,
        "output_tokens": step.output_tokens if step else None,
        "model_latency_ms": step.latency_ms if step else None,
        "parser_version": PARSER_VERSION,
    }


def _arguments_row(event: CallMade, verdict: Verdict) -> Row:
    request = verdict.request
    raw = event.raw_arguments
    if event.args_source is ArgsSource.RESERIALISED:
        raw = json_text(event.arguments)
    findings = request.diagnostics if request else ()
    arguments = request.arguments if request else event.arguments
    return {
        "raw_arguments": raw,
        "args_source": event.args_source,
        "arguments": json_text(arguments) if arguments is not None else None,
        "rejected": json_text(spelled(request.rejected)) if request and request.rejected else None,
        "worst_severity": max((f.severity for f in findings), key=_SEVERITIES.index, default=None),
        "lossy": any(finding.lossy for finding in findings),
    }


def _result_row(call: Call) -> Row:
    result = call.result
    if result is None:
        return {
            "result_status": ResultStatus.MISSING,
            "error_flag_source": FlagSource.ABSENT,
            "result_text": None,
        }
    return {
        "result_status": result.status,
        "error_flag_source": result.flag_source,
        "result_text": result.content,
        "result_bytes": call.result_bytes,
        "result_fault_layer": result.fault_layer,
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
