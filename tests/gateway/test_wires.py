"""Tests the four APIs. Streamed and complete replies must give the same result."""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgauge.gateway import (
    WIRES,
    Call,
    CallSource,
    ChatMessage,
    ChatRequest,
    FinishReason,
    NoReplyError,
    Reply,
    Tokens,
    Trouble,
)
from callgauge.gateway.apis import BrokenReplyError, ErrorInReplyError
from lenient import ToolDefinition
from tests.gateway.served.brain import Emitted
from tests.gateway.served.dressed import read_events
from tests.gateway.served.in_process import BrainEndpoint, ask_with

TOOL = ToolDefinition.from_json_schema(
    name="search", schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
)
RAW = '{"q": "Zürich \\u4f60 \\"x\\"",  "n":1}'  # the spaces and escapes in this text must be kept
BROKEN = '{"q": "cut'
EMITTED = Emitted("Let me see. 你好", [("search", RAW), ("search", '{"q": "b"}')], ids=["call_a", "call_b"])


def ask(wire: str, emitted: Emitted, *, streams: bool = True, **options: Any) -> Reply:
    request = ChatRequest(
        "m-1", (ChatMessage("system", "Be brief."), ChatMessage("user", "Find it.")), (TOOL,), streams=streams
    )
    return ask_with(BrainEndpoint(lambda _: emitted, wire, **options), lambda endpoint: endpoint.ask(request))


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", WIRES)
def test_text_calls_tokens_and_stop_are_read(wire: str, streams: bool) -> None:
    reply = ask(wire, EMITTED, streams=streams)
    assert reply.text == "Let me see. 你好"
    assert [call.name for call in reply.calls] == ["search", "search"]
    assert [json.loads(call.raw) for call in reply.calls] == [json.loads(RAW), {"q": "b"}]
    assert reply.stop is FinishReason.TOOL_USE
    assert reply.tokens == Tokens(50, 20, 10)
    assert reply.model == "m-1"
    if wire != "gemini":
        assert [call.id for call in reply.calls] == ["call_a", "call_b"]


@pytest.mark.parametrize(
    ("wire", "streams", "keeps"),
    [
        ("openai-chat", True, True),
        ("openai-chat", False, True),
        ("openai-responses", True, True),
        ("openai-responses", False, True),
        ("anthropic", True, True),
        ("anthropic", False, False),  # the API has already decoded the arguments
        ("gemini", True, False),
        ("gemini", False, False),
    ],
)
def test_the_models_own_text_is_kept_where_the_wire_gives_it(wire: str, streams: bool, keeps: bool) -> None:
    reply = ask(wire, EMITTED, streams=streams)
    assert (reply.calls[0].raw == RAW) is keeps
    assert reply.calls[0].source is (CallSource.RAW if keeps else CallSource.RESERIALISED)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_broken_arguments_come_through_as_they_are(wire: str) -> None:
    assert ask(wire, Emitted(calls=[("search", BROKEN)])).calls[0].raw == BROKEN


def test_what_gemini_could_not_read_is_a_call_of_the_model() -> None:
    reply = ask("gemini", Emitted(calls=[("search", BROKEN)]))
    assert reply.calls == ()
    assert reply.refused == f"Malformed function call: search({BROKEN})"
    assert reply.refused_call == Call("", "search", BROKEN)


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("stop", "reason"),
    [("length", FinishReason.MAX_TOKENS), ("refusal", FinishReason.REFUSAL), (None, FinishReason.END_TURN)],
)
def test_the_reason_of_the_end_has_one_spelling(
    wire: str, streams: bool, stop: str, reason: FinishReason
) -> None:
    assert ask(wire, Emitted("No.", stop=stop), streams=streams).stop is reason


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_is_cut_at_any_byte_is_no_reply_or_the_whole_one(wire: str) -> None:
    emitted = Emitted("Hi", [("search", '{"q": "ü"}')], ids=["call_a"])
    whole, cut, were_whole = ask(wire, emitted), 0, 0
    while were_whole < 3:
        reply = ask_or_none(wire, dataclasses.replace(emitted, cut=cut))
        assert reply is not None or not were_whole, "a longer part of the stream must not be less of a reply"
        if reply is not None:
            assert (reply.text, reply.calls, reply.stop) == (whole.text, whole.calls, whole.stop)
            were_whole += reply.tokens == whole.tokens
        cut += 1
    assert cut > 100


def ask_or_none(wire: str, emitted: Emitted) -> Reply | None:
    try:
        return ask(wire, emitted, attempts=1)
    except NoReplyError as error:
        if error.trouble is Trouble.NETWORK:
            return None
        raise


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_holds_the_tools_the_system_prompt_and_the_sampling(wire: str) -> None:
    endpoint = BrainEndpoint(lambda _: Emitted("ok"), wire)
    request = ChatRequest(
        "m-1",
        (ChatMessage("system", "Be brief."), ChatMessage("user", "Find it.")),
        (TOOL,),
        is_serial=True,
        sampling={"temperature": 0.5, "max_tokens": 9, "seed": 3},
        extra_body={"user": "u1"},
    )
    ask_with(endpoint, lambda opened: opened.ask(request))
    [sent] = endpoint.asked
    assert sent.has_tools
    assert sent.system == "Be brief."
    assert sent.user == "Find it."
    assert sent.body["user"] == "u1"
    by_wire: dict[str, dict[str, Any]] = {
        "openai-chat": {
            "temperature": 0.5,
            "max_tokens": 9,
            "seed": 3,
            "parallel_tool_calls": False,
            "stream": True,
        },
        "openai-responses": {
            "temperature": 0.5,
            "max_output_tokens": 9,
            "parallel_tool_calls": False,
            "store": False,
        },
        "anthropic": {"temperature": 0.5, "max_tokens": 9, "stream": True},
        "gemini": {"generationConfig": {"temperature": 0.5, "maxOutputTokens": 9, "seed": 3}},
    }
    assert by_wire[wire].items() <= sent.body.items()
    if wire != "openai-chat" and wire != "gemini":
        assert "seed" not in sent.body
    if wire == "anthropic":
        assert sent.body["tools"][0]["eager_input_streaming"] is True
        assert sent.body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    key_headers = {
        "openai-chat": "authorization",
        "openai-responses": "authorization",
        "anthropic": "x-api-key",
    }
    assert sent.headers[key_headers.get(wire, "x-goog-api-key")].endswith("sk-canary-7f3a")


@pytest.mark.parametrize("wire", WIRES)
def test_a_history_with_calls_and_results_is_written_in_order(wire: str) -> None:
    calls = (Call("call_a", "search", '{"q": "x"}', signature="c2ln"), Call("call_b", "search", '{"q": "y"}'))
    messages = (
        ChatMessage("system", "S"),
        ChatMessage("user", "U"),
        ChatMessage("assistant", "A", calls),
        ChatMessage("tool", "found x", (), "call_a", "search"),
        ChatMessage("tool", "no", (), "call_b", "search", is_error=True),
        ChatMessage("user", "and now?"),
    )
    endpoint = BrainEndpoint(lambda _: Emitted("ok"), wire)
    ask_with(endpoint, lambda opened: opened.ask(ChatRequest("m", messages, (TOOL,))))
    sent = endpoint.asked[0].messages
    results = [message.text for message in sent if message.role == "tool"]
    assert ["found x" in results[0], "no" in results[1]] == [True, True]
    assert sum(len(message.calls) for message in sent) == 2
    assert sent[-1].text == "and now?"
    if wire == "gemini":
        assert '"thoughtSignature": "c2ln"' in json.dumps(endpoint.asked[0].body)
    if wire == "anthropic":  # Anthropic's API has the results and the user's text in one message
        roles = [message["role"] for message in endpoint.asked[0].body["messages"]]
        assert roles == ["user", "assistant", "user"]
        assert endpoint.asked[0].body["messages"][-1]["content"][1]["is_error"] is True


def test_chat_servers_that_send_no_index_or_objects_are_read() -> None:
    events = [
        '{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"search","arguments":{"q":1}}}]}}]}',
        '{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"search","arguments":"{\\"q\\":"}}]}}]}',
        '{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"2}"}}]},"finish_reason":"tool_calls"}]}',
    ]
    reply = read_events(WIRES["openai-chat"], events)
    assert reply.calls == (
        Call("a", "search", '{"q":1}', CallSource.RESERIALISED),
        Call("b", "search", '{"q":2}'),
    )


def test_thinking_blocks_go_back_unchanged() -> None:
    events = [
        '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}',
        '{"type":"message_stop"}',
    ]
    wire = WIRES["anthropic"]
    carried = read_events(wire, events).carried
    assert carried == ({"type": "thinking", "thinking": "hm", "signature": "s1"},)
    body = wire.write(
        ChatRequest("m", (ChatMessage("user", "U"), ChatMessage("assistant", "A", carried=carried)))
    ).body
    assert body["messages"][1]["content"] == [*carried, {"type": "text", "text": "A"}]


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ("openai-chat", '{"error":{"message":"overloaded"}}'),
        ("openai-responses", '{"type":"response.failed","response":{"error":{"code":"server_error"}}}'),
        ("anthropic", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
        ("gemini", '{"error":{"code":503,"message":"overloaded"}}'),
    ],
)
def test_an_error_within_a_stream_is_an_error(wire: str, event: str) -> None:
    with pytest.raises(ErrorInReplyError):
        read_events(WIRES[wire], [event])


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "x", "tool_use", "STOP", "function_call"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "index",
                    "choices",
                    "delta",
                    "tool_calls",
                    "function",
                    "arguments",
                    "finish_reason",
                    "item",
                    "response",
                    "output",
                    "content_block",
                    "message",
                    "usage",
                    "candidates",
                    "content",
                    "parts",
                    "functionCall",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("wire", WIRES)
@given(events=st.lists(_JSON, max_size=4), tail=st.sampled_from(["", "[DONE]", "{", "\x00"]))
def test_no_event_whatever_its_shape_breaks_a_reader(wire: str, events: list[Any], tail: str) -> None:
    written = [json.dumps(event) for event in events] + ([tail] if tail else [])
    with suppress(BrokenReplyError, ErrorInReplyError):
        assert isinstance(read_events(WIRES[wire], written), Reply)
    for event in written:
        with suppress(BrokenReplyError, ErrorInReplyError):
            assert isinstance(WIRES[wire].read_body(event.encode()), Reply)
