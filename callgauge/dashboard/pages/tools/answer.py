"""Answers in one sentence which tool loses most calls, and at which parameter."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.dashboard.pages.tools.expected_loss import expected_loss
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS, compare_rates

Row = Mapping[Hashable, Any]


def find_worst(solid: Sequence[Slice], few: Sequence[Slice] = ()) -> Slice | None:
    """Return the slice that loses most, if it is decidedly worse than all others together.

    `solid`: slices with enough sessions, the largest loss first. `few`: the others. Return None without a
    loss, and where the evidence does not carry it: one error in a hundred calls is no finding.
    """
    if not solid or not expected_loss(solid[0]):
        return None
    worst = solid[0]
    others = merge_slices([*solid[1:], *few])
    if others is None or not others.share.n:
        return worst
    found = compare_rates(worst.share, others.share)
    if found is None or not found.is_decisive:
        return None
    return worst if (found.estimate < 0) is worst.rate.is_good else None


def describe_worst(
    worst: Slice | None, solid: Sequence[Slice], few: Sequence[Slice], culprits: Sequence[Row] = ()
) -> str:
    """Return the sentence on the tool with the largest expected loss. Contains log text.

    `worst`: what `find_worst` returns for `solid` and `few`. `culprits`: the rows of the metric `culprits` of
    the worst tool.
    """
    if not solid:
        return (
            f"Too few sessions to say which tool is worst: none has {ENOUGH_SESSIONS} sessions and "
            f"{ENOUGH} measured calls."
        )
    if worst is None:
        return _describe_all(solid, few)
    share, noun, title = worst.share, worst.rate.noun, worst.rate.title.lower()
    figures = f"{share.k:,} of {wording.plural(share.n, noun)} ({wording.rate(share.k, share.n)})"
    name = wording.one_line(worst.name, 60)
    if worst.rate.name == "parse_error":
        return f"{name} loses most: {figures}{_describe_place(share.k, culprits)}."
    if worst.rate.is_good:
        return f"{name} loses most by {title}: only {figures}."
    return f"{name} loses most by {title}: {figures}."


def _describe_all(solid: Sequence[Slice], few: Sequence[Slice]) -> str:
    """Return the sentence for tools none of which stands out, with what is known of all of them."""
    rate = solid[0].rate
    stands = f"No tool stands out by {rate.title.lower()}"
    if rate.noun == "turn":  # a turn counts for each of its tools, so there is no sum over tools
        return f"{stands}: {wording.plural(len(solid), 'tool')} with enough sessions."
    told = f"{_sum_up(solid, rate.noun)} of the {wording.plural(len(solid), 'tool')} with enough sessions"
    known = [one for one in few if one.share.n]
    if known:
        told += f"; {_sum_up(known, rate.noun)} of {wording.plural(len(known), 'tool')} with too few"
    return f"{stands}: {told}."


def _sum_up(several: Sequence[Slice], noun: str) -> str:
    k, n = sum(one.share.k for one in several), sum(one.share.n for one in several)
    return f"{k:,} of {wording.plural(n, noun)}"


def _describe_place(lost: int, culprits: Sequence[Row]) -> str:
    """Return the parameter at which most of the lost calls went wrong, worded to follow the figures."""
    by_parameter: dict[str, int] = {}
    for row in culprits:
        if row["severity"] == "error":
            by_parameter[row["parameter"]] = by_parameter.get(row["parameter"], 0) + row["calls"]
    if not by_parameter:
        return ""
    parameter, calls = max(by_parameter.items(), key=lambda pair: pair[1])
    place = f"at {wording.one_line(parameter, 40)}" if parameter else "in the text as a whole"
    return f", {'mostly' if 2 * calls >= lost else 'most often'} {place}"
