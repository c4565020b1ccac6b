"""The arms of a run: the primary measure with its verdict, and the other measures beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from callgauge.dashboard import comparison, filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.slice_table import make_scale, share_cell
from callgauge.dashboard.components.table import Cell, Column, Kind, draw_table
from callgauge.dashboard.measures.trials import (
    MEASURES,
    ArmLook,
    ArmTotal,
    PairedTasks,
    RunResults,
    TrialMeasure,
    TrialRun,
)
from callgauge.dashboard.pages.trials import words
from callgauge.stats import Interval

_READING = (
    "The difference is the mean over tasks that both arms have, with the interval of the last look. "
    "Only {primary} decides; the other measures are not what the run was planned for."
)


def draw_arms(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[ArmLook]]) -> None:
    """Draw the card of the arms."""
    take = cards.Download("trial_results", store_queries.ask_later("trial_results", run=run.run), "all rows")
    with cards.draw_card("Arms", "trial_results", "trial_looks", take=take, height=300):
        if not results.trials:
            st.caption("No trial has ended yet. The page fills up by itself.")
            return
        _draw_primary(run, results, looks)
        if run.others:
            st.caption(_READING.format(primary=run.primary.title.lower()))
        _draw_others(run, results)


def _draw_primary(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[ArmLook]]) -> None:
    measure = run.primary
    totals = {name: results.total(name, measure) for name in run.arm_names}
    last = {name: looks[name][-1] for name in run.others if looks.get(name)}
    reach = _choose_reach(measure, [one for one in last.values() if one.low is not None])
    shares = [total.share for total in totals.values() if total.share]
    scale = make_scale(shares) if measure.is_share else None
    columns = [Column("Arm", "name")]
    if run.others:
        columns.append(Column("Verdict", "tight", "Beside the reference, by the last look at the arm"))
    kind: Kind = "rate" if measure.is_share else "cell"
    columns.append(Column(measure.title, kind, measure.meaning, scale=scale.ends() if scale else None))
    if run.others:
        ends = words.write_change(measure, -reach, unit=False), words.write_change(measure, reach)
        about = "Arm minus reference, over the tasks of both"
        columns.append(Column("Difference", "rate", about, scale=ends if reach else None, zero=0.5))
    columns.append(Column("Tasks", "number", "With a trial, of those planned"))
    rows = []
    for name in run.arm_names:
        cells = [_name_cell(run, name)]
        if run.others:
            cells.append(_verdict_cell(run, results, name, last.get(name)))
        total = totals[name]
        if measure.is_share and total.share:
            without = (
                f"{wording.plural(total.unmeasured, 'trial')} without a call" if total.unmeasured else None
            )
            cells.append(share_cell(total.share, scale, pale=False, title=without))
        else:
            cells.append(_amount_cell(measure, total))
        if run.others:
            cells.append(_difference_cell(results, name, last.get(name), reach))
        tried = len(results.by_arm.get(name, {}))
        lost, of = results.count_missing(name)
        missing = f"{lost:,} of {of:,} trials: no reply" if lost else None
        cells.append(Cell(wording.fraction(tried, run.tasks), sub=missing, order=tried))
        rows.append(cells)
    draw_table("arms", f"{measure.title} by arm", columns, rows)


def _name_cell(run: TrialRun, name: str) -> Cell:
    arm = next((one for one in run.arms if one.get("name") == name), {})
    about = [str(arm[key]) for key in ("model", "prompt", "definitions") if arm.get(key)]
    return Cell(
        words.name_arm(name),
        sub=wording.one_line(" · ".join(about), 60) or None,
        href=_compare_link(run, name) if name != run.reference else None,
        title="Compare with the reference by every rate" if name != run.reference else None,
        order=name,
        values={"": name},
    )


def _compare_link(run: TrialRun, name: str) -> str:
    a = comparison.arm_query("A", {"run": [run.run], "arm": [run.reference]})
    b = comparison.arm_query("B", {"run": [run.run], "arm": [name]})
    return filters.page_link("compare", {}, a | b)


def _verdict_cell(run: TrialRun, results: RunResults, name: str, look: ArmLook | None) -> Cell:
    if name == run.reference:
        return Cell("Reference", tone="info", leads=True)
    if look is None:
        at = next(iter(run.look_at), None)
        return Cell("No look yet", sub=f"first at {at:,} tasks" if at else None, tone="calm", leads=True)
    more = words.describe_more(results, name).strip() if look.decision in ("not decided", "go on") else ""
    text = words.write_decision(run, look.decision)
    return Cell(
        f"{text[0].upper()}{text[1:]}",
        sub=f"look {look.look} of {len(run.look_at)}, {look.tasks:,} tasks",
        tone=words.TONES.get(look.decision, "calm"),
        title=more or None,
        leads=True,
        values={"": look.decision, "look": look.look, "tasks": look.tasks},
    )


def _choose_reach(measure: TrialMeasure, looks: Sequence[ArmLook]) -> float:
    """Return half the width of the track of differences, in the measure's unit; 0 for none."""
    widest = max((max(abs(one.low or 0.0), abs(one.high or 0.0)) for one in looks), default=0.0)
    if not measure.is_share:
        return widest
    step = 0.01 if widest <= 0.1 else 0.05
    return min(1.0, step * math.ceil(round(widest / step, 6)))


def _difference_cell(results: RunResults, name: str, look: ArmLook | None, reach: float) -> Cell:
    if look is None or look.estimate is None or look.low is None or look.high is None:
        return Cell("–", values={"": None})
    measure = results.run.primary

    def place(value: float) -> float | None:
        return 0.5 + value / (2 * reach) if reach else None

    pairs = results.pair(name, measure)
    return Cell(
        words.write_change(measure, look.estimate, unit=False),
        sub=words.write_ends(measure, look.low, look.high),
        at=place(look.estimate),
        low=place(look.low),
        high=place(look.high),
        pale=look.decision == "withheld",
        title=(
            f"{words.write_value(measure, pairs.of)} against {words.write_value(measure, pairs.against)} "
            f"over {wording.plural(pairs.tasks, 'task')} that both have"
        ),
        order=look.estimate,
        values={"": look.estimate, "low": look.low, "high": look.high},
    )


def _amount_cell(measure: TrialMeasure, total: ArmTotal) -> Cell:
    if total.value is None:
        return Cell("–", sub="unmeasured", pale=True, values={"": None})
    bounds = total.interval
    between = _write_interval(measure, bounds) if bounds else None
    unmeasured = f"{total.unmeasured:,} of {total.trials:,} trials unmeasured" if total.unmeasured else None
    return Cell(
        words.write_value(measure, total.value).removesuffix(" tokens"),
        sub="\n".join(filter(None, (between, unmeasured))) or None,
        order=total.value,
        title=words.write_counts(measure, total),
        values={"": total.value, "trials": int(total.n)},
    )


def _write_interval(measure: TrialMeasure, bounds: Interval) -> str:
    return f"{words.write_value(measure, bounds.low)} to {words.write_value(measure, bounds.high)}"


def _draw_others(run: TrialRun, results: RunResults) -> None:
    """Draw the other measures: a column each, an arm's value and below it its difference to the reference."""
    totals = {
        (name, one.name): results.total(name, one)
        for one in MEASURES.values()
        if one is not run.primary
        for name in run.arm_names
    }
    seen = {key for (_, key), total in totals.items() if total.n}
    known = [one for name, one in MEASURES.items() if name in seen]
    if not known:
        return
    columns = [Column("Arm", "name"), *(Column(one.title, "cell", one.meaning) for one in known)]
    rows = [
        [
            Cell(words.name_arm(name), order=name),
            *(_other_cell(run, one, totals[name, one.name], _pair(run, results, name, one)) for one in known),
        ]
        for name in run.arm_names
    ]
    draw_table("other_measures", "The other measures by arm", columns, rows)


def _pair(run: TrialRun, results: RunResults, name: str, measure: TrialMeasure) -> PairedTasks | None:
    return results.pair(name, measure) if name != run.reference else None


def _other_cell(run: TrialRun, measure: TrialMeasure, total: ArmTotal, pairs: PairedTasks | None) -> Cell:
    if total.value is None:
        return Cell("–", sub="unmeasured", pale=True, values={"": None})
    ends = pairs.interval() if pairs else None
    lines = [words.write_counts(measure, total)] if measure.is_share else []
    if pairs and pairs.mean and ends:
        change = words.write_change(measure, pairs.mean.estimate, unit=False)
        lines.append(f"{change} ({words.write_ends(measure, *ends)})")
    elif not pairs and run.others:
        lines.append("reference")
    if total.unmeasured:
        lines.append(f"{total.unmeasured:,} trials unmeasured")
    return Cell(
        words.write_value(measure, total.value).removesuffix(" tokens"),
        sub="\n".join(lines) or None,
        order=total.value,
        title=f"95%: {_write_interval(measure, total.interval)}" if total.interval else None,
        values={
            "": total.value,
            "k": total.k,
            "n": total.n,
            "difference": pairs.mean.estimate if pairs and pairs.mean else None,
            "low": ends[0] if ends else None,
            "high": ends[1] if ends else None,
        },
    )
