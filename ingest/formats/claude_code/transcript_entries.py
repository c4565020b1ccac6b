"""Reads the needed fields of one line of a Claude Code transcript into typed objects.

`skim` decodes a line into declared types and skips fields that are not needed, such as copies of whole files.
This takes half the time of decoding the whole line. When a field has an unexpected type, `skim` raises an
error; `read_entry` then reads the fully decoded line and treats such a field as absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from ingest.decoding.fields import json_type, read_count, read_number, read_object, read_objects, read_text
from ingest.formats.provider_messages.chat_messages import name_images

SPEAKING = ("user", "assistant")
# types of the events that `claude -p` prints
_STREAMED = frozenset({None, *SPEAKING, "system", "stream_event", "result"})
_UNSET: Final = msgspec.UNSET


class ContentPart(msgspec.Struct, gc=False):
    """One part of a tool result's content."""

    type: str | None = None
    text: str | None = None


class ContentBlock(msgspec.Struct, gc=False):
    """A content block: text, a tool call or a tool result.

    `content` is set for results only: a string or a list of parts.
    """

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tool_use_id: str | None = None
    content: str | list[ContentPart] | None = None
    is_error: bool | None = None

    @property
    def arguments(self) -> Any:
        """The decoded `input`, or None when the block has no `input`."""
        return None if self.input is _UNSET else orjson.loads(memoryview(self.input))


class DecodedBlock(ContentBlock, gc=False):
    """A content block from a line that was decoded as a whole, so `input` is already decoded."""

    decoded_input: Any = None

    @property
    def arguments(self) -> Any:
        return self.decoded_input


class Usage(msgspec.Struct, gc=False):
    """Token counts of a message. A count that the record lacks is None."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class MessageBody(msgspec.Struct, gc=False):
    """The Anthropic message of a record."""

    id: str | None = None
    model: str | None = None
    content: str | list[ContentBlock] | None = None
    usage: Usage | None = None
    stop_reason: str | None = None

    @property
    def blocks(self) -> list[ContentBlock]:
        """The content blocks. A string as content counts as one text block."""
        return [ContentBlock("text", self.content)] if isinstance(self.content, str) else self.content or []


class ToolReport(msgspec.Struct, gc=False, rename="camel"):
    """What a record states about a finished tool call, in addition to the result that the model received.

    `content` is the answer of a sub-agent.
    """

    agent_id: str | None = None
    status: str | None = None
    content: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    duration_ms: float | msgspec.UnsetType | None = msgspec.UNSET
    total_duration_ms: float | None = None

    @property
    def latency_ms(self) -> float | None:
        duration = self.duration_ms
        return read_number(self.total_duration_ms if duration is _UNSET else duration)

    @property
    def answer(self) -> str:
        """The text of `content`, which is a string or content blocks."""
        content = self.content
        return "" if content is _UNSET else _join_texts(orjson.loads(memoryview(content)))


class DecodedReport(ToolReport, gc=False):
    """A tool report from a line that was decoded as a whole, so `content` is already decoded."""

    decoded_content: Any = None

    @property
    def answer(self) -> str:
        return _join_texts(self.decoded_content)


class TranscriptEntry(msgspec.Struct, gc=False, rename="camel"):
    """One record of the transcript."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    started_by: str | None = msgspec.field(default=None, name="parentToolUseID")
    duration_ms: float | None = None
    message: MessageBody | None = None
    tool_use_result: ToolReport | str | list[msgspec.Raw] | bool | float | None = None
    data: _Progress | None = None


class _Progress(msgspec.Struct, gc=False, rename="camel"):
    """The data of a progress record. `message` is a record of the sub-agent."""

    type: str | None = None
    agent_id: str | None = None
    message: TranscriptEntry | None = None


class UnusableEntry(NamedTuple):
    """The reason why a message record cannot be used, as a reject code and a sentence."""

    code: str
    reason: str


# fields that the inner record takes from its progress record
_OF_PROGRESS = ("sessionId", "version", "timestamp", "cwd", "gitBranch")
_DECODE = msgspec.json.Decoder(TranscriptEntry).decode


def skim(data: bytes) -> TranscriptEntry | UnusableEntry | None:
    """Return the entry of a line. Return None when the line contains nothing to translate.

    Return an `UnusableEntry` for a message that lacks a required field. Raise ValueError or RecursionError
    for a line that is not JSON or has a field of an unexpected type.
    """
    entry = _DECODE(data)
    if entry.session_id is None and entry.type in _STREAMED:
        raise ValueError("a document of records, or an event of a headless run: read whole")
    if entry.type == "progress" and entry.data is not None and entry.data.type == "agent_progress":
        entry = _unwrap_inner(entry, entry.data)
    if entry.type in SPEAKING:
        if entry.session_id is None or entry.message is None:
            return _missing_field("sessionId" if entry.session_id is None else "message", entry.type)
        return entry
    return entry if entry.type == "system" and entry.session_id is not None else None


def _unwrap_inner(outer: TranscriptEntry, progress: _Progress) -> TranscriptEntry:
    """Return the sub-agent's record inside a progress record. Missing fields are copied from the progress
    record.
    """
    entry = progress.message or TranscriptEntry()
    entry.session_id = entry.session_id or outer.session_id
    entry.version = entry.version or outer.version
    entry.timestamp = entry.timestamp or outer.timestamp
    entry.cwd, entry.git_branch = entry.cwd or outer.cwd, entry.git_branch or outer.git_branch
    entry.started_by = outer.started_by
    entry.is_sidechain, entry.agent_id = True, progress.agent_id
    return entry


def read_entry(record: dict[str, Any]) -> TranscriptEntry | UnusableEntry | None:
    """Return the entry of a decoded line. Return None when the line contains nothing to translate.

    Return an `UnusableEntry` for a message in which a required field is missing or has the wrong type.
    """
    inner = _find_inner_record(record)
    if inner.get("type") in SPEAKING:
        return _find_problem(inner) or _make_entry(inner)
    is_in_session = inner.get("type") == "system" and isinstance(inner.get("sessionId"), str)
    return _make_entry(inner) if is_in_session else None


def _find_inner_record(record: dict[str, Any]) -> dict[str, Any]:
    data = read_object(record.get("data"))
    if record.get("type") != "progress" or data.get("type") != "agent_progress":
        return record
    shared = {name: record.get(name) for name in _OF_PROGRESS}
    inner = {
        **shared,
        **read_object(data.get("message")),
        "isSidechain": True,
        "agentId": data.get("agentId"),
    }
    return inner | {"parentToolUseID": record.get("parentToolUseID")}


def _find_problem(record: Mapping[str, Any]) -> UnusableEntry | None:
    kind = record["type"]
    for name, due in (("sessionId", "string"), ("message", "object")):
        json_kind = json_type(record.get(name))
        if json_kind == "null":
            return _missing_field(name, kind)
        if json_kind != due:
            return UnusableEntry(
                "wrong_type", f"{name} of the {kind} record is a JSON {json_kind}, not a JSON {due}"
            )
    return None


def _missing_field(name: str, kind: str) -> UnusableEntry:
    return UnusableEntry("missing_field", f"the {kind} record has no {name}")


def _make_entry(record: Mapping[str, Any]) -> TranscriptEntry:
    report = record.get("toolUseResult")
    return TranscriptEntry(
        type=read_text(record.get("type")),
        subtype=read_text(record.get("subtype")),
        uuid=read_text(record.get("uuid")),
        parent_uuid=read_text(record.get("parentUuid")),
        session_id=read_text(record.get("sessionId")),
        agent_id=read_text(record.get("agentId")),
        is_sidechain=record.get("isSidechain") is True,
        is_meta=bool(record.get("isMeta")),
        is_compact_summary=bool(record.get("isCompactSummary")),
        is_api_error_message=record.get("isApiErrorMessage") is True,
        timestamp=read_text(record.get("timestamp")),
        version=read_text(record.get("version")),
        cwd=read_text(record.get("cwd")),
        git_branch=read_text(record.get("gitBranch")),
        started_by=read_text(record.get("parentToolUseID")),
        duration_ms=read_number(record.get("durationMs")),
        message=_read_body(read_object(record.get("message"))),
        tool_use_result=_read_report(report) if isinstance(report, dict) else None,
    )


def _read_report(report: Mapping[str, Any]) -> ToolReport:
    return DecodedReport(
        agent_id=read_text(report.get("agentId")),
        status=read_text(report.get("status")),
        duration_ms=read_number(report["durationMs"]) if "durationMs" in report else msgspec.UNSET,
        total_duration_ms=read_number(report.get("totalDurationMs")),
        decoded_content=report.get("content"),
    )


def _read_body(message: Mapping[str, Any]) -> MessageBody:
    content, usage = message.get("content"), read_object(message.get("usage"))
    return MessageBody(
        id=read_text(message.get("id")),
        model=read_text(message.get("model")),
        content=content
        if isinstance(content, str)
        else [_read_block(block) for block in read_objects(content)],
        usage=Usage(*(read_count(usage.get(name)) for name in Usage.__struct_fields__)) if usage else None,
        stop_reason=read_text(message.get("stop_reason")),
    )


def _read_block(block: Mapping[str, Any]) -> ContentBlock:
    content = block.get("content")
    return DecodedBlock(
        type=read_text(block.get("type")),
        text=read_text(block.get("text")),
        id=read_text(block.get("id")),
        name=read_text(block.get("name")),
        input=msgspec.Raw(b"null") if "input" in block else msgspec.UNSET,
        tool_use_id=read_text(block.get("tool_use_id")),
        content=content if isinstance(content, str) else _read_parts(content),
        is_error=block.get("is_error") is True,
        decoded_input=block.get("input"),
    )


def _read_parts(content: Any) -> list[ContentPart]:
    return [
        ContentPart(read_text(part.get("type")), read_text(part.get("text")))
        for part in read_objects(content)
    ]


def _join_texts(content: Any) -> str:
    """Return the text of a message: its string content, or its text blocks joined with newlines."""
    if isinstance(content, str):
        return content
    return "\n".join(
        read_text(part.get("text")) or "" for part in read_objects(content) if part.get("type") == "text"
    )


def join_part_texts(parts: Sequence[ContentPart | ContentBlock]) -> str:
    return "\n".join([part.text or "" for part in parts if part.type == "text"])


def result_text(content: str | list[ContentPart] | None) -> str:
    """Return the text of a tool result. Return `[image]` when the result has only images."""
    if isinstance(content, str):
        return content
    parts = content or ()
    return join_part_texts(parts) or name_images(sum(part.type == "image" for part in parts)) or ""
