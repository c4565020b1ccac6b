"""ChatGPT's data export: `conversations.json` (or `conversations-000.json` …), or a single conversation.

**Files.** Sources: OpenAI's export; artificial conversations of mitkury/chatgpt-export-parser and
jonathan-kellerai/cross_agent_session_resumer.

**Fields.** An array of `{id, title, create_time, current_node, mapping}`. `mapping` has one node `{id,
parent, children, message}` for each message `{author.{role, name}, content.{content_type, parts | text},
recipient, create_time, end_turn, metadata.{model_slug, …}}`.

**Rules.**
- The messages form a tree. The conversation is the path from the root to `current_node`. If there is no
  `current_node`, the path leads to the newest leaf. Other branches are regenerated answers or edited
  questions and are not read.
- A model's message whose `recipient` is not `all` is a call. Its text is the arguments. For `python` the text
  is code. Any other text is the model's own JSON if it begins with `{`; otherwise it is free text.
- A result is a message with the role `tool`. It belongs to the call that is its parent. If its parent is not
  a call, it belongs to the last call.

**Limits.** `--max-line` limits the size of an array.

**Not in the log.** Tool definitions, tokens and most failures. No export with calls was available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_epoch_ms, read_number, read_object, read_text
from ingest.events import (
    ArgsSource,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    SessionSeen,
)
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="chatgpt_export",
    title="ChatGPT data exports",
    raw_arguments="partly: where a call was written as JSON",
    argument_failures="partly: parsed from the model's own text if it is JSON",
    error_flag="partly: of Python, and of errors that the system reports",
    definitions="no",
    system_prompt="no",
    model="yes: per message",
    turn_end="partly: end_turn of the last message, without a verdict",
    cannot_tell="Most results have no flag: they stay unknown. Answers that were made again are not read.",
)

_THOUGHTS = ("thoughts", "reasoning_recap")
_NO_PERSON = ("user_editable_context", "model_editable_context")
_CODE = ("python", "container.exec")
_KEYS = {"mapping", "create_time"}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(record.keys() >= _KEYS and _has_authors(record["mapping"]) for record in head[:5])


def _has_authors(mapping: Any) -> bool:
    messages = (read_object(read_object(node).get("message")) for node in read_object(mapping).values())
    return any("author" in message and "content" in message for message in messages)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_conversation)


def _take_conversation(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    named = read_text(value.get("conversation_id")) or read_text(value.get("id"))
    dialogue = AgentSession(named or session_id)
    yield SessionSeen(
        session_id=dialogue.session_id,
        where=record.where,
        ts=_read_seconds(value.get("create_time")),
        harness="chatgpt",
    )
    calls: set[str] = set()
    last: str | None = None
    for ident, parent, message in _find_path(value):
        role = read_object(message.get("author")).get("role")
        where = record.find_line(f'"{ident}"')
        if role == "user" and not _is_hidden(message):
            dialogue.ask(
                where, _read_seconds(message.get("create_time")), _read_words(message), unique_id(ident)
            )
        elif role == "assistant" and _content_type(message) not in _THOUGHTS:
            made = message.get("recipient") not in (None, "all")
            yield from _make_step(message, dialogue, where, ident if made else None)
            if made:
                calls.add(ident)
                last = ident
        elif role == "tool" and last is not None:
            call_id = parent if parent in calls else last
            yield _make_result(message, dialogue, where, call_id)
    yield from dialogue.close_turn()


def _find_path(conversation: Mapping[str, Any]) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Return the id, parent and message of each node from the root to the current node.

    Nodes without a message are left out.
    """
    mapping = read_object(conversation.get("mapping"))
    at: Any = conversation.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        at = max(mapping, key=lambda ident: _made_at(mapping[ident]), default=None)
    path: list[tuple[str, str | None, dict[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        node = read_object(mapping[at])
        parent = read_text(node.get("parent"))
        if message := read_object(node.get("message")):
            path.append((at, parent, message))
        at = parent
    return path[::-1]


def _made_at(node: Any) -> float:
    return read_number(read_object(read_object(node).get("message")).get("create_time")) or 0.0


def _is_hidden(message: Mapping[str, Any]) -> bool:
    hidden = read_object(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    return hidden or _content_type(message) in _NO_PERSON


def _content_type(message: Mapping[str, Any]) -> str | None:
    return read_text(read_object(message.get("content")).get("content_type"))


def _read_words(message: Mapping[str, Any]) -> str | None:
    content = read_object(message.get("content"))
    parts = content.get("parts")
    texts = (
        [read_text(part) or read_text(read_object(part).get("text")) for part in parts]
        if isinstance(parts, list)
        else [read_text(content.get("text"))]
    )
    return "\n".join(part for part in texts if part) or None


def _make_step(
    message: Mapping[str, Any], dialogue: AgentSession, where: LogLine, call_id: str | None
) -> Iterator[Event]:
    words, ts = _read_words(message) or "", _read_seconds(message.get("create_time"))
    model = read_text(read_object(message.get("metadata")).get("model_slug"))
    yield from dialogue.add_step(where, ts, None if call_id else words, model=model)
    if call_id is not None:
        tool = read_text(message.get("recipient"))
        raw = words.lstrip().startswith("{") and tool not in _CODE
        sent: dict[str, Any] = (
            {"raw_arguments": words, "args_source": ArgsSource.RAW}
            if raw
            else {"arguments": {"input": words}, "args_source": ArgsSource.RESERIALISED}
        )
        yield dialogue.add_call(where, ts, tool=tool, **native_call_fields(call_id), **sent)


def _make_result(
    message: Mapping[str, Any], dialogue: AgentSession, where: LogLine, call_id: str
) -> ResultSeen:
    content = _read_words(message)
    run = read_text(read_object(read_object(message.get("metadata")).get("aggregate_result")).get("status"))
    flag = ResultFlag()
    if _content_type(message) == "system_error" or (run or "").startswith("failed"):
        flag = failed_flag(content or run or "", FaultLayer.EXECUTION, FlagSource.EXPLICIT)
    elif run == "success":
        flag = PASSED
    return ResultSeen(
        session_id=dialogue.session_id,
        where=where,
        ts=_read_seconds(message.get("create_time")),
        tool_call_id=call_id,
        content=content,
        **flag.fields,
    )


def _read_seconds(value: Any) -> datetime | None:
    seconds = read_number(value)
    return read_epoch_ms(seconds * 1000) if seconds is not None else None
