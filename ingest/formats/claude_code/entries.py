"""A line of a Claude Code transcript in, the fields of it that mean something out, typed; keeps no state.

Two ways lead to an `Entry`. `skim` decodes by type and passes over what no field asks for, such as copies of
whole files, in half the time that decoding the line takes. What it refuses, because a field has another type
than it should, `entry_of` reads from the decoded object; such a field counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from ingest.fields import kind_of, number, table, tables, text, whole

SPEAKING = ("user", "assistant")
_UNSET: Final = msgspec.UNSET


class Part(msgspec.Struct, gc=False):
    """A piece of a result's content."""

    type: str | None = None
    text: str | None = None


class Block(msgspec.Struct, gc=False):
    """A content block: text, a call, a result. `content` of a result is a text or its parts."""

    type: str | None = None
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    tool_use_id: str | None = None
    content: str | list[Part] | None = None
    is_error: bool | None = None

    @property
    def arguments(self) -> Any:
        """The decoded `input`; None where there is none."""
        return None if self.input is _UNSET else orjson.loads(memoryview(self.input))


class DecodedBlock(Block, gc=False):
    """A block whose `input` was decoded with its line."""

    given: Any = None

    @property
    def arguments(self) -> Any:
        return self.given


class Usage(msgspec.Struct, gc=False):
    """Token counts, None where the record has none."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class Body(msgspec.Struct, gc=False):
    """The Anthropic message in a record."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Usage | None = None
    stop_reason: str | None = None

    @property
    def blocks(self) -> list[Block]:
        """The content blocks; a plain text is one of them."""
        return [Block("text", self.content)] if isinstance(self.content, str) else self.content or []


class Report(msgspec.Struct, gc=False, rename="camel"):
    """What a tool reported beside the result that the model saw. `content` is a sub-agent's answer."""

    agent_id: str | None = None
    status: str | None = None
    content: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    duration_ms: float | msgspec.UnsetType | None = msgspec.UNSET
    total_duration_ms: float | None = None

    @property
    def latency_ms(self) -> float | None:
        told = self.duration_ms
        return number(self.total_duration_ms if told is _UNSET else told)

    @property
    def answer(self) -> str:
        """The text of `content`, a text or content blocks."""
        content = self.content
        return "" if content is _UNSET else _text_in(orjson.loads(memoryview(content)))


class DecodedReport(Report, gc=False):
    """A report whose `content` was decoded with its line."""

    given: Any = None

    @property
    def answer(self) -> str:
        return _text_in(self.given)


class Entry(msgspec.Struct, gc=False, rename="camel"):
    """A record."""

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
    duration_ms: float | None = None
    message: Body | None = None
    tool_use_result: Report | str | list[msgspec.Raw] | bool | float | None = None
    data: _Progress | None = None


class _Progress(msgspec.Struct, gc=False, rename="camel"):
    """What a progress record reports; `message` is a record of a sub-agent."""

    type: str | None = None
    agent_id: str | None = None
    message: Entry | None = None


class Unusable(NamedTuple):
    """Why what somebody said cannot be used: a reject code and a sentence."""

    code: str
    reason: str


_DECODE = msgspec.json.Decoder(Entry).decode


def skim(data: bytes) -> Entry | Unusable | None:
    """The entry of a line, None where the line means nothing.

    Raises ValueError or RecursionError for what is no JSON, or has fields of another type.
    """
    entry = _DECODE(data)
    if entry.type == "progress" and entry.data is not None and entry.data.type == "agent_progress":
        entry = _inner(entry, entry.data)
    if entry.type in SPEAKING:
        if entry.session_id is None or entry.message is None:
            return _without("sessionId" if entry.session_id is None else "message", entry.type)
        return entry
    return entry if entry.type == "system" and entry.session_id is not None else None


def _inner(outer: Entry, progress: _Progress) -> Entry:
    """A sub-agent's record out of the progress record that reports it."""
    entry = progress.message or Entry()
    entry.session_id = entry.session_id or outer.session_id
    entry.version = entry.version or outer.version
    entry.timestamp = entry.timestamp or outer.timestamp
    entry.is_sidechain, entry.agent_id = True, progress.agent_id
    return entry


def entry_of(record: dict[str, Any]) -> Entry | Unusable | None:
    """The entry of a decoded line, None where the line means nothing."""
    found = _inner_object(record)
    if found.get("type") in SPEAKING:
        return _unusable(found) or _entry(found)
    is_said = found.get("type") == "system" and isinstance(found.get("sessionId"), str)
    return _entry(found) if is_said else None


def _inner_object(record: dict[str, Any]) -> dict[str, Any]:
    data = table(record.get("data"))
    if record.get("type") != "progress" or data.get("type") != "agent_progress":
        return record
    shared = {name: record.get(name) for name in ("sessionId", "version", "timestamp")}
    return {**shared, **table(data.get("message")), "isSidechain": True, "agentId": data.get("agentId")}


def _unusable(record: Mapping[str, Any]) -> Unusable | None:
    kind = record["type"]
    for name, due in (("sessionId", "string"), ("message", "object")):
        found = kind_of(record.get(name))
        if found == "null":
            return _without(name, kind)
        if found != due:
            return Unusable("wrong_type", f"{name} of the {kind} record is a JSON {found}, not a JSON {due}")
    return None


def _without(name: str, kind: str) -> Unusable:
    return Unusable("missing_field", f"the {kind} record has no {name}")


def _entry(record: Mapping[str, Any]) -> Entry:
    report = record.get("toolUseResult")
    return Entry(
        type=text(record.get("type")),
        subtype=text(record.get("subtype")),
        uuid=text(record.get("uuid")),
        parent_uuid=text(record.get("parentUuid")),
        session_id=text(record.get("sessionId")),
        agent_id=text(record.get("agentId")),
        is_sidechain=record.get("isSidechain") is True,
        is_meta=bool(record.get("isMeta")),
        is_compact_summary=bool(record.get("isCompactSummary")),
        is_api_error_message=record.get("isApiErrorMessage") is True,
        timestamp=text(record.get("timestamp")),
        version=text(record.get("version")),
        duration_ms=number(record.get("durationMs")),
        message=_body(table(record.get("message"))),
        tool_use_result=_report(report) if isinstance(report, dict) else None,
    )


def _report(report: Mapping[str, Any]) -> Report:
    return DecodedReport(
        agent_id=text(report.get("agentId")),
        status=text(report.get("status")),
        duration_ms=number(report["durationMs"]) if "durationMs" in report else msgspec.UNSET,
        total_duration_ms=number(report.get("totalDurationMs")),
        given=report.get("content"),
    )


def _body(message: Mapping[str, Any]) -> Body:
    content, usage = message.get("content"), table(message.get("usage"))
    return Body(
        id=text(message.get("id")),
        model=text(message.get("model")),
        content=content if isinstance(content, str) else [_block(block) for block in tables(content)],
        usage=Usage(*(whole(usage.get(name)) for name in Usage.__struct_fields__)) if usage else None,
        stop_reason=text(message.get("stop_reason")),
    )


def _block(block: Mapping[str, Any]) -> Block:
    content = block.get("content")
    return DecodedBlock(
        type=text(block.get("type")),
        text=text(block.get("text")),
        id=text(block.get("id")),
        name=text(block.get("name")),
        input=msgspec.Raw(b"null") if "input" in block else msgspec.UNSET,
        tool_use_id=text(block.get("tool_use_id")),
        content=content if isinstance(content, str) else _parts(content),
        is_error=block.get("is_error") is True,
        given=block.get("input"),
    )


def _parts(content: Any) -> list[Part]:
    return [Part(text(part.get("type")), text(part.get("text"))) for part in tables(content)]


def _text_in(content: Any) -> str:
    """The text of a message: as it is, or that of its text blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) or "" for part in tables(content) if part.get("type") == "text")


def text_of(parts: Sequence[Part | Block]) -> str:
    return "\n".join([part.text or "" for part in parts if part.type == "text"])


def content_text(content: str | list[Part] | None) -> str:
    """The text of a result."""
    return content if isinstance(content, str) else text_of(content or ())
