"""Writes the sentences on retries: which tool's errors are most often not recovered, what retries fix, and
whether changed retries help.
"""

from __future__ import annotations

from collections.abc import Sequence

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.analysis.verdicts.tools import ToolVerdict
from callgauge.stats import Share, compare_rates

_NAMED = 3  # maximum number of tools in a sentence


def find_given_up(verdict: ToolVerdict) -> Slice | None:
    """Return the tool that `write_given_up` names first, or None."""
    is_clean = all(each.share.k == each.share.n for each in verdict.judged)
    if verdict.named is None or is_clean:
        return None
    return _sort_by_share(verdict.worst)[0]


def write_given_up(verdict: ToolVerdict) -> str:
    """Return the sentence on the tool whose errors are most often not recovered. It contains log content.

    `verdict` is the verdict on the rate `recovered`, with one slice per tool.
    """
    judged, worst = verdict.judged, verdict.worst
    if not judged:
        return f"Not enough data to say which tool is given up on most: it takes retry sequences with {RULE}."
    if len(judged) == 1:
        return f"Only {_name(judged[0])} has enough data: {_describe(judged[0])}."
    if all(each.share.k == each.share.n for each in judged):
        recovered = wording.plural(sum(each.share.n for each in judged), "retry sequence")
        return f"None of the {len(judged)} tools with enough data was given up on: all {recovered} recovered."
    undefined = _describe_undefined(verdict.undefined)
    if verdict.named is None:
        given_up, sequences = sum(map(_count, judged)), sum(each.share.n for each in judged)
        reach = f"; {verdict.reach}" if verdict.reach else ""
        return (
            f"No tool is clearly given up on most: it may be any of these {len(judged)} "
            f"({given_up:,} of {wording.plural(sequences, 'retry sequence')} given up{reach}).{undefined}"
        )
    others = [each for each in judged if each not in worst]
    if len(worst) == 1:
        (most,) = worst
        return (
            f"{_name(most)} is given up on most: in {wording.rate(_count(most), most.share.n)} of its retry "
            f"sequences ({_count(most):,} of {most.share.n:,}; {_describe_others(others)}).{undefined}"
        )
    names = [
        f"{_name(each)} ({wording.rate(_count(each), each.share.n)})"
        for each in _sort_by_share(worst)[:_NAMED]
    ]
    names += [f"{len(worst) - _NAMED} more"] if len(worst) > _NAMED else []
    less = "the other tool" if len(others) == 1 else f"the {len(others)} others"
    return (
        f"{', '.join(names[:-1])} or {names[-1]} is given up on most; "
        f"{less} less often than one of them.{undefined}"
    )


def describe_recovery(share: Share) -> str:
    """Describe how many failures a retry fixed.

    `share` is the share of recovered retry sequences among the sequences with a known end.
    """
    if not share.n:
        return "No retry sequence has a known end."
    counts = f"{share.k:,} of {wording.plural(share.n, 'retry sequence')}"
    return f"Overall, a retry fixed {wording.rate(share.k, share.n)} of failures ({counts})."


def describe_cost(steps: int, tokens: float, measured: int, retried: int) -> str:
    """Describe the cost of retries. Return "" when there are no retries.

    `steps` is the number of model calls for retries. `tokens` is the number of tokens in the `measured` retry
    sequences (the logs of the other sequences contain no token counts). `retried` is the number of all retry
    sequences.
    """
    if not retried:
        return ""
    sentence = f"Retries took {wording.plural(steps, 'model call')}"
    if not measured:
        return f"{sentence}."
    part = (
        ""
        if measured == retried
        else f" (measured on {wording.rate(measured, retried)} of retried sequences)"
    )
    return f"{sentence} and {wording.compact(tokens)} tokens{part}."


def describe_kinds(changed: Share, identical: Share) -> str:
    """Describe whether a changed retry succeeds more often than an unchanged retry."""
    difference = compare_rates(changed, identical)
    if difference is None:
        return "Changed and identical retries cannot be compared: one kind does not occur."
    rates = f"{wording.rate(changed.k, changed.n)} against {wording.rate(identical.k, identical.n)}"
    if not (changed.has_enough and identical.has_enough):
        return f"Not enough data to say whether changed arguments help: {rates} worked."
    if not difference.is_decisive:
        return f"No clear difference between changed and identical arguments: {rates} worked."
    better = "more" if difference.estimate > 0 else "less"
    return f"Retries with changed arguments work {better} often than identical ones: {rates}."


def _sort_by_share(several: Sequence[Slice]) -> list[Slice]:
    return sorted(several, key=lambda each: (each.share.rate or 0.0, -each.share.n, each.name))


def _count(each: Slice) -> int:
    return each.share.n - each.share.k


def _name(each: Slice) -> str:
    return wording.one_line(each.name, 60)


def _describe(each: Slice) -> str:
    sequences = wording.plural(each.share.n, "retry sequence")
    rate = wording.rate(_count(each), each.share.n)
    return f"{_count(each):,} of {sequences} were given up ({rate})"


def _describe_others(others: Sequence[Slice]) -> str:
    rates = sorted(_count(each) / each.share.n for each in others)
    low, high = (wording.percent(rate, 2) for rate in (rates[0], rates[-1]))
    span = high if low == high else f"{low.rstrip('%')}–{high}"
    return f"the other tool {span}" if len(others) == 1 else f"the {len(others)} others {span}"


def _describe_undefined(tools: int) -> str:
    if not tools:
        return ""
    were = "tool was" if tools == 1 else "tools were"
    return f" {tools} {were} not compared: no tool definition."
