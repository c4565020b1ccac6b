"""Tests exported files in Inspect and promptfoo. Both score a mock model, and only correct tool calls may
pass.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from callgauge.cli import main as cli
from tests.analysis.store_fixture import publish
from tests.real_software.programs import RUN_LIMIT, VARIABLES, node_program, python_program, run_program
from tests.trials.stored_failures import BROKEN, FAILED, call, definition, store_tables, the_calls

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with five calls, four of which have known correct arguments."""
    count = definition("count", properties={"n": {"type": "integer"}}, required=["n"])
    lost = call(6, step=6, **FAILED) | {"tool": "count", "definition_id": "d-count"}
    tables = store_tables([*the_calls(), lost], definitions=[definition(), definition("list"), count])
    publish(tmp_path / "store", tables)
    return tmp_path / "store"


def export(store: Path, form: str, path: Path) -> list[dict[str, Any]]:
    words = ["export-tests", "--store", str(store), "--days", "all", "--format", form, "-o", str(path)]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


INSPECT = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_task import tool_calls

samples = [json.loads(line) for line in open("inspect_dataset.jsonl")]
def call(sample, arguments):
    return ModelOutput.for_tool_call("mockllm/model", sample["metadata"]["tool"], arguments)
mocks = {
    "text": lambda sample: ModelOutput.from_content("mockllm/model", "x"),
    "x": lambda sample: call(sample, dict.fromkeys(json.loads(sample["target"]), "x")),
    "right": lambda sample: call(sample, json.loads(sample["target"])),
}
scores = {}
for name, mock in mocks.items():
    outputs = [mock(sample) for sample in samples]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it counts online
    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = eval(tool_calls(), model=model, display="none", log_dir="logs", max_samples=1, max_connections=1)
    scores[name] = log.results.scores[0].metrics["accuracy"].value if log.results else str(log.error)
print(json.dumps(scores))
"""


def test_inspect_scores_right_calls_only(store: Path, tmp_path: Path) -> None:
    python = python_program()
    folder = tmp_path / "inspect"
    assert len(export(store, "inspect", folder / "inspect_dataset.jsonl")) == 4
    (folder / "run.py").write_text(INSPECT, encoding="utf-8")
    printed = run_program(python, "run.py", folder=folder)
    assert json.loads(printed.splitlines()[-1]) == {"text": 0.0, "x": 0.0, "right": 1.0}


PROVIDER = """
module.exports = class {
  constructor(options) { this.mode = options.config.mode; }
  id() { return this.mode; }
  async callApi(prompt, { vars, prompt: { config } }) {
    if (!Array.isArray(JSON.parse(prompt))) throw new Error('the prompt is not the messages');
    const { parameters } = config.tools.find((tool) => tool.function.name === vars.tool).function;
    const x = JSON.stringify(Object.fromEntries(parameters.required.map((name) => [name, 'x'])));
    const sent = { x, failed: BROKEN, right: vars.arguments || '{"n": 3}' }[this.mode];
    if (!sent) return { output: 'x' };
    return { output: [{ type: 'function', function: { name: vars.tool, arguments: sent } }] };
  }
};
"""


def test_promptfoo_passes_right_calls_only(store: Path, tmp_path: Path) -> None:
    promptfoo = node_program("promptfoo/dist/src/main.js")
    folder = tmp_path / "promptfoo"
    tests = export(store, "promptfoo", folder / "promptfoo_tests.jsonl")
    assert Counter(test["assert"][0]["type"] for test in tests) == {"javascript": 4, "is-json": 1}
    (folder / "provider.cjs").write_text(PROVIDER.replace("BROKEN", repr(BROKEN)), encoding="utf-8")
    modes = ["text", "x", "failed", "right"]
    config = {
        "prompts": ["{{messages}}"],
        "providers": [{"id": "file://provider.cjs", "config": {"mode": mode}} for mode in modes],
        "tests": "file://promptfoo_tests.jsonl",
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    words = ("eval", "-c", "promptfooconfig.json", "--no-cache", "--no-table", "-o", "out.json")
    variables = {**VARIABLES, "PROMPTFOO_CONFIG_DIR": str(folder / "state")}
    # promptfoo fails because some tests must fail. So its exit code is not checked.
    done = subprocess.run(
        [*promptfoo, *words], cwd=folder, capture_output=True, text=True, env=variables, timeout=RUN_LIMIT
    )
    assert (folder / "out.json").exists(), done.stdout + done.stderr
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    assert len(results) == len(tests) * len(modes)
    assert Counter(result["provider"]["id"] for result in results if result["success"]) == {
        "right": len(tests)
    }
