"""The filters of the session list: their options, and the values in the URL."""

from __future__ import annotations

from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.controls.list_filters import (
    ATTEMPTS,
    CHAINS,
    TURNS,
    read_order,
    read_pick,
)
from callgauge.dashboard.components.controls.paging import Row
from callgauge.dashboard.pages.sessions import URL_KEYS
from callgauge.dashboard.url_keys import read_dropped

PICKS = (
    (
        "chain",
        "Retry sequence",
        {**CHAINS, "none": "Without a retry sequence", "any": "With a retry sequence"},
    ),
    ("attempt", "Attempt", ATTEMPTS),
    ("turns", "Turns", TURNS),
)
ORDERS = {
    "time": "start",
    "turns": "turns",
    "steps": "steps",
    "calls": "calls",
    "faults": "failed calls",
    "retries": "retries",
    "seconds": "duration",
}


def list_runs() -> dict[str, str]:
    """Return the options of the filter by trial run. Return no options if no session belongs to a trial run.

    The trial run in the URL is always included.
    """
    named = st.query_params.get("path_run")
    runs = dict.fromkeys([*store_queries.ask("session_runs")["run"], *([named] if named else [])])
    return {"": "All runs", **{run: wording.one_line(run, 60) for run in runs}} if runs else {}


def read_filters() -> dict[str, Any]:
    """Return the parameters of the metric `sessions` from the filter bar and the URL."""
    picks: dict[str, Any] = {name: read_pick(name, options) for name, _, options in PICKS}
    searched = {"search": st.query_params.get("q") or None, "run": st.query_params.get("path_run") or None}
    return filters.chosen_filters().parameters() | picks | searched | read_order(ORDERS)


def kept_keys(*left_out: str) -> dict[str, str]:
    """Return the URL keys of the list: filters, order and page number."""
    return read_dropped(URL_KEYS, *left_out)


def list_link(row: Row, page: str) -> str:
    """Return the link that opens a session of the list. `page` is the number of the list page."""
    file = row["file_id"] if row["same_id"] > 1 else None
    return session_link(row["session_id"], file=file, **kept_keys("session_page"), session_page=page)
