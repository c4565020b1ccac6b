"""Converts parser results and diagnostic codes to plain data for JSON."""

from __future__ import annotations

from typing import Any

from ingest.sessions.stored_text import spell_non_finite
from lenient import Diagnostic, Policy, ToolCallRequest
from lenient.diagnostics.codes import Code
from lenient.examples import run_example


def request_data(request: ToolCallRequest) -> dict[str, Any]:
    """Return the complete result of parsing one tool call as a dict for JSON."""
    raw = request.raw_arguments
    return {
        "tool_name": request.tool_name,
        "raw_arguments": raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace"),
        "outcome": request.outcome,
        "arguments": request.arguments,
        "rejected": spell_non_finite(request.rejected),
        "parse_error": request.parse_error,
        "parse_warning": request.parse_warning,
        "accepted_under": list_accepting_policies(request),
        "lossy": request.lossy,
        "diagnostics": [_finding_data(finding) for finding in request.diagnostics],
    }


def list_accepting_policies(request: ToolCallRequest) -> list[str]:
    """Return the names of the policies that accept this parsed call."""
    return [policy.value for policy in Policy if request.accepted_under(policy)]


def code_data(code: Code) -> dict[str, Any]:
    """Return the meaning of a diagnostic code, and the parser's result for an example."""
    facts = {name: getattr(code, name) for name in ("name", "stage", "severity", "lossy", "summary", "why")}
    return {**facts, "example": request_data(run_example(code))}


def _finding_data(finding: Diagnostic) -> dict[str, Any]:
    judged = {"stage": finding.stage, "severity": finding.severity, "lossy": finding.lossy}
    return {**finding._asdict(), **judged, "message": finding.message}
