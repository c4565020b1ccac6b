"""Claude.ai's data export: `conversations.json`, or one conversation as the website's API returns it.

**Files.** Sources: Anthropic's export; conversations of osteele/claude-chat-viewer, one of them real.

**Fields.** `{uuid, name, model?, created_at, chat_messages[], current_leaf_message_uuid?}`, in an array or
alone. A message is `{uuid, sender: human | assistant, text, content[], created_at, parent_message_uuid?}`.
`content` has Anthropic's blocks; older exports have only `text`.

**Rules.**
- `tool_use` and `tool_result` are in the same message of the model, mostly without ids. A result belongs to
  the first call before it that has no result yet. Model text after a result begins a new step.
- If messages name their parents, the conversation is the path from the root to the current leaf. Other
  branches are not read.
- An artifact in the text (`<antArtifact>`) is part of the answer, not a call.

**Limits.** `--max-line` limits the size of an array.

**Not in the log.** Tool definitions, tokens, the model's own argument text and, in an account's export, the
model. No export with results was available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_objects, read_text, read_time
from ingest.events import Event, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks, result_fields
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="claude_ai_export",
    title="Claude.ai data exports",
    raw_arguments="no: the decoded object",
    argument_failures="no",
    error_flag="partly: is_error, where a result has it",
    definitions="no",
    system_prompt="no",
    model="partly: where the conversation names it",
    turn_end="no: concluded from the last message",
    cannot_tell="Clean and repaired arguments cannot be distinguished. Discarded branches are not read.",
)

_ROOT = "00000000-0000-4000-8000-000000000000"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any("uuid" in record and isinstance(record.get("chat_messages"), list) for record in head[:5])


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_conversation)


def _take_conversation(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    dialogue = AgentSession(read_text(value.get("uuid")) or session_id)
    yield SessionSeen(
        session_id=dialogue.session_id,
        where=record.where,
        ts=read_time(value.get("created_at")),
        harness="claude.ai",
        model=read_text(value.get("model")),
    )
    for message in _find_path(value):
        yield from _take_message(message, dialogue, record)
    yield from dialogue.close_turn()


def _find_path(conversation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the first message to the current one in the message tree.

    Return all messages if no message names its parent.
    """
    messages = read_objects(conversation.get("chat_messages"))
    by_id = {ident: message for message in messages if (ident := read_text(message.get("uuid")))}
    if not any(read_text(message.get("parent_message_uuid")) in by_id for message in messages):
        return messages
    at = read_text(conversation.get("current_leaf_message_uuid")) or read_text(messages[-1].get("uuid"))
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    while at is not None and at in by_id and at not in seen and at != _ROOT:
        seen.add(at)
        path.append(by_id[at])
        at = read_text(by_id[at].get("parent_message_uuid"))
    return path[::-1]


def _take_message(message: Mapping[str, Any], dialogue: AgentSession, record: Record) -> Iterator[Event]:
    ident, ts = read_text(message.get("uuid")), read_time(message.get("created_at"))
    where = record.find_line(f'"{ident}"') if ident is not None else record.where
    blocks = list_blocks(message.get("content"))
    words = join_text(blocks) or read_text(message.get("text"))
    if message.get("sender") == "human":
        dialogue.ask(where, ts, words, unique_id(ident))
        return
    for step in _split_steps(blocks or [{"type": "text", "text": words or ""}]):
        yield from dialogue.add_step(where, ts, join_text(step) or ("" if blocks else words))
        for call in call_fields(step):
            yield dialogue.add_call(where, ts, **call)
        for result in result_fields(step, ()):
            yield ResultSeen(session_id=dialogue.session_id, where=where, ts=ts, **result)


def _split_steps(blocks: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the content blocks of each model reply in a message. A new reply begins after each group of tool
    results.
    """
    step: list[dict[str, Any]] = []
    for block in blocks:
        if step and step[-1].get("type") == "tool_result" and block.get("type") != "tool_result":
            yield step
            step = []
        step.append(block)
    yield step
