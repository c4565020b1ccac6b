"""Writes the metrics of a store and its nightly runs in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest, write_to_textfile
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import UnshownStoreError, published_generation, read_store
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_steps import NightRecords, NightStep, Outcome
from callgauge.memory.nights.source_states import SourceStates
from callgauge.monitoring.store_figures import clean_label, collect_store_figures, to_seconds
from callgauge.serving.settings import texts_are_shown
from ingest.version import CALLGAUGE_VERSION

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
"""The media type of the text, which every version of Prometheus reads."""
_NIGHTS = 7  # The newest run of each step is searched in this many nightly runs.
_RUNNING = "running"


class StoreFigures:
    """The metrics of the store in `folder`.

    The metrics of a published store file are computed once, because the file never changes. Thread-safe.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._counted: tuple[tuple[object, ...], Sequence[Metric]] | None = None

    def write(self) -> tuple[str, str | None]:
        """Return the metrics as text. Also return the reason if the store cannot be opened, else None.

        For a store that cannot be opened, the only metric of the store is `callgauge_store_open 0`.
        """
        figures, problem = self._collect()
        return generate_latest(figures).decode(), problem

    def write_file(self, path: Path) -> str | None:
        """Write the metrics to a file atomically. Return the reason if the store cannot be opened, else None.

        Raises OSError.
        """
        figures, problem = self._collect()
        write_to_textfile(str(path), figures)
        return problem

    def _collect(self) -> tuple[_Figures, str | None]:
        with self._lock:
            families: list[Metric] = [
                InfoMetricFamily("callgauge_build", "What writes this.", {"version": CALLGAUGE_VERSION})
            ]
            problem = None
            try:
                families += self._count()
            except (UnshownStoreError, MetricError, OSError) as error:
                problem = str(error)
            families.append(_flag("store_open", "1 where the store can be read.", problem is None))
            remembers = True
            try:
                families += _collect_nightly_figures(self._folder, datetime.now(UTC))
            except MemoryProblemError:
                remembers = False
            meaning = "1 where the memory of the team can be read, or none is there yet."
            return _Figures([*families, _flag("memory_open", meaning, remembers)]), problem

    def _count(self) -> Iterator[Metric]:
        path, today = published_generation(str(self._folder)), datetime.now(UTC).date()
        state = path.stat()
        identity = (path, state.st_ino, state.st_mtime_ns, today)
        if self._counted is None or self._counted[0] != identity:
            with read_store(self._folder, texts=texts_are_shown()) as store:
                self._counted = (identity, tuple(collect_store_figures(store, today)))
        yield from self._counted[1]
        for ended in (sample for family in self._counted[1] for sample in family.samples):
            if ended.name == "callgauge_last_load_timestamp_seconds":
                meaning = "Seconds since then, when this was written."
                age = time.time() - ended.value
                yield GaugeMetricFamily("callgauge_last_load_age_seconds", meaning, age)


def _flag(name: str, meaning: str, is_set: bool) -> Metric:
    return GaugeMetricFamily(f"callgauge_{name}", meaning, is_set)


class _Figures(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _collect_nightly_figures(folder: Path, now: datetime) -> Iterator[Metric]:
    newest: dict[str, NightStep] = {}
    for step in NightRecords(folder).list_steps(_NIGHTS, until=now.date()):
        newest.setdefault(step.step, step)
    yield from _collect_steps(newest)
    yield from _collect_sources(folder, now)


def _collect_steps(newest: dict[str, NightStep]) -> Iterator[Metric]:
    outcome = GaugeMetricFamily(
        "callgauge_night_step_outcome",
        "1 for the outcome of the step in its newest nightly run, 0 for other outcomes.",
        labels=["step", "outcome"],
    )
    night = _family(
        "night_step_night_timestamp_seconds", "Midnight (UTC) of the newest nightly run with this step."
    )
    ended = _family("night_step_end_timestamp_seconds", "When the step ended.")
    lasted = _family("night_step_duration_seconds", "How long the step took.")
    for name, step in newest.items():
        for state in (*get_args(Outcome), _RUNNING):
            outcome.add_metric([name, state], state == (step.outcome or _RUNNING))
        night.add_metric([name], to_seconds(step.night))
        if step.ended:
            ended.add_metric([name], to_seconds(step.ended))
            lasted.add_metric([name], (step.ended - step.began).total_seconds())
    yield from (outcome, night, ended, lasted)


def _collect_sources(folder: Path, now: datetime) -> Iterator[Metric]:
    newest = _family("source_newest_data_timestamp_seconds", "The newest data of a source.", "source")
    silent = _family("source_silent", "1 where no data came for longer than silent_after.", "source")
    failed = _family("source_failed", "1 where the newest load of a source failed.", "source")
    for state in SourceStates(folder).read():
        label = [clean_label(state.name)]
        if state.newest:
            newest.add_metric(label, to_seconds(state.newest))
        silent.add_metric(label, state.is_silent(now))
        failed.add_metric(label, bool(state.problem))
    yield from (newest, silent, failed)


def _family(name: str, meaning: str, label: str = "step") -> GaugeMetricFamily:
    return GaugeMetricFamily(f"callgauge_{name}", meaning, labels=[label])
