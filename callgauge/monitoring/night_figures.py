"""The figures of the nights for Prometheus: how each step ended in its newest night, and how long it took."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from callgauge.memory.memory_file import MemoryFile
from callgauge.monitoring.store_figures import clean_label, to_seconds

_NEWEST = """
    SELECT step, night, began, ended, coalesce(outcome, 'running') FROM night_steps AS one
    WHERE night = (SELECT max(night) FROM night_steps AS other WHERE other.step = one.step)
    ORDER BY began, step"""
_OUTCOMES = ("done", "failed", "skipped", "running")


def collect_night_figures(folder: Path) -> Iterator[Metric]:
    """Yield the figures of each step's newest night. Raises MemoryProblemError."""
    (steps,) = MemoryFile(folder).read_rows(_NEWEST)
    outcome = GaugeMetricFamily(
        "callgauge_night_step_outcome",
        "1 for how the step ended in its newest night, 0 for how it did not.",
        labels=["step", "outcome"],
    )
    of_step = {
        name: GaugeMetricFamily(f"callgauge_night_step_{name}", meaning, labels=["step"])
        for name, meaning in (
            ("night_timestamp_seconds", "The newest night in which the step began, its midnight UTC."),
            ("end_timestamp_seconds", "When the step ended."),
            ("duration_seconds", "How long the step took."),
        )
    }
    for step, night, began, ended, told in steps:
        label = clean_label(step)
        for known in dict.fromkeys((*_OUTCOMES, told)):
            outcome.add_metric([label, clean_label(known)], known == told)
        of_step["night_timestamp_seconds"].add_metric([label], to_seconds(date.fromisoformat(night)))
        if ended:
            end = to_seconds(datetime.fromisoformat(ended))
            of_step["end_timestamp_seconds"].add_metric([label], end)
            seconds = end - to_seconds(datetime.fromisoformat(began))
            of_step["duration_seconds"].add_metric([label], seconds)
    yield outcome
    yield from of_step.values()
