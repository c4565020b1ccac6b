"""Tests requests to a model from the playground."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.dashboard.components.shell import live_requests
from callgauge.dashboard.components.shell.live_models import find_live_models
from callgauge.dashboard.components.shell.live_requests import LiveReply, LiveRequest
from tests.analysis.store_fixture import a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of
from tests.event_loops import call_apart
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model

PAGE = "callgauge/dashboard/pages/playground/page.py"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
KNOWN = {
    "tool_definitions": [
        {
            "definition_id": "d2",
            "tool": "read_file",
            "description": "Reads.",
            "definition": json.dumps(SCHEMA),
        }
    ],
    "turns": [a_turn(1, user_text="Read src/app.py.")],
    "tool_calls": [a_call(2, definition_id="d2", raw_arguments='{"path": "a", "limit": "5"}')],
}


class Sender:
    """Returns prepared responses, and records the requests."""

    endpoint = "models.test"
    models = ("aurora",)

    def __init__(self, *replies: LiveReply) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[LiveRequest, int]] = []

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        self.asked.append((request, times))
        return self.replies


@pytest.fixture
def store_with_call(store: Path) -> Path:
    publish(store, small_tables() | KNOWN)
    return store


def open_with(sender: Sender | None, monkeypatch: pytest.MonkeyPatch, call: str = "c2") -> AppTest:
    monkeypatch.setattr(live_requests, "find_sender", lambda: sender)
    monkeypatch.setattr("callgauge.dashboard.pages.playground.live_card.find_sender", lambda: sender)
    return opened(PAGE, call=call)


def test_without_a_key_there_is_no_such_card(store_with_call: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Ask the model again" not in page_text(open_with(None, monkeypatch))
    assert find_live_models({}) is None
    assert find_live_models({"CALLGAUGE_LIVE_ENDPOINT": "http://x"}) is None
    assert find_live_models({"CALLGAUGE_LIVE_ENDPOINT": "x", "CALLGAUGE_LIVE_KEY": "k"}) is None


def test_the_replies_are_read_by_the_definition_on_the_left(
    store_with_call: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = Sender(
        LiveReply((("read_file", '{"path": "a", "limit": 5}'),), "", 0.4, 100, 20),
        LiveReply((("read_file", '{"path": "a", "limit": "5"}'),), "", 0.5, 100, 20),
        LiveReply((), "I cannot do that.", 0.3, 100, 20),
        LiveReply(error="models.test: HTTP 401: bad key"),
    )
    app = open_with(sender, monkeypatch)
    assert "is paid with the server's key" in page_text(app)
    assert sender.asked == []
    app.number_input(key="live_times").set_value(4)
    app.button(key="send_live").click().run()
    [(request, times)] = sender.asked
    assert (request.model, times) == ("aurora", 4)
    assert request.tools[0]["input_schema"]["properties"] == SCHEMA["properties"]
    assert request.messages[-1]["role"] == "user"
    text = page_text(app)
    assert "1 of 3 replies with a clean call." in text
    assert "1 coerced, 1 without a call, 1 without an answer" in text
    assert "300 input and 60 output tokens" in text
    rows = sheet_of(app, "Replies of the model")
    assert [row["Arguments"]["text"] for row in rows] == ["clean", "coerced", "no call", "no answer"]


@pytest.mark.thorough
def test_a_call_that_cannot_be_asked_again_says_why(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store, small_tables() | {**KNOWN, "turns": [a_turn(1, user_text=None)]})
    text = page_text(open_with(Sender(), monkeypatch))
    assert "the user's message is not in the log." in text
    assert "Send 5" not in text


def test_a_real_server_is_asked_as_often_as_wished() -> None:
    def model(call: Asked) -> Emitted:
        return Emitted(calls=[("read_file", '{"path": "a"}')])

    with serve_model(model) as served:
        sender = find_live_models(
            {
                "CALLGAUGE_LIVE_ENDPOINT": served.url,
                "CALLGAUGE_LIVE_KEY": "k",
                "CALLGAUGE_LIVE_MODELS": "a, b",
            }
        )
        assert sender is not None
        assert (sender.models, sender.endpoint) == (("a", "b"), served.url.split("/")[2])
        broken = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "read_file", "arguments": "{'path"},
        }
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Read it."},
            {"role": "assistant", "tool_calls": [broken]},
            {"role": "tool", "tool_call_id": "call_1", "content": "no"},
        ]
        tool = {"name": "read_file", "description": "", "input_schema": SCHEMA}
        replies = call_apart(sender.send, LiveRequest("a", messages, [tool]), 3)
    assert [reply.calls for reply in replies] == [(("read_file", '{"path": "a"}'),)] * 3
    assert len(served.requests) == 3
    roles = [role_message.role for role_message in served.requests[0].messages]
    assert roles[:3] == ["system", "user", "assistant"]
