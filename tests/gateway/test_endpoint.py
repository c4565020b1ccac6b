"""Tests an endpoint with single requests to a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest

from callgauge.gateway import (
    CallSource,
    ChatMessage,
    ChatRequest,
    Endpoint,
    NoReplyError,
    Reply,
    Trouble,
)
from callgauge.gateway.endpoint import RequestSlots
from lenient import ToolDefinition
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.in_process import BrainEndpoint, ask_with
from tests.gateway.served.server import serve_model

TOOL = ToolDefinition.from_json_schema(name="search", schema={"type": "object", "properties": {}})
REQUEST = ChatRequest("m", (ChatMessage("user", "Find it."),), (TOOL,))


def replies(*emitted: Emitted) -> Any:
    """Return a scripted model that gives these replies in order, and then repeats the last reply."""
    waiting: Iterator[Emitted] = iter(emitted)
    last = emitted[-1]
    return lambda _asked: next(waiting, last)


def ask(*emitted: Emitted, wire: str = "openai-chat", **options: Any) -> tuple[Reply, BrainEndpoint]:
    endpoint = BrainEndpoint(replies(*emitted), wire, **options)
    return ask_with(endpoint, lambda opened: opened.ask(REQUEST)), endpoint


def refuse(
    *emitted: Emitted, wire: str = "openai-chat", **options: Any
) -> tuple[NoReplyError, BrainEndpoint]:
    endpoint = BrainEndpoint(replies(*emitted), wire, **options)
    with pytest.raises(NoReplyError) as raised:
        ask_with(endpoint, lambda opened: opened.ask(REQUEST))
    return raised.value, endpoint


OK = Emitted("hello")
GROQ = {
    "message": "Failed to call a function.",
    "code": "tool_use_failed",
    "failed_generation": '<function=search{"q": }',
}
OLLAMA = "error parsing tool call: raw='{\"q\": ', err=unexpected end of JSON input"
LLAMA_SERVER = {
    "code": 500,
    "message": "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]",
}


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_is_the_networks_is_asked_again(status: int) -> None:
    reply, endpoint = ask(Emitted(status=status, body={"error": {"message": "overloaded"}}), OK)
    assert (reply.text, reply.resent, endpoint.requests_sent) == ("hello", 1, 2)


def test_the_attempts_have_an_end_and_the_message_says_why() -> None:
    error, endpoint = refuse(Emitted(status=503, body={"error": {"message": "overloaded, sk-canary-7f3a"}}))
    assert error.trouble is Trouble.NETWORK
    assert endpoint.requests_sent == 3
    assert str(error) == "models.test gave no reply in 3 attempts; the last time: HTTP 503: overloaded, [key]"


def test_a_placeholder_key_does_not_garble_messages() -> None:
    endpoint = Endpoint("http://models.test/v1", key="ollama")
    assert endpoint._clean_message("ollama pull zzz") == "ollama pull zzz"
    assert Endpoint("http://models.test/v1", key="sk-12345")._clean_message("bad sk-12345") == "bad [key]"


@pytest.mark.parametrize("header", ["7", "date"])
def test_retry_after_is_obeyed(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("callgauge.gateway.endpoint.asyncio.sleep", note)
    value = format_datetime(datetime.now(UTC) + timedelta(seconds=8)) if header == "date" else header
    busy = Emitted(status=429, body={}, headers={"retry-after": value})
    ask(busy, OK)
    assert 6 <= waits[0] <= 8
    ask(Emitted(status=429, body={}, headers={"retry-after": "86400"}), OK, longest_wait=60)
    assert waits[1] == 60


@pytest.mark.parametrize("value", ["", "soon", "-3", "nan"])
def test_a_retry_after_that_says_nothing_is_no_error(value: str) -> None:
    reply, _ = ask(Emitted(status=429, body={}, headers={"retry-after": value}), OK)
    assert reply.text == "hello"


@pytest.mark.parametrize(
    ("status", "body", "raw"),
    [
        (400, {"error": GROQ}, '<function=search{"q": }'),
        (500, {"error": OLLAMA}, '{"q": '),
        (500, {"error": LLAMA_SERVER}, None),
    ],
    ids=["groq", "ollama", "llama-server"],
)
def test_a_models_own_bad_call_that_comes_as_an_error_is_a_step(
    status: int, body: Any, raw: str | None
) -> None:
    reply, endpoint = ask(Emitted(status=status, body=body))
    assert endpoint.requests_sent == 1
    assert reply.refused
    assert reply.refused_call is not None
    assert reply.refused_call.raw == (raw or "")
    assert reply.refused_call.source is (CallSource.LOST if raw is None else CallSource.RAW)


@pytest.mark.parametrize(
    ("status", "message", "trouble"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", Trouble.NO_TOOLS),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            Trouble.NO_TOOLS,
        ),
        (500, "tools param requires --jinja flag", Trouble.NO_TOOLS),
        (404, "No endpoints found that support tool use.", Trouble.NO_TOOLS),
        (400, "This model's maximum context length is 8192 tokens.", Trouble.LIMIT),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", Trouble.LIMIT),
        (413, "request too large", Trouble.LIMIT),
        (401, "Incorrect API key provided: sk-canary-7f3a", Trouble.REQUEST),
        (403, "forbidden", Trouble.REQUEST),
        (404, "The model `m` does not exist", Trouble.REQUEST),
        (422, "temperature: must be at most 2", Trouble.REQUEST),
        (302, "", Trouble.REQUEST),
    ],
)
def test_what_no_second_try_can_mend_ends_at_once(status: int, message: str, trouble: Trouble) -> None:
    error, endpoint = refuse(Emitted(status=status, body={"error": {"message": message}}))
    assert (error.trouble, error.status, endpoint.requests_sent) == (trouble, status, 1)
    assert "sk-canary" not in str(error)


def test_an_error_body_of_any_kind_is_told_in_one_short_line() -> None:
    error, _ = refuse(Emitted(status=400, body=b"<html>\n<h1>Bad\n gateway</h1>" + b"x" * 10_000))
    assert str(error).startswith("models.test: HTTP 400: <html> <h1>Bad gateway</h1>x")
    assert len(str(error)) < 600
    assert refuse(Emitted(status=400, body=b"\xff\xfe"))[0].trouble is Trouble.REQUEST


def test_a_server_that_does_not_stream_is_read_whole() -> None:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200, json={"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
        )

    endpoint = Endpoint("http://models.test", transport=httpx2.MockTransport(answer))
    assert ask_with(endpoint, lambda opened: opened.ask(REQUEST)).text == "whole"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text/html", b"<html>login</html>"),
        ("application/json", b"{"),
        ("text/event-stream", b""),
        ("", b"hello"),
    ],
)
def test_an_answer_that_is_none_is_asked_again_and_never_a_reply(kind: str, content: bytes) -> None:
    attempts = 0

    def answer(_request: httpx2.Request) -> httpx2.Response:
        nonlocal attempts
        attempts += 1
        return httpx2.Response(200, content=content, headers={"content-type": kind})

    endpoint = Endpoint(
        "http://models.test", attempts=2, first_wait=0, transport=httpx2.MockTransport(answer)
    )
    with pytest.raises(NoReplyError) as raised:
        ask_with(endpoint, lambda opened: opened.ask(REQUEST))
    assert (raised.value.trouble, attempts) == (Trouble.NETWORK, 2)


def test_a_slow_answer_is_given_up_and_asked_again() -> None:
    with serve_model(replies(Emitted("late", slow=0.6), OK)) as served:
        endpoint = Endpoint(served.url, timeout=0.3, first_wait=0.0, attempts=2)
        reply = ask_with(endpoint, lambda opened: opened.ask(REQUEST))
    assert (reply.text, reply.resent) == ("hello", 1)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    endpoint = Endpoint("http://user:secret@127.0.0.1:1/v1", attempts=1)
    with pytest.raises(NoReplyError) as raised:
        ask_with(endpoint, lambda opened: opened.ask(REQUEST))
    assert str(raised.value).startswith(
        "127.0.0.1:1 gave no reply in 1 attempts; the last time: ConnectError"
    )
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["", "ftp://x", "models.test/v1"])
def test_an_address_is_checked_when_it_is_given(url: str) -> None:
    with pytest.raises(ValueError, match=r"is not an address; it must begin with http:// or https://"):
        Endpoint(url)
    with pytest.raises(
        ValueError, match="is not an API: use openai-chat, openai-responses, anthropic, gemini"
    ):
        Endpoint("http://models.test", wire="grpc")


def test_no_more_requests_than_slots_are_under_way() -> None:
    now = most = 0

    async def ask_often() -> None:
        nonlocal now, most
        slots = RequestSlots(3)

        async def ask_once() -> None:
            nonlocal now, most
            async with slots.take():
                now += 1
                most = max(most, now)
                await asyncio.sleep(0)
                now -= 1

        await asyncio.gather(*(ask_once() for _ in range(20)))

    run(ask_often())
    assert (now, most) == (0, 3)


def test_too_many_requests_halve_the_slots_and_replies_bring_them_back() -> None:
    slots = RequestSlots(8)
    slots.count_overload()
    slots.count_overload()
    assert slots.allowed == 2
    for _ in range(40):
        slots.count_reply()
    assert slots.allowed == 4
    for _ in range(1_000):
        slots.count_reply()
    assert slots.allowed == 8
    for _ in range(9):
        slots.count_overload()
    assert slots.allowed == 1


def test_a_cancelled_request_gives_its_slot_back() -> None:
    async def cancel_one() -> str:
        slots = RequestSlots(1)

        async def hold() -> None:
            async with slots.take():
                await asyncio.sleep(60)

        holding = asyncio.create_task(hold())
        waiting = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiting.cancel()
        holding.cancel()
        await asyncio.gather(holding, waiting, return_exceptions=True)
        async with asyncio.timeout(5), slots.take():
            return "free"

    assert run(cancel_one()) == "free"


def test_bodies_with_any_text_are_sent() -> None:
    def echo(request: Asked) -> Emitted:
        return Emitted(request.user)

    endpoint = BrainEndpoint(echo)
    words = "你好 \ud83d \x00 \u2028"
    reply = ask_with(endpoint, lambda opened: opened.ask(ChatRequest("m", (ChatMessage("user", words),))))
    assert reply.text == words


@pytest.mark.parametrize(
    ("answer", "path", "hint"),
    [
        (httpx2.Response(404, text="404 page not found"), "", True),
        (httpx2.Response(404, html="<p>Nothing</p>"), "", True),
        (httpx2.Response(405, json={"detail": "Method Not Allowed"}), "", True),
        (httpx2.Response(200, html="<p>Welcome</p>"), "", True),
        (httpx2.Response(404, json={"error": {"message": "model 'x' not found"}}), "/v1", False),
        (httpx2.Response(400, json={"error": {"message": "no such field"}}), "", False),
    ],
)
def test_an_address_without_a_version_gets_a_hint(answer: httpx2.Response, path: str, hint: bool) -> None:
    transport = httpx2.MockTransport(lambda _: answer)
    endpoint = Endpoint(f"http://models.test:8000{path}", transport=transport, attempts=1)
    with pytest.raises(NoReplyError) as caught:
        ask_with(endpoint, lambda opened: opened.ask(ChatRequest("x", (ChatMessage("user", "Hi"),))))
    message = str(caught.value)
    assert message.endswith("; the address may lack /v1: try http://models.test:8000/v1") is hint
    assert "<p>" not in message
