"""Figures and words of trials: measures in their unit, decisions, the answer of a run in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from callgauge.dashboard import wording
from callgauge.dashboard.measures.trials import (
    MEASURES,
    MOST_MISSING,
    ArmLook,
    ArmTotal,
    RunResults,
    TrialMeasure,
    TrialRun,
    tasks_to_go,
)
from callgauge.dashboard.measures.verdicts import fixed_points, format_points

Tone = Literal["bad", "warn", "good", "calm", "info"]
TONES: Mapping[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "alike": "calm",
    "go on": "info",
    "not decided": "calm",
    "withheld": "warn",
}
"""The colour of each decision, as tables show words."""
_ORDER = ("better", "worse", "alike", "not decided", "withheld")  # of the sentences
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
_NOUNS = {
    "refused": "refused calls",
    "mended": "mended calls",
    "right": "right trials",
    "turn_ok": "turns that ended well",
    "tokens": "tokens",
    "cost": "cost",
}
_VERBS = {
    "refused": "of its calls refused",
    "mended": "of its calls mended",
    "right": "of its trials right",
    "turn_ok": "of its turns ok",
}


def write_value(measure: TrialMeasure, value: float | None) -> str:
    """Write what a measure came to, in its unit: 4.1%, 1.2k tokens, $0.0012; a dash for None."""
    if value is None:
        return "–"
    if measure.unit == "tokens":
        return f"{wording.compact(value)} tokens"
    if measure.unit == "USD":
        return wording.money(value, "USD", wording.money_places(value))
    return wording.percent(value)


def write_change(measure: TrialMeasure, value: float, *, unit: bool = True) -> str:
    """Write a difference in its unit with its sign: −7.7 points, +310 tokens, −$0.0021."""
    if measure.is_share:
        return f"{format_points(value)} points" if unit else format_points(value)
    sign = "" if not value else "−" if value < 0 else "+"
    if measure.unit == "tokens":
        return f"{sign}{wording.compact(abs(value))}{' tokens' if unit else ''}"
    return f"{sign}{wording.money(abs(value), 'USD', wording.money_places(abs(value)))}"


def write_ends(measure: TrialMeasure, low: float, high: float) -> str:
    """Write an interval of a difference: −11.9 to −3.6."""
    if measure.is_share:
        return f"{fixed_points(low, 1)} to {fixed_points(high, 1)}"
    return f"{write_change(measure, low, unit=False)} to {write_change(measure, high, unit=False)}"


def write_size(measure: TrialMeasure, size: float) -> str:
    """Write the size of a difference: 5 points, 300 tokens, $0.01."""
    if measure.is_share:
        return f"{100 * size:.3g} point{'' if round(100 * size, 6) == 1 else 's'}"
    return write_value(measure, size)


def write_counts(measure: TrialMeasure, total: ArmTotal) -> str:
    """Write what a value rests on: k / n, or the number of trials."""
    if measure.is_share:
        return wording.fraction(int(total.k), int(total.n))
    return wording.plural(int(total.n), "trial")


def name_arm(name: str) -> str:
    """Return an arm's name for a sentence or a cell: on one line, cut to 40."""
    return wording.one_line(name, 40)


def write_decision(run: TrialRun, decision: str) -> str:
    """Return the words for a decision: better, alike within 5 points, not decided."""
    if decision == "alike" and run.smallest:
        return f"alike within {write_size(run.primary, run.smallest)}"
    return {"go on": "still open", "withheld": "no verdict"}.get(decision, decision)


def write_short_answer(run: TrialRun) -> list[tuple[str, str]]:
    """Return the decision on each arm with its words: (decision, “new: better”)."""
    return [
        (one.decision, f"{name_arm(name)}: {write_decision(run, one.decision)}")
        for name in run.others
        if (one := run.decisions.get(name))
    ]


def write_answer(run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[ArmLook]]) -> str:
    """Return the sentences that answer the question of a run, with its figures."""
    if not run.others:
        return _describe_single(run, results)
    last = {name: looks[name][-1] for name in run.others if looks.get(name)}
    ended = [look for look in last.values() if look.decision != "go on"]
    if len(run.others) == 1:
        sentences = [_describe_arm(run, results, look) for look in ended]
    else:
        sentences = [_describe_arms(run, decision, ended) for decision in _ORDER]
    waiting = [name for name in run.others if name not in last or last[name].decision == "go on"]
    if waiting:
        sentences.append(_describe_waiting(run, results, waiting))
    if run.is_decided:
        sentences.append(_describe_end(run))
    return " ".join(filter(None, sentences))


def _describe_arms(run: TrialRun, decision: str, looks: Sequence[ArmLook]) -> str:
    """Return the sentence on all arms with one decision; the table has their figures."""
    names = [name_arm(look.arm) for look in looks if look.decision == decision]
    if not names:
        return ""
    listed = wording.list_words(names)
    if decision == "withheld":
        return f"No verdict on {listed}: more than {100 * MOST_MISSING:.0f}% of the trials have no reply."
    said = (_SAID if len(names) == 1 else _SAID_OF_SEVERAL)[decision]
    return f"{listed} {said} {name_arm(run.reference)} by {_NOUNS[run.primary.name]}."


def _describe_single(run: TrialRun, results: RunResults) -> str:
    (name,) = run.arm_names
    found = [
        f"{write_value(one, total.value)} {_VERBS[one.name]} ({write_counts(one, total)})"
        for one in (run.primary, MEASURES["right"])
        if one.is_share and (total := results.total(name, one)).n
    ]
    if not found:
        return f"{name_arm(name)} has no trial yet that tells something."
    said = wording.list_words(list(dict.fromkeys(found)))
    return f"{name_arm(name)} has {said}. Nothing is compared: it is the only arm."


def _describe_arm(run: TrialRun, results: RunResults, look: ArmLook) -> str:
    name, measure = name_arm(look.arm), run.primary
    if look.decision == "withheld":
        return f"No verdict on {name}: {_describe_missing(run, results, look.arm)}."
    said = _SAID[look.decision]
    tail = ""
    if look.decision == "not decided":
        tail = describe_more(results, look.arm)
    elif look.decision == "alike" and run.smallest:
        tail = f" They are less than {write_size(measure, run.smallest)} apart."
    figures = _describe_figures(run, results, look)
    return f"{name} {said} {name_arm(run.reference)}: {_NOUNS[measure.name]} {figures}.{tail}"


def _describe_figures(run: TrialRun, results: RunResults, look: ArmLook) -> str:
    measure = run.primary
    pairs = results.pair(look.arm, measure)
    rates = f"{write_value(measure, pairs.of)} against {write_value(measure, pairs.against)}"
    if look.estimate is None or look.low is None or look.high is None:
        return rates
    return f"{rates}, {write_change(measure, look.estimate)} ({write_ends(measure, look.low, look.high)})"


def describe_more(results: RunResults, arm: str) -> str:
    """Return how many more tasks would decide a difference of the smallest size; empty where not known."""
    more, run = tasks_to_go(results, arm), results.run
    if not more:
        return ""
    size = write_size(run.primary, run.smallest)
    return f" About {wording.round_up(more)} more tasks would decide a difference of {size}."


def _describe_missing(run: TrialRun, results: RunResults, arm: str) -> str:
    counts = {name: results.count_missing(name) for name in (arm, run.reference)}
    name, (lost, of) = max(counts.items(), key=lambda item: item[1][0] / item[1][1] if item[1][1] else 0.0)
    share = wording.rate(lost, of)
    return (
        f"{share} of the trials of {name_arm(name)} have no reply ({wording.fraction(lost, of)}), "
        f"more than {100 * MOST_MISSING:.0f}%"
    )


def _describe_waiting(run: TrialRun, results: RunResults, waiting: Sequence[str]) -> str:
    names = wording.list_words([name_arm(name) for name in waiting])
    done = len(results.by_arm.get(run.reference, {}))
    coming = next((at for at in run.look_at if at > done), None)
    next_look = f" The next look is at {coming:,}." if coming else ""
    so_far = ""
    pairs = results.pair(waiting[0], run.primary)
    if len(run.others) == 1 and pairs.of is not None:
        of, against = (write_value(run.primary, value) for value in (pairs.of, pairs.against))
        so_far = f" So far: {_NOUNS[run.primary.name]} {of} against {against}."
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
