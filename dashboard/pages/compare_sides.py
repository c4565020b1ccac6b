"""An arm of the page Compare in, its measured slices out: over all, and by tool and strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dashboard import answers
from dashboard.arms import Arm
from dashboard.contrasts import STRATA
from dashboard.rates import RATES, Rate
from dashboard.slices import Slice, slices


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two slices with its name in words; `rates`: those there are, by their name."""

    arm: Arm
    name: str
    rates: Mapping[str, Slice]

    def whole(self, rate: Rate) -> Slice | None:
        return self.rates.get(rate.name)


def side(arm: Arm, name: str) -> Side:
    found = slices(_rows(arm, tuple(RATES)))
    return Side(arm, name, {one.rate.name: replace(one, name=name) for one in found})


def strata_of(arm: Arm, rate: Rate) -> list[Slice]:
    by, also = STRATA[rate.noun]
    return slices(_rows(arm, (rate.name,), by=by, also=also))


def by_tool(arm: Arm, rate: Rate) -> list[Slice]:
    return slices(_rows(arm, (rate.name,), by="tool"))


def to_take(a: Arm, b: Arm, metric: str, **given: Any) -> Callable[[], pd.DataFrame]:
    """To be asked when the run is over: the rows of both arms, with a column that says whose they are."""
    asked = {arm.letter: answers.later(metric, **given, **arm.parameters()) for arm in (a, b)}
    return lambda: pd.concat(
        [rows().assign(compared=letter) for letter, rows in asked.items()], ignore_index=True
    )


def _rows(
    arm: Arm, rates: tuple[str, ...], *, by: str | None = None, also: str | None = None
) -> pd.DataFrame:
    return answers.ask("slices", rates=rates, by=by, also=also, **arm.parameters())
