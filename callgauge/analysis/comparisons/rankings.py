"""Finds the best value of a dimension by a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.strata_queries import Ask, read_strata
from callgauge.analysis.measures.alerts import read_alerts
from callgauge.analysis.measures.comparisons import (
    SMALLEST,
    RankedTable,
    choose_reference,
    limit_ranked,
    rank_table,
)
from callgauge.analysis.measures.concentration import find_concentrated
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.measurability import compare_by, find_undefined, rates_to_compare
from callgauge.analysis.measures.rates import LEADING, RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, choose_dimensions
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.rankings import Names, RankingContext, list_leaders, write_ranking

RANKED = 60
"""The maximum number of slices that a page ranks. The most used slices are ranked."""
SlicesByRate = Mapping[str, Sequence[Slice]]


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The values of a dimension ranked by a rate, and the data for a sentence about the ranking.

    `measured` holds the slices that show by which rate the values may be compared. `left_out` is the number
    of values that have enough calls but were not ranked.
    """

    dimension: str
    table: RankedTable
    context: RankingContext
    requested_rate: RateDefinition
    measured: Sequence[Slice]
    left_out: int

    @property
    def rate(self) -> RateDefinition:
        """The rate by which the values are ranked."""
        return self.table.rate

    def write_sentence(self, names: Names) -> str:
        """Return the sentence that says which value is the best. `names` holds the label of each value."""
        labelled = [replace(slice_, name=names.get(slice_.name, slice_.name)) for slice_ in self.measured]
        context = replace(self.context, basis=compare_by(self.requested_rate.name, labelled))
        return write_ranking(self.table, names, wording.dimension(self.dimension), context)


def list_ranked_rates(rate: RateDefinition) -> tuple[str, ...]:
    """Return the names of the rates that a ranking by `rate` reads."""
    ranked = (rate.name, *LEADING)
    return tuple(dict.fromkeys([*ranked, *(each for name in ranked for each in rates_to_compare(name))]))


def read_ranked_slices(
    ask: Ask, rate: RateDefinition, by: str, chosen: Mapping[str, Any]
) -> dict[str, list[Slice]]:
    """Return the slices of each value of the dimension `by`, for `rate` and the ranking's other rates."""
    names = list_ranked_rates(rate)
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
    """Return the values of the dimension `by` ranked by `rate`, with rankings by the other leading rates.

    `slices` is the result of `read_ranked_slices`, with at least one slice of `rate`. `baseline` is the value
    that all other values are compared with (default: the most used value). No verdict depends on the
    baseline. `smallest` is the smallest difference of interest, as a share. `costs` holds the cost of each
    value. Raises MetricError.
    """
    reasons = find_concentrated(ask, slices[rate.name], by, chosen)
    solid_names = {slice_.name for slice_ in slices[rate.name] if slice_.is_solid and slice_.is_named}
    alike = [slice_ for slice_ in _list_slices(slices, rate.name) if slice_.name in solid_names]
    reasons |= find_undefined(rate.name, alike)
    marked = {
        name: [replace(slice_, concentration=reasons.get(slice_.name, "")) for slice_ in several]
        for name, several in slices.items()
        if several
    }
    ranked = {slice_.name for slice_ in limit_ranked(marked[rate.name], RANKED)[0] if slice_.is_named}
    measured = {
        name: [slice_ for slice_ in _list_slices(marked, name) if slice_.name in ranked]
        for name in dict.fromkeys((rate.name, *LEADING))
    }
    bases = {name: compare_by(name, several) for name, several in measured.items()}
    basis = bases.pop(rate.name)

    def rank(names: Iterable[str], *, is_alike: bool = True) -> list[RankedTable]:
        measured_names = [name for name in dict.fromkeys(names) if name in marked]
        strata = _read_work(ask, [RATES[name] for name in measured_names], by, chosen, ranked)
        return [
            _rank(marked[name], baseline, strata.get(name), smallest, is_alike=is_alike)
            for name in measured_names
        ]

    (table,) = rank([basis.rate or rate.name], is_alike=basis.rate is not None)
    others: list[RankedTable] = []
    leaders = list_leaders(table)
    if leaders:  # other rates matter only if there is a leader
        compared = [other.rate for other in bases.values() if other.rate and other.rate != table.rate.name]
        others = [each for each in rank(compared) if len(each.judged) > 1]
    night = read_alerts(ask) if leaders else None
    context = RankingContext(
        by=by,
        alerts=[
            each
            for each in (night.alerts if night else ())
            if each.rate is table.rate
            and (each.is_open and each.is_worse and each.part_of is None)
            and each.agrees_with(chosen)
            and each.since <= (chosen.get("to_day") or date.max)  # later alerts are outside the chosen days
        ],
        night=night.night if night else date.min,
        others=others,
        costs={cost.slice: cost for cost in costs},
        concentrated=reasons,
    )
    solid = sum(slice_.is_solid for slice_ in marked[table.rate.name])
    return JudgedRanking(by, table, context, rate, measured[rate.name], max(0, solid - RANKED))


def write_best(
    ask: Ask,
    rate: RateDefinition,
    by: str,
    chosen: Mapping[str, Any],
    label: Callable[[str], str],
    costs: Sequence[Cost] = (),
) -> str:
    """Return the sentence that says which value of `by` is the best, or that there is not enough data.

    The sentence is empty if the rate counts no call or turn. `label` returns the label of a value. `costs`
    holds the cost of each value. Raises MetricError.
    """
    slices = read_ranked_slices(ask, rate, by, chosen)
    if not slices[rate.name]:
        return ""
    ranking = judge_ranking(ask, slices, rate, by, chosen, costs=costs)
    names = [row.slice.name for row in ranking.table.rows]
    return ranking.write_sentence({name: label(name) for name in names})


def _list_slices(slices: SlicesByRate, rate: str) -> list[Slice]:
    return [slice_ for name in rates_to_compare(rate) for slice_ in slices.get(name, ())]


def _rank(
    several: Sequence[Slice],
    baseline: str | None,
    strata: ArmStrata | None,
    smallest: float,
    *,
    is_alike: bool,
) -> RankedTable:
    ranked, thin = limit_ranked(several, RANKED)
    shown = [*ranked, *thin]
    reference = next((slice_ for slice_ in shown if slice_.name == baseline), None) or choose_reference(shown)
    return rank_table(shown, reference, strata, smallest, is_alike=is_alike)


def _read_work(
    ask: Ask, rates: Sequence[RateDefinition], by: str, chosen: Mapping[str, Any], ranked: Set[str]
) -> dict[str, ArmStrata]:
    """Return the strata of each rate, by rate name. One query reads all rates with the same dimensions."""
    if len(ranked) < 2:
        return {}
    together: dict[tuple[str, ...], list[RateDefinition]] = {}
    for rate in rates:
        together.setdefault(choose_dimensions(rate, [by]), []).append(rate)
    names = sorted(ranked)
    strata: dict[str, ArmStrata] = {}
    for several in together.values():
        strata |= read_strata(ask, several, by, chosen, arms=names)
    return strata
