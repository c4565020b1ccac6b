"""Simulates nights of a store and counts those on which the Overview raises an alert.

The store has several models with unequal shares of the calls, and five rates of each. Sessions of 1–50 calls
have correlated calls (beta-binomial). Every rate has a day effect on the logit scale: of its own, common to
all rates and models, or half of either; it may be autocorrelated, and weekends may have a rate and a volume
of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import product

import numpy as np
from scipy.special import expit, logit

from callgauge.dashboard.measures.rates import RATES
from callgauge.dashboard.measures.slices import Slice
from callgauge.dashboard.pages.overview.alerts import (
    Alert,
    AlertWindows,
    choose_windows,
    find_alerts,
    list_candidates,
)
from callgauge.stats import GROUPS, Share, make_shares
from tests.bench.statistics.cells import Cell

MOST_FALSE = 0.05  # nights without a change on which there is an alert
_LONGEST = 50  # calls in a session
_RATES = {"parse_error": 0.05, "emission": 0.01, "tool_rejected": 0.1, "execution": 0.2, "derived_ok": 0.85}
_NEWEST = date(2026, 11, 22)  # a Sunday; the nights of a cell end on all weekdays in turn


@dataclass(frozen=True, slots=True)
class Store:
    """What a simulated store is like.

    `calls` a day over all models; `correlation` of the calls of a session; `day_sd`: standard deviation of
    the day effect on the logit scale, of which the share `common` is that of all series alike;
    `autocorrelation` of the day effects; `weekend`: the shift of weekend rates on the logit scale (weekends
    then have half the calls); `days` before the newest one; `models`.
    """

    calls: int
    correlation: float
    day_sd: float
    common: float = 0.0
    autocorrelation: float = 0.0
    weekend: float = 0.0
    days: int = 28
    models: int = 8

    @property
    def setting(self) -> str:
        parts = [f"{self.calls:,} calls a day", f"rho {self.correlation}", f"day sd {self.day_sd}"]
        parts += [f"common {self.common}"] if self.common else []
        parts += [f"AR {self.autocorrelation}"] if self.autocorrelation else []
        parts += [f"weekends {self.weekend:+}"] if self.weekend else []
        parts += [f"{self.days} days before"] if self.days != 28 else []
        return ", ".join(parts)


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the share of nights with a false alert, then the share of doublings that raise one.

    150 draws of the named subset take about a minute. `whole`: the full grid.
    """
    random = np.random.default_rng(seed)
    for store in _whole_grid() if whole else NAMED:
        raised = sum(bool(alerts_of_night(store, night, random)) for night in range(draws))
        yield Cell("nights with a false alert", store.setting, raised, draws, most=MOST_FALSE)
    for store in POWER:
        found = sum(
            any(one.now.name == "m0" and one.now.rate.name == "parse_error" for one in its)
            for its in (alerts_of_night(store, night, random, doubled=True) for night in range(draws))
        )
        yield Cell("doublings from 5 to 10 % with an alert", store.setting, found, draws)


NAMED = (
    Store(2_000, 0.0, 0.0),
    Store(2_000, 0.3, 0.0),
    Store(2_000, 0.1, 0.2),
    Store(2_000, 0.1, 0.4),
    Store(2_000, 0.1, 0.4, common=1.0),
    Store(2_000, 0.1, 0.4, common=0.5, autocorrelation=0.5, weekend=0.5),
    Store(100, 0.3, 0.4),
    Store(2_000, 0.1, 0.4, days=5),
)
POWER = (
    Store(2_000, 0.1, 0.0, models=1),
    Store(2_000, 0.1, 0.2, models=1),
    Store(2_000, 0.1, 0.4, models=1),
)


def _whole_grid() -> Iterator[Store]:
    for calls, correlation, sd in product((100, 500, 2_000, 20_000), (0.0, 0.1, 0.3, 0.5), (0.0, 0.2, 0.4)):
        plain = Store(calls, correlation, sd)
        yield plain
        yield replace(plain, weekend=0.5)
        yield replace(plain, days=5)
        if sd:
            yield replace(plain, common=1.0)
            yield replace(plain, common=0.5, autocorrelation=0.5)
            yield replace(plain, common=0.5, autocorrelation=0.5, weekend=0.5)


def alerts_of_night(
    store: Store, night: int, random: np.random.Generator, *, doubled: bool = False
) -> list[Alert]:
    """Return the alerts of a night. `doubled`: the parse errors of the model m0 double on the newest day."""
    newest = _NEWEST - timedelta(night % 7)
    found = draw_night(store, newest, random, doubled=doubled)
    return find_alerts(list_candidates("model", found[0], found[1]), found[1]) if found else []


def draw_night(
    store: Store, newest: date, random: np.random.Generator, *, doubled: bool = False
) -> tuple[list[Slice], AlertWindows] | None:
    """Return the slices by model and day, and the windows of the alerts; None without a day before."""
    # A quiet store is looked at by the week.
    length = store.days + (6 if store.calls < 200 else 0) + 1
    days = [newest - timedelta(number) for number in reversed(range(length))]
    weekend = np.array([day.weekday() >= 5 for day in days])
    share = 1 / np.arange(1, store.models + 1)
    share /= share.sum()
    volume = np.where(weekend & (store.weekend != 0), 0.5, 1.0) * random.lognormal(0, 0.15, length)
    sessions = random.poisson(np.outer(share * store.calls / ((1 + _LONGEST) / 2), volume))
    sessions = np.maximum(sessions, 1)
    common = _day_effects(store, (1, 1, length), random)
    slices: list[Slice] = []
    for rate, level in _RATES.items():
        own = _day_effects(store, (store.models, length), random)
        effect = np.sqrt(store.common) * common[0] + np.sqrt(1 - store.common) * own
        level_now = (
            np.full((store.models, length), logit(level)) + store.day_sd * effect + store.weekend * weekend
        )
        if doubled and rate == "parse_error":
            level_now[0, -1] += logit(2 * level) - logit(level)
        shares = _draw_shares(expit(level_now), sessions, store.correlation, random)
        slices += [
            Slice(RATES[rate], f"m{model}", str(days[day]), shares[model][day], shares[model][day].n)
            for model in range(store.models)
            for day in range(length)
        ]
    calls = {
        day: sum(one.total for one in slices if one.also == str(day) and one.rate.name == "emission")
        for day in days
    }
    windows = choose_windows(calls)
    return (slices, windows) if windows else None


def _day_effects(store: Store, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Return autocorrelated effects of variance 1; the last axis is the day."""
    effects = random.standard_normal(shape)
    rest = np.sqrt(1 - store.autocorrelation**2)
    for day in range(1, shape[-1]):
        effects[..., day] = store.autocorrelation * effects[..., day - 1] + rest * effects[..., day]
    return effects


def _draw_shares(
    rates: np.ndarray, sessions: np.ndarray, correlation: float, random: np.random.Generator
) -> list[list[Share]]:
    cell = np.repeat(np.arange(rates.size), sessions.ravel())
    n = random.integers(1, _LONGEST + 1, len(cell))
    own = rates.ravel()[cell]
    if correlation:
        weight = 1 / correlation - 1
        own = random.beta(own * weight, (1 - own) * weight)
    k = random.binomial(n, own)
    place = cell * GROUPS + random.integers(0, GROUPS, len(cell))
    by_group = np.stack(
        [np.bincount(place, counts, rates.size * GROUPS).reshape(rates.size, GROUPS) for counts in (k, n)],
        axis=1,
    )
    totals = by_group.sum(axis=-1).astype(int).tolist()
    many = sessions.ravel().tolist()
    shares = make_shares(
        [(k, n, each) for (k, n), each in zip(totals, many, strict=True)], by_group.astype(float)
    )
    days = rates.shape[1]
    return [shares[start : start + days] for start in range(0, len(shares), days)]
