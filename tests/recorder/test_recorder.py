"""Tests `callgauge record`. Traffic is unchanged, logs are complete, and no fault stops an agent."""

from __future__ import annotations

import asyncio
import errno
import gzip
import os
import random
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from callgauge.recorder import ExchangeLog
from callgauge.recorder.exchange import Memory, PassingExchange, keep_readable_codings
from tests.event_loops import run
from tests.recorder.serving import (
    WAIT,
    Received,
    ask,
    chunked,
    close,
    connect,
    read_message,
    recording,
    whole,
)

REQUEST = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "Wie viele? 多少"}]})
REPLY = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "3"}, "finish_reason": "stop"}],
    }
)
CANARY = "sk-canary-7f3a9b"


async def answer_reply(_received: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(REPLY))


def test_both_bodies_pass_byte_for_byte_and_are_written_as_text(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path, answer_reply) as recorded:
            head, body = await ask(recorded.port, REQUEST)
        assert body == REPLY
        assert "200 OK" in head
        [got] = recorded.received
        assert got.body == REQUEST
        assert got.head.startswith("POST /v1/chat/completions HTTP/1.1")
        [line] = recorded.lines()
        assert line["request"].encode() == REQUEST
        assert line["response"].encode() == REPLY
        assert line["status"] == 200
        assert line["url"].endswith("/v1/chat/completions")
        assert line["latency_ms"] >= line["first_byte_ms"] >= 0

    run(scene())


@pytest.mark.parametrize(("behind", "path"), [("/v1", "/chat"), ("", "/v1/chat"), ("/v1", "/v1/chat")])
def test_the_path_may_stand_in_the_target_the_clients_address_or_both(
    tmp_path: Path, behind: str, path: str
) -> None:
    async def scene() -> None:
        async with recording(tmp_path, answer_reply, behind) as recorded:
            await ask(recorded.port, REQUEST, f"{path}%2Fx?a=%20b&key={CANARY}")
        assert recorded.received[0].head.startswith(f"POST /v1/chat%2Fx?a=%20b&key={CANARY} HTTP/1.1")
        assert recorded.lines()[0]["url"].endswith("/v1/chat%2Fx")

    run(scene())


def test_a_compressed_answer_passes_compressed_and_is_written_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress(REPLY)

    async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(packed, more="Content-Encoding: gzip\r\n"))

    async def scene() -> None:
        async with recording(tmp_path, answer) as recorded:
            head, body = await ask(recorded.port, REQUEST, Accept_Encoding="br, gzip, *")
        assert body == packed
        assert "content-encoding: gzip" in head.lower()
        assert recorded.received[0].headers["accept-encoding"] == "gzip"
        assert recorded.lines()[0]["response"].encode() == REPLY

    run(scene())


def test_codings_that_cannot_be_unpacked_are_not_asked_for() -> None:
    assert keep_readable_codings("gzip, deflate, br, zstd") == "gzip, deflate, zstd"
    assert keep_readable_codings("br;q=1.0, gzip;q=0.5") == "gzip;q=0.5"
    assert keep_readable_codings("br") == "identity"


def test_each_piece_of_a_stream_is_there_before_the_next_is_sent(tmp_path: Path) -> None:
    pieces = [b"data: one\n\n", b"data: two\n\n", b"data: [DONE]\n\n"]

    async def scene() -> None:
        arrivals = [asyncio.Event() for _ in pieces]

        async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
            head, *parts, end = chunked(pieces)
            writer.write(head)
            for part, was_seen in zip(parts, arrivals, strict=True):
                writer.write(part)
                await writer.drain()
                await was_seen.wait()  # if the recorder waited for more bytes, this would never return
            writer.write(end)

        async with recording(tmp_path, answer) as recorded:
            reader, writer = await connect(recorded.port)
            head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(REQUEST)}"
            writer.write(f"POST /v1/chat/completions HTTP/1.1\r\n{head}\r\n\r\n".encode() + REQUEST)
            async with asyncio.timeout(WAIT):
                await reader.readuntil(b"\r\n\r\n")
                for piece, was_seen in zip(pieces, arrivals, strict=True):
                    await reader.readuntil(piece)
                    was_seen.set()
                await reader.readuntil(b"0\r\n\r\n")
            await close(writer)
        assert recorded.lines()[0]["response"] == b"".join(pieces).decode()

    run(scene())


def test_a_request_sent_in_chunks_passes_as_it_comes(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path, answer_reply) as recorded:
            reader, writer = await connect(recorded.port)
            head = "Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
            writer.write(f"POST /v1/x HTTP/1.1\r\n{head}\r\n\r\n".encode())
            for at in range(0, len(REQUEST), 9):
                part = REQUEST[at : at + 9]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            _, body = await asyncio.wait_for(read_message(reader), WAIT)
            await close(writer)
        assert body == REPLY
        assert recorded.received[0].body == REQUEST
        assert recorded.lines()[0]["request"].encode() == REQUEST

    run(scene())


@pytest.mark.thorough
def test_two_hundred_streams_at_once_are_each_identical_both_ways(tmp_path: Path) -> None:
    many = 200
    draw = random.Random(7)
    # Some bodies contain bytes that are not UTF-8. These bodies must pass unchanged.
    bodies = [orjson.dumps({"n": number, "x": draw.randbytes(200).hex()}) for number in range(many)]
    answers = [[draw.randbytes(draw.randint(1, 400)) for _ in range(8)] for _ in range(many)]

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        for part in chunked(answers[orjson.loads(received.body)["n"]]):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)

    async def scene() -> None:
        async with recording(tmp_path, answer) as recorded:
            came = await asyncio.gather(*(ask(recorded.port, body) for body in bodies))
        assert [body for _, body in came] == [b"".join(pieces) for pieces in answers]
        assert sorted(request.body for request in recorded.received) == sorted(bodies)
        assert len(recorded.lines()) == many
        assert {line["request"].encode() for line in recorded.lines()} == set(bodies)

    run(scene())


def test_keys_are_sent_on_and_written_nowhere(tmp_path: Path) -> None:
    echo = orjson.dumps({"error": {"message": f"Incorrect API key provided: {CANARY}"}})

    async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(echo, status="401 Unauthorized"))

    async def scene() -> None:
        async with recording(tmp_path, answer) as recorded:
            for name in ("Authorization", "x_api_key", "api_key", "x_goog_api_key", "Cookie"):
                value = f"Bearer {CANARY}" if name == "Authorization" else CANARY
                _, body = await ask(recorded.port, REQUEST, **{name: value})
                assert CANARY.encode() in body
            await ask(recorded.port, REQUEST, f"/v1/models/m:generateContent?key={CANARY}")
        assert all(CANARY in request.head for request in recorded.received)
        assert len(recorded.lines()) == 6
        assert not any(CANARY.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())

    run(scene())


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path / "logs", answer_reply) as recorded:
            await ask(recorded.port, REQUEST)

    run(scene())
    [file] = (tmp_path / "logs").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_on_a_full_disk_requests_pass_and_lines_stay_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write, is_full = os.write, [False]

    def fill(file: int, data: bytes) -> int:
        if is_full[0] and b'"recorder"' in bytes(data):
            write(file, bytes(data)[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    monkeypatch.setattr(os, "write", fill)

    async def scene() -> None:
        log = ExchangeLog(tmp_path, "test", PassingExchange.free)
        async with recording(tmp_path, answer_reply, log=log) as recorded:
            for number, full in enumerate((False, True, True, False)):
                is_full[0] = full
                _, body = await ask(recorded.port, REQUEST)
                assert body == REPLY
                async with asyncio.timeout(WAIT):
                    while log.written + log.lost <= number:
                        await asyncio.sleep(0.005)
        assert (log.written, log.lost) == (2, 2)
        assert len(recorded.lines()) == 2

    run(scene())
    messages = [record.message for record in caplog.records if record.name == "callgauge.Recorder"]
    assert len(messages) == 2, messages
    assert "No space left" in messages[0]
    assert messages[1] == "Recording continues. 2 exchanges were not recorded."
    assert "2 exchanges" in messages[1]


def test_the_message_about_a_server_that_disconnects_ends_with_one_period(tmp_path: Path) -> None:
    async def disconnect(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def scene() -> None:
        async with recording(tmp_path, disconnect) as recorded:
            _, body = await ask(recorded.port, REQUEST)
        message = orjson.loads(body)["error"]["message"]
        assert message.endswith("without sending a response.")

    run(scene())


def test_a_server_that_is_not_there_is_told_to_the_agent_and_written(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path, answer_reply, target="http://ann:secret-word@127.0.0.1:9") as recorded:
            head, body = await ask(recorded.port, REQUEST)
        assert "502" in head
        assert "gave no answer" in orjson.loads(body)["error"]["message"]
        [line] = recorded.lines()
        assert line["status"] == 502
        assert "gave no answer" in line["problem"]
        assert "secret-word" not in orjson.dumps(line).decode()
        assert b"secret-word" not in body

    run(scene())


def test_when_the_client_goes_away_the_server_is_let_go(tmp_path: Path) -> None:
    async def scene() -> None:
        gone = asyncio.Event()

        async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
            head, part, _ = chunked([b"data: one\n\n"])
            writer.write(head + part)
            await writer.drain()
            try:
                while True:
                    writer.write(b"1\r\n.\r\n")
                    await writer.drain()
                    await asyncio.sleep(0.02)
            except ConnectionError:
                gone.set()
                raise

        async with recording(tmp_path, answer) as recorded:
            reader, writer = await connect(recorded.port)
            head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(REQUEST)}"
            writer.write(f"POST /v1/x HTTP/1.1\r\n{head}\r\n\r\n".encode() + REQUEST)
            async with asyncio.timeout(WAIT):
                await reader.readuntil(b"data: one\n\n")
                await close(writer)
                await gone.wait()
        [line] = recorded.lines()
        assert line["problem"] == "the client went away"
        assert line["response"].startswith("data: one")

    run(scene())


def test_an_answer_that_breaks_off_breaks_off_for_the_client(tmp_path: Path) -> None:
    async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
        head, part, _ = chunked([b"data: one\n\n"])
        writer.write(head + part)
        await writer.drain()
        await close(writer)

    async def scene() -> None:
        async with recording(tmp_path, answer) as recorded:
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError, ValueError)):
                await ask(recorded.port, REQUEST)
        [line] = recorded.lines()
        assert "broke off" in line["problem"]
        assert line["response"] == "data: one\n\n"

    run(scene())


def test_a_large_body_passes_whole_and_is_cut_in_the_log(tmp_path: Path) -> None:
    large = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "ä" * 5_000}]})

    async def scene() -> None:
        async with recording(tmp_path, answer_reply, most_body=1_001) as recorded:
            _, body = await ask(recorded.port, large)
        assert body == REPLY
        assert recorded.received[0].body == large
        [line] = recorded.lines()
        assert line["cut"] == {"request": len(large)}
        assert large.startswith(line["request"].encode())

    run(scene())


def test_all_exchanges_together_keep_no_more_than_their_memory(tmp_path: Path) -> None:
    async def scene() -> None:
        memory = Memory(len(REQUEST) + 10)
        async with recording(tmp_path, answer_reply, memory=memory) as recorded:
            _, body = await ask(recorded.port, REQUEST)
            assert body == REPLY
        [line] = recorded.lines()
        assert line["cut"] == {"response": len(REPLY)}
        assert memory.reserve(1 << 30) == len(REQUEST) + 10

    run(scene())


def test_what_is_no_request_to_a_model_passes_unrecorded(tmp_path: Path) -> None:
    async def answer(_received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"\x00\xff sound", "audio/mpeg"))

    async def scene() -> None:
        async with recording(tmp_path, answer) as recorded:
            _, body = await ask(recorded.port, b"--x--", Content_Type="multipart/form-data; boundary=x")
            assert body == b"\x00\xff sound"
            reader, writer = await connect(recorded.port)
            writer.write(b"GET /v1/models HTTP/1.1\r\nHost: [::1]:8788\r\n\r\n")
            _, body = await asyncio.wait_for(read_message(reader), WAIT)
            await close(writer)
            assert body == b"\x00\xff sound"
        assert recorded.lines() == []

    run(scene())


def test_another_sites_name_for_this_machine_is_refused(tmp_path: Path) -> None:
    async def scene() -> None:
        async with recording(tmp_path, answer_reply) as recorded:
            head, _ = await ask(recorded.port, REQUEST, Host="evil.test:8788")
            assert "403" in head
        async with recording(tmp_path, answer_reply, is_local=False) as open_to_all:
            head, _ = await ask(open_to_all.port, REQUEST, Host="gateway.test")
            assert "200" in head
        assert recorded.received == []

    run(scene())


def test_a_file_an_hour(tmp_path: Path) -> None:
    hours = iter((datetime(2026, 11, 24, 9, 59, tzinfo=UTC), datetime(2026, 11, 24, 10, 0, tzinfo=UTC)))

    async def scene() -> None:
        log = ExchangeLog(tmp_path, "8788", PassingExchange.free, now=lambda: next(hours))
        async with recording(tmp_path, answer_reply, log=log) as recorded:
            await ask(recorded.port, REQUEST)
            await ask(recorded.port, REQUEST)

    run(scene())
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["2026-11-24T09Z.8788.jsonl", "2026-11-24T10Z.8788.jsonl"]
