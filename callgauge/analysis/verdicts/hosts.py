"""Writes the sentence on the hosts of models: which model is worse on which host, or what is unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import LEVEL, SliceComparison, Standing
from callgauge.analysis.verdicts.sentences import RULE, describe_more, describe_reach, format_difference

_NAMED = 2  # maximum number of pairs of hosts in the sentence
_DECIDED = (Standing.BETTER, Standing.WORSE, Standing.MORE, Standing.LESS)
Label = Callable[[str], str]
"""Returns the label of a model."""


def describe_hosts(
    rows: Sequence[SliceComparison],
    label: Label,
    smallest: float,
    *,
    has_thin: bool = False,
    describe_worse: Callable[[SliceComparison, Label], str] | None = None,
) -> str:
    """Describe which model is worse on which host.

    If no difference is clear, describe a pair that differs only without the correction of p-values, or the
    smallest difference that could have been found. `rows` holds hosts compared with the other hosts of their
    model, with p-values corrected over all rows. `smallest` is the smallest difference of interest, as a
    share. `has_thin` is True if the hosts of some model have too little data. `describe_worse` returns a
    sentence on a pair whose first host is clearly worse, or "" for the usual sentence.
    """
    judged = [row for row in rows if row.p is not None]
    if not judged:
        if not rows and not has_thin:
            return "No model ran on two hosts: the logs name one host for each, or none."
        return f"Not enough data to compare hosts: no model has {RULE} on two of them."
    judged.sort(key=_find_own_p)
    decided = [row for row in judged if row.standing(smallest) in _DECIDED]
    if decided:
        # If one host is worse, each other host is better than a sum that includes it. These rows need no
        # sentence.
        worse = [row for row in decided if _does_worse(row)] or decided
        more = len(worse) - _NAMED
        sentences = [
            f"{(describe_worse and describe_worse(row, label)) or _describe_pair(row, label)}."
            for row in worse[:_NAMED]
        ]
        return " ".join([*sentences, *([describe_more(more)] if more > 0 else [])])
    compared = wording.plural(len(judged), "comparison")
    alone = [row for row in judged if _differs_alone(row, smallest)]
    if alone:
        others = f" {describe_more(len(alone) - 1)}" if len(alone) > 1 else ""
        chance = f"Among {compared} of hosts, that can be chance."
        return f"Compared alone, {_describe_pair(alone[0], label)}.{others} {chance}"
    title = judged[0].slice.rate.phrase
    none = f"No clear difference in {title} between the hosts of a model ({compared})."
    return f"{none} {describe_reach(judged)}"


def _find_own_p(row: SliceComparison) -> float:
    return 1.0 if row.difference is None else row.difference.p


def _differs_alone(row: SliceComparison, smallest: float) -> bool:
    """Return True if the page Compare, which corrects no p-values for other hosts, shows a difference."""
    difference = row.difference
    return (
        row.standing(smallest) is Standing.UNDECIDED
        and difference is not None
        and difference.is_decisive
        and _find_own_p(row) < LEVEL
    )


def _does_worse(row: SliceComparison) -> bool:
    """Return True when the first host is worse or, if neither a low nor a high rate is better, has the higher
    rate.
    """
    difference = row.difference
    return difference is not None and (difference.estimate > 0) != row.slice.rate.is_good


def _describe_pair(row: SliceComparison, label: Label) -> str:
    """Describe a pair, such as "heron is worse on a than on b: parse errors 9% against 2%, +7 points (…)"."""
    other, difference = row.other, row.difference
    if other is None or difference is None:
        raise ValueError("nothing was compared")
    rate, worse = row.slice.rate, _does_worse(row)
    shares, mixed = (row.slice.share.rate or 0.0, other.share.rate or 0.0), ""
    if row.is_at_same_mix and row.same_mix:
        shares, mixed = (row.same_mix.found.of, row.same_mix.found.against), ", mix-adjusted"
    verdict = f"is {'worse' if worse else 'better'}" if rate.better else f"has {'more' if worse else 'less'}"
    hosts = " than on ".join(wording.one_line(each.also, 40) for each in (row.slice, other))
    rates = " against ".join(wording.percent(share) for share in shares)
    size = format_difference(difference)
    return f"{label(row.slice.name)} {verdict} on {hosts}: {rate.phrase} {rates}, {size}{mixed}"
