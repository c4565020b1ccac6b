"""Questions in, cached answers out, all of one run from one generation of the store in CALLGAUGE_STORE."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import streamlit as st

from dashboard.metrics import answer
from dashboard.metrics.generations import StoreError, open_generation, published

_SHOWN = "_generation"


def store_folder() -> str | None:
    return os.environ.get("CALLGAUGE_STORE")


def named_generation() -> Path | None:
    """The generation that the store publishes now; None when it publishes none."""
    try:
        return published(store_folder())
    except StoreError:
        return None


def begin_run() -> None:
    """Fix the generation that this run shows. Raises StoreError."""
    st.session_state.pop(_SHOWN, None)
    path = published(store_folder())
    _connection(str(path))
    st.session_state[_SHOWN] = str(path)


# Old generations stay open for the runs that still show them; a fourth closes the first.
@st.cache_resource(max_entries=3, show_spinner=False, on_release=lambda connection: connection.close())
def _connection(path: str) -> duckdb.DuckDBPyConnection:
    return open_generation(Path(path))


@st.cache_data(max_entries=2000, show_spinner=False)
def _answer(path: str, metric: str, given: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in given}
    return answer(_connection(path), metric, listed)


def ask(metric: str, **given: Any) -> pd.DataFrame:
    """The rows of a metric from the generation this run shows; tuples stand for lists. Raises MetricError."""
    return later(metric, **given)()


def later(metric: str, **given: Any) -> Callable[[], pd.DataFrame]:
    """The same question, to be asked of this run's generation when the run is over, as for a download."""
    path = st.session_state[_SHOWN]
    known = tuple(sorted((name, value) for name, value in given.items() if value is not None))
    return lambda: _answer(path, metric, known)


@st.fragment(run_every="2s")
def follow(seen: Path | None) -> None:
    """Rerun the page when the store publishes something else than the `seen` generation."""
    if named_generation() != seen:
        st.rerun()
