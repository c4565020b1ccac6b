"""The parts of one Claude Code record in, one event or value each out; keeps no state between records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.events import (
    ArgsSource,
    CallMade,
    FaultLayer,
    FlagSource,
    ResultSeen,
    ResultStatus,
    Seen,
    Strategy,
    Where,
)
from ingest.fields import number, table, tables, text, whole
from ingest.formats.claude_code.texts import fault_in

MESSAGE = 500  # characters of a failed result that are kept as its reason


def call_made(session_id: str, block: Mapping[str, Any], where: Where, ts: datetime | None) -> CallMade:
    given = block.get("input")
    unparsed = table(table(given).get("__unparsedToolInput"))
    raw = text(unparsed.get("raw"))
    source = ArgsSource.RESERIALISED if "input" in block else ArgsSource.MISSING
    if raw is not None:
        size = len(raw.encode("utf-8", "surrogatepass"))
        source = ArgsSource.RAW if size >= (whole(unparsed.get("len")) or 0) else ArgsSource.TRUNCATED
    return CallMade(
        session_id=session_id,
        where=where,
        ts=ts,
        tool=text(block.get("name")),
        tool_call_id=text(block.get("id")),
        key=text(block.get("id")),
        raw_arguments=raw,
        arguments=given if raw is None else None,
        args_source=source,
        strategy=Strategy.TOOL_USE,
        refused_by_harness=FaultLayer.SYNTAX if raw is not None else None,
        harness_message="Claude Code could not read the arguments as JSON" if raw is not None else None,
        syntax_seen=Seen.FAILURES,
        schema_seen=Seen.FAILURES,
    )


def lost_call(
    session_id: str,
    where: Where,
    ts: datetime | None,
    reason: str,
    tool: str | None = None,
    raw: str | None = None,
) -> CallMade:
    """A call that never became one: what the model wrote of it, where the log has that at all."""
    return CallMade(
        session_id=session_id,
        where=where,
        ts=ts,
        tool=tool,
        raw_arguments=raw,
        args_source=ArgsSource.RAW if raw is not None else ArgsSource.MISSING,
        refused_by_harness=FaultLayer.EMISSION,
        harness_message=reason,
    )


def result_seen(
    session_id: str,
    record: Mapping[str, Any],
    block: Mapping[str, Any],
    where: Where,
    ts: datetime | None,
) -> ResultSeen:
    content = text_of(blocks_of(block.get("content")))
    fault = fault_in(content) if block.get("is_error") is True else None
    report = table(record.get("toolUseResult"))
    return ResultSeen(
        session_id=session_id,
        where=where,
        ts=ts,
        tool_call_id=text(block.get("tool_use_id")),
        status=fault.status if fault else ResultStatus.OK,
        flag_source=fault.flag_source if fault else FlagSource.EXPLICIT,
        fault_layer=fault.layer if fault else None,
        message=_reason(content) if fault else None,
        content=content,
        latency_ms=number(report.get("durationMs", report.get("totalDurationMs"))),
    )


def _reason(content: str) -> str:
    return content.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")[:MESSAGE]


def blocks_of(content: Any) -> list[Mapping[str, Any]]:
    """The content blocks of a message; a plain text is one of them."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(tables(content))


def text_of(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text(block.get("text")) or "" for block in blocks if block.get("type") == "text")


def input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens the model read, from the cache or not; `input_tokens` alone leaves the cache out."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [count for name in names if (count := whole(usage.get(name))) is not None]
    return sum(counts) if counts else None
