"""Which value of a dimension is the best by a rate: one answer for pages, report, API and MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from callgauge.analysis.comparisons.strata_queries import Ask, read_strata
from callgauge.analysis.measures.comparisons import (
    SMALLEST,
    RankedTable,
    choose_reference,
    limit_ranked,
    rank_table,
)
from callgauge.analysis.measures.concentration import find_concentrated
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.rates import LEADING, RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, choose_dimensions
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.rankings import Names, RankingContext, write_ranking

RANKED = 60
"""Slices that a page ranks, the most used."""
SlicesByRate = Mapping[str, Sequence[Slice]]


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The values of the dimension `by` ranked by a rate, and what their sentence needs to know.

    `left_out`: how many have enough calls and were not ranked.
    """

    by: str
    table: RankedTable
    context: RankingContext
    left_out: int

    @property
    def rate(self) -> RateDefinition:
        """The rate by which they are ranked."""
        return self.table.rate

    def write_sentence(self, names: Names) -> str:
        """Return the sentence that answers which is the best. `names`: the label of each value."""
        return write_ranking(self.table, names, self.by.replace("_", " "), self.context)


def read_ranked_slices(
    ask: Ask, rate: RateDefinition, by: str, chosen: Mapping[str, Any]
) -> dict[str, list[Slice]]:
    """Return the slices of each value of the dimension `by`: of `rate` and of what its ranking needs."""
    names = tuple(dict.fromkeys((rate.name, *LEADING)))
    several: dict[str, list[Slice]] = {name: [] for name in names}
    for each in make_slices(ask("slices", rates=names, by=by, **chosen)):
        several[each.rate.name].append(each)
    return several


def judge_ranking(
    ask: Ask,
    slices: SlicesByRate,
    rate: RateDefinition,
    by: str,
    chosen: Mapping[str, Any],
    *,
    baseline: str | None = None,
    smallest: float = SMALLEST,
    costs: Sequence[Cost] = (),
) -> JudgedRanking:
    """Return the values of the dimension `by` ranked by `rate`, with what the other leading rates say.

    `slices`: as of `read_ranked_slices`; there are some of `rate`. `baseline`: the value that the others are
    held against, the most used one without; no verdict depends on it. `smallest`: the smallest difference of
    interest, a share. `costs`: the cost of each value. Raises MetricError.
    """
    reasons = find_concentrated(ask, slices[rate.name], by, chosen)
    marked = {
        name: [replace(one, concentration=reasons.get(one.name, "")) for one in slices[name]]
        for name in dict.fromkeys((rate.name, *LEADING))
        if slices.get(name)
    }
    shown = {name: limit_ranked(several, RANKED) for name, several in marked.items()}
    strata = _read_work(ask, [RATES[name] for name in marked], by, chosen, shown[rate.name][0])
    tables = {
        name: _rank(ranked, thin, baseline, strata.get(name), smallest)
        for name, (ranked, thin) in shown.items()
        if ranked or thin
    }
    table = tables.pop(rate.name)
    solid = [one for one in marked[rate.name] if one.is_solid]
    context = RankingContext(
        others=[tables[name] for name in LEADING if name in tables and len(tables[name].judged) > 1],
        costs={cost.slice: cost for cost in costs},
        concentrated=reasons,
    )
    return JudgedRanking(by, table, context, max(0, len(solid) - RANKED))


def _rank(
    ranked: Sequence[Slice],
    thin: Sequence[Slice],
    baseline: str | None,
    strata: ArmStrata | None,
    smallest: float,
) -> RankedTable:
    several = [*ranked, *thin]
    reference = next((one for one in several if one.name == baseline), None) or choose_reference(several)
    return rank_table(several, reference, strata, smallest)


def _read_work(
    ask: Ask, rates: Sequence[RateDefinition], by: str, chosen: Mapping[str, Any], ranked: Sequence[Slice]
) -> dict[str, ArmStrata]:
    """Return the strata of each rate, by its name; rates of the same dimensions are asked for together."""
    if len(ranked) < 2:
        return {}
    together: dict[tuple[str, ...], list[RateDefinition]] = {}
    for rate in rates:
        together.setdefault(choose_dimensions(rate, [by]), []).append(rate)
    names = [one.name for one in ranked]
    found: dict[str, ArmStrata] = {}
    for several in together.values():
        found |= read_strata(ask, several, by, chosen, arms=names)
    return found
