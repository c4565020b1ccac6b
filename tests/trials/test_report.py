"""Tests the report of a trial run. An independent count checks the numbers."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from callgauge.cli.render.trials import trial_report_lines
from callgauge.trials.results.run_folder import FolderError, RunFolder, TrialOutcome
from callgauge.trials.verdicts.measures import MEASURES
from callgauge.trials.verdicts.report import Report, make_report
from callgauge.trials.verdicts.report_text import (
    answer_lines,
    escape_markdown,
    format_difference,
    format_value,
    markdown_report,
    report_run,
    table_rows,
    unplanned_note,
    write_report,
)
from callgauge.trials.verdicts.run_record import read_run
from tests.trials.made_runs import MadeRun, Outcome, refuse, write_folder
from tests.trials.test_gate import run_command

CROSS: dict[str, dict[str, Any]] = {
    "a-old": {"model": "a", "definitions": "old"},
    "a-new": {"model": "a", "definitions": "new"},
    "b-old": {"model": "b", "definitions": "old"},
    "b-new": {"model": "b", "definitions": "new"},
}


def report(made: MadeRun, root: Path, until: int | None = None) -> Report:
    return make_report(read_run(made.write(root / "run", until)))


def clear(**values: Any) -> MadeRun:
    return MadeRun(refuse({"old": 3, "new": 20}), tasks=160, looks=5, **values)


def lose(outcome: Outcome, arm: str, every: int) -> Outcome:
    """Return an outcome function. In every n-th task, the trials of a variant have no reply."""

    def lost(trial_arm: str, place: int, repeat: int) -> TrialOutcome:
        if trial_arm == arm and place % every == 0:
            return TrialOutcome(trial_arm, f"t{place}", repeat, "no_reply")
        return outcome(trial_arm, place, repeat)

    return lost


def test_the_answer_is_a_sentence_with_the_numbers_the_stop_and_the_budget(tmp_path: Path) -> None:
    trial_report = report(clear(budget={"cost": 0.6, "tokens": 100_000}), tmp_path)
    assert answer_lines(trial_report) == [
        "new is better than old: invalid calls 2.1% against 16.7%, −13.8 points (−21.2 to −5.9).",
        "It stopped at interim analysis 3 of 5, after 96 of 160 tasks, 32% of the budget.",
    ]


def test_every_count_equals_that_of_the_ledger(tmp_path: Path) -> None:
    made = MadeRun(refuse({"old": 3, "new": 7}, calls=3), tasks=90, repeats=2, secondary=("right", "cost"))
    trial_report = report(made, tmp_path)
    lines = [json.loads(line) for line in RunFolder(tmp_path / "run").ledger.read_text().splitlines()]
    assert trial_report.spent == pytest.approx({"cost": 0.001 * len(lines), "tokens": 110 * len(lines)})
    for arm in trial_report.arms:
        arm_lines = [line for line in lines if line["arm"] == arm.name]
        assert (arm.trials, arm.calls) == (len(arm_lines), 3 * len(arm_lines))
        assert arm.cost == pytest.approx(0.001 * len(arm_lines))
        assert arm.per_right == pytest.approx(
            0.001 * len(arm_lines) / sum(line["right"] for line in arm_lines)
        )
        by_name = {arm_measure.measure: arm_measure for arm_measure in arm.measures}
        refused, right = by_name["refused"], by_name["right"]
        assert (refused.k, refused.n) == (sum(line["refused"] for line in arm_lines), 3 * len(arm_lines))
        assert (right.k, right.n) == (sum(line["right"] for line in arm_lines), len(arm_lines))
        by_task: dict[str, list[float]] = {}
        for line in arm_lines:
            by_task.setdefault(line["task"], []).append(line["refused"] / line["calls"])
        means = [sum(each) / len(each) for each in by_task.values()]
        assert refused.rate == pytest.approx(sum(means) / len(means))
        assert refused.rate is not None
        assert refused.low is not None
        assert refused.high is not None
        assert 0 <= refused.low < refused.rate < refused.high <= 1
    assert trial_report.planned_tasks == 90
    assert trial_report.arms[0].measures[0].measure == "refused"


def test_only_the_primary_measure_has_a_planned_verdict(tmp_path: Path) -> None:
    trial_report = report(clear(secondary=("right",)), tmp_path)
    new = trial_report.arms[1]
    planned = {
        arm_measure.measure: (arm_measure.is_planned, arm_measure.word) for arm_measure in new.measures
    }
    assert planned["refused"] == (True, "better")
    assert planned["right"] == (False, "better")
    difference = {arm_measure.measure: arm_measure.difference for arm_measure in new.measures}
    assert difference["refused"] is not None
    assert difference["right"] is not None
    assert (difference["refused"].kind, difference["right"].kind) == ("adjusted", "fixed")
    text = "\n".join(trial_report_lines(trial_report, [], is_full=True))
    assert "right *" in text
    short = list(trial_report_lines(trial_report, []))
    assert len(short) == 5, "one sentence, an empty line, and a table of the primary measure"
    assert not any("right" in line for line in short)
    assert "* not the planned analysis" in text
    # The table has only the primary measure, and the measures that the plan names.
    assert {row[1] for row in table_rows(trial_report)} == {"refused", "right *"}


def test_a_run_under_way_has_no_verdict_but_an_interval_for_any_time(tmp_path: Path) -> None:
    trial_report = report(clear(), tmp_path, until=50)
    (answer,) = answer_lines(trial_report)
    assert answer.startswith(
        "Not decided yet: new, after 50 of 160 tasks. "
        "So far: invalid calls 2.0% against 17.0%, −15.0 points (−"
    )
    assert answer.endswith(" The next interim analysis is at 64.")
    difference = trial_report.arms[1].measures[0].difference
    assert difference is not None
    assert difference.kind == "anytime"
    over = report(clear(), tmp_path / "over").arms[1].measures[0].difference
    assert over is not None
    assert difference.high - difference.low > over.high - over.low
    assert (trial_report.state, trial_report.looks_made, trial_report.next_look) == ("not over", 1, 64)


def test_alike_is_told_with_the_interval_that_lies_within_the_smallest_difference(tmp_path: Path) -> None:
    trial_report = report(MadeRun(refuse({"old": 8, "new": 8}), tasks=160, looks=5), tmp_path)
    answer, _ = answer_lines(trial_report)
    assert answer.startswith(
        "new and old are equivalent (less than 5 points apart): invalid calls 6.2% against 6.2%, 0.0 points ("
    )
    difference = trial_report.arms[1].measures[0].difference
    assert difference is not None
    assert difference.kind == "alike"
    assert -0.05 < difference.low < 0 < difference.high < 0.05


def test_what_is_not_decided_says_how_many_tasks_more(tmp_path: Path) -> None:
    made = MadeRun(refuse({"old": 3, "new": 4}), tasks=100, looks=1, smallest=0.001)
    trial_report = report(made, tmp_path)
    more = trial_report.arms[1].measures[0].more
    answer, _ = answer_lines(trial_report)
    assert more is not None
    assert f"About {more:,} more tasks would decide if the difference stays as it is." in answer
    assert "No clear difference between new and old: invalid calls" in answer


def test_a_withheld_verdict_says_what_the_missing_trials_allow(tmp_path: Path) -> None:
    made = MadeRun(lose(refuse({"old": 3, "new": 20}), "new", 10), tasks=160, looks=5)
    trial_report = report(made, tmp_path)
    answer, _ = answer_lines(trial_report)
    assert answer.startswith(
        "No verdict on new: 16 of 160 trials of new and 0 of 160 of old have no reply, more than 5%; "
        "whatever they had been, the difference is between −"
    )
    assert trial_report.arms[1].bounds is not None
    low, high = trial_report.arms[1].bounds
    assert high - low == pytest.approx(0.1)
    assert any("16 of 160 trials have no reply" in line for line in trial_report.warnings)
    assert "withheld" in {row[-1] for row in table_rows(trial_report)}


def test_answers_that_were_not_recorded_are_warned_of_above_five_percent(tmp_path: Path) -> None:
    few, many = (report(miss(every), tmp_path / str(every)).warnings for every in (50, 1))
    assert few == ()
    assert "new: for 96 of 192 calls there was no recorded answer" in "; ".join(many)


def miss(every: int) -> MadeRun:
    plain = refuse({"old": 3, "new": 20})

    def outcome(arm: str, place: int, repeat: int) -> TrialOutcome:
        return replace(plain(arm, place, repeat), misses=int(arm == "new" and place % every == 0))

    return MadeRun(outcome, tasks=160, looks=5)


def test_arms_of_a_cross_product_are_also_compared_setting_by_setting(tmp_path: Path) -> None:
    """The new tool definition helps model a, and changes nothing for model b."""
    often = {"a-old": 3, "a-new": 30, "b-old": 6, "b-new": 6}
    trial_report = report(MadeRun(refuse(often), arms=CROSS, tasks=240, looks=1), tmp_path)
    by_factor = {(comparison.factor, comparison.value): comparison for comparison in trial_report.factors}
    assert set(by_factor) == {("model", "b"), ("definitions", "new")}
    comparison = by_factor["definitions", "new"]
    assert comparison.overall.word == "better"
    # Each model has the same weight. So the total difference is the mean of both differences.
    within = {difference.where["model"]: difference for difference in comparison.within}
    assert comparison.overall.estimate == pytest.approx((within["a"].estimate + within["b"].estimate) / 2)
    assert within["a"].estimate == pytest.approx((8 - 80) / 2 / 240)
    assert (within["a"].word, within["b"].word) == ("better", "not decided")
    assert comparison.interacts
    assert (within["a"].contrast or 0) == pytest.approx(within["a"].estimate - within["b"].estimate)
    first, second, *_ = answer_lines(trial_report)
    assert first.startswith("By definitions, new is better than old: invalid calls "), "models come last"
    assert first.endswith("judged once at the end.")
    assert second == (
        "It depends on where: better with model a (−15.0 points); "
        "no clear difference with model b (0.0 points)."
    )
    assert "definitions new \\*" in markdown_report(trial_report)


def test_a_difference_that_is_the_same_everywhere_is_called_so(tmp_path: Path) -> None:
    often = {"a-old": 3, "a-new": 12, "b-old": 3, "b-new": 12}
    trial_report = report(MadeRun(refuse(often), arms=CROSS, tasks=240, looks=1), tmp_path)
    comparison = next(factor for factor in trial_report.factors if factor.factor == "definitions")
    assert not comparison.interacts
    assert comparison.overall.word == "better"
    # The two variants differ in only one setting, so the comparison of the variants already shows its effect.
    assert report(clear(), tmp_path / "two").factors == ()


def test_what_was_the_same_for_all_arms_is_told_and_what_was_not(tmp_path: Path) -> None:
    made = clear()
    lock = made.lock()
    lock["endpoints"]["local"]["server"] = None
    outcomes, looks = made.run()
    some = [replace(outcome, cost=None) if outcome.arm == "new" else outcome for outcome in outcomes]
    trial_report = make_report(read_run(write_folder(tmp_path, lock, some, looks)))
    assert trial_report.held["model"] == "m"
    assert (trial_report.held["tasks"], trial_report.held["seed"]) == (160, 7)
    assert dict(trial_report.differing) == {"definitions": ["old", "new"]}
    assert trial_report.unknown == ("The server software of the endpoint local is not named",)
    assert (trial_report.arms[1].cost, trial_report.arms[1].per_right) == (None, None)
    assert "new: 96 trials, 192 calls, 10,560 tokens, cost unknown" in markdown_report(trial_report)
    # If one trial of a variant has no cost, the variant has no cost.
    with_gap = [replace(outcomes[0], cost=None), *outcomes[1:]]
    partly = make_report(read_run(write_folder(tmp_path, lock, with_gap, looks)))
    assert [arm.cost is None for arm in partly.arms] == [arm.name == with_gap[0].arm for arm in partly.arms]


def test_tasks_that_tell_nothing_are_counted_by_arm(tmp_path: Path) -> None:
    plain = refuse({"old": 3, "new": 20})

    def outcome(arm: str, place: int, repeat: int) -> TrialOutcome:
        silent = arm == "new" and place % 8 == 0
        return replace(plain(arm, place, repeat), calls=0, refused=0) if silent else plain(arm, place, repeat)

    trial_report = report(MadeRun(outcome, tasks=160, looks=1), tmp_path)
    assert trial_report.unknown == (
        "refused: tasks without a measurement (no call was made, or no reply came), by variant: new 20",
    )
    assert trial_report.arms[1].measures[0].tasks == 160


def test_looks_that_a_killed_process_did_not_write_are_made_by_the_report(tmp_path: Path) -> None:
    made = clear()
    outcomes, looks = made.run()
    whole = make_report(read_run(write_folder(tmp_path / "whole", made.lock(), outcomes, looks)))
    for written in range(len(looks)):
        cut = read_run(write_folder(tmp_path / f"{written}", made.lock(), outcomes, looks[:written]))
        assert [replace(arm_look, at="") for arm_look in cut.looks] == [
            replace(arm_look, at="") for arm_look in looks
        ]
        assert answer_lines(make_report(cut)) == answer_lines(whole)


def test_half_a_line_and_a_line_twice_are_told_and_counted_once(tmp_path: Path) -> None:
    made = clear()
    root = made.write(tmp_path / "run")
    before = report_run(root)
    ledger = RunFolder(root).ledger
    lines = ledger.read_bytes().splitlines(keepends=True)
    wrong = [
        b'{"arm": "new"}\n',
        b"[]\n",
        b'{"arm":"new","task":"t1","repeat":0,"status":"ok","calls":"x"}\n',
        b'{"arm":"new","task":"t1","repeat":0,"status":"ok","calls":1,"refused":2}\n',
    ]
    nowhere = json.dumps(asdict(TrialOutcome("other", "t1", 0, "ok"))).encode() + b"\n"
    ledger.write_bytes(b"".join([*lines, lines[3], *wrong, nowhere, b"\n", lines[5][:40]]))
    after = report_run(root)
    assert after.arms == before.arms
    assert [line.split(" ", 1)[0] for line in after.warnings] == ["6", "1"]
    assert "later line is used" in after.warnings[1]


def test_broken_looks_are_made_again(tmp_path: Path) -> None:
    root = clear().write(tmp_path / "run")
    before = report_run(root)
    RunFolder(root).looks.write_text(
        '{"look": 1, "arm": "new"}\n{"look":1,"arm":"new","tasks":"x","planned":1,"estimate":null,"low":null,'
        '"high":null,"statistic":null,"boundary":null,"decision":"go on"}\n{"lo'
    )
    assert report_run(root).arms == before.arms


def test_a_run_without_any_outcome_says_so(tmp_path: Path) -> None:
    root = write_folder(tmp_path, clear().lock(), [], [])
    for remove in (False, True):
        if remove:
            RunFolder(root).ledger.unlink()
            RunFolder(root).looks.unlink()
        exit_code, output, _ = run_command(root, "--full")
        assert exit_code == 0
        assert "Not decided yet: new, after 0 of 160 tasks. The next interim analysis is at 32." in output
        assert "No trial has finished yet" in output


def test_a_folder_that_is_no_run_is_refused_with_what_to_do(tmp_path: Path) -> None:
    lock = clear().lock()
    broken: dict[str, Any] = {
        "is not a folder; name the folder of a trial run": None,
        "has no lock.json": {},
        "is not JSON": "{",
        "callgauge_trial is not 1": {"callgauge_trial": 2},
        "or it names no run": {"callgauge_trial": 1},
        "KeyError: 'speed'": {**lock, "measure": {**lock["measure"], "primary": "speed"}},
        "the reference 'gone' is not a variant": {
            **lock,
            "measure": {**lock["measure"], "reference": "gone"},
        },
    }
    for place, (message, content) in enumerate(broken.items()):
        root = tmp_path / str(place)
        if content is not None:
            root.mkdir()
        if content:
            text = content if isinstance(content, str) else json.dumps(content)
            RunFolder(root).lock.write_text(text)
        with pytest.raises(FolderError, match=message):
            read_run(root)
        exit_code, out, problem = run_command(root)
        assert (exit_code, out) == (2, "")
        assert str(root) in problem


def test_a_folder_that_holds_runs_is_refused_with_their_names(tmp_path: Path) -> None:
    made = clear()
    write_folder(tmp_path / "runs" / "a.1", made.lock(), *made.run())
    with pytest.raises(FolderError, match=r"within it are .*/runs/a\.1$"):
        read_run(tmp_path / "runs")


def test_the_note_on_unplanned_measures_stands_only_where_one_is_shown(tmp_path: Path) -> None:
    lock = clear().lock()
    del lock["measure"]["secondary"]
    outcomes = [
        TrialOutcome(arm["name"], task, repeat, "completed", calls=1)
        for arm in lock["arms"]
        for task in lock["tasks"]
        for repeat in range(lock["run_plan"]["repeats"])
    ]
    trial_report = make_report(read_run(write_folder(tmp_path, lock, outcomes, [])))
    assert {row[1] for row in table_rows(trial_report)} == {"refused"}
    assert unplanned_note(trial_report) is None


def test_both_files_are_written_whole_and_hold_what_the_command_tells(tmp_path: Path) -> None:
    root = clear(budget={"cost": 0.6}).write(tmp_path / "run")
    exit_code, output, _ = run_command(root, "--json")
    assert exit_code == 0
    folder = RunFolder(root)
    written = json.loads(folder.report.read_bytes())
    assert {**written, "gates": []} == json.loads(output)
    assert written["answer"] == answer_lines(make_report(read_run(root)))
    assert written["budget_share"] == pytest.approx(0.32)
    assert "| new | refused | 4 / 192 calls |" in folder.report_text.read_text()
    assert sorted(path.name for path in root.iterdir()) == [
        "ledger.jsonl", "lock.json", "looks.jsonl", "report.json", "report.md",
    ]  # fmt: skip


def test_a_report_that_cannot_be_written_is_still_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = clear().write(tmp_path / "run")

    def fail(path: Path, content: bytes) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", fail)
    exit_code, output, problem = run_command(root, "--gate", "no-worse=0.02")
    assert exit_code == 0
    assert "new is better than old" in output
    assert "No space left on device" in problem
    with pytest.raises(OSError, match="No space left"):
        write_report(root, make_report(read_run(root)))
    assert not RunFolder(root).report.exists()


def test_hostile_names_control_neither_a_terminal_nor_a_page(tmp_path: Path) -> None:
    made = clear()
    lock = {**made.lock(), "name": "a\n# b | <img src=x>", "question": "\x1b[31m`x` *y* [z](http://e)?"}
    trial_report = make_report(read_run(write_folder(tmp_path, lock, *made.run())))
    page = markdown_report(trial_report)
    assert page.startswith("# a # b \\| \\<img src=x\\>\n")
    assert "\\`x\\` \\*y\\* [z\\](http://e)?" in page
    assert "\x1b" not in "\n".join(trial_report_lines(trial_report, []))
    assert escape_markdown("turn_ok, _x_ and a_") == "turn_ok, \\_x\\_ and a\\_"


@pytest.mark.parametrize(
    ("measure", "value", "difference"),
    [
        ("refused", "4.1%", "−4.1 points"),
        ("right", "4.1%", "−4.1 points"),
        ("tokens", "0 tokens", "0 tokens"),
        ("cost", "0.0414 USD", "−0.0414 USD"),
    ],
)
def test_numbers_are_told_in_the_unit_of_their_measure(measure: str, value: str, difference: str) -> None:
    entry = MEASURES[measure]  # type: ignore[index]
    assert format_value(entry, 0.0414) == value
    assert format_difference(entry, -0.0414) == difference
    assert format_difference(MEASURES["tokens"], 1204.4) == "+1,204 tokens"
    assert format_difference(MEASURES["refused"], -0.0001) == "0.0 points"
    assert format_value(MEASURES["cost"], 1234.5) == "1,234.50 USD"
    assert format_value(MEASURES["cost"], 0.0000213) == "0.0000213 USD"
    assert format_difference(MEASURES["cost"], -0.0000052) == "−0.00000520 USD"
    assert format_difference(MEASURES["cost"], 1e-12) == "0.000000000 USD"
    assert format_value(MEASURES["cost"], 0.0) == "0.00 USD"
