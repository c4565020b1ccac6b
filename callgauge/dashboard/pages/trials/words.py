"""Figures and words of trials: measures in their unit, decisions, the answer of a run in a sentence."""

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
from callgauge.analysis.verdicts.sentences import fixed_points
from callgauge.stats import Interval
from callgauge.stats.task_pairs import MOST_MISSING, Decision, MeasuredDifference

Tone = Literal["bad", "warn", "good", "calm", "info"]
TONES: Mapping[Decision, Tone] = {
    "better": "good",
    "worse": "bad",
    "alike": "calm",
    "go on": "info",
    "not decided": "calm",
    "withheld": "warn",
}
"""The colour of each decision, as tables show words."""
_ORDER: tuple[Decision, ...] = ("better", "worse", "alike", "not decided", "withheld")  # of the sentences
_SAID = {
    "better": "is better than",
    "worse": "is worse than",
    "alike": "does as well as",
    "not decided": "may be better or worse than",
}
_SAID_OF_SEVERAL = {
    "better": "are better than",
    "worse": "are worse than",
    "alike": "do as well as",
    "not decided": "may be better or worse than",
}
NOUNS = {
    "refused": "refused calls",
    "mended": "mended calls",
    "right": "right trials",
    "turn_ok": "turns that ended well",
    "tokens": "tokens",
    "cost": "cost",
}
"""What each measure counts, within a sentence."""
_VERBS = {
    "refused": "of its calls refused",
    "mended": "of its calls mended",
    "right": "of its trials right",
    "turn_ok": "of its turns ok",
}


def write_value(measure: TrialMeasure, value: float | None) -> str:
    """Write what a measure came to, in its unit: 4.1%, 1,204 tokens, $0.0012; a dash for None."""
    bare = write_bare(measure, value)
    return f"{bare} tokens" if measure.unit == "tokens" and value is not None else bare


def write_bare(measure: TrialMeasure, value: float | None) -> str:
    """Write a value for a cell: without the word tokens."""
    if value is None:
        return "–"
    if measure.is_share:
        return wording.fixed_percent(value, 1)
    if measure.unit == "tokens":
        return f"{value:,.0f}"
    return wording.money(value, "USD", wording.money_places(value))


def write_interval(measure: TrialMeasure, bounds: Interval) -> str:
    """Write an interval of a value: 1.1–9.4%, 120–180."""
    if measure.is_share:
        return wording.fixed_interval(bounds, 1)
    return f"{write_bare(measure, bounds.low)}–{write_bare(measure, bounds.high)}"


def write_change(measure: TrialMeasure, value: float, *, unit: bool = True) -> str:
    """Write a difference with its sign and, unless `unit` is False, its unit: −7.7 points, +310 tokens."""
    words = {"share": " points", "tokens": " tokens", "USD": ""}[measure.unit] if unit else ""
    return f"{write_bare_change(measure, value)}{words}"


def write_bare_change(measure: TrialMeasure, value: float) -> str:
    """Write a difference for a cell, with its sign alone: −7.7, +310, −$0.0021."""
    if measure.is_share:
        return fixed_points(value, 1)
    bare = write_bare(measure, abs(value))
    sign = "" if not bare.strip("$0.,") else "−" if value < 0 else "+"
    return f"{sign}{bare}"


def write_ends(measure: TrialMeasure, low: float, high: float) -> str:
    """Write an interval of a difference: −11.9 to −3.6."""
    return f"{write_bare_change(measure, low)} to {write_bare_change(measure, high)}"


def write_size(measure: TrialMeasure, size: float) -> str:
    """Write the size of a difference: 5 points, 300 tokens, $0.01."""
    if measure.is_share:
        return f"{100 * size:.3g} point{'' if round(100 * size, 6) == 1 else 's'}"
    return write_value(measure, size)


def write_counts(measure: TrialMeasure, total: ArmTotal) -> str:
    """Write what a value rests on: k / n, or the number of trials that tell it."""
    if measure.is_share:
        return wording.fraction(int(total.k), int(total.n))
    return wording.plural(int(total.n), "trial")


def name_arm(name: str) -> str:
    """Return an arm's name for a sentence or a cell: on one line, cut to 40."""
    return wording.one_line(name, 40)


def write_decision(run: TrialRun, decision: Decision) -> str:
    """Return the words for a decision: better, alike within 5 points, not decided."""
    if decision == "alike" and run.smallest:
        return f"alike within {write_size(run.primary, run.smallest)}"
    return {"go on": "still open", "withheld": "no verdict"}.get(decision, decision)


def write_short_answer(run: TrialRun) -> list[tuple[Decision, str]]:
    """Return the decision on each arm with its words: (decision, “new: better”)."""
    return [
        (one.decision, f"{name_arm(name)}: {write_decision(run, one.decision)}")
        for name in run.others
        if (one := run.decisions.get(name))
    ]


def write_answer(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[StoredLook]]) -> str:
    """Return the sentences that answer the question of a run, with its figures."""
    if not run.others:
        return _describe_single(run, results)
    decisions = {name: looks[name][-1].decision for name in run.others if looks.get(name)}
    if len(run.others) == 1:
        sentences = [_describe_arm(run, results, name, looks[name]) for name in decisions]
    else:
        sentences = [_describe_arms(run, decision, decisions) for decision in _ORDER]
    waiting = [name for name in run.others if decisions.get(name, "go on") == "go on"]
    if waiting:
        sentences.append(_describe_waiting(run, results, waiting, looks))
    if run.is_decided:
        sentences.append(_describe_end(run))
    return " ".join(filter(None, sentences))


def _describe_arms(run: TrialRun, decision: Decision, decisions: Mapping[str, Decision]) -> str:
    """Return the sentence on all arms with one decision; the table has their figures."""
    names = [name_arm(name) for name, its in decisions.items() if its == decision]
    if not names:
        return ""
    listed = wording.list_words(names)
    if decision == "withheld":
        return f"No verdict on {listed}: more than {100 * MOST_MISSING:.0f}% of the trials have no reply."
    said = (_SAID if len(names) == 1 else _SAID_OF_SEVERAL)[decision]
    return f"{listed} {said} {name_arm(run.reference)} by {NOUNS[run.primary.name]}."


def _describe_single(run: TrialRun, results: RunResults) -> str:
    (name,) = run.arm_names
    found = [
        f"{write_value(one, total.rate)} {_VERBS[one.name]} ({write_counts(one, total)})"
        for one in (run.primary, MEASURES["right"])
        if one.is_share and (total := results.total(name, one)).n
    ]
    if not found:
        return f"{name_arm(name)} has no trial yet that tells something."
    said = wording.list_words(list(dict.fromkeys(found)))
    return f"{name_arm(name)} has {said}. Nothing is compared: it is the only arm."


def _describe_arm(run: TrialRun, results: RunResults, name: str, looks: Sequence[StoredLook]) -> str:
    decision, measure = looks[-1].decision, run.primary
    if decision == "go on":
        return ""
    if decision == "withheld":
        return f"No verdict on {name_arm(name)}: {_describe_missing(run, results, name)}."
    difference, _ = results.compare(name, measure, looks)
    figures = f": {NOUNS[measure.name]} {write_figures(measure, difference)}" if difference else ""
    said = f"{name_arm(name)} {_SAID[decision]} {name_arm(run.reference)}{figures}."
    if decision == "alike" and run.smallest:
        said += f" They are less than {write_size(measure, run.smallest)} apart."
    more = describe_more(results, name) if decision == "not decided" else ""
    return f"{said} {more}".strip()


def write_figures(measure: TrialMeasure, found: MeasuredDifference) -> str:
    """Write both values and the difference: 4.1% against 11.8%, −7.7 points (−11.9 to −3.6)."""
    of, against = (write_bare(measure, each) for each in (found.of, found.against))
    ends = write_ends(measure, found.low, found.high)
    return f"{of} against {against}, {write_change(measure, found.estimate)} ({ends})"


def describe_more(results: RunResults, arm: str) -> str:
    """Return how many more tasks would decide, if the difference stays as it is; empty where not known."""
    more = results.tasks_to_go(arm)
    if not more:
        return ""
    return f"About {wording.plural(more, 'more task')} would decide if the difference stays as it is."


def _describe_missing(run: TrialRun, results: RunResults, arm: str) -> str:
    (lost, of), (others_lost, others_of) = (results.count_missing(name) for name in (arm, run.reference))
    said = (
        f"{lost:,} of {of:,} trials of {name_arm(arm)} and {others_lost:,} of {others_of:,} of "
        f"{name_arm(run.reference)} have no reply, more than {100 * MOST_MISSING:.0f}%"
    )
    bounds = results.bound_missing(arm) if run.primary.is_share else None
    if bounds is None:
        return said
    low, high = (write_change(run.primary, end, unit=False) for end in bounds)
    return f"{said}; whatever they had been, the difference is between {low} and {high} points"


def _describe_waiting(
    run: TrialRun, results: RunResults, waiting: Sequence[str], looks: Mapping[str, Sequence[StoredLook]]
) -> str:
    names = wording.list_words([name_arm(name) for name in waiting])
    done = len(results.by_arm.get(run.reference, {}))
    coming = next((at for at in run.look_at if at > done), None)
    next_look = f" The next look is at {coming:,}." if coming else ""
    so_far = ""
    if len(run.others) == 1:
        difference, _ = results.compare(waiting[0], run.primary, looks.get(waiting[0], ()))
        if difference:
            so_far = f" So far: {NOUNS[run.primary.name]} {write_figures(run.primary, difference)}."
    tasks = wording.plural(run.tasks, "task")
    return f"Not decided yet: {names}, after {done:,} of {tasks}.{so_far}{next_look}"


def _describe_end(run: TrialRun) -> str:
    stopped = run.stopped_at
    spent = f", {100 * run.spent[0]:.0f}% of the budget" if run.spent else ""
    if stopped:
        return (
            f"It stopped at look {stopped.look} of {len(run.look_at)}, after {run.tasks_tried:,} of "
            f"{wording.plural(run.tasks, 'task')}{spent}."
        )
    return f"All {wording.plural(run.tasks, 'task')} were tried{spent}."


def describe_state(run: TrialRun, now: datetime) -> str:
    """Return how far a run is, in words; `now` is naive UTC."""
    state = run.state(now)
    return "stopped early" if state == "done" and run.stopped_at else state


def describe_run(run: TrialRun, now: datetime) -> str:
    """Return the facts of a run in a line: its name, when it began, its size, what it cost."""
    parts = [
        run.name,
        f"begun {wording.utc(run.created_at)}",
        describe_state(run, now),
        f"{wording.plural(run.trials, 'trial')} of {wording.plural(len(run.arms), 'arm')}",
        write_cost(run),
    ]
    if run.no_reply:
        parts.append(f"{run.no_reply:,} without a reply")
    return " · ".join(parts)


def write_cost(run: TrialRun) -> str:
    """Return what a run cost, and how many trials are not priced."""
    if run.cost is None:
        return "cost not known"
    unpriced = f" and {run.unpriced:,} unpriced trials" if run.unpriced else ""
    return f"{wording.money(run.cost, 'USD', wording.money_places(run.cost))}{unpriced}"
