"""Executes nightly runs in this process, and reads their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from callgauge.configuration.configuration_file import read_configuration
from callgauge.memory.nights.night_steps import NightRecords
from callgauge.nightly.nightly_run import NightResult, run_night
from ingest.load_report import Progress
from ingest.store.generations import OnWrite, do_not_wait, ignore_write


@contextmanager
def show_nothing() -> Iterator[Callable[[Progress], None]]:
    yield lambda _progress: None


def do_night(
    file: Path,
    *,
    stop: Callable[[], bool] = lambda: False,
    on_write: OnWrite = ignore_write,
    again: bool = False,
) -> NightResult:
    return run_night(
        read_configuration(file),
        show_progress=show_nothing,
        stop=stop,
        patience=do_not_wait,
        on_step=lambda _name, _step: None,
        on_write=on_write,
        again=again,
    )


def list_outcomes(store: Path) -> dict[str, Any]:
    """Return the outcome of each step of the newest nightly run, and how often the step was started."""
    return {step.step: (step.outcome, step.figures["tries"]) for step in NightRecords(store).list_steps(1)}
