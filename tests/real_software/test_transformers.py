"""Tests `callgauge probe`, `chat` and `trial` with `transformers serve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real_software.programs import (
    callgauge,
    free_port,
    python_program,
    read_store,
    run_program,
    serving,
)

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]

MODEL_SCRIPT = Path(__file__).parent / "tool_calling_model.py"
TOOL = '''
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    return f"{customer} has {limit} orders."
'''
DEFINITION = {
    "name": "search_orders",
    "description": "Orders of a customer.",
    "input_schema": {
        "type": "object",
        "properties": {"customer": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["customer"],
    },
}
TASKS = 3
PLAN = """
name = "made model"
question = "Does the run work?"
[measure]
primary = "refused"
smallest = 0.2
reference = "one"
looks = 1
[run]
seed = 7
[endpoints.served]
wire = "openai-chat"
url = "{url}"
[models.one]
endpoint = "served"
model = "{model}"
[models.two]
endpoint = "served"
model = "{model}"
[definitions.orders]
files = ["tools.json"]
[tools.search_orders]
answers = "recorded"
default = "no orders"
[tasks]
file = "tasks.jsonl"
[arms]
models = ["one", "two"]
definitions = ["orders"]
"""
CALLS = "SELECT tool, raw_arguments, args_source, outcome, result_status FROM tool_calls"


def test_a_made_model_in_transformers_serve_passes_probe_chat_and_trial(tmp_path: Path) -> None:
    model = tmp_path / "tiny-qwen"
    run_program(python_program(), MODEL_SCRIPT, model, folder=tmp_path)
    assert sum(file.stat().st_size for file in model.iterdir()) < 1_000_000
    port = free_port()
    words = [python_program("transformers"), "serve", str(model), "--host", "127.0.0.1", "--device", "cpu"]
    log = tmp_path / "serve.log"
    with serving([*words, "--port", str(port)], f"http://127.0.0.1:{port}/health", log):
        url = f"http://127.0.0.1:{port}/v1"
        _probe(tmp_path, url, str(model))
        _chat(tmp_path, url, str(model))
        _run_trial(tmp_path, url, str(model))


def _probe(folder: Path, url: str, model: str) -> None:
    result = json.loads(callgauge("probe", "--endpoint", url, "--model", model, "--json", folder=folder))
    capabilities = {name: entry["value"] for name, entry in result[model]["capabilities"].items()}
    assert result[model]["ok"]
    assert (capabilities["supports_tool_use"], capabilities["takes_tool_results"]) == (True, True)
    # The model writes the usual spaces. So the spaces do not show whether the model or the server wrote the
    # text.
    assert result[model]["raw_text"] == "unknown"


def _chat(folder: Path, url: str, model: str) -> None:
    (folder / "tools.py").write_text(TOOL, encoding="utf-8")
    words = ("--endpoint", url, "--model", model, "--tools", "tools.py", "--log", "chat-log")
    printed = callgauge("chat", *words, folder=folder, text="What did Acme order?\n")
    assert "Acme has 3 orders." in printed
    assert "It is done." in printed
    [session] = (folder / "chat-log").glob("*.jsonl")
    events = [json.loads(line) for line in session.read_text(encoding="utf-8").splitlines()]
    [action] = [event for event in events if event["type"] == "action"]
    [block] = action["meta"]["toolBlocks"]
    # The model wrote "3". The server converted it to an integer, as the definition declares.
    assert json.loads(block["raw"]) == {"customer": "Acme", "limit": 3}
    assert block["raw_is"] == "unknown"
    callgauge("ingest", "chat-log", "--store", "chat-store", folder=folder)
    [(tool, raw, _, _, status)] = read_store(folder / "chat-store", CALLS)
    assert (tool, json.loads(raw), status) == ("search_orders", {"customer": "Acme", "limit": 3}, "ok")


def _run_trial(folder: Path, url: str, model: str) -> None:
    (folder / "tools.json").write_text(json.dumps([DEFINITION]), encoding="utf-8")
    tasks = [{"id": f"t{number}", "input": f"What did Acme order? ({number})"} for number in range(TASKS)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN.format(url=url, model=model), encoding="utf-8")
    callgauge("trial", "run", "plan.toml", "--out", "runs", "--store", "trial-store", folder=folder)
    stored = read_store(folder / "trial-store", CALLS)
    assert len(stored) == 2 * TASKS
    assert {tool for tool, *_ in stored} == {"search_orders"}
    [run] = (folder / "runs").iterdir()
    report = callgauge("trial", "report", run, "--full", folder=folder)
    assert f"0 / {TASKS}" in report
