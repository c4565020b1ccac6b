"""Sentences on a difference that was broken down: the whole, for whom it is another one, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from callgauge.analysis import wording
from callgauge.analysis.measures.breakdown import Breakdown, StratumComparison
from callgauge.analysis.measures.comparisons import SliceComparison, Standing
from callgauge.analysis.measures.same_mix import describe_dimensions
from callgauge.analysis.verdicts.sentences import format_size

_NAMED = 2  # strata that a headline names; the table has the others
Label = Callable[[str, str], str]
"""Returns the label of a value of a dimension."""


class ArmNames(NamedTuple):
    """What the two arms are called in a sentence: the one that is judged, and the baseline."""

    of: str
    against: str


_OVER_ALL: Mapping[Standing, str] = {
    Standing.UNMEASURED: "nothing to compare",
    Standing.REFERENCE: "nothing to compare",
    Standing.UNNAMED: "no verdict on what the logs do not name",
    Standing.TOO_FEW: "too few sessions to judge",
    Standing.TOO_FEW_DAYS: "too few days to judge",
    Standing.MEASURED_APART: "not comparable, since the two were not measured in the same way",
    Standing.OTHER_WORK: "no verdict, they did different work",
    Standing.UNDECIDED: "not decided",
    Standing.ALIKE: "alike",
}
_WORDS: Mapping[Standing, str] = {
    Standing.BETTER: "better",
    Standing.WORSE: "worse",
    Standing.MORE: "more",
    Standing.LESS: "less",
}


def write_headline(found: Breakdown, names: ArmNames, label: Label, smallest: float) -> str:
    """Return the sentences that answer whether one arm is better than the other, and for whom not.

    Each has at most twenty words, names of the log apart. `smallest`: the smallest difference worth knowing.
    """
    named = found.find_named(smallest)
    return " ".join(
        [_describe_whole(found, names, named, smallest), *_describe_named(found, named, label, smallest)]
    )


def write_advice(found: Breakdown, names: ArmNames, label: Label, smallest: float) -> str:
    """Return which arm to take, in a sentence or two: keep @12. @13 is worse for heron: 50% against 1.9%.

    `names.against` is what is in use now. `smallest`: the smallest difference worth knowing, a share.
    """
    standing, named = found.whole.standing(smallest), found.find_named(smallest)
    rates = _describe_rates(found.whole)
    worse, better = (
        _list_strata([each for each in named if each.standing(smallest) is wanted], label)
        for wanted in (Standing.WORSE, Standing.BETTER)
    )
    if standing is Standing.WORSE:
        most = _list_strata(
            [each for each in named if each.standing(smallest) is standing and _exceeds(each, found)], label
        )
        more = f" Most of all for {most}." if most else ""
        but = f" But better for {better}." if better else ""
        return f"keep {names.against}. {names.of} is worse: {rates}.{more}{but}"
    if standing is Standing.BETTER and not worse:
        return f"take {names.of}. It is better: {rates}."
    if standing is Standing.BETTER:
        return f"take {names.of}, but not for {worse}. Over all it is better: {rates}."
    if worse:
        also = f", but better for {better}" if better else ""
        return f"keep {names.against}. {names.of} is worse for {worse}{also}."
    if better:
        over_all = _OVER_ALL.get(standing, "neither is better")
        return f"{names.of} is better for {better}. Over all: {over_all}."
    if standing in _WORDS:
        return f"{names.of} has {_WORDS[standing]} of it: {rates}."
    over_all = f"{names.of} against {names.against}: {_describe_standing(found.whole, standing)}"
    unlike = "".join(f" {sentence}" for sentence in _describe_named(found, named, label, smallest))
    return f"{over_all}{f' ({rates})' if rates else ''}.{unlike}"


def _describe_whole(
    found: Breakdown, names: ArmNames, named: Sequence[StratumComparison], smallest: float
) -> str:
    standing, rates = found.whole.standing(smallest), _describe_rates(found.whole)
    rates = f"{found.whole.slice.rate.title.lower()} {rates}" if rates else ""
    if standing in (Standing.BETTER, Standing.WORSE):
        return f"{names.of} is {_WORDS[standing]} than {names.against}: {rates}."
    if standing in _WORDS:
        return f"{names.of} has {_WORDS[standing]} than {names.against}: {rates}."
    if standing is Standing.ALIKE:
        apart = f"less than {format_size(smallest)} apart"
        return f"{names.of} and {names.against} are alike, {apart}: {rates}."
    said = f"{names.of} against {names.against}: {_describe_standing(found.whole, standing)}"
    if named:
        dimensions = list(dict.fromkeys(each.dimension for each in named))
        return f"{said} over all {describe_dimensions(dimensions)}."
    return f"{said} ({rates})." if rates else f"{said}."


def _describe_standing(whole: SliceComparison, standing: Standing) -> str:
    sides = [one for one in (whole.slice, whole.other) if one]
    if standing is Standing.TOO_FEW and not all(one.is_rankable for one in sides):
        return "too little could be measured"
    return _OVER_ALL[standing]


def _describe_named(
    found: Breakdown, named: Sequence[StratumComparison], label: Label, smallest: float
) -> list[str]:
    sentences = [_describe_stratum(found, each, label, smallest) for each in named[:_NAMED]]
    more = len(named) - _NAMED
    return [*sentences, f"And {more} more, below."] if more > 0 else sentences


def _describe_stratum(found: Breakdown, each: StratumComparison, label: Label, smallest: float) -> str:
    held, name = each.held, label(each.dimension, each.name)
    if held is None or held.difference is None:
        return ""
    whole, own = found.whole.standing(smallest), each.standing(smallest)
    points = f"{format_rounded(held.difference.estimate)} points"
    rates = f"{_describe_rates(held)} ({points}, {describe_sessions(held)})"
    if own not in _WORDS:
        return f"Different for {name}: {rates}."
    word = _WORDS[own].capitalize()
    if own is whole:
        return f"{'Most of all' if _exceeds(each, found) else 'Less so'} for {name}: {rates}."
    opposite = whole in _WORDS
    return f"But {word.lower()} for {name}: {rates}." if opposite else f"{word} for {name}: {rates}."


def describe_dimension(found: Breakdown, dimension: str, label: Label) -> str:
    """Say in a sentence whether the difference depends on a dimension."""
    strata, noun = found.strata[dimension], wording.dimension(dimension)
    unlike = [each for each in strata if each.is_unlike_others]
    if unlike:
        best = min(unlike, key=lambda each: each.contrast_p or 0.0)
        chance = best.contrast_p or 0.0
        p = "p < 0.001" if chance < 0.001 else f"p {chance:.3f}"
        return (
            f"The difference depends on the {noun}: that of {label(dimension, best.name)} is unlike the "
            f"others' ({p}, corrected)."
        )
    if sum(each.contrast_p is not None for each in strata) > 1:
        return f"No sign that the difference depends on the {noun}."
    return f"Too few sessions to tell whether the difference depends on the {noun}."


def _exceeds(stratum: StratumComparison, found: Breakdown) -> bool:
    """Return True when the difference within a stratum is larger than the whole one."""
    one, whole = stratum.held.difference if stratum.held else None, found.whole.difference
    return one is not None and whole is not None and abs(one.estimate) >= abs(whole.estimate)


def _list_strata(strata: Sequence[StratumComparison], label: Label) -> str:
    named = [
        f"{label(each.dimension, each.name)}: {_describe_rates(each.held)}"
        for each in strata[:_NAMED]
        if each.held
    ]
    more = len(strata) - _NAMED
    return "; ".join([*named, f"{more} more"] if more > 0 else named)


def _describe_rates(held: SliceComparison) -> str:
    """Return both rates: 50% against 1.9%; at the same mix where the difference is told at it."""
    one, other = held.slice.share, held.other.share if held.other else None
    if other is None or not one.n or not other.n:
        return ""
    if held.is_at_same_mix and held.same_mix and held.p is not None:
        found = held.same_mix.found
        rates = f"{wording.percent(found.of)} against {wording.percent(found.against)}"
        return f"{rates} at the same mix of work"
    return f"{wording.rate(one.k, one.n)} against {wording.rate(other.k, other.n)}"


def format_rounded(share: float) -> str:
    """Write a difference in points with two digits: +48, −0.31."""
    if not share:
        return "0"
    return f"{'−' if share < 0 else '+'}{wording.percent(abs(share), 2).rstrip('%')}"


def describe_sessions(held: SliceComparison) -> str:
    """Return the number of sessions behind both sides, in words."""
    sides = (held.slice, held.other) if held.other else (held.slice,)
    return wording.plural(sum(one.share.sessions or 0 for one in sides), "session")
