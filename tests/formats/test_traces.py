"""Tests that the spans of a trace give the same events in any order, batch or file."""

from __future__ import annotations

import json
import pickle
import random
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.events import CallMade, Event, LogLine, Rejected, ResultSeen, StepMade, TurnStarted
from ingest.formats import formats, translate_file
from ingest.log_format import About, Record
from ingest.sessions import open_sessions
from tests.conftest import CASES
from tests.formats.test_cases import LOGS, case_name, events_of, plain, record_of, records_of

TRACE_FORMATS = ("genai_span_json", "jaeger", "langfuse", "langsmith", "openinference", "otlp")
TRACES = [path for path in LOGS if path.parent.name in TRACE_FORMATS]
ABOUT = About(identity="0" * 16)


def span(number: int, parent: int | None, start: int, **attributes: Any) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "parentSpanId": f"s{parent}" if parent is not None else "",
        "startTimeUnixNano": str(1_794_216_000_000_000_000 + start * 1_000_000),
        "endTimeUnixNano": str(1_794_216_000_000_000_000 + start * 1_000_000 + 500_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def chat(number: int, parent: int | None, start: int, text: str, *calls: tuple[str, str]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    parts += [{"type": "tool_call", "id": id_, "name": name, "arguments": "{}"} for id_, name in calls]
    output = json.dumps([{"role": "assistant", "parts": parts}])
    return span(number, parent, start, **{"gen_ai.operation.name": "chat", "gen_ai.output.messages": output})


def tool(number: int, parent: int | None, start: int, name: str, **more: str) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}
    return span(number, parent, start, **attributes)


def batch(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": list(spans)}]}]}


def otlp(*batches: dict[str, Any]) -> list[Event | Rejected]:
    records = [record_of("otlp", value, line) for line, value in enumerate(batches, start=1)]
    return list(translate_file(formats()["otlp"], records, ABOUT))


def of_kind(events: Iterable[Event | Rejected], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def without_places(events: Iterable[Event | Rejected]) -> list[dict[str, Any]]:
    return [{**plain(event), "line": 0} for event in events]


def spans_of(log: Path) -> Iterator[dict[str, Any]]:
    """Yield each span of an OTLP log as a separate batch."""
    for line in log.read_text(encoding="utf-8").splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for single_span in scope["spans"]:
                    yield {"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": [single_span]}]}]}


@pytest.mark.parametrize(
    "name",
    [
        "message_attributes_in_batches",
        "a_sub_agent_inside_of_a_tool",
        "turns_of_one_conversation_over_traces",
    ],
)
def test_spans_in_any_order_give_the_same_events(name: str) -> None:
    spans = list(spans_of(CASES / "formats" / "otlp" / f"{name}.jsonl"))
    expected = without_places(otlp(*spans))
    for seed in range(5):
        random.Random(seed).shuffle(spans)
        events = without_places(otlp(*spans))
        assert sorted(map(str, events)) == sorted(map(str, expected))
        sessions = {event["session_id"] for event in expected}
        for session in sessions:
            assert [e for e in events if e["session_id"] == session] == [
                e for e in expected if e["session_id"] == session
            ]


@pytest.mark.parametrize("path", TRACES, ids=case_name)
def test_traces_in_the_temporary_file_are_as_whole_as_those_in_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = events_of(path.parent.name, path)
    monkeypatch.setattr(open_sessions, "MEMORY", 0)
    assert events_of(path.parent.name, path) == in_memory


@pytest.mark.parametrize("path", TRACES, ids=case_name)
def test_a_translator_of_traces_can_be_put_aside_between_two_records(path: Path) -> None:
    translator = formats()[path.parent.name].translator(About(path.name, "0" * 16))
    events: list[Event | Rejected] = []
    for record in records_of(path, path.parent.name):
        if isinstance(record, Record):
            events.extend(translator.take(record))
        else:
            events.append(record)
        translator = pickle.loads(pickle.dumps(translator))  # noqa: S301
    events.extend(translator.finish())
    assert events == events_of(path.parent.name, path)


def test_calls_are_counted_where_models_made_them_not_where_tools_ran() -> None:
    events = otlp(
        batch(
            chat(1, None, 1, "", ("c1", "a"), ("c2", "never_ran")),
            tool(2, None, 2, "a", **{"gen_ai.tool.call.id": "c1"}),
            tool(3, None, 3, "cron"),
            chat(4, None, 4, "Done."),
        )
    )
    assert [(call.tool, call.tool_call_id) for call in of_kind(events, CallMade)] == [
        ("a", "c1"),
        ("never_ran", "c2"),
    ]
    assert [result.ordinal for result in of_kind(events, ResultSeen)] == [0]
    assert [reject.code for reject in of_kind(events, Rejected)] == ["orphan_result"]


def test_runs_without_ids_are_joined_by_name_and_order() -> None:
    events = otlp(
        batch(
            chat(1, None, 1, "", ("x1", "a"), ("x2", "b"), ("x3", "a")),
            tool(2, None, 2, "b", **{"gen_ai.tool.call.result": "of b"}),
            tool(3, None, 3, "a", **{"gen_ai.tool.call.result": "first of a"}),
            tool(4, None, 4, "a", **{"gen_ai.tool.call.result": "second of a"}),
        )
    )
    results = {result.ordinal: result.content for result in of_kind(events, ResultSeen)}
    assert results == {0: "first of a", 1: "of b", 2: "second of a"}


def test_a_call_id_that_comes_again_names_the_next_run() -> None:
    spans = []
    for round_ in range(3):
        spans.append(chat(10 * round_, None, 10 * round_ + 1, "", ("find", "find")))
        attributes = {"gen_ai.tool.call.id": "find", "gen_ai.tool.call.result": f"hit {round_}"}
        spans.append(tool(10 * round_ + 1, None, 10 * round_ + 2, "find", **attributes))
    results = of_kind(otlp(batch(*spans)), ResultSeen)
    assert [(result.step, result.content) for result in results] == [(0, "hit 0"), (1, "hit 1"), (2, "hit 2")]


def test_a_span_that_was_sent_twice_counts_once() -> None:
    request = chat(1, None, 1, "", ("c1", "a"))
    assert len(of_kind(otlp(batch(request), batch(request)), CallMade)) == 1


def test_a_trace_without_model_calls_is_no_session() -> None:
    assert otlp(batch(span(1, None, 1, **{"http.route": "/"}), span(2, 1, 2))) == []


def chain(length: int) -> list[dict[str, Any]]:
    return [chat(number, number - 1 if number else None, number, "x") for number in range(length)]


def circle(length: int) -> list[dict[str, Any]]:
    return [chat(number, (number + 1) % length, number, "x") for number in range(length)]


def tools_in_tools(length: int) -> list[dict[str, Any]]:
    return [tool(number, number - 1 if number else None, number, f"t{number}") for number in range(length)]


def siblings(length: int) -> list[dict[str, Any]]:
    runs = [tool(number, None, number, "a") for number in range(length)]
    return [*runs, *(chat(length + number, None, number, "", ("c", "a")) for number in range(length))]


def unrecorded(length: int) -> list[dict[str, Any]]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    calls = [span(number, None, 2 * number, **attributes) for number in range(length)]
    return [*calls, *(tool(length + number, None, 2 * number + 1, "a") for number in range(length))]


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [chain, circle, tools_in_tools, siblings, unrecorded])
def test_the_time_grows_with_the_number_of_spans_only(shape: Any) -> None:
    def seconds(length: int) -> float:
        batches = batch(*shape(length))
        start = time.process_time()
        otlp(batches)
        return time.process_time() - start

    seconds(500)
    small, large = seconds(1_000), seconds(8_000)
    assert large < 24 * small + 0.25  # 8 times as many spans; with quadratic time, the factor would be 64


@pytest.mark.thorough
def test_what_waits_for_the_end_of_the_file_is_not_held_in_memory() -> None:
    text = "x" * 1_000_000
    records = (
        record_of("otlp", batch({**chat(1, None, 1, text), "traceId": f"t{number}"}), number + 1)
        for number in range(200)
    )
    tracemalloc.start()
    try:
        steps = sum(
            isinstance(event, StepMade) for event in translate_file(formats()["otlp"], records, ABOUT)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert steps == 200
    assert peak < 100_000_000


@pytest.mark.thorough
def test_a_conversation_that_every_request_repeats_is_kept_once() -> None:
    def request(number: int) -> dict[str, Any]:
        messages = [{"role": "user", "content": f"{index}" * 2_000} for index in range(number + 1)]
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)}
        return batch(span(number, None, number, **attributes))

    tracemalloc.start()
    try:
        translator = formats()["otlp"].translator(ABOUT)
        for number in range(150):
            record = record_of("otlp", request(number), number + 1)
            assert isinstance(record, Record)
            assert list(translator.take(record)) == []
            del record
        memory, _ = tracemalloc.get_traced_memory()
        turns = of_kind(translator.finish(), TurnStarted)
    finally:
        tracemalloc.stop()
        translator.close()
    assert len(turns) == 150
    assert memory < 5_000_000  # bytes; all requests together have 60 MB


def test_a_line_number_is_that_of_the_span_in_a_document() -> None:
    path = CASES / "formats" / "jaeger" / "adk_around_openllmetry.json"
    lines = path.read_text(encoding="utf-8").splitlines()
    for event in events_of("jaeger", path):
        if isinstance(event, CallMade):
            assert event.where == LogLine(event.where.line, event.where.offset)
            assert '"spanID": "6c728e555894414d"' in lines[event.where.line - 1]


def test_a_tool_that_waited_for_the_next_trace_is_joined() -> None:
    request_span = {**chat(1, None, 1, "", ("d1", "delete")), "traceId": "t1"}
    ran = {**tool(2, None, 50, "delete", **{"gen_ai.tool.call.id": "d1"}), "traceId": "t2"}
    conversation = {"key": "gen_ai.conversation.id", "value": {"stringValue": "talk"}}
    for entry in (request_span, ran):
        entry["attributes"] = [*entry["attributes"], conversation]
    results = of_kind(otlp(batch(ran), batch(request_span)), ResultSeen)
    assert [(result.turn, result.step, result.ordinal, result.tool) for result in results] == [
        (1, 0, 0, "delete")
    ]


def test_what_may_answer_a_call_in_another_file_is_handed_on() -> None:
    messages = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "d1", "response": "done"}]}]
    asking = span(
        1, None, 1, **{"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)}
    )
    ran = tool(2, None, 2, "delete", **{"gen_ai.tool.call.id": "d2"})
    results = of_kind(
        otlp(batch(asking, chat(3, None, 3, "Done.")), batch({**ran, "traceId": "t2"})), ResultSeen
    )
    assert [(result.tool_call_id, result.turn, result.content) for result in results] == [
        ("d1", None, "done"),
        ("d2", None, None),
    ]


def test_a_client_that_ran_a_tool_again_has_the_last_result() -> None:
    first = tool(2, None, 2, "a", **{"gen_ai.tool.call.id": "c1", "error.type": "TimeoutError"})
    again = tool(3, None, 3, "a", **{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "ok"})
    events = otlp(batch(chat(1, None, 1, "", ("c1", "a")), first, again))
    assert [result.content for result in of_kind(events, ResultSeen)] == ["ok"]
    assert of_kind(events, Rejected) == []
