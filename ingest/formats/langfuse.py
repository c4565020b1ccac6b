"""Langfuse: traces and observations, from its interface, its API or its export to blob storage.

**On disk.** A trace as the interface downloads it (`{"trace": {…}, "observations": […]}`), as the API gives
it (the trace with its `observations`), a page of observations (`{"data": […], "meta": {…}}`), or one
observation a line (`observations_v2/` of the blob storage; snake_case there, camelCase elsewhere).

**Shape.** `{id, traceId, parentObservationId, type, name, startTime, endTime, level, statusMessage, model,
input, output, metadata, usageDetails, promptName, promptVersion, toolDefinitions, toolCalls, toolCallNames}`;
`type` is GENERATION, TOOL, AGENT, CHAIN, SPAN, EVENT, … What came in through OpenTelemetry has its attributes
in `metadata.attributes`: they are read first, by the conventions of `otlp`, because Langfuse's own fields are
made out of them.

**Traps.**
- Bodies are JSON in JSON: text, or objects that somebody has already opened down to the arguments of a call.
  They are opened where a body is due, ten layers at most; a call's arguments are left as they are.
- A body has the shape of the library that was traced: chat messages, `parts`, Gemini's `contents` and
  `candidates`, Anthropic's blocks, LangChain's messages, Koog's calls as JSON in the text of a reply.
- `toolCalls` is what Langfuse found in the output, with objects written out again as text: it is used only
  where the output has no call, and its text does not count as the model's own.
- Older SDKs know no TOOL: a SPAN with the name of a tool that was called is its run.
- LangGraph's tracer lists the offered tools as messages of the role tool.
- The trace repeats the observations without their bodies; `input` of a generation may be rubbish
  (`{"content": "role"}` from the Claude Agent SDK's exporter) and is then no user's message.
- A tool that answers with an error of its own has level DEFAULT: it ran.

**Meaning, bounds**: as in `otlp`.

**Cannot tell.** What was masked or cut before it was sent; whether a turn did what the user wanted: scores
are made by evaluators and not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.events import Rejected
from ingest.fields import moment, table, tables, text
from ingest.formats import About, Source, Translator
from ingest.lines import snippet_of
from ingest.records import Record
from ingest.shapes.attributes import counted, first, flat
from ingest.shapes.attributes import text as text_of
from ingest.shapes.conventions import facts_of
from ingest.shapes.message_parts import CallSaid, Message
from ingest.shapes.messages import reply_in
from ingest.shapes.nested import opened, shown
from ingest.shapes.requests import definitions_in, request_in
from ingest.shapes.spans import Facts, Kind, RawSpan, nanoseconds
from ingest.shapes.traces import Found, Known, Traces

SOURCE = Source(
    name="langfuse",
    title="Langfuse traces and observations",
    raw_arguments="partly: where the traced library had the model's text and nobody opened it",
    argument_failures="partly: judged where the text is there; a refusal shows as a tool's error, if at all",
    error_flag="yes: the level of the tool's observation; what only messages tell has no flag",
    definitions="partly: where the traced library sent them",
    system_prompt="yes: as a message, or name and version of a managed prompt",
    model="yes: per generation; the provider where the traced library names it",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Frameworks that decode arguments send objects: what was not JSON is gone. A tool that "
    "reports an error in its answer counts as one that ran.",
)

_TYPES = {"GENERATION": Kind.INFERENCE, "TOOL": Kind.EXECUTION, "AGENT": Kind.AGENT}
_ALL_TYPES = frozenset(
    (*_TYPES, "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
)
_SESSION = ("session_id", "thread_id", "conversation_id")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_observation(row) for record in head for row in _observations(record)[:50])


def translator(_about: About) -> Translator:
    return Traces(_found)


def _observations(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of a trace, of a page, or the one that the record is."""
    within = tables(record.get("observations")) or tables(table(record.get("trace")).get("observations"))
    return within or tables(record.get("data")) or [record]


def _is_observation(row: Mapping[str, Any]) -> bool:
    return (
        str(row.get("type")) in _ALL_TYPES
        and bool({"traceId", "trace_id"} & row.keys())
        and bool(
            {"level", "parentObservationId", "parent_observation_id", "startTime", "start_time"} & row.keys()
        )
    )


def _found(record: Record) -> Iterator[Found]:
    trace = table(record.value.get("trace")) or record.value
    rows = _observations(record.value)
    known = {text(row.get("id")) for row in rows}
    if repeated := tables(table(record.value.get("trace")).get("observations")):
        record.place(str(repeated[-1].get("id")))  # past the copies without bodies
        record.place('"observations"')
    for row in rows:
        trace_id, span_id = text_of(row, "traceId", "trace_id"), text_of(row, "id")
        if not trace_id or not span_id:
            reason = f"an observation has no {'traceId' if not trace_id else 'id'}"
            yield Rejected(record.where, "missing_field", reason, snippet_of(record.data))
            continue
        record.place('"id"')
        raw = _raw(row, record, trace_id, span_id)
        facts = _facts(row, raw)
        facts.fill(
            session_id=text_of(row, "sessionId", "session_id") or text_of(trace, "sessionId", "session_id"),
            user=text_of(row, "userId", "user_id") or text_of(trace, "userId", "user_id"),
        )
        if raw.parent_id not in known and trace is not row:
            facts.fill_texts(shown(trace.get("input")), shown(trace.get("output")))
        yield Known(raw, facts)


def _raw(row: Mapping[str, Any], record: Record, trace_id: str, span_id: str) -> RawSpan:
    metadata = table(opened(row.get("metadata")))
    failed = row.get("level") == "ERROR"
    return RawSpan(
        trace_id=trace_id,
        span_id=span_id,
        where=record.place(span_id),
        name=text(row.get("name")) or "",
        parent_id=text_of(row, "parentObservationId", "parent_observation_id"),
        start=nanoseconds(moment(first(row, "startTime", "start_time"))),
        end=nanoseconds(moment(first(row, "endTime", "end_time"))),
        attributes=flat(opened(metadata.get("attributes"))),
        resource=flat(opened(metadata.get("resourceAttributes"))),
        scope=text(table(opened(metadata.get("scope"))).get("name")),
        failed=failed,
        error=text_of(row, "statusMessage", "status_message"),
    )


def _facts(row: Mapping[str, Any], raw: RawSpan) -> Facts:
    """What the attributes tell, then what Langfuse's own fields add."""
    facts = facts_of(raw)
    if facts.kind in (None, Kind.OTHER):
        facts.kind = _TYPES.get(str(row.get("type")), Kind.EXECUTION if facts.tool else Kind.OTHER)
    metadata = table(opened(row.get("metadata")))
    version = first(row, "promptVersion", "prompt_version")
    facts.fill(
        prompt_name=text_of(row, "promptName", "prompt_name"),
        prompt_version=None if version is None else str(version),
        session_id=text_of(metadata, *_SESSION),
    )
    if facts.kind in (Kind.INFERENCE, Kind.AGENT):
        _read_generation(row, metadata, facts)
    else:
        given = opened(row.get("input"))
        facts.fill(arguments=given if isinstance(given, dict) else None, result=row.get("output"))
    if facts.kind is Kind.EXECUTION:
        facts.fill(tool=raw.name or None)
    facts.fill_texts(shown(row.get("input")), shown(row.get("output")))
    return facts


def _read_generation(row: Mapping[str, Any], metadata: Mapping[str, Any], facts: Facts) -> None:
    usage = table(opened(first(row, "usageDetails", "usage_details", "usage")))
    parameters = table(opened(first(row, "modelParameters", "model_parameters")))
    request = request_in(row.get("input"))
    facts.fill(
        model=text_of(row, "model", "providedModelName", "provided_model_name"),
        provider=text_of(metadata, "ls_provider"),
        input_tokens=counted(usage, "input", "prompt_tokens", "promptTokens", "input_tokens"),
        output_tokens=counted(usage, "output", "completion_tokens", "completionTokens", "output_tokens"),
    )
    if request is not None:
        facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)
    defined = table(opened(first(row, "toolDefinitions", "tool_definitions")))
    listed = [{"name": name, **table(opened(told))} for name, told in defined.items()]
    facts.fill(definitions=definitions_in(listed) or definitions_in(parameters.get("tools")) or None)
    facts.fill(output=_output(row))


def _output(row: Mapping[str, Any]) -> tuple[Message, ...] | None:
    """What the model said; None where no output was recorded."""
    said = reply_in(row.get("output")) or ()
    if any(message.calls for message in said):
        return said
    calls = tuple(_calls(row))
    return (*said, Message(role="assistant", calls=calls)) if calls else said or None


def _calls(row: Mapping[str, Any]) -> Iterator[CallSaid]:
    """`toolCalls` with the names that stand beside them; the arguments were written again by Langfuse."""
    names = opened(first(row, "toolCallNames", "tool_call_names"))
    listed = opened(first(row, "toolCalls", "tool_calls"))
    for number, call in enumerate(listed if isinstance(listed, list) else ()):
        told = table(opened(call))
        beside = names[number] if isinstance(names, list) and number < len(names) else None
        arguments = opened(told.get("arguments"))
        name = text(told.get("name")) or text(beside)
        if name is not None:
            yield CallSaid(name, text(told.get("id")) or None, arguments)
