"""LangSmith: runs (LangSmith's word for spans) from its API, its SDK and its exports.

**Files.** `client.list_runs()` or a bulk export written one run per line, an array of runs, the answer of
`/runs/query` (`{"runs": […]}`), or the batches that the SDK sends (`{"post": […], "patch": […]}`).
`child_runs` may contain the runs below a run. No whole export was available. These notes are based on the
documentation (https://docs.langchain.com/langsmith/run-data-format) and runs quoted in public repositories.

**Fields.** `{id, trace_id, parent_run_id, dotted_order, run_type, name, start_time, end_time, inputs,
outputs, error, status, prompt_tokens, completion_tokens, extra: {metadata, invocation_params}}`. `run_type`
is llm, tool, chain … Inputs and outputs of an llm run are LangChain's messages (plain, or as `lc`
constructors with `kwargs`) in `messages` and `generations`, or the request and reply of a wrapped client
(`choices`). Times without an offset are UTC. `session_id` is the project. `extra.metadata.thread_id` (or
`session_id` there) names the conversation. In an experiment, `reference_example_id` of the outermost run is
the task.

**Rules.**
- `tool_calls[].args` is an object; the original text is in `additional_kwargs` or, for streams, in
  `tool_call_chunks`. Calls whose text was not JSON are in `invalid_tool_calls`, with the text and the error.
- A tool's output is a message with `tool_call_id` and `status`, or only its text.
- The chains around a model call (LangGraph, RunnableSequence …) repeat every message, so only llm runs count.
- A batch posts a run when it begins. The same or a later batch patches the run when it ends. Both parts are
  merged into one run. A run without an end is not read.
- Inputs and outputs that were too large are links (`inputs_s3_urls`). Such a reply is missing in the log.

Turns and limits are the same as in `otlp`.

**Not in the log.** The model's own argument text, if the provider returns decoded objects; whether a turn did
what the user wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import make_snippet
from ingest.events import Rejected
from ingest.formats.provider_messages.embedded_json import open_json, to_text
from ingest.formats.provider_messages.message_lists import read_messages
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.provider_messages.model_requests import find_definitions, read_request
from ingest.formats.spans.span import RawSpan, SpanFacts, SpanKind, to_nanoseconds
from ingest.formats.spans.span_attributes import first_count, first_value
from ingest.formats.spans.span_attributes import first_text as text_of
from ingest.formats.traces.trace_translator import Found, KnownSpan, TraceTranslator
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="langsmith",
    title="LangSmith runs",
    raw_arguments="partly: of calls that were not JSON, and where LangChain kept the text of the others",
    argument_failures="yes: invalid_tool_calls; silent repairs are not visible",
    error_flag="yes: error and status of the tool's run",
    definitions="partly: invocation_params.tools",
    system_prompt="yes: as a message; name and commit of a prompt from the hub",
    model="yes: per model call, with its provider",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Arguments that LangChain could decode are objects, so repairs are not visible. "
    "Whether a turn did what the user wanted is not recorded.",
)

_TYPES = {"llm": SpanKind.INFERENCE, "tool": SpanKind.EXECUTION}
_ALL_TYPES = frozenset((*_TYPES, "chain", "retriever", "embedding", "prompt", "parser"))
_IDS = {"trace_id", "dotted_order", "parent_run_id", "parent_run_ids", "child_run_ids"}
_THREAD = ("thread_id", "session_id", "conversation_id")
_DEEPEST = 50  # maximum number of `child_runs` levels that are read
_BEGUN = 10_000  # maximum number of runs that may wait for the batch that contains their end


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_run(run) for record in head for run in _top_runs(record))


def translator(_about: About) -> Translator:
    return TraceTranslator(_RunFinder())


def _top_runs(record: dict[str, Any]) -> list[dict[str, Any]]:
    batch = [*read_objects(record.get("post")), *read_objects(record.get("patch"))]
    return batch or read_objects(record.get("runs")) or [record]


def _is_run(run: Mapping[str, Any]) -> bool:
    return str(run.get("run_type")) in _ALL_TYPES and "id" in run and not _IDS.isdisjoint(run)


def _walk_runs(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the LangSmith runs of a record in the order of the file: each run before its child runs."""
    waiting = [(run, 0) for run in reversed(_top_runs(record))]
    while waiting:
        run, depth = waiting.pop()
        yield run
        if depth < _DEEPEST:
            waiting.extend((child, depth + 1) for child in reversed(read_objects(run.get("child_runs"))))


class _RunFinder:
    """Finds the LangSmith runs in a file.

    If the log has two records of a run, the first waits for the second.
    """

    def __init__(self) -> None:
        self._begun: dict[str, dict[str, Any]] = {}

    def __call__(self, record: Record) -> Iterator[Found]:
        if "post" not in record.value and "patch" not in record.value:
            yield from _find_spans(record, _walk_runs(record.value))
            return
        posted, patched = read_objects(record.value.get("post")), read_objects(record.value.get("patch"))
        ended = {str(run.get("id")) for run in patched}
        for run in posted:
            self._begun[str(run.get("id"))] = run
        merged = [_merge_run(self._begun.pop(str(run.get("id")), {}), run) for run in patched]
        whole = [run for run in posted if run.get("end_time") and str(run.get("id")) not in ended]
        for run in whole:
            del self._begun[str(run.get("id"))]
        while len(self._begun) > _BEGUN:
            del self._begun[next(iter(self._begun))]
        yield from _find_spans(record, iter([*whole, *merged]))


def _merge_run(begun: Mapping[str, Any], ended: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the records of a run's beginning and of its end. Values of the end have precedence."""
    filled = {key: value for key, value in ended.items() if value is not None}
    extra = {**read_object(begun.get("extra")), **read_object(filled.get("extra"))}
    return {**begun, **filled, **({"extra": extra} if extra else {})}


def _find_spans(record: Record, runs: Iterator[dict[str, Any]]) -> Iterator[Found]:
    for run in runs:
        span_id = read_text(run.get("id"))
        if not span_id:
            yield Rejected(record.where, "missing_field", "a run has no id", make_snippet(record.data))
            continue
        record.find_line('"id"')
        raw = _make_raw_span(run, record, span_id)
        yield KnownSpan(raw, _read_facts(run, raw))


def _make_raw_span(run: Mapping[str, Any], record: Record, span_id: str) -> RawSpan:
    error = read_text(run.get("error"))
    runtime = read_object(read_object(run.get("extra")).get("runtime"))
    return RawSpan(
        trace_id=read_text(run.get("trace_id")) or _root_id(read_text(run.get("dotted_order"))) or span_id,
        span_id=span_id,
        where=record.find_line(span_id),
        name=read_text(run.get("name")) or "",
        parent_id=_parent_session(run),
        start=to_nanoseconds(read_time(run.get("start_time"))),
        end=to_nanoseconds(read_time(run.get("end_time"))),
        scope=read_text(runtime.get("library")),
        failed=error is not None or run.get("status") == "error",
        error=error,
    )


def _parent_session(run: Mapping[str, Any]) -> str | None:
    above = run.get("parent_run_ids")
    nearest = read_text(above[-1]) if isinstance(above, list) and above else None
    return read_text(run.get("parent_run_id")) or nearest


def _root_id(dotted_order: str | None) -> str | None:
    """Return the id of the root run from `<time>Z<id>.<time>Z<id>`.

    Return None when the value contains no such id.
    """
    return dotted_order.split(".", 1)[0].partition("Z")[2] or None if dotted_order else None


def _read_facts(run: Mapping[str, Any], raw: RawSpan) -> SpanFacts:
    extra = read_object(open_json(run.get("extra")))
    metadata = read_object(extra.get("metadata"))
    facts = SpanFacts(kind=_TYPES.get(str(run.get("run_type")), SpanKind.OTHER))
    facts.fill(
        session_id=text_of(metadata, *_THREAD),
        task=read_text(run.get("reference_example_id")),
        prompt_name=text_of(metadata, "lc_hub_repo", "prompt_name"),
        prompt_version=text_of(metadata, "lc_hub_commit_hash", "prompt_version"),
    )
    inputs, gave = open_json(run.get("inputs")), open_json(run.get("outputs"))
    if facts.kind is SpanKind.INFERENCE:
        _read_model_call(run, extra, facts)
    elif facts.kind is SpanKind.EXECUTION:
        _read_tool(raw, inputs, gave, facts)
    else:
        facts.fill_texts(_last_words(inputs, "user"), _last_words(gave, "assistant"))
    return facts


def _read_model_call(run: Mapping[str, Any], extra: Mapping[str, Any], facts: SpanFacts) -> None:
    metadata, parameters = read_object(extra.get("metadata")), read_object(extra.get("invocation_params"))
    request = read_request(run.get("inputs"))
    cached = read_object(run.get("prompt_token_details"))
    facts.fill(
        provider=text_of(metadata, "ls_provider"),
        model=text_of(metadata, "ls_model_name") or text_of(parameters, "model", "model_name"),
        definitions=find_definitions(first_value(parameters, "tools", "functions")) or None,
        output=tuple(read_messages(run.get("outputs"), "assistant")) or None,
        **count_whole_input(
            first_count(run, "prompt_tokens"), cached.get("cache_read"), cached.get("cache_creation")
        ),
        output_tokens=first_count(run, "completion_tokens"),
    )
    if request is not None:
        facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)


def _read_tool(raw: RawSpan, inputs: Any, gave: Any, facts: SpanFacts) -> None:
    """Add the tool, call id, arguments and result of a tool execution to `facts`.

    The call id is often in the output, which is the message for the model. If this message reports a failure,
    the span `raw` is marked as failed.
    """
    result = gave.get("output", gave) if isinstance(gave, dict) else gave
    message = next(read_messages(result, "tool"), Message(role="tool")) if isinstance(result, dict) else None
    answer = message.results[0] if message is not None and message.results else None
    inner = open_json(read_object(inputs).get("input", inputs))
    facts.fill(
        tool=(answer.name if answer else None) or raw.name or None,
        call_id=answer.id if answer else None,
        arguments=inner if isinstance(inner, dict) else None,
        result=answer.content if answer else to_text(result),
    )
    if answer is not None and answer.failed and not raw.failed:
        raw.failed, raw.error = True, answer.content


def _last_words(body: Any, role: str) -> str | None:
    """Return the text of the last message with the role `role` in a body.

    Return None when there is no such message. A body that is a string is returned unchanged.
    """
    if isinstance(body, str):
        return body
    texts = [message.text for message in read_messages(body) if message.role == role and message.text]
    return texts[-1] if texts else None
