"""Asks the store in CALLGAUGE_STORE: cached answers, all of one run from one generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from callgauge.dashboard.metrics import answer_metric
from callgauge.dashboard.metrics.published_store import (
    Connection,
    NothingLoadedError,
    UnshownStoreError,
    open_generation,
    published_generation,
)

_SHOWN = "_generation"
_ASKED = "_asked"


class Generation(NamedTuple):
    """A published file. A store that was deleted and built anew has the same path and another identity."""

    path: str
    identity: tuple[int, int]  # inode, modification time in ns


def store_folder() -> str | None:
    return os.environ.get("CALLGAUGE_STORE")


def named_generation() -> Generation | None:
    """The generation that the store publishes now; None when it publishes none."""
    try:
        path = published_generation(store_folder())
        state = path.stat()
    except (UnshownStoreError, OSError):
        return None
    return Generation(str(path), (state.st_ino, state.st_mtime_ns))


def begin_run() -> None:
    """Fix the generation that this run shows. Raises StoreError."""
    st.session_state.pop(_SHOWN, None)
    st.session_state.pop(_ASKED, None)
    published_generation(store_folder())  # says what is wrong, if anything is
    shown = named_generation()
    if shown is None:  # gone between two looks; the next run finds what took its place
        raise NothingLoadedError("The store is being replaced.", "Reload the page in a moment.")
    if _opened_files().setdefault(shown.path, shown.identity) != shown.identity:
        # While one connection to a path is open, DuckDB gives this process that file again, not the new one.
        _connection.clear()
        _opened_files()[shown.path] = shown.identity
    _connection(shown)
    st.session_state[_SHOWN] = shown


def is_open() -> bool:
    """Return True when this run has a generation to ask. A page that works without a store looks first."""
    return _SHOWN in st.session_state


@st.cache_resource(show_spinner=False)
def _opened_files() -> dict[str, tuple[int, int]]:
    """Return the files that this server opened, by path."""
    return {}


# Old generations stay open for the runs that still show them; a fourth closes the first.
@st.cache_resource(max_entries=3, show_spinner=False, on_release=lambda connection: connection.close())
def _connection(shown: Generation) -> Connection:
    return open_generation(Path(shown.path))


@st.cache_data(max_entries=2000, show_spinner=False)
def _answer(shown: Generation, metric: str, given: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in given}
    return answer_metric(_connection(shown), metric, listed)


def ask(metric: str, **given: Any) -> pd.DataFrame:
    """The rows of a metric from the generation this run shows; tuples stand for lists. Raises MetricError."""
    return keep_asking()(metric, **given)


def keep_asking() -> Callable[..., pd.DataFrame]:
    """Return `ask` of this run's generation, also for when the run is over, as for a download."""
    generation, noted = shown_generation(), st.session_state.setdefault(_ASKED, {})
    return lambda metric, **given: _answer(generation, metric, _note_parameters(noted, metric, given))


def ask_later(metric: str, **given: Any) -> Callable[[], pd.DataFrame]:
    """The same question, to be asked of this run's generation when the run is over."""
    generation, known = (
        shown_generation(),
        _note_parameters(st.session_state.setdefault(_ASKED, {}), metric, given),
    )
    return lambda: _answer(generation, metric, known)


def _note_parameters(
    asked: dict[str, dict[str, Any]], metric: str, given: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """What was given, in one order, as a key of the cache; `asked` remembers it for the doors to the SQL."""
    known = tuple(sorted((name, value) for name, value in given.items() if value is not None))
    asked[metric] = dict(known)
    return known


def row_reader() -> Callable[[str, Mapping[str, Any]], list[dict[Hashable, Any]]]:
    """Answers as rows from the generation that this run shows, of which none is kept: they may be large."""
    connection = _connection(shown_generation())
    return lambda metric, given: answer_metric(connection, metric, given).to_dict("records")


def shown_generation() -> Generation:
    """The generation that this run shows."""
    generation: Generation = st.session_state[_SHOWN]
    return generation


def last_parameters(metric: str) -> dict[str, Any]:
    """What a metric was asked with last in this run."""
    found: dict[str, Any] = st.session_state.get(_ASKED, {}).get(metric, {})
    return found


def generation_file() -> Path:
    """The file of the generation this run shows, for a process of its own to open."""
    return Path(shown_generation().path)


@st.fragment(run_every="2s")
def follow_store(seen: Generation | None) -> None:
    """Rerun the page when the store publishes something else than the `seen` generation."""
    if named_generation() != seen:
        st.rerun()
