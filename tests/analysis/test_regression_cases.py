"""Tests that a case saved from a stored call is a valid test case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.regression_cases import case_json, text_case_json
from lenient import ToolCatalog, ToolDefinition
from tests import test_cases

(TOOL,) = ToolCatalog.load(
    {
        "name": "search",
        "description": "Finds.",
        "input_schema": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "due": {"type": "string", "format": "date-time"}},
            "required": ["query"],
        },
    }
)
REPLY = 'Let me look.\n<tool_call>\n{"name": "search", "arguments": {"query": "x",}}\n</tool_call>'
ALL = [(path, case) for path in test_cases.FILES for case in json.loads(path.read_text(encoding="utf-8"))]


def run_saved(saved: str, folder: Path) -> dict[str, Any]:
    """Run the parser on a saved file, as on the files in tests/cases/lenient. Return the file's only case."""
    path = folder / "saved.json"
    path.write_text(saved, encoding="utf-8")
    (case,) = json.loads(saved)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(test_cases.CASES_OF, path, {case["name"]: dict(case)})
        test_cases.test_every_case_gives_what_its_file_says(path, case["name"], accept=False)
    return dict(case)


@pytest.mark.parametrize(
    "raw",
    [
        '{"query": "x"}',
        "{'query': 'x', 'due': '2026-11-22T10:00:00',}",
        '{"due": 5, "other": [1',
        "no call",
        "",
        '{"query": "\u202e\ud83d"}',
        b'{"query": "\xff"}',
    ],
)
@pytest.mark.parametrize("tool", [TOOL, None, ToolDefinition("bare")], ids=["tool", "none", "bare"])
def test_a_saved_case_passes_as_it_is(raw: str | bytes, tool: ToolDefinition | None, tmp_path: Path) -> None:
    case = run_saved(case_json(raw, tool), tmp_path)
    assert test_cases.raw_of(case) == raw
    assert ("tool" in case) == (tool is not None)


@pytest.mark.thorough
def test_what_every_case_of_the_suite_reads_can_be_saved_and_passes(tmp_path: Path) -> None:
    for _, case in ALL:
        if "text" not in case and "offered" not in case:
            tool = test_cases.definition(case)
            assert tool is None or isinstance(tool, ToolDefinition)
            run_saved(case_json(test_cases.raw_of(case), tool), tmp_path)


@pytest.mark.thorough
def test_what_every_text_of_the_suite_holds_can_be_saved_and_passes(tmp_path: Path) -> None:
    for _, case in ALL:
        if "text" in case:
            tools = list(test_cases.TOOLS) if case.get("catalog") else []
            leaked = bool(case.get("leaked"))
            saved = text_case_json(case["text"], tools, dialect=case.get("told"), leaked=leaked)
            assert run_saved(saved, tmp_path)["calls"] == case["calls"]


@pytest.mark.parametrize(
    ("wrong", "value"),
    [("outcome", "clean"), ("arguments", {"query": "y"}), ("diagnostics", []), ("rejected", {"$": 1})],
)
def test_a_case_with_a_false_expectation_fails(wrong: str, value: Any, tmp_path: Path) -> None:
    (case,) = json.loads(case_json("{'query': 'x'}", TOOL))
    with pytest.raises(AssertionError):
        run_saved(json.dumps([{**case, wrong: value}]), tmp_path)


def test_a_text_with_a_false_expectation_fails(tmp_path: Path) -> None:
    saved = text_case_json(REPLY, [TOOL])
    assert run_saved(saved, tmp_path)["calls"][0]["dialect"] == "hermes"
    with pytest.raises(AssertionError):
        run_saved(saved.replace("hermes", "granite"), tmp_path)


def test_the_name_of_a_case_says_what_was_found() -> None:
    (case,) = json.loads(case_json("{'query': 'x',}", TOOL))
    assert case["name"].startswith("search: repaired, ")
