"""Simulates how often a worse or an equal model is suggested, how often a cheaper equal model is found, and
how often the interval of the saving contains the true saving.

Sessions have correlated calls and turns. Each model has its own mix of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.statistics.cells import Cell
from callgauge.analysis.comparisons.model_choices import (
    ModelCost,
    ModelEvidence,
    judge_choice,
    measure_saving,
)
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import Slice, relate_slices
from callgauge.analysis.verdicts.model_choices import ModelChoice
from callgauge.stats import GROUPS, Share, sum_savings
from callgauge.stats.intervals import Floats
from callgauge.stats.session_groups import Integers

MOST_WRONG = 0.05
LEAST_COVERAGE, MOST_COVERAGE = 0.93, 0.97
MARGIN = 0.02
SIZES = (50, 100, 200, 400, 800, 1_600, 3_200)
_CURRENT = "current"
_TOOLS = 3
_HARDER = np.array([0.5, 1.0, 1.5])  # the error rates of the tools, divided by the mean rate


@dataclass(frozen=True, slots=True)
class Made:
    """A model with known rates at one prompt.

    `errors` is the mean rate of parse errors over equally used tools, before `worse` is added to the rate of
    each tool. `price` is the mean cost of a turn. `likeness` is the intra-session correlation of errors,
    success and costs.
    """

    sessions: int
    errors: float = 0.04
    success: float = 0.85
    price: float = 1.0
    worse: float = 0.0
    likeness: float = 0.1

    @property
    def cost(self) -> float:
        """The true cost per successful turn."""
        return self.price / self.success


def draw_hits(random: np.random.Generator, n: Floats, rates: Floats, likeness: float) -> Floats:
    """Return the hits of `n` observations, an array of shape (sessions, strata).

    Each observation copies the chance of its session with the probability sqrt(likeness). So each rate is
    exact, and two observations of a session have the correlation `likeness`.
    """
    common = random.binomial(n.astype(int), np.sqrt(likeness))
    hits = random.random((len(n), 1)) < rates
    return np.asarray(common * hits + random.binomial(n.astype(int) - common, rates), dtype=float)


def sum_groups(groups: Integers, *counts: Floats) -> Floats:
    """Return the sums of each array by group of sessions, of shape (arrays, strata, GROUPS)."""
    sums = np.zeros((len(counts), counts[0].shape[1], GROUPS))
    for place, each in enumerate(counts):
        np.add.at(sums[place].T, groups, each)
    return sums


def draw_evidence(random: np.random.Generator, models: Sequence[Made]) -> ModelEvidence:
    """Return what the sessions of models at one prompt show. The first model is the current model."""
    slices: list[Slice] = []
    strata: dict[str, dict[str, dict[tuple[str, ...], Share]]] = {"parse_error": {}, "turn_success": {}}
    costs = {}
    names = [_CURRENT, *(f"m{place}" for place in range(1, len(models)))]
    for name, made in zip(names, models, strict=True):
        turns = random.integers(1, 5, (made.sessions, 1)).astype(float)
        mix = random.dirichlet(np.full(_TOOLS, 4.0))
        calls = random.multinomial((turns[:, 0] * random.integers(1, 7, made.sessions)).astype(int), mix)
        rates = made.errors * _HARDER + made.worse
        k = draw_hits(random, calls.astype(float), rates, made.likeness)
        ok = draw_hits(random, turns, np.array([made.success]), made.likeness)
        amounts = _draw_amounts(random, turns[:, 0], made)[:, None]
        groups = random.integers(0, GROUPS, made.sessions)
        k_groups, n_groups = sum_groups(groups, k, calls.astype(float))
        of_turns = sum_groups(groups, ok, turns, amounts)[:, 0]
        errors = Share.from_groups(k_groups.sum(0), n_groups.sum(0), made.sessions)
        success = Share.from_groups(of_turns[0], of_turns[1], made.sessions)
        slices += [Slice(RATES["parse_error"], name, "p", errors, errors.n)]
        slices += [Slice(RATES["turn_success"], name, "p", success, success.n)]
        strata["parse_error"][name] = {
            (f"t{tool}",): Share.from_groups(k_groups[tool], n_groups[tool], made.sessions)
            for tool in range(_TOOLS)
            if n_groups[tool].sum()
        }
        strata["turn_success"][name] = {("log",): success}
        costs[name] = ModelCost(
            {("log",): np.stack([of_turns[2], of_turns[0]])},
            success.n,
            success.n,
            success.n,
            float(of_turns[2].sum()),
        )
    by_model: dict[str, dict[str, Slice]] = {name: {} for name in names}
    for slice_ in relate_slices(slices):
        by_model[slice_.name][slice_.rate.name] = slice_
    arms = {
        "parse_error": ArmStrata(("tool",), strata["parse_error"]),
        "turn_success": ArmStrata(("source",), strata["turn_success"]),
    }
    return ModelEvidence(by_model, arms, costs, {}, {})


def _draw_amounts(random: np.random.Generator, turns: Floats, made: Made) -> Floats:
    """Return the cost of each session. The costs of turns are lognormal, with an effect of the session."""
    spread = 0.8
    effect = random.normal(0, spread * np.sqrt(made.likeness), len(turns))
    rest = spread * np.sqrt(1 - made.likeness)
    own = np.exp(random.normal(0, rest, (len(turns), 4))) * (np.arange(4) < turns[:, None])
    return np.asarray(made.price * np.exp(effect - spread**2 / 2) * own.sum(1))


def draw_choice(random: np.random.Generator, models: Sequence[Made]) -> tuple[ModelChoice, ModelEvidence]:
    evidence = draw_evidence(random, models)
    return judge_choice("prompt", "p", evidence, _CURRENT, MARGIN), evidence


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the error rates, the power and the coverage."""
    random = np.random.default_rng(seed)
    yield from _count_wrong(draws, random, whole=whole)
    yield from _find_planted(draws, random, whole=whole)
    yield from _cover_savings(draws, random, whole=whole)


def _count_wrong(draws: int, random: np.random.Generator, *, whole: bool) -> Iterator[Cell]:
    """Yield how often a model is suggested that is worse by the margin, or that has the same price."""
    sizes = SIZES[2::2] if whole else (200, 1_600)
    for sessions in sizes:
        current = Made(sessions)
        cheap = 0.5
        settings = {
            "1 cheaper model, parse errors worse by 2 points": [Made(sessions, worse=MARGIN, price=cheap)],
            "1 cheaper model, turn success worse by 2 points": [
                Made(sessions, success=0.85 - MARGIN, price=cheap)
            ],
            "4 cheaper models, parse errors worse by 2 points": [Made(sessions, worse=MARGIN, price=cheap)]
            * 4,
            "4 cheaper models, turn success worse by 2 points": [
                Made(sessions, success=0.85 - MARGIN, price=cheap)
            ]
            * 4,
        }
        for words, others in settings.items():
            hits = sum(
                draw_choice(random, [current, *others])[0].suggestion is not None for _ in range(draws)
            )
            setting = f"{words}, {sessions:,} sessions each"
            yield Cell(
                "prompts with a model that is worse by the margin, suggested",
                setting,
                hits,
                draws,
                most=MOST_WRONG,
            )
        for many in (1, 4):
            hits = sum(
                draw_choice(random, [current] * (many + 1))[0].suggestion is not None for _ in range(draws)
            )
            setting = f"{many + 1} equal models with equal prices, {sessions:,} sessions each"
            yield Cell("prompts with equal models, one suggested", setting, hits, draws, most=MOST_WRONG)


def _find_planted(draws: int, random: np.random.Generator, *, whole: bool) -> Iterator[Cell]:
    """Yield how often an equal model at half the price is suggested."""
    for success in (0.85, 0.97) if whole else (0.97,):
        for sessions in SIZES[1:]:
            models = [Made(sessions, success=success), Made(sessions, success=success, price=0.5)]
            hits = sum(draw_choice(random, models)[0].suggestion is not None for _ in range(draws))
            setting = f"{sessions:,} sessions each, turn success {success:.0%}"
            yield Cell("prompts with an equal model at half the price, suggested", setting, hits, draws)
    for sessions in SIZES[:3]:
        better = Made(sessions, errors=0.02, success=0.92, price=0.5)
        hits = sum(
            draw_choice(random, [Made(sessions), better])[0].suggestion is not None for _ in range(draws)
        )
        setting = f"{sessions:,} sessions each, parse errors 2% against 4%, turn success 92% against 85%"
        yield Cell("prompts with a better model at half the price, suggested", setting, hits, draws)


def _cover_savings(draws: int, random: np.random.Generator, *, whole: bool) -> Iterator[Cell]:
    """Yield how often the interval contains the true saving of one prompt, and of five prompts together."""
    spent = 100.0
    for sessions in SIZES if whole else (50, 200, 800):
        models = [Made(sessions), Made(sessions // 2, success=0.8, price=0.6)]
        truth = spent * (1 - models[1].cost / models[0].cost)
        covered = together = 0
        for _ in range(draws):
            ratios = [draw_evidence(random, models).compare_costs("m1", _CURRENT) for _ in range(5)]
            measured = [ratio for ratio in ratios if ratio]
            _, interval = measure_saving(spent, measured[0])
            covered += interval.low <= truth <= interval.high
            _, several = sum_savings([spent] * len(measured), measured)
            together += several.low <= len(measured) * truth <= several.high
        setting = f"{sessions:,} sessions of the current model, {sessions // 2:,} of the other"
        band = LEAST_COVERAGE, MOST_COVERAGE
        yield Cell(
            "savings of a prompt whose interval contains the true saving", setting, covered, draws, *band
        )
        yield Cell("savings of five prompts whose interval contains the sum", setting, together, draws, *band)
