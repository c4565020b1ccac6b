"""The figures of the nights for Prometheus: how each step ended, and which sources are silent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import get_args

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from callgauge.memory.nights.night_steps import NightRecords, NightStep, Outcome
from callgauge.memory.nights.source_states import SourceStates
from callgauge.monitoring.store_figures import clean_label, to_seconds

_NIGHTS = 7  # that are looked at for the newest of each step
_RUNNING = "running"


def collect_night_figures(folder: Path, now: datetime) -> Iterator[Metric]:
    """Yield the figures of each step's newest night, and of each source. Raises MemoryProblemError."""
    newest: dict[str, NightStep] = {}
    for step in NightRecords(folder).list_steps(_NIGHTS, until=now.date()):
        newest.setdefault(step.step, step)
    yield from _collect_steps(newest)
    yield from _collect_sources(folder, now)


def _collect_steps(newest: dict[str, NightStep]) -> Iterator[Metric]:
    outcome = GaugeMetricFamily(
        "callgauge_night_step_outcome",
        "1 for how the step ended in its newest night, 0 for how it did not.",
        labels=["step", "outcome"],
    )
    night = _family("night_step_night_timestamp_seconds", "Midnight (UTC) of the newest night with it.")
    ended = _family("night_step_end_timestamp_seconds", "When the step ended.")
    lasted = _family("night_step_duration_seconds", "How long the step took.")
    for name, step in newest.items():
        for known in (*get_args(Outcome), _RUNNING):
            outcome.add_metric([name, known], known == (step.outcome or _RUNNING))
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
