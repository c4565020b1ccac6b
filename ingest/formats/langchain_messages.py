"""LangChain messages: conversations saved with `messages_to_dict`, `dumps` or as a LangGraph state.

**Files.** Dumps that applications write themselves. LangGraph's threads (`GET /threads/<id>/state`) have the
messages in `values.messages`, its checkpoints in `channel_values.messages`. The states of a thread repeat
messages; a message with an id counts once. No real file was available; the fields are those of the
serialisers (github.com/langchain-ai/langchain, `langchain_core/messages` and `langchain_core/load`), which
trace stores also use.

**Fields.** A message has one of three forms:
- `messages_to_dict`: `{type: "ai", data: {content, tool_calls, …}}`
- `model_dump`: `{type: "ai", content, tool_calls[].{name, args, id}, invalid_tool_calls[].{name, args, id,
  error}, response_metadata, usage_metadata}`
- `dumps`: `{lc, type: "constructor", id: […, "AIMessage"], kwargs}`

Types are system, human, ai, tool, function and their chunks. A file is an array of messages, one message per
line, or objects with `messages`. Each array or object is a session.

**Rules.**
- `tool_calls` contain decoded arguments. The model's own text is used if it is in
  `additional_kwargs.tool_calls` or `tool_call_chunks`.
- `invalid_tool_calls` are calls whose text was not JSON: syntax failures with their text.
- Anthropic's and Google's blocks in `content` repeat the calls in `tool_calls`. Each call counts once.
- `status` error on a tool message marks a failure. LangGraph's ToolNode writes it for calls that it could not
  run.

**Not in the log.** Tool definitions and times; only states have a time, at which they were saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_text, read_time
from ingest.events import FaultLayer
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.log_format import About, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="langchain_messages",
    title="LangChain messages",
    raw_arguments="partly: where additional_kwargs or chunks keep the model's text, and of invalid calls",
    argument_failures="partly: invalid_tool_calls lists every text that was not JSON",
    error_flag="yes: a tool message's status",
    definitions="no: supply them with --tools",
    system_prompt="partly: where it is among the messages",
    model="partly: response_metadata, where the integration writes it",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="Valid arguments are mostly stored decoded, so repairs of the parser are not visible.",
)

_TYPES = frozenset(
    name + chunk for name in ("system", "human", "ai", "tool", "function") for chunk in ("", "MessageChunk")
) | {"AIMessageChunk", "HumanMessageChunk", "SystemMessageChunk", "ToolMessageChunk"}
_REMEMBERED = 50_000  # maximum number of remembered messages from thread states
_SIGNS = frozenset(("additional_kwargs", "response_metadata", "tool_call_id"))
_CLASS = compile_regex(r"(?:AI|Human|System|Tool|Function|Chat)Message(?:Chunk)?")
_OTHERS = frozenset(("run_type", "trace_id", "traceId", "model", "choices", "mode", "response", "sessionId"))


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_ours, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    return (_is_message(value) and _has_sign(value)) or bool(_list_conversations(value))


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    if value.get("type") == "constructor" and "lc" in value:
        path = value.get("id")
        return isinstance(path, list) and bool(path) and bool(_CLASS.fullmatch(str(path[-1])))
    if not isinstance(kind := value.get("type"), str) or kind not in _TYPES:
        return False
    return "content" in read_object(value.get("data", value))


def _has_sign(message: Mapping[str, Any]) -> bool:
    """Return True for a message in a form that only LangChain writes."""
    kind = str(message.get("type"))
    wrapped = "data" in message or kind == "constructor" or not _SIGNS.isdisjoint(message)
    return wrapped or kind.startswith(("human", "ai", "Human", "AI"))


def _list_conversations(value: Mapping[str, Any]) -> list[Conversation]:
    if value.keys() & _OTHERS:
        return []
    checkpoint = read_object(value.get("checkpoint"))
    containers = (value.get("values"), value.get("state"), value.get("channel_values"),
            checkpoint.get("channel_values"))  # fmt: skip
    for holder in (value, *map(read_object, containers)):
        messages = holder.get("messages")
        if isinstance(messages, list) and all(map(_is_message, messages)) and any(map(_has_sign, messages)):
            return [Conversation(messages, _read_thread(value))]
    return []


def _read_thread(value: Mapping[str, Any]) -> str | None:
    configured = read_object(read_object(value.get("config")).get("configurable"))
    holders = (value, configured, read_object(value.get("metadata")))
    return next((thread_id for holder in holders if (thread_id := read_text(holder.get("thread_id")))), None)


def translator(about: About) -> Translator:
    return _LangchainMessages(about)


class _LangchainMessages(MessageDump):
    harness = "langchain"
    fault_texts = (
        (FaultLayer.SCHEMA, compile_regex(r"Error: \S{1,200} is not a valid tool, try one of \[")),
        (FaultLayer.SCHEMA, compile_regex(r"Error invoking tool '[^'\n]{1,200}' with kwargs ")),
        (FaultLayer.SCHEMA, compile_regex(r"Error: [^\n]{0,100}\d validation errors? for ")),
    )

    def __init__(self, about: About) -> None:
        super().__init__(about)
        # (thread, message id) of the messages already read from states
        self._seen: dict[tuple[str, str], None] = {}

    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        if _is_message(value):
            return None
        at = read_time(value.get("created_at")) or read_time(read_object(value.get("checkpoint")).get("ts"))
        fresh = [
            conversation._replace(messages=self._drop_seen(conversation), ts=at)
            for conversation in _list_conversations(value)
        ]
        return [conversation for conversation in fresh if conversation.messages]

    def _drop_seen(self, state: Conversation) -> list[Any]:
        """Return the messages that earlier records of the same thread did not contain."""
        fresh: list[Any] = []
        for message in state.messages:
            ident = read_text(message.get("id"))
            key = (state.id, ident) if state.id and ident else None
            if key is None or key not in self._seen:
                fresh.append(message)
            if key is not None:
                self._seen[key] = None
        while len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return fresh

    def unwrap(self, message: Mapping[str, Any]) -> Iterator[Any]:
        fields = message.get("data")
        yield {**fields, "type": message.get("type")} if isinstance(fields, dict) else message

    def step_facts(self, message: Mapping[str, Any]) -> dict[str, Any]:
        fields = read_object(message.get("data")) or read_object(message.get("kwargs")) or message
        metadata, usage = (
            read_object(fields.get("response_metadata")),
            read_object(fields.get("usage_metadata")),
        )
        details = read_object(usage.get("input_token_details"))
        return {
            "provider": read_text(metadata.get("model_provider")),
            "model": read_text(metadata.get("model_name")) or read_text(metadata.get("model")),
            **count_whole_input(
                usage.get("input_tokens"), details.get("cache_read"), details.get("cache_creation")
            ),
            "output_tokens": read_count(usage.get("output_tokens")),
        }
