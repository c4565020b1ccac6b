"""The statistics of the pages, simulated shortly: no cell leaves its band by more than its own error.

`./dev bench statistics` has the same cells with more draws, and the whole grid.
"""

from __future__ import annotations

import pytest

from tests.bench.statistics import SIMULATIONS
from tests.bench.statistics.cells import Cell

# Changes, alerts and tasks have tests of their own beside what they test.
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
