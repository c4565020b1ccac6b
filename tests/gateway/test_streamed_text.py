"""Tests the pieces of a reply that a program gets while the reply is streamed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from callgauge.gateway import (
    WIRES,
    Capabilities,
    ChatMessage,
    ChatRequest,
    Endpoint,
    Gateway,
    NoReplyError,
    TextPiece,
    Turn,
    tool,
)
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.dressed import read_asked, write_emitted
from tests.gateway.served.in_process import BrainEndpoint, ask_with

TEXT = "Acme ordered 3 chairs, and 2 tables 🙂."
REQUEST = ChatRequest("m", (ChatMessage("user", "What did Acme order?"),))
NATIVE = Capabilities(supports_tool_use=True, keeps_argument_text=True)


@tool
def search_orders(customer: str) -> str:
    """Orders of a customer."""
    return f"{customer} has 3 orders."


def collect(endpoint: Endpoint, request: ChatRequest = REQUEST) -> tuple[str, list[TextPiece]]:
    """Send one request. Return the complete content of the reply, and its pieces."""
    pieces: list[TextPiece] = []
    reply = ask_with(endpoint, lambda opened: opened.ask(request, pieces.append))
    return reply.text, pieces


class _SlowStream(httpx2.AsyncByteStream):
    """Sends the events of a response one at a time. `sent` contains the events that were sent."""

    def __init__(self, content: bytes, sent: list[str]) -> None:
        self.content, self.sent = content, sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self.content.split(b"\n\n"):
            self.sent.append("event")
            yield event + b"\n\n"


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_text_is_passed_on_before_the_reply_is_complete(wire: str) -> None:
    order: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        path = request.url.raw_path.decode().removeprefix("/v1")
        asked = read_asked(path, {}, json.loads(request.content))
        content, kind = write_emitted(asked, Emitted(TEXT))
        return httpx2.Response(200, stream=_SlowStream(content, order), headers={"content-type": kind})

    endpoint = Endpoint("http://models.test/v1", wire=wire, transport=httpx2.MockTransport(answer))
    ask_with(endpoint, lambda opened: opened.ask(REQUEST, lambda piece: order.append(piece.text)))
    texts = [place for place, what in enumerate(order) if what != "event"]
    assert order[texts[0]] == TEXT[:7]
    # most of the answer was sent after the first piece of text arrived
    assert order[texts[0] + 1 :].count("event") > 5


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_pieces_are_the_text_of_the_reply(wire: str, streams: bool) -> None:
    text, pieces = collect(BrainEndpoint(lambda _: Emitted(TEXT), wire, streams=streams))
    assert "".join(piece.text for piece in pieces) == text == TEXT
    assert [piece.is_first for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert [piece.is_last for piece in pieces] == [False] * (len(pieces) - 1) + [True]


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_without_text_is_one_empty_piece(wire: str) -> None:
    calls = [("search_orders", '{"customer": "Acme"}')]
    _, pieces = collect(BrainEndpoint(lambda _: Emitted(calls=calls), wire))
    assert pieces == [TextPiece("", is_first=True, is_last=True)]


def test_a_refusal_that_is_in_no_event_of_text_is_the_last_piece() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    last = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}

    def answer(_request: httpx2.Request) -> httpx2.Response:
        content = f"data: {json.dumps(last)}\n\n".encode()
        return httpx2.Response(200, content=content, headers={"content-type": "text/event-stream"})

    transport = httpx2.MockTransport(answer)
    endpoint = Endpoint("http://models.test/v1", wire="openai-responses", transport=transport)
    assert collect(endpoint)[1] == [TextPiece("I cannot.", is_first=True, is_last=True)]


def test_a_stream_that_breaks_begins_again_with_a_first_piece() -> None:
    answers = iter([Emitted(TEXT, cut=600), Emitted("Three chairs.")])
    text, pieces = collect(BrainEndpoint(lambda _: next(answers)))
    starts = [place for place, piece in enumerate(pieces) if piece.is_first]
    assert len(starts) == 2
    assert not any(piece.is_last for piece in pieces[: starts[1]])
    assert TEXT.startswith("".join(piece.text for piece in pieces[: starts[1]]))
    assert "".join(piece.text for piece in pieces[starts[1] :]) == text == "Three chairs."


def test_a_stream_that_breaks_each_time_has_no_last_piece() -> None:
    pieces: list[TextPiece] = []
    endpoint = BrainEndpoint(lambda _: Emitted(TEXT, cut=600))
    with pytest.raises(NoReplyError):
        ask_with(endpoint, lambda opened: opened.ask(REQUEST, pieces.append))
    assert sum(piece.is_first for piece in pieces) == 3
    assert not any(piece.is_last for piece in pieces)


def _script() -> Brain:
    def brain(asked: Asked) -> Emitted:
        if asked.last.role == "tool":
            return Emitted(TEXT)
        return Emitted("Let me look.", [("search_orders", '{"customer": "Acme"}')], ids=["call_1"])

    return brain


def _converse(folder: Path, on_text: Any) -> tuple[Turn, BrainEndpoint]:
    endpoint = BrainEndpoint(_script())

    async def talk() -> Turn:
        async with Gateway(
            endpoint,
            [search_orders],
            model="m",
            capabilities=NATIVE,
            log=folder,
            session_id="s",
            on_text=on_text,
        ) as gateway:
            return await gateway.run("What did Acme order?")

    return run(talk()), endpoint


def _read_log(folder: Path) -> list[Any]:
    events = [json.loads(line) for line in (folder / "s.jsonl").read_text(encoding="utf-8").splitlines()]
    for event in events:
        event.pop("ts")
        for name in ("latency_ms", "duration_ms", "durationMs"):
            event.get("meta", {}).pop(name, None)
    return events


def test_requests_turn_and_log_are_the_same_with_and_without_it(tmp_path: Path) -> None:
    pieces: list[TextPiece] = []
    silent, asked_silently = _converse(tmp_path / "silent", None)
    shown, asked_shown = _converse(tmp_path / "shown", pieces.append)
    assert "".join(piece.text for piece in pieces) == "Let me look." + TEXT
    assert (shown.status, shown.answer, len(shown.calls)) == (silent.status, silent.answer, 1)
    assert [request.body for request in asked_shown.asked] == [
        request.body for request in asked_silently.asked
    ]
    assert _read_log(tmp_path / "shown") == _read_log(tmp_path / "silent")


def test_a_function_that_fails_does_not_end_the_turn_and_is_not_called_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = 0

    def fall_over(_piece: TextPiece) -> None:
        nonlocal calls
        calls += 1
        raise ZeroDivisionError

    turn, _ = _converse(tmp_path, fall_over)
    assert (turn.status, turn.answer, calls) == ("ok", TEXT, 1)
    assert caplog.text.count("on_text failed") == 1
