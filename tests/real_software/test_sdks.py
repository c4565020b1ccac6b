"""Tests real SDKs: two with `callgauge record`, and three in the loops of docs/parser.md."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model
from tests.parser.test_own_loop import BROKEN, INVALID, SCHEMA, example
from tests.real_software.programs import callgauge, python_program, read_store, run_program

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]

CLIENTS = Path(__file__).parent / "sdk_clients.py"
SENT = ('{"customer": "Acme", "limit": 3}', '{"customer": "Bolt", "limit": "2"}')
CALLS = "SELECT tool, raw_arguments, outcome FROM tool_calls WHERE NOT duplicate"


def answer(request: Asked) -> Emitted:
    return Emitted("Let me see.", calls=[("search_orders", raw) for raw in SENT])


def test_each_recorded_call_of_the_sdks_is_loaded_once(tmp_path: Path) -> None:
    with serve_model(answer) as model:
        target = model.url.removesuffix("/v1")
        words = ("--to", target, "--log", "recorded", "--load-into", "store")
        printed = callgauge("record", *words, "--", python_program(), CLIENTS, folder=tmp_path)
        assert len(model.requests) == 6
    arrived = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    assert len(arrived) == 6
    assert set(arrived.values()) == {2}
    stored = read_store(tmp_path / "store", CALLS)
    counts = Counter((tool, json.dumps(json.loads(raw)), outcome) for tool, raw, outcome in stored)
    # Without streaming, Anthropic's API returns decoded arguments, so the text that the model wrote is
    # unknown.
    assert counts == {
        ("search_orders", SENT[0], "clean"): 5,
        ("search_orders", SENT[0], "unmeasured"): 1,
        ("search_orders", SENT[1], "coerced"): 6,
    }


# --- the documented loops, with a server that answers as a model would


class _Model(BaseHTTPRequestHandler):
    """Answers the three requests of a turn with an invalid call, a broken call and an answer. Records the
    requests.
    """

    requests: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.requests.append(body)
        step = len(self.requests) - 1
        answer = _answer_anthropic(step) if self.path.endswith("/messages") else _answer_openai(step)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def _answer_openai(step: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "Done." if step == 2 else None}
    if step < 2:
        function = {"name": "search", "arguments": (INVALID, BROKEN)[step]}
        message["tool_calls"] = [{"id": f"c{step}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if step == 2 else "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def _answer_anthropic(step: int) -> dict[str, Any]:
    sent = ({"limit": "many"}, {"query": "blue", "limit": "3"})
    block: dict[str, Any] = {"type": "text", "text": "Done."}
    if step < 2:
        block = {"type": "tool_use", "id": f"c{step}", "name": "search", "input": sent[step]}
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "content": [block],
        "stop_reason": "end_turn" if step == 2 else "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


@contextmanager
def serve_loop() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve the responses. Yield the address of the server and the list of received requests."""
    requests: list[dict[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Answers", (_Model,), {"requests": requests}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


RUNS = {
    "openai": """
import openai
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}]
client = openai.OpenAI(base_url=ADDRESS + "/v1", api_key="none")
print(json.dumps([run_turn(client, [{"role": "user", "content": "Search."}]), ran]))
""",
    "anthropic": """
import anthropic
TOOLS = [{"name": "search", "input_schema": SCHEMA}]
client = anthropic.Anthropic(base_url=ADDRESS, api_key="none")
print(json.dumps([run_turn(client, [{"role": "user", "content": "Search."}]), ran]))
""",
    "pydantic-ai": """
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=ADDRESS + "/v1", api_key="none"))
agent = Agent(model, capabilities=[LenientArguments()])
@agent.tool_plain
def search(query: str, limit: int = 10) -> str:
    return FUNCTIONS["search"](query=query, limit=limit)
print(json.dumps([agent.run_sync("Search.").output, ran]))
""",
}


@pytest.mark.parametrize("label", RUNS)
def test_the_documented_loops_run_with_the_sdks(tmp_path: Path, label: str) -> None:
    python = python_program()
    with serve_loop() as (address, requests):
        head = f"import json\nran = []\nSCHEMA = {SCHEMA!r}\nADDRESS = {address!r}\n"
        head += "FUNCTIONS = {'search': lambda **arguments: ran.append(arguments) or 'found'}\n"
        script = tmp_path / "loop.py"
        script.write_text(head + example(label) + RUNS[label], encoding="utf-8")
        printed = run_program(python, script, folder=tmp_path)
    assert json.loads(printed) == ["Done.", [{"query": "blue", "limit": 3}]]
    assert "unsupported_integer_literal:limit" in json.dumps(requests[1]["messages"])
