"""Tests audits, which compare probes with real tool calls, and calls written as text with native calls."""

from __future__ import annotations

from typing import Any

import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard.pages.models.strategy_audit import StrategyUse, audit_strategies
from callgauge.stats import Share
from tests.analysis.session_shares import fill_sessions, of_sessions, place_sessions


def used(
    strategy: str, k: int, n: int, name: str = "m", *, share: Share | None = None, **probes: Any
) -> StrategyUse:
    share = share or Share(k, n)
    return StrategyUse(Slice(RATES["parse_error"], name, "host", share, n), strategy, **probes)


YES: dict[str, Any] = {"probes": 3, "probes_ok": 3, "last_ok": True}
NO: dict[str, Any] = {"probes": 3, "probes_ok": 0, "last_ok": False}


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (used("tool_use", 30, 100, **YES), "The probe passed, but parse errors are surely 5% or more."),
        (used("tool_use", 30, 100), "Never probed, and parse errors are surely 5% or more."),
        (
            used("tool_use", 6, 100, **YES),
            "The probe passed, but parse errors may be 5% or more: 2.8–12.5%.",
        ),
        (used("tool_use", 1, 5, **YES), "Too few sessions to judge it."),
        (used("tool_use", 1, 100, **YES), "No problem."),
        (used("tool_use", 0, 0, **YES), "Not measured."),
        (used("tool_use", 0, 100, **NO), "Called natively, although the last probe failed."),
        (used("json_fallback", 50, 100, **YES), "The last probe passed: it may no longer need text calls."),
        (used("json_fallback", 50, 100, **NO), "The last probe failed: it needs text calls."),
        (used("json_fallback", 50, 100), "No evidence: no probe, and no native call of it."),
        (used("none", 0, 0, **YES), "Not measured."),
    ],
)
def test_a_model_in_one_strategy(use: StrategyUse, words: str) -> None:
    (finding,) = audit_strategies([use], 0.05)
    assert words in finding.text


@pytest.mark.parametrize(
    ("native", "words"),
    [
        (used("tool_use", 1, 200), "it may no longer need text."),
        (used("tool_use", 199, 200), "text calls suit it."),
        (used("tool_use", 1, 3), "not enough data."),
        (used("tool_use", 0, 200, name="another"), "No evidence"),
    ],
)
def test_native_calls_of_the_same_model_are_evidence(native: StrategyUse, words: str) -> None:
    findings = audit_strategies([used("json_fallback", 100, 200), native], 0.05)
    assert any(words in finding.text for finding in findings)


@pytest.mark.parametrize(
    ("sessions", "words"),
    [(40, "it may no longer need text."), (9, "not enough data."), (12, "no longer need")],
)
def test_native_calls_in_fewer_than_ten_sessions_decide_nothing(sessions: int, words: str) -> None:
    native = of_sessions(fill_sessions(2, 400, sessions), range(sessions))
    text = of_sessions(fill_sessions(200, 400, 50), place_sessions(50))
    several = [
        used("json_fallback", 200, 400, share=text),
        used("tool_use", 2, 400, share=native),
    ]
    findings = audit_strategies(several, 0.05)
    assert any(words in finding.text for finding in findings), [finding.text for finding in findings]


def test_of_too_few_sessions_nothing_stands_out() -> None:
    few = of_sessions(fill_sessions(60, 300, 9), range(9))
    (finding,) = audit_strategies([used("tool_use", 60, 300, share=few)], 0.05)
    assert (finding.text, finding.tone) == ("Too few sessions to judge it.", None)


def test_what_stands_out_comes_first() -> None:
    fine = used("tool_use", 0, 100, name="fine")
    findings = audit_strategies(
        [fine, used("json_fallback", 1, 9, **YES), used("tool_use", 90, 100, name="bad")], 0.05
    )
    assert [finding.tone for finding in findings] == ["bad", "warn", None]
