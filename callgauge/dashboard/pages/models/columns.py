"""The columns that a reader adds to the table of models: in sets, or chosen one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis.measures.costs import DIMENSIONS
from callgauge.analysis.measures.rates import LISTED, RATES
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.pages.models import cost_columns, money_columns
from callgauge.dashboard.pages.models.added_column import AddedColumn
from callgauge.dashboard.pages.models.cost_columns import read_cost_columns
from callgauge.dashboard.pages.models.money_columns import read_money_columns
from callgauge.dashboard.pages.models.rate_columns import read_rate_columns


@dataclass(frozen=True, slots=True)
class _Origin:
    """Columns that one query answers.

    `titles`: the columns by their name in the URL; `dimensions`: what they can be told apart by, None for
    everything. `read` gets the dimension, the names of the columns and the parameters of the filter bar.
    """

    titles: Mapping[str, str]
    read: Callable[[str, Sequence[str], Mapping[str, Any]], Mapping[str, AddedColumn]]
    dimensions: tuple[str, ...] | None = None


_ORIGINS = (
    _Origin({name: RATES[name].title for name in LISTED}, read_rate_columns),
    _Origin(money_columns.TITLES, read_money_columns, DIMENSIONS),
    _Origin(cost_columns.TITLES, read_cost_columns, DIMENSIONS),
)


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """A named set of columns; `columns` are names of the columns of `_ORIGINS`."""

    title: str
    columns: tuple[str, ...]


_ADDED = "added"  # the URL key of the columns that are chosen one by one
_CUSTOM = "custom"
COLUMN_SETS: Mapping[str, ColumnSet] = {
    "verdict": ColumnSet("Verdict only", ()),
    "arguments": ColumnSet(
        "Arguments", ("parse_error", "syntax_error", "schema_error", "strict_failure", "mended")
    ),
    "tool": ColumnSet(
        "Tool", ("unknown_tool", "emission", "tool_rejected", "execution")
    ),
    "turn": ColumnSet("Turn", ("retried", "recovered", "turn_success")),
    "cost": ColumnSet("Cost", ("cost_per_completed", "cost_per_turn", "cost_of_retries", "cost")),
    "effort": ColumnSet(
        "Tokens and time",
        ("tokens_per_turn", "tokens_per_success", "seconds_per_turn", "seconds_per_success"),
    ),
    _CUSTOM: ColumnSet("Custom", ()),
}  # fmt: skip
"""By their name in the URL; the first is drawn unless the URL names another."""


def choose_columns(by: str) -> list[str]:
    """Draw the choice of the columns beside the verdict, and return their names.

    The URL's `columns` holds the name of the set, and `added` the columns that are chosen one by one.
    """
    titles = _titles_of(by)
    offered = [name for name, its in COLUMN_SETS.items() if not its.columns or set(its.columns) & set(titles)]
    chosen = choose_segment("Columns", "columns", offered, lambda name: COLUMN_SETS[name].title)
    if chosen == _CUSTOM:
        return _choose_single(titles)
    return [name for name in COLUMN_SETS[chosen].columns if name in titles]


def _choose_single(titles: Mapping[str, str]) -> list[str]:
    if _ADDED in st.session_state:
        # What was chosen for another dimension may not be told of this one.
        st.session_state[_ADDED] = [name for name in st.session_state[_ADDED] if name in titles]

    def draw(key: str) -> list[str]:
        return list(
            st.multiselect(
                "Columns",
                list(titles),
                key=key,
                format_func=lambda name: titles.get(name, name),
                placeholder="Choose columns",
                label_visibility="collapsed",
            )
        )

    def parse(text: str) -> list[str]:
        return [name for name in dict.fromkeys(text.split(",")) if name in titles]

    return draw_url_widget(draw, _ADDED, [], parse, ",".join)


def _titles_of(by: str) -> dict[str, str]:
    return {
        name: title
        for origin in _ORIGINS
        if origin.dimensions is None or by in origin.dimensions
        for name, title in origin.titles.items()
    }


def read_columns(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> list[AddedColumn]:
    """Return the columns `names` in their order. `chosen`: the parameters of the filter bar."""
    found: dict[str, AddedColumn] = {}
    for origin in _ORIGINS:
        its = [name for name in names if name in origin.titles]
        found |= origin.read(by, its, chosen) if its else {}
    return [found[name] for name in names]
