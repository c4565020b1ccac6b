"""Compares versions, such as the versions of a prompt: which version is better, for which calls, and which
other rates get worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from callgauge.analysis.arm_filters import PARAMETERS, Arm
from callgauge.analysis.comparisons.sides import add_prices
from callgauge.analysis.comparisons.strata_queries import (
    Ask,
    break_compared_down,
    read_arms,
    read_strata,
)
from callgauge.analysis.measures.breakdown import Breakdown
from callgauge.analysis.measures.comparisons import SMALLEST, compare_pairs
from callgauge.analysis.measures.measurability import compare_by, rates_to_compare
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import Slice, make_slices

_WEEK = 7


def judge_pairs(
    ask: Ask,
    rate: RateDefinition,
    by: str,
    pairs: Sequence[tuple[str, str]],
    chosen: Mapping[str, Any],
    smallest: float = SMALLEST,
) -> list[Breakdown | None]:
    """Return for each pair of values of the dimension `by` the difference, broken down.

    A pair is the judged value and its baseline, such as the newest version of a prompt and the version before
    it. `chosen` holds the parameters of the metrics. The verdict on a pair does not depend on the other
    pairs. A pair gets None if a value of the pair has no data for this rate.
    """
    several = make_slices(ask("slices", rates=rates_to_compare(rate.name), by=by, **chosen))
    slices = {each.name: each for each in several if each.rate is rate}
    measured_pairs = [pair for pair in pairs if all(name in slices for name in pair)]
    if not measured_pairs:
        return [None] * len(pairs)
    names = tuple(dict.fromkeys(name for pair in measured_pairs for name in pair))
    work = read_strata(ask, [rate], by, chosen, arms=names)[rate.name]
    by_pair = {
        pair: judge_pair(
            ask,
            by,
            (slices[pair[0]], slices[pair[1]]),
            work,
            chosen,
            smallest,
            [each for each in several if each.name in pair],
        )
        for pair in set(measured_pairs)
    }
    return [by_pair.get(pair) for pair in pairs]


def judge_pair(
    ask: Ask,
    by: str,
    pair: tuple[Slice, Slice],
    work: ArmStrata,
    chosen: Mapping[str, Any],
    smallest: float = SMALLEST,
    measured: Sequence[Slice] | None = None,
) -> Breakdown:
    """Return the difference of two values of the dimension `by`, broken down, with other rates and traffic.

    `pair` holds the judged slice and the baseline. `work` holds the strata of both slices. `smallest` is the
    smallest difference of interest, as a share. `measured` holds the slices of both values that show by which
    rate the values may be compared. By default the function reads these slices.
    """
    candidate, against = pair
    rate_name, both = candidate.rate.name, {**chosen, PARAMETERS[by]: (candidate.name, against.name)}
    if measured is None:
        measured = make_slices(ask("slices", rates=rates_to_compare(rate_name), by=by, **both))
    basis = compare_by(rate_name, measured)
    if basis.rate not in (None, rate_name):
        by_name = {each.name: each for each in measured if each.rate.name == basis.rate}
        candidate, against = by_name[candidate.name], by_name[against.name]
        work = read_strata(ask, [candidate.rate], by, chosen, arms=(candidate.name, against.name))[
            candidate.rate.name
        ]
    (mix,) = work.compare([((candidate.name, candidate), (against.name, against))])
    (whole,) = compare_pairs([(candidate, against)], [mix])
    if basis.rate is None:
        return Breakdown(replace(whole, p=None, is_measured_apart=True), {}, basis=basis)
    names = (candidate.name, against.name)
    arms_of = read_arms(ask, candidate.rate, by, names, chosen)
    breakdown = replace(break_compared_down(whole, arms_of, work), basis=basis)
    arms = (Arm("A", {by: (against.name,)}, None, chosen), Arm("B", {by: (candidate.name,)}, None, chosen))
    breakdown = add_prices(ask, arms, breakdown, smallest)
    split = breakdown.find_split(smallest)
    if split is None:
        return breakdown
    return replace(breakdown, weekly=_count_weekly(ask, candidate.rate, by, names, split.dimension, chosen))


def _count_weekly(
    ask: Ask, rate: RateDefinition, by: str, names: Sequence[str], dimension: str, chosen: Mapping[str, Any]
) -> dict[str, float]:
    """Return for each value of `dimension` how many observations the two versions `names` have in the newest
    seven days.
    """
    newest = ask("extent").iloc[0].last_day
    if newest is None:
        return {}
    last = min(chosen.get("to_day") or newest, newest)
    selection = {
        **chosen,
        PARAMETERS[by]: tuple(names),
        "to_day": last,
        "from_day": last - timedelta(_WEEK - 1),
    }
    return {
        each.name: each.total
        for each in make_slices(ask("slices", rates=(rate.name,), by=dimension, **selection))
    }
