"""Braintrust: spans of logs and experiments, from its API, its SDK or its exports.

**Files.** Rows, one per line or in an array, or an answer of the API: `{"events": […]}` (fetch) or `{"data":
[…]}` (BTQL). No export was available. These notes are based on the documentation
(https://www.braintrust.dev/docs/reference) and rows quoted in public repositories.

**Fields.** `{id, span_id, root_span_id, span_parents[], span_attributes: {type, name}, input, output, error,
metadata: {model, provider, tools}, metrics: {start, end, prompt_tokens, completion_tokens,
prompt_cached_tokens}, created}`. `type` is llm, tool, task, eval, score or function. Input and output of an
llm span are the request and reply of the wrapped client. `metadata.session_id` (or `thread_id`,
`conversation_id`) names the conversation. In an experiment the task is the record of the data set
(`dataset_record_id`, or `origin` of the outermost span).

**Rules.**
- Spans of scores and evals repeat inputs and outputs, so only llm spans count as model calls.
- A BTQL query may leave columns out. A span without its ids is rejected.

Turns and limits are the same as in `otlp`.

**Not in the log.** The model's own argument text, if the provider returns decoded objects. Scores are not
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.provider_messages.embedded_json import open_json, to_text
from ingest.formats.provider_messages.exchange import parse_instant
from ingest.formats.provider_messages.message_lists import read_reply
from ingest.formats.provider_messages.model_requests import find_definitions, read_request
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind, to_nanoseconds
from ingest.formats.spans.span_attributes import first_count
from ingest.formats.spans.span_attributes import first_text as text_of
from ingest.formats.traces.trace_translator import Found, KnownSpan, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="braintrust",
    title="Braintrust spans",
    raw_arguments="partly: where the wrapped client had the model's text",
    argument_failures="partly: parsed if the text is there",
    error_flag="yes: the error of the tool's span; calls that only messages record have no flag",
    definitions="partly: metadata.tools, where the wrapper records them",
    system_prompt="yes: as a message",
    model="yes: per model call, with its provider",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Calls whose tool has no span of its own have no error flag. "
    "Whether a turn did what the user wanted is not recorded.",
)

_TYPES = {"llm": SpanKind.INFERENCE, "tool": SpanKind.EXECUTION}
_LISTS = ("events", "data", "rows", "spans")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_row(row) for record in head for row in _list_rows(record)[:50])


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _list_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows in a page of rows. A record that is not a page is itself one row."""
    within = (read_objects(record.get(key)) for key in _LISTS if key in record)
    return [record] if "span_attributes" in record else next(within, [])


def _is_row(row: Mapping[str, Any]) -> bool:
    return {"span_id", "root_span_id"} <= row.keys() and isinstance(row.get("span_attributes"), dict)


def _find_spans(record: Record) -> Iterator[Found]:
    for row in _list_rows(record.value):
        trace_id, span_id = text_of(row, "root_span_id"), text_of(row, "span_id")
        if not trace_id or not span_id:
            reason = f"a span has no {'root_span_id' if not trace_id else 'span_id'}"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            continue
        raw = _make_raw_span(row, record, trace_id, span_id)
        yield KnownSpan(raw, _read_facts(row, raw))


def _make_raw_span(row: Mapping[str, Any], record: Record, trace_id: str, span_id: str) -> RawSpan:
    metrics, parents = read_object(row.get("metrics")), row.get("span_parents")
    error = row.get("error")
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=record.find_line('"span_attributes"', past=True),
        name=text_of(read_object(row.get("span_attributes")), "name") or "",
        parent_id=read_text(parents[0]) if isinstance(parents, list) and parents else None,
        start=to_nanoseconds(parse_instant(metrics.get("start")) or parse_instant(row.get("created"))),
        end=to_nanoseconds(parse_instant(metrics.get("end"))),
        failed=error is not None,
        error=to_text(error),
    )


def _read_facts(row: Mapping[str, Any], raw: RawSpan) -> SpanFacts:
    metadata, metrics = read_object(row.get("metadata")), read_object(row.get("metrics"))
    kind = str(read_object(row.get("span_attributes")).get("type"))
    facts = SpanFacts(kind=_TYPES.get(kind, SpanKind.OTHER))
    facts.fill(
        session_id=text_of(metadata, "session_id", "thread_id", "conversation_id"),
        user=text_of(metadata, "user_id", "user"),
        task=text_of(row, "dataset_record_id") or text_of(read_object(row.get("origin")), "id"),
    )
    inputs, gave = open_json(row.get("input")), open_json(row.get("output"))
    if facts.kind is SpanKind.INFERENCE:
        request = read_request(inputs)
        facts.fill(
            model=text_of(metadata, "model"),
            provider=text_of(metadata, "provider"),
            definitions=find_definitions(metadata.get("tools")) or None,
            output=read_reply(gave),
            **count_whole_input(
                first_count(metrics, "prompt_tokens"),
                first_count(metrics, "prompt_cached_tokens"),
                first_count(metrics, "prompt_cache_creation_tokens"),
            ),
            output_tokens=first_count(metrics, "completion_tokens"),
        )
        if request is not None:
            facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)
    elif facts.kind is SpanKind.EXECUTION:
        arguments = inputs if isinstance(inputs, dict) else None
        facts.fill(tool=raw.name or None, arguments=arguments, result=to_text(gave))
    return facts
