"""`callgauge chat` and `callgauge probe` on a scripted server: what is printed, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
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


def model(asked: Asked) -> Emitted:
    if "Report" in asked.user:
        both = [("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')]
        return Emitted(calls=both if "both" in asked.user else both[:1])
    if asked.last.role == "tool":
        return Emitted("She has three \x1b[31morders.")
    return Emitted("", [("search_orders", "{'customer': 'Ada', 'limit': 3}")])


def run(*words: object, stdin: str = "") -> Result:
    return call_apart(CliRunner().invoke, cli.app, [str(word) for word in words], input=stdin)


def test_a_chat_shows_each_call_its_findings_and_the_answer(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    with serve_model(model) as served:
        told = run(
            "chat", "--endpoint", served.url, "--model", "m", "--tools", tools, "--log", tmp_path / "logs",
            stdin="How many orders has Ada?\n\n",
        )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "→ search_orders {'customer': 'Ada', 'limit': 3}" in told.output
    assert "arguments repaired" in told.output
    assert "single_quotes at $" in told.output
    assert "success (" in told.output
    assert "She has three " in told.output
    assert "\x1b" not in told.output
    assert "[ok · 2 replies · 1 calls · 100 tokens read, 40 written ·" in told.output
    [log] = (tmp_path / "logs").glob("*.jsonl")
    assert json.loads(log.read_text().splitlines()[-1])["type"] == "session_end"


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
        told = run("chat", "--endpoint", served.url, "--model", "m", stdin="Hello\n")
    assert told.exit_code == 1
    assert "(no reply) 127.0.0.1:" in told.output
    assert "HTTP 401: bad key" in told.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--endpoint", "models.test"), "'models.test' is no address: it begins with http:// or https://."),
        (("--endpoint", "http://x", "--wire", "grpc"), "is no wire: openai-chat, openai-responses"),
        (("--endpoint", "http://x", "--key", "NO_SUCH_KEY"), "--key names NO_SUCH_KEY, and the environment"),
        (("--endpoint", "http://x", "--tools", "missing.py"), "missing.py cannot be run: FileNotFoundError"),
        (("--endpoint", "http://x", "--tools", "missing.json"), "missing.json: "),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    told = run("chat", "--model", "m", *words, stdin="Hello\n")
    assert told.exit_code == 2, told.output
    assert sentence in told.stderr
    assert "Traceback" not in told.output


def test_a_python_file_without_a_function_is_no_toolbox(tmp_path: Path) -> None:
    empty = tmp_path / "tools.py"
    empty.write_text("LIMIT = 3\n")
    told = run("chat", "--endpoint", "http://x", "--model", "m", "--tools", empty, stdin="Hello\n")
    assert (told.exit_code, "defines no function" in told.stderr) == (2, True)


def test_a_probe_is_one_table_over_all_models() -> None:
    with serve_model(lambda asked: Emitted("no") if asked.model == "poor" else model(asked)) as served:
        told = run(
            "probe", "--endpoint", served.url, "--model", "good", "--model", "poor", "--json-questions", 2
        )
    assert told.exit_code == 0, told.output
    head, good, poor, why = told.stdout.splitlines()
    assert head.split()[:3] == ["model", "native", "calls"]
    assert good.split()[:3] == ["good", "yes", "yes"]
    assert poor.split()[:3] == ["poor", "no", "unknown"]
    assert why == "poor: the answer held no tool call"


def test_a_server_that_is_not_there_is_unknown_and_exits_with_1() -> None:
    told = run("probe", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--json")
    assert told.exit_code == 1
    data = json.loads(told.stdout)["m"]
    assert data["capabilities"] == {}
    assert data["error"].startswith("127.0.0.1:1 gave no reply")


def test_a_model_without_tool_use_that_writes_broken_json_ends_with_the_hint(tmp_path: Path) -> None:
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    with serve_model(lambda _: Emitted('```json\n{"tool": "search_orders", "input": \n')) as served:
        told = run(
            "chat", "--endpoint", served.url, "--model", "m", "--tools", tools,
            "--strategy", "json_fallback", stdin="Go.\n",
        )  # fmt: skip
    assert "(no tool was run)" in told.output
    assert "Traceback" not in told.output
