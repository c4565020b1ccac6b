"""Tests that the user named in a log is stored, because `callgauge forget --user` needs the name."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.events import LogLine, Rejected, SessionSeen
from ingest.formats import formats
from ingest.log_format import About, Record

REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}],
}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
LITELLM = {
    "call_type": "acompletion",
    "model_parameters": {},
    "messages": ASKED["messages"],
    "response": REPLY,
}
SPAN = {
    "traceId": "t" * 32,
    "spanId": "s" * 16,
    "name": "chat m",
    "startTimeUnixNano": "1763200000000000000",
    "endTimeUnixNano": "1763200001000000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "user.id", "value": {"stringValue": "ada"}},
    ],
}
OTLP = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [SPAN]}]}]}
LANGFUSE = {
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "name": "chat",
    "startTime": "2026-11-01T10:00:00Z",
    "model": "m",
    "input": ASKED["messages"],
    "output": {"role": "assistant", "content": "Hi."},
    "userId": "ada",
}
HISTORY = {"ts": "2026-11-01T10:00:00Z", "sessionId": "s", "type": "session_start", "meta": {"user": "ada"}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session_history", HISTORY),
        ("request_log", {"request": {**ASKED, "user": "ada"}, "response": REPLY}),
        ("litellm", {**LITELLM, "end_user": "ada"}),
        ("litellm", {**LITELLM, "model_parameters": {"user": "ada"}}),
        ("otlp", OTLP),
        ("langfuse", LANGFUSE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_user_is_part_of_the_session(name: str, value: dict[str, Any]) -> None:
    translator = formats()[name].translator(About())
    events = [*translator.take(Record(LogLine(1, 0), value, b"", 0)), *translator.finish()]
    translator.close()
    assert not [event for event in events if isinstance(event, Rejected)]
    assert {event.user for event in events if isinstance(event, SessionSeen)} >= {"ada"}
