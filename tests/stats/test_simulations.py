"""Executes short simulations of the statistics on pages. Each result must be in its allowed range, widened by
the error of the simulation.

`./dev bench statistics` draws more samples with all settings.
"""

from __future__ import annotations

import pytest

from bench.statistics import SIMULATIONS
from bench.statistics.alert_cells import (
    MOST_FALSE,
    POWER,
    QUIET,
    Store,
    count_false_nights,
    find_in_time,
    find_visible,
    locate_in_time,
)
from bench.statistics.cells import Cell

# Change points and tasks are simulated in their own test files. Alerts are simulated below.
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
    "rules": 6,
    "models": 20,
}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", list(DRAWS))
def test_no_cell_leaves_its_band(name: str, runs_all: bool) -> None:
    simulation, *_ = SIMULATIONS[name]
    draws = DRAWS[name] if runs_all else max(DRAWS[name] // 6, 5)
    cells = list(simulation(draws, whole=False, seed=3))
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


@pytest.mark.thorough
@pytest.mark.parametrize("store", list(QUIET)[:2], ids=lambda store: store.setting)
def test_nights_without_a_change_seldom_raise_an_alert(store: Store) -> None:
    cell = count_false_nights(store, 4, [23], MOST_FALSE)
    assert not cell.leaves_band, cell


def test_a_lasting_change_is_found_within_days_and_where_it_is() -> None:
    store = Store(16, usual=0.02, changed=0.15, where="host")
    *_, in_a_week = find_in_time(store, 6, [24], POWER[store])
    assert in_a_week.hits >= 5, in_a_week
    right, wrong = locate_in_time(store, 6, [25])
    assert right.hits >= 4, right
    assert wrong.hits <= 1, wrong


@pytest.mark.thorough
def test_a_change_of_the_size_that_a_quiet_night_names_is_found_in_time() -> None:
    for cell in find_visible(Store(60), 8, [26]):
        assert not cell.leaves_band, cell
