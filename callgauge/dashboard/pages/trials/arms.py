"""Draws the variants of a trial run: the primary measure with its verdict, and the other measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.measures.trials import (
    MEASURES,
    ArmTotal,
    RunResults,
    StoredLook,
    TrialMeasure,
    TrialRun,
)
from callgauge.analysis.verdicts import trials
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.slice_table import IntervalScale
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.trials import words
from callgauge.stats.paired import FEWEST_UNLIKE
from callgauge.stats.task_pairs import Decision, MeasuredDifference

_UNITS = "A percentage is k / n over all calls or trials; its interval treats tasks as the independent units."
_UNPLANNED = (
    "Only this measure decides. The run was not planned for the measures below: their intervals ignore "
    f"interim analyses, and with fewer than {FEWEST_UNLIKE} tasks that differ there is no verdict."
)
_KINDS = {
    "adjusted": "adjusted for interim analyses",
    "alike": "90%, for the smallest difference of interest",
    "anytime": "valid at any time",
    "fixed": "95%, for one analysis",
}
Looks = Mapping[str, Sequence[StoredLook]]
Found = tuple[MeasuredDifference | None, Decision]


def draw_arms(run: TrialRun, results: RunResults, looks: Looks) -> None:
    with cards.draw_card("Variants", "trial_results", "trial_looks", height=300):
        if not results.trials:
            st.caption("No trial has ended yet. This page updates by itself.")
            return
        _draw_primary(run, results, looks)
        st.caption(f"{_UNITS} {_UNPLANNED}" if run.others else _UNITS)
        _draw_others(run, results)


def _draw_primary(run: TrialRun, results: RunResults, looks: Looks) -> None:
    measure = run.primary
    totals = {name: results.total(name, measure) for name in run.arm_names}
    comparisons = {name: results.compare(name, measure, looks.get(name, ())) for name in run.others}
    reach = _choose_reach(measure, [difference for difference, _ in comparisons.values() if difference])
    scale = _make_scale(list(totals.values())) if measure.is_share else None
    columns = [Column("Variant", "name")]
    if run.others:
        columns.append(
            Column("Verdict", "tight", "Compared with the reference, by the latest interim analysis")
        )
    columns.append(Column(measure.title, "rate", measure.meaning, scale=scale.ends() if scale else None))
    if run.others:
        ends = (trials.write_change(measure, -reach, unit=False), trials.write_change(measure, reach))
        about = "Variant minus reference, over the tasks of both"
        columns.append(Column("Difference", "rate", about, scale=ends if reach else None, zero=0.5))
    columns.append(Column("Tasks", "number", "Tasks with a trial, of those planned"))
    rows = []
    for name in run.arm_names:
        comparison = comparisons.get(name)
        cells = [_name_cell(run, name)]
        if run.others:
            cells.append(_verdict_cell(run, results, name, comparison, looks.get(name, ())))
        cells.append(_rate_cell(measure, totals[name], scale))
        if run.others:
            cells.append(_difference_cell(measure, comparison, reach))
        cells.append(_tasks_cell(run, results, name))
        rows.append(cells)
    draw_table("arms", f"{measure.title} by variant", columns, rows)


def _name_cell(run: TrialRun, name: str) -> Cell:
    arm = next((candidate for candidate in run.arms if candidate.get("name") == name), {})
    about = [str(arm[key]) for key in ("model", "prompt", "definitions") if arm.get(key)]
    is_reference = name == run.reference
    return Cell(
        trials.name_arm(name),
        sub=wording.one_line(" · ".join(about), 60) or None,
        href=None if is_reference else _compare_link(run, name),
        title=None if is_reference else "Compare with the reference by every rate",
        order=name,
        values={"": name},
    )


def _compare_link(run: TrialRun, name: str) -> str:
    a = arm_filters.arm_query("A", {"run": [run.run], "arm": [run.reference]})
    b = arm_filters.arm_query("B", {"run": [run.run], "arm": [name]})
    return filters.page_link("compare", {"run": (), "arm": ()}, a | b, run.days)


def _verdict_cell(
    run: TrialRun, results: RunResults, name: str, comparison: Found | None, looks: Sequence[StoredLook]
) -> Cell:
    if comparison is None:
        return Cell("Reference", tone="info", leads=True)
    decision = looks[-1].decision if looks else "go on"
    more = words.describe_more(results, name) if decision in ("not decided", "go on") else ""
    if looks:
        at = f"analysis {looks[-1].look} of {len(run.look_at)}, {wording.plural(looks[-1].tasks, 'task')}"
    else:
        at = f"first analysis at {run.look_at[0]:,} tasks" if run.look_at else "no analysis is planned"
    text = words.write_decision(run, decision)
    return Cell(
        f"{text[0].upper()}{text[1:]}",
        sub=at,
        tone=words.TONES[decision],
        title=more or None,
        leads=True,
        values={"": decision, "at": at},
    )


def _make_scale(totals: Sequence[ArmTotal]) -> IntervalScale:
    highest = max(
        (total.interval.high if total.interval else total.rate or 0.0 for total in totals), default=1.0
    )
    return IntervalScale(0.0, _round_up(highest) or 1.0)


def _round_up(share: float) -> float:
    """Round a share up to the end of an axis: to whole points up to 10 %, then to steps of five points."""
    step = 0.01 if share <= 0.1 else 0.05
    return min(1.0, step * math.ceil(round(share / step, 6)))


def _choose_reach(measure: TrialMeasure, differences: Sequence[MeasuredDifference]) -> float:
    """Return the largest difference on the axis, in the unit of the measure.

    Returns 0 when there are no differences.
    """
    widest = max((max(abs(difference.low), abs(difference.high)) for difference in differences), default=0.0)
    return _round_up(widest) if measure.is_share else widest


def _rate_cell(measure: TrialMeasure, total: ArmTotal, scale: IntervalScale | None) -> Cell:
    if total.rate is None:
        return Cell("–", sub="not measured", pale=True, values={"": None})
    bounds = total.interval
    lines = [words.write_counts(measure, total)]
    if bounds:
        lines[0] += f" · {words.write_interval(measure, bounds)}"
    if total.unmeasured:
        lines.append(f"{total.unmeasured:,} of {total.replied:,} trials unmeasured")
    return Cell(
        trials.write_bare(measure, total.rate),
        sub="\n".join(lines),
        at=scale.position_of(total.rate) if scale else None,
        low=scale.position_of(bounds.low) if scale and bounds else None,
        high=scale.position_of(bounds.high) if scale and bounds else None,
        title=f"95% interval over {wording.plural(total.tasks, 'task')}",
        order=total.rate,
        values=_total_values(total),
    )


def _total_values(total: ArmTotal) -> dict[str, float | None]:
    low, high = (total.interval.low, total.interval.high) if total.interval else (None, None)
    return {"": total.rate, "low": low, "high": high, "k": total.k, "n": total.n, "tasks": total.tasks}


def _difference_cell(measure: TrialMeasure, comparison: Found | None, reach: float) -> Cell:
    difference, decision = comparison or (None, "go on")
    if difference is None:
        return Cell("–", values={"": None})

    def place(value: float) -> float | None:
        return 0.5 + value / (2 * reach) if reach else None

    newer, against = (trials.write_bare(measure, each) for each in (difference.of, difference.against))
    return Cell(
        trials.write_bare_change(measure, difference.estimate),
        sub=trials.write_ends(measure, difference.low, difference.high),
        at=place(difference.estimate),
        low=place(difference.low),
        high=place(difference.high),
        pale=decision in ("withheld", "go on"),
        title=(
            f"{newer} against {against} over {wording.plural(difference.tasks, 'task')} of both; "
            f"the interval {_KINDS[difference.kind]}"
        ),
        order=difference.estimate,
        values=_difference_values(difference),
    )


def _difference_values(difference: MeasuredDifference | None) -> dict[str, float | None]:
    if difference is None:
        return {"difference": None, "difference low": None, "difference high": None}
    return {
        "difference": difference.estimate,
        "difference low": difference.low,
        "difference high": difference.high,
    }


def _tasks_cell(run: TrialRun, results: RunResults, name: str) -> Cell:
    tried = len(results.by_arm.get(name, {}))
    lost, planned = results.count_missing(name)
    missing = f"{lost:,} of {wording.plural(planned, 'trial')}: no reply" if lost else None
    return Cell(wording.fraction(tried, run.tasks), sub=missing, order=tried)


def _draw_others(run: TrialRun, results: RunResults) -> None:
    others = [measure for measure in MEASURES.values() if measure is not run.primary]
    totals = {
        (name, measure.name): results.total(name, measure) for measure in others for name in run.arm_names
    }
    measured = {key for (_, key), total in totals.items() if total.n}
    shown = [measure for measure in others if measure.name in measured]
    if not shown:
        return
    columns = [
        Column("Variant", "name"),
        *(Column(measure.title, "cell", measure.meaning) for measure in shown),
    ]
    rows = []
    for name in run.arm_names:
        comparisons = {
            measure.name: results.compare(name, measure, ()) if name != run.reference else None
            for measure in shown
        }
        cells = [
            _other_cell(measure, totals[name, measure.name], comparisons[measure.name]) for measure in shown
        ]
        rows.append([Cell(trials.name_arm(name), order=name), *cells])
    draw_table("other_measures", "The other measures by variant", columns, rows)


def _other_cell(measure: TrialMeasure, total: ArmTotal, comparison: Found | None) -> Cell:
    if total.rate is None:
        return Cell("–", sub="not measured", pale=True, values={"": None})
    difference = comparison[0] if comparison else None
    lines = [words.write_counts(measure, total)]
    if difference:
        change = trials.write_bare_change(measure, difference.estimate)
        lines.append(f"{change} ({trials.write_ends(measure, difference.low, difference.high)})")
    if total.unmeasured:
        lines.append(f"{total.unmeasured:,} not measured")
    return Cell(
        trials.write_bare(measure, total.rate),
        sub="\n".join(lines),
        order=total.rate,
        title=f"95%: {words.write_interval(measure, total.interval)}" if total.interval else None,
        values=_total_values(total) | _difference_values(difference),
    )
