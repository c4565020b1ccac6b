"""Fine-tuning chat data: JSON Lines, one conversation in OpenAI's chat shape a line.

**Where it comes from.** Training and evaluation sets for function calling, as OpenAI's fine-tuning API,
Hugging Face TRL and most trainers read them
(https://platform.openai.com/docs/guides/supervised-fine-tuning).

**Shape.** `{messages: [{role, content, tool_calls[].{id, function.{name, arguments}}}], tools?: [...]}`;
older: `functions` and `function_call`. `tools` may be JSON as text. Other keys are passed over, except those
that make it another format (a request or response log, a trajectory). Each line is a session.

**Traps.**
- The calls are labels, not what some model sent: failures here are defects of the training data.
- A conversation may end at a call, since the call is what is to be learned: its turn has no end.
- `arguments` may be an object instead of text, then there is no raw text.
- A message with `weight: 0` is not trained on; it is read like any other.

**Cannot tell.** A model; whether a result was a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_objects
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected, SessionSeen, ToolsOffered
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.trial_messages import TrialMessages, read_list
from ingest.log_format import About, Source, Translator
from ingest.record import Record

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


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_example, head)) and any(map(_has_answer, head))


def _is_example(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(one, dict) and "role" in one and not _has_blocks(one) for one in messages)
        and not record.keys() & _OTHER_FORMATS
    )


def _has_blocks(message: dict[str, Any]) -> bool:
    """Return True for a message with Anthropic's content blocks of tool calls or results."""
    return any(
        part.get("type") in ("tool_use", "tool_result") for part in read_objects(message.get("content"))
    )


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
