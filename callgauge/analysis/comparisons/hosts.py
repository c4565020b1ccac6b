"""Compares the hosts of each model.

If a model has two hosts, the hosts are compared with each other. If a model has more hosts, each host is
compared with the sum of all other hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from callgauge.analysis.comparisons.strata_queries import Ask, read_strata
from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs
from callgauge.analysis.measures.measurability import ComparisonBasis, compare_by, rates_to_compare
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, SameMix, Stratum
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.stats import Share

MOST = 200
"""The maximum number of compared rows; a store with 60 hosts has 60 rows per model."""
_AS_ASKED = ComparisonBasis(None)
Pair = tuple[Slice, Slice | None]


@dataclass(frozen=True, slots=True)
class HostComparison:
    """The hosts of all models that ran on two named hosts or more.

    In a slice, `name` is the model and `also` is the host. For a model with two hosts, `rows` holds the
    better host (without a comparison), and then the worse host, compared with the better host. For a model
    with more hosts, each host is compared with the sum of all other hosts (`also` is then `2 other hosts`).
    Models and hosts with the most certain difference come first. `thin` holds hosts with too little data for
    a verdict. `hosts` holds the hosts of each model, by model name. `left` is the number of pairs that were
    not compared. `basis` is the rate by which the hosts are compared.
    """

    rows: Sequence[SliceComparison]
    thin: Sequence[Slice]
    hosts: Mapping[str, Sequence[str]]
    left: int = 0
    basis: ComparisonBasis = _AS_ASKED

    @property
    def judged(self) -> list[SliceComparison]:
        return [row for row in self.rows if row.p is not None]

    def list_against(self, row: SliceComparison) -> list[str]:
        """Return the hosts that a row is compared with, or nothing if the row has no comparison."""
        if row.other is None:
            return []
        return [host for host in self.hosts[row.slice.name] if host != row.slice.also]


def compare_hosts(
    ask: Ask, rate: RateDefinition, chosen: Mapping[str, Any], *, most: int = MOST
) -> HostComparison:
    """Compare the hosts of each model, adjusted for the mix of calls where the mix matters. Return at most
    `most` rows.

    The p-values are adjusted by Holm's method over all models together.
    """
    rows_of = ask("slices", rates=rates_to_compare(rate.name), by="model", also="provider", **chosen)
    measured = make_slices(rows_of)
    by_model = _group_hosts([each for each in measured if each.rate is rate])
    basis = compare_by(rate.name, _name_hosts(measured, by_model))
    if basis.rate and basis.rate != rate.name:
        rate = RATES[basis.rate]
        by_model = _group_hosts([each for each in measured if each.rate is rate])
    pairs, thin = pair_hosts(by_model)
    shown = pairs[:most]
    hosts = {model: [slice_.also for slice_ in slices] for model, slices in by_model.items()}
    rows = _order_by_certainty(compare_pairs(shown, _adjust_mix(ask, rate, shown, hosts, chosen)))
    if basis.rate is None:
        rows = [replace(row, p=None, is_measured_apart=row.other is not None) for row in rows]
    return HostComparison(rows, thin, hosts, len(pairs) - len(shown), basis)


def _name_hosts(several: Sequence[Slice], by_model: Mapping[str, Sequence[Slice]]) -> list[Slice]:
    compared = {
        (slice_.name, slice_.also) for slices in by_model.values() for slice_ in slices if slice_.is_solid
    }
    return [
        replace(slice_, name=f"{slice_.name} on {slice_.also}")
        for slice_ in several
        if (slice_.name, slice_.also) in compared
    ]


def _adjust_mix(
    ask: Ask,
    rate: RateDefinition,
    shown: Sequence[Pair],
    hosts: Mapping[str, Sequence[str]],
    chosen: Mapping[str, Any],
) -> list[SameMix | None]:
    mixes: list[SameMix | None] = [None] * len(shown)
    for model in dict.fromkeys(slice_.name for slice_, other in shown if other is not None):
        selection = {**chosen, "models": (model,)}
        work = read_strata(ask, [rate], "provider", selection, apart=("model",))[rate.name]
        places = [place for place, (slice_, other) in enumerate(shown) if other and slice_.name == model]
        arms: dict[str, Mapping[Stratum, Share]] = {}
        for place in places:
            host = shown[place][0].also
            arms[f"{place}"] = work.by_arm.get(host, {})
            arms[f"{place} others"] = _sum_strata(work, [each for each in hosts[model] if each != host])
        pairs_of_arms = [
            ((f"{place}", slice_), (f"{place} others", other))
            for place, (slice_, other) in ((place, shown[place]) for place in places)
            if other is not None
        ]
        compared = ArmStrata(work.dimensions, arms).compare(pairs_of_arms)
        for place, mix in zip(places, compared, strict=True):
            mixes[place] = mix
    return mixes


def _sum_strata(work: ArmStrata, hosts: Sequence[str]) -> dict[Stratum, Share]:
    sums: dict[Stratum, Share] = {}
    for host in hosts:
        for stratum, share in work.by_arm.get(host, {}).items():
            sums[stratum] = sums[stratum] + share if stratum in sums else share
    return sums


def _group_hosts(several: Sequence[Slice]) -> dict[str, list[Slice]]:
    """Return for each model with two or more hosts the slices of the model's hosts, the most observed host
    first.

    Unknown hosts are left out.
    """
    by_model: dict[str, list[Slice]] = {}
    for slice_ in sorted(several, key=lambda slice_: (-slice_.share.n, slice_.also)):
        if slice_.also != "unknown" and slice_.share.n:
            by_model.setdefault(slice_.name, []).append(slice_)
    return {model: slices for model, slices in by_model.items() if len(slices) > 1}


def pair_hosts(by_model: Mapping[str, Sequence[Slice]]) -> tuple[list[Pair], list[Slice]]:
    """Return the pairs of slices to compare, and the slices with too little data.

    `by_model` holds for each model the slices of its hosts (two or more), the most observed host first.
    """
    pairs: list[Pair] = []
    thin: list[Slice] = []
    for slices in by_model.values():
        solid = [slice_ for slice_ in slices if slice_.is_solid]
        if len(slices) == 2 and len(solid) == 2:
            # The sentence on the page is about the worse host, so only the worse host is compared.
            first, second = sorted(solid, key=_find_badness)
            pairs += [(first, None), (second, first)]
        elif len(slices) > 2:
            pairs += [(slice_, _sum_others(slice_, slices)) for slice_ in solid]
        thin += [slice_ for slice_ in slices if not slice_.is_solid or (len(slices) == 2 and len(solid) < 2)]
    return pairs, thin


def _find_badness(slice_: Slice) -> float:
    return (slice_.share.rate or 0.0) * (-1 if slice_.rate.is_good else 1)


def _sum_others(slice_: Slice, hosts: Sequence[Slice]) -> Slice:
    others = [other for other in hosts if other is not slice_]
    share = reduce(add, (other.share for other in others))
    total = sum(other.total for other in others)
    return Slice(slice_.rate, slice_.name, f"{len(others)} other hosts", share, total)


def _order_by_certainty(rows: Sequence[SliceComparison]) -> list[SliceComparison]:
    """Return the rows grouped by model, the models and hosts with the most certain difference first.

    For a model with two hosts, the host without a comparison comes first.
    """
    own = [1.0 if row.p is None or row.difference is None else row.difference.p for row in rows]
    surest: dict[str, float] = {}
    for row, p in zip(rows, own, strict=True):
        surest[row.slice.name] = min(p, surest.get(row.slice.name, 1.0))
    order = sorted(
        range(len(rows)),
        key=lambda place: (
            surest[rows[place].slice.name],
            rows[place].slice.name,
            rows[place].other is not None,
            own[place],
        ),
    )
    return [rows[place] for place in order]
