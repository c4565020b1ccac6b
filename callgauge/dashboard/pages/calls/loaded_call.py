"""Reads one call with its diagnostics and its tool definition from the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.reparsed_call import restore_definition
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.finding_list import Finding
from lenient import ToolDefinition

Row = Mapping[Any, Any]


@dataclass(frozen=True, slots=True)
class LoadedCall:
    """One tool call: a row of the metric `call`, the diagnostics in order, and the tool definition.

    `tool` and `description` are None when the store has no definition.
    """

    row: Row
    findings: tuple[Finding, ...]
    tool: ToolDefinition | None
    description: str | None


def load_call(call_id: str) -> LoadedCall | None:
    """Return the call with this id. Return None if the store has no such call."""
    rows = store_queries.ask("call", call=call_id)
    if rows.empty:
        return None
    row: Row = rows.iloc[0].to_dict()
    records = store_queries.ask("call_findings", call=row["call_id"], file=row["file_id"]).to_dict("records")
    description = _tool_description(row)
    findings = tuple(_make_finding(record) for record in records)
    return LoadedCall(row, findings, restore_definition(row, description), description)


def _tool_description(row: Row) -> str | None:
    if row["definition_id"] is None:
        return None
    rows = store_queries.ask("version_text", kind="tool", id=row["definition_id"])
    return None if rows.empty else rows.iloc[0].text


def _make_finding(record: Row) -> Finding:
    return Finding(
        code=record["code"],
        stage=record["stage"],
        severity=record["severity"],
        lossy=record["lossy"],
        path=record["path"],
        start=record["span_start"],
        end=record["span_end"],
        found=record["found"],
        became=record["became"],
        detail=record["detail"],
        summary=record["summary"],
        why=record["why"],
    )
