"""Lists of the Data page in pages of their own: which one the URL names, its rows, the widget to turn it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import answers, filters
from dashboard.widgets.urlstate import begin_again, url_widget

Row = Mapping[Hashable, Any]
PER_PAGE = 25


def paged(metric: str, key: str, per_page: int = PER_PAGE, **asked: Any) -> tuple[list[Row], int]:
    """The rows of the page that the URL names as `key`, and how many pages there are."""
    given = {"sources": filters.chosen().sources, **asked}
    begin_again(key, given)
    text = st.query_params.get(key)
    page = int(text) if text and text.isdecimal() and int(text) > 0 else 1
    rows = answers.ask(metric, **given, limit=per_page, offset=per_page * (page - 1))
    if rows.empty:
        rows = answers.ask(metric, **given, limit=per_page, offset=0)
    found = int(rows.found.iloc[0]) if len(rows) else 0
    return list(rows.to_dict("records")), -(-found // per_page)


def pager(key: str, pages: int) -> None:
    if pages > 1:
        url_widget(
            lambda name: st.pagination(pages, key=name), key, 1, lambda text: min(pages, max(1, int(text)))
        )
