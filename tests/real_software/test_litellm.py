"""Tests `callgauge chat` with the LiteLLM proxy in front of a scripted model, over three APIs."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest

from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model
from tests.real_software.programs import callgauge, free_port, python_program, read_store, serving

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]

WIRES = ("openai-chat", "openai-responses", "anthropic")
SENT = ['{"customer": "Acme", "limit": 3}', '{"customer": "Bolt", "limit": "2"}']
TOOL = '''
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    return f"{customer} has {limit} orders."
'''
CALLS = (
    "SELECT raw_arguments, outcome, result_status FROM tool_calls WHERE tool = 'search_orders' ORDER BY ALL"
)


def answer(request: Asked) -> Emitted:
    """Make two parallel calls, and then answer. One of the calls has a number as a string."""
    if request.last.role == "tool" or not request.has_tools:
        return Emitted("All done.")
    if "number" in json.dumps(request.body):
        return Emitted(calls=[("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')])
    return Emitted(calls=[("search_orders", raw) for raw in SENT])


def test_chat_makes_the_same_calls_through_each_api_of_litellm(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOL, encoding="utf-8")
    port, key = free_port(), f"sk-{secrets.token_hex(32)}"  # LiteLLM does not start without a key
    with serve_model(answer) as model:
        behind = {"model": "openai/scripted", "api_key": "none", "api_base": model.url}
        config = {
            "model_list": [{"model_name": "scripted", "litellm_params": behind}],
            "litellm_settings": {"num_retries": 0, "telemetry": False},
        }
        (tmp_path / "litellm.json").write_text(json.dumps(config), encoding="utf-8")
        words = [python_program("litellm"), "--config", "litellm.json", "--host", "127.0.0.1"]
        health = f"http://127.0.0.1:{port}/health/liveliness"
        with serving([*words, "--port", str(port)], health, tmp_path / "litellm.log", LITELLM_MASTER_KEY=key):
            for wire in WIRES:
                _chat(tmp_path, f"http://127.0.0.1:{port}/v1", wire, key)


def _chat(folder: Path, url: str, wire: str, key: str) -> None:
    words = ("--endpoint", url, "--model", "scripted", "--wire", wire, "--key", "PROXY_KEY", "--log", wire)
    question = "What did Acme and Bolt order?\n"
    printed = callgauge("chat", *words, "--tools", "tools.py", folder=folder, text=question, PROXY_KEY=key)
    assert "All done." in printed, wire
    [session] = (folder / wire).glob("*.jsonl")
    events = [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]
    blocks = [block for event in events if event["type"] == "action" for block in event["meta"]["toolBlocks"]]
    assert [json.loads(block["raw"]) for block in blocks] == [json.loads(raw) for raw in SENT], wire
    assert {block["raw_is"] for block in blocks} <= {"unknown", "server"}, wire
    store = folder / f"{wire}-store"
    callgauge("ingest", wire, "--store", store, folder=folder)
    calls = read_store(store, CALLS)
    assert [(json.loads(raw), status) for raw, _, status in calls] == [
        (json.loads(raw), "ok") for raw in SENT
    ], wire
    assert [outcome for _, outcome, _ in calls][1] == "coerced", wire
