"""Tests `/healthz` and `/metrics`."""

from __future__ import annotations

import json

import pytest
from starlette.types import Message, Receive, Scope, Send

from callgauge.serving.identity import LOCAL_USER, NETWORK_USER, User, write_headers
from callgauge.serving.monitoring_routes import HealthRoute, MetricsRoute, PlainAnswer
from tests.event_loops import run

ELSEWHERE = 418


async def answer_elsewhere(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": ELSEWHERE, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def ask(
    route: HealthRoute | MetricsRoute, path: str, method: str = "GET", **scope: object
) -> tuple[int, str]:
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("nobody reads a body")

    async def send(message: Message) -> None:
        sent.append(message)

    asked = {
        "type": "http",
        "path": path,
        "method": method,
        "headers": [],
        "client": ("127.0.0.1", 1),
        **scope,
    }
    run(route(asked, receive, send))
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.parametrize(("is_well", "status"), [(True, 200), (False, 503)])
def test_health_is_a_status_and_a_reason(is_well: bool, status: int) -> None:
    route = HealthRoute(answer_elsewhere, lambda: (is_well, {"limit_seconds": 60}))
    answer_status, body = ask(route, "/healthz")
    assert answer_status == status
    assert json.loads(body) == {"status": "ok" if is_well else "unhealthy", "limit_seconds": 60}


def test_a_server_that_answers_is_alive_whatever_its_store_is_like() -> None:
    route = HealthRoute(answer_elsewhere, lambda: (False, {}))
    assert ask(route, "/healthz/live") == (200, '{"status": "ok"}')


def test_health_has_no_other_routes_and_takes_nothing() -> None:
    route = HealthRoute(answer_elsewhere, lambda: (True, {}))
    for path in ("/", "/healthz/", "/healthz/x", "/x/healthz", "/metrics"):
        assert ask(route, path)[0] == ELSEWHERE
    assert ask(route, "/healthz", "POST")[0] == 405
    assert ask(route, "/healthz", "HEAD") == (200, "")


@pytest.mark.parametrize(
    ("user", "status"),
    [
        (User("ann@example.com", "viewer", may_write=False), 200),
        (LOCAL_USER, 200),
        (NETWORK_USER, 403),
    ],
)
def test_metrics_are_for_those_whom_the_gate_named(user: User, status: int) -> None:
    route = MetricsRoute(answer_elsewhere, lambda: PlainAnswer(200, "text/plain", "figures"))
    answer_status, body = ask(route, "/metrics", headers=write_headers(user))
    assert answer_status == status
    assert ("figures" in body) is (status == 200)


def test_metrics_are_for_nobody_whom_no_gate_named() -> None:
    route = MetricsRoute(answer_elsewhere, lambda: PlainAnswer(200, "text/plain", "figures"))
    assert ask(route, "/metrics")[0] == 403
