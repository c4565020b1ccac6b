"""Reads the rates of one slice of the page Compare: overall, broken down, and by stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from callgauge.dashboard import store_queries
from callgauge.dashboard.comparison import PARAMETERS, Arm
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.strata_queries import ask_arms, choose_breakdown, read_strata, split_arms
from callgauge.dashboard.measures.breakdown import Breakdown, break_down
from callgauge.dashboard.measures.comparisons import SliceComparison, compare_pairs
from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.dashboard.measures.same_mix import ArmStrata
from callgauge.dashboard.measures.slices import Slice, make_slices


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


def measure_sides(arms: tuple[Arm, Arm], names: tuple[str, str]) -> tuple[CompareSide, CompareSide]:
    """Return both sides; they lend each other what they tell of how alike the calls of a session are."""
    rows = [_read_rows(arm, tuple(RATES)) for arm in arms]
    found = make_slices(pd.concat(rows, ignore_index=True))
    firsts, seconds = found[: len(rows[0])], found[len(rows[0]) :]
    one, other = (
        CompareSide(arm, name, {one.rate.name: replace(one, name=name) for one in its})
        for arm, name, its in zip(arms, names, (firsts, seconds), strict=True)
    )
    return one, other


def read_work(a: CompareSide, b: CompareSide, rate: RateDefinition) -> ArmStrata:
    """Return the strata of both sides, by the letters of their arms."""
    apart = _find_apart(a, b)
    work = [read_strata(rate, None, side.arm.parameters(), apart=apart) for side in (a, b)]
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
    a: CompareSide, b: CompareSide, rate: RateDefinition, held: SliceComparison, work: ArmStrata
) -> Breakdown:
    """Return the difference of both sides, broken down by what does not tell them apart."""
    rows = [
        ask_arms(rate, _find_apart(a, b), side.arm.parameters()).assign(also=side.arm.letter)
        for side in (a, b)
    ]
    arms = split_arms(pd.concat(rows, ignore_index=True))
    return break_down(held, {name: (its.get("A", ()), its.get("B", ())) for name, its in arms.items()}, work)


def _find_apart(a: CompareSide, b: CompareSide) -> set[str]:
    """Return the dimensions that tell both sides apart."""
    apart = {name for name in PARAMETERS if a.arm.own.get(name) != b.arm.own.get(name)}
    return apart | ({"day"} if a.arm.days != b.arm.days else set())


def make_breakdown_export(a: CompareSide, b: CompareSide, rate: RateDefinition) -> cards.Download:
    dimensions = choose_breakdown(_find_apart(a, b))
    rows = make_export(a.arm, b.arm, "breakdown", rates=(rate.name,), dimensions=dimensions)
    return cards.Download(f"compare_{rate.name}_broken_down", rows)


def make_export(a: Arm, b: Arm, metric: str, **given: Any) -> Callable[[], pd.DataFrame]:
    """Return a function that reads the metric's rows of both slices, also after the run has ended.

    The column `compared` of its DataFrame holds the letter of the slice.
    """
    asked = {arm.letter: store_queries.ask_later(metric, **given, **arm.parameters()) for arm in (a, b)}
    return lambda: pd.concat(
        [rows().assign(compared=letter) for letter, rows in asked.items()], ignore_index=True
    )


def _read_rows(arm: Arm, rates: tuple[str, ...]) -> pd.DataFrame:
    return store_queries.ask("slices", rates=rates, **arm.parameters())
