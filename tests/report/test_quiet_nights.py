"""On few of the nights on which nothing changed does a report tell something: at most one in twenty.

`./dev bench statistics --only reports` has the same with more draws and all settings.
"""

from __future__ import annotations

import numpy as np

from bench.statistics.alert_cells import WALKED, Store
from bench.statistics.cells import Cell
from bench.statistics.report_cells import MOST_FALSE, count_told_nights, find_told_nights

DRAWS = 3


def test_reports_of_quiet_nights_seldom_tell_something() -> None:
    store = Store(2_000, 0.1, 0.4, common=0.5, autocorrelation=0.5, weekend=0.5, models=4)
    random = np.random.default_rng(41)
    told = sum(count_told_nights(store, number, random) for number in range(DRAWS))
    cell = Cell("reports of quiet nights", store.setting, told, DRAWS * WALKED, most=MOST_FALSE)
    assert not cell.leaves_band, cell


def test_reports_tell_a_change_that_is_there() -> None:
    """So that silence is no deafness: the same stores, with parse errors that rise from 5 to 40 %."""
    store = Store(2_000, 0.1, 0.2, models=4, changed=0.4)
    nights = find_told_nights(store, 0, np.random.default_rng(42), changed_days=WALKED)
    assert nights
    assert nights[0] <= 2
