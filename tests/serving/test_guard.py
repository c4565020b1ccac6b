"""Tests which host names the server guard accepts, and which origins may send requests."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from callgauge.serving.guard import ServerGuard
from tests.event_loops import run
from tests.serving.conftest import DATA, secret_app

NAMES = ("localhost", "gauge.test")


@pytest.mark.parametrize(
    ("host", "origin", "may"),
    [
        ("gauge.test", "https://gauge.test", True),
        ("gauge.test:443", "https://gauge.test", True),  # some proxies add the port to the host name
        ("gauge.test:8501", "http://gauge.test:8501", True),
        ("GAUGE.test.", "https://gauge.test", True),
        # the proxy sends its own host name instead of the server's
        ("localhost:8501", "https://gauge.test", True),
        ("gauge.test", "https://gauge.test:8443", False),  # the origin is another server on the same host
        ("gauge.test:8501", "http://gauge.test:3000", False),
        ("gauge.test:8501", "http://gauge.test", False),
        ("localhost:8501", "https://gauge.test:8443", False),
        ("gauge.test", "http://localhost", False),
        ("gauge.test", "https://other.test", False),
        ("gauge.test", "null", False),
        ("gauge.test", "file://gauge.test", False),
        ("gauge.test", "https://gauge.test:x", False),
    ],
)
def test_pages_of_another_port_are_another_site(host: str, origin: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES))
    answer = browser.get("/", headers={"host": host, "origin": origin})
    assert (answer.status_code, DATA in answer.text) == ((200, True) if may else (403, False))


@pytest.mark.parametrize(
    ("host", "origin", "may"),
    [
        ("localhost:8501", "https://gauge.test:8443", True),
        ("gauge.test", "https://gauge.test:8443", True),
        ("gauge.test", "https://gauge.test", False),
        # The page came over plain HTTP, so an attacker may have changed it.
        ("gauge.test:8443", "http://gauge.test:8443", False),
        ("localhost:8501", "http://localhost:8501", True),
    ],
)
def test_behind_a_proxy_the_address_alone_counts(host: str, origin: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES, address="https://gauge.test:8443/"))
    assert browser.get("/", headers={"host": host, "origin": origin}).status_code == (200 if may else 403)


@pytest.mark.parametrize(
    ("site", "mode", "may"),
    [
        ("same-origin", "cors", True),
        ("none", "navigate", True),
        ("cross-site", "navigate", True),  # a user clicked a link in a mail
        ("cross-site", "no-cors", False),  # an image of another site has this address, which runs a query
        ("same-site", "no-cors", False),  # the request comes from a page on another port of this machine
    ],
)
def test_pages_of_other_sites_make_no_query_run(site: str, mode: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES), "http://localhost:8501")
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert browser.get("/api/v1/sql?query=SELECT", headers=headers).status_code == (200 if may else 403)


def test_a_long_answer_is_sent_in_pieces() -> None:
    text = b"0123456789" * 30_000
    sent: list[Message] = []

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": text})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def note(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
    run(ServerGuard(answer, "", NAMES)(scope, receive, note))
    bodies = [message["body"] for message in sent[1:]]
    assert b"".join(bodies) == text
    assert max(map(len, bodies)) <= 65_536
    assert [message.get("more_body", False) for message in sent[1:]] == [True] * (len(bodies) - 1) + [False]
