"""Tests that the list of verdicts in the documentation is complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from callgauge.analysis.comparisons.versions import judge_pairs
from callgauge.analysis.measures.attention import find_attention
from callgauge.analysis.measures.breakdown import Breakdown
from callgauge.analysis.measures.comparisons import rank_table
from callgauge.analysis.measures.rates import LISTED, RATES
from callgauge.analysis.metrics.published_store import StoreReader, read_store
from callgauge.analysis.verdicts.alerts import describe_item, describe_quiet
from callgauge.analysis.verdicts.headlines import ArmNames, write_advice, write_headline
from callgauge.analysis.verdicts.rankings import RankingContext, write_ranking
from callgauge.report.store_gate import judge_gates
from ingest.pipeline.load import load
from tests.analysis.session_shares import of_slice

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "verdicts.md"
SMALLEST = 0.02


@cache
def listed() -> re.Pattern[str]:
    """Return a regular expression that matches one or more of the listed sentences in any order."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    patterns = [
        example
        for line in lines
        if line.startswith("| `")
        for example in re.findall(r"`([^`]+)`", line.split(" | ")[0])
    ]
    pattern_text = "|".join(write_expression(pattern) for pattern in patterns)
    return re.compile(rf"(?:{pattern_text})(?: (?:{pattern_text}))*", re.DOTALL)


def write_expression(pattern: str) -> str:
    """Return the regular expression for one entry of the list."""
    text = re.escape(re.sub(r"\{.+?\}", "…", pattern)).replace(r"\[", "(?:").replace(r"\]", ")?")
    text = re.sub(r"\\\((?=[^()]*\\ or\\ )", "(?:", text)
    text = re.sub(
        r"(\(\?:[^()]*\\ or\\ [^()]*?)\\\)", lambda match: match[1].replace(r"\ or\ ", "|") + ")", text
    )
    return text.replace("…", r"(?:(?!\. ).)+?")  # the gap "…" must not cross the end of a sentence


def test_a_pattern_is_read_as_the_list_says() -> None:
    expression = re.compile(write_expression("But {X} is (better or worse) by {rate}[ there]: {rates}."))
    assert expression.fullmatch("But a is worse by turn success there: 5% against 7%.")
    assert expression.fullmatch("But a is better by parse errors: 5% against 7%.")
    assert not expression.fullmatch("But a is alike by parse errors: 5% against 7%.")
    assert not listed().fullmatch("a cannot be told apart from b.")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreReader]:
    folder = tmp_path_factory.mktemp("listed") / "store"
    load([ROOT / "sample_data" / "logs"], folder)
    with read_store(folder, texts=True) as opened:
        yield opened


def test_rankings(reader: StoreReader, runs_all: bool) -> None:
    random = np.random.default_rng(41)
    for rate in ("parse_error", "turn_success", "refused"):
        for _ in range(60 if runs_all else 15):
            arms = int(random.integers(1, 9))
            several = [
                of_slice(f"m{n}", int(random.integers(0, 150)), int(random.choice([20, 150, 900])), rate=rate)
                for n in range(arms)
            ]
            others = [
                of_slice(each.name, int(random.integers(0, 900)), 900, rate="retried") for each in several
            ]
            context = RankingContext(
                [rank_table(others, others[0])], concentrated={"m0": "one session has it"}
            )
            sentence = write_ranking(rank_table(several, several[0]), {}, "model", context)
            assert listed().fullmatch(sentence), sentence


@pytest.mark.thorough
def test_comparisons_and_advice(reader: StoreReader, runs_all: bool) -> None:
    choices, count = reader.ask("choices"), 5 if runs_all else 3
    models = choices[choices.dimension == "model"].value.tolist()[:count]
    prompts = choices[choices.dimension == "prompt"].value.tolist()[:count]
    matched = 0
    for dimension, values in (("model", models), ("prompt", prompts)):
        pairs = [(value, against) for value in values for against in values if value != against]
        for rate in LISTED:
            for breakdown in judge_pairs(reader.ask, RATES[rate], dimension, pairs, {}):
                matched += check_breakdown(breakdown) if breakdown else 0
    assert matched > (100 if runs_all else 30)


def check_breakdown(breakdown: Breakdown) -> int:
    for write in (write_headline, write_advice):
        sentence = write(breakdown, ArmNames("B", "A"), lambda _, value: value, SMALLEST)
        assert listed().fullmatch(sentence), sentence
    return 1


def test_alerts_and_quiet_nights(reader: StoreReader) -> None:
    attention = find_attention(reader.ask, {})
    assert attention is not None
    for item in (*attention.needing, *attention.improved):
        words = describe_item(item, attention.newest, lambda _, value: value)
        assert listed().fullmatch(f"{words.subject} {words.rest}"), words
    for opened in (0, 1):
        assert listed().fullmatch(describe_quiet(attention, opened=opened))


def test_the_gate_and_what_follows_it(reader: StoreReader) -> None:
    folder = reader.path.parent
    for gate in ("no-worse=2%", "no-worse:retried=5%", "no-worse:turn_success=1%"):
        (verdict,) = judge_gates(folder, [gate], "7 days", "7 days", {})
        assert not verdict.sentence or listed().fullmatch(verdict.sentence), verdict.sentence
