"""Compares the hosts of each model: the rate on each host against the host that serves the model most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.comparisons.strata_queries import Ask, read_strata
from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import SameMix
from callgauge.analysis.measures.slices import Slice, make_slices

MOST = 200
"""Rows that are compared; a store with 60 hosts has so many for each model."""
Pair = tuple[Slice, Slice | None]


@dataclass(frozen=True, slots=True)
class HostComparison:
    """The hosts of all models that ran on two named hosts or more.

    In a slice, `name` is the model and `also` the host. `rows`: a model's main host, without another side,
    then its other hosts compared with that; models with the surest difference come first. `thin`: hosts with
    too little for a verdict. `left`: rows that are not compared, of the models used least.
    """

    rows: Sequence[SliceComparison]
    thin: Sequence[Slice]
    left: int = 0

    @property
    def judged(self) -> list[SliceComparison]:
        """The comparisons with a verdict."""
        return [row for row in self.rows if row.p is not None]


def compare_hosts(
    ask: Ask, rate: RateDefinition, chosen: Mapping[str, Any], *, most: int = MOST
) -> HostComparison:
    """Return each model's hosts compared, mix-adjusted where that matters, at most `most` rows.

    The p-values are adjusted by Holm's method over all models together.
    """
    several = make_slices(ask("slices", rates=(rate.name,), by="model", also="provider", **chosen))
    pairs, thin = pair_hosts(several)
    shown = pairs[:most]
    mixes: list[SameMix | None] = [None] * len(shown)
    for model in dict.fromkeys(one.name for one, other in shown if other is not None):
        strata = read_strata(ask, rate, "provider", {**chosen, "models": (model,)}, apart=("model",))
        places = [place for place, (one, other) in enumerate(shown) if other and one.name == model]
        arms = [
            ((one.also, one), (other.also, other))
            for one, other in (shown[place] for place in places)
            if other is not None
        ]
        for place, found in zip(places, strata.compare(arms), strict=True):
            mixes[place] = found
    return HostComparison(_order_by_certainty(compare_pairs(shown, mixes)), thin, len(pairs) - len(shown))


def pair_hosts(several: Sequence[Slice]) -> tuple[list[Pair], list[Slice]]:
    """Return each host's slice with that of the main host of its model, and the slices with too few sessions.

    Models count that were observed on two known hosts or more; a model has pairs when enough is known of two
    of them. The main host is the one with the most observations; its own slice is paired with None. In a
    slice, `name` is the model and `also` the host. Unknown hosts are left out: an unknown host may be any of
    the others.
    """
    by_model: dict[str, list[Slice]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            by_model.setdefault(one.name, []).append(one)
    pairs: list[Pair] = []
    thin: list[Slice] = []
    for its in by_model.values():
        if len(its) < 2:
            continue
        solid = [one for one in its if one.is_solid]
        if len(solid) > 1:
            first, *others = sorted(solid, key=lambda one: (-one.share.n, one.also))
            pairs += [(first, None), *((other, first) for other in others)]
        thin += [one for one in its if not one.is_solid or len(solid) < 2]
    return pairs, thin


def _order_by_certainty(rows: Sequence[SliceComparison]) -> list[SliceComparison]:
    """Return the rows of each model together, the model with the surest difference first.

    Of a model its main host comes first, then the hosts with the surest difference.
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
