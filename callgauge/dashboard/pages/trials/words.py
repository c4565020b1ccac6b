"""Writes figures of trials in words: measures with units, decisions, and the result of a trial run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import (
    MEASURES,
    ArmTotal,
    RunResults,
    StoredLook,
    TrialMeasure,
    TrialRun,
)
from callgauge.analysis.verdicts.trials import (
    TrialAnswer,
    VariantAnswer,
    name_arm,
    write_bare,
    write_more,
    write_size,
    write_trial,
)
from callgauge.stats import Interval
from callgauge.stats.task_pairs import Decision

Tone = Literal["bad", "warn", "good", "calm", "info"]
TONES: Mapping[Decision, Tone] = {
    "better": "good",
    "worse": "bad",
    "alike": "calm",
    "go on": "info",
    "not decided": "calm",
    "withheld": "warn",
}
"""The colour in which tables show each decision."""
_VERBS = {
    "refused": "of its calls invalid",
    "mended": "of its calls repaired",
    "right": "of its trials right",
    "turn_ok": "of its turns successful",
}


def write_value(measure: TrialMeasure, value: float | None) -> str:
    """Return a value of a measure with its unit, such as 4.1%, 1,204 tokens or $0.0012.

    Returns a dash when the value is None.
    """
    bare = write_bare(measure, value)
    return f"{bare} tokens" if measure.unit == "tokens" and value is not None else bare


def write_interval(measure: TrialMeasure, bounds: Interval) -> str:
    """Return an interval as text, such as 1.1–9.4% or 120–180."""
    if measure.is_share:
        return wording.fixed_interval(bounds, 1)
    return f"{write_bare(measure, bounds.low)}–{write_bare(measure, bounds.high)}"


def write_counts(measure: TrialMeasure, total: ArmTotal) -> str:
    """Return the basis of a value: k / n, or the number of trials with a value."""
    if measure.is_share:
        return wording.fraction(int(total.k), int(total.n))
    return wording.plural(int(total.n), "trial")


def write_decision(run: TrialRun, decision: Decision) -> str:
    """Return a decision in words, such as “better” or “equivalent within 5 points”."""
    if decision == "alike" and run.smallest:
        return f"equivalent within {write_size(run.primary, run.smallest)}"
    return {"go on": "still open", "withheld": "no verdict", "not decided": "no clear difference"}.get(
        decision, decision
    )


def write_short_answer(run: TrialRun) -> list[tuple[Decision, str]]:
    """Return the decision on each variant and its wording, such as “new: better”."""
    return [
        (look.decision, f"{name_arm(name)}: {write_decision(run, look.decision)}")
        for name in run.others
        if (look := run.decisions.get(name))
    ]


def write_answer(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[StoredLook]]) -> str:
    """Return the result of a trial run in sentences, with its figures."""
    if not run.others:
        return _describe_single(run, results)
    variants = []
    for name in run.others:
        difference, decision = results.compare(name, run.primary, looks.get(name, ()))
        bounds = results.bound_missing(name) if run.primary.is_share else None
        more = results.tasks_to_go(name) if decision == "not decided" else None
        variants.append(VariantAnswer(name, decision, difference, more, results.count_missing(name), bounds))
    done = len(results.by_arm.get(run.reference, {}))
    stopped = run.stopped_at
    return " ".join(
        write_trial(
            TrialAnswer(
                run.primary,
                run.reference,
                run.smallest,
                variants,
                results.count_missing(run.reference),
                results.compare_factors(),
                done,
                run.tasks,
                run.is_decided,
                (stopped.look, len(run.look_at), stopped.tasks) if stopped else None,
                next((at for at in run.look_at if at > done), None),
                run.spent[0] if run.spent else None,
            )
        )
    )


def _describe_single(run: TrialRun, results: RunResults) -> str:
    (name,) = run.arm_names
    values = [
        f"{write_value(measure, total.rate)} {_VERBS[measure.name]} ({write_counts(measure, total)})"
        for measure in (run.primary, MEASURES["right"])
        if measure.is_share and (total := results.total(name, measure)).n
    ]
    if not values:
        return f"{name_arm(name)} has no measured trial yet."
    values_text = wording.list_words(list(dict.fromkeys(values)))
    return f"{name_arm(name)} has {values_text}. It is the only variant, so nothing is compared."


def describe_more(results: RunResults, arm: str) -> str:
    """Return how many more tasks would decide if the difference stays the same.

    The result is empty when the number is unknown.
    """
    more = results.tasks_to_go(arm)
    return write_more(more) if more else ""


def describe_state(run: TrialRun, now: datetime) -> str:
    """Return the progress of a trial run in words. `now` is the current time in UTC, without time zone."""
    state = run.state(now)
    return "stopped early" if state == "done" and run.stopped_at else state


def describe_run(run: TrialRun, now: datetime) -> str:
    """Return the facts about a trial run in one line: name, start, size, cost."""
    parts = [
        run.name,
        f"started {wording.utc(run.created_at)}",
        describe_state(run, now),
        f"{wording.plural(run.trials, 'trial')} of {wording.plural(len(run.arms), 'variant')}",
        write_cost(run),
    ]
    if run.no_reply:
        parts.append(f"{run.no_reply:,} without a reply")
    return " · ".join(parts)


def write_cost(run: TrialRun) -> str:
    """Return the cost of a trial run, and how many trials have no price."""
    if run.cost is None:
        return "cost unknown"
    unpriced = f" and {run.unpriced:,} unpriced trials" if run.unpriced else ""
    return f"{wording.money(run.cost, 'USD', wording.money_places(run.cost))}{unpriced}"
