"""Simulates the nights of a store: which changes they find, how long these stand, and when they are over.

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

from bench.statistics.cells import Cell
from callgauge.analysis.measures.alerts import list_nights
from callgauge.stats import GROUPS
from callgauge.stats.over_time.lasting_changes import DailySeries, Following, LastingChange, follow_changes

MOST_FALSE = 0.05  # nights without a change on which there is a new alert
LEAST_STANDING = 0.95  # of the days of a change from the night that found it
LEAST_OVER = 0.5  # of the changes that ended, over within three days
_LONGEST = 50  # calls in a session
_RATES = {"parse_error": 0.05, "emission": 0.01, "tool_rejected": 0.1, "execution": 0.2, "derived_ok": 0.85}
_NEWEST = date(2026, 11, 22)  # a Sunday; the stores of a cell end on all weekdays in turn
WALKED = 20  # nights of a store without a change
LASTED, AFTER = 20, 20  # days of a planted change, and after it
_SOON = 3  # days


@dataclass(frozen=True, slots=True)
class Store:
    """What a simulated store is like.

    `calls` a day over all models; `correlation` of the calls of a session; `day_sd`: standard deviation of
    the day effect on the logit scale, of which the share `common` is that of all series alike;
    `autocorrelation` of the day effects; `weekend`: the shift of weekend rates on the logit scale (weekends
    then have half the calls); `days` before the first night; `models`; `changed`: the rate to which the
    parse errors of the first model rise, from 5 %.
    """

    calls: int
    correlation: float
    day_sd: float
    common: float = 0.0
    autocorrelation: float = 0.0
    weekend: float = 0.0
    days: int = 28
    models: int = 8
    changed: float = 0.05

    @property
    def is_visible(self) -> bool:
        """True when the change is at least twice what days do by themselves."""
        return bool(logit(self.changed) - logit(_RATES["parse_error"]) >= 2 * self.day_sd)

    @property
    def setting(self) -> str:
        parts = [f"{self.calls:,} calls a day", f"rho {self.correlation}", f"day sd {self.day_sd}"]
        parts += [f"common {self.common}"] if self.common else []
        parts += [f"AR {self.autocorrelation}"] if self.autocorrelation else []
        parts += [f"weekends {self.weekend:+}"] if self.weekend else []
        parts += [f"{self.days} days before"] if self.days != 28 else []
        parts += [f"5 → {self.changed:.0%}"] if self.changed != _RATES["parse_error"] else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Lasting:
    """What became of a planted change that lasted `LASTED` days: `found` is None where no night found it.

    `standing`: on how many of the days from `found` to its end it was open; `over_after`: how many days after
    its end the first night knew that it was over, or None.
    """

    found: int | None
    standing: int = 0
    over_after: int | None = None


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the nights with a false new alert, and how long alerts stand, true ones and false ones.

    60 draws of the named subset take some two minutes. `whole`: the full grid.
    """
    random = np.random.default_rng(seed)
    for store in _whole_grid() if whole else NAMED:
        walks = [walk_quiet_nights(store, number, random) for number in range(draws)]
        raised = sum(len({one.found for one in walk.changes}) for walk in walks)
        yield Cell("nights with a false new alert", store.setting, raised, draws * WALKED, most=MOST_FALSE)
    yield from _false_alerts_that_last(draws, random)
    for store in POWER:
        lasting = [
            walk_changed_nights(store, number, random)
            for number in range(draws if store.models > 1 else 4 * draws)
        ]
        yield from describe_lasting(store, lasting)


def describe_lasting(store: Store, lasting: list[Lasting]) -> Iterator[Cell]:
    """Yield how many changes were found in time, how long they stood, and how soon they were over."""
    known = [one for one in lasting if one.found is not None]
    yield Cell("lasting changes with an alert on the first day", store.setting,
               sum(one.found == 0 for one in known), len(lasting))  # fmt: skip
    yield Cell("lasting changes with an alert within a week", store.setting,
               sum((one.found or 0) < 7 for one in known), len(lasting))  # fmt: skip
    if known:
        least = LEAST_STANDING if store.is_visible else None
        days = sum(LASTED - (one.found or 0) for one in known)
        yield Cell("days of a change on which its alert stands", store.setting,
                   sum(one.standing for one in known), days, least=least)  # fmt: skip
        soon = sum(one.over_after is not None and one.over_after <= _SOON for one in known)
        yield Cell("changes that ended, over within three days", store.setting,
                   soon, len(known), least=LEAST_OVER)  # fmt: skip


def _false_alerts_that_last(draws: int, random: np.random.Generator) -> Iterator[Cell]:
    for store in (NAMED[3], NAMED[5]):
        walks = [walk_quiet_nights(store, number, random) for number in range(4 * draws)]
        known = [one for walk in walks for one in walk.changes if one.found <= walk.newest - 1 - _SOON]
        long = sum(one.over is None or one.over - one.found > _SOON for one in known)
        if known:
            yield Cell("false alerts that stand for more than three days", store.setting, long, len(known))


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
    Store(2_000, 0.1, 0.0, models=1, changed=0.1),
    Store(2_000, 0.1, 0.2, models=1, changed=0.1),
    Store(2_000, 0.1, 0.4, models=1, changed=0.1),
    Store(2_000, 0.1, 0.2, changed=0.3),
    Store(2_000, 0.1, 0.4, common=0.5, autocorrelation=0.5, weekend=0.5, changed=0.3),
    Store(200, 0.1, 0.2, models=2, changed=0.3),
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


@dataclass(frozen=True, slots=True)
class Walk:
    """The changes that the nights of a store found; `newest`: the number of days."""

    changes: tuple[LastingChange, ...]
    newest: int


def walk_quiet_nights(store: Store, number: int, random: np.random.Generator) -> Walk:
    """Return what the nights of a store find in which nothing changed."""
    series = draw_series(store, WALKED, number, random, changed_days=0)
    return Walk(follow(series, WALKED).changes, len(series.days))


def walk_changed_nights(store: Store, number: int, random: np.random.Generator) -> Lasting:
    """Return what became of the parse errors of the first model, which changed for a while."""
    nights = LASTED + AFTER
    series = draw_series(store, nights, number, random, changed_days=LASTED)
    first = len(series.days) - nights
    end = first + LASTED
    its = [one for one in follow(series, nights).changes if one.series == 0 and one.rose and one.found < end]
    if not its:
        return Lasting(None)
    standing = sum(min(one.over or end, end) - one.found for one in its)
    over = its[-1].over
    return Lasting(its[0].found - first, standing, None if over is None else max(0, over - end + 1))


def follow(series: DailySeries, nights: int) -> Following:
    """Return what the last so many nights of a store find, each with the windows that the Overview takes."""
    per_model = series.sums[1 :: len(_RATES), 1].sum(axis=0)
    calls = {day: int(number) for day, number in zip(series.days, per_model, strict=True)}
    return follow_changes(series, list_nights(series.days, calls, None, since=series.days[-nights]))


def draw_series(
    store: Store, nights: int, number: int, random: np.random.Generator, *, changed_days: int
) -> DailySeries:
    """Return the counts by model, rate and day; the series of a model follow each other, parse errors first.

    The parse errors of the first model are changed on the first days of the `nights`.
    """
    # A quiet store is looked at by the week.
    length = store.days + (6 if store.calls < 200 else 0) + nights
    newest = _NEWEST - timedelta(number % 7)
    days = [newest - timedelta(back) for back in reversed(range(length))]
    weekend = np.array([day.weekday() >= 5 for day in days])
    share = 1 / np.arange(1, store.models + 1)
    share /= share.sum()
    volume = np.where(weekend & (store.weekend != 0), 0.5, 1.0) * random.lognormal(0, 0.15, length)
    sessions = np.maximum(random.poisson(np.outer(share * store.calls / ((1 + _LONGEST) / 2), volume)), 1)
    common = _day_effects(store, (1, 1, length), random)
    counts = np.zeros((store.models, len(_RATES), 2, length, GROUPS))
    for place, (rate, level) in enumerate(_RATES.items()):
        own = _day_effects(store, (store.models, length), random)
        effect = np.sqrt(store.common) * common[0] + np.sqrt(1 - store.common) * own
        levels = (
            np.full((store.models, length), logit(level)) + store.day_sd * effect + store.weekend * weekend
        )
        if rate == "parse_error":
            start = length - nights
            levels[0, start : start + changed_days] += logit(store.changed) - logit(level)
        counts[:, place] = _draw_counts(expit(levels), sessions, store.correlation, random)
    series = counts.reshape(-1, 2, length, GROUPS)
    of_series = np.repeat(sessions, len(_RATES), axis=0)
    tables = np.tile(np.arange(len(_RATES)), store.models)
    return DailySeries(days, series, of_series, series[:, 1].sum(axis=-1), tables)


def rate_names() -> list[str]:
    """Return the rates of a drawn model in the order of its series."""
    return list(_RATES)


def _day_effects(store: Store, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Return autocorrelated effects of variance 1; the last axis is the day."""
    effects = random.standard_normal(shape)
    rest = np.sqrt(1 - store.autocorrelation**2)
    for day in range(1, shape[-1]):
        effects[..., day] = store.autocorrelation * effects[..., day - 1] + rest * effects[..., day]
    return effects


def _draw_counts(
    rates: np.ndarray, sessions: np.ndarray, correlation: float, random: np.random.Generator
) -> np.ndarray:
    """Return k and n of shape (models, 2, days, GROUPS)."""
    cell = np.repeat(np.arange(rates.size), sessions.ravel())
    n = random.integers(1, _LONGEST + 1, len(cell))
    own = rates.ravel()[cell]
    if correlation:
        weight = 1 / correlation - 1
        own = random.beta(own * weight, (1 - own) * weight)
    k = random.binomial(n, own)
    place = cell * GROUPS + random.integers(0, GROUPS, len(cell))
    by_group = [
        np.bincount(place, numbers, rates.size * GROUPS).reshape(*rates.shape, GROUPS) for numbers in (k, n)
    ]
    return np.stack(by_group, axis=1)
