"""Tests the front process, which chooses a worker for each connection and notices when a worker ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from callgauge.serving.processes import front_process
from callgauge.serving.processes.first_request import FirstRequest, read_first_request
from callgauge.serving.processes.front_process import FrontProcess
from callgauge.serving.processes.worker import Worker
from tests.serving.test_users import run

# This worker answers each connection with its number, its process id, and the port of the client.
_WORKER = """
import asyncio, os, socket, sys
from callgauge.serving.processes.handed_connections import HandedConnections, worker_place

place = worker_place()

class Answer(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        if b"hang" in self.data:
            import time; time.sleep(3)
        if self.data.endswith(b"\\r\\n\\r\\n"):
            port = self.transport.get_extra_info("peername")[1]
            body = f"{place.number} {os.getpid()} {port}".encode()
            self.transport.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n%s" % (len(body), body))
            self.transport.close()

async def main():
    handed = HandedConnections(socket.socket(fileno=place.channel), Answer)
    handed.begin()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, ended.set)
    while not ended.is_set():
        await handed.report()
        await asyncio.sleep(0.1)

asyncio.run(main())
"""


class Front(NamedTuple):
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def ask(self, path: str, cookie: str = "", accept: str = "text/html") -> str:
        with closing(self.connect()) as connection:
            head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: {accept}\r\ncookie: {cookie}\r\n\r\n"
            connection.sendall(head.encode())
            return read_all(connection)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def worker_of(self, path: str, cookie: str = "", accept: str = "text/html") -> int:
        return int(self.ask(path, cookie, accept).partition("\r\n\r\n")[2].split()[0])

    def pid_of(self, number: int) -> int:
        return int(self.ask("/", f"callgauge_worker={number}").partition("\r\n\r\n")[2].split()[1])


def read_all(connection: socket.socket) -> str:
    answer = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(10_000):
            answer += part
    return answer.decode()


def wait_until_gone(pid: int) -> None:
    for _ in range(300):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} still runs")


def start_front(folder: Path, worker: str = _WORKER, address: str = "127.0.0.1") -> Front:
    script = folder / "worker.py"
    script.write_text(worker)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, front_process.__file__, address, str(port), "2", sys.executable, str(script)]
    log = folder / "front.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(words, stderr=errors)
    front = Front(process, port, log)
    while process.poll() is None:
        try:
            front.connect().close()
            break
        except OSError:
            time.sleep(0.05)
    return front


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    running = start_front(tmp_path)
    yield running
    running.process.kill()
    running.process.wait()


def test_a_browser_stays_at_its_worker_and_a_client_keeps_its_address(front: Front) -> None:
    assert {front.worker_of("/") for _ in range(4)} == {1, 2}
    for number in (1, 2):
        cookie = f"a=1; callgauge_worker={number}; b=2"
        assert {front.worker_of(path, cookie) for path in ("/", "/models?x=1", "/media/a.csv")} == {number}
        # These requests are limited, so one worker must count them all.
        for path in ("/sign-in", "/sign%2Din", "/sign-out", "/api/v1/rates", "/mcp", "/metrics", "/healthz"):
            assert front.worker_of(path, cookie) == 1
    for unknown in ("0", "3", "99999", "x", "2x"):
        assert front.worker_of("/", f"callgauge_worker={unknown}", accept="*/*") == 1
    with closing(front.connect()) as connection:
        connection.sendall(b"GET / HT")
        time.sleep(0.1)
        connection.sendall(b"TP/1.1\r\ncookie: callgauge_wor")
        time.sleep(0.1)
        connection.sendall(b"ker=2\r\n\r\n")
        _, _, body = read_all(connection).partition("\r\n\r\n")
        assert body.split()[::2] == ["2", str(connection.getsockname()[1])]


def test_health_needs_no_worker(front: Front) -> None:
    with closing(front.connect()) as hung:
        hung.sendall(b"GET /hang HTTP/1.1\r\ncookie: callgauge_worker=1\r\n\r\n")
        for method in (b"GET", b"HEAD"):
            with closing(front.connect()) as connection:
                connection.sendall(method + b" /healthz/live HTTP/1.1\r\n\r\n")
                head, _, body = read_all(connection).partition("\r\n\r\n")
                assert head.startswith("HTTP/1.1 200 OK")
                assert body == ("" if method == b"HEAD" else '{"status": "ok"}')


@pytest.mark.thorough
def test_a_worker_that_ends_starts_again(front: Front) -> None:
    first, other = front.pid_of(2), front.pid_of(1)
    os.kill(first, signal.SIGKILL)
    wait_until_gone(first)
    unavailable = front.ask("/", "callgauge_worker=2")
    assert unavailable.startswith("HTTP/1.1 503 Service Unavailable")
    assert "This page loads again by itself" in unavailable
    assert front.pid_of(1) == other
    assert front.worker_of("/") == 1
    while front.ask("/", "callgauge_worker=2").startswith("HTTP/1.1 503"):
        time.sleep(0.05)
    assert front.pid_of(2) not in (first, other)
    front.process.terminate()
    assert front.process.wait(20) == 0
    assert front.log.read_text() == "callgauge: worker 2 was ended by signal 9 and starts again\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, -9), (signal.SIGHUP, -1)]
)
def test_no_worker_stays_when_the_front_process_ends(front: Front, sent: signal.Signals, code: int) -> None:
    workers = [front.pid_of(1), front.pid_of(2)]
    front.process.send_signal(sent)
    assert front.process.wait(20) == code
    for pid in workers:
        wait_until_gone(pid)
    with pytest.raises(ConnectionRefusedError):
        front.connect()


def test_a_worker_that_cannot_start_ends_the_server_with_its_exit_code(tmp_path: Path) -> None:
    front = start_front(tmp_path, "import sys; sys.exit(7)")
    assert front.process.wait(20) == 7
    assert front.log.read_text() == ""


def test_a_taken_port_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        words = ["127.0.0.1", str(taken.getsockname()[1]), "1", "true"]
        result = subprocess.run(
            [sys.executable, front_process.__file__, *words], capture_output=True, text=True
        )
    assert result.returncode == 1
    assert "cannot listen on 127.0.0.1" in result.stderr
    assert "Traceback" not in result.stderr


def parse(*parts: bytes) -> FirstRequest | None:
    """Send these pieces over a connection, and close the connection. Return the parsed request."""

    async def read() -> FirstRequest | None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            reading = asyncio.create_task(read_first_request(ours))
            for part in parts:
                theirs.sendall(part)
                await asyncio.sleep(0.03)
            theirs.shutdown(socket.SHUT_WR)
            request = await reading
            if request is not None:
                assert ours.recv(request.size) == b"".join(parts)[: request.size]
            return request

    return asyncio.run(asyncio.wait_for(read(), 10))


@pytest.mark.parametrize(
    ("data", "path", "worker"),
    [
        (b"GET /a?b=/c HTTP/1.1\r\nCookie: callgauge_worker=2\r\n\r\nbody", "/a", 2),
        (b"GET /a HTTP/1.0\n\n", "/a", None),
        (b"\r\n\r\n", "", None),
        (b"\xff\x00\n\n", "", None),
        (b"GET http://else.test/ HTTP/1.1\r\n\r\n", "http://else.test/", None),
        (b"GET /a HTTP/1.1\r\ncookie: x=1\r\ncookie: callgauge_worker=12\r\n\r\n", "/a", 12),
        (b"GET /a HTTP/1.1\r\nx: " + 70_000 * b"y", "/a", None),
    ],
)
def test_the_header_of_a_first_request(data: bytes, path: str, worker: int | None) -> None:
    request = parse(data)
    assert request is not None
    assert (request.path, request.worker) == (path, worker)


def test_a_connection_without_a_header_has_no_request() -> None:
    assert parse() is None
    assert parse(b"GET / HTTP/1.1\r\n", b"host: x\r\n") is None


def test_health_names_a_worker_that_has_not_responded_for_a_minute() -> None:
    async def ask(silence: float) -> str:
        worker = Worker(2, 2, ())
        worker._reported_at -= silence
        ours, theirs = socket.socketpair()
        with theirs, socket.socket() as listening:
            ours.setblocking(False)
            theirs.sendall(b"GET /healthz/live HTTP/1.1\r\n\r\n")
            await FrontProcess(listening, [worker])._route(ours, ("192.0.2.7", 50_000))
            return read_all(theirs)

    assert '"status": "ok"' in asyncio.run(ask(50))
    answer = asyncio.run(ask(75))
    assert answer.startswith("HTTP/1.1 503")
    assert "worker 2 has not responded for 75 seconds" in answer


@pytest.mark.parametrize(("options", "workers"), [((), "3"), (("--workers", "2"), "2")])
def test_serve_starts_the_front_process_with_the_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], workers: str
) -> None:
    (tmp_path / "gauge").mkdir()
    config = tmp_path / "callgauge.toml"
    config.write_text('store = "gauge"\n[serve]\nworkers = 3\n')
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execve", lambda _program, words, _environment: started.append(words))
    code, text = run("serve", "--config", config, "--port", 58_732, *options)
    assert code == 0, text
    ((_, _, script, *words),) = started
    assert script == front_process.__file__
    assert words[:3] == ["127.0.0.1", "58732", workers]
    assert words[words.index("--server.port") + 1] == "0"  # the worker opens no port of its own
