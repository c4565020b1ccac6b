"""Answers several queries of the metric `slices` with one query of the metric `slice_views`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_OF_VIEW = ("rates", "by", "also", "from_day", "to_day")


def ask_views(ask: Callable[..., pd.DataFrame], queries: Sequence[Mapping[str, Any]]) -> list[pd.DataFrame]:
    """Return the rows of the metric `slices` for each of `queries`.

    A query holds the parameters of `slices`. All queries must have the same filters, except for the days.
    Raises MetricError.
    """
    views = [
        {"view": number, **{name: query.get(name) for name in _OF_VIEW}}
        for number, query in enumerate(queries)
    ]
    filters = {name: value for name, value in queries[0].items() if name not in _OF_VIEW}
    days = {
        "from_day": _find_bound(min, [view["from_day"] for view in views]),
        "to_day": _find_bound(max, [view["to_day"] for view in views]),
    }
    rows = ask("slice_views", views=json.dumps(views, default=str), **days, **filters)
    numbers = rows["view"].to_numpy()
    rows = rows.drop(columns="view")
    return [rows[numbers == view["view"]].reset_index(drop=True) for view in views]


def _find_bound(choose: Callable[..., Any], days: Sequence[Any]) -> Any:
    return None if None in days else choose(days)
