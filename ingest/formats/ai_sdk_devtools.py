"""AI SDK DevTools: runs that the middleware of the Vercel AI SDK recorded, as one JSON document.

**Files.** `@ai-sdk/devtools` (github.com/vercel/ai) writes `.devtools/generations.json` in a project. These
notes are based on one recording of streamed steps and, for `generateText`, on the source code.

**Fields.** `{runs[].{id, started_at}, steps[].{id, run_id, step_number, type, model_id, provider, started_at,
duration_ms, input, output, usage, error, raw_request, raw_response, raw_chunks}}`. `input`, `output`, `usage`
and the `raw_…` fields are JSON text. The input has `prompt` (the whole conversation) and `tools`. The output
of a stream has `textParts` and `toolCalls[].{toolCallId, toolName, input}`; any other output has `content`
parts and `finishReason`.

**Rules.**
- The `input` of a call is the text as the model sent it. The result is in the prompt of the next step.
- Each run of a chat repeats the chat's history. The runs are joined into one session as in `request_log`.
- A call in a history is not counted if its reply is not in the file.

**Not in the log.** Failures that only a tool's text reports, because the only error flag is the type of the
tool's output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import (
    count_whole_input,
    read_count,
    read_number,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.conversations.ai_sdk_prompt import list_calls, read_request
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.chat_messages import argument_fields
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.exchange import (
    Exchange,
    ModelCall,
    ModelReply,
    StopReason,
    join_texts,
    read_stop_reason,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="ai_sdk_devtools",
    title="AI SDK DevTools",
    raw_arguments="yes",
    argument_failures="yes: parsed here, from the raw text and the definitions in the input",
    error_flag="yes: the type of a tool's output",
    definitions="yes: in every step",
    system_prompt="yes: in every step",
    model="yes: per step",
    turn_end="yes: finishReason, without a verdict",
    cannot_tell="Calls in a history whose step is not in the file are not counted.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(_is_ours, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    runs, steps = value.get("runs"), value.get("steps")
    if not isinstance(runs, list) or not isinstance(steps, list):
        return False
    return all({"run_id", "step_number", "model_id"} <= step.keys() for step in read_objects(steps)) and all(
        "started_at" in run for run in read_objects(runs)
    )


def translator(about: About) -> Translator:
    return _DevTools(about)


class _DevTools:
    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        for step in read_objects(record.value.get("steps")):
            where = record.find_line(f'"{read_text(step.get("id")) or ""}"')
            body = open_json(step.get("input"))
            if not isinstance(body, dict):
                reason = "the input of the step is not a JSON object"
                yield Rejected(where, "wrong_type", reason, make_snippet(record.data))
                continue
            reply = _read_reply(step) if not step.get("error") else None
            exchange = Exchange(
                request=read_request(body),
                replies=[] if reply is None else [reply],
                where=where,
                ts=read_time(step.get("started_at")),
                provider=(read_text(step.get("provider")) or "").split(".")[0] or None,
                latency_ms=read_number(step.get("duration_ms")),
                failure="error" if step.get("error") else "no_reply",
                harness="ai_sdk",
            )
            yield from self._traffic.take(exchange)

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _read_reply(step: Mapping[str, Any]) -> ModelReply | None:
    output = open_json(step.get("output"))
    if not isinstance(output, dict):
        return None
    message = {"content": [*read_objects(output.get("content")), *read_objects(output.get("toolCalls"))]}
    texts = [part for part in read_objects(output.get("content")) if part.get("type") == "text"]
    text = join_texts(
        read_text(part.get("text")) for part in [*read_objects(output.get("textParts")), *texts]
    )
    calls = [
        ModelCall.from_api(call.get("toolName"), call.get("toolCallId"), argument_fields(call.get("input")))
        for call in list_calls(message)
    ]
    word = _read_finish(output.get("finishReason"))
    end = read_stop_reason(word)
    facts = _find_response(step.get("raw_response"))
    usage = read_object(open_json(step.get("usage"))) or read_object(output.get("usage"))
    if end is StopReason.CALLS and not calls and not read_objects(message["content"]):
        calls = ModelCall.from_stop_reason(text, "finishReason is tool-calls, but the step has no tool call")
    return ModelReply(
        id=read_text(facts.get("id")),
        model=read_text(facts.get("modelId")) or read_text(step.get("model_id")),
        text=text,
        calls=calls,
        word=word,
        end=end,
        **_count_input(usage),
        output_tokens=_read_total(usage.get("outputTokens")),
        marks=tuple(call_mark(call.tool, call.id, call.arguments.get("raw_arguments")) for call in calls)
        or words_mark(text),
    )


def _read_finish(finish: Any) -> str | None:
    word = read_text(finish) or read_text(read_object(finish).get("unified"))
    return word.replace("-", "_") if word else None


def _find_response(raw: Any) -> Mapping[str, Any]:
    """Return the id and the model of a reply, from the stream's metadata or the provider's response body."""
    response = open_json(raw)
    for part in read_objects(response):
        if part.get("type") == "response-metadata":
            return part
    body = read_object(response)
    return {"id": body.get("id"), "modelId": body.get("modelId", body.get("model"))}


def _count_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    details = read_object(usage.get("inputTokens"))
    return count_whole_input(
        _read_total(usage.get("inputTokens")),
        details.get("cacheRead", usage.get("cachedInputTokens")),
        details.get("cacheWrite"),
    )


def _read_total(count: Any) -> int | None:
    return read_count(read_object(count).get("total")) if isinstance(count, dict) else read_count(count)
