"""Measures both slices of a comparison, adjusts them for the mix of calls, and breaks the difference down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from callgauge.analysis.arm_filters import PARAMETERS, Arm, do_overlap
from callgauge.analysis.comparisons.strata_queries import Ask, ask_arms, read_strata, split_arms
from callgauge.analysis.measures.breakdown import Breakdown, break_down
from callgauge.analysis.measures.comparisons import SMALLEST, SliceComparison, Standing, compare_pairs
from callgauge.analysis.measures.concentration import find_concentrated
from callgauge.analysis.measures.measurability import ComparisonBasis, compare_by, rates_to_compare
from callgauge.analysis.measures.rates import LEADING, RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice, make_slices

_TABLES = ("model", "prompt", "tool", "provider", "strategy", "source", "harness_version")
"""The dimensions by which pages and the API list rates."""


@dataclass(frozen=True, slots=True)
class CompareSide:
    """One of the two compared slices.

    `name` is the slice in words. `rates` holds the measured rates by name. If few sessions contain most of
    the slice's calls, `concentration` is a sentence about this. Otherwise `concentration` is empty.
    """

    arm: Arm
    name: str
    rates: Mapping[str, Slice]
    concentration: str = ""

    def whole_slice(self, rate: RateDefinition) -> Slice | None:
        return self.rates.get(rate.name)


@dataclass(frozen=True, slots=True)
class JudgedSides:
    """Both slices, and B compared with A by `rate`.

    `basis` says by which rate both slices may be compared. `comparison` is None if the rate of a slice is
    unknown. `breakdown` is None if the slices cannot be compared.
    """

    a: CompareSide
    b: CompareSide
    basis: ComparisonBasis
    rate: RateDefinition
    comparison: SliceComparison | None
    breakdown: Breakdown | None


def judge_sides(
    ask: Ask, arms: tuple[Arm, Arm], names: tuple[str, str], rate: RateDefinition, smallest: float = SMALLEST
) -> JudgedSides:
    """Return both slices with their comparison by `rate`, or by the rate that both slices can be compared by.

    `smallest` is the smallest difference of interest, as a share. Raises MetricError.
    """
    a, b = measure_sides(ask, arms, names)
    basis = find_basis(a, b, rate)
    rate = RATES[basis.rate or rate.name]
    work = read_work(ask, a, b, rate)
    comparison = compare_sides(a, b, rate, work)
    breakdown = None
    if basis.rate and comparison and comparison.plain and comparison.other:
        breakdown = break_sides_down(ask, a, b, rate, comparison, work, smallest)
    return JudgedSides(a, b, basis, rate, comparison, breakdown)


def measure_sides(ask: Ask, arms: tuple[Arm, Arm], names: tuple[str, str]) -> tuple[CompareSide, CompareSide]:
    """Return both slices, each rate with the same interval as on the other pages.

    If both slices are values of the same dimension, the intra-session correlation is estimated from all
    values of the dimension. Otherwise it is estimated from the two slices.
    """
    firsts, seconds = _read_values(ask, arms) or _read_both(ask, arms)
    side, other = (
        CompareSide(
            arm,
            name,
            {slice_.rate.name: replace(slice_, name=name) for slice_ in slices},
            _find_concentration(ask, arm, slices),
        )
        for arm, name, slices in zip(arms, names, (firsts, seconds), strict=True)
    )
    return side, other


def _find_concentration(ask: Ask, arm: Arm, slices: Sequence[Slice]) -> str:
    calls = [replace(each, name="all") for each in slices if each.rate.name == "emission"]
    return find_concentrated(ask, calls, None, arm.parameters()).get("all", "")


def _find_values(arms: tuple[Arm, Arm]) -> tuple[str, tuple[str, str], dict[str, Any]] | None:
    """Return the only dimension that chooses the slices, both values of it, and the common parameters.

    With these, one query reads both slices. Return None if the slices differ in their days, or if one of them
    is not a single value of the dimension.
    """
    first_arm, second_arm = arms
    dimensions = {name for arm in arms for name, values in arm.own.items() if values}
    if len(dimensions) != 1 or first_arm.days != second_arm.days:
        return None
    (by,) = dimensions
    shown = first_arm.shared.get(PARAMETERS[by])
    first, second = (tuple(arm.own.get(by, ())) for arm in arms)
    if by not in _TABLES or any(
        len(each) != 1 or (shown and each[0] not in shown) for each in (first, second)
    ):
        return None
    return by, (first[0], second[0]), replace(first_arm, own={}).parameters()


def _read_values(ask: Ask, arms: tuple[Arm, Arm]) -> tuple[list[Slice], list[Slice]] | None:
    if (found := _find_values(arms)) is None:
        return None
    by, values, shared = found
    slices = make_slices(ask("slices", rates=tuple(RATES), by=by, **shared))
    first, second = ([each for each in slices if each.name == value] for value in values)
    return first, second


def _read_both(ask: Ask, arms: tuple[Arm, Arm]) -> tuple[list[Slice], list[Slice]]:
    rows = [ask("slices", rates=tuple(RATES), **arm.parameters()) for arm in arms]
    slices = make_slices(pd.concat(rows, ignore_index=True))
    return slices[: len(rows[0])], slices[len(rows[0]) :]


def find_basis(a: CompareSide, b: CompareSide, rate: RateDefinition) -> ComparisonBasis:
    """Return the rate by which both slices may be compared, and the reason if it is not `rate`."""
    slices = [
        side.rates[name] for side in (a, b) for name in rates_to_compare(rate.name) if name in side.rates
    ]
    return compare_by(rate.name, slices)


def read_work(ask: Ask, a: CompareSide, b: CompareSide, rate: RateDefinition) -> ArmStrata:
    """Return the strata of both slices, by the letters A and B."""
    apart, found = find_apart(a, b), _find_values((a.arm, b.arm))
    if found:
        by, names, shared = found
        work = [read_strata(ask, [rate], by, shared, arms=names, apart=apart)[rate.name]] * 2
    else:
        names = ("all", "all")
        work = [
            read_strata(ask, [rate], None, side.arm.parameters(), apart=apart)[rate.name] for side in (a, b)
        ]
    of_a, of_b = (strata.by_arm.get(name, {}) for strata, name in zip(work, names, strict=True))
    return ArmStrata(work[0].dimensions, {a.arm.letter: of_a, b.arm.letter: of_b})


def compare_sides(
    a: CompareSide, b: CompareSide, rate: RateDefinition, work: ArmStrata
) -> SliceComparison | None:
    """Return B compared with A, adjusted for the mix of calls where the mix matters.

    Return None if the rate of a slice is unknown.
    """
    first, second = a.whole_slice(rate), b.whole_slice(rate)
    if first is None or second is None:
        return None
    return compare_pairs([(second, first)], work.compare([(("B", second), ("A", first))]))[0]


def break_sides_down(
    ask: Ask,
    a: CompareSide,
    b: CompareSide,
    rate: RateDefinition,
    comparison: SliceComparison,
    work: ArmStrata,
    smallest: float = SMALLEST,
) -> Breakdown:
    """Return the difference of both slices, broken down by their common dimensions, with comparisons by the
    other rates.
    """
    apart, found = find_apart(a, b), _find_values((a.arm, b.arm))
    if found and len(set(found[1])) == 2:
        by, names, shared = found
        rows = ask_arms(ask, rate, apart, shared, by=by, among=names)
        letters = dict(zip(names, ("A", "B"), strict=True))
        rows = rows.assign(also=rows["also"].map(letters)).sort_values("also", kind="stable")
    else:
        rows = pd.concat(
            [
                ask_arms(ask, rate, apart, side.arm.parameters()).assign(also=side.arm.letter)
                for side in (a, b)
            ],
            ignore_index=True,
        )
    arms = split_arms(rows)
    slices = {name: (strata.get("A", ()), strata.get("B", ())) for name, strata in arms.items()}
    return add_prices(ask, (a.arm, b.arm), break_down(comparison, slices, work), smallest)


def add_prices(ask: Ask, arms: tuple[Arm, Arm], breakdown: Breakdown, smallest: float) -> Breakdown:
    """Return the breakdown with comparisons by the other leading rates, if one slice is better.

    If B is better only for some values of a dimension, the other rates are compared within these values.
    `smallest` is the smallest difference of interest, as a share.
    """
    rate, helped = breakdown.whole.slice.rate, breakdown.find_helped(smallest)
    if helped is None and breakdown.whole.standing(smallest) not in (Standing.BETTER, Standing.WORSE):
        return breakdown
    narrowed = {PARAMETERS[helped[0]]: tuple(each.name for each in helped[1])} if helped else {}
    a, b = (_read_leading(ask, replace(arm, shared={**arm.shared, **narrowed}), rate) for arm in arms)
    bases = [find_basis(a, b, RATES[name]).rate for name in LEADING if name != rate.name]
    both = [RATES[name] for name in bases if name and name in a.rates and name in b.rates]
    works = [read_work(ask, a, b, each) for each in both]
    mixes = [
        work.compare([(("B", b.rates[each.name]), ("A", a.rates[each.name]))])[0]
        for each, work in zip(both, works, strict=True)
    ]
    pairs = [(b.rates[each.name], a.rates[each.name]) for each in both]
    return replace(breakdown, prices=compare_pairs(pairs, mixes, family="rates"))


def _read_leading(ask: Ask, arm: Arm, rate: RateDefinition) -> CompareSide:
    leading = (rates_to_compare(name) for name in LEADING if name != rate.name)
    names = tuple(dict.fromkeys(name for several in leading for name in several))
    slices = make_slices(ask("slices", rates=names, **arm.parameters()))
    return CompareSide(arm, arm.letter, {each.rate.name: each for each in slices if each.share.n})


def find_apart(a: CompareSide, b: CompareSide) -> set[str]:
    """Return the dimensions in which the two slices differ."""
    apart = {name for name in PARAMETERS if a.arm.own.get(name) != b.arm.own.get(name)}
    return apart | ({"day"} if a.arm.days != b.arm.days else set())


def list_cautions(
    a: CompareSide, b: CompareSide, rate: RateDefinition, comparison: SliceComparison
) -> Iterator[str]:
    """Yield a sentence for each reason to doubt the comparison of B with A."""
    for side, whole in ((a, comparison.other), (b, comparison.slice)):
        if side.concentration:
            yield f"{side.arm.letter} depends on few sessions: {side.concentration}."
        if whole is not None and not whole.is_rankable:
            yield (
                f"Less than {100 * MEASURED_ENOUGH:.0f}% of the {rate.noun}s of {side.arm.letter} were "
                "measured; they may differ from the others."
            )
    if do_overlap(a.arm, b.arm):
        yield (
            "The slices overlap: a call can be in both, which hides part of the difference. "
            "Narrow one of them to what the other leaves out."
        )
