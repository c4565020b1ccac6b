"""Fine-tuning chat data: JSON Lines, one conversation in OpenAI's chat shape a line.

**Where it comes from.** Training and evaluation sets for function calling, as OpenAI's fine-tuning API,
Hugging Face TRL and most trainers read them
(https://platform.openai.com/docs/guides/supervised-fine-tuning).

**Shape.** `{messages: [{role, content, tool_calls[].{id, function.{name, arguments}}}], tools?: [...]}`;
older: `functions` and `function_call`. `tools` may be JSON as text. Each line is a session.

**Required.** Every record has `messages` with OpenAI's roles, text or text parts as content, and every call
in OpenAI's shape. It offers tools, or has a call, or has no keys but those of the documentation. Keys that
make it another format (a request or response log, a trajectory) are not there.

**Traps.**
- The calls are labels, not what some model sent: failures here are defects of the training data.
- A conversation may end at a call, since the call is what is to be learned: its turn has no end.
- `arguments` may be an object instead of text, then there is no raw text.
- A message with `weight: 0` is not trained on; it is read like any other.

**Cannot tell.** A model; whether a result was a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.call_marks import find_marks
from ingest.decoding.fields import read_object, read_objects
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected, SessionSeen, ToolsOffered
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.trial_messages import TrialMessages, read_list
from ingest.formats.provider_messages.chat_messages import list_calls
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="chat_jsonl",
    title="Fine-tuning chat data",
    raw_arguments="partly: where arguments are text",
    argument_failures="yes",
    error_flag="no",
    definitions="partly: where a line has tools",
    system_prompt="yes",
    model="no: the calls are labels",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="These are examples to learn from: failures are defects of the data, not of a model.",
)

_OTHER_FORMATS = frozenset(
    ("model", "response", "request", "choices", "trajectory_format", "steps", "call_type", "info",
     "termination_reason", "traj", "instance_id", "output", "events", "status", "sessionId", "session_id",
     "trace_id", "agent", "usage")
)  # fmt: skip


_DOCUMENTED = frozenset(
    ("messages", "tools", "functions", "parallel_tool_calls", "tool_choice", "function_call", "weight")
)
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_PARTS = ("text", "image_url", "input_audio", "file", "refusal")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_example, head)) and any(map(_has_answer, head))


def _is_example(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    if not isinstance(messages, list) or not messages or record.keys() & _OTHER_FORMATS:
        return False
    if not all(map(_is_message, messages)):
        return False
    return (
        record.keys() <= _DOCUMENTED
        or bool(read_list(record.get("tools", record.get("functions"))))
        or any("tool_calls" in message or "function_call" in message for message in messages)
    )


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return False
    content = message.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and part.get("type") in _PARTS for part in content) and (
            _has_openai_calls(message)
        )
    return (content is None or isinstance(content, str)) and _has_openai_calls(message)


def _has_openai_calls(message: Mapping[str, Any]) -> bool:
    """Return True when each call in a message, if there are any, is in the shape that is read here."""
    if any(mark.word not in ("tool_calls", "function_call") for mark in find_marks(message)):
        return False
    for call in (*read_objects(message.get("tool_calls")), message.get("function_call")):
        if call is not None and "function" not in read_object(call) and "arguments" not in read_object(call):
            return False
    return all(isinstance(call["name"], str) for call in list_calls(message))


def _has_answer(record: dict[str, Any]) -> bool:
    return any(one.get("role") == "assistant" for one in read_objects(record.get("messages")))


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_example)


def _take_example(record: Record, session_id: str) -> Iterator[Event | Rejected]:
    value = record.value
    messages = read_objects(value.get("messages"))
    if not messages:
        yield Rejected(record.where, "missing_field", "there are no messages", make_snippet(record.data))
        return
    shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
    yield SessionSeen(**shared)
    definitions = tuple(read_list(value.get("tools", value.get("functions"))))
    if definitions:
        yield ToolsOffered(**shared, definitions=definitions)
    yield from TrialMessages(session_id, record).to_events(messages)
