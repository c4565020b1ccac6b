"""Measures the server's time for each page when a filter changes: wall time, and CPU time in Python."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from callgauge.analysis.metrics import answer_metric
from callgauge.dashboard import store_queries
from callgauge.dashboard.pages import PAGES, shell

APP = Path(__file__).parents[2] / "app.py"
REPAINT_MS, PYTHON_MS = 300, 100  # promised times for a filter change
FILTERED = ("model", "prompt", "tool", "source")
# Successive filter changes. Each filter is new, so no result comes from a cache.
CHANGES: Sequence[Mapping[str, str]] = (
    {"model": "falcon-3"},
    {"model": "osprey-2"},
    {"model": "kestrel-mini", "tool": "bash"},
    {"tool": "read"},
    {"source": "claude_code"},
)


@dataclass(frozen=True, slots=True)
class View:
    """Median times over the filter changes, in ms.

    `python` is the CPU time of the page's thread outside of DuckDB.
    """

    page: str
    first: float
    repaint: float
    python: float
    slowest: float

    @property
    def keeps_promise(self) -> bool:
        return self.repaint <= REPAINT_MS and self.python <= PYTHON_MS


@dataclass(slots=True)
class _Clock:
    """The times of one page load: wall seconds, CPU seconds, and CPU seconds in queries to the store."""

    wall: float = 0.0
    cpu: float = 0.0
    asking: float = 0.0


@dataclass(slots=True)
class _Watch:
    runs: list[_Clock] = field(default_factory=list)

    def page(self, show: Callable[..., None]) -> Callable[..., None]:
        def shown(*arguments: Any) -> None:
            clock = _Clock()
            self.runs.append(clock)
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                show(*arguments)
            finally:
                clock.wall, clock.cpu = time.perf_counter() - wall, time.thread_time() - cpu

        return shown

    def question(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        def answered(*args: Any) -> Any:
            cpu = time.thread_time()
            try:
                return answer(*args)
            finally:
                if self.runs:
                    self.runs[-1].asking += time.thread_time() - cpu

        return answered


def views(store: Path, changes: Sequence[Mapping[str, str]] = CHANGES) -> Iterator[View]:
    for entry in PAGES:
        if entry.needs_store:
            yield _view(store, entry.name, entry.file, changes)


def _view(store: Path, name: str, file: str, changes: Sequence[Mapping[str, str]]) -> View:
    with _watched(store) as watch:
        app = AppTest.from_file(str(APP), default_timeout=300)
        app.run()
        if file != PAGES[0].file:
            app.switch_page(file).run()
        first = watch.runs[-1].wall
        watch.runs.clear()
        for change in changes:
            for bar in app.multiselect:
                if bar.key in FILTERED:
                    bar.set_value([change[bar.key]] if bar.key in change else [])
            app.run()
            if app.exception:
                raise RuntimeError(f"{name}: {app.exception[0].message}")
        runs = watch.runs
    walls = [run.wall for run in runs]
    return View(
        name,
        1000 * first,
        1000 * statistics.median(walls),
        1000 * statistics.median(run.cpu - run.asking for run in runs),
        1000 * max(walls),
    )


@contextmanager
def _watched(store: Path) -> Iterator[_Watch]:
    watch = _Watch()
    with (
        patch.dict(os.environ, {"CALLGAUGE_STORE": str(store)}),
        patch.object(shell, "show", watch.page(shell.show)),
        patch.object(store_queries, "answer_metric", watch.question(answer_metric)),
    ):
        yield watch
