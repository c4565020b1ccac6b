"""Simulates a table of twenty models: false alarms, power, ranks and the top group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from bench.statistics.cells import Cell
from bench.statistics.draws import Sessions, Sizes, share_tables
from callgauge.stats import Difference, Ranking, Share, compare_estimates, rank_arms

ARMS = 20
_PAIRS = ARMS * (ARMS - 1) // 2  # Holm's correction begins with this number of pairs
_UNEQUAL = tuple(int(number) for number in np.round(np.geomspace(3, 500, ARMS)))
_LAYOUTS = {
    **{f"{ARMS} × {each} sessions": (each,) * ARMS for each in (10, 30, 100, 300)},
    f"{ARMS} models of 3 to 500 sessions": _UNEQUAL,
}
_RHOS: tuple[float | None, ...] = (0.0, 0.05, 0.2, 0.5, None)
_RATES = (0.01, 0.05, 0.2)
_NAMED = {(0.2, 0.05), (0.5, 0.05), (None, 0.01)}
_LARGEST = 0.06
_BEHIND, _MANY = (
    0.05,
    100,
)  # the allowed loss of power compared with the oracle; variants with fewer sessions have no such limit


def rank_table(shares: Sequence[Share]) -> Ranking:
    """Rank the variants that have enough data, as the page Models does."""
    judged = [place for place, share in enumerate(shares) if share.has_enough]
    if len(judged) < 2:
        return Ranking([(1, len(shares))] * len(shares), list(range(len(shares))), {})
    pairs = [(arm, other) for place, arm in enumerate(judged) for other in judged[:place]]
    estimates = [share.estimate for share in shares]
    compared = compare_estimates([(estimates[arm], estimates[other]) for arm, other in pairs])  # type: ignore[misc]
    differences: dict[tuple[int, int], Difference] = dict(zip(pairs, compared, strict=True))
    return rank_arms(len(shares), differences, high_is_good=False)


def count_false_tables(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often any model is called better or worse in a table of equal models."""
    random = np.random.default_rng(seed)
    sizes_: tuple[Sizes, ...] = ("even", "heavy")
    for sizes, rho, rate, (layout, sessions) in product(sizes_, _RHOS, _RATES, _LAYOUTS.items()):
        if not whole and ((rho, rate) not in _NAMED or sessions[0] in (10, 300)):
            continue
        drawn = Sessions(random, draws, sizes)
        arms = [
            (drawn.put_into_groups(*drawn.draw_counts(each, rate, _draw_rho(drawn, rho))), each)
            for each in sessions
        ]
        false = sum(min(rank_table(table).p.values(), default=1.0) < 0.05 for table in share_tables(arms))
        yield Cell(
            "tables of equal models with a false verdict",
            f"{layout}, {sizes} sizes, {_name_rho(rho)}, {rate:.0%}",
            false,
            draws,
            None,
            _LARGEST,
        )


def find_doubled_arm(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often a model with twice the rate of 19 other models is called worse, by us and by an oracle.

    The oracle knows the true intra-session correlation of every variant and uses the normal distribution.
    """
    random = np.random.default_rng(seed)
    settings = [(0.0, 0.05, 30), (0.05, 0.05, 100), (0.2, 0.05, 100), (0.2, 0.05, 300)]
    if whole:
        settings += [(0.05, 0.05, 30), (0.05, 0.2, 30), (0.2, 0.2, 30), (0.5, 0.2, 100), (0.05, 0.01, 300)]
    for rho, rate, sessions in settings:
        drawn = Sessions(random, draws)
        arms, squares = [], []
        for place in range(ARMS):
            k, n = drawn.draw_counts(sessions, 2 * rate if place == 1 else rate, rho)
            arms.append((drawn.put_into_groups(k, n), sessions))
            squares.append((n * n).sum(1))
        tables = share_tables(arms)
        ours = sum(rank_table(table).p.get((1, 0), 1.0) < 0.05 for table in tables)
        oracle = 0
        for draw, table in enumerate(tables):
            numbers = [
                table[place].n / (1 + rho * (squares[place][draw] / table[place].n - 1)) for place in (0, 1)
            ]
            independent = [
                Share(round((table[place].rate or 0.0) * number), round(number))
                for place, number in zip((0, 1), numbers, strict=True)
            ]
            first, other = (share.estimate for share in independent)
            if first and other:
                oracle += compare_estimates([(other, first)])[0].p < 0.05 / _PAIRS
        setting = f"{rate:.0%} and {2 * rate:.0%}, {ARMS} × {sessions} sessions, rho {rho}"
        # With few sessions, an unknown rho costs more power, so the result is reported but not judged.
        least = max(0.0, oracle / draws - _BEHIND) if sessions >= _MANY else None
        yield Cell("power for a doubled rate", setting, ours, draws, least)
        yield Cell("power of a test that knows rho", setting, oracle, draws)


def cover_ranks(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often the rank ranges of eight unequal models contain the true ranks.

    Also yield how often the top group contains the best models.
    """
    random = np.random.default_rng(seed)
    rates = [0.02, 0.02, 0.04, 0.05, 0.08, 0.1, 0.15, 0.3]
    first = [1, 1, 3, 4, 5, 6, 7, 8]
    last = [2, 2, 3, 4, 5, 6, 7, 8]
    for rho, sessions in (
        ((0.05, 60), (0.2, 60), (0.2, 300), (0.5, 300)) if whole else ((0.2, 60), (0.2, 300))
    ):
        drawn = Sessions(random, draws)
        arms = [(drawn.put_into_groups(*drawn.draw_counts(sessions, rate, rho)), sessions) for rate in rates]
        ranked = [rank_table(table) for table in share_tables(arms)]
        # The two best models are equal, so both orders are right.
        hold = sum(
            all(
                low <= least and most <= high
                for (low, high), least, most in zip(each.ranks, last, first, strict=True)
            )
            or all(
                low <= most and least <= high
                for (low, high), least, most in zip(each.ranks, last, first, strict=True)
            )
            for each in ranked
        )
        setting = f"8 models of 2 to 30 %, {sessions} sessions each, rho {rho}"
        yield Cell("tables whose rank ranges contain all true ranks", setting, hold, draws, 0.94)
        yield Cell(
            "top groups with the best model",
            setting,
            sum({0, 1} <= set(each.best) for each in ranked),
            draws,
            0.94,
        )


def name_best(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often a best model is named: falsely among equal models, and rightly if one is clearly best.

    Also yield how often a model is missing from the top group although all models are equal. The model is
    either the model with most sessions, which is the usual baseline, or another model.
    """
    random = np.random.default_rng(seed)
    for arms in (3, 5, 10, 20) if whole else (3, 5, 20):
        for best, rest in ((0.08, 0.08), (0.05, 0.10), (0.05, 0.08)):
            drawn = Sessions(random, draws)
            several = [
                (
                    drawn.put_into_groups(*drawn.draw_counts(sessions, best if place == 0 else rest, 0.1)),
                    sessions,
                )
                for place, sessions in enumerate([200] * (arms - 1) + [260])
            ]
            tops = [set(rank_table(table).best) for table in share_tables(several)]
            setting = f"{arms} models, {best:.0%} and {rest:.0%}, 200 sessions each, rho 0.1"
            if best == rest:
                named = sum(len(top) == 1 for top in tops)
                yield Cell("a best model named among equal ones", setting, named, draws, most=0.05)
                for place, words in ((arms - 1, "with most sessions"), (0, "with fewer sessions")):
                    out = sum(place not in top for top in tops)
                    yield Cell(f"the model {words} left out of the top group", setting, out, draws)
            else:
                yield Cell("a true best model named", setting, sum(top == {0} for top in tops), draws)
                false = sum(len(top) == 1 and 0 not in top for top in tops)
                yield Cell("a wrong best model named", setting, false, draws, most=0.01)


def _draw_rho(drawn: Sessions, rho: float | None) -> float | np.ndarray:
    return drawn.random.choice([0.02, 0.05, 0.1, 0.2, 0.4], size=(drawn.draws, 1)) if rho is None else rho


def _name_rho(rho: float | None) -> str:
    return "a different rho in every model" if rho is None else f"rho {rho}"
