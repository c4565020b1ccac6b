"""Tests the process of `callgauge record`."""

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
            assert f"need ANTHROPIC_BASE_URL=http://127.0.0.1:{port}/v1" in running.stderr.readline()
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


# --- a command

AGENT = """
import json, os, sys, urllib.request
for name, path, key in [
    ("OPENAI_BASE_URL", "/chat/completions", "Authorization"),
    ("ANTHROPIC_BASE_URL", "/v1/messages", "x-api-key"),
]:
    content = [{"type": "text", "text": "How many?"}]
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    headers = {"Content-Type": "application/json", key: "Bearer sk-canary-7f3a"}
    urllib.request.urlopen(urllib.request.Request(os.environ[name] + path, body, headers)).read()
print(*sys.argv[1:])
sys.exit(7)
"""


def record(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "callgauge", "record", *map(str, words)]
    environment = {name: text for name, text in os.environ.items() if not name.endswith("_BASE_URL")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=WAIT, env={**environment, **variables}
    )


def test_a_command_with_two_apis_is_recorded_and_its_exit_code_is_passed_on(tmp_path: Path) -> None:
    agent, logs = tmp_path / "agent.py", tmp_path / "logs"
    agent.write_text(AGENT)
    with serve_model(lambda _asked: Emitted("Three.")) as served:
        ended = record("--to", served.url, "--log", logs, "--", sys.executable, agent, "--port", "x")
    assert (ended.returncode, ended.stdout.strip()) == (7, "--port x"), ended.stderr
    assert "2 exchanges recorded in" in ended.stderr
    text = next(logs.iterdir()).read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["url"], line["status"]) for line in lines] == [
        (f"{served.url}/chat/completions", 200),
        (f"{served.url}/messages", 200),
    ]
    assert "sk-canary" not in text


@pytest.mark.thorough
def test_a_recorded_command_is_loaded_into_a_store(tmp_path: Path) -> None:
    agent, store = tmp_path / "agent.py", tmp_path / "store"
    agent.write_text(AGENT.replace("sys.exit(7)", "").replace("/v1/messages", "/v1/chat/completions"))
    with serve_model(lambda _asked: Emitted("Three.")) as served:
        words = ("--log", tmp_path / "logs", "--load-into", store, "--", sys.executable, agent)
        ended = record(*words, OPENAI_BASE_URL=served.url, ANTHROPIC_BASE_URL=served.url.removesuffix("/v1"))
    assert ended.returncode == 0, ended.stderr
    assert (store / "CURRENT").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--", "no-such-command"), 127, "no-such-command: command not found"),
        (("--", "./data"), 126, "the file is not executable"),
        (("--", "true"), 0, "No request came."),
        (("--", "sh", "-c", "kill -9 $$"), 137, "0 exchanges recorded"),
        (("--log", "data", "--", "true"), 1, "name a writable folder with --log"),
        (("--to", "h", "--", "true"), 2, "begin with http:// or https://"),
        ((), 2, "name the model's server with --to, or a command after `--`"),
        (("--to", "http://h", "--load-into", "s"), 2, "--load-into needs a command"),
    ],
)
def test_a_command_that_cannot_be_recorded_says_why(
    words: tuple[str, ...], code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("")
    ended = record(*words)
    assert (ended.returncode, sentence in ended.stderr) == (code, True), ended.stderr


@pytest.mark.thorough
def test_a_signal_is_passed_on_to_the_command(tmp_path: Path) -> None:
    script = "trap 'exit 5' TERM; echo up; while :; do sleep 0.1; done"
    command = [sys.executable, "-m", "callgauge", "record", "--log", str(tmp_path), "--", "sh", "-c", script]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    running.terminate()
    _, problem = running.communicate(timeout=WAIT)
    assert (running.returncode, "0 exchanges recorded" in problem) == (5, True)
