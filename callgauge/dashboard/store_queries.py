"""Queries the store in CALLGAUGE_STORE, with a cache.

One script run of a page reads a single published store file.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import msgspec
import pandas as pd
import streamlit as st

from callgauge.analysis.metrics import adds_up_months, answer_metric, metrics
from callgauge.analysis.metrics.published_store import (
    Connection,
    NothingLoadedError,
    UnshownStoreError,
    find_outage,
    open_generation,
    published_generation,
)
from callgauge.analysis.metrics.slice_views import ask_views
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.past_nights import ServiceState, read_service_state
from callgauge.memory.records import TeamRecords
from callgauge.memory.team_memory import TeamMemory
from callgauge.serving.settings import texts_are_shown

_RUN = "_page_run"
_DERIVED = 300  # maximum number of cached results per store file; one view of a page needs about ten

Result = TypeVar("Result")
QueryKey = tuple[tuple[str, Any], ...]
"""The names and values of a query's parameters, sorted."""


class Generation(NamedTuple):
    """A published store file.

    A store that was deleted and rebuilt may have the same path, but its identity differs.
    """

    path: str
    identity: tuple[int, int]  # inode and modification time in ns


class _DerivedResult(NamedTuple):
    """A result, and the query parameters of each metric that was used to compute the result."""

    value: Any
    parameters: Mapping[str, dict[str, Any]]


class DerivedResults:
    """The most recently used results from one published store file."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, _DerivedResult] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> _DerivedResult | None:
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def keep(self, key: Hashable, result: _DerivedResult) -> None:
        with self._lock:
            self._results[key] = result
            if len(self._results) > _DERIVED:
                self._results.popitem(last=False)


@dataclass(slots=True)
class PageRun:
    """The state of one script run of a page.

    `generation` is the published store file, or None if the file cannot be opened. `derived` holds the
    results of `derive` from this file. `parameters` holds the parameters of the last query of each metric.
    `slices` holds the answers of `ask_slices_together` by their parameters. `trials` holds the trial runs and
    variants that every metric counts. Two script runs of a session may overlap. So each of them sets a new
    object, and never changes the object of the other script run.
    """

    generation: Generation | None = None
    derived: DerivedResults = field(default_factory=DerivedResults)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    slices: Mapping[QueryKey, pd.DataFrame] = field(default_factory=dict)
    trials: Mapping[str, Any] = field(default_factory=dict)
    records: TeamRecords | None = None
    service: ServiceState | None = None


def _current_run() -> PageRun:
    run: PageRun = st.session_state.setdefault(_RUN, PageRun())
    return run


def store_folder() -> str | None:
    return os.environ.get("CALLGAUGE_STORE")


def team_memory() -> TeamMemory:
    """Return the team memory of the store: decisions, notes, rules and views.

    Raises NothingLoadedError when there is no store.
    """
    folder = store_folder()
    if not folder:
        raise NothingLoadedError("No store is named.", "Name one: callgauge serve --store DIR")
    return TeamMemory(Path(folder))


def team_records() -> TeamRecords:
    """Return the records in the team memory, read once per script run. Raises MemoryProblemError."""
    run = _current_run()
    if run.records is None:
        run.records = team_memory().read()
    return run.records


def service_state() -> ServiceState:
    """Return the last nightly runs and the sources, read once per script run. Raises MemoryProblemError."""
    run = _current_run()
    if run.service is None:
        run.service = read_service_state(team_memory().path.parent)
    return run.service


def known_service_state() -> ServiceState:
    """Return the last nightly runs and the sources. The result is empty if the memory cannot be read."""
    try:
        return service_state()
    except MemoryProblemError:
        return ServiceState((), ())


def named_generation() -> Generation | None:
    """Return the currently published store file, or None."""
    try:
        path = published_generation(store_folder())
        state = path.stat()
    except (UnshownStoreError, OSError):
        return None
    return Generation(str(path), (state.st_ino, state.st_mtime_ns))


def outage_since() -> datetime | None:
    """Return the time (UTC) since which the object store of a shared store has not responded.

    Return None when the object store responds or the store is not shared.
    """
    return find_outage(store_folder())


def begin_run() -> None:
    """Open the published store file for all queries of this script run. Raises UnshownStoreError."""
    run = PageRun()
    try:
        run.generation = _open_published()
        run.derived = _derived(run.generation)
    finally:
        st.session_state[_RUN] = run


def _open_published() -> Generation:
    published_generation(store_folder())  # raises an error if the store cannot be shown
    shown = named_generation()
    if shown is None:  # the file was deleted in the meantime; the next run finds its replacement
        raise NothingLoadedError("The store is being replaced.", "Reload the page in a moment.")
    if _opened_files().setdefault(shown.path, shown.identity) != shown.identity:
        # While a connection to a path is open, DuckDB keeps using the old file at that path. So close the
        # connection.
        _connection.clear()
        _opened_files()[shown.path] = shown.identity
    _connection(shown)
    return shown


def is_open() -> bool:
    """Return True when this script run has a store file to query."""
    return _current_run().generation is not None


@st.cache_resource(show_spinner=False)
def _opened_files() -> dict[str, tuple[int, int]]:
    return {}


# Old store files stay open for runs that still use these files. Opening a fourth file closes the first file.
@st.cache_resource(max_entries=3, show_spinner=False, on_release=lambda connection: connection.close())
def _connection(shown: Generation) -> Connection:
    return open_generation(Path(shown.path), texts=texts_are_shown())


# The texts of the arguments identify them, and Streamlit hashes a text faster than each nested value.
@st.cache_data(max_entries=2000, show_spinner=False, hash_funcs={Generation: repr, tuple: repr})
def _answer(shown: Generation, metric: str, parameters: QueryKey) -> pd.DataFrame:
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters}
    return answer_metric(_connection(shown), metric, listed)


def show_trials(runs: tuple[str, ...] | None, arms: tuple[str, ...] | None) -> None:
    """Make all metrics of this page count these trial runs and variants. A query may name others.

    If neither a trial run nor a variant is given, no metric counts trials.
    """
    _current_run().trials = {"runs": runs, "arms": arms}


def ask(metric: str, **parameters: Any) -> pd.DataFrame:
    """Return the rows of a metric for the page. Pass lists as tuples. Raises MetricError."""
    return keep_asking()(metric, **parameters)


def ask_all(metric: str, **parameters: Any) -> pd.DataFrame:
    """Return the rows of a metric without trials, even when the filters choose a trial run.

    Use this function for queries that ignore the filters. Raises MetricError.
    """
    return ask(metric, **{"runs": None, "arms": None, **parameters})


def keep_asking() -> Callable[..., pd.DataFrame]:
    """Return a function like `ask` that reads the page's store file, even after the page was drawn."""
    generation, run = shown_generation(), _current_run()
    return lambda metric, **parameters: _ask(run, generation, metric, parameters)


def ask_later(metric: str, **parameters: Any) -> Callable[[], pd.DataFrame]:
    """Return a function that returns the result of `ask`, even after the page was drawn."""
    generation, noted = shown_generation(), _note_parameters(_current_run(), metric, parameters)
    return lambda: _answer(generation, metric, noted)


def ask_slices_together(queries: Sequence[Mapping[str, Any]]) -> None:
    """Answer several queries of the metric `slices` with one query. Later, `ask` returns these answers.

    All queries must have the same filters, except for the days. Queries that can use monthly sums are left
    out, because they are faster alone. Raises MetricError.
    """
    run, connection = _current_run(), _connection(shown_generation())

    def answer(ask: Callable[..., pd.DataFrame]) -> Mapping[QueryKey, pd.DataFrame]:
        of_days = [
            query for query in queries if not adds_up_months(connection, query["from_day"], query["to_day"])
        ]
        keys = [_make_key(run, "slices", query) for query in of_days]
        return dict(zip(keys, ask_views(ask, of_days), strict=True)) if len(of_days) > 1 else {}

    run.slices = derive(answer, "slices together", queries)


def derive(compute: Callable[[Callable[..., pd.DataFrame]], Result], name: str, *key: Any) -> Result:
    """Return the result of `compute` for the page's store file, from a cache if possible.

    `compute` gets a function that returns the rows of a metric. `name` and `key` are the cache key. They must
    contain everything else that determines the result. The callers share the result, so nobody may change it.
    Raises MetricError.
    """
    generation, run = shown_generation(), _current_run()
    whole = (name, _freeze(key), _freeze(run.trials))
    derived = run.derived.find(whole)
    if derived is None:
        # a separate run, because later runs reuse the result
        inner_run = PageRun(trials=run.trials, slices=run.slices)
        result = compute(lambda metric, **parameters: _ask(inner_run, generation, metric, parameters))
        derived = _DerivedResult(result, inner_run.parameters)
        run.derived.keep(whole, derived)
    run.parameters.update(derived.parameters)
    value: Result = derived.value
    return value


@st.cache_resource(max_entries=3, show_spinner=False)
def _derived(shown: Generation) -> DerivedResults:  # noqa: ARG001 - of the cache's key
    return DerivedResults()


def _ask(run: PageRun, generation: Generation, metric: str, parameters: Mapping[str, Any]) -> pd.DataFrame:
    noted = _note_parameters(run, metric, parameters)
    if metric == "slices" and noted in run.slices:
        return run.slices[noted]
    return _answer(generation, metric, noted)


def _freeze(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return tuple((name, _freeze(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    if is_dataclass(value):
        return tuple(_freeze(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, msgspec.Struct):
        return tuple(map(_freeze, msgspec.structs.astuple(value)))
    frozen: Hashable = value
    return frozen


def _note_parameters(run: PageRun, metric: str, parameters: Mapping[str, Any]) -> QueryKey:
    """Return the key of a query, and record its parameters for links to the SQL page."""
    key = _make_key(run, metric, parameters)
    run.parameters[metric] = dict(key)
    return key


def _make_key(run: PageRun, metric: str, parameters: Mapping[str, Any]) -> QueryKey:
    """Return the parameters that change the answer, sorted, as a cache key."""
    return tuple(sorted(metrics()[metric].choose_arguments({**run.trials, **parameters}).items()))


def row_reader() -> Callable[[str, Mapping[str, Any]], list[dict[Hashable, Any]]]:
    """Return a function that returns the rows of a metric as dicts, from the page's store file.

    The rows are not cached.
    """
    connection, trials = _connection(shown_generation()), _current_run().trials
    return lambda metric, parameters: answer_metric(connection, metric, {**trials, **parameters}).to_dict(
        "records"
    )


def shown_generation() -> Generation:
    """Return the published store file of the page. Raises NothingLoadedError if `is_open` is False."""
    generation = _current_run().generation
    if generation is None:
        raise NothingLoadedError("The store is being replaced.", "Reload the page in a moment.")
    return generation


def last_parameters(metric: str) -> dict[str, Any]:
    """Return the parameters of the page's last query of a metric.

    Return {} when there was no query.
    """
    return _current_run().parameters.get(metric, {})


def generation_file() -> Path:
    """Return the path of the page's store file, for another process to open."""
    return Path(shown_generation().path)


@st.fragment(run_every="10s")
def follow_store(seen: Generation | None) -> None:
    """Rerun the page when a store file other than `seen` is published. Checks every ten seconds."""
    if named_generation() != seen:
        st.rerun()
