"""Simulates alerts over many nights: false alerts, changes found within a few nights, and their location.

A simulated store has five models with equal traffic, two hosts, four prompts, five tools, and four rates
(three kinds of errors, and successful turns). Sessions and days vary on the logit scale. Half of a day's
effect is common to all models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np
from scipy.special import expit

from bench.statistics.cells import Cell
from callgauge.stats import GROUPS
from callgauge.stats.over_time.visible_changes import find_visible_changes
from callgauge.stats.over_time.window_changes import (
    DailySeries,
    Walk,
    WindowChange,
    follow_changes,
    locate_change,
)

# A new alert on a night without a change is false. These are the largest allowed shares of nights with a
# false alert: for independent days, and for dependent days.
MOST_FALSE, MOST_FALSE_ALIKE = 0.02, 0.07
# minimum share of changes found in time, for changes of the size that the page calls visible
LEAST_VISIBLE = 0.4
WALKED = 28  # number of nights to simulate in a store whose error rate does not change
BEFORE = 49  # number of days before the first night
_MODELS, _HOSTS, _PROMPTS, _TOOLS = 5, 2, 4, 5
_RATES = {"parse_error": 0.05, "tool_rejected": 0.05, "execution": 0.1, "turn_success": 0.85}
_PROMPT_SHARES = [0.4, 0.3, 0.2, 0.1]
_TOOL_SHARES = [0.3, 0.25, 0.2, 0.15, 0.1]
# differences between the tools' rates, on the logit scale
_TOOL_OFFSETS = np.array([-0.4, -0.2, 0.0, 0.2, 0.4])
_CALLS = 6  # mean number of calls per session
_Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Store:
    """The parameters of a simulated store.

    `sessions` is the number of sessions per model and day. `session_sd` and `day_sd` are standard deviations
    on the logit scale. `days` is the distribution of day effects, "normal" or "t3"; `autocorrelation` is the
    correlation of neighbouring days. `mondays` shifts every seventh day on the logit scale. `sizes` is the
    distribution of session sizes, "geometric" or "pareto".

    `usual` is the rate of parse errors. `changed` is the rate of the first model during the nights. `where`
    says which calls of this model change: "model" (all), or those of one "host", "prompt" or "tool".
    """

    sessions: int
    session_sd: float = 0.8
    day_sd: float = 0.0
    days: str = "normal"
    autocorrelation: float = 0.0
    mondays: float = 0.0
    sizes: str = "geometric"
    usual: float = 0.05
    changed: float | None = None
    where: str = "model"

    @property
    def setting(self) -> str:
        parts = [f"{self.sessions} sessions a day"]
        parts += [f"{self.usual:.0%} → {self.changed:.0%}"] if self.changed else []
        parts += [f"on one {self.where}"] if self.changed and self.where != "model" else []
        parts += [f"day sd {self.day_sd}"] if self.day_sd else []
        parts += [f"AR {self.autocorrelation}"] if self.autocorrelation else []
        parts += ["t3 days"] if self.days == "t3" else []
        parts += ["Pareto sessions"] if self.sizes == "pareto" else []
        parts += ["Mondays"] if self.mondays else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class DrawnStore:
    """The counts of a store. `names` has the rate, the dimension and the number of the value for each series.

    `parts` has the first model's parse errors and calls by host, prompt and tool. The array for each
    dimension has the shape (values, 2, days, GROUPS).
    """

    names: tuple[tuple[str, str, int], ...]
    series: DailySeries
    parts: dict[str, _Array]

    def find_place(self, rate: str, dimension: str, value: int) -> int:
        return self.names.index((rate, dimension, value))


QUIET = {
    Store(40, 1.0): MOST_FALSE,
    Store(40, 1.0, day_sd=0.3): MOST_FALSE,
    Store(40, 1.0, sizes="pareto"): MOST_FALSE,
    Store(40, 1.0, mondays=0.5): MOST_FALSE,
    Store(4, 1.0): MOST_FALSE,
    Store(40, 1.0, day_sd=0.3, autocorrelation=0.5): MOST_FALSE_ALIKE,
    Store(40, 1.0, day_sd=0.3, days="t3"): MOST_FALSE_ALIKE,
}
"""Stores without a change, each with the maximum percentage of nights with a new alert."""
POWER: dict[Store, dict[int, float]] = {
    Store(4, usual=0.02, changed=0.15): {},
    Store(16, usual=0.02, changed=0.15): {3: 0.9},
    Store(16, usual=0.02, changed=0.15, where="host"): {7: 0.9},
    Store(16, usual=0.03, changed=0.08): {7: 0.5},
    Store(16, usual=0.05, changed=0.10): {},
    Store(60, usual=0.03, changed=0.08): {},
    Store(60, usual=0.05, changed=0.10): {7: 0.95},
    Store(60, usual=0.05, changed=0.10, where="host"): {},
}
"""Stores with a change. Each has the minimum percentage of changes that must be found within a number of
nights.
"""
PLACES = tuple(
    Store(16, usual=0.02, changed=0.15, where=where) for where in ("model", "host", "prompt", "tool")
)
VISIBLE = (Store(16), Store(60), Store(40, 1.0, day_sd=0.3))


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often alerts are false, how often changes are found within 1, 3 and 7 nights, and how often
    the location is right.

    30 repetitions take 4 minutes.
    """
    several = draws * (3 if whole else 1)
    for place, (store, most) in enumerate(QUIET.items()):
        yield count_false_nights(store, several, [seed, 1, place], most)
    for place, (store, least) in enumerate(POWER.items()):
        yield from find_in_time(store, several, [seed, 2, place], least)
    for place, store in enumerate(PLACES):
        yield from locate_in_time(store, several, [seed, 3, place])
    for place, store in enumerate(VISIBLE):
        yield from find_visible(store, several, [seed, 4, place])


def count_false_nights(store: Store, draws: int, seed: list[int], most: float) -> Cell:
    """Return how many nights have a new alert in stores without a change."""
    raised = sum(
        len({change.found for change in _walk(draw_store(store, WALKED, [*seed, number])).changes})
        for number in range(draws)
    )
    return Cell("quiet nights with a new alert", store.setting, raised, draws * WALKED, most=most)


def find_in_time(store: Store, draws: int, seed: list[int], least: dict[int, float]) -> Iterator[Cell]:
    """Yield how often the first model's changes are found within 1, 3 and 7 nights."""
    nights = [_find_first_night(draw_store(store, 7, [*seed, number])) for number in range(draws)]
    for within in (1, 3, 7):
        hits = sum(night is not None and night < within for night in nights)
        yield Cell(
            f"changes found within {within} nights", store.setting, hits, draws, least=least.get(within)
        )


def locate_in_time(store: Store, draws: int, seed: list[int]) -> Iterator[Cell]:
    """Yield how often the first model's alerts have a right and an incorrect location after a week."""
    right = wrong = located = 0
    for number in range(draws):
        drawn = draw_store(store, 7, [*seed, number])
        whole = drawn.find_place("parse_error", "model", 0)
        change = next(
            (candidate for candidate in _walk(drawn).changes if candidate.series == whole and candidate.rose),
            None,
        )
        if change is None:
            continue
        located += 1
        place = _locate(drawn, whole, change)
        right += place == store.where
        wrong += place not in (store.where, "model")
    if located:
        yield Cell("alerts whose place is right", store.setting, right, located, least=0.8)
        yield Cell("alerts whose place is wrong", store.setting, wrong, located, most=0.1)


def find_visible(store: Store, draws: int, seed: list[int]) -> Iterator[Cell]:
    """Yield how often a rise in the error rate is found within a night and within a week.

    The rise is as large as the visible rise that the page states on a night without a change.
    """
    sizes = [_read_visible(draw_store(store, 1, [*seed, number])) for number in range(min(draws, 5))]
    for name, nights, several in (
        ("a night", 1, [a for a, _ in sizes]),
        ("a week", 7, [b for _, b in sizes]),
    ):
        known_sizes = [size for size in several if size is not None]
        if not known_sizes:
            continue
        size = sorted(known_sizes)[len(known_sizes) // 2]
        changed = replace(store, changed=store.usual + size)
        first_nights = [
            _find_first_night(draw_store(changed, nights, [*seed, 9, number])) for number in range(draws)
        ]
        topic = f"rises of the size that {name} is said to show, found within it"
        setting = f"{store.setting}, {100 * size:.1f} points"
        in_time = sum(night is not None for night in first_nights)
        yield Cell(topic, setting, in_time, draws, least=LEAST_VISIBLE)


def _read_visible(drawn: DrawnStore) -> tuple[float | None, float | None]:
    models = [drawn.find_place("parse_error", "model", model) for model in range(_MODELS)]
    return find_visible_changes(drawn.series, models, _walk(drawn).tests)


def _walk(drawn: DrawnStore) -> Walk:
    return follow_changes(drawn.series, BEFORE)


def _find_first_night(drawn: DrawnStore) -> int | None:
    """Return the first night, counted from 0, with an alert for the first model or for a host, prompt or tool
    of this model.
    """
    own = {
        place
        for place, (rate, dimension, value) in enumerate(drawn.names)
        if rate == "parse_error" and (dimension, value) in _OF_FIRST_MODEL
    }
    nights = [change.found for change in _walk(drawn).changes if change.series in own and change.rose]
    return min(nights) - BEFORE if nights else None


_OF_FIRST_MODEL = {
    ("model", 0),
    *(("model host", value) for value in range(_HOSTS)),
    *(("model prompt", value) for value in range(_PROMPTS)),
    *(("model tool", value) for value in range(_TOOLS)),
}


def _locate(drawn: DrawnStore, whole: int, change: WindowChange) -> str:
    """Return the dimension in which the alert of a model is located, such as "host".

    Return "model" if the alert has no such dimension. Return "wrong" if the alert names a value that did not
    change.
    """
    names = [(dimension, value) for dimension, shares in drawn.parts.items() for value in range(len(shares))]
    parts = [drawn.parts[dimension][value] for dimension, value in names]
    days = change.list_days(drawn.series.sessions.shape[1] - 1)
    place = locate_change(drawn.series.counts[whole].astype(float), parts, change.baseline, days)
    if place is None:
        return "model"
    dimension, value = names[place[0]]
    return dimension if value == _CHANGED[dimension] else "wrong"


_CHANGED = {"host": 0, "prompt": 1, "tool": 1}
"""The number of the value that changes, for each dimension."""


# --- the generator --------------------------------------------------------------------------------


def draw_store(store: Store, nights: int, seed: list[int]) -> DrawnStore:
    """Return the counts of a store for BEFORE days, and for the next nights with the changed first model."""
    random = np.random.default_rng(seed)
    days = BEFORE + nights
    several = store.sessions * days * _MODELS
    day = np.tile(np.repeat(np.arange(days), store.sessions), _MODELS)
    keys = {
        "model": np.repeat(np.arange(_MODELS), store.sessions * days),
        "host": random.integers(0, _HOSTS, several),
        "prompt": random.choice(_PROMPTS, several, p=_PROMPT_SHARES),
    }
    group = random.integers(0, GROUPS, several)
    calls = _draw_sizes(store, several, random)
    of_tools = random.multinomial(calls, _TOOL_SHARES)
    sums = _Sums(days, day, group)
    for rate, usual in _RATES.items():
        level = _draw_levels(store, store.usual if rate == "parse_error" else usual, days, day, keys, random)
        if rate == "turn_success":
            turns = np.maximum(1, calls // 3)
            sums.add_sessions(rate, keys, random.binomial(turns, expit(level)), turns)
            continue
        of_tool = level[:, None] + _TOOL_OFFSETS
        if rate == "parse_error" and store.changed:
            of_tool = of_tool + _raise_level(store, day, keys)
        hits = random.binomial(of_tools, expit(of_tool))
        sums.add_sessions(rate, keys, hits.sum(1), calls)
        sums.add_tools(rate, keys["model"], hits, of_tools)
        if rate == "parse_error":
            sums.add_parts(keys, hits, of_tools)
    return sums.make_store()


def _draw_sizes(store: Store, several: int, random: np.random.Generator) -> _Array:
    if store.sizes == "pareto":
        return np.minimum(np.ceil(2 * random.random(several) ** (-1 / 1.2)), 3000).astype(int)
    return random.geometric(1 / _CALLS, several)


def _draw_levels(
    store: Store, rate: float, days: int, day: _Array, keys: dict[str, _Array], random: np.random.Generator
) -> _Array:
    level = find_level(rate, store.session_sd) + store.session_sd * random.standard_normal(len(day))
    if store.day_sd:
        effects = np.stack([_draw_days(store, days, random) for _ in range(_MODELS + 1)])
        effects = sqrt(0.5) * (effects[0] + effects[1:])
        level = level + store.day_sd * effects[keys["model"], day]
    return np.asarray(level + store.mondays * (day % 7 == 0))


def _draw_days(store: Store, days: int, random: np.random.Generator) -> _Array:
    t3 = store.days == "t3"
    effects = random.standard_t(3, days) / sqrt(3) if t3 else random.standard_normal(days)
    for place in range(1, days):
        fresh = sqrt(1 - store.autocorrelation**2) * effects[place]
        effects[place] = store.autocorrelation * effects[place - 1] + fresh
    return np.asarray(effects)


def _raise_level(store: Store, day: _Array, keys: dict[str, _Array]) -> _Array:
    rise = find_level(store.changed or 0.0, store.session_sd) - find_level(store.usual, store.session_sd)
    changed = (day >= BEFORE) & (keys["model"] == 0)
    if store.where in keys and store.where != "model":
        changed &= keys[store.where] == _CHANGED[store.where]
    tools = np.arange(_TOOLS) == _CHANGED["tool"] if store.where == "tool" else np.ones(_TOOLS, dtype=bool)
    return np.asarray(rise * changed[:, None] * tools)


@cache
def find_level(rate: float, sd: float) -> float:
    """Return the logit mean at which sessions with standard deviation `sd` have the average rate `rate`."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    low, high = -15.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = float((weights * expit(middle + sd * nodes)).sum() / weights.sum())
        low, high = (middle, high) if mean < rate else (low, middle)
    return (low + high) / 2


class _Sums:
    def __init__(self, days: int, day: _Array, group: _Array) -> None:
        self._days, self._day, self._group = days, day, group
        self._names: list[tuple[str, str, int]] = []
        self._counts: list[_Array] = []
        self._sessions: list[_Array] = []
        self._parts: dict[str, _Array] = {}

    def add_sessions(self, rate: str, keys: dict[str, _Array], k: _Array, n: _Array) -> None:
        model, host, prompt = keys["model"], keys["host"], keys["prompt"]
        for dimension, value in {
            **keys,
            "model host": model * _HOSTS + host,
            "model prompt": model * _PROMPTS + prompt,
        }.items():
            self._add(rate, dimension, value, k, n)

    def add_tools(self, rate: str, model: _Array, k: _Array, n: _Array) -> None:
        for tool in range(_TOOLS):
            zero = np.zeros(len(model), dtype=int)
            self._add(rate, "tool", zero, k[:, tool], n[:, tool], of=lambda _, tool=tool: tool)
            self._add(
                rate, "model tool", model, k[:, tool], n[:, tool],
                of=lambda its, tool=tool: its * _TOOLS + tool,
            )  # fmt: skip

    def add_parts(self, keys: dict[str, _Array], k: _Array, n: _Array) -> None:
        first = keys["model"] == 0
        for dimension in ("host", "prompt"):
            place = keys[dimension]
            self._parts[dimension] = np.stack(
                [
                    self._count(first & (place == value), k.sum(1), n.sum(1))
                    for value in range(place.max() + 1)
                ]
            )
        self._parts["tool"] = np.stack([self._count(first, k[:, tool], n[:, tool]) for tool in range(_TOOLS)])

    def make_store(self) -> DrawnStore:
        tables = [(rate, dimension) for rate, dimension, _ in self._names]
        numbers = {table: number for number, table in enumerate(dict.fromkeys(tables))}
        series = DailySeries(
            np.concatenate(self._counts).astype(np.float32),
            np.concatenate(self._sessions),
            np.array([numbers[table] for table in tables]),
        )
        return DrawnStore(tuple(self._names), series, self._parts)

    def _add(self, rate, dimension, value, k, n, of=lambda its: its) -> None:  # type: ignore[no-untyped-def]
        several = int(value.max()) + 1
        shape = several, self._days, GROUPS
        place = (value * self._days + self._day) * GROUPS + self._group
        counts = [np.bincount(place, each, several * self._days * GROUPS).reshape(shape) for each in (k, n)]
        sessions = np.bincount(value * self._days + self._day, n > 0, several * self._days)
        self._names += [(rate, dimension, of(number)) for number in range(several)]
        self._counts.append(np.stack(counts, axis=1))
        self._sessions.append(sessions.reshape(several, self._days))

    def _count(self, chosen: _Array, k: _Array, n: _Array) -> _Array:
        place = (self._day * GROUPS + self._group)[chosen]
        shape = self._days, GROUPS
        return np.stack(
            [np.bincount(place, each[chosen], self._days * GROUPS).reshape(shape) for each in (k, n)]
        )
