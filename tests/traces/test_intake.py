"""Tests traces over OTLP."""

from __future__ import annotations

import errno
import gzip
import json
import os
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from callgauge.memory.tokens import TokenList
from callgauge.serving.settings import SIGN_IN_VARIABLE, STORE_VARIABLE
from callgauge.serving.tokens import check_sender, find_token
from callgauge.traces.intake import TRACES, TraceFolder, TraceIntake
from callgauge.traces.otlp_requests import JSON, MOST_BYTES, PROTOBUF, read_traces
from ingest.pipeline.load import load
from tests.serving.conftest import secret_app

CALL_TIME = 1_764_407_000_000_000_000
REPLY = [
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "call_1", "name": "read", "arguments": {"path": "a.txt"}}],
        "finish_reason": "tool_call",
    }
]
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Read a.txt."}]}]
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "heron-2",
    "gen_ai.conversation.id": "talk-1",
    "gen_ai.input.messages": json.dumps(ASKED),
    "gen_ai.output.messages": json.dumps(REPLY),
}


def make_message() -> ExportTraceServiceRequest:
    """Return a request with one span. The span is a model call that requests a tool call."""
    message = ExportTraceServiceRequest()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = bytes(range(16)), bytes(range(8)), "chat heron-2"
    span.start_time_unix_nano, span.end_time_unix_nano = CALL_TIME, CALL_TIME + 10**9
    span.links.add(trace_id=b"\xff" * 16, span_id=b"\xee" * 8)
    for name, value in ATTRIBUTES.items():
        span.attributes.add(key=name).value.string_value = value
    return message


SENT: dict[str, Any] = json.loads(read_traces(make_message().SerializeToString(), PROTOBUF, ""))


PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}


def make_client(folder: Path | None) -> TestClient:
    taken = None if folder is None else TraceFolder(folder, lambda: datetime(2026, 11, 29, tzinfo=UTC))
    return TestClient(
        TraceIntake(secret_app, taken, check_sender), "http://localhost", client=("127.0.0.1", 1)
    )


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.delenv(SIGN_IN_VARIABLE, raising=False)
    return make_client(tmp_path / "traces")


def test_ids_are_hexadecimal_and_the_rest_is_as_otlp_writes_json() -> None:
    (resource,) = SENT["resourceSpans"]
    (span,) = resource["scopeSpans"][0]["spans"]
    assert (span["traceId"], span["spanId"]) == (bytes(range(16)).hex(), bytes(range(8)).hex())
    assert span["links"] == [{"traceId": "ff" * 16, "spanId": "ee" * 8}]
    assert span["startTimeUnixNano"] == str(CALL_TIME)
    assert {"key": "gen_ai.request.model", "value": {"stringValue": "heron-2"}} in span["attributes"]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
@pytest.mark.parametrize("media_type", [PROTOBUF, f"{JSON}; charset=utf-8"])
def test_a_call_that_an_exporter_sends_is_counted_by_the_next_load(
    client: TestClient, tmp_path: Path, media_type: str, coding: str
) -> None:
    body = make_message().SerializeToString() if media_type == PROTOBUF else json.dumps(SENT).encode()
    packed = PACKED[coding](body)
    headers = {"content-type": media_type} | ({"content-encoding": coding} if coding else {})
    answer = client.post(TRACES, content=packed, headers=headers)
    assert answer.status_code == 200
    assert answer.content == (b"" if media_type == PROTOBUF else b"{}")
    (file,) = (tmp_path / "traces").iterdir()
    assert (file.name, file.stat().st_mode & 0o777) == ("traces-2026-11-29.jsonl", 0o600)
    report = load([tmp_path / "traces"], tmp_path / "store")
    assert (report.loaded, report.sessions, report.calls) == (1, 1, 1)


@pytest.mark.parametrize(
    ("body", "media_type", "coding", "status", "words"),
    [
        (b"x", "text/plain", "", 415, "Send application/x-protobuf or application/json"),
        (b"\xff\xff", PROTOBUF, "", 400, "not an ExportTraceServiceRequest"),
        (b"{", JSON, "", 400, "not JSON"),
        (b"[]", JSON, "", 400, "no list of resourceSpans"),
        (b'{"resourceSpans": {}}', JSON, "", 400, "no list of resourceSpans"),
        (gzip.compress(b"{}")[:-9], JSON, "gzip", 400, "cut off"),
        (b"{}", JSON, "gzip", 400, "not gzip"),
        (b"{}", JSON, "br", 415, "send gzip"),
        (gzip.compress(b" " * (MOST_BYTES + 1)), JSON, "gzip", 413, "64 MB"),
    ],
    ids=["type", "protobuf", "JSON", "list", "object", "cut off", "not packed", "brotli", "too long"],
)
def test_what_is_no_request_is_refused_and_writes_nothing(
    client: TestClient, tmp_path: Path, body: bytes, media_type: str, coding: str, status: int, words: str
) -> None:
    answer = client.post(
        TRACES, content=body, headers={"content-type": media_type, "content-encoding": coding}
    )
    assert answer.status_code == status
    assert words in answer.text
    assert not (tmp_path / "traces").exists()


def test_a_long_body_is_refused_before_it_is_read(client: TestClient) -> None:
    headers = {"content-type": JSON, "content-length": str(MOST_BYTES + 1)}
    assert client.post(TRACES, content=b"{}", headers=headers).status_code == 413


def test_a_request_without_spans_is_taken_and_writes_nothing(client: TestClient, tmp_path: Path) -> None:
    assert client.post(TRACES, content=b"", headers={"content-type": PROTOBUF}).status_code == 200
    assert client.post(TRACES, json={"resourceSpans": [7, {"scopeSpans": [{"spans": 1}]}]}).status_code == 200
    assert not (tmp_path / "traces").exists()


def test_on_a_full_disk_the_exporter_sends_again_and_no_half_line_stays(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.post(TRACES, json=SENT).status_code == 200
    (file,) = (tmp_path / "traces").iterdir()
    whole = file.read_bytes()
    write = os.write

    def fill(where: int, data: Any) -> int:
        if len(data) > 100:
            return write(where, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("callgauge.traces.intake.os.write", fill)
        answer = client.post(TRACES, json=SENT)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert file.read_bytes() == whole


def test_a_server_without_a_folder_takes_no_traces_and_other_requests_pass(client: TestClient) -> None:
    answer = make_client(None).post(TRACES, json=SENT)
    assert answer.status_code == 404
    assert "--traces DIR" in answer.json()["message"]
    assert client.get("/").status_code == 200
    assert client.get(TRACES).text == client.get("/").text


def test_only_a_token_for_traces_or_an_admins_may_send_where_people_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = TokenList(tmp_path)
    sender, viewer, admin = (tokens.create(role, role, None) for role in ("sender", "viewer", "admin"))
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path))
    monkeypatch.setenv(SIGN_IN_VARIABLE, '{"method": "password"}')
    client = make_client(tmp_path / "traces")
    for token, status in (("", 401), (viewer, 401), (f"{sender}x", 401), (sender, 200), (admin, 200)):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        assert client.post(TRACES, json=SENT, headers=headers).status_code == status
    assert find_token(sender) is None
    monkeypatch.setenv(SIGN_IN_VARIABLE, '{"method": "none"}')
    stranger = TestClient(client.app, "http://gauge.test", client=("192.0.2.7", 1))
    assert stranger.post(TRACES, json=SENT).status_code == 401
