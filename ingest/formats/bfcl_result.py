"""BFCL result files: JSON Lines with a model's answer to each entry of a test category.

**Files.** `result/<MODEL>/<group>/BFCL_v4_<category>_result.json` (github.com/ShishirPatil/gorilla); version
3 has the same format. These notes are based on results of two models with native calls.

**Fields.** `{id, result, inference_log?, input_token_count, output_token_count, latency}`. With native calls
a reply is `[{name: "<arguments as the model sent them>"}]`, or text if the model made no call.
- Entries with one turn: `result` is the reply. `inference_log[0]` is the request, including the tools.
- Entries with several turns: `result[turn][step]` are the replies. The log has one object per turn,
  `{begin_of_turn_query, step_0: [inference_input, assistant, handler_log, tool …], …}`, between lists of
  states.

Each entry becomes a session. Its task is the entry's `id`.

**Rules.**
- "Error decoding the model response. Proceed to next turn." means that the reply was text. The text is the
  answer, not a failure.
- "Empty response from the model. Proceed to next turn." also means that the reply has no call. Without a text
  it is unknown whether the model answered.
- Models without native calls answer in Python syntax, `[f(a=1)]`. The calls are found in the text (strategy
  `json_fallback`). They have values but no argument text.
- Results of simulated APIs have no error flag. `{"error": …}` is a failure of the API. "Error during
  execution: …" is an exception: the arguments do not match the signature, or the tool does not exist.
- `Error during inference: …` is a failure of the provider, not of the model. Such an entry has no `latency`.
- The tools are in the logged request, which BFCL writes only with `--include-input-log`.

**Not in the log.** The model (its name is the folder's name) and whether an entry was right (see the score
file).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import json_type, read_count, read_number, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import (
    MESSAGE_READ,
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.conversations.session_per_record import SessionPerRecord
from ingest.formats.conversations.trial_messages import python_fault_layer
from ingest.formats.provider_messages.chat_messages import argument_fields, join_content
from ingest.log_format import About, Record, Source, Translator
from lenient.calls import extract_tool_calls
from lenient.regex import compile_regex

SOURCE = Source(
    name="bfcl_result",
    title="BFCL result files",
    raw_arguments="partly: of native calls",
    argument_failures="partly: of native calls; of Python calls in text only what was read",
    error_flag="partly: errors of simulated APIs, derived from the text; single turns run nothing",
    definitions="partly: where the run included the input log",
    system_prompt="no",
    model="no: only in the folder's name",
    turn_end="partly: the end of each turn, without a verdict; that is in the score files",
    cannot_tell="The model, and whether an entry was right. Calls of single-turn categories are never run.",
)

_STEP = compile_regex(r"step_(\d{1,6})")
_PROCEEDS = "Proceed to next turn"
_INFERENCE_FAILED = "Error during inference: "
_NOT_DEFINED = compile_regex(r"name '\w{1,200}' is not defined|has no attribute '\w{1,200}'")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    if not all({"id", "result"} <= record.keys() for record in head):
        return False
    answered = [record for record in head if not _is_failed(record)]
    if not answered:
        return bool(head)
    return all("latency" in record or "inference_log" in record for record in answered)


def _is_failed(entry: Mapping[str, Any]) -> bool:
    """Return True when the model provider failed. The entry then contains no reply of the model."""
    result = entry.get("result")
    return isinstance(result, str) and result.startswith(_INFERENCE_FAILED)


def translator(about: About) -> Translator:
    return SessionPerRecord(about, _take_entry)


def _take_entry(record: Record, session_id: str) -> Iterator[Event | Rejected]:
    value, result = record.value, record.value.get("result")
    if not isinstance(result, str | list):
        reason = f"result is a JSON {json_type(result)}, not text and no list of calls"
        yield Rejected(record.where, "wrong_type", reason, make_snippet(record.data))
        return
    shared: dict[str, Any] = {"session_id": f"{session_id}/{value.get('id')}", "where": record.where}
    yield SessionSeen(**shared, harness="BFCL", task=read_text(value.get("id")) or None)
    logged = [item for item in _list_items(value.get("inference_log")) if isinstance(item, dict)]
    if isinstance(result, list) and result and all(isinstance(turn, list) for turn in result):
        turns = [item for item in logged if "begin_of_turn_query" in item]
        for at, replies in enumerate(result):
            yield from _take_turn(value, at, replies, turns[at] if at < len(turns) else {}, shared)
    else:
        yield from _take_single_turn(value, result, logged, shared)


def _take_single_turn(
    value: Mapping[str, Any], reply: Any, logged: list[dict[str, Any]], shared: dict[str, Any]
) -> Iterator[Event]:
    request = read_object(logged[0].get("content")) if logged else {}
    yield from _offer_tools(request, shared)
    yield TurnStarted(**shared, text=_take_question(request.get("message", request.get("messages"))))
    facts = {name: value.get(name) for name in ("input_token_count", "output_token_count", "latency")}
    yield from _take_reply(reply, facts, shared, decoded=None)


def _take_turn(
    value: Mapping[str, Any], at: int, replies: list[Any], log: Mapping[str, Any], shared: dict[str, Any]
) -> Iterator[Event]:
    yield TurnStarted(**shared, text=_take_question(log.get("begin_of_turn_query")))
    steps = {
        int(match.group(1)): read_objects(step_parts)
        for name, step_parts in log.items()
        if (match := _STEP.fullmatch(name))
    }
    offered: Any = None
    for number_, reply in enumerate(replies):
        parts = steps.get(number_, [])
        request = next(
            (read_object(part.get("content")) for part in parts if part.get("role") == "inference_input"), {}
        )
        if request.get("tools") != offered:
            offered = request.get("tools")
            yield from _offer_tools(request, shared)
        handler = next((part for part in parts if part.get("role") == "handler_log"), {})
        decoded = handler.get("model_response_decoded")
        facts = {
            name: _event_place(_event_place(value.get(name), at), number_)
            for name in ("input_token_count", "output_token_count", "latency")
        }
        proceeds = _PROCEEDS in (read_text(handler.get("content")) or "")
        yield from _take_reply(reply, facts, shared, decoded=decoded, proceeds=proceeds)
        results = [join_content(part.get("content")) for part in parts if part.get("role") == "tool"]
        for ordinal, content in enumerate(results):
            yield _make_result(content or "", ordinal, number_, shared)


def _take_reply(
    reply: Any, facts: Mapping[str, Any], shared: dict[str, Any], *, decoded: Any, proceeds: bool = False
) -> Iterator[Event]:
    """Yield the events of one reply: the step and the step's tool calls.

    The calls are native calls, or calls written as Python text. `decoded` is the reply as BFCL decoded it; an
    empty list means that the text contains no calls. `proceeds` is True when BFCL ended the turn after the
    reply.
    """
    words = _join_words(reply)
    if words is not None and words.startswith(_INFERENCE_FAILED):
        yield TurnEnded(**shared, status="error")
        return
    calls = [pair for call in read_objects(_list_items(reply)) for pair in call.items()]
    text_calls = extract_tool_calls(words, dialect="pythonic") if words and decoded != [] else ()
    strategy = Strategy.TOOL_USE if calls else Strategy.JSON_FALLBACK if text_calls else None
    latency = read_number(facts.get("latency"))
    yield StepMade(
        **shared,
        text=None if text_calls or (proceeds and not words) else words,
        strategy=strategy,
        input_tokens=read_count(facts.get("input_token_count")),
        output_tokens=read_count(facts.get("output_token_count")),
        latency_ms=latency * 1000 if latency is not None else None,
    )
    for name, sent in calls:
        yield CallMade(**shared, tool=name, strategy=strategy, **argument_fields(sent))
    for text_call in text_calls:
        yield CallMade(
            **shared,
            tool=text_call.name,
            strategy=strategy,
            arguments=text_call.request.arguments,
            args_source=ArgsSource.RESERIALISED,
        )
    if not calls and not text_calls and (words is not None or proceeds):
        yield TurnEnded(**shared, answer=None if proceeds and not words else words)


def _join_words(reply: Any) -> str | None:
    """Return the text of a reply, which the log may store as a list of strings.

    Return None for a reply with native tool calls.
    """
    if isinstance(reply, str):
        return reply
    texts = _list_items(reply)
    return "\n".join(texts) if texts and all(isinstance(text, str) for text in texts) else None


def _make_result(content: str, ordinal: int, step: int, shared: dict[str, Any]) -> ResultSeen:
    layer: FaultLayer | None = None
    if content.startswith("Error during execution: "):
        unknown = FaultLayer.SCHEMA if _NOT_DEFINED.search(content) else None
        layer = python_fault_layer(content) or unknown or FaultLayer.EXECUTION
    elif content.startswith('{"error":'):
        layer = FaultLayer.EXECUTION
    return ResultSeen(
        **shared,
        step=step,
        ordinal=ordinal,
        status=ResultStatus.ERROR if layer else ResultStatus.OK,
        flag_source=FlagSource.DERIVED_TEXT,
        fault_layer=layer,
        message=content[:MESSAGE_READ] if layer else None,
        content=content,
    )


def _offer_tools(request: Mapping[str, Any], shared: dict[str, Any]) -> Iterator[ToolsOffered]:
    definitions = tuple(read_objects(request.get("tools")))
    if definitions:
        yield ToolsOffered(**shared, definitions=definitions)


def _take_question(messages: Any) -> str | None:
    """Return the text of the last user message. Return None when there is no user message.

    If the log contains the whole request as Python text, this whole text is returned.
    """
    if isinstance(messages, str):
        return messages
    listed = read_objects(messages)
    return join_content(listed[-1].get("content")) if listed else None


def _list_items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _event_place(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, list) and index < len(value) else None
