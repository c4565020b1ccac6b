"""Phoenix (Arize): spans with OpenInference's attributes, from its REST API, its client and data frames.

**Files.** `GET /v1/projects/…/spans` and the TypeScript client (`{"data": [span, …], "next_cursor"}`), a
trace of the command line (`{"spans": […]}`), spans one per line, or
`get_spans_dataframe().to_json(orient="records", lines=True)`. Two other forms have their own formats:
Phoenix' OTLP answer (`otlp`), and spans printed by an SDK (`genai_span_json`).

**Fields.** `{name, span_kind, parent_id, start_time, end_time, status_code, status_message, attributes,
events, context: {trace_id, span_id}}`. In a data frame the keys are `context.span_id`,
`attributes.llm.model_name`, and messages are lists of `{"message.role": …, "message.tool_calls": […]}`.
`attributes` may be flat with indices, nested, or JSON text.

**Rules.**
- Indices are sorted as numbers: `….10.…` comes after `….9.…`.
- Arguments are text. The instrumentations of Anthropic and Gemini write this text themselves; The
  instrumentation of LangChain does so if LangChain had already decoded the arguments. Then arguments that
  were not JSON are missing.
- Spans of the kinds CHAIN, AGENT, RETRIEVER … are not model calls. TOOL spans are results, not calls.
- Phoenix' status is OK for every span without an exception.

Turns, limits and missing facts are the same as in `otlp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.spans.dumped_spans import read_span, span_ids
from ingest.formats.traces.trace_translator import Found, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="openinference",
    title="Phoenix (OpenInference) spans",
    raw_arguments="partly: the model's text where its API has text and the framework did not decode it",
    argument_failures="partly: parsed if the text is there; a denial shows as a tool's error, if at all",
    error_flag="yes: the status of the tool's span; calls that only messages record have no flag",
    definitions="yes: llm.tools, where the instrumentor records them",
    system_prompt="yes: as a message; name and version where set",
    model="yes: per model call, with its provider",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Arguments that LangChain could not decode are left out by its instrumentor. Whether a turn "
    "did what the user wanted is not recorded.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_span(span) for record in head for span in _list_spans(record))


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _list_spans(record: dict[str, Any]) -> list[dict[str, Any]]:
    return read_objects(record.get("data")) or read_objects(record.get("spans")) or [record]


def _is_span(span: dict[str, Any]) -> bool:
    if "context.span_id" in span:
        return "span_kind" in span or "attributes.openinference.span.kind" in span
    return isinstance(span.get("span_kind"), str) and "span_id" in read_object(span.get("context"))


def _find_spans(record: Record) -> Iterator[Found]:
    outer = record.value.get("trace_id", record.value.get("traceId"))
    for span in _list_spans(record.value):
        trace_id, span_id = span_ids(span)
        trace_id = trace_id or (outer if isinstance(outer, str) else None)
        if not trace_id or not span_id:
            reason = f"a span has no {'trace_id' if not trace_id else 'span_id'}"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            continue
        record.find_line('"span_id"')
        yield read_span(span, record.find_line(span_id), trace_id, span_id)
