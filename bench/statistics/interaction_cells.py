"""Simulates breakdowns of two variants by model and tool.

Measures false interactions, false verdicts on strata, and power.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.statistics.cells import Cell
from bench.statistics.draws import Floats, Sessions, Sizes
from callgauge.analysis.measures.breakdown import Breakdown, break_down
from callgauge.analysis.measures.comparisons import Standing, compare_pairs
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, merge_slices, relate_slices
from callgauge.stats import Share

_LARGEST = 0.06
_NAMED: tuple[tuple[Sizes, float, int, int, float], ...] = (
    ("even", 0.0, 5, 10, 0.1),
    ("even", 0.05, 2, 30, 0.0),
    ("even", 0.2, 5, 10, 0.1),
    ("even", 0.2, 10, 10, 0.0),
    ("heavy", 0.05, 5, 5, 0.0),
    ("heavy", 0.2, 10, 30, 0.1),
)
_RATE = RATES["parse_error"]
_TOOLS = 4
_SPREAD = 1.0  # standard deviation of a session's effects on its tools, on the logit scale


@dataclass(frozen=True, slots=True)
class Drawn:
    """The counts of one variant by model and by tool, each of shape (draws, 2, strata, GROUPS)."""

    by_model: Floats
    by_tool: Floats
    sessions: int


def draw_arm(drawn: Sessions, rates: Floats, sessions: int, rho: float) -> Drawn:
    """Simulate a variant with `sessions` sessions of each model; each session has calls of several tools.

    `rates` contains the error rate of each model.
    """
    counts = [_spread_over_tools(drawn, *drawn.draw_counts(sessions, rate, rho)) for rate in rates]
    groups = [drawn.put_into_groups(*each) for each in counts]
    by_model = np.concatenate([each.sum(2, keepdims=True) for each in groups], axis=2)
    return Drawn(by_model, np.asarray(sum(groups)), sessions)


def _spread_over_tools(drawn: Sessions, k: Floats, n: Floats) -> tuple[Floats, Floats]:
    even = np.full(_TOOLS, 1 / _TOOLS)
    hits = drawn.random.multinomial(k.astype(int), even)
    return hits.astype(float), hits + drawn.random.multinomial((n - k).astype(int), even).astype(float)


def break_arms_down(a: Drawn, b: Drawn, draw: int) -> Breakdown:
    """Return the breakdown of one repetition, computed as on the pages."""
    slices = {}
    for dimension, counts in (
        ("model", (a.by_model, b.by_model)),
        ("tool", (a.by_tool, b.by_tool)),
    ):
        sizes = [arm.sessions * (1 if dimension == "model" else a.by_model.shape[2]) for arm in (a, b)]
        arm_slices = [_slice(arm[draw], number) for arm, number in zip(counts, sizes, strict=True)]
        related = relate_slices([slice_ for arm in arm_slices for slice_ in arm])
        slices[dimension] = (related[: len(arm_slices[0])], related[len(arm_slices[0]) :])
    wholes = [merge_slices(arm_slices) for arm_slices in slices["model"]]
    first, second = relate_slices([slice_ for slice_ in wholes if slice_])
    (whole,) = compare_pairs([(second, first)])
    return break_down(whole, slices)


def _slice(counts: Floats, sessions: int) -> list[Slice]:
    shares = [Share.from_groups(k, n, sessions) for k, n in zip(*counts, strict=True)]
    return [Slice(_RATE, str(place), "all", share, share.n) for place, share in enumerate(shares) if share.n]


def count_false_names(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often equal strata are called different, and how often a stratum is named by mistake."""
    random = np.random.default_rng(seed)
    sizes_: tuple[Sizes, ...] = ("even", "heavy")
    grid = product(sizes_, (0.0, 0.05, 0.2), (2, 5, 10), (5, 10, 30, 60), (0.0, 0.1))
    for sizes, rho, models, sessions, shift in grid if whole else _NAMED:
        drawn = Sessions(random, draws, sizes)
        rates = np.linspace(0.02, 0.3, models)
        a, b = (draw_arm(drawn, rates + each, sessions, rho) for each in (0.0, shift))
        breakdowns = [break_arms_down(a, b, draw) for draw in range(draws)]
        setting = (
            f"{models} models of 2 to 30%, {sessions} sessions each a side, {sizes} sizes, rho {rho}, "
            f"{'no difference' if not shift else '10 points more in each'}"
        )
        unlike = sum(bool(each.list_differing()) for each in breakdowns)
        yield Cell("equal differences called an interaction", setting, unlike, draws, None, _LARGEST)
        if not shift:
            decided = sum(_is_any_decided(each) for each in breakdowns)
            named = sum(bool(each.find_named()) for each in breakdowns)
            yield Cell("no difference, a part called different", setting, decided, draws, None, _LARGEST)
            yield Cell("no difference, a part named", setting, named, draws, None, _LARGEST)


def _is_any_decided(breakdown: Breakdown) -> bool:
    return any(
        each.comparison and each.comparison.is_decisive
        for strata in breakdown.strata.values()
        for each in strata
    )


def find_interaction(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often the only model of five that got worse is named, and how often another model."""
    random = np.random.default_rng(seed)
    # The first setting is that of the sample: one of five models goes from 2 to 50 %, with 6 and 8 sessions
    # each.
    settings = [(6, 8, 0.05, 0.5, 0.35), (6, 8, 0.2, 0.5, 0.15), (20, 20, 0.05, 0.3, 0.7)]
    if whole:
        settings += [(20, 20, 0.2, 0.3, 0.2), (60, 60, 0.05, 0.1, 0.2), (60, 60, 0.2, 0.1, 0.05)]
    for before, after, rho, worse, least in settings:
        drawn = Sessions(random, draws, "heavy")
        rates = np.array([0.01, 0.05, 0.3, 0.3, 0.02])
        changed = np.where(np.arange(len(rates)) == len(rates) - 1, worse, rates)
        a, b = draw_arm(drawn, rates, before, rho), draw_arm(drawn, changed, after, rho)
        breakdowns = [break_arms_down(a, b, draw) for draw in range(draws)]
        names = [{(each.dimension, each.name) for each in breakdown.find_named()} for breakdown in breakdowns]
        target = ("model", str(len(rates) - 1))
        setting = f"5 models, {before} and {after} sessions each, one goes from 2 to {worse:.0%}, rho {rho}"
        right = sum(target in each for each in names)
        yield Cell("the model that got worse is named", setting, right, draws, least)
        differs = sum("model" in breakdown.list_differing() for breakdown in breakdowns)
        yield Cell("its interaction is attributed to the model", setting, differs, draws)
        silent = sum(breakdown.whole.standing() is Standing.UNDECIDED for breakdown in breakdowns)
        yield Cell("the whole is not decided then", setting, silent, draws)
        others = sum(any(name[0] == "model" and name != target for name in each) for each in names)
        yield Cell("another model is also named", setting, others, draws, None, _LARGEST)
