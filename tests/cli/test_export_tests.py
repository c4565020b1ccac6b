"""Tests `callgauge export-tests`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner, Result

from callgauge.analysis.testsets.shapes import SHAPES
from callgauge.cli import main as cli
from callgauge.cli.trials.export_tests import Shape
from ingest.time_ranges import PRESETS
from tests.analysis.store_fixture import publish
from tests.trials.stored_failures import RIGHT, store_tables


@pytest.fixture
def store(tmp_path: Path) -> Path:
    publish(tmp_path / "store", store_tables())
    return tmp_path / "store"


def run(store: Path, *words: object) -> Result:
    return CliRunner().invoke(cli.app, ["export-tests", "--store", str(store), *map(str, words)])


def test_every_format_of_the_pages_can_be_exported() -> None:
    assert get_args(Shape) == tuple(SHAPES)


def test_the_help_names_the_days_without_an_option() -> None:
    text = " ".join(CliRunner().invoke(cli.app, ["export-tests", "--help"]).stdout.split())
    assert f"[default: {PRESETS[0]}]" in text


def test_tests_go_to_standard_output_and_their_number_to_standard_error(store: Path) -> None:
    result = run(store, "--format", "openai", "--outcome", "failed", "--days", "all")
    assert result.exit_code == 0, result.stderr
    (line,) = map(json.loads, result.stdout.splitlines())
    assert line["messages"][-1]["tool_calls"][0]["function"]["arguments"] == RIGHT
    assert "1 test from 1 call" in result.stderr


@pytest.mark.parametrize(
    ("words", "tests"),
    [
        (["--tool", "list"], 1),
        (["--tool", "list", "--tool", "read_file"], 4),
        (["--fault", "any"], 1),
        (["--model", "falcon-3", "--prompt", "support@3", "--limit", "2"], 2),
    ],
)
def test_calls_are_chosen_by_the_filters_of_the_pages(store: Path, words: list[str], tests: int) -> None:
    result = run(store, "--format", "k2vv", "--days", "all", *words)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, tests), result.stderr


def test_the_task_for_inspect_is_written_next_to_its_data_set(store: Path, tmp_path: Path) -> None:
    words = ("--format", "inspect", "--days", "all")
    assert run(store, *words, "-o", tmp_path / "out" / "mine.jsonl").exit_code == 0
    task = (tmp_path / "out" / "inspect_task.py").read_text(encoding="utf-8")
    assert 'with_name("mine.jsonl")' in task
    again = run(store, *words, "-o", tmp_path / "out" / "mine.jsonl")
    assert (again.exit_code, "mine.jsonl already exists" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--tool", "nothing"], 2, "There is no tool 'nothing'"),
        (["--days", "tomorrow-ish"], 2, "tomorrow-ish"),
        (["--fault", "execution"], 1, "0 tests from 0 calls"),
    ],
)
def test_a_choice_without_tests_is_a_message_and_an_exit_code(
    store: Path, words: list[str], code: int, message: str
) -> None:
    result = run(store, "--format", "promptfoo", *words)
    assert (result.exit_code, message in result.stderr, result.stdout) == (code, True, ""), result.stderr


def test_calls_left_out_are_counted_with_the_reason(store: Path) -> None:
    publish(store, store_tables(user=None))
    result = run(store, "--format", "inspect", "--days", "all")
    assert result.exit_code == 1
    assert "left out: 4: the user's message is not in the log" in result.stderr
