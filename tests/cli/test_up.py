"""Tests `callgauge up` and `callgauge demo`."""

from __future__ import annotations

import io
import os
import platform
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
from callgauge.cli import up_command
from ingest.safe_files import lock_file, read_owner
from tests.store.night import session

ROOT = Path(__file__).parents[2]


def run(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@contextmanager
def started(*words: object, cwd: Path, ends_with: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Run a command that serves on a free port. When the `with` block ends, send SIGTERM and check the exit
    code.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "callgauge", *map(str, words), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(cwd)}
    with subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            rest, _ = process.communicate()
        assert (process.returncode, "Traceback" in rest) == (ends_with, False), rest


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Read the output until a line matches the pattern. Return the output up to this line."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    pytest.fail("".join(lines))


def is_served(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:  # noqa: S310 - our own server
            return int(answer.status) == 200
    except OSError:
        return False


def test_up_serves_the_logs_and_loads_what_appears(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.jsonl").write_text(session("s1"))
    (logs / "LICENCE.txt").write_text("Permission is granted to use tool_call blocks.\n")
    with started("up", logs, "--no-browser", cwd=tmp_path) as process:
        output = read_until(process, "Callgauge on http")
        url = output.split()[-4]
        assert f"loading into {tmp_path / 'callgauge-store'}; nothing leaves this machine" in output
        assert f"not a log (skipped): {logs / 'LICENCE.txt'}" in output
        assert "Nothing to rank: " in output, "the verdict"
        assert is_served(url)
        again = run("up", logs, "--store", tmp_path / "callgauge-store", "--no-browser")
        assert (again.exit_code, again.output.splitlines()[-1]) == (0, f"callgauge: Callgauge on {url}")
        (logs / "b.jsonl").write_text(session("s2"))
        assert "loaded 1 new or changed file" in read_until(process, "loaded 1 ")
    assert not is_served(url)


@pytest.mark.thorough
def test_a_server_ends_with_a_killed_up(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(session("s1"))
    with started("up", tmp_path / "a.jsonl", cwd=tmp_path, ends_with=-9) as process:
        url = read_until(process, "Callgauge on http").split()[-4]
        process.kill()
    until = time.monotonic() + 60
    while is_served(url) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_served(url)


@pytest.mark.thorough
def test_demo_serves_the_sample_and_removes_its_store(tmp_path: Path) -> None:
    with started("demo", cwd=tmp_path) as process:
        output = read_until(process, "Callgauge on http")
        assert "The best by parse errors is " in output
        assert "skipped" not in output
        assert is_served(output.split()[-4])
        assert [folder.name[:15] for folder in tmp_path.iterdir()] == ["callgauge-demo-"]
    assert list(tmp_path.iterdir()) == []


def test_the_sample_of_the_wheel_is_that_of_the_checkout() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for name in (*up_command._SAMPLE_LOGS, "prices.csv", "LICENCES.txt", "README.md"):
        assert (ROOT / "sample_data" / name).exists()
        assert f'"sample_data/{name}" = "callgauge/_bundled/sample_data/{name}"' in text
    assert up_command.find_sample() == ROOT / "sample_data"


def test_up_with_nothing_to_read_says_why_and_serves_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Notes.\n")
    result = run("up", tmp_path / "notes.txt", "--store", tmp_path / "store")
    assert result.exit_code == 1
    assert f"not a log (skipped): {tmp_path / 'notes.txt'}, which has no JSON object" in result.output
    assert "no log could be read. `callgauge formats FILE` explains why" in result.output
    assert "Callgauge on" not in result.output
    misspelled = run("up", tmp_path / "gone", "--store", tmp_path / "another")
    assert (misspelled.exit_code, "gone does not exist; check the spelling" in misspelled.output) == (1, True)
    assert not (tmp_path / "another").exists()


@contextmanager
def locked_by_up(store: Path) -> Iterator[Callable[[str], None]]:
    """Lock a new store as a running `callgauge up` does. Yield the function that writes the URL."""
    store.mkdir(parents=True)
    with lock_file(store / "up.lock", pytest.fail) as write_url:
        (store / "lock").touch()
        yield write_url


def test_a_second_up_prints_the_url_of_the_first_and_ends_with_0(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with locked_by_up(store) as write_url, socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        write_url(f"http://127.0.0.1:{port}")
        for words in ((tmp_path,), (), (tmp_path / "gone", "--port", port)):
            result = run("up", *words, "--store", store)
            assert result.exit_code == 0, result.output
            assert f"process {os.getpid()} on {socket.gethostname()}" in result.output
            assert f"already serves {store}, so this command loads nothing" in result.output
            assert f"Callgauge on http://127.0.0.1:{port}\n" in result.output
    assert sorted(path.name for path in store.iterdir()) == ["lock", "up.lock"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("", None),
        ("http://192.0.2.1:8501", None),
        ("http://127.0.0.1.example.org:8501", None),
        ("http://127.0.0.1:8501/\x1b[2J", None),
        ("http://127.0.0.1:8501", "another-machine"),
    ],
)
def test_a_second_up_without_a_url_of_this_machine_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, host: str | None
) -> None:
    monkeypatch.setattr(up_command, "_PATIENCE", 0.1)
    (tmp_path / "a.jsonl").write_text(session("s1"))
    with locked_by_up(tmp_path / "store") as write_url:
        write_url(url)
        monkeypatch.setattr(socket, "gethostname", lambda: host or platform.node())
        result = run("up", tmp_path / "a.jsonl", "--store", tmp_path / "store")
    assert result.exit_code == 1
    assert f"process {os.getpid()} on " in result.output
    assert "its dashboard cannot be opened here, or not yet: try again later" in result.output
    assert "http" not in result.output


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 10_000,
        b'{"pid": "x"}',
        b'{"pid": 1, "host": "h", "url": "http://' + b"x" * 9_999,
    ],
)
def test_a_damaged_lock_file_names_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(up_command, "_PATIENCE", 0.1)
    (tmp_path / "a.jsonl").write_text(session("s1"))
    with locked_by_up(tmp_path / "store"):
        (tmp_path / "store" / "up.lock").write_bytes(content)
        result = run("up", tmp_path / "a.jsonl", "--store", tmp_path / "store")
    assert (result.exit_code, "another process uses" in result.output) == (1, True)


def test_the_url_of_an_ended_up_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Notes.\n")
    with locked_by_up(tmp_path / "store") as write_url:
        write_url("http://127.0.0.1:8501")
    result = run("up", tmp_path / "notes.txt", "--store", tmp_path / "store")
    assert (result.exit_code, "no log could be read" in result.output) == (1, True)
    assert "http" not in result.output
    owner = read_owner(tmp_path / "store" / "up.lock")
    assert owner is not None
    assert owner.url == "", "the new process has removed the old URL"


def test_up_does_not_open_a_store_to_the_network(tmp_path: Path) -> None:
    result = run("up", tmp_path, "--address", "0.0.0.0")  # noqa: S104 - refused
    assert result.exit_code == 2
    assert "callgauge serve --address 0.0.0.0" in result.output


def test_a_taken_port_is_an_error_only_when_it_was_named(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        result = run("up", tmp_path, "--port", port)
        assert (result.exit_code, f"cannot listen on 127.0.0.1:{port}" in result.output) == (2, True)
        assert up_command.choose_port("127.0.0.1") != port


def test_without_a_terminal_up_prints_what_there_is_and_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    nothing = run("up", "--store", tmp_path / "store")
    assert nothing.exit_code == 2
    assert f"no readable logs of known agents in {tmp_path}" in nothing.output
    assert "callgauge up PATH" in nothing.output
    assert "callgauge demo" in nothing.output
    assert "--yes" not in nothing.output
    agent_logs = ROOT / "sample_data" / "logs" / "claude_code" / "claude-code-viewer_init.jsonl"
    (tmp_path / ".claude" / "projects" / "-home-p").mkdir(parents=True)
    (tmp_path / ".claude" / "projects" / "-home-p" / "a.jsonl").write_bytes(agent_logs.read_bytes())
    result = run("up", "--store", tmp_path / "store")
    assert result.exit_code == 2
    assert re.search(r"Claude Code: +1 session, ", result.output), result.output
    assert "callgauge up --yes" in result.output
    assert not (tmp_path / "store").exists()


def test_the_choice_has_the_agents_and_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    choices: list[tuple[str, up_command.FindLogs | None]] = [("Claude Code", list), ("the sample", None)]
    for answers, chosen in (("\n", list), ("3\nall\n2\n", None)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        assert up_command._ask(choices) is chosen


@pytest.mark.parametrize(
    ("variables", "opens"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"DISPLAY": ":0", "SSH_CONNECTION": "x"}, False)],
)
def test_a_browser_is_opened_where_somebody_can_see_it(
    variables: dict[str, str], opens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not up_command.can_open_browser(), "there is no terminal"
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr("sys.platform", "linux")
    assert up_command.can_open_browser() is opens


class Terminal:
    def isatty(self) -> bool:
        return True
