"""Traces of the OpenAI Agents SDK, as its trace processors export them.

**Files.** The output of `export()` for traces and spans (openai/openai-agents-python, `src/agents/tracing`):
one object per line, the body that the SDK posts (`{"data": […]}`), or a trace with its `spans`.

**Fields.** `{object: trace, id, workflow_name, group_id, metadata}` and `{object: trace.span, id, trace_id,
parent_id, started_at, ended_at, span_data, error}`. `span_data.type` is agent, response (`response_id`,
`usage`), generation (`input`, `output`, `model`, `usage`), function (`name`, `input`, `output`), handoff,
guardrail, custom or another type.

**Turns.** One trace is one turn. Traces with the same `group_id` are one session.

**Rules.**
- A function span has no call id. Its `input` is the text that the model sent, or an object if an exporter
  decoded it.
- A response span contains neither text nor calls. The functions that ran after it are its calls.
- `error` of a function span has the reason in `data.error`. Without `error`, failed calls are recognised by
  the SDK's own texts.
- A handoff has neither the name nor the arguments of its call, so it is not counted.

Limits are the same as in `otlp`.

**Not in the log.** Definitions and prompts. If only response spans were recorded, the model and its text are
also missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import make_snippet
from ingest.events import LogLine, Rejected
from ingest.formats.provider_messages.embedded_json import to_text
from ingest.formats.provider_messages.message_lists import read_reply
from ingest.formats.provider_messages.model_requests import read_request
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind, to_nanoseconds
from ingest.formats.spans.span_attributes import first_count
from ingest.formats.traces.trace_translator import Found, KnownSpan, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="openai_agents",
    title="OpenAI Agents SDK traces",
    raw_arguments="yes: a function's input, unless the exporter decoded it",
    argument_failures="yes: parsed from the model's own text",
    error_flag="yes: error of the function's span",
    definitions="no: supply them with --tools",
    system_prompt="partly: in generations",
    model="partly: in generations; a response does not name it",
    turn_end="partly: the trace's end, or the error of its agent; no verdict",
    cannot_tell="The model's text, if only responses are traced. Handoffs are not counted.",
)

_SPAN, _TRACE = "trace.span", "trace"
_KINDS = {
    "agent": SpanKind.AGENT, "response": SpanKind.INFERENCE, "generation": SpanKind.INFERENCE,
    "function": SpanKind.EXECUTION,
}  # fmt: skip


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_span(item) for record in head for item in _list_items(record))


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _list_items(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the trace and the spans in a record, in order."""
    within = read_objects(record.get("data")) or read_objects(record.get("spans"))
    return [record, *within] if within and record.get("object") == _TRACE else within or [record]


def _is_span(item: dict[str, Any]) -> bool:
    return item.get("object") == _SPAN and isinstance(read_object(item.get("span_data")).get("type"), str)


def _find_spans(record: Record) -> Iterator[Found]:
    outer = read_text(record.value.get("trace_id")) or read_text(record.value.get("id"))
    for item in _list_items(record.value):
        span_id = read_text(item.get("id"))
        trace_id = span_id if item.get("object") == _TRACE else read_text(item.get("trace_id")) or outer
        if not trace_id or not span_id:
            reason = f"a span has no {'trace_id' if not trace_id else 'id'}"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            continue
        where = record.find_line(f'"{span_id}"', past=True)
        if item.get("object") == _TRACE:
            raw = RawSpan(trace_id=trace_id, span_id=span_id, where=where)
            yield KnownSpan(raw, SpanFacts(session_id=read_text(item.get("group_id")), kind=SpanKind.OTHER))
        else:
            yield KnownSpan(_make_raw_span(item, where, trace_id, span_id), _read_facts(item))


def _make_raw_span(item: dict[str, Any], where: LogLine, trace_id: str, span_id: str) -> RawSpan:
    error = read_object(item.get("error"))
    reason = to_text(read_object(error.get("data")).get("error")) or read_text(error.get("message"))
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=where,
        name=read_text(read_object(item.get("span_data")).get("name")) or "",
        parent_id=read_text(item.get("parent_id")),
        start=to_nanoseconds(read_time(item.get("started_at"))),
        end=to_nanoseconds(read_time(item.get("ended_at"))),
        resource={"service.name": "openai-agents"},
        failed=bool(error),
        error=reason,
    )


def _read_facts(item: dict[str, Any]) -> SpanFacts:
    data = read_object(item.get("span_data"))
    kind = _KINDS.get(str(data.get("type")), SpanKind.OTHER)
    facts = SpanFacts(kind=kind)
    if kind is SpanKind.EXECUTION:
        facts.fill(
            tool=read_text(data.get("name")),
            arguments=data.get("input"),
            by_model=True,
            result=to_text(data.get("output")),
        )
    elif kind is SpanKind.INFERENCE:
        usage = read_object(data.get("usage"))
        request = read_request(data.get("input"))
        facts.fill(
            model=read_text(data.get("model")),
            input=request.messages or None if request is not None else None,
            output=read_reply(data.get("output")) if data.get("output") else None,
            output_tokens=first_count(usage, "output_tokens", "completion_tokens"),
            **count_whole_input(first_count(usage, "input_tokens", "prompt_tokens")),
        )
    return facts
