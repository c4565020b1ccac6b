"""LangChain messages: what `messages_to_dict`, `dumps` or a LangGraph state make of a conversation.

**Where it comes from.** Home-made dumps; no place on disk. LangGraph's threads (`GET /threads/<id>/state`)
have the messages in `values.messages`. Unseen as files; the shapes are those of the serialisers
(github.com/langchain-ai/langchain, `langchain_core/messages` and `langchain_core/load`), which trace stores
hold as well.

**Shape.** A message is `{type: "ai", data: {content, tool_calls, …}}` (`messages_to_dict`), flat `{type:
"ai", content, tool_calls[].{name, args, id}, invalid_tool_calls[].{name, args, id, error}, response_metadata,
usage_metadata}` (`model_dump`), or `{lc, type: "constructor", id: […, "AIMessage"], kwargs}` (`dumps`). Types
are system, human, ai, tool, function and their chunks. A file is an array of them, one a line, or objects
with `messages`; each array or object is a session.

**Traps.**
- `tool_calls` hold decoded arguments; the model's own text is used where `additional_kwargs.tool_calls` or
  `tool_call_chunks` has it.
- `invalid_tool_calls` are calls whose text was no JSON: a fault of syntax, with the text.
- Anthropic's and Google's blocks stand in `content` beside the same calls in `tool_calls`: they count once.
- `status` error on a tool message is the flag. LangGraph's ToolNode writes it for calls it could not run.

**How a turn ends.** With a message of the model without a call, or with the next human message.

**Cannot tell.** Definitions; times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_text
from ingest.events import FaultLayer
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.log_format import About, Source, Translator

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
_CLASS = re.compile(r"(?:AI|Human|System|Tool|Function|Chat)Message(?:Chunk)?")
_OTHERS = frozenset(("run_type", "trace_id", "traceId", "model", "choices", "mode", "response", "sessionId"))


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_ours, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    return _is_message(value) or bool(_list_conversations(value))


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value:
        return False
    if value.get("type") == "constructor" and "lc" in value:
        path = value.get("id")
        return isinstance(path, list) and bool(path) and bool(_CLASS.fullmatch(str(path[-1])))
    if not isinstance(kind := value.get("type"), str) or kind not in _TYPES:
        return False
    said = value.get("data", value)
    return isinstance(said, dict) and "content" in said and ("data" in value or "additional_kwargs" in said)


def _list_conversations(value: Mapping[str, Any]) -> list[Conversation]:
    if value.keys() & _OTHERS:
        return []
    for holder in (value, read_object(value.get("values")), read_object(value.get("state"))):
        messages = holder.get("messages")
        if isinstance(messages, list) and messages and all(map(_is_message, messages)):
            return [Conversation(messages, read_text(value.get("thread_id")))]
    return []


def translator(about: About) -> Translator:
    return _LangchainMessages(about)


class _LangchainMessages(MessageDump):
    harness = "langchain"
    fault_texts = (
        (FaultLayer.SCHEMA, re.compile(r"Error: \S{1,200} is not a valid tool, try one of \[")),
        (FaultLayer.SCHEMA, re.compile(r"Error invoking tool '[^'\n]{1,200}' with kwargs ")),
        (FaultLayer.SCHEMA, re.compile(r"Error: [^\n]{0,100}\d validation errors? for ")),
    )

    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        return None if _is_message(value) else _list_conversations(value)

    def unwrap(self, message: Mapping[str, Any]) -> Iterator[Any]:
        said = message.get("data")
        yield {**said, "type": message.get("type")} if isinstance(said, dict) else message

    def step_facts(self, message: Mapping[str, Any]) -> dict[str, Any]:
        said = read_object(message.get("data")) or read_object(message.get("kwargs")) or message
        told, usage = read_object(said.get("response_metadata")), read_object(said.get("usage_metadata"))
        details = read_object(usage.get("input_token_details"))
        return {
            "provider": read_text(told.get("model_provider")),
            "model": read_text(told.get("model_name")) or read_text(told.get("model")),
            **count_whole_input(
                usage.get("input_tokens"), details.get("cache_read"), details.get("cache_creation")
            ),
            "output_tokens": read_count(usage.get("output_tokens")),
        }
