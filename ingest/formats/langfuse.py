"""Langfuse: traces and observations from its user interface, its API or its export to blob storage.

**Files.** A trace as the interface downloads it (`{"trace": {…}, "observations": […]}`), as the API returns
it (the trace with its `observations`), a page of observations (`{"data": […], "meta": {…}}`), or one
observation per line (`observations_v2/` of the blob storage). Blob storage has snake_case field names, all
others camelCase.

**Fields.** `{id, traceId, parentObservationId, type, name, startTime, endTime, level, statusMessage, model,
input, output, metadata, usageDetails, promptName, promptVersion, toolDefinitions, toolCalls, toolCallNames}`.
`type` is GENERATION, TOOL, AGENT, CHAIN, SPAN, EVENT … Observations that arrived through OpenTelemetry have
their attributes in `metadata.attributes`. These are read first, by the conventions of `otlp`, because
Langfuse's own fields are made from them.

**Rules.**
- Bodies are JSON text inside of JSON, up to ten levels deep, or objects that are already decoded. Bodies are
  decoded; the arguments of a call stay unchanged.
- A body has the format of the traced library: chat messages, `parts`, Gemini's `contents` and `candidates`,
  Anthropic's blocks, LangChain's messages, or Koog's calls as JSON in the text of a reply.
- `toolCalls` is what Langfuse found in the output, with objects written as text. It is used only if the
  output has no call. Its text does not count as the model's own.
- Older SDKs have no type TOOL. A SPAN with the name of a called tool is the run of that tool.
- Two instrumentations may record the same model call, the inner one only with its text (Agno: `None`). Then
  the call in the outer observation counts.
- The `input` of a generation may be meaningless (`{"content": "role"}` from the Claude Agent SDK's exporter).
  Then it is not read as a user's message.

Turns and limits are the same as in `otlp`.

**Not in the log.** Texts that were masked or cut before they were sent, and whether a turn did what the user
wanted. Scores come from evaluators and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.provider_messages.embedded_json import open_json, to_text
from ingest.formats.provider_messages.message_lists import read_reply
from ingest.formats.provider_messages.message_parts import Message, MessageCall
from ingest.formats.provider_messages.model_requests import find_definitions, read_request
from ingest.formats.span_conventions import collect_facts
from ingest.formats.span_conventions.frameworks import count_usage_input
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind, to_nanoseconds
from ingest.formats.spans.span_attributes import first_count, first_value, flatten
from ingest.formats.spans.span_attributes import first_text as text_of
from ingest.formats.traces.trace_translator import Found, KnownSpan, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="langfuse",
    title="Langfuse traces and observations",
    raw_arguments="partly: where the traced library had the model's text and nobody opened it",
    argument_failures="partly: parsed if the text is there; a denial shows as a tool's error, if at all",
    error_flag="yes: the level of the tool's observation; calls that only messages record have no flag",
    definitions="partly: where the traced library sent them",
    system_prompt="yes: as a message, or name and version of a managed prompt",
    model="yes: per generation; the provider where the traced library names it",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Frameworks that decode arguments send objects: text that was not JSON is lost. A tool that "
    "reports an error in its answer counts as one that ran.",
)

_TYPES = {"GENERATION": SpanKind.INFERENCE, "TOOL": SpanKind.EXECUTION, "AGENT": SpanKind.AGENT}
_ALL_TYPES = frozenset(
    (*_TYPES, "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
)
_SESSION = ("session_id", "thread_id", "conversation_id")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_observation(row) for record in head for row in _list_observations(record)[:50])


def translator(_about: About) -> Translator:
    return TraceTranslator(_find_spans)


def _list_observations(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the observations of a trace or of a page. A record of another kind is itself one observation."""
    within = read_objects(record.get("observations")) or read_objects(
        read_object(record.get("trace")).get("observations")
    )
    return within or read_objects(record.get("data")) or [record]


def _is_observation(row: Mapping[str, Any]) -> bool:
    return (
        str(row.get("type")) in _ALL_TYPES
        and bool({"traceId", "trace_id"} & row.keys())
        and bool(
            {"level", "parentObservationId", "parent_observation_id", "startTime", "start_time"} & row.keys()
        )
    )


def _find_spans(record: Record) -> Iterator[Found]:
    trace = read_object(record.value.get("trace")) or record.value
    rows = _list_observations(record.value)
    row_ids = {read_text(row.get("id")) for row in rows}
    if repeated := read_objects(read_object(record.value.get("trace")).get("observations")):
        # Continue the search after the copies, which have no bodies.
        record.find_line(str(repeated[-1].get("id")))
        record.find_line('"observations"')
    for row in rows:
        trace_id, span_id = text_of(row, "traceId", "trace_id"), text_of(row, "id")
        if not trace_id or not span_id:
            reason = f"an observation has no {'traceId' if not trace_id else 'id'}"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            continue
        record.find_line('"id"')
        raw = _make_raw_span(row, record, trace_id, span_id)
        facts = _read_facts(row, raw)
        facts.fill(
            session_id=text_of(row, "sessionId", "session_id") or text_of(trace, "sessionId", "session_id"),
            user=text_of(row, "userId", "user_id") or text_of(trace, "userId", "user_id"),
            environment=text_of(row, "environment") or text_of(trace, "environment"),
        )
        if raw.parent_id not in row_ids and trace is not row:
            facts.fill_texts(to_text(trace.get("input")), to_text(trace.get("output")))
        yield KnownSpan(raw, facts)


def _make_raw_span(row: Mapping[str, Any], record: Record, trace_id: str, span_id: str) -> RawSpan:
    metadata = read_object(open_json(row.get("metadata")))
    failed = row.get("level") == "ERROR"
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=record.find_line(span_id),
        name=read_text(row.get("name")) or "",
        parent_id=text_of(row, "parentObservationId", "parent_observation_id"),
        start=to_nanoseconds(read_time(first_value(row, "startTime", "start_time"))),
        end=to_nanoseconds(read_time(first_value(row, "endTime", "end_time"))),
        attributes=flatten(open_json(metadata.get("attributes"))),
        resource=flatten(open_json(metadata.get("resourceAttributes"))),
        scope=read_text(read_object(open_json(metadata.get("scope"))).get("name")),
        failed=failed,
        error=text_of(row, "statusMessage", "status_message"),
    )


def _read_facts(row: Mapping[str, Any], raw: RawSpan) -> SpanFacts:
    """Return the facts in the span's attributes.

    Facts that the attributes lack are read from Langfuse's own fields.
    """
    facts = collect_facts(raw)
    if facts.kind in (None, SpanKind.OTHER):
        facts.kind = _TYPES.get(str(row.get("type")), SpanKind.EXECUTION if facts.tool else SpanKind.OTHER)
    metadata = read_object(open_json(row.get("metadata")))
    version = first_value(row, "promptVersion", "prompt_version")
    facts.fill(
        prompt_name=text_of(row, "promptName", "prompt_name"),
        prompt_version=None if version is None else str(version),
        session_id=text_of(metadata, *_SESSION),
    )
    if facts.kind in (SpanKind.INFERENCE, SpanKind.AGENT):
        _read_generation(row, metadata, facts)
    else:
        inputs = open_json(row.get("input"))
        facts.fill(arguments=inputs if isinstance(inputs, dict) else None, result=row.get("output"))
    if facts.kind is SpanKind.EXECUTION:
        facts.fill(tool=raw.name or None)
    facts.fill_texts(to_text(row.get("input")), to_text(row.get("output")))
    return facts


def _read_generation(row: Mapping[str, Any], metadata: Mapping[str, Any], facts: SpanFacts) -> None:
    usage = read_object(open_json(first_value(row, "usageDetails", "usage_details", "usage")))
    parameters = read_object(open_json(first_value(row, "modelParameters", "model_parameters")))
    request = read_request(row.get("input"))
    facts.fill(
        model=text_of(row, "model", "providedModelName", "provided_model_name"),
        provider=text_of(metadata, "ls_provider"),
        **count_usage_input(usage),
        output_tokens=first_count(usage, "output", "completion_tokens", "completionTokens", "output_tokens"),
    )
    if request is not None:
        facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)
    defined = read_object(open_json(first_value(row, "toolDefinitions", "tool_definitions")))
    listed = [{"name": name, **read_object(open_json(definition))} for name, definition in defined.items()]
    facts.fill(definitions=find_definitions(listed) or find_definitions(parameters.get("tools")) or None)
    facts.fill(output=_take_output(row))


def _take_output(row: Mapping[str, Any]) -> tuple[Message, ...] | None:
    """Return the messages of the model's output. Return None when the output is missing."""
    messages = read_reply(row.get("output")) or ()
    if any(message.calls for message in messages):
        return messages
    calls = tuple(_read_calls(row))
    return (*messages, Message(role="assistant", calls=calls)) if calls else messages or None


def _read_calls(row: Mapping[str, Any]) -> Iterator[MessageCall]:
    """Yield the tool calls in `toolCalls`. A call without a name gets its name from `toolCallNames`.

    The arguments are decoded, because Langfuse did not keep the model's own text.
    """
    names = open_json(first_value(row, "toolCallNames", "tool_call_names"))
    listed = open_json(first_value(row, "toolCalls", "tool_calls"))
    for number, call in enumerate(listed if isinstance(listed, list) else ()):
        fields = read_object(open_json(call))
        beside = names[number] if isinstance(names, list) and number < len(names) else None
        arguments = open_json(fields.get("arguments"))
        name = read_text(fields.get("name")) or read_text(beside)
        if name is not None:
            yield MessageCall(name, read_text(fields.get("id")) or None, arguments)
