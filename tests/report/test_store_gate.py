"""Tests the gate of a store."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from typer.testing import CliRunner

from bench.statistics.cells import Cell
from bench.statistics.gate_cells import MARGIN, MOST_WRONG, NAMED, Spans, judge_spans
from callgauge.analysis.arm_filters import Arm
from callgauge.analysis.metrics.published_store import read_store
from callgauge.cli.main import app
from callgauge.dashboard.page_files import page_file
from callgauge.documents.gate_text import write_sentence
from callgauge.memory.baselines import Baseline, save_baseline
from callgauge.memory.memory_file import MemoryFile
from callgauge.report.store_gate import (
    StoreGate,
    choose_gate_arms,
    explain_gate,
    judge_gates,
    judge_store_gate,
    read_labels,
    read_rate_margin,
)
from callgauge.stats.gate_syntax import GateSyntaxError
from tests.analysis.store_fixture import publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls
from tests.report.conftest import LAST

BEFORE = "2026-10-20 to 2026-11-09"
QUIET = "2026-11-10 to 2026-11-16"


def judge(
    store: Path, gate: str, days: str = QUIET, baseline: str = BEFORE, **chosen: list[str]
) -> StoreGate:
    (gate_result,) = judge_gates(store, [gate], baseline, days, chosen)
    return gate_result


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("gate", "days", "verdict", "code"),
    [
        ("no-worse=0.03", QUIET, "not worse", 0),
        ("no-worse=3%", "2026-11-19 to 2026-11-20", "worse", 5),
        ("no-worse=0.001", QUIET, "cannot be told", 6),
        ("no-worse:mended=1%", QUIET, "not worse", 0),
        ("no-worse:derived_ok=1%", QUIET, "cannot be told", 6),
        ("no-worse:turn_success=1%", QUIET, "cannot be told", 6),
    ],
)
def test_a_verdict_has_its_exit_code(published: Path, gate: str, days: str, verdict: str, code: int) -> None:
    gate_result = judge(published, gate, days)
    assert (gate_result.verdict, gate_result.exit_code) == (verdict, code)
    words = "Not enough data" if verdict == "cannot be told" else verdict.capitalize()
    assert write_sentence(explain_gate(gate_result)).startswith(words)


def test_its_numbers_are_those_of_the_page_that_it_links(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLGAUGE_STORE", str(store))
    gate_result = judge(store, "no-worse=0.03", model=["kestrel-14b"])
    path, _, query = gate_result.link.partition("?")
    assert path == "/compare"
    words = page_text(opened(page_file("compare"), **dict(parse_qsl(query))))
    plain = re.sub(r"\\(.)", r"\1", words)
    reach = re.search(r"Difference \S+ points \(\S+ to \S+", write_sentence(explain_gate(gate_result)))
    assert reach is not None
    assert reach[0].rstrip(");,.") in plain.replace("difference", "Difference")
    for side in (gate_result.slice, gate_result.baseline):
        assert f"{side.k:,} / {side.n:,}" in plain


def test_other_days_widen_the_interval_by_how_much_days_differ(published: Path) -> None:
    gate_result = judge(published, "no-worse=0.03")
    assert gate_result.difference is not None
    assert gate_result.decided_by is not None
    assert gate_result.decided_by.low <= gate_result.difference.low
    assert gate_result.decided_by.high >= gate_result.difference.high
    assert gate_result.decided_by.estimate == gate_result.difference.estimate


def test_of_the_same_days_the_interval_is_the_pages(published: Path) -> None:
    with read_store(published, texts=True) as reader:
        arms = (
            Arm("A", {"model": ("falcon-3",)}, (date(2026, 11, 1), LAST)),
            Arm("B", {"model": ("heron-large",)}, (date(2026, 11, 1), LAST)),
        )
        gate_result = judge_store_gate(
            reader.ask, arms, read_labels(reader.ask), read_rate_margin("no-worse=0.05")
        )
    assert gate_result.decided_by == gate_result.difference
    assert gate_result.verdict == "not worse"


def test_too_few_days_on_both_sides_tell_nothing(published: Path) -> None:
    gate_result = judge(published, "no-worse=0.05", "2026-11-19 to 2026-11-20", "2026-11-06 to 2026-11-09")
    assert gate_result.verdict == "cannot be told"
    assert "ran on different days, and neither on 5 of them" in gate_result.details
    assert gate_result.sentence == write_sentence(explain_gate(gate_result))
    assert gate_result.sentence == f"Not enough data about parse errors. {gate_result.details}"


def test_days_that_both_sides_have_are_wrong_use(published: Path) -> None:
    words = ["--gate", "no-worse=5%", "--days", QUIET, "--baseline", "2026-11-01 to 2026-11-12"]
    refused = CliRunner().invoke(app, ["gate", "--store", str(published), *words])
    assert refused.exit_code == 2
    assert (
        "the baseline '2026-11-01 to 2026-11-12' (2026-11-01 to 2026-11-12) and the tested days (2026-11-10 "
        "to 2026-11-16) share the days 2026-11-10 to 2026-11-12; use other days"
    ) in " ".join(refused.stderr.split())


@pytest.mark.thorough
def test_a_kept_baseline_is_found_by_its_name(store: Path) -> None:
    save_baseline(MemoryFile(store), "before the switch", (date(2026, 10, 20), date(2026, 11, 9)))
    by_name, by_days = (
        judge(store, "no-worse=0.03", baseline=baseline) for baseline in ("before the switch", BEFORE)
    )
    assert by_name == by_days


def make_baseline(**pinned: tuple[str, ...]) -> Baseline:
    when = (date(2026, 11, 1), date(2026, 11, 7))
    return Baseline("v12", *when, "", datetime(2026, 11, 8, tzinfo=UTC), pinned)


LABELS = {
    "model": {"falcon": "falcon", "heron": "heron"},
    "prompt": {"p1": "fixer@12", "p2": "fixer@13"},
    "provider": {"east-1": "east-1", "a,b": "a,b"},
}


def arms_of(baseline: str = "v12", days: str = "7 days", **chosen: list[str]) -> tuple[Arm, Arm]:
    return choose_gate_arms(LAST, LABELS, [make_baseline(prompt=("p1",))], baseline, days, chosen)


def test_a_pinned_baseline_keeps_its_slice_and_what_is_judged_has_its_own() -> None:
    a, b = arms_of(model=["heron"], prompt=["fixer@13"])
    assert a.own == {"model": ("heron",), "prompt": ("p1",)}
    assert b.own == {"model": ("heron",), "prompt": ("p2",)}
    assert a.days == (date(2026, 11, 1), date(2026, 11, 7))
    assert b.days == (date(2026, 11, 14), LAST)


def test_without_a_slice_of_its_own_what_is_judged_has_that_of_the_baseline() -> None:
    a, b = arms_of()
    assert a.own == b.own == {"prompt": ("p1",)}


def test_so_many_days_are_those_before_the_judged_ones() -> None:
    a, b = arms_of("28 days", "3 days")
    assert a.days == (date(2026, 10, 21), date(2026, 11, 17))
    assert b.days == (date(2026, 11, 18), LAST)


def test_a_host_narrows_both_sides_and_the_baseline_may_have_another() -> None:
    a, b = arms_of("7 days", provider=["a,b"])
    assert a.own == b.own == {"provider": ("a,b",)}
    own, other = {"model": ["heron"], "provider": ["a,b"]}, {"provider": ["east-1"]}
    a, b = choose_gate_arms(LAST, LABELS, [], "same days", "7 days", own, other)
    assert (a.own["provider"], b.own["provider"]) == (("east-1",), ("a,b",))
    assert a.own["model"] == b.own["model"] == ("heron",)
    assert a.days == b.days == (date(2026, 11, 14), LAST)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"provider": ["east-2"]}, "the store has no host 'east-2'; did you mean 'east-1'"),
        ({"baseline": "v13"}, "saved baselines are v12"),
        ({"baseline": "last week"}, r"'last week' \(2026-11-13 to 2026-11-19\) and the tested days"),
        ({"baseline": "same days"}, "the same calls of 2026-11-14 to 2026-11-20; for two hosts"),
        ({"baseline": "same days", "provider": ["east-1"]}, "name different hosts with --provider and"),
        ({"baseline": "all"}, "write 7 days, or a first and a last day"),
        ({"days": "sometime"}, "is not a range of days"),
        ({"model": ["herron"]}, "did you mean 'heron'"),
        ({"tool": ["x"]}, "there are none"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_to_write(words: dict[str, str], message: str) -> None:
    with pytest.raises(GateSyntaxError, match=message):
        arms_of(**words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("better=0.02", "use no-worse=0.02 or no-worse:retried=0.02"),
        ("no-worse:nonsense=0.02", "use one of parse_error"),
        ("no-worse:refused=0.02", "unknown rate 'refused'"),
        ("no-worse=2", "is a share such as 0.02"),
        ("no-worse=0", "above 0"),
    ],
)
def test_a_gate_that_cannot_be_read_says_how_one_is_written(text: str, message: str) -> None:
    with pytest.raises(GateSyntaxError, match=message):
        read_rate_margin(text)


@pytest.mark.thorough
def test_the_command_prints_the_sentence_and_exits_with_the_worst_code(published: Path) -> None:
    words = [
        "gate",
        "--store",
        str(published),
        "--baseline",
        BEFORE,
        "--days",
        QUIET,
        "--gate",
        "no-worse=3%",
    ]
    passed = CliRunner().invoke(app, words)
    assert passed.exit_code == 0, passed.output
    assert passed.stdout.startswith("Not worse: parse errors ")
    both = CliRunner().invoke(app, [*words, "--gate", "no-worse=0.001", "--json"])
    assert both.exit_code == 6
    verdicts = json.loads(both.stdout)
    assert [verdict["verdict"] for verdict in verdicts] == ["not worse", "cannot be told"]
    assert verdicts[0]["slice"]["k"] / verdicts[0]["slice"]["n"] < 0.05


HOSTS_COMPARED = [
    *("--baseline", "same days", "--provider", "west-2", "--baseline-provider", "east-1"),
    *("--gate", "no-worse=2%"),
]


@pytest.mark.parametrize(("margin", "says_rule"), [("2%", False), ("40%", True)])
def test_a_failure_below_the_margin_says_the_rule(tmp_path: Path, margin: str, says_rule: bool) -> None:
    publish(tmp_path, {"tool_calls": [*calls(98, 2, provider="east-1"), *calls(60, 40, provider="west-2")]})
    only = {"provider": ["west-2"]}, {"provider": ["east-1"]}
    (result,) = judge_gates(tmp_path, [f"no-worse={margin}"], "same days", "7 days", *only)
    rule = "The tested side is certainly worse, and a difference of 40 points or more is possible."
    assert (result.verdict, rule in result.why) == ("worse", says_rule)


@pytest.mark.thorough
def test_the_command_compares_two_hosts_on_the_same_days(tmp_path: Path) -> None:
    store = tmp_path / "store"
    publish(store, {"tool_calls": [*calls(98, 2, provider="east-1"), *calls(60, 40, provider="west-2")]})
    result = CliRunner().invoke(app, ["gate", "--store", str(store), *HOSTS_COMPARED])
    assert result.exit_code == 5, result.output
    assert result.stdout.startswith("Worse: parse errors 40.0% (west-2, ")
    assert ", 40 / 100) against 2.0% (east-1, " in result.stdout
    assert "a_provider=east-1" in result.stdout
    other_way = {"west-2": "east-1", "east-1": "west-2"}
    turned = [other_way.get(word, word) for word in HOSTS_COMPARED]
    assert CliRunner().invoke(app, ["gate", "--store", str(store), *turned]).exit_code == 0


@pytest.mark.parametrize(
    "words", [["--baseline", "nope", "--gate", "no-worse=1%"], ["--baseline", "7 days", "--gate", "x"]]
)
def test_the_command_refuses_what_it_cannot_read(published: Path, words: list[str]) -> None:
    refused = CliRunner().invoke(app, ["gate", "--store", str(published), *words])
    assert refused.exit_code == 2
    assert "callgauge: " in refused.stderr


def test_a_store_that_holds_nothing_is_no_verdict(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["gate", "--store", str(tmp_path), "--baseline", "7 days", "--gate", "no-worse=1%"]
    )
    assert result.exit_code == 1
    assert "callgauge ingest" in result.stderr


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("spans", [NAMED[2], NAMED[6]], ids=lambda spans: spans.setting)
def test_wrong_passes_and_wrong_failures_are_few(spans: Spans) -> None:
    random = np.random.default_rng(31)
    for worse_by, wrong in ((MARGIN, "not worse"), (0.0, "worse")):
        said_so = sum(judge_spans(spans, worse_by, random) == wrong for _ in range(60))
        cell = Cell(f"gates: {wrong}", "drawn", said_so, 60, most=MOST_WRONG)
        assert not cell.leaves_band, cell
