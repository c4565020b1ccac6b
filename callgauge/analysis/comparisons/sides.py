"""Both sides of a comparison: their rates, at the same mix of work, and broken down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from callgauge.analysis.arm_filters import PARAMETERS, Arm, do_overlap
from callgauge.analysis.comparisons.strata_queries import Ask, ask_arms, read_strata, split_arms
from callgauge.analysis.measures.breakdown import Breakdown, break_down
from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs
from callgauge.analysis.measures.measurability import ComparisonBasis, compare_by, rates_to_compare
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice, make_slices


@dataclass(frozen=True, slots=True)
class CompareSide:
    """One of the two compared slices.

    `name`: the slice in words. `rates`: the measured rates by rate name; unmeasured rates are missing.
    """

    arm: Arm
    name: str
    rates: Mapping[str, Slice]

    def whole_slice(self, rate: RateDefinition) -> Slice | None:
        return self.rates.get(rate.name)


def measure_sides(ask: Ask, arms: tuple[Arm, Arm], names: tuple[str, str]) -> tuple[CompareSide, CompareSide]:
    """Return both sides; they lend each other what they tell of how alike the calls of a session are."""
    rows = [ask("slices", rates=tuple(RATES), **arm.parameters()) for arm in arms]
    found = make_slices(pd.concat(rows, ignore_index=True))
    firsts, seconds = found[: len(rows[0])], found[len(rows[0]) :]
    one, other = (
        CompareSide(arm, name, {one.rate.name: replace(one, name=name) for one in its})
        for arm, name, its in zip(arms, names, (firsts, seconds), strict=True)
    )
    return one, other


def find_basis(a: CompareSide, b: CompareSide, rate: RateDefinition) -> ComparisonBasis:
    """Return the rate by which both sides may be compared when a reader asks for `rate`, and why."""
    slices = [
        side.rates[name] for side in (a, b) for name in rates_to_compare(rate.name) if name in side.rates
    ]
    return compare_by(rate.name, slices)


def read_work(ask: Ask, a: CompareSide, b: CompareSide, rate: RateDefinition) -> ArmStrata:
    """Return the strata of both sides, by the letters of their arms."""
    apart = find_apart(a, b)
    work = [read_strata(ask, [rate], None, side.arm.parameters(), apart=apart)[rate.name] for side in (a, b)]
    of_a, of_b = (its.by_arm.get("all", {}) for its in work)
    return ArmStrata(work[0].dimensions, {a.arm.letter: of_a, b.arm.letter: of_b})


def compare_sides(
    a: CompareSide, b: CompareSide, rate: RateDefinition, work: ArmStrata
) -> SliceComparison | None:
    """Return B held against A, at the same mix of work where that matters; None without this rate."""
    first, second = a.whole_slice(rate), b.whole_slice(rate)
    if first is None or second is None:
        return None
    return compare_pairs([(second, first)], work.compare([(("B", second), ("A", first))]))[0]


def break_sides_down(
    ask: Ask, a: CompareSide, b: CompareSide, rate: RateDefinition, held: SliceComparison, work: ArmStrata
) -> Breakdown:
    """Return the difference of both sides, broken down by what does not tell them apart."""
    rows = [
        ask_arms(ask, rate, find_apart(a, b), side.arm.parameters()).assign(also=side.arm.letter)
        for side in (a, b)
    ]
    arms = split_arms(pd.concat(rows, ignore_index=True))
    return break_down(held, {name: (its.get("A", ()), its.get("B", ())) for name, its in arms.items()}, work)


def find_apart(a: CompareSide, b: CompareSide) -> set[str]:
    """Return the dimensions that tell both sides apart."""
    apart = {name for name in PARAMETERS if a.arm.own.get(name) != b.arm.own.get(name)}
    return apart | ({"day"} if a.arm.days != b.arm.days else set())


def list_cautions(
    a: CompareSide, b: CompareSide, rate: RateDefinition, held: SliceComparison
) -> Iterator[str]:
    """Yield a sentence for each reason to doubt the comparison `held` of B with A."""
    for side, whole in ((a, held.other), (b, held.slice)):
        if whole is not None and not whole.is_rankable:
            yield (
                f"Less than {100 * MEASURED_ENOUGH:.0f}% of the {rate.noun}s of {side.arm.letter} could be "
                "judged: those that could may be unlike the others."
            )
    if do_overlap(a.arm, b.arm):
        yield (
            "The slices overlap: a call can be in both, which hides part of the difference. "
            "Narrow one of them to what the other leaves out."
        )
