"""Tests that the page Trials shows the same numbers as `callgauge trial report`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from callgauge.analysis.measures.trials import (
    MEASURES,
    RunResults,
    make_looks,
    make_runs,
    make_trials,
)
from callgauge.analysis.metrics import answer_metric
from callgauge.dashboard.pages.trials.words import write_answer
from callgauge.trials.planning.plan import Budget
from callgauge.trials.verdicts.report import Report, make_report
from callgauge.trials.verdicts.report_text import answer_lines
from callgauge.trials.verdicts.run_record import RunRecord, read_run
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.analysis.made_trials import MadeArm, MadeRun, join_tables, make_run
from tests.analysis.store_fixture import publish, small_tables
from tests.gateway.served.brain import Asked, Emitted
from tests.trials.made_plan import chance, city_of, go, make_plan, make_tasks, opened_by, weather_brain

OLD, NEW, SMALL = MadeArm("old", 0.35), MadeArm("new", 0.05), MadeArm("小模型", 0.8, cost=None, model="tiny")
GONE = MadeArm("gone", 0.3, no_reply=0.2)
RUNS: Mapping[str, Mapping[str, Any]] = {
    "two arms of which one is better": {"arms": (OLD, NEW), "tasks": 100},
    "three arms, one of another price": {"arms": (OLD, NEW, SMALL), "tasks": 60},
    "a run that goes on": {"arms": (OLD, NEW), "tasks": 100, "done": 33},
    "no look yet": {"arms": (OLD, NEW), "tasks": 100, "done": 7},
    "replies that are missing": {"arms": (OLD, GONE), "tasks": 60},
    "repeats": {"arms": (OLD, NEW), "tasks": 40, "repeats": 3},
    "a measure that is better when it is high": {"arms": (OLD, NEW), "primary_measure": "right"},
    "a measure in tokens": {"arms": (OLD, NEW), "primary_measure": "tokens", "smallest": 5.0},
    "groups of tasks": {
        "arms": (OLD, NEW),
        "groups": {f"task-{number:03}": f"group {number // 3}" for number in range(60)},
    },
    "alike": {"arms": (OLD, replace(OLD, name="same")), "smallest": 0.3, "tasks": 100},
    "another reference than the first arm": {"arms": (NEW, OLD), "reference": "old"},
    "one arm": {"arms": (OLD,), "tasks": 20},
}


def read(path: Path | None, run: str) -> tuple[RunResults, dict[str, Any]]:
    """Return the data that the page Trials shows: the trials, and the interim analyses of each variant."""
    with duckdb.connect(str(path), read_only=True) as connection:
        (planned,) = make_runs(answer_metric(connection, "trial_runs", {"run": run}))
        trials = make_trials(answer_metric(connection, "trial_results", {"run": run}))
        looks = make_looks(answer_metric(connection, "trial_looks", {"run": run}))
    return RunResults(planned, trials), looks


def report_of(made: MadeRun) -> Report:
    (row,) = made.tables["trial_runs"]
    lock = {**row, "run_plan": {}, "measure": {}}
    record = RunRecord(
        lock, made.design, tuple(row["task_order"]), row["repeats"], Budget(cost=5.0), tuple(made.outcomes),
        tuple(made.looks),
    )  # fmt: skip
    return make_report(record)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", RUNS)
def test_every_number_of_the_page_is_that_of_the_report(tmp_path: Path, name: str) -> None:
    made = make_run(**RUNS[name])
    results, looks = read(publish(tmp_path, join_tables(small_tables(), made.tables)), "orders.7f3a")
    hold_equal(results, looks, report_of(made))


CROSS = tuple(
    MadeArm(f"{model}-{definitions}", rate, model=model, definitions=definitions)
    for model, definitions, rate in (
        ("small", "loose", 0.5),
        ("small", "strict", 0.1),
        ("large", "loose", 0.45),
        ("large", "strict", 0.08),
    )
)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", [name for name in RUNS if name != "one arm"])
def test_page_terminal_and_report_answer_with_the_same_sentences(tmp_path: Path, name: str) -> None:
    made = make_run(**RUNS[name])
    results, looks = read(publish(tmp_path, join_tables(small_tables(), made.tables)), "orders.7f3a")
    assert write_answer(results.run, results, looks) == " ".join(answer_lines(report_of(made)))


def test_a_plan_over_two_models_is_answered_by_what_it_changes_in_each(tmp_path: Path) -> None:
    made = make_run(CROSS, question="Do strict definitions help?", tasks=100, looks=1)
    results, looks = read(publish(tmp_path, join_tables(small_tables(), made.tables)), "orders.7f3a")
    answer = write_answer(results.run, results, looks)
    assert answer == " ".join(answer_lines(report_of(made)))
    assert re.match(
        r"By definitions, strict is better than loose: invalid calls \d+\.\d% against \d+\.\d%, "
        r"−\d+\.\d points \(.*\), judged once at the end\. No sign that it depends on where: "
        r"better with model small \(−\d+\.\d points\); better with model large \(−\d+\.\d points\)\. ",
        answer,
    )


def hold_equal(results: RunResults, looks: dict[str, Any], report: Report) -> None:
    assert [arm.name for arm in report.arms if not arm.is_reference] == list(results.run.others)
    assert results.run.is_decided == (report.state == "over" and len(report.arms) > 1)
    for arm in report.arms:
        assert results.count_missing(arm.name) == (arm.missing, arm.trials)
        assert results.cost_of_success(arm.name).amount == pytest.approx(arm.per_right)
        for expected in arm.measures:
            measure = MEASURES[expected.measure]
            total = results.total(arm.name, measure)
            assert (total.k, total.n, total.tasks) == (expected.k, expected.n, expected.tasks)
            assert total.rate == pytest.approx(expected.rate)
            ends = (total.interval.low, total.interval.high) if total.interval else (None, None)
            assert ends == pytest.approx((expected.low, expected.high))
            if arm.is_reference:
                continue
            difference, word = results.compare(arm.name, measure, looks.get(arm.name, ()))
            assert (difference, word) == (expected.difference, expected.word)
            if expected.more is not None:
                assert results.tasks_to_go(arm.name) == expected.more
        if arm.bounds is not None:
            assert results.bound_missing(arm.name) == pytest.approx(arm.bounds)
    spent = results.run.spent
    assert spent is None or spent[0] == pytest.approx(report.budget_share)


def test_the_page_of_a_run_that_was_loaded_has_the_numbers_of_its_report(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("careful", "sloppy", "silent"))
    folder = tmp_path / "run.1"

    def brain(request: Asked) -> Emitted:
        is_silent = request.model == "silent" and chance(city_of(request)) < 0.2
        return Emitted(status=503) if is_silent else weather_brain({"sloppy": 0.7, "silent": 0.3})(request)

    go(plan, make_tasks(30), folder, opened=opened_by(brain, attempts=1))
    assert load([folder], tmp_path / "store").rejects == 0
    results, looks = read(published_generation(tmp_path / "store"), "run.1")
    report = make_report(read_run(folder))
    assert any(arm.missing for arm in report.arms)
    right = [measured for arm in report.arms for measured in arm.measures if measured.measure == "right"]
    assert all(measured.n for measured in right)
    hold_equal(results, looks, report)


def test_runs_are_told_apart_and_calls_of_no_run_count_in_none(tmp_path: Path) -> None:
    first, second = make_run((OLD, NEW)), make_run((NEW, OLD), run="other.1", tasks=30, seed=3)
    path = publish(tmp_path, join_tables(small_tables(), first.tables, second.tables))
    for made, run in ((first, "orders.7f3a"), (second, "other.1")):
        results, _ = read(path, run)
        assert len(results.trials) == len(made.outcomes)
        assert sum(trial.refused for trial in results.trials) == sum(each.refused for each in made.outcomes)


def test_the_course_ends_at_the_difference_of_all_tasks_and_has_at_most_so_many_points(
    tmp_path: Path,
) -> None:
    made = make_run((OLD, NEW), tasks=300, done=130)
    results, _ = read(publish(tmp_path, made.tables), "orders.7f3a")
    points = results.follow_course("new", most=50)
    pairs = results.pair("new", results.run.primary)
    assert len(points) <= 51
    assert points[-1].tasks == pairs.tasks == 130
    assert pairs.mean
    assert points[-1].estimate == pairs.mean.estimate
    assert all(point.low < point.estimate < point.high for point in points)


def test_a_run_with_trials_just_now_goes_on_and_an_old_one_has_not_ended(tmp_path: Path) -> None:
    made = make_run((OLD, NEW), done=20)
    results, _ = read(publish(tmp_path, made.tables), "orders.7f3a")
    last = results.run.last_at
    assert last
    assert results.run.state(last) == "going on"
    assert results.run.state(last.replace(hour=23)) == "not ended"
