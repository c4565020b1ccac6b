"""LangSmith: runs (its word for spans) as its API, its SDK and its exports give them.

**On disk.** `client.list_runs()` or a bulk export written one run a line, an array of runs, or the answer of
`/runs/query` (`{"runs": […]}`). `child_runs` may hold the runs below a run. Written from the documentation
(https://docs.langchain.com/langsmith/run-data-format) and from runs quoted in public repositories; no whole
export was at hand.

**Shape.** `{id, trace_id, parent_run_id, dotted_order, run_type, name, start_time, end_time, inputs,
outputs, error, status, prompt_tokens, completion_tokens, extra: {metadata, invocation_params}}`; `run_type`
is llm, tool, chain, … Inputs and outputs of an llm run are LangChain's messages (plain, or as `lc`
constructors with `kwargs`) in `messages` and `generations`, or what a wrapped client had (`choices`). Times
without an offset are UTC. `session_id` is the project; a conversation is `extra.metadata.thread_id` (or
`session_id` there). In an experiment `reference_example_id` of the outermost run is the example: the task.

**Traps.**
- `tool_calls[].args` is an object; text that was not JSON stands in `invalid_tool_calls` with its error: a
  ready-made verdict on the arguments, and the model's own text. The text of the others is kept in
  `additional_kwargs` or, of streams, in `tool_call_chunks`.
- The same message holds Anthropic's calls twice: as blocks of its content and as `tool_calls`.
- A tool's output is a message with `tool_call_id` and `status`, or just its text.
- The chains around (LangGraph, RunnableSequence, …) repeat every message; only llm runs count.
- Inputs and outputs that were too large are links (`inputs_s3_urls`): such a reply was not recorded.

**Meaning, bounds**: as in `otlp`.

**Cannot tell.** Arguments of providers that hand objects over; whether a turn did what the user wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.events import Rejected
from ingest.fields import moment, table, tables, text
from ingest.formats import About, Source, Translator
from ingest.lines import snippet_of
from ingest.records import Record
from ingest.shapes.attributes import counted, first
from ingest.shapes.attributes import text as text_of
from ingest.shapes.message_parts import Message
from ingest.shapes.messages import messages_in
from ingest.shapes.nested import opened, shown
from ingest.shapes.requests import definitions_in, request_in
from ingest.shapes.spans import Facts, Kind, RawSpan, nanoseconds
from ingest.shapes.traces import Found, Known, Traces

SOURCE = Source(
    name="langsmith",
    title="LangSmith runs",
    raw_arguments="partly: of calls that were not JSON, and where LangChain kept the text of the others",
    argument_failures="yes: invalid_tool_calls; what was mended silently cannot be seen",
    error_flag="yes: error and status of the tool's run",
    definitions="partly: invocation_params.tools",
    system_prompt="yes: as a message; name and commit of a prompt from the hub",
    model="yes: per model call, with its provider",
    turn_end="partly: the last reply without a call; no verdict",
    cannot_tell="Arguments that LangChain could decode are objects: what needed mending cannot be told. "
    "Whether a turn did what the user wanted is not recorded.",
)

_TYPES = {"llm": Kind.INFERENCE, "tool": Kind.EXECUTION}
_ALL_TYPES = frozenset((*_TYPES, "chain", "retriever", "embedding", "prompt", "parser"))
_IDS = {"trace_id", "dotted_order", "parent_run_id", "parent_run_ids", "child_run_ids"}
_THREAD = ("thread_id", "session_id", "conversation_id")
_DEEPEST = 50  # levels of child_runs


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_run(run) for record in head for run in _top(record))


def translator(_about: About) -> Translator:
    return Traces(_found)


def _top(record: dict[str, Any]) -> list[dict[str, Any]]:
    return tables(record.get("runs")) or [record]


def _is_run(run: Mapping[str, Any]) -> bool:
    return str(run.get("run_type")) in _ALL_TYPES and "id" in run and not _IDS.isdisjoint(run)


def _runs(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The runs of a record, each before those below it, in the order of the text."""
    waiting = [(run, 0) for run in reversed(_top(record))]
    while waiting:
        run, depth = waiting.pop()
        yield run
        if depth < _DEEPEST:
            waiting.extend((child, depth + 1) for child in reversed(tables(run.get("child_runs"))))


def _found(record: Record) -> Iterator[Found]:
    for run in _runs(record.value):
        span_id = text(run.get("id"))
        if not span_id:
            yield Rejected(record.where, "missing_field", "a run has no id", snippet_of(record.data))
            continue
        record.place('"id"')
        raw = _raw(run, record, span_id)
        yield Known(raw, _facts(run, raw))


def _raw(run: Mapping[str, Any], record: Record, span_id: str) -> RawSpan:
    error = text(run.get("error"))
    runtime = table(table(run.get("extra")).get("runtime"))
    return RawSpan(
        trace_id=text(run.get("trace_id")) or _first_of(text(run.get("dotted_order"))) or span_id,
        span_id=span_id,
        where=record.place(span_id),
        name=text(run.get("name")) or "",
        parent_id=_parent(run),
        start=nanoseconds(moment(run.get("start_time"))),
        end=nanoseconds(moment(run.get("end_time"))),
        scope=text(runtime.get("library")),
        failed=error is not None or run.get("status") == "error",
        error=error,
    )


def _parent(run: Mapping[str, Any]) -> str | None:
    above = run.get("parent_run_ids")
    nearest = text(above[-1]) if isinstance(above, list) and above else None
    return text(run.get("parent_run_id")) or nearest


def _first_of(dotted_order: str | None) -> str | None:
    """The root's id in `<time>Z<id>.<time>Z<id>`."""
    return dotted_order.split(".", 1)[0].partition("Z")[2] or None if dotted_order else None


def _facts(run: Mapping[str, Any], raw: RawSpan) -> Facts:
    extra = table(opened(run.get("extra")))
    metadata = table(extra.get("metadata"))
    facts = Facts(kind=_TYPES.get(str(run.get("run_type")), Kind.OTHER))
    facts.fill(
        session_id=text_of(metadata, *_THREAD),
        task=text(run.get("reference_example_id")),
        prompt_name=text_of(metadata, "lc_hub_repo", "prompt_name"),
        prompt_version=text_of(metadata, "lc_hub_commit_hash", "prompt_version"),
    )
    given, gave = opened(run.get("inputs")), opened(run.get("outputs"))
    if facts.kind is Kind.INFERENCE:
        _read_model_call(run, extra, facts)
    elif facts.kind is Kind.EXECUTION:
        _read_tool(raw, given, gave, facts)
    else:
        facts.fill_texts(_last(given, "user"), _last(gave, "assistant"))
    return facts


def _read_model_call(run: Mapping[str, Any], extra: Mapping[str, Any], facts: Facts) -> None:
    metadata, parameters = table(extra.get("metadata")), table(extra.get("invocation_params"))
    request = request_in(run.get("inputs"))
    facts.fill(
        provider=text_of(metadata, "ls_provider"),
        model=text_of(metadata, "ls_model_name") or text_of(parameters, "model", "model_name"),
        definitions=definitions_in(first(parameters, "tools", "functions")) or None,
        output=tuple(messages_in(run.get("outputs"), "assistant")) or None,
        input_tokens=counted(run, "prompt_tokens"),
        output_tokens=counted(run, "completion_tokens"),
    )
    if request is not None:
        facts.fill(input=request.messages or None, system=request.system, definitions=request.definitions)


def _read_tool(raw: RawSpan, given: Any, gave: Any, facts: Facts) -> None:
    """A tool's run. Its output is often the message that the model will read, with the call's id."""
    result = gave.get("output", gave) if isinstance(gave, dict) else gave
    message = next(messages_in(result, "tool"), Message(role="tool")) if isinstance(result, dict) else None
    answer = message.results[0] if message is not None and message.results else None
    inner = opened(table(given).get("input", given))
    facts.fill(
        tool=(answer.name if answer else None) or raw.name or None,
        call_id=answer.id if answer else None,
        arguments=inner if isinstance(inner, dict) else None,
        result=answer.content if answer else shown(result),
    )
    if answer is not None and answer.failed and not raw.failed:
        raw.failed, raw.error = True, answer.content


def _last(body: Any, role: str) -> str | None:
    """The last words of this role in a body; a body that is text itself."""
    if isinstance(body, str):
        return body
    said = [message.text for message in messages_in(body) if message.role == role and message.text]
    return said[-1] if said else None
