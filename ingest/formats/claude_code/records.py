"""Makes events or values from parts of one Claude Code record, without state between records."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from ingest.decoding.fields import count_input_parts, read_count, read_object, read_text
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    ResultStatus,
    Strategy,
    Visibility,
)
from ingest.formats.claude_code.transcript_entries import ContentBlock, ToolReport, Usage, result_text
from ingest.formats.claude_code.user_lines import find_fault
from ingest.formats.provider_messages.message_hashes import is_unique

# Enum members are bound once, because an Enum look-up takes as long as making a small object.
_RESERIALISED, _MISSING = ArgsSource.RESERIALISED, ArgsSource.MISSING
_OK, _EXPLICIT = ResultStatus.OK, FlagSource.EXPLICIT
_FAILURES, _TOOL_USE = Visibility.FAILURES, Strategy.TOOL_USE
_UNSET = msgspec.UNSET


def names_one_call(call_id: str | None) -> bool:
    """Return True when no other tool call can have this id.

    Ids such as `call_1`, which some models use, are not unique.
    """
    return call_id is not None and (call_id.startswith("toolu_") or is_unique(call_id))


def make_call(session_id: str, block: ContentBlock, where: LogLine, ts: datetime | None) -> CallMade:
    arguments = block.arguments
    unparsed = _find_unparsed(arguments)
    call = CallMade(
        session_id=session_id,
        where=where,
        ts=ts,
        tool=block.name,
        tool_call_id=block.id,
        key=block.id if names_one_call(block.id) else None,
        arguments=arguments,
        args_source=_MISSING if block.input is _UNSET else _RESERIALISED,
        strategy=_TOOL_USE,
        syntax_seen=_FAILURES,
        schema_seen=_FAILURES,
    )
    return call if unparsed is None else _make_unparsed_call(call, *unparsed)


def _find_unparsed(arguments: Any) -> tuple[str, int] | None:
    """Return (text, length) of arguments that Claude Code could not parse. Return None for other arguments.

    The text may be cut. `length` is the length of the full text in bytes.
    """
    if not isinstance(arguments, dict) or "__unparsedToolInput" not in arguments:
        return None
    unparsed = read_object(arguments["__unparsedToolInput"])
    raw = read_text(unparsed.get("raw"))
    return None if raw is None else (raw, read_count(unparsed.get("len")) or 0)


def _make_unparsed_call(call: CallMade, raw: str, length: int) -> CallMade:
    is_whole = len(raw.encode("utf-8", "surrogatepass")) >= length
    return msgspec.structs.replace(
        call,
        raw_arguments=raw,
        arguments=None,
        args_source=ArgsSource.RAW if is_whole else ArgsSource.TRUNCATED,
        refused_by_harness=FaultLayer.SYNTAX,
        harness_message="Claude Code could not read the arguments as JSON",
    )


def make_lost_call(
    session_id: str,
    where: LogLine,
    ts: datetime | None,
    reason: str,
    tool: str | None = None,
    raw: str | None = None,
) -> CallMade:
    """Return the event of a tool call that the model began to write but did not complete.

    `raw` is the model's text of the call, or None when the log does not contain this text.
    """
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


def make_result(
    session_id: str, report: ToolReport | None, block: ContentBlock, where: LogLine, ts: datetime | None
) -> ResultSeen:
    content = result_text(block.content)
    fault = find_fault(content) if block.is_error else None
    return ResultSeen(
        session_id=session_id,
        where=where,
        ts=ts,
        tool_call_id=block.tool_use_id,
        status=fault.status if fault else _OK,
        flag_source=fault.flag_source if fault else _EXPLICIT,
        fault_layer=fault.layer if fault else None,
        message=_failure_reason(content) if fault else None,
        content=content,
        latency_ms=report.latency_ms if report else None,
    )


def _failure_reason(content: str) -> str:
    return content.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")[:MESSAGE_READ]


def count_input(usage: Usage | None) -> dict[str, Any]:
    """Return the counts of input tokens. Unlike the field `input_tokens`, they include cached tokens."""
    if usage is None:
        return {}
    return count_input_parts(
        usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    )
