"""Offers the data rows of both slices on the page Compare as downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from callgauge.analysis.arm_filters import Arm
from callgauge.analysis.comparisons.sides import CompareSide, find_apart
from callgauge.analysis.comparisons.strata_queries import choose_breakdown
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards


def make_breakdown_export(a: CompareSide, b: CompareSide, rate: RateDefinition) -> cards.Download:
    dimensions = choose_breakdown(find_apart(a, b))
    rows = make_export(a.arm, b.arm, "breakdown", rates=(rate.name,), dimensions=dimensions)
    return cards.Download(f"compare_{rate.name}_broken_down", rows)


def make_export(a: Arm, b: Arm, metric: str, **parameters: Any) -> Callable[[], pd.DataFrame]:
    """Return a function that reads the metric's rows for both slices, for a download after the script run.

    The column `compared` contains the letter of the slice.
    """
    readers = {
        arm.letter: store_queries.ask_later(metric, **parameters, **arm.parameters()) for arm in (a, b)
    }
    return lambda: pd.concat(
        [rows().assign(compared=letter) for letter, rows in readers.items()], ignore_index=True
    )
