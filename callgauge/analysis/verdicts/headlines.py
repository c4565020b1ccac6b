"""Sentences on a breakdown: which of two slices is better, for which calls, which other rates get worse, and
what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from callgauge.analysis import wording
from callgauge.analysis.measures.breakdown import DECIDED, Breakdown, Split, StratumComparison
from callgauge.analysis.measures.comparisons import SliceComparison, Standing
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.verdicts.sentences import (
    UNDATED,
    describe_correction,
    describe_more,
    describe_visible,
    format_points,
    format_size,
    is_order_reversed,
    is_undated,
)
from callgauge.stats.day_spread import LEAST_DAYS

_NAMED = 2  # maximum number of strata in a headline
_REPAIRED = ("mended", "coerced", "repaired", "strict_failure")
Label = Callable[[str, str], str]
"""Returns the label of a value of a dimension."""


class ArmNames(NamedTuple):
    """The names of two slices in a sentence: the judged slice and the baseline."""

    of: str
    against: str


_OVERALL: Mapping[Standing, str] = {
    Standing.UNMEASURED: "nothing to compare",
    Standing.REFERENCE: "nothing to compare",
    Standing.UNNAMED: "no verdict on what the logs do not name",
    Standing.TOO_FEW: "not enough data",
    Standing.TOO_FEW_DAYS: f"not enough data, they ran on different days and neither on {LEAST_DAYS}",
    Standing.MEASURED_APART: "not comparable, since the two were not measured in the same way",
    Standing.OTHER_WORK: "no verdict, they did different work",
    Standing.UNDECIDED: "no clear difference",
    Standing.ALIKE: "equivalent",
}
_WORDS: Mapping[Standing, str] = {
    Standing.BETTER: "better",
    Standing.WORSE: "worse",
    Standing.MORE: "more",
    Standing.LESS: "less",
}


def write_headline(
    breakdown: Breakdown, names: ArmNames, label: Label, smallest: float, *, with_visible: bool = True
) -> str:
    """Return the sentences on whether one slice is better than the other, the exceptions, and which other
    rates are worse.

    `smallest` is the smallest difference of interest, as a share. If `with_visible` is False, leave out which
    difference is too small for the present data.
    """
    whole = _describe_whole(
        breakdown, names, breakdown.find_named(smallest), smallest, with_visible=with_visible
    )
    return f"{whole} {write_details(breakdown, names, label, smallest)}".rstrip()


def write_details(breakdown: Breakdown, names: ArmNames, label: Label, smallest: float) -> str:
    """Return the sentences of `write_headline` that follow the overall verdict."""
    sentences = [
        *_describe_named(breakdown, breakdown.find_named(smallest), label, smallest),
        _describe_dependence(breakdown, smallest),
        *_describe_prices(breakdown, names, smallest),
        _describe_undated(breakdown.whole, smallest),
        breakdown.basis.sentence if breakdown.basis else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_undated(whole: SliceComparison, smallest: float) -> str:
    sides = [side for side in (whole.slice, whole.other) if side]
    return UNDATED if whole.standing(smallest) in DECIDED and is_undated(sides) else ""


def write_advice(
    breakdown: Breakdown, names: ArmNames, label: Label, smallest: float, *, with_effect: bool = True
) -> str:
    """Return which slice to use, in a few sentences.

    Example: keep @12. @13 is worse for heron: 50% against 1.9%. If the verdict splits by a dimension, the
    advice covers both groups of values. `names.against` is the slice in use now. `smallest` is the smallest
    difference of interest, as a share. If `with_effect` is True, add how many failed calls a separate
    decision for each value saves.
    """
    split = breakdown.find_split(smallest)
    sentences = [
        _advise_split(breakdown, split, names, label, smallest, with_effect=with_effect)
        if split
        else _advise_whole(breakdown, names, label, smallest),
        *_describe_prices(breakdown, names, smallest),
        breakdown.basis.sentence if breakdown.basis else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def suggest_decision(breakdown: Breakdown, names: ArmNames, smallest: float) -> str:
    """Return a suggested title for a decision.

    Return "" if the verdict is split or other rates get worse.
    """
    whole = breakdown.whole.standing(smallest)
    is_split = any(each.standing(smallest) is not whole for each in breakdown.find_named(smallest))
    if is_split or breakdown.list_prices(smallest):
        return ""
    return f"Take {names.of}" if whole is Standing.BETTER else f"Keep {names.against}"


def _advise_split(
    breakdown: Breakdown, split: Split, names: ArmNames, label: Label, smallest: float, *, with_effect: bool
) -> str:
    take, keep = (_list_values(strata, names, label, smallest) for strata in (split.better, split.worse))
    advice = f"take {names.of} for {take}; keep {names.against} for {keep}."
    standing = breakdown.whole.standing(smallest)
    if standing in _WORDS:
        advice += f" Overall {names.of} is {_WORDS[standing]}: {_describe_rates(breakdown.whole)}."
    return advice + (_describe_effect(breakdown, split, names) if with_effect else "")


def _list_values(strata: Sequence[StratumComparison], names: ArmNames, label: Label, smallest: float) -> str:
    """Return values with both rates, such as "owl (parse errors 3.9% with @5, 13.9% with @4)"."""
    if not strata:
        return ""
    listed = [
        f"{label(each.dimension, each.name)} ({_describe_choice(each.comparison, names, smallest)})"
        for each in strata[:_NAMED]
        if each.comparison
    ]
    more = len(strata) - _NAMED
    return wording.list_words([*listed, f"{more} more"] if more > 0 else listed)


def _describe_choice(comparison: SliceComparison, names: ArmNames, smallest: float) -> str:
    rates = zip(_write_rates(comparison), (names.of, names.against), strict=True)
    first, second = (f"{rate} with {name}" for rate, name in rates)
    if comparison.standing(smallest) is Standing.WORSE:
        first, second = second, first
    mixed = ", mix-adjusted" if comparison.is_at_same_mix else ""
    return f"{comparison.slice.rate.phrase} {first}, {second}{mixed}"


def _describe_effect(breakdown: Breakdown, split: Split, names: ArmNames) -> str:
    """Describe the weekly gain of the change, for the values where it helps and for all values.

    Return "" if there is no gain.
    """
    rate = breakdown.whole.slice.rate
    gain = _sum_gain(split.better, breakdown.weekly, rate)
    everywhere = _sum_gain(breakdown.strata[split.dimension], breakdown.weekly, rate)
    if round(gain) < 1:
        return ""
    values = f"all {wording.plural_of(wording.dimension(split.dimension))}"
    units = _name_units(rate)
    verb = "gains" if rate.is_good else "saves"
    whole = f"{verb if everywhere >= 0 else 'costs'} about {_round(abs(everywhere))}"
    return (
        f" With the traffic of the last 7 days that {verb} about {_round(gain)} {units} a week "
        f"against {names.against} for {values}; {names.of} for {values} {whole}."
    )


def _sum_gain(
    strata: Sequence[StratumComparison], weekly: Mapping[str, float], rate: RateDefinition
) -> float:
    changes = (
        each.comparison.difference.estimate * weekly.get(each.name, 0.0)
        for each in strata
        if each.comparison and each.comparison.difference and each.is_judged
    )
    return sum(changes) * (1 if rate.is_good else -1)


def _name_units(rate: RateDefinition) -> str:
    """Return the plural noun for the failures of a rate, or for its successes if a high rate is good."""
    if rate.name == "retried":
        return "turns with a retry"
    if rate.is_good:
        return f"successful {rate.noun}s"
    return "calls that need repair" if rate.name in _REPAIRED else f"failed {rate.noun}s"


def _round(number: float) -> str:
    digits = len(str(round(number)))
    return f"{round(number, min(0, 2 - digits)):,.0f}"


def _advise_whole(breakdown: Breakdown, names: ArmNames, label: Label, smallest: float) -> str:
    standing, named = breakdown.whole.standing(smallest), breakdown.find_named(smallest)
    rates = _describe_rates(breakdown.whole)
    worse, better = (
        _list_values([each for each in named if each.standing(smallest) is wanted], names, label, smallest)
        for wanted in (Standing.WORSE, Standing.BETTER)
    )
    if standing is Standing.WORSE and not better:
        most = [each for each in named if _exceeds(each, breakdown)]
        more = f" Most of all for {_list_strata(most, label)}." if most else ""
        return f"keep {names.against}. {names.of} is worse: {rates}.{more}"
    if standing is Standing.WORSE:
        return f"keep {names.against}, but take {names.of} for {better}. Overall it is worse: {rates}."
    if standing is Standing.BETTER and not worse:
        return f"take {names.of}. It is better: {rates}."
    if standing is Standing.BETTER:
        return f"take {names.of}, but keep {names.against} for {worse}. Overall it is better: {rates}."
    if worse or better:
        parts = ((f"take {names.of} for", better), (f"keep {names.against} for", worse))
        advice = "; ".join(f"{words} {values}" for words, values in parts if values)
        return f"{advice}. Overall: {_OVERALL.get(standing, 'neither is better')}."
    if standing in _WORDS:
        return f"{names.of} has {_WORDS[standing]} of it: {rates}."
    return _describe_whole(breakdown, names, named, smallest)


def _describe_whole(
    breakdown: Breakdown,
    names: ArmNames,
    named: Sequence[StratumComparison],
    smallest: float,
    *,
    with_visible: bool = True,
) -> str:
    whole = breakdown.whole
    standing, rates = whole.standing(smallest), _describe_rates(whole)
    rates = f"{whole.slice.rate.phrase} {rates}" if rates else ""
    if standing in (Standing.BETTER, Standing.WORSE):
        return f"{names.of} is {_WORDS[standing]} than {names.against}: {rates}."
    if standing in _WORDS:
        return f"{names.of} has {_WORDS[standing]} than {names.against}: {rates}."
    if standing is Standing.ALIKE:
        apart = f"less than {format_size(smallest)} apart"
        return f"{names.of} and {names.against} are equivalent ({apart}): {rates}."
    if standing is Standing.UNDECIDED and whole.difference and whole.difference.is_decisive:
        side = "better" if whole.is_better_alone(whole.slice.name, smallest) else "worse"
        side = side if whole.slice.rate.better else "different"
        return f"{names.of} is {side} as a pair, {describe_correction(whole)}: {rates}."
    if standing is Standing.UNDECIDED and named:
        return f"No clear difference between {names.of} and {names.against} overall: {rates}."
    if standing is Standing.UNDECIDED:
        visible = f"; {describe_visible(whole)}" if with_visible else ""
        return f"No clear difference between {names.of} and {names.against}: {rates}{visible}."
    verdict = f"{names.of} against {names.against}: {_describe_standing(whole, standing)}"
    return f"{verdict} ({rates})." if rates else f"{verdict}."


def _describe_standing(whole: SliceComparison, standing: Standing) -> str:
    sides = [side for side in (whole.slice, whole.other) if side]
    if standing is Standing.TOO_FEW and not all(side.is_rankable for side in sides):
        return "too little could be measured"
    return _OVERALL[standing]


def _describe_dependence(breakdown: Breakdown, smallest: float) -> str:
    standing = breakdown.whole.standing(smallest)
    if standing in (Standing.TOO_FEW, Standing.TOO_FEW_DAYS, Standing.UNMEASURED, Standing.REFERENCE):
        return ""
    decided = {
        dimension
        for dimension, strata in breakdown.strata.items()
        if any(each.standing(smallest) in DECIDED for each in strata)
    }
    unclear = [name for name in breakdown.list_differing() if name not in decided]
    if not unclear:
        return ""
    noun = wording.dimension(unclear[0])
    return f"The difference depends on the {noun}, but no {noun} alone shows a clear difference."


def _describe_prices(breakdown: Breakdown, names: ArmNames, smallest: float) -> Iterator[str]:
    """Yield the other leading rates by which the better slice is worse."""
    where = " there" if breakdown.find_helped(smallest) else ""
    for price in breakdown.list_prices(smallest):
        by = f"{_WORDS[price.standing(smallest)]} by {price.slice.rate.phrase}{where}"
        yield f"But {names.of} is {by}: {_describe_rates(price)}."


def _describe_named(
    breakdown: Breakdown, named: Sequence[StratumComparison], label: Label, smallest: float
) -> list[str]:
    sentences = [_describe_stratum(breakdown, each, label, smallest) for each in named[:_NAMED]]
    more = len(named) - _NAMED
    return [*sentences, describe_more(more)] if more > 0 else sentences


def _describe_stratum(breakdown: Breakdown, each: StratumComparison, label: Label, smallest: float) -> str:
    comparison, name = each.comparison, label(each.dimension, each.name)
    if comparison is None or comparison.difference is None:
        return ""
    whole, own = breakdown.whole.standing(smallest), each.standing(smallest)
    points = f"{format_points(comparison.difference.estimate)} points"
    rates = f"{_describe_rates(comparison)} ({points}, {describe_sessions(comparison)})"
    word = _WORDS[own].capitalize()
    if own is whole:
        return f"{'Most of all' if _exceeds(each, breakdown) else 'Less so'} for {name}: {rates}."
    opposite = whole in _WORDS
    return f"But {word.lower()} for {name}: {rates}." if opposite else f"{word} for {name}: {rates}."


def describe_dimension(breakdown: Breakdown, dimension: str, label: Label) -> str:
    """Describe whether the difference depends on a dimension."""
    strata, noun = breakdown.strata[dimension], wording.dimension(dimension)
    unlike = [each for each in strata if each.is_unlike_others]
    if unlike:
        best = min(unlike, key=lambda each: each.contrast_p or 0.0)
        chance = best.contrast_p or 0.0
        p = "p < 0.001" if chance < 0.001 else f"p {chance:.3f}"
        how = f"{label(dimension, best.name)} differs from the others"
        if len(strata) == 2:  # Each of the two values differs from the other value.
            how = _list_differences(breakdown, strata, label) or how
        return f"The difference depends on the {noun}: {how} ({p}, corrected)."
    if _has_contrasts(strata):
        return f"No sign that the difference depends on the {noun}."
    return f"Not enough data to say whether the difference depends on the {noun}."


def describe_evenness(breakdown: Breakdown) -> str:
    """Return that there is no sign that the difference depends on any dimension, or "" if there is a sign.

    The sentence names the dimensions with enough data. Return "" if no dimension has enough data.
    """
    nouns = [wording.dimension(name) for name, strata in breakdown.strata.items() if _has_contrasts(strata)]
    if breakdown.list_differing() or not nouns:
        return ""
    return f"No sign that the difference depends on the {wording.list_words(nouns, 'or')}."


def _has_contrasts(strata: Sequence[StratumComparison]) -> bool:
    return sum(each.contrast_p is not None for each in strata) > 1


def _list_differences(breakdown: Breakdown, strata: Sequence[StratumComparison], label: Label) -> str:
    """Return the difference within each value, the worst first, such as "+9 points for west-2 and ….

    Return "" if a difference is unknown.
    """
    sign = -1 if breakdown.whole.slice.rate.is_good else 1
    estimates = [
        (each.comparison.difference.estimate, label(each.dimension, each.name))
        for each in strata
        if each.comparison and each.comparison.difference
    ]
    if len(estimates) < len(strata):
        return ""
    estimates.sort(key=lambda pair: -sign * pair[0])
    return wording.list_words([f"{format_points(size)} points for {name}" for size, name in estimates])


def _exceeds(stratum: StratumComparison, breakdown: Breakdown) -> bool:
    difference, whole = (
        stratum.comparison.difference if stratum.comparison else None,
        breakdown.whole.difference,
    )
    return difference is not None and whole is not None and abs(difference.estimate) >= abs(whole.estimate)


def _list_strata(strata: Sequence[StratumComparison], label: Label) -> str:
    named = [
        f"{label(each.dimension, each.name)}: {_describe_rates(each.comparison)}"
        for each in strata[:_NAMED]
        if each.comparison
    ]
    more = len(strata) - _NAMED
    return "; ".join([*named, f"{more} more"] if more > 0 else named)


def _describe_rates(comparison: SliceComparison) -> str:
    """Return both rates, such as "50% against 1.9%".

    Add the unadjusted rates if the mix-adjusted rates disagree.
    """
    share, other = comparison.slice.share, comparison.other.share if comparison.other else None
    if other is None or not share.n or not other.n:
        return ""
    first, against = _write_rates(comparison)
    if not (comparison.is_at_same_mix and comparison.p is not None):
        return f"{first} against {against}"
    adjusted = f"{first} against {against}, mix-adjusted"
    plain = f"{wording.rate(share.k, share.n)} against {wording.rate(other.k, other.n)}"
    if is_order_reversed(comparison):
        return f"{adjusted} (unadjusted, the other way round: {plain})"
    if (
        comparison.plain
        and comparison.difference
        and comparison.plain.is_decisive != comparison.difference.is_decisive
    ):
        return f"{adjusted} (unadjusted: {plain})"
    return adjusted


def _write_rates(comparison: SliceComparison) -> tuple[str, str]:
    if comparison.is_at_same_mix and comparison.same_mix and comparison.p is not None:
        adjusted = comparison.same_mix.found
        return wording.percent(adjusted.of), wording.percent(adjusted.against)
    share, other = (
        comparison.slice.share,
        comparison.other.share if comparison.other else comparison.slice.share,
    )
    return wording.rate(share.k, share.n), wording.rate(other.k, other.n)


def describe_sessions(comparison: SliceComparison) -> str:
    """Describe the numbers of sessions of both slices."""
    sides = (comparison.slice, comparison.other) if comparison.other else (comparison.slice,)
    return wording.plural(sum(slice_.share.sessions or 0 for slice_ in sides), "session")
