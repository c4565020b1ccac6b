"""Tests `callgauge trial check`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.trials.commands import trial
from ingest.pipeline.load import load
from tests.trials.plan_files import PLAN, TASK, write_plan

ROOT = Path(__file__).parents[2]
NO_HTTPX = "import sys; sys.modules['httpx2'] = None; from callgauge.cli.main import main; main()"


def check(*words: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, because starting a new process takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LOCAL_KEY", raising=False)
        for name, value in (environment or {}).items():
            patch.setenv(name, value)
        result = CliRunner().invoke(trial, ["check", *map(str, words)])
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def check_apart(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", NO_HTTPX, "trial", "check", *map(str, words)]
    environment = {name: value for name, value in os.environ.items() if name != "LOCAL_KEY"}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


def log_turns(folder: Path, turns: Sequence[int]) -> Path:
    """Write session logs of one turn each. Each turn has this number of tool calls, one per step.

    The first tool call of the first log lacks an argument.
    """
    folder.mkdir()
    definition = {
        "name": "search_orders",
        "description": "Orders.",
        "input_schema": {
            "type": "object", "properties": {"customer": {"type": "string"}}, "required": ["customer"],
        },
    }  # fmt: skip
    for number, calls in enumerate(turns):
        session = f"s{number}"
        base = {"sessionId": session, "ts": "2026-11-20T10:00:00Z"}
        lines: list[dict[str, object]] = [
            {**base, "type": "session_start", "meta": {"model": "qwen3-8b", "tools": [definition]}},
            {**base, "type": "turn_start", "turn": 1, "role": "user", "content": "Go."},
        ]
        names = {
            "role": "assistant",
            "meta": {"model": "qwen3-8b", "tokens": {"prompt": 100, "completion": 30}},
        }
        for step in range(calls):
            raw = '{"customer": "Acme"}' if step else "{}"
            place = {**base, "turn": 1, "step": step}
            block = {"id": f"c{step}", "name": "search_orders", "raw": raw}
            result = {"action_id": f"c{step}", "status": "success" if step else "input_invalid"}
            lines += [
                {**place, **names, "type": "assistant", "content": ""},
                {**place, "type": "action", "meta": {"toolBlocks": [block]}},
                {**place, "type": "observation", "content": "ok", "meta": result},
            ]
        lines += [
            {**base, **names, "type": "assistant", "turn": 1, "step": calls, "content": "Done."},
            {**base, "type": "turn_end", "turn": 1, "meta": {"status": "ok"}},
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{session}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_a_plan_is_described_without_asking_anything(tmp_path: Path) -> None:
    result = check_apart(write_plan(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    for line in (
        "Do enums in search_orders lower its refusals?",
        "  old  qwen3-8b at local, prompt agent-12, definitions old, strategy auto  (the reference)",
        "  1 task × 2 variants × 2 repeats = 4 trials",
        "  about 8 requests, at most 32, plus up to 6 for the probe",
        "  unknown: add expected_rate to [measure], or name a store that knows the model with --store",
        "    search_orders      55",
        "  - the environment variable LOCAL_KEY (key of endpoint local) is not set",
    ):
        assert line in result.stdout.split("\n")


def test_the_same_as_data(tmp_path: Path) -> None:
    result = check(write_plan(tmp_path), "--json", environment={"LOCAL_KEY": "canary"})
    plan = json.loads(result.stdout)
    assert [arm["name"] for arm in plan["arms"]] == ["old", "new"]
    assert (plan["comes_to"]["trials"], plan["comes_to"]["requests"]) == (4, 8)
    assert plan["comes_to"]["catalogs"][0]["tools"].keys() == {"search_orders"}
    assert plan["notes"] == []
    assert "canary" not in result.stdout


def test_mistakes_end_it_with_2_and_a_line_each(tmp_path: Path) -> None:
    path = write_plan(tmp_path, [["looks = 5", "looks = 0"], ["seed = 7", "sed = 7"]])
    result = check(path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.split("\n") == [
        f"callgauge: {path}:8: measure.looks: 0 is too small; write a whole number from 1 to 20",
        f'callgauge: {path}:14: run.sed: unknown key; did you mean "seed"?',
        "callgauge: 2 mistakes: nothing was sent",
        "",
    ]


def test_a_secret_anywhere_in_the_plan_is_refused_and_not_repeated(tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-Zq8Zq7Wm3Xk9Vb2Nc5Lp4Rt6"
    path = write_plan(tmp_path, [["[tasks]", f"[tasks] # {key}"]])
    result = check(path)
    assert result.returncode == 2
    assert f"{path}:60: this looks like a secret" in result.stderr
    assert key not in result.stdout + result.stderr


def test_functions_that_cannot_be_imported_are_told(tmp_path: Path) -> None:
    (tmp_path / "own_tools.py").write_text("def search(customer): return 1\n", encoding="utf-8")
    text = PLAN.replace('answers = "recorded"\ndefault = "no orders"', 'function = "own_tools:search"')
    task = {**TASK, "expect": {"check": "own_tools:gone"}}
    result = check(write_plan(tmp_path, text=text, tasks=[task]), environment={"LOCAL_KEY": "x"})
    notes = result.stdout[result.stdout.index("Check first") :].strip().split("\n")[1:]
    assert notes == [
        "  - own_tools:gone failed: AttributeError: module 'own_tools' has no attribute 'gone'",
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    logs = log_turns(folder / "logs", [2] * 20 + [3] * 20)
    load([logs], folder / "store")
    return folder / "store"


def test_a_store_tells_the_rate_and_the_size_of_turns(tmp_path: Path, store: Path) -> None:
    result = check(write_plan(tmp_path), "--store", store, "--json")
    estimate = json.loads(result.stdout)["comes_to"]
    # The store has 40 turns of 3 or 4 replies, and each reply has 30 tokens. 40 of the store's 100 calls
    # failed.
    assert estimate["requests"] == 4 * 3.5
    assert estimate["arms"][0]["written"] == 2 * 3.5 * 30
    assert estimate["needed"]["rate"] == 0.4
    assert estimate["needed"]["basis"] == (
        "40 of 100 calls of search_orders, get_weather in 40 sessions of the store"
    )
    assert estimate["needed"]["tasks"] > 100


def test_a_model_that_the_store_does_not_know_is_guessed(tmp_path: Path, store: Path) -> None:
    result = check(write_plan(tmp_path, [["qwen3-8b", "owl"]]), "--store", store)
    assert result.returncode == 0
    assert f"  - {store} has no turns of owl: its estimate is a guess" in result.stdout
    assert "  guessed for qwen: one call and one answer per trial" in result.stdout


def test_a_store_that_is_none_is_told(tmp_path: Path) -> None:
    result = check(write_plan(tmp_path), "--store", tmp_path / "gone")
    assert result.returncode == 2
    assert "Nothing has been loaded yet. Load logs into it" in result.stderr
