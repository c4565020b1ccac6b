"""Tests interim analyses against an independent calculation: which variants are decided, and error rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from scipy.stats import ttest_rel

from bench.statistics.trial_cells import (
    Truth,
    count_false_verdicts,
    count_wrong_alike,
    count_wrong_passes,
    cover_after_looks,
    cover_at_any_time,
    measure_power,
)
from callgauge.stats.task_pairs import ENDS, adjust_for_looks, bound_missing, pair_tasks, tasks_more
from callgauge.trials.planning.plan import MeasureName
from callgauge.trials.results.run_folder import ArmLook, Decision, TrialOutcome
from callgauge.trials.verdicts.looks import TrialDesign, look, plan_looks, planned_boundaries
from callgauge.trials.verdicts.measures import MEASURES, count_tasks
from tests.trials.made_runs import MadeRun, refuse

DRAWS = 150


def design(
    primary: MeasureName = "refused",
    tasks: int = 40,
    *,
    looks: int = 1,
    smallest: float = 0.05,
    arms: tuple[str, ...] = ("old", "new"),
    groups: dict[str, str] | None = None,
) -> TrialDesign:
    return TrialDesign(primary, smallest, "old", arms, tasks, plan_looks(tasks, looks), groups=groups or {})


def outcome(arm: str, task: int | str, **values: object) -> TrialOutcome:
    return replace(TrialOutcome(arm, f"t{task}", 0, "ok", calls=1), **values)  # type: ignore[arg-type]


def only(looks: tuple[ArmLook, ...]) -> ArmLook:
    (arm_look,) = looks
    return arm_look


def test_looks_are_even_and_the_last_is_at_the_end() -> None:
    assert plan_looks(160, 5) == (32, 64, 96, 128, 160)
    assert plan_looks(7, 3) == (3, 5, 7)
    assert plan_looks(3, 5) == (1, 2, 3)
    assert plan_looks(10, 1) == (10,)
    assert plan_looks(0, 5) == ()
    published = (4.877, 3.357, 2.680, 2.290, 2.031)
    assert planned_boundaries(design(tasks=160, looks=5)) == pytest.approx(published, abs=6e-4)
    assert planned_boundaries(design(tasks=0)) == ()


def test_a_difference_is_that_of_the_shares_of_calls_over_the_tasks_both_tried() -> None:
    """Counted by hand: in tasks 0 to 2, the variant old has 2 invalid calls of 11, and new has 4 of 5."""
    outcomes = [
        outcome("old", 0, calls=3, refused=1),
        outcome("old", 0, repeat=1, calls=1),
        outcome("new", 0),
        outcome("old", 1, calls=2, refused=1),
        outcome("new", 1, calls=4, refused=4),
        outcome("old", 2, calls=5, refused=0),
        outcome("new", 2, calls=0),
        outcome("old", 3, refused=1),
    ]
    pairs = pair_tasks(count_tasks(outcomes, MEASURES["refused"]), MEASURES["refused"], "new", "old", {})
    assert (pairs.tasks, pairs.unlike, pairs.missing) == (3, 2, 0)
    assert (pairs.of, pairs.against) == pytest.approx((4 / 5, 2 / 11))
    assert pairs.mean is not None
    assert pairs.mean.estimate == pytest.approx(4 / 5 - 2 / 11)


@pytest.mark.parametrize(
    ("primary", "better", "worse"),
    [
        ("refused", {"refused": 0}, {"refused": 1}),
        ("mended", {"mended": 0}, {"mended": 1}),
        ("right", {"right": True}, {"right": False}),
        ("turn_ok", {}, {"status": "max_steps"}),
        ("tokens", {"input_tokens": 90, "output_tokens": 5}, {"input_tokens": 100, "output_tokens": 9}),
        ("cost", {"cost": 0.01}, {"cost": 0.02}),
    ],
)
def test_each_measure_knows_which_way_is_better(
    primary: MeasureName, better: dict[str, object], worse: dict[str, object]
) -> None:
    def outcomes(arm: str, other: str) -> list[TrialOutcome]:
        unlike = [outcome(arm, place, **better) for place in range(20)]
        return [*unlike, *(outcome(other, place, **worse) for place in range(20))]

    planned = design(primary, 20, smallest=1e-6)
    assert only(look(planned, outcomes("new", "old"), 1)).decision == "better"
    assert only(look(planned, outcomes("old", "new"), 1)).decision == "worse"


def test_amounts_are_compared_by_the_paired_t_test() -> None:
    old = [100 + 7 * (place % 5) for place in range(30)]
    new = [95 + 11 * (place % 4) for place in range(30)]
    outcomes = [
        outcome(arm, place, input_tokens=tokens, output_tokens=1)
        for arm, amounts in (("old", old), ("new", new))
        for place, tokens in enumerate(amounts)
    ]
    pairs = pair_tasks(count_tasks(outcomes, MEASURES["tokens"]), MEASURES["tokens"], "new", "old", {})
    reference = ttest_rel(new, old)
    assert pairs.mean is not None
    assert pairs.mean.p == pytest.approx(reference.pvalue)
    assert pairs.mean.score == pytest.approx(reference.statistic)
    assert pairs.of == pytest.approx(sum(new) / 30 + 1)


def test_nothing_is_decided_by_fewer_than_ten_tasks_that_differ() -> None:
    def look_after(unlike: int) -> ArmLook:
        outcomes = [outcome("old", place, refused=int(place < unlike)) for place in range(200)]
        outcomes += [outcome("new", place) for place in range(200)]
        return only(look(design(tasks=200, smallest=0.001), outcomes, 1))

    few, enough = look_after(9), look_after(10)
    assert abs(few.statistic or 0) > (few.boundary or 9)
    assert (few.decision, enough.decision) == ("not decided", "better")


def test_tasks_of_one_group_count_as_what_they_are_worth() -> None:
    """All tasks of a group have the same outcome. So a hundred tasks in ten groups count as ten tasks."""
    outcomes = [outcome("old", place, refused=int(place < 60)) for place in range(100)]
    outcomes += [outcome("new", place, refused=int(place >= 80)) for place in range(100)]
    groups = {f"t{place}": f"g{place // 10}" for place in range(100)}
    alone, grouped = (
        only(look(design(tasks=100, groups=task_groups), outcomes, 1)) for task_groups in ({}, groups)
    )
    assert alone.estimate == grouped.estimate == pytest.approx(-0.4)
    assert alone.decision == "better"
    assert grouped.decision == "not decided"
    # If a group has the name of a task, the group is still not that task.
    swapped = {"t0": "t1"}
    assert only(look(design(tasks=100, groups=swapped), outcomes, 1)) == alone


def test_a_clear_difference_stops_early_and_the_estimate_takes_back_a_part_of_it() -> None:
    _, looks = MadeRun(refuse({"old": 3, "new": 20}), tasks=160, looks=5).run()
    last = looks[-1]
    assert [arm_look.decision for arm_look in looks] == ["go on", "go on", "better"]
    assert (last.look, last.tasks, last.planned) == (3, 96, 160)
    assert last.estimate == pytest.approx(4 / 192 - 32 / 192)
    assert (last.statistic or 0) <= -(last.boundary or 9)
    assert (last.high or 0) < 0
    adjusted = adjust_for_looks(last, looks[:-1], 0.05)
    assert adjusted is not None
    assert (last.estimate or 0) < adjusted.estimate < 0
    assert adjusted.low < adjusted.estimate < adjusted.high < 0


def test_equal_arms_end_as_alike_once_the_interval_lies_within_the_smallest_difference() -> None:
    _, looks = MadeRun(refuse({"old": 8, "new": 8}), tasks=160, looks=5).run()
    assert [arm_look.decision for arm_look in looks] == ["go on"] * 3 + ["alike"]
    _, narrow = MadeRun(refuse({"old": 8, "new": 8}), tasks=160, looks=5, smallest=0.01).run()
    assert narrow[-1].decision == "not decided"


def test_a_run_that_cannot_come_to_a_verdict_ends_early_as_not_decided() -> None:
    _, looks = MadeRun(refuse({"old": 2, "new": 2}), tasks=200, looks=5, smallest=0.001).run()
    assert looks[-1].decision == "not decided"
    assert looks[-1].look < 5
    # An early analysis may underestimate the difference. The run must not end early because of this.
    _, arm_looks = MadeRun(refuse({"old": 3, "new": 5}), tasks=400, looks=5, smallest=0.001).run()
    assert arm_looks[-1].decision == "better"


def test_boundaries_follow_the_tasks_that_were_reached_and_the_last_look_spends_the_rest() -> None:
    """Every fourth trial of `new` has no check result. So analyses come at 3/4 of the planned numbers of
    tasks.
    """

    def outcomes(until: int) -> list[TrialOutcome]:
        made = [outcome("old", place, right=place % 2 == 0) for place in range(until)]
        return made + [
            outcome("new", place, right=None if place % 4 == 0 else place % 4 == 1) for place in range(until)
        ]

    planned = design("right", tasks=200, looks=2)
    first = only(look(planned, outcomes(100), 1))
    last = only(look(planned, outcomes(200), 2, [first]))
    assert (first.tasks, last.tasks) == (75, 150)
    as_planned = planned_boundaries(planned)
    assert (first.boundary or 0) > as_planned[0] + 0.4
    # The earlier analyses spent less alpha, so the last analysis has more.
    assert (last.boundary or 9) < as_planned[1]
    assert (last.boundary or 0) > 1.96


def test_a_look_to_which_nothing_was_added_is_not_counted() -> None:
    outcomes = [outcome(arm, place, refused=place % 2) for arm in ("old", "new") for place in range(50)]
    planned = design(tasks=100, looks=4)
    first = only(look(planned, outcomes, 2))
    again = only(look(planned, outcomes, 3, [first]))
    assert (again.tasks, again.boundary) == (50, first.boundary)


def test_a_decided_arm_is_not_looked_at_again_and_leaves_its_share_to_the_others() -> None:
    made = MadeRun(
        refuse({"old": 3, "new": 20, "third": 6}),
        arms={"old": {}, "new": {"model": "b"}, "third": {"model": "c"}},
        tasks=160,
        looks=5,
    )
    _, looks = made.run()
    assert [arm_look.decision for arm_look in looks if arm_look.arm == "new"][-1] == "better"
    stopped = next(arm_look.look for arm_look in looks if arm_look.arm == "new" and arm_look.decision in ENDS)
    assert {arm_look.arm for arm_look in looks if arm_look.look > stopped} == {"third"}
    # Each variant is tested at half of alpha.
    assert looks[0].boundary == pytest.approx(
        planned_boundaries(replace(made.design(), alpha=0.025, arms=("old", "new")))[0]
    )


def test_holm_lets_the_last_look_use_what_decided_arms_leave() -> None:
    """The p-value of `third` is between alpha / 2 and alpha. So `third` is decided only if `new` is."""

    def outcomes(clear: int) -> list[TrialOutcome]:
        made = [outcome("old", place, refused=int(place < 60)) for place in range(200)]
        made += [outcome("new", place, refused=int(place < 60 - clear)) for place in range(200)]
        # The variant `third` wins 14 tasks and loses 5: z = 9 / √19 = 2.06, p = 0.039.
        third = [int(14 <= place < 65) for place in range(200)]
        return made + [outcome("third", place, refused=each) for place, each in enumerate(third)]

    planned = design(tasks=200, smallest=0.001, arms=("old", "new", "third"))
    decisions = {
        clear: {arm_look.arm: arm_look.decision for arm_look in look(planned, outcomes(clear), 1)}
        for clear in (40, 0)
    }
    assert decisions == {
        40: {"new": "better", "third": "better"},
        0: {"new": "not decided", "third": "not decided"},
    }


def test_above_five_percent_of_missing_trials_no_verdict_is_given() -> None:
    def outcomes(lost: int) -> list[TrialOutcome]:
        made = [outcome("old", place, refused=1) for place in range(100)]
        return made + [
            outcome("new", place, **({"status": "no_reply", "calls": 0} if place < lost else {}))
            for place in range(100)
        ]

    few, many = (only(look(design(tasks=100), outcomes(lost), 1)) for lost in (5, 6))
    assert (few.decision, few.missing, few.tasks) == ("better", 5, 95)
    assert (many.decision, many.missing, many.tasks) == ("withheld", 6, 94)
    bounds = bound_missing(count_tasks(outcomes(6), MEASURES["refused"]), "new", "old")
    assert bounds == pytest.approx((-1.0, -0.94))


@pytest.mark.parametrize(("before", "after"), [("better", "better"), ("not decided", "not decided")])
def test_what_an_earlier_look_decided_counts_at_the_last(before: Decision, after: Decision) -> None:
    made = [outcome("old", place, refused=int(place < 60)) for place in range(200)]
    made += [outcome("third", place, refused=int(14 <= place < 65)) for place in range(200)]
    planned = design(tasks=200, looks=2, smallest=0.001, arms=("old", "new", "third"))
    first = ArmLook(1, "new", 100, 200, -0.3, -0.4, -0.2, -6.0, 3.2, before)
    # In its first analysis, the third variant had no data.
    nothing = ArmLook(1, "third", 0, 200, None, None, None, None, None, "go on")
    last = only(look(planned, made, 2, [first, nothing]))
    assert (last.arm, last.decision) == ("third", after)
    assert last.boundary == pytest.approx(2.241, abs=1e-3)


def test_an_arm_without_a_verdict_leaves_nothing_to_the_others() -> None:
    """The data are those of the previous test. But the variant with a clear difference lost a tenth of its
    trials.
    """
    made = [outcome("old", place, refused=int(place < 60)) for place in range(200)]
    made += [outcome("third", place, refused=int(14 <= place < 65)) for place in range(200)]
    lost = [outcome("new", place, status="no_reply", calls=0) for place in range(180, 200)]
    made += [*(outcome("new", place) for place in range(180)), *lost]
    planned = design(tasks=200, smallest=0.001, arms=("old", "new", "third"))
    decisions = {arm_look.arm: arm_look.decision for arm_look in look(planned, made, 1)}
    assert decisions == {"new": "withheld", "third": "not decided"}


def test_the_bounds_of_missing_trials_hold_every_way_they_could_have_been() -> None:
    made = [outcome("old", place, refused=int(place < 3)) for place in range(9)]
    made += [outcome("new", place, refused=int(place > 6)) for place in range(9)]
    true = pair_tasks(count_tasks(made, MEASURES["refused"]), MEASURES["refused"], "new", "old", {})
    assert true.mean is not None
    for lost in ((0,), (8, 10), (2, 5, 17)):
        outcomes = [replace(outcome, status="no_reply", calls=0, refused=0) if place in lost else outcome
                for place, outcome in enumerate(made)]  # fmt: skip
        low, high = bound_missing(count_tasks(outcomes, MEASURES["refused"]), "new", "old") or (9, 9)
        assert low <= true.mean.estimate <= high
        assert high - low == pytest.approx(len(lost) / 9)
    assert bound_missing({}, "new", "old") is None


@pytest.mark.parametrize("outcomes", [[], [outcome("old", 0)], [outcome("old", 0), outcome("new", 0)]])
def test_a_look_at_nothing_decides_nothing(outcomes: list[TrialOutcome]) -> None:
    first = only(look(design(looks=2), outcomes, 1))
    last = only(look(design(looks=2), outcomes, 2, [first]))
    assert (first.decision, last.decision) == ("go on", "not decided")
    assert first.estimate is None
    assert adjust_for_looks(last, [first], 0.05) is None


@pytest.mark.thorough
def test_the_tasks_that_would_decide_do_decide_in_four_of_five_runs() -> None:
    planned = design(tasks=60, smallest=0.05)
    outcomes = [outcome("old", place, refused=int(place % 5 == 0)) for place in range(60)]
    outcomes += [outcome("new", place, refused=int(place % 10 == 1)) for place in range(60)]
    pairs = pair_tasks(count_tasks(outcomes, MEASURES["refused"]), MEASURES["refused"], "new", "old", {})
    more = tasks_more(planned, pairs)
    assert more is not None
    # By hand: of 60 tasks, 12 got worse and 6 better. The variance of a pair is 0.3 - 0.1².
    assert more + 60 == pytest.approx((1.96 + 0.8416) ** 2 * (0.3 - 0.01) / 0.1**2, abs=1)
    assert tasks_more(planned, structs.replace(pairs, mean=None)) is None


# --- simulated, shortly: `./dev bench statistics --only trials` has the same cells with more draws -----


@pytest.mark.thorough
@pytest.mark.parametrize(
    "truth",
    [
        Truth((0.1, 0.1), tasks=100),
        Truth((0.3, 0.3, 0.3), tasks=100, repeats=2),
        Truth((0.3, 0.3), tasks=100, grouped=5),
        Truth((0.2, 0.2), tasks=100, look_at=(7, 44, 51, 100), lost=0.02),
    ],
    ids=Truth.describe,
)
def test_equal_arms_are_seldom_called_unlike(truth: Truth) -> None:
    (false, _) = count_false_verdicts(np.random.default_rng(11), DRAWS, [truth])
    assert not false.leaves_band, f"{false.setting}: {false.share:.3f}"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "simulate", [cover_after_looks, count_wrong_alike, count_wrong_passes, cover_at_any_time]
)
def test_intervals_hold_the_truth_and_the_gate_lets_few_through(simulate: object) -> None:
    cells = list(simulate(np.random.default_rng(12), 40))  # type: ignore[operator]
    assert not [f"{cell.topic}, {cell.setting}: {cell.share:.3f}" for cell in cells if cell.leaves_band]


@pytest.mark.thorough
def test_looks_cost_little_power_and_save_tasks() -> None:
    cells = list(measure_power(np.random.default_rng(13), DRAWS, [Truth((0.1, 0.25), tasks=160)]))
    assert not [f"{cell.topic}: {cell.share:.3f}" for cell in cells if cell.leaves_band]
    shares = {cell.topic: cell.share for cell in cells}
    assert shares["real differences found with five interim analyses"] > 0.9
    assert shares["tasks needed of those planned, different variants"] < 0.8
