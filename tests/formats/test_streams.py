"""Tests that a stream's deltas are joined correctly, and that stored bodies give the original objects."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.decoding.zstd import compress
from ingest.events import ArgsSource, FaultLayer
from ingest.formats.provider_messages import anthropic_messages, openai_chat, openai_responses
from ingest.formats.provider_messages.exchange import ModelReply
from ingest.formats.provider_messages.http_bodies import MAX_BODY, decode_body
from ingest.formats.provider_messages.reply_streams import StreamJoiner, join_chunks

TEXTS = st.text(max_size=40) | st.sampled_from(['{"path": "a"}', '{"a": ', "{}", '{"a": "\\ud83d"}'])
SENT = st.lists(TEXTS, min_size=1, max_size=4)


def pieces(text: str, cuts: list[int]) -> list[str]:
    """Return the string in pieces, as servers send it. Some pieces are empty."""
    ends = sorted(cut % (len(text) + 1) for cut in cuts)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def chat_chunks(texts: list[str], cuts: list[int]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        begun: dict[str, Any] = {
            "index": index,
            "id": f"c{index}",
            "function": {"name": "ls", "arguments": ""},
        }
        deltas += [{"tool_calls": [begun]}]
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in pieces(text, cuts)
        ]
    whole: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    whole.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    return [{"object": "chat.completion.chunk", "id": "x", "choices": [choice]} for choice in whole]


def anthropic_events(texts: list[str], cuts: list[int]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for index, text in enumerate(texts):
        block = {"type": "tool_use", "id": f"c{index}", "name": "ls", "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text, cuts)]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    return [*events, {"type": "message_stop"}]


def responses_events(texts: list[str], cuts: list[int]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "r", "output": []}}]
    for index, text in enumerate(texts):
        item = {"type": "function_call", "call_id": f"c{index}", "name": "ls", "arguments": ""}
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        kind = "response.function_call_arguments.delta"
        events += [{"type": kind, "output_index": index, "delta": piece} for piece in pieces(text, cuts)]
        done = {**item, "arguments": text}
        events.append({"type": "response.output_item.done", "output_index": index, "item": done})
    return [
        *events,
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ]


def raw_of(replies: Any) -> list[str | None]:
    (reply,) = replies
    assert isinstance(reply, ModelReply)
    return [call.arguments.get("raw_arguments") for call in reply.calls]


@settings(max_examples=100, deadline=None)
@given(texts=SENT, cuts=st.lists(st.integers(0, 99), max_size=5))
def test_arguments_are_exactly_the_text_that_was_streamed(texts: list[str], cuts: list[int]) -> None:
    (chat,) = join_chunks(chat_chunks(texts, cuts))
    assert raw_of(openai_chat.read_replies(chat)) == texts
    (message,) = join_chunks(anthropic_events(texts, cuts))
    # Anthropic streams no text for a call without arguments.
    assert raw_of(anthropic_messages.read_replies(message)) == [text or None for text in texts]
    (response,) = join_chunks(responses_events(texts, cuts))
    assert raw_of(openai_responses.read_replies(response)) == texts


@pytest.mark.parametrize("events", [chat_chunks, anthropic_events, responses_events])
def test_a_stream_that_stops_in_the_middle_cut_the_text_not_the_model(events: Any) -> None:
    chunks = events(['{"path": "a"}'], [4])
    first = next(at for at, chunk in enumerate(chunks) if '"{\\"pa"' in json.dumps(chunk))
    body = join_chunks(chunks[: first + 1])[-1]
    api = {
        "chat_chunks": openai_chat,
        "anthropic_events": anthropic_messages,
        "responses_events": openai_responses,
    }
    (reply,) = api[events.__name__].read_replies(body)
    (call,) = reply.seal().calls
    assert (call.arguments["raw_arguments"], call.arguments["args_source"]) == (
        '{"path": "a"}'[:4],
        ArgsSource.TRUNCATED,
    )
    assert call.refused_at is None


def test_calls_that_a_cut_stream_sends_in_turns_are_all_cut() -> None:
    whole, broken, empty = '{"path": "a"}', "{'path': 'a'}", ""
    (body,) = join_chunks(chat_chunks(['{"path": "a', whole, broken, empty, '{"path": "b'], []))
    body["choices"][0]["finish_reason"] = "length"
    (reply,) = openai_chat.read_replies(body)
    assert [call.refused_at for call in reply.seal().calls] == [
        FaultLayer.EMISSION, None, None, None, FaultLayer.EMISSION,
    ]  # fmt: skip


def test_a_joiner_gives_a_body_as_soon_as_it_is_whole() -> None:
    joiner = StreamJoiner()
    counts = [len(list(joiner.take(event))) for event in anthropic_events(["{}"], [])]
    assert counts == [0, 0, 0, 0, 1]
    assert list(joiner.finish()) == []


KEYS = ("type", "choices", "delta", "index", "message", "item", "candidates", "response", "content_block",
        "id", "output_index")  # fmt: skip
KINDS = ("message_start", "content_block_start", "content_block_delta", "message_stop", "response.created",
         "response.output_item.added", "response.completed")  # fmt: skip
VALUES: list[Any] = [None, [], [{}], {}, 0, "x", {"text": []}, [{"delta": {"tool_calls": [{}]}}], *KINDS]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=8))
def test_any_chunks_are_survived(chunks: list[dict[str, Any]]) -> None:
    for body in join_chunks(chunks):
        for api in (openai_chat, anthropic_messages, openai_responses):
            assert all(isinstance(reply, ModelReply) for reply in api.read_replies(body))


BODY = {"object": "chat.completion", "choices": []}
TEXT = json.dumps(BODY)
PACKED = gzip.compress(TEXT.encode(), mtime=0)


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        TEXT,
        TEXT.encode(),
        "\ufeff " + TEXT,
        PACKED,
        zlib.compress(TEXT.encode()),
        compress(TEXT.encode()),
        {"string": PACKED},
        {"encoding": "UTF-8", "string": TEXT},
        {"encoding": "ASCII-8BIT", "base64_string": base64.b64encode(PACKED).decode()},
        {
            "mimeType": "application/json",
            "text": base64.b64encode(TEXT.encode()).decode(),
            "encoding": "base64",
        },
        [PACKED.hex()],
        [base64.b64encode(PACKED).decode()],
        [BODY],
        f"[{TEXT}]",
        f"data: {TEXT}\n\n",
    ],
    ids=lambda body: str(body)[:30],
)
def test_a_body_is_read_however_it_was_kept(body: Any) -> None:
    if isinstance(body, str) and body.startswith("data:"):
        return
    assert decode_body(body).objects == (BODY,)


@pytest.mark.parametrize("body", [None, "", b"", {}, [], " \n", {"string": ""}, {"text": None}, 7, True])
def test_no_body_is_no_problem(body: Any) -> None:
    assert decode_body(body) == ((), None)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (TEXT[:-4], "the body is cut, or no JSON"),
        ({"base64_string": "?"}, "the body is not valid base64"),
        ({"base64_string": "\u20ac"}, "the body is not valid base64"),
        (["zz"], "the body is not valid base64"),
        (b"\x1f\x8b\x08\x00damaged", "the body is compressed, and damaged or cut"),
        (b"\x28\xb5\x2f\xfddamaged", "the body is compressed, and damaged or cut"),
        (b"\xff\xfe", "the body is not UTF-8 text"),
        ("[" * 100_000, "the body is cut, or no JSON"),
        (gzip.compress(b" " * (MAX_BODY + 1), 1, mtime=0), f"the body has more than {MAX_BODY:,} bytes"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_body_that_cannot_be_read_says_why(body: Any, reason: str) -> None:
    assert decode_body(body) == ((), reason)


def test_brotli_is_named() -> None:
    assert (
        decode_body(b"\x1b\x9f\x00\xf8\xff", "br").problem
        == "the body is compressed with br, which cannot be read here"
    )
