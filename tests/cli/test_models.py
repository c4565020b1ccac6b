"""Tests the output and the exit codes of `callgauge chat` and `callgauge probe` with a scripted server."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
from callgauge.cli.render.exit_codes import ExitCode
from ingest.version import install_command
from tests.event_loops import call_apart
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model

TOOLS = '''
from callgauge.gateway import tool

@tool
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    return f"{customer} has {limit} orders."
'''


def model(call: Asked) -> Emitted:
    if "Report" in call.user:
        both = [("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')]
        return Emitted(calls=both if "both" in call.user else both[:1])
    if call.last.role == "tool":
        return Emitted("She has three \x1b[31morders.")
    return Emitted("", [("search_orders", "{'customer': 'Ada', 'limit': 3}")])


def run(*words: object, stdin: str = "") -> Result:
    return call_apart(CliRunner().invoke, cli.app, [str(word) for word in words], input=stdin)


def test_a_chat_shows_each_call_its_findings_and_the_answer(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    with serve_model(model) as served:
        result = run(
            "chat", "--endpoint", served.url, "--model", "m", "--tools", tools, "--log", tmp_path / "logs",
            stdin="How many orders has Ada?\n\n",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "→ search_orders {'customer': 'Ada', 'limit': 3}" in result.output
    assert "arguments repaired" in result.output
    assert "single_quotes at $" in result.output
    assert "success (" in result.output
    assert "She has three " in result.output
    assert "\x1b" not in result.output
    assert "[ok · 2 replies · 1 calls · 100 tokens read, 40 written ·" in result.output
    [log] = (tmp_path / "logs").glob("*.jsonl")
    assert json.loads(log.read_text().splitlines()[-1])["type"] == "session_end"


STORY = "Ada has three orders: chairs, tables, and a lamp for her desk."


def test_the_text_of_each_reply_is_printed_once_and_without_control_characters() -> None:
    def speak(call: Asked) -> Emitted:
        if call.last.role == "tool":
            return Emitted(STORY + "\nAnd \x1b[31mone more.")
        return Emitted("\n\nI will look.", [("search_orders", "{}")])

    with serve_model(speak) as served:
        options = ("chat", "--endpoint", served.url, "--model", "m", "--strategy", "tool_use")
        output = run(*options, stdin="Go.\nAgain.\n").output
    assert output.count(f"{STORY}\nAnd \\x1b[31mone more.\n  [ok") == 2
    assert output.count(STORY) == 2
    assert output.count("I will look.\n  →") == 2
    assert "\x1b" not in output


def test_a_stream_that_breaks_shows_what_arrived_and_why() -> None:
    with serve_model(lambda _: Emitted(STORY, cut=900)) as served:
        result = run("chat", "--endpoint", served.url, "--model", "m", stdin="Hello\n")
    assert result.exit_code == 1
    assert result.output.count("Ada has") == 3
    assert result.output.count("\n  [the stream broke; the model was asked again]\nAda has") == 2
    assert "in 3 attempts; the last time: The stream ended before the reply did.\n  [error" in result.output


class _Chat:
    """A process of `callgauge chat`. The model stops in the middle of a reply until `go_on` is set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.go_on = threading.Event()

    def __enter__(self) -> subprocess.Popen[bytes]:
        halfway = Emitted(STORY, halfway=lambda: self.go_on.wait(60))
        self._stack = ExitStack()
        served = self._stack.enter_context(serve_model(lambda _: halfway))
        self._stack.callback(self.go_on.set)
        command = [sys.executable, "-m", "callgauge", "chat", "--endpoint", served.url, "--model", "m"]
        process = subprocess.Popen(
            [*command, "--log", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        assert process.stdin is not None
        process.stdin.write(b"Hello\n\n")
        process.stdin.flush()
        return process

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _read_turn_ends(folder: Path) -> list[str]:
    [log] = folder.glob("*.jsonl")
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [event["meta"]["status"] for event in events if event["type"] == "turn_end"]


@pytest.mark.thorough
def test_text_is_printed_before_the_reply_is_complete_and_ctrl_c_ends_the_turn(tmp_path: Path) -> None:
    with _Chat(tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(8) == b"Ada has "
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert rest.endswith(b"\n")
    assert b"lamp" not in rest
    assert errors.decode().splitlines()[1:] == ["callgauge: stopped"]
    assert _read_turn_ends(tmp_path) == ["cancelled"]


@pytest.mark.thorough
def test_a_chat_ends_when_nobody_reads_its_output(tmp_path: Path) -> None:
    chat = _Chat(tmp_path)
    with chat as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(8)
        process.stdout.close()
        chat.go_on.set()
        assert process.wait(60) == 1
        errors = process.stderr.read().decode()
    assert not {"Traceback", "Exception"} & set(errors.split())
    assert _read_turn_ends(tmp_path) == ["cancelled"]


@pytest.mark.thorough
def test_one_ctrl_c_at_the_question_ends_a_chat() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "callgauge", "chat", "--endpoint", "http://127.0.0.1:9", "--model", "m"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, stdin=theirs, **pipes) as process:
        os.close(theirs)
        assert process.stdout is not None
        assert process.stdout.read(5) == b"you> "
        time.sleep(1)  # the prompt appears before input() reads; a signal between both is not noticed
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    os.close(ours)
    assert (process.returncode, errors) == (ExitCode.INTERRUPTED, b"callgauge: stopped\n")


def test_plain_functions_are_tools_and_definitions_ask_for_results(tmp_path: Path) -> None:
    plain = tmp_path / "plain.py"
    plain.write_text(TOOLS.replace("from callgauge.gateway import tool\n\n@tool\n", ""))
    definitions = tmp_path / "tools.json"
    definitions.write_text(
        '{"name": "search_orders", "input_schema": {"type": "object", "properties": {"customer": {}}}}'
    )
    with serve_model(model) as served:
        options = ("chat", "--endpoint", served.url, "--model", "m", "--strategy", "tool_use", "--tools")
        assert "Ada has 3 orders." in run(*options, plain, stdin="Go.\n").output
        assert "typed result" in run(*options, definitions, stdin="Go.\ntyped result\n").output


def test_a_chat_that_fails_exits_with_1(tmp_path: Path) -> None:
    with serve_model(lambda _: Emitted(status=401, body={"error": {"message": "bad key"}})) as served:
        result = run("chat", "--endpoint", served.url, "--model", "m", stdin="Hello\n")
    assert result.exit_code == 1
    assert "(no reply) 127.0.0.1:" in result.output
    assert "HTTP 401: bad key" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--endpoint", "models.test"), "'models.test' is not an address; it must begin with http:// or https://."),
        (("--endpoint", "http://x", "--wire", "grpc"), "is not an API: use openai-chat, openai-responses"),
        (("--endpoint", "http://x", "--key", "NO_SUCH_KEY"), "variable NO_SUCH_KEY is not set"),
        (("--endpoint", "http://x", "--tools", "missing.py"), "cannot run missing.py: FileNotFoundError"),
        (("--endpoint", "http://x", "--tools", "missing.json"), "missing.json: "),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    result = run("chat", "--model", "m", *words, stdin="Hello\n")
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_a_python_file_without_a_function_is_no_toolbox(tmp_path: Path) -> None:
    empty = tmp_path / "tools.py"
    empty.write_text("LIMIT = 3\n")
    result = run("chat", "--endpoint", "http://x", "--model", "m", "--tools", empty, stdin="Hello\n")
    assert (result.exit_code, "defines no function" in result.stderr) == (2, True)


def poor_or_good(call: Asked) -> Emitted:
    if call.model == "poor":
        return Emitted("no")
    return Emitted("Done.") if call.last.role == "tool" else model(call)


def test_a_probe_is_one_table_with_a_column_a_model() -> None:
    with serve_model(poor_or_good) as served:
        result = run(
            "probe", "--endpoint", served.url, "--model", "good", "--model", "poor", "--json-questions", 2
        )
    assert result.exit_code == 0, result.output
    rows = {line[:17].strip(): line[17:].split() for line in result.stdout.split("\n\n")[0].splitlines()}
    assert rows[""] == ["good", "poor"]
    assert rows["native calls"] == ["yes", "no"]
    assert rows["parallel calls"] == ["yes", "unknown"]
    assert rows["results taken"] == ["yes", "unknown"]
    assert rows["JSON answers"] == ["0", "of", "2", "0", "of", "2"]
    assert rows["tokens"] == ["reported", "reported"]
    assert rows["text of calls"] == ["unknown", "unknown"]
    assert rows["cost"] == ["unpriced", "unpriced"]
    assert "callgauge: good: native calls\n" in result.stderr
    assert "callgauge: poor: JSON answers\n" in result.stderr
    assert "seed" not in rows, "nobody asked"
    assert result.stdout.splitlines()[-1] == "poor: native calls: the answer has no tool call"


@pytest.mark.parametrize(("options", "streams"), [((), True), (("--no-stream",), False)])
def test_no_stream_asks_for_whole_answers(options: tuple[str, ...], streams: bool) -> None:
    seen: list[bool] = []

    def brain(asked: Asked) -> Emitted:
        seen.append("stream" in asked.body)
        return poor_or_good(asked)

    with serve_model(brain) as served:
        result = run("probe", "--endpoint", served.url, "--model", "good", "--json-questions", 0, *options)
    assert result.exit_code == 0, result.output
    assert set(seen) == {streams}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("width", [80, 120])
def test_many_models_stand_side_by_side_as_far_as_the_terminal_is_wide(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    names = [f"organisation/a-model-with-a-long-name-{number}-instruct" for number in range(5)]
    with serve_model(poor_or_good) as served:
        options = [word for name in names for word in ("--model", name)]
        result = run("probe", "--endpoint", served.url, *options, "--full", "--json-questions", 1)
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= width
    for name in names:
        assert sum(name[-27:] in line for line in lines) == 1
    assert sum(line.startswith("native calls") for line in lines) == (3 if width == 80 else 2)
    assert {line.split()[-1] for line in lines if line.startswith("seed")} == {"seen"}


def test_a_probe_of_a_model_with_a_price_says_what_it_cost() -> None:
    with serve_model(poor_or_good) as served:
        result = run("probe", "--endpoint", served.url, "--model", "gpt-4o", "--json", "--json-questions", 0)
    data = json.loads(result.stdout)["gpt-4o"]
    tried = data["tried"]
    assert data["tokens"] == {"read": 50 * tried, "written": 20 * tried, "cached": 10 * tried}
    # The prices are per million tokens: input $2.50, cached input $1.25, output $10
    # (callgauge/prices/prices.csv).
    assert data["cost"] == pytest.approx(tried * (40 * 2.5 + 10 * 1.25 + 20 * 10) / 1e6)
    assert data["features"] == {"usage": "reported"}
    assert data["capabilities"]["takes_tool_results"] == {"value": True, "known_by": "probed"}


def test_a_server_that_is_not_there_is_unknown_and_exits_with_1() -> None:
    result = run("probe", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)["m"]
    assert data["capabilities"] == {}
    assert data["error"].startswith("127.0.0.1:1 gave no reply")


def test_a_model_without_tool_use_that_writes_broken_json_ends_with_the_hint(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    with serve_model(lambda _: Emitted('```json\n{"tool": "search_orders", "input": \n')) as served:
        result = run(
            "chat", "--endpoint", served.url, "--model", "m", "--tools", tools,
            "--strategy", "json_fallback", stdin="Go.\n",
        )  # fmt: skip
    assert "(no tool was run)" in result.output
    assert "deprecated, for models without tool use only" in result.stderr
    assert "Traceback" not in result.output


# --- MCP servers

RAW_SERVER = Path(__file__).parents[1] / "gateway" / "served" / "raw_mcp_server.py"


def calls_echo(call: Asked) -> Emitted:
    if call.last.role == "tool":
        return Emitted(f"It {call.last.text}.")
    return Emitted("", [("echo", '{"text": "hi"}')])


def test_the_tools_of_an_mcp_server_are_offered_beside_the_own_ones(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra callgauge[mcp] is not installed")
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    with serve_model(calls_echo) as served:
        result = run(
            "chat", "--endpoint", served.url, "--model", "m", "--strategy", "tool_use", "--tools", tools,
            "--mcp", f"{sys.executable} {RAW_SERVER} plain", stdin="Go.\n",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "2 tools of MCP servers: echo, echo_1" in result.stderr
    assert "It said hi." in result.output
    offered = [tool["function"]["name"] for tool in served.requests[0].body["tools"]]
    assert offered == ["search_orders", "echo", "echo_1"]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--mcp", ""), "--mcp is empty; give a command in quotes, or an address"),
        (("--mcp", "python 'x"), "No closing quotation"),
        (("--mcp", "python x", "--mcp-key", "HOME"), "--mcp-key needs exactly one --mcp address, not 0"),
        (("--mcp", "http://x", "--mcp-key", "NO_SUCH_KEY"), "--mcp-key: the environment variable"),
        (("--mcp", "python x", "--mcp-env", "NO_SUCH"), "the environment has no variable NO_SUCH"),
        (("--mcp", "no-such-command-7f3a"), "command not found: no-such-command-7f3a"),
    ],
)  # fmt: skip
def test_an_mcp_server_that_cannot_be_used_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    pytest.importorskip("mcp", reason="the extra callgauge[mcp] is not installed")
    result = run("chat", "--endpoint", "http://x", "--model", "m", *words, stdin="Hello\n")
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = run("chat", "--endpoint", "http://x", "--model", "m", "--mcp", "python x", stdin="Hello\n")
    assert (result.exit_code, install_command("mcp") in result.stderr) == (2, True)
