"""Reads the rates of one slice of the page Compare: overall, by tool, and by stratum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from callgauge.dashboard import store_queries
from callgauge.dashboard.comparison import Arm
from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.dashboard.measures.slices import Slice, make_slices
from callgauge.dashboard.measures.strata import STRATA


@dataclass(frozen=True, slots=True)
class CompareSide:
    """One of the two compared slices.

    `name`: the slice in words. `rates`: the measured rates by rate name; unmeasured rates are missing.
    """

    arm: Arm
    name: str
    rates: Mapping[str, Slice]

    def whole_slice(self, rate: RateDefinition) -> Slice | None:
        return self.rates.get(rate.name)


def measure_side(arm: Arm, name: str) -> CompareSide:
    found = make_slices(_read_rows(arm, tuple(RATES)))
    return CompareSide(arm, name, {one.rate.name: replace(one, name=name) for one in found})


def read_strata(arm: Arm, rate: RateDefinition) -> list[Slice]:
    by, also = STRATA[rate.noun]
    return make_slices(_read_rows(arm, (rate.name,), by=by, also=also))


def read_by_tool(arm: Arm, rate: RateDefinition) -> list[Slice]:
    return make_slices(_read_rows(arm, (rate.name,), by="tool"))


def make_export(a: Arm, b: Arm, metric: str, **given: Any) -> Callable[[], pd.DataFrame]:
    """Return a function that reads the metric's rows of both slices, also after the run has ended.

    The column `compared` of its DataFrame holds the letter of the slice.
    """
    asked = {arm.letter: store_queries.ask_later(metric, **given, **arm.parameters()) for arm in (a, b)}
    return lambda: pd.concat(
        [rows().assign(compared=letter) for letter, rows in asked.items()], ignore_index=True
    )


def _read_rows(
    arm: Arm, rates: tuple[str, ...], *, by: str | None = None, also: str | None = None
) -> pd.DataFrame:
    return store_queries.ask("slices", rates=rates, by=by, also=also, **arm.parameters())
