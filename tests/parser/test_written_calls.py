"""Tests seeded tool calls in replies."""

from __future__ import annotations

import pytest

from bench.parser.scoring import Verdict
from bench.written_calls import JudgedText, judge_texts
from bench.written_calls.texts import make_texts
from lenient import DIALECTS


@pytest.fixture(scope="module")
def all_judged() -> list[JudgedText]:
    return judge_texts(seed=7, rounds=1)


def test_every_dialect_has_texts() -> None:
    assert {text.dialect for text in make_texts(7, 1)} == set(DIALECTS)


@pytest.mark.parametrize("with_dialect", [True, False])
def test_texts_are_read_as_meant(all_judged: list[JudgedText], with_dialect: bool) -> None:
    judged = [judgement for judgement in all_judged if judgement.with_dialect is with_dialect]
    assert len(judged) > 250
    assert len(_of(judged, Verdict.RIGHT)) >= 0.98 * len(judged)
    assert len(_of(judged, Verdict.SILENT)) <= 0.01 * len(judged)


def test_a_missing_token_or_end_is_said(all_judged: list[JudgedText]) -> None:
    assert [judgement.written.id for judgement in all_judged if judgement.unsaid] == []


def test_every_finding_around_a_call_has_a_span(all_judged: list[JudgedText]) -> None:
    for judgement in all_judged:
        for call in judgement.found:
            for finding in call.diagnostics:
                assert finding.start is not None
                assert finding.end is not None
                assert 0 <= finding.start <= finding.end <= len(judgement.written.text)


def _of(judged: list[JudgedText], verdict: Verdict) -> list[JudgedText]:
    return [judgement for judgement in judged if judgement.verdict is verdict]
