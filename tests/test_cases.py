"""Tests the parser with cases. Each entry of tests/cases/lenient/*.json is one test.

`./dev accept` writes the current results into `arguments`, `outcome`, `diagnostics` and `rejected`.
tests/cases/lenient/README.md explains the fields.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.regression_cases import expected_call, expected_outcome
from lenient import (
    TextCall,
    ToolCatalog,
    ToolDefinition,
    extract_tool_calls,
    leaked_tool_calls,
    parse_arguments,
)
from tests.conftest import CASES, write_cases

FOLDER = CASES / "lenient"
TOOLS = ToolCatalog.load(FOLDER / "_tools.json")
FILES = sorted(path for path in FOLDER.glob("*.json") if not path.name.startswith("_"))
CASES_OF = {
    path: {case["name"]: case for case in json.loads(path.read_text(encoding="utf-8"))} for path in FILES
}
NAMED = [(path, name) for path in FILES for name in CASES_OF[path]]


def definition(case: dict[str, Any]) -> ToolDefinition | ToolCatalog | None:
    """Return the tool of a case: a shared tool, a definition in the case, or a catalog of the tools in
    `offered`.
    """
    if "offered" in case:
        return ToolCatalog.from_definitions(tool for tool in TOOLS if tool.name in case["offered"])
    tool = case.get("tool")
    if tool is None:
        return None
    if isinstance(tool, str):
        shared = TOOLS.get(tool)
        assert shared is not None, f"{tool} is not in _tools.json"
        return shared
    [inline] = ToolCatalog.load(json.dumps(tool))
    return inline


def raw_of(case: dict[str, Any]) -> str | bytes:
    """Return the raw arguments of a case. Several fields of a case can contain them."""
    if "raw_hex" in case:
        return bytes.fromhex(case["raw_hex"])
    if "raw_repeated" in case:
        before, unit, times, after = case["raw_repeated"]
        return str(before + unit * times + after)
    return str(case["raw"])


def calls_of(case: dict[str, Any]) -> tuple[TextCall, ...]:
    """Return the tool calls in a case's reply. The case selects one dialect, any dialect, or only leaked
    calls.
    """
    catalog = TOOLS if case.get("catalog") else None
    if "tools" in case:
        catalog = ToolCatalog.load(case["tools"])
    if case.get("leaked"):
        return leaked_tool_calls(case["text"], catalog)
    return extract_tool_calls(case["text"], catalog, dialect=case.get("told"))


def placed_call_of(call: TextCall, text: str) -> dict[str, Any]:
    """Return the fields of a call that the case compares. Check the position of the arguments in the text
    first.
    """
    assert call.offset is None or text.startswith(str(call.request.raw_arguments), call.offset)
    return expected_call(call)


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Parse the arguments of a case, or find and parse the tool calls in a case's reply."""
    if "text" in case:
        return {"calls": [placed_call_of(call, case["text"]) for call in calls_of(case)]}
    raw = raw_of(case)
    request = parse_arguments(raw, definition(case), tool_name=case.get("called"))
    assert request.raw_arguments == raw
    result = expected_outcome(request.with_defaults() if case.get("defaults") else request)
    # NaN does not equal NaN, but json makes each NaN the same object, and an object equals itself
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain


def test_each_case_of_a_file_has_a_name_of_its_own() -> None:
    for path in FILES:
        assert len(json.loads(path.read_text(encoding="utf-8"))) == len(CASES_OF[path]), path.name


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[f"{path.stem}-{name}" for path, name in NAMED])
def test_every_case_gives_what_its_file_says(path: Path, name: str, accept: bool) -> None:
    case = CASES_OF[path][name]
    expected = {
        key: case[key] for key in ("arguments", "outcome", "diagnostics", "rejected", "calls") if key in case
    }
    outcome = run(case)
    if accept and outcome != expected:
        for key in expected:
            del case[key]
        case.update(outcome)
        write_cases(path, list(CASES_OF[path].values()))
    else:
        assert outcome == expected
