"""Tests that the gate names the tools, hosts and parameters that got worse, and no others."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from callgauge.documents.gate_text import write_where
from callgauge.report.store_gate import StoreGate, explain_gate, judge_gates
from tests.analysis.store_fixture import a_call, publish

FIRST, SWITCH, LAST = date(2026, 11, 1), date(2026, 11, 13), date(2026, 11, 20)
BASELINE = "2026-11-01 to 2026-11-12"
Rates = Mapping[tuple[str, str], float]  # (tool, parameter) → share of calls with an invalid value


def publish_faults(
    store: Path, before: Rates, after: Rates, *, seed: int = 5, per_day: int = 15, repaired: str = ""
) -> None:
    """Publish a store whose calls have invalid values of these parameters, before and after the switch.

    A fault of the parameter `repaired` is repaired. All other faults fail.
    """
    calls: list[dict[str, Any]] = []
    diagnostics: list[dict[str, Any]] = []
    drawn = random.Random(seed)
    for day in (FIRST + timedelta(number) for number in range((LAST - FIRST).days + 1)):
        rates = after if day >= SWITCH else before
        for tool in sorted({tool for tool, _ in {**before, **after}}):
            for number in range(per_day):
                name = f"{day}-{tool}-{number}"
                wrong = [p for (of, p), rate in rates.items() if of == tool and drawn.random() < rate]
                failed = {"outcome": "failed", "fault_layer": "schema", "arguments": None}
                if not set(wrong) - {repaired}:
                    failed = {"outcome": "coerced"} if wrong else {}
                own = {"tool": tool, "session_id": f"{day}-{number}", "turn_id": f"{name}:1"}
                when = {"day": str(day), "ts": f"{day}T10:00:00"}
                calls.append(a_call(number, **(own | when | failed | {"call_id": name})))
                diagnostics += _diagnose(name, wrong, repaired)
    publish(store, {"tool_calls": calls, "diagnostics": diagnostics})


def _diagnose(call: str, parameters: list[str], repaired: str) -> Iterator[dict[str, Any]]:
    for position, parameter in enumerate(parameters):
        severity = "note" if parameter == repaired else "error"
        yield {
            "call_id": call, "file_id": 1, "position": position, "stage": "validate", "severity": severity,
            "code": "enum_mismatch", "lossy": False, "path": f"$.{parameter}",
        }  # fmt: skip


def judge(store: Path, **chosen: list[str]) -> StoreGate:
    (gate,) = judge_gates(store, ["no-worse=2%"], BASELINE, "8 days", chosen)
    return gate


def test_the_tool_and_the_parameter_that_got_worse_are_named_and_no_others(tmp_path: Path) -> None:
    usual = {("search", "unit"): 0.04, ("search", "limit"): 0.04, ("edit", "path"): 0.05}
    publish_faults(tmp_path, usual, {**usual, ("search", "limit"): 0.4})
    gate = judge(tmp_path)
    assert gate.verdict == "worse"
    assert [(part.dimension, part.value, part.tool) for part in gate.where] == [
        ("tool", "search", ""),
        ("parameter", "limit", "search"),
    ]
    parameter = gate.where[1]
    assert parameter.n == 120
    assert 0.3 < parameter.k / parameter.n < 0.5
    assert parameter.low < 0.36 < parameter.high
    where = write_where(explain_gate(gate))
    assert where.startswith("Where: tool search: ")
    assert "; parameter limit of search wrong in " in where


def test_a_change_that_is_alike_in_all_tools_names_no_tool(tmp_path: Path) -> None:
    usual = {("search", "limit"): 0.04, ("edit", "path"): 0.04}
    publish_faults(tmp_path, usual, dict.fromkeys(usual, 0.3))
    gate = judge(tmp_path)
    assert (gate.verdict, gate.where) == ("worse", ())
    assert gate.why.endswith("No sign that the difference depends on the tool.")


def test_an_incomplete_newest_day_is_named(tmp_path: Path) -> None:
    days = (FIRST + timedelta(number) for number in range(20))
    counts = [(day, 2 if day == LAST else 40) for day in days]
    rows = [
        a_call(n, day=str(day), ts=f"{day}T10:00:00", session_id=f"{day}-{n}", call_id=f"{day}-{n}")
        for day, count in counts
        for n in range(count)
    ]
    publish(tmp_path, {"tool_calls": rows})
    note = "20 Nov 2026 is not complete: the store has 2 calls there."
    assert judge(tmp_path).why.endswith(note)
    (whole,) = judge_gates(tmp_path, ["no-worse=2%"], BASELINE, "2026-11-13 to 2026-11-19", {})
    assert "not complete" not in whole.why


@pytest.mark.thorough
def test_a_single_tool_needs_no_tool_in_the_sentence(tmp_path: Path) -> None:
    usual = {("search", "limit"): 0.02, ("search", "unit"): 0.02}
    publish_faults(tmp_path, usual, {**usual, ("search", "unit"): 0.3})
    gate = judge(tmp_path)
    assert [(part.dimension, part.value, part.tool) for part in gate.where] == [("parameter", "unit", "")]


@pytest.mark.thorough
def test_a_parameter_whose_faults_are_repaired_does_not_explain_parse_errors(tmp_path: Path) -> None:
    usual = {("search", "limit"): 0.02, ("search", "unit"): 0.02}
    worse = {("search", "limit"): 0.4, ("search", "unit"): 0.2}
    publish_faults(tmp_path, usual, worse, repaired="limit")
    assert [part.value for part in judge(tmp_path).where] == ["unit"]
    (mended,) = judge_gates(tmp_path, ["no-worse:mended=2%"], BASELINE, "8 days", {})
    assert "limit" in [part.value for part in mended.where]


@pytest.mark.thorough
def test_without_a_change_a_part_is_rarely_named(tmp_path: Path) -> None:
    usual = {
        ("search", "limit"): 0.05,
        ("search", "unit"): 0.05,
        ("edit", "path"): 0.05,
        ("run", "cmd"): 0.05,
    }
    named = 0
    for seed in range(10):
        store = tmp_path / str(seed)
        publish_faults(store, usual, usual, seed=seed, per_day=10)
        named += bool(judge(store).where)
    assert named <= 1, f"{named} of 10 stores without a change name a part"
