"""Column heads that sort a list of which the table holds one page: the order stands in the URL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import streamlit as st

from callgauge.dashboard.components.table import Column

OrderLink = Callable[[str | None], str]
Way = Literal["ascending", "descending"]


def order_column(column: Column, order: str, first: Way, link: OrderLink) -> Column:
    """Return the column with a head that sorts the list, in the URL's `order`.

    A click sorts by it, a second one turns the order round, a third one brings the list's own order back.
    `order`: the column's name in the metric; `first`: the way of the first click. `link` returns the link of
    a list with this order, None for its own.
    """
    text = st.query_params.get("order")
    other: dict[Way, Way] = {"ascending": "descending", "descending": "ascending"}
    if text == order:
        return replace(column, sorted=first, href=link(f"-{order}"))
    if text == f"-{order}":
        return replace(column, sorted=other[first], href=link(None))
    return replace(column, href=link(order))
