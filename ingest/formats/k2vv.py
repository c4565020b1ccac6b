"""K2-Vendor-Verifier results: JSON Lines, each line a request to a vendor with its answer and a verdict.

**Files.** `results.jsonl` next to `summary.json` (github.com/MoonshotAI/K2-Vendor-Verifier). No real file was
available; these notes are based on the source code.

**Fields.** `{data_index, request.{messages, tools, model}, extra_body, response, status, finish_reason,
tool_calls_valid, last_run_at, duration_ms, hash}`. `response` is a chat completion, or `{"error": …}` when
`status` is failed. Each line is a session of one turn.

**Rules.**
- `request.messages` is the conversation before the tested reply. Its calls were written by the authors of the
  samples and are not read.
- `tool_calls_valid` is one value for all calls of the answer. It is false for arguments that are not JSON,
  arguments that do not fit the definition, and unknown tools. It is the verdict on the turn. If the answer
  has only one call, it is also the verdict on that call.
- A failed request (`status` failed) is the vendor's failure, so it is no verdict on the model.
- `hash` covers the whole request including the model's name. The task is therefore `data_index` with a hash
  of the messages.
- Incremental runs append to the file, so a request may occur several times. Each occurrence is an attempt.

**Not in the log.** The vendor: the file names only the model. Calls are never run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from typing import Any

import orjson

from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text, read_time
from ingest.events import (
    Event,
    FaultLayer,
    PromptSeen,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.provider_messages.chat_messages import join_content, list_calls, make_call
from ingest.formats.provider_messages.openai_chat import count_input
from ingest.log_format import About, Record, Source, Translator
from ingest.sessions.stored_text import json_text

SOURCE = Source(
    name="k2vv",
    title="K2-Vendor-Verifier results",
    raw_arguments="yes",
    argument_failures="yes",
    error_flag="no: nothing is run",
    definitions="yes",
    system_prompt="yes",
    model="yes: per request; not who served it",
    turn_end="yes: tool_calls_valid, one verdict over all calls of an answer",
    cannot_tell="The vendor that was verified. The calls are never run.",
)

_KEYS = {"request", "response", "status", "tool_calls_valid"}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(record.keys() >= _KEYS for record in head)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_answer)


def _take_answer(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    request, response = read_object(value.get("request")), read_object(value.get("response"))
    shared: dict[str, Any] = {
        "session_id": session_id,
        "where": record.where,
        "ts": read_time(value.get("last_run_at")),
    }
    model = read_text(response.get("model")) or read_text(request.get("model"))
    messages = read_objects(request.get("messages"))
    yield SessionSeen(**shared, harness="K2-Vendor-Verifier", model=model, task=_task_name(value, messages))
    prompt = next(
        (join_content(message.get("content")) for message in messages if message.get("role") == "system"),
        None,
    )
    if prompt:
        yield PromptSeen(**shared, text=prompt)
    definitions = tuple(read_objects(request.get("tools")))
    if definitions:
        yield ToolsOffered(**shared, definitions=definitions)
    questions = [
        join_content(message.get("content")) for message in messages if message.get("role") == "user"
    ]
    yield TurnStarted(**shared, text=questions[-1] if questions else read_text(request.get("prompt")))
    choices = read_objects(response.get("choices"))
    if not choices:
        yield TurnEnded(**shared, status=read_text(value.get("status")))
        return
    yield from _take_reply(read_object(choices[0].get("message")), choices[0], value, shared)


def _task_name(value: Mapping[str, Any], messages: list[dict[str, Any]]) -> str | None:
    """Return the task's name: the sample's number and a hash of the request's messages.

    The number alone is not unique, because several sets of samples count from 1. Return None when the number
    or the messages are missing.
    """
    number_ = read_count(value.get("data_index"))
    if number_ is None or not messages:
        return None
    encoded = json_text(messages, sort_keys=True).encode("utf-8", "replace")
    return f"sample {number_} ({md5(encoded, usedforsecurity=False).hexdigest()[:8]})"


def _take_reply(
    message: Mapping[str, Any], choice: Mapping[str, Any], value: Mapping[str, Any], shared: dict[str, Any]
) -> Iterator[Event]:
    usage = read_object(read_object(value.get("response")).get("usage"))
    calls = list(list_calls(message))
    words = join_content(message.get("content")) or read_text(choice.get("text"))
    valid = value.get("tool_calls_valid")
    strategy = Strategy.TOOL_USE if calls else None
    yield StepMade(
        **shared,
        text=words,
        strategy=strategy,
        **count_input(usage),
        output_tokens=read_count(usage.get("completion_tokens")),
        latency_ms=read_number(value.get("duration_ms")),
    )
    refused = valid is False and len(calls) == 1
    for call in calls:
        facts: dict[str, Any] = {}
        if refused:
            facts = {
                "refused_by_harness": _find_layer(call.get("arguments")),
                "harness_message": "tool_calls_valid is false",
            }
        yield make_call(call, shared, strategy=strategy, **facts)
    yield TurnEnded(
        **shared,
        status=read_text(value.get("finish_reason")),
        recorded_ok=valid if isinstance(valid, bool) else None,
        answer=None if calls else words or "",
    )


def _find_layer(arguments: Any) -> FaultLayer:
    """Return SYNTAX if invalid arguments are not JSON. Return SCHEMA if they are JSON."""
    try:
        orjson.loads(arguments if isinstance(arguments, str) else "{}")
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return FaultLayer.SYNTAX
    return FaultLayer.SCHEMA
