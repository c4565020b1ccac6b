"""The statistics of the pages, simulated shortly: no cell leaves its band by more than its own error.

`./dev bench statistics` has the same cells with more draws, and the whole grid.
"""

from __future__ import annotations

import numpy as np
import pytest

from bench.statistics import SIMULATIONS
from bench.statistics.alert_cells import (
    LASTED,
    LEAST_STANDING,
    MOST_FALSE,
    POWER,
    WALKED,
    Store,
    walk_changed_nights,
    walk_quiet_nights,
)
from bench.statistics.cells import Cell

# Changes and tasks have tests of their own beside what they test; alerts have theirs below.
DRAWS = {
    "rates": 1000,
    "rates_of_tables": 1500,
    "differences": 400,
    "tables": 150,
    "power": 60,
    "ranks": 100,
    "parts": 200,
    "mixes": 150,
    "breakdowns": 60,
    "interactions": 40,
    "rules": 15,
}


@pytest.mark.parametrize("name", list(DRAWS))
def test_no_cell_leaves_its_band(name: str) -> None:
    simulation, *_ = SIMULATIONS[name]
    cells = list(simulation(DRAWS[name], whole=False, seed=3))
    assert cells
    assert any(cell.least is not None or cell.most is not None for cell in cells)
    outside = [f"{cell.topic}, {cell.setting}: {cell.share:.3f}" for cell in cells if cell.leaves_band]
    assert not outside, outside


@pytest.mark.parametrize(
    ("hits", "least", "most", "leaves"),
    [
        (950, 0.935, 0.975, False),
        (900, 0.935, None, True),
        (925, 0.935, None, False),
        (999, None, 0.975, True),
    ],
)
def test_a_cell_leaves_its_band_only_with_its_whole_monte_carlo_interval(
    hits: int, least: float | None, most: float | None, leaves: bool
) -> None:
    assert Cell("coverage", "made", hits, 1000, least, most).leaves_band is leaves


@pytest.mark.parametrize(
    "store",
    [
        Store(2_000, 0.3, 0.0, models=4),
        Store(2_000, 0.1, 0.4, common=0.5, autocorrelation=0.5, weekend=0.5, models=4),
    ],
    ids=lambda store: store.setting,
)
def test_nights_without_a_change_seldom_raise_an_alert(store: Store) -> None:
    random = np.random.default_rng(23)
    walks = [walk_quiet_nights(store, number, random) for number in range(8)]
    raised = sum(len({one.found for one in walk.changes}) for walk in walks)
    cell = Cell("nights with a false new alert", store.setting, raised, 8 * WALKED, most=MOST_FALSE)
    assert not cell.leaves_band, cell


@pytest.mark.parametrize("store", [POWER[0], POWER[3]], ids=lambda store: store.setting)
def test_an_alert_stands_while_its_change_lasts_and_is_over_soon_after(store: Store) -> None:
    random = np.random.default_rng(24)
    found = [walk_changed_nights(store, number, random) for number in range(8)]
    known = [one for one in found if one.found is not None and one.found < 3]
    assert len(known) >= 6
    days = sum(LASTED - (one.found or 0) for one in known)
    assert sum(one.standing for one in known) >= LEAST_STANDING * days
    assert sorted(one.over_after or LASTED for one in known)[len(known) // 2] <= 3
