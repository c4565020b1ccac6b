"""`callgauge record` as a process: its messages, its files, and its end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.served.brain import Emitted
from tests.gateway.served.server import serve_model

WAIT = 120


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "callgauge", "record", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_says_what_to_set_records_and_ends_with_what_it_has(tmp_path: Path, sent: signal.Signals) -> None:
    port, logs = free_port(), tmp_path / "logs"
    with serve_model(lambda _asked: Emitted("Three.")) as served:
        running = start("--to", served.url, "--log", logs, "--port", port)
        try:
            assert running.stderr is not None
            assert f"http://127.0.0.1:{port} passes on to {served.url}" in running.stderr.readline()
            assert f"OPENAI_BASE_URL=http://127.0.0.1:{port}/v1" in running.stderr.readline()
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "How many?"}]})
            asking = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
            asking.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            reply = asking.getresponse().read()
            asking.close()
            running.send_signal(sent)
            _, errors = running.communicate(timeout=WAIT)
        finally:
            running.kill()
            running.communicate()
    assert "1 exchange recorded in" in errors
    assert running.returncode == 0
    [file] = logs.iterdir()
    line = json.loads(file.read_text())
    assert line["request"] == body
    assert line["response"].encode() == reply


@pytest.mark.thorough
def test_what_cannot_work_is_said_before_anything_listens(tmp_path: Path) -> None:
    busy = socket.socket()
    busy.bind(("127.0.0.1", 0))
    busy.listen()
    file = tmp_path / "file"
    file.write_text("")
    cases = [
        (("--to", "api.openai.com"), 2, "begin with http:// or https://"),
        (("--to", "http://h", "--port", busy.getsockname()[1]), 2, "choose another port with --port"),
        (("--to", "http://h", "--port", free_port(), "--log", file), 1, "name a writable folder"),
    ]
    with busy:
        for words, code, sentence in cases:
            running = start(*words)
            _, errors = running.communicate(timeout=WAIT)
            assert (running.returncode, sentence in errors) == (code, True), errors


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    running = start("--to", "http://h", "--port", free_port(), "--log", closed)
    _, errors = running.communicate(timeout=WAIT)
    assert running.returncode == 1, errors
