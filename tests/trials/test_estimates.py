"""Tests the estimate for a plan."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv

from callgauge.stats import Share
from callgauge.stats.paired import FEWEST_UNLIKE
from callgauge.stats.sample_size import (
    look_factor,
    tasks_needed_at,
    tasks_needed_for_amount,
    trial_worth,
)
from callgauge.trials.planning.estimates import History, RunEstimate, count_tokens, estimate_run
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from tests.trials.plan_files import PLAN, TASK, write_plan

RUNS = 2_000
ONE_ARM = PLAN.replace('reference = "old"\n', "").replace(
    'definitions = ["old", "new"]', 'definitions = ["old"]'
)


def estimate(folder: Path, text: str = PLAN, tasks: int = 3, history: History | None = None) -> RunEstimate:
    lines = [{**TASK, "id": str(number)} for number in range(tasks)]
    plan, read = read_plan_and_tasks(write_plan(folder, text=text, tasks=lines))
    return estimate_run(plan, read, {"qwen": history} if history else None)


def test_trials_requests_and_the_probe_are_counted(tmp_path: Path) -> None:
    run_estimate = estimate(tmp_path)
    assert (run_estimate.tasks, run_estimate.repeats, run_estimate.trials) == (3, 2, 12)
    assert (run_estimate.requests, [arm.most_requests for arm in run_estimate.arms]) == (24, [48, 48])
    # the plan does not say whether one of the models supports tools, so the run probes this model
    assert run_estimate.probes == 6
    declared = PLAN.replace("supports_parallel_tools = false", "supports_tool_use = true")
    assert estimate(tmp_path, declared).probes == 0


def test_tokens_and_cost_are_the_sums_of_what_is_read_and_written(tmp_path: Path) -> None:
    old, new = estimate(tmp_path).arms
    assert old.written == 3 * 2 * 2 * 100
    # Each later request repeats the previous reply and result.
    grown = 3 * 2 * (100 + count_tokens("two pumps"))
    first = (old.read - grown) / 12
    assert first == int(first)
    assert old.cost == pytest.approx((old.read * 0.10 + old.written * 0.40) / 1e6)
    assert new.read > old.read
    assert old.most_tokens == pytest.approx(
        6 * 8 * 1024 + 6 * (8 * first + (1024 + count_tokens("two pumps")) * 8 * 7 / 2)
    )


def test_a_history_replaces_what_is_guessed(tmp_path: Path) -> None:
    run_estimate = estimate(tmp_path, history=History(50, 3.5, written=40.0))
    assert (run_estimate.requests, run_estimate.arms[0].written) == (42, 840)
    # max_steps limits the number of requests
    assert estimate(tmp_path, history=History(50, 30.0)).requests == 12 * 8


def test_a_reply_is_no_longer_than_it_may_be(tmp_path: Path) -> None:
    assert estimate(tmp_path, PLAN.replace("max_tokens = 1024", "max_tokens = 10")).arms[0].written == 120


def test_without_a_price_or_a_limit_the_cost_is_unknown(tmp_path: Path) -> None:
    text = PLAN.replace("price = { input = 0.10, output = 0.40, cached = 0.02 }\n", "")
    text = text.replace("cost = 5.00\n", "").replace(', "cost"]', "]").replace(", max_tokens = 1024", "")
    run_estimate = estimate(tmp_path, text)
    assert (run_estimate.cost, run_estimate.most_cost, run_estimate.arms[0].most_tokens) == (None, None, None)


def test_the_catalogue_counts_each_tool(tmp_path: Path) -> None:
    old, new = estimate(tmp_path).catalogs
    assert (list(old.tools), list(new.tools)) == (["search_orders"], ["search_orders", "get_weather"])
    assert new.tokens == old.tokens + new.tools["get_weather"]


def test_what_the_tasks_needed_rest_on_is_told(tmp_path: Path) -> None:
    needed = estimate(tmp_path).needed
    assert needed is not None
    assert (needed.tasks, needed.basis[:17]) == (None, "add expected_rate")
    planned = estimate(tmp_path, PLAN.replace("looks = 5", "looks = 1\nexpected_rate = 0.1"))
    assert planned.needed is not None
    assert planned.needed.tasks == ceil(tasks_needed_at(0.1, 0.05, repeats=2) or 0)
    assert planned.notes[0].startswith("the smallest difference needs about")
    share = Share(30, 300, 100)
    with_history = estimate(tmp_path, history=History(50, 2.0, calls=1.0, share=share, of="calls")).needed
    assert with_history is not None
    assert (with_history.rate, with_history.basis) == (0.1, "30 of 300 calls in 100 sessions of the store")
    assert with_history.tasks == ceil((planned.needed.tasks or 0) * look_factor(5))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            PLAN.replace("tokens = 2_000_000", "tokens = 100"),
            "tokens are above the budget of 100",
        ),
        (PLAN.replace("cost = 5.00", "cost = 0.0001"), "USD, above the budget of"),
        (ONE_ARM, "there is nothing to compare"),
        (
            ONE_ARM,
            "no variant uses new of [definitions]",
        ),
    ],
)
def test_what_to_look_at_first_is_told(tmp_path: Path, text: str, advice: str) -> None:
    assert any(advice in note for note in estimate(tmp_path, text).notes)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("middle", "difference", "correlation", "repeats", "comparisons"),
    [(0.15, 0.1, 0.0, 1, 1), (0.15, 0.1, 0.5, 1, 1), (0.3, 0.1, 0.3, 3, 1), (0.5, 0.2, 0.2, 1, 3)],
)
def test_so_many_tasks_show_the_difference_in_four_of_five_runs(
    middle: float, difference: float, correlation: float, repeats: int, comparisons: int
) -> None:
    needed = tasks_needed_at(middle, difference, comparisons, correlation=correlation, repeats=repeats)
    assert needed is not None
    draw = np.random.default_rng(7)
    rates = (middle - difference / 2, middle + difference / 2)
    # A task has the same difficulty for both variants. The difficulty is a beta variable, whose variance
    # gives the correlation.
    ease = draw.random((RUNS, needed))
    arms = []
    for rate in rates:
        scale = 1 / correlation - 1 if correlation else 0.0
        own = betaincinv(rate * scale, (1 - rate) * scale, ease) if correlation else rate
        arms.append((draw.random((repeats, RUNS, needed)) < own).mean(axis=0))
    moved = arms[1] - arms[0]
    z = moved.mean(axis=1) / (moved.std(axis=1, ddof=1) / np.sqrt(needed))
    quantile = {1: 1.95996, 3: 2.39398}[comparisons]
    assert (z > quantile).mean() == pytest.approx(0.8, abs=0.04)


def test_an_amount_needs_so_many_tasks() -> None:
    needed = tasks_needed_for_amount(300, 60, correlation=0.4, repeats=2)
    assert needed is not None
    draw = np.random.default_rng(7)
    task = draw.normal(0, 300 * np.sqrt(0.4), (RUNS, needed))
    arms = [
        (draw.normal(shift, 300 * np.sqrt(0.6), (2, RUNS, needed)) + task).mean(axis=0) for shift in (0, 60)
    ]
    moved = arms[1] - arms[0]
    z = moved.mean(axis=1) / (moved.std(axis=1, ddof=1) / np.sqrt(needed))
    assert (z > 1.95996).mean() == pytest.approx(0.8, abs=0.04)


def test_looks_cost_a_few_tasks_as_published() -> None:
    # Lan-DeMets spending of O'Brien-Fleming type, 80 % power. The factors are from the manual of gsDesign.
    assert look_factor(1) == pytest.approx(1.0, abs=1e-4)
    assert look_factor(5) == pytest.approx(1.025, abs=0.002)


def test_calls_of_one_trial_are_worth_less_the_more_alike_they_are() -> None:
    alike = np.zeros((2, 50))
    alike[:, :20] = 10.0
    alike[0, 10:20] = 0.0
    same = Share(100, 200, 20, alike)
    assert trial_worth(Share(20, 200, 20), 3.0) == pytest.approx(3.0)
    assert 1.0 <= trial_worth(same, 3.0) < 1.3
    assert trial_worth(same, 1.0) == 1.0


@pytest.mark.parametrize(
    ("rate", "difference", "worth"), [(0.003, 0.05, 7.0), (0.0, 0.1, 1.0), (0.1, 0.1, 3.0)]
)
def test_so_many_tasks_that_enough_of_them_differ(rate: float, difference: float, worth: float) -> None:
    needed = tasks_needed_at(rate, difference, worth=worth)
    assert needed is not None
    draw = np.random.default_rng(5)
    half = difference / 2
    ends = (max(half, rate) - half, max(half, rate) + half)
    first, other = (draw.binomial(int(worth), end, (RUNS, needed)) for end in ends)
    enough = ((first != other).sum(axis=1) >= FEWEST_UNLIKE).mean()
    assert enough > 0.77
