"""Tests a trial run's gate. A variant is "not worse" or "worse" by a margin, or there is not enough data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.stats.gate_syntax import GateSyntaxError
from callgauge.stats.task_pairs import pair_tasks
from callgauge.trials.results.run_folder import TrialOutcome
from callgauge.trials.verdicts.gate import (
    ArmGate,
    GateResult,
    Margin,
    choose_exit_code,
    judge_gate,
    read_gate,
)
from callgauge.trials.verdicts.measures import MEASURES, count_tasks
from tests.trials.made_runs import MadeRun, refuse, write_folder


@pytest.mark.parametrize(
    ("text", "margin"),
    [
        ("no-worse=0.02", Margin(None, 0.02)),
        ("no-worse=2%", Margin(None, 0.02)),
        (" no-worse:right = .05 ", Margin("right", 0.05)),
        ("no-worse:tokens=120", Margin("tokens", 120.0)),
        ("no-worse:turn_ok=1e-2", Margin("turn_ok", 0.01)),
    ],
)
def test_a_gate_is_read(text: str, margin: Margin) -> None:
    assert read_gate(text) == margin


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no-worse=0.02"),
        ("no-worse", "no-worse=0.02"),
        ("better=0.02", "better=0.02"),
        ("no-worse:speed=0.02", "refused, mended, right, turn_ok, tokens, cost"),
        ("no-worse=two", "'two'"),
        ("no-worse=%", "'%'"),
        ("no-worse=0", "above 0"),
        ("no-worse=-0.1", "above 0"),
        ("no-worse=nan", "above 0"),
        ("no-worse=inf", "above 0"),
    ],
)
def test_a_gate_that_cannot_be_read_says_what_it_should_be(text: str, message: str) -> None:
    with pytest.raises(GateSyntaxError, match=message):
        read_gate(text)


def judge(made: MadeRun, margin: Margin, until: int | None = None) -> GateResult:
    outcomes, looks = made.run(until)
    return judge_gate(made.design(), outcomes, looks, margin)


@pytest.mark.parametrize(
    ("rates", "size", "verdict", "code"),
    [
        ({"old": 3, "new": 20}, 0.02, "not worse", 0),
        ({"old": 20, "new": 3}, 0.02, "worse", 5),
        ({"old": 8, "new": 8}, 0.1, "not worse", 0),
        ({"old": 8, "new": 8}, 0.02, "cannot be told", 6),
        # The variant is clearly worse, but by less than the margin.
        ({"old": 20, "new": 5}, 0.3, "not worse", 0),
    ],
)
def test_a_gate_holds_the_interval_of_the_looks_against_its_margin(
    rates: dict[str, int], size: float, verdict: str, code: int
) -> None:
    judgement = judge(MadeRun(refuse(rates), tasks=160, looks=5), Margin(None, size))
    assert (judgement.verdict, judgement.exit_code, judgement.is_passed) == (verdict, code, code == 0)
    (arm,) = judgement.arms
    assert (arm.more is not None) == (verdict == "cannot be told")
    assert arm.low is not None
    assert arm.high is not None
    if verdict == "not worse":
        assert arm.high < size
    if verdict == "worse":
        assert arm.low > 0


def test_for_a_measure_that_should_be_high_less_is_worse() -> None:
    made = MadeRun(refuse({"old": 20, "new": 3}), tasks=160, looks=5)
    assert judge(made, Margin("right", 0.02)).verdict == "worse"
    better = MadeRun(refuse({"old": 3, "new": 20}), tasks=160, looks=5)
    assert judge(better, Margin("right", 0.02)).verdict == "not worse"
    # In every task, both variants have the same cost.
    assert judge(better, Margin("cost", 0.0001)).verdict == "not worse"


def test_with_more_tasks_the_gate_can_tell_as_it_said() -> None:
    rates = {"old": 8, "new": 8}
    few = judge(MadeRun(refuse(rates), tasks=100, looks=1), Margin(None, 0.03))
    (arm,) = few.arms
    assert few.verdict == "cannot be told"
    assert arm.more is not None
    more = MadeRun(refuse(rates), tasks=100 + arm.more, looks=1)
    assert judge(more, Margin(None, 0.03)).verdict == "not worse"


def test_the_worst_arm_decides() -> None:
    made = MadeRun(
        refuse({"old": 8, "new": 20, "third": 2}),
        arms={"old": {}, "new": {"model": "b"}, "third": {"model": "c"}},
        tasks=160,
        looks=5,
    )
    judgement = judge(made, Margin(None, 0.02))
    assert {arm.arm: arm.verdict for arm in judgement.arms} == {"new": "not worse", "third": "worse"}
    assert judgement.exit_code == 5


def test_of_several_gates_the_worst_code_counts() -> None:
    passed, failed, open_ = (
        GateResult("refused", 0.02, (ArmGate("new", verdict),))
        for verdict in ("not worse", "worse", "cannot be told")
    )
    assert choose_exit_code([passed]) == 0
    assert choose_exit_code([passed, open_]) == 6
    assert choose_exit_code([open_, failed, passed]) == 5
    assert GateResult("refused", 0.02, ()).exit_code == 6


def test_passing_is_one_sided_and_takes_ten_tasks() -> None:
    made = MadeRun(refuse({"old": 8, "new": 8}), tasks=160, looks=1)
    outcomes, looks = made.run()
    (arm,) = judge_gate(made.design(), outcomes, looks, Margin(None, 0.02)).arms
    measure = MEASURES["refused"]
    mean = pair_tasks(count_tasks(outcomes, measure), measure, "new", "old", {}).mean
    assert mean is not None
    assert (arm.low, arm.high) == pytest.approx(mean.interval(norm.ppf(0.95)))
    few = MadeRun(refuse({"old": 0, "new": 0}), tasks=9, looks=1)
    enough = MadeRun(refuse({"old": 0, "new": 0}), tasks=10, looks=1)
    assert [judge(made_run, Margin(None, 0.9)).verdict for made_run in (few, enough)] == [
        "cannot be told",
        "not worse",
    ]


def test_before_the_end_more_tasks_are_needed_than_for_one_look() -> None:
    made = MadeRun(refuse({"old": 3, "new": 20}), tasks=160, looks=5)
    (arm,) = judge(made, Margin(None, 0.02), until=50).arms
    outcomes, _ = made.run(50)
    measure = MEASURES["refused"]
    mean = pair_tasks(count_tasks(outcomes, measure), measure, "new", "old", {}).mean
    assert mean is not None
    alone = 50 * ((norm.ppf(0.95) + norm.ppf(0.8)) * mean.error / (0.02 - mean.estimate)) ** 2
    assert arm.more == pytest.approx((alone * 160) ** 0.5 - 50, abs=2)


def test_too_many_trials_without_a_reply_cannot_be_told() -> None:
    rare = refuse({"old": 3, "new": 20})

    def outcome(arm: str, place: int, repeat: int) -> TrialOutcome:
        if arm == "new" and place % 10 == 0:
            return TrialOutcome(arm, f"t{place}", repeat, "no_reply")
        return rare(arm, place, repeat)

    judgement = judge(MadeRun(outcome, tasks=160, looks=5), Margin(None, 0.02))
    assert judgement.exit_code == 6
    assert judgement.arms[0].why is not None
    assert "no reply" in judgement.arms[0].why


def run_command(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["trial", "report", *map(str, arguments)])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(("rates", "code"), [((3, 20), 0), ((20, 3), 5), ((8, 8), 6)])
def test_the_command_ends_with_the_code_of_the_gate(
    tmp_path: Path, rates: tuple[int, int], code: int
) -> None:
    often = dict(zip(("old", "new"), rates, strict=True))
    root = MadeRun(refuse(often), tasks=160, looks=5).write(tmp_path / "run")
    exit_code, output, _ = run_command(root, "--gate", "no-worse=0.02")
    assert exit_code == code
    words = {0: "Not worse: ", 5: "Worse: ", 6: "Not enough data: "}
    assert f"\n{words[code]}invalid calls " in output
    assert ("would decide if the difference stays the same" in output) == (code == 6)
    assert run_command(root)[0] == 0


def test_the_command_tells_several_gates_as_json(tmp_path: Path) -> None:
    root = MadeRun(refuse({"old": 20, "new": 3}), tasks=160, looks=5).write(tmp_path / "run")
    gates = ("--gate", "no-worse:cost=0.001", "--gate", "no-worse=2%")
    exit_code, output, _ = run_command(root, "--json", *gates)
    data = json.loads(output)
    assert exit_code == 5
    assert [(gate["measure"], gate["verdict"], gate["exit_code"]) for gate in data["gates"]] == [
        ("cost", "not worse", 0),
        ("refused", "worse", 5),
    ]
    assert data["primary"] == "refused"


def test_a_gate_on_an_empty_run_cannot_be_told_and_a_wrong_gate_is_wrong_use(tmp_path: Path) -> None:
    made = MadeRun(refuse({"old": 3, "new": 20}))
    root = write_folder(tmp_path / "run", made.lock(), [], [])
    exit_code, output, _ = run_command(root, "--gate", "no-worse=0.02")
    assert exit_code == 6
    assert "Fewer than two tasks" in output
    exit_code, output, problem = run_command(root, "--gate", "no-worse:speed=1")
    assert (exit_code, output) == (2, "")
    assert "'speed'" in problem
