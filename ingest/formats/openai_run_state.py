"""Saved runs of the OpenAI Agents SDK: `RunState.to_json()`, written when a run waits for an approval.

**Files.** Sources: openai/openai-agents-python, `src/agents/run_state.py` and `tests/fixtures/run_state`
(schemas 1.6 to 1.13).

**Fields.** `{$schemaVersion, original_input, model_responses[].{output, usage, response_id},
generated_items[], session_items[], context.approvals, current_step, current_agent, trace}`. `output` has
items of the Responses API; `raw_item` repeats the same items.

**Turns.** One run is one turn. The turn has an end if the last response made no call.

**Rules.**
- The same call is in `model_responses`, `generated_items`, `session_items`, `interruptions` and other lists.
  It counts once, by its `call_id`, at the first line with this id.
- A call that waits for its approval has no result. A call whose rejection is in `approvals` counts as denied.
- `last_processed_response` has only the definitions of the called tools, so it is not read as the list of
  offered tools.

**Limits.** `--max-line` limits the size of a document.

**Not in the log.** The model, the system prompt and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import Event, FaultLayer, FlagSource, LogLine, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.result_layers import Texts, failed_flag, find_layer
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.formats.provider_messages.exchange import ModelCall, ModelReply
from ingest.formats.provider_messages.openai_responses import read_call, read_replies, read_result
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="openai_run_state",
    title="OpenAI Agents SDK run states",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="partly: denials by a person; the SDK's own messages for failures",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="no",
    turn_end="no: concluded from the last response",
    cannot_tell="Which model it was, and when. Results have no sign of success: they stay unknown.",
)

# The texts that the SDK returns for a call that it could not run (`default_tool_error_function`).
_TEXTS: Texts = (
    (FaultLayer.SYNTAX, compile_regex(r"An error occurred while parsing tool arguments\.")),
    (FaultLayer.EXECUTION, compile_regex(r"An error occurred while running the tool\.")),
    (FaultLayer.REFUSED, compile_regex(r"Tool execution was not approved")),
)
_CALLS, _RESULTS = ("tool_call_item", "handoff_call_item"), ("tool_call_output_item", "handoff_output_item")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        {"$schemaVersion", "model_responses", "original_input"} <= record.keys() for record in head[:1]
    )


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_state)


def _take_state(record: Record, session_id: str) -> Iterator[Event]:
    value = record.value
    trace = read_object(value.get("trace"))
    dialogue = AgentSession(read_text(trace.get("group_id")) or read_text(trace.get("id")) or session_id)
    yield SessionSeen(session_id=dialogue.session_id, where=record.where, harness="openai-agents")
    question = value.get("original_input")
    dialogue.ask(record.where, None, question if isinstance(question, str) else _last_question(question))
    call_ids: set[str | None] = set()
    for response in read_objects(value.get("model_responses")):
        for reply in read_replies(response):
            call_ids.update(call.id for call in reply.calls)
            yield from _make_step(reply, dialogue, record)
    items = (*read_objects(value.get("generated_items")), *read_objects(value.get("session_items")))
    made = [read_call(read_object(item.get("raw_item"))) for item in items if item.get("type") in _CALLS]
    for call in made:
        # The call's response was dropped from the saved state.
        if call is not None and call.id not in call_ids:
            call_ids.add(call.id)
            yield from _make_step(ModelReply(calls=[call]), dialogue, record)
    rejected = _rejected_calls(read_object(value.get("context")).get("approvals"))
    answered: set[str | None] = set()
    for item in items:
        body = read_object(item.get("raw_item"))
        call_id = read_text(body.get("call_id"))
        if item.get("type") in _RESULTS and call_id not in answered:
            answered.add(call_id)
            yield _make_result(body, call_id, rejected, dialogue, record.find_line(f'"{call_id}"'))
    for call_id in rejected:
        if call_id in call_ids and call_id not in answered:
            yield _make_result({}, call_id, rejected, dialogue, record.where)
    yield from dialogue.close_turn()


def _last_question(items: Any) -> str | None:
    questions = [
        join_content(item.get("content")) for item in read_objects(items) if item.get("role") == "user"
    ]
    return next((words for words in reversed(questions) if words), None)


def _make_step(reply: ModelReply, dialogue: AgentSession, record: Record) -> Iterator[Event]:
    where = _find_place(record, reply.calls)
    yield from dialogue.add_step(
        where, None, reply.text, input_tokens=reply.input_tokens, cached_tokens=reply.cached_tokens,
        cache_write_tokens=reply.cache_write_tokens, output_tokens=reply.output_tokens,
    )  # fmt: skip
    for call in reply.calls:
        yield dialogue.add_call(where, None, tool=call.tool, **call.arguments, **native_call_fields(call.id))


def _find_place(record: Record, calls: Sequence[ModelCall]) -> LogLine:
    return record.find_line(f'"{calls[0].id}"') if calls else record.where


def _rejected_calls(approvals: Any) -> dict[str | None, str]:
    """Return the id of each tool call that a person rejected, with the person's reason."""
    rejections: dict[str | None, str] = {}
    for approval in read_object(approvals).values():
        messages = read_object(read_object(approval).get("rejection_messages"))
        rejected = read_object(approval).get("rejected")
        for raw_id in rejected if isinstance(rejected, list) else ():
            call_id = read_text(raw_id)
            rejections[call_id] = read_text(messages.get(call_id or "")) or "Tool execution was not approved."
    return rejections


def _make_result(
    body: Mapping[str, Any],
    call_id: str | None,
    rejected: Mapping[str | None, str],
    dialogue: AgentSession,
    where: LogLine,
) -> ResultSeen:
    content = read_result(body).content or rejected.get(call_id)
    layer = FaultLayer.REFUSED if call_id in rejected else find_layer(content or "", _TEXTS)
    source = FlagSource.EXPLICIT if call_id in rejected else FlagSource.DERIVED_TEXT
    flag = failed_flag(content or "", layer, source) if layer else ResultFlag()
    return ResultSeen(
        session_id=dialogue.session_id, where=where, tool_call_id=call_id, content=content, **flag.fields
    )
