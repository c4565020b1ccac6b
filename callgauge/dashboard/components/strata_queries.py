"""Reads the work of the arms of a comparison, to compare them at the same mix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callgauge.dashboard import store_queries
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.same_mix import ArmStrata, choose_dimensions, make_strata


def read_strata(
    rate: RateDefinition,
    by: str | None,
    chosen: Mapping[str, Any],
    *,
    arms: Sequence[str] | None = None,
    apart: Iterable[str] = (),
) -> ArmStrata:
    """Return the strata of each value of the dimension `by`; of all together, named `all`, without `by`.

    `arms`: read only these values. `apart`: further dimensions that tell the arms apart.
    """
    dimensions = choose_dimensions(rate, [*([by] if by else []), *apart])
    asked = dict(zip(("first", "second", "third"), dimensions, strict=False))
    rows = store_queries.ask(
        "strata", rates=(rate.name,), by=by, arms=tuple(arms) if arms is not None else None, **asked, **chosen
    )
    return make_strata(rows, dimensions)
