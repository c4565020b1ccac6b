"""Messages of Bedrock's Converse API, as Strands agents and other programs save them.

**Files.**
- Dumps of `agent.messages`: an array, or one message per line.
- Objects with `messages` and `system_prompt`, alone or under the names of runs.
- Files of Strands' session manager, one message per file:
  `session_<id>/agents/agent_<id>/messages/message_<n>.json` (github.com/strands-agents/sdk-python). All files
  of a session folder are read as one log, and each agent is a session. A message file outside of such a
  folder is rejected.

These notes are based on six conversations in a fixture of strands-agents/evals and, for session folders, on
the source code.

**Fields.** `{role, content: [{text} | {toolUse: {toolUseId, name, input}} | {toolResult: {toolUseId, status,
content}}]}`. A block has one key and no `type`. A session file has this message as `message`
(`redact_message` if a guardrail changed it), next to `message_id` and `created_at`. Each conversation is a
session. In a session folder the session's id is the folder's id, followed by `/` and the agent's id unless
that is `default`. `session.json`, `agent.json` and `multi_agent.json` contain no messages.

**Rules.**
- Results are in a user message, which begins no turn.
- `status` error marks a failure.

**Not in the log.** The model's own argument text, the model and tool definitions. Only session files have
times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_time
from ingest.decoding.lines import make_snippet
from ingest.decoding.session_files import read_producer
from ingest.events import Event, Rejected
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.formats.provider_messages.bedrock_converse import is_message
from ingest.formats.provider_messages.model_requests import prompt_text
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="strands",
    title="Strands and other Converse messages",
    raw_arguments="no: Converse hands them over decoded",
    argument_failures="no",
    error_flag="partly: toolResult's status, where the client states it",
    definitions="no: supply them with --tools",
    system_prompt="partly: where the dump has it",
    model="no",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="The model, and what it wrote: a call whose text was not JSON never became a message.",
)

_REQUEST = frozenset(("modelId", "inferenceConfig", "toolConfig", "response", "output"))
_FILE = compile_regex(r"message_[0-9]{1,9}\.json")
_ALONE = "one message of a session; name the folder session_<id>, with agents/agent_<id>/messages in it"
_DEFAULT = "default"  # the id of an agent that has no own id


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    if head and (producer := read_producer(head[0])) is not None:
        return producer == SOURCE.name
    return bool(head) and all(map(_is_ours, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    if is_message(value):
        return "type" not in value
    return _is_session_message(value) or bool(_list_conversations(value))


def _is_session_message(value: Mapping[str, Any]) -> bool:
    return "message_id" in value and is_message(value.get("message"))


def _list_conversations(value: Mapping[str, Any]) -> list[Conversation]:
    conversations = [candidate for candidate in (value, *value.values()) if _is_conversation(candidate)]
    return [
        Conversation(
            conversation["messages"],
            system=prompt_text(conversation.get("system_prompt", conversation.get("system"))),
        )
        for conversation in conversations
    ]


def _is_conversation(value: Any) -> bool:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages or value.keys() & _REQUEST:
        return False
    return all(map(is_message, messages)) and any(message["role"] == "assistant" for message in messages)


def translator(about: About) -> Translator:
    return _StrandsMessages(about)


class _StrandsMessages(MessageDump):
    def __init__(self, about: About) -> None:
        super().__init__(about)
        self._is_piece = _FILE.fullmatch(about.name) is not None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if record.file is not None:
            yield from self._take_file(record, record.file.split("/"))
        elif read_producer(record.value) is not None:
            return
        elif self._is_piece and _is_session_message(record.value):
            yield Rejected(record.where, "missing_field", _ALONE, make_snippet(record.data))
        else:
            yield from super().take(record)

    def _take_file(self, record: Record, folders: list[str]) -> Iterator[Event | Rejected]:
        if folders[-2] != "messages":
            return
        if not _is_session_message(record.value):
            reason = "no message with a role and content"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            return
        session, agent = folders[0].removeprefix("session_"), folders[2].removeprefix("agent_")
        yield from self.take_message(session if agent == _DEFAULT else f"{session}/{agent}", record)

    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        return None if is_message(value) or _is_session_message(value) else _list_conversations(value)

    def unwrap(self, message: Mapping[str, Any]) -> tuple[Any]:
        changed = message.get("redact_message")
        return (changed if isinstance(changed, dict) else message.get("message", message),)

    def read_time(self, message: Mapping[str, Any]) -> datetime | None:
        return read_time(message.get("created_at"))
