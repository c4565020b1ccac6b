"""Sentences that answer the question of a trial run, for the page, the terminal and the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from callgauge.analysis import wording
from callgauge.stats.task_pairs import (
    MOST_MISSING,
    Decision,
    FactorComparison,
    FactorDifference,
    MeasuredDifference,
)

NOUNS = {
    "refused": "invalid calls",
    "mended": "repaired calls",
    "right": "right trials",
    "turn_ok": "turns that ended well",
    "tokens": "tokens",
    "cost": "cost",
}
"""The noun for each measure in a sentence."""
_ORDER: tuple[Decision, ...] = ("better", "worse", "alike", "not decided")  # order of the sentences
_WORDS: dict[str, str] = {
    "better": "better",
    "worse": "worse",
    "alike": "equivalent",
    "not decided": "no clear difference",
    "go on": "still open",
    "withheld": "no verdict",
}


class TrialUnit(Protocol):
    """The unit of a measure. Shares are 0 to 1, amounts are in `tokens` or `USD`."""

    @property
    def name(self) -> str: ...

    @property
    def is_share(self) -> bool: ...

    @property
    def unit(self) -> str: ...


@dataclass(frozen=True, slots=True)
class VariantAnswer:
    """The result of a trial run for a variant by the primary measure.

    If the variant is undecided, `more` says how many more tasks a verdict needs. `lost` holds two numbers:
    the variant's trials without a reply, and all trials of the variant. `bounds` is the range of the
    difference over all possible results of the missing trials.
    """

    name: str
    decision: Decision
    difference: MeasuredDifference | None
    more: int | None
    lost: tuple[int, int]
    bounds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """The results of a trial run so far.

    `smallest` is the smallest difference of interest, in the unit of `measure`. `lost` holds two numbers: the
    reference's trials without a reply, and all trials of the reference. `factors` holds the comparisons of
    settings in which variants differ. `done` is the number of completed tasks, and `planned` is the number of
    all tasks. If the trial run ended early, `stopped_at` holds the last interim analysis, the number of
    planned analyses, and the tasks so far. `next_at` is the number of tasks at which the next analysis is
    due. `spent` is the spent share of the budget.
    """

    measure: TrialUnit
    reference: str
    smallest: float
    variants: Sequence[VariantAnswer]
    lost: tuple[int, int]
    factors: Sequence[FactorComparison]
    done: int
    planned: int
    is_over: bool
    stopped_at: tuple[int, int, int] | None
    next_at: int | None
    spent: float | None


def write_trial(answer: TrialAnswer) -> list[str]:
    """Return the sentences that answer the question of a trial run.

    They contain names from the plan. If the trial run is over and variants are combinations of settings, each
    setting is judged over all combinations.
    """
    decided = [each for each in answer.variants if each.decision in _ORDER]
    if answer.factors and answer.is_over:
        # The model comes last, because a plan over several models asks about the change in each model.
        factors = sorted(answer.factors, key=lambda each: each.factor == "model")
        sentences = [sentence for each in factors for sentence in _describe_factor(answer, each)]
    elif len(answer.variants) == 1:
        sentences = [_describe_variant(answer, each) for each in decided]
    else:
        sentences = [text for each in _ORDER if (text := _describe_group(answer, decided, each))]
    sentences += [_describe_withheld(answer, each) for each in answer.variants if each.decision == "withheld"]
    if waiting := [each for each in answer.variants if each.decision == "go on"]:
        sentences.append(_describe_waiting(answer, waiting))
    if answer.is_over:
        sentences.append(_describe_end(answer))
    return sentences


def _describe_factor(answer: TrialAnswer, comparison: FactorComparison) -> Iterator[str]:
    """Yield whether a setting helps over all combinations of the other settings, and in each combination."""
    whole = _compare(
        answer,
        _show(comparison.value),
        _show(comparison.against),
        comparison.overall.word,
        comparison.overall,
    )
    whole = whole.replace("No clear", "no clear", 1).removesuffix(".")
    yield f"By {comparison.factor}, {whole}, judged once at the end."
    places = "; ".join(
        f"{_WORDS[each.word]} with {name_place(each)} ({write_change(answer.measure, each.estimate)})"
        for each in comparison.within
    )
    yield (
        f"It depends on where: {places}."
        if comparison.interacts
        else f"No sign that it depends on where: {places}."
    )


def name_place(difference: FactorDifference) -> str:
    """Return the settings within which a difference was measured, such as "model a"."""
    return ", ".join(f"{key} {_show(value)}" for key, value in difference.where.items())


def _show(value: object) -> str:
    return "none" if value is None else wording.one_line(str(value), 40)


def _describe_variant(answer: TrialAnswer, each: VariantAnswer) -> str:
    sentence = _compare(
        answer, name_arm(each.name), name_arm(answer.reference), each.decision, each.difference
    )
    if each.decision != "not decided" or not each.more:
        return sentence
    return f"{sentence} {write_more(each.more)}"


def _compare(
    answer: TrialAnswer,
    subject: str,
    against: str,
    word: Decision,
    difference: MeasuredDifference | FactorDifference | None,
) -> str:
    figures = ""
    if difference is not None:
        figures = f": {NOUNS[answer.measure.name]} {write_figures(answer.measure, difference)}"
    if word == "not decided":
        return f"No clear difference between {subject} and {against}{figures}."
    if word == "alike":
        apart = f"less than {write_size(answer.measure, answer.smallest)} apart"
        return f"{subject} and {against} are equivalent ({apart}){figures}."
    return f"{subject} is {_WORDS[word]} than {against}{figures}."


def _describe_group(answer: TrialAnswer, decided: Sequence[VariantAnswer], word: Decision) -> str:
    names = [name_arm(each.name) for each in decided if each.decision == word]
    if not names:
        return ""
    listed, reference = wording.list_words(names), name_arm(answer.reference)
    noun = NOUNS[answer.measure.name]
    be = "is" if len(names) == 1 else "are"
    if word == "not decided":
        return f"No clear difference by {noun} between {reference} and {listed}."
    if word == "alike":
        apart = f"less than {write_size(answer.measure, answer.smallest)} apart"
        return f"{listed} {be} equivalent to {reference} by {noun} ({apart})."
    return f"{listed} {be} {_WORDS[word]} than {reference} by {noun}."


def _describe_withheld(answer: TrialAnswer, each: VariantAnswer) -> str:
    name, reference = name_arm(each.name), name_arm(answer.reference)
    sentence = (
        f"No verdict on {name}: {each.lost[0]:,} of {each.lost[1]:,} trials of {name} and "
        f"{answer.lost[0]:,} of {answer.lost[1]:,} of {reference} have no reply, "
        f"more than {100 * MOST_MISSING:.0f}%"
    )
    if each.bounds is None:
        return f"{sentence}."
    low, high = (write_bare_change(answer.measure, end) for end in each.bounds)
    return f"{sentence}; whatever they had been, the difference is between {low} and {high} points."


def _describe_waiting(answer: TrialAnswer, waiting: Sequence[VariantAnswer]) -> str:
    names = wording.list_words([name_arm(each.name) for each in waiting])
    coming = f" The next interim analysis is at {answer.next_at:,}." if answer.next_at else ""
    so_far = ""
    if len(answer.variants) == 1 and (difference := waiting[0].difference):
        figures = write_figures(answer.measure, difference)
        so_far = f" So far: {NOUNS[answer.measure.name]} {figures}."
    tasks = wording.plural(answer.planned, "task")
    return f"Not decided yet: {names}, after {answer.done:,} of {tasks}.{so_far}{coming}"


def _describe_end(answer: TrialAnswer) -> str:
    spent = f", {100 * answer.spent:.0f}% of the budget" if answer.spent is not None else ""
    tasks = wording.plural(answer.planned, "task")
    if answer.stopped_at is None:
        return f"All {tasks} were tried{spent}."
    number, planned, done = answer.stopped_at
    return f"It stopped at interim analysis {number} of {planned}, after {done:,} of {tasks}{spent}."


def write_more(more: int) -> str:
    """Return the sentence on how many more tasks a verdict needs."""
    return f"About {wording.plural(more, 'more task')} would decide if the difference stays as it is."


def write_figures(measure: TrialUnit, difference: MeasuredDifference | FactorDifference) -> str:
    """Write both values and the difference, such as "4.1% against 11.8%, −7.7 points (−11.9 to −3.6)"."""
    value, against = (write_bare(measure, each) for each in (difference.of, difference.against))
    ends = write_ends(measure, difference.low, difference.high)
    return f"{value} against {against}, {write_change(measure, difference.estimate)} ({ends})"


def name_arm(name: str) -> str:
    """Return a variant's name for a sentence or a table cell, on one line and cut to 40 characters."""
    return wording.one_line(name, 40)


def write_bare(measure: TrialUnit, value: float | None) -> str:
    """Write a value for a table cell, without the word "tokens"."""
    if value is None:
        return "–"
    if measure.is_share:
        return wording.fixed_percent(value, 1)
    if measure.unit == "tokens":
        return f"{value:,.0f}"
    return wording.money(value, "USD", wording.money_places(value))


def write_change(measure: TrialUnit, value: float, *, unit: bool = True) -> str:
    """Write a difference with sign and unit, such as −7.7 points or +310 tokens.

    If `unit` is False, omit the unit.
    """
    words = " points" if measure.is_share else " tokens" if measure.unit == "tokens" else ""
    return f"{write_bare_change(measure, value)}{words if unit else ''}"


def write_bare_change(measure: TrialUnit, value: float) -> str:
    """Write a difference for a table cell, with sign but without unit, such as −7.7, +310 or −$0.0021."""
    bare = f"{abs(100 * value):.1f}" if measure.is_share else write_bare(measure, abs(value))
    sign = "" if not bare.strip("$0.,") else "−" if value < 0 else "+"
    return f"{sign}{bare}"


def write_ends(measure: TrialUnit, low: float, high: float) -> str:
    """Write an interval of a difference, such as −11.9 to −3.6."""
    return f"{write_bare_change(measure, low)} to {write_bare_change(measure, high)}"


def write_size(measure: TrialUnit, size: float) -> str:
    """Write the size of a difference, such as 5 points, 300 tokens or $0.01."""
    if measure.is_share:
        return f"{100 * size:.3g} point{'' if round(100 * size, 6) == 1 else 's'}"
    bare = write_bare(measure, size)
    return f"{bare} tokens" if measure.unit == "tokens" else bare
