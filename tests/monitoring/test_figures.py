"""Tests the metrics for Prometheus."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from callgauge.analysis.measures.rates import RATES
from callgauge.cli.main import app as cli
from callgauge.memory.memory_file import MemoryFile
from callgauge.monitoring.exposition import StoreFigures
from callgauge.monitoring.store_figures import MOST_MODELS, SPANS, WATCHED
from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def read(text: str) -> Samples:
    """Return the samples by name and labels. Fail if a sample occurs twice, because Prometheus rejects
    duplicates.
    """
    samples: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type == "gauge"
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
    return samples


def figures(store: Path) -> Samples:
    return read(StoreFigures(store).write()[0])


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[f"callgauge_{name}", frozenset(labels.items())]


def models(samples: Samples) -> set[str]:
    return {dict(labels)["model"] for _, labels in samples if "model" in dict(labels)}


def test_calls_and_rates_are_counted_by_model_and_days(store: Path) -> None:
    broken = {"outcome": "failed", "fault_layer": "syntax"}
    days = {"2026-11-20": 1, "2026-11-14": 2, "2026-11-13": 4, "2026-10-24": 8, "2026-10-23": 16}
    made: list[dict[str, Any]] = []
    for day, times in days.items():
        made += [
            a_call(len(made) + number, day=day, ts=f"{day}T10:00:00", **broken) for number in range(times)
        ]
    publish(
        store,
        {"tool_calls": [*made, a_call(999, outcome="unmeasured", syntax_seen="none", schema_seen="none")]},
    )
    samples = figures(store)
    assert value(samples, "newest_day_timestamp_seconds") == 1_795_132_800  # 2026-11-20
    for length, times in zip(SPANS, (1, 3, 15), strict=True):
        labels = {"model": "falcon-3", "days": str(length)}
        assert value(samples, "calls", outcome="failed", **labels) == times
        assert value(samples, "calls", outcome="unmeasured", **labels) == 1
        assert value(samples, "rate_numerator", rate="parse_error", **labels) == times
        assert value(samples, "rate_denominator", rate="parse_error", **labels) == times
        assert value(samples, "rate_unmeasured", rate="parse_error", **labels) == 1


@pytest.mark.thorough
def test_many_models_are_a_bounded_number_of_lines_and_none_is_lost(store: Path) -> None:
    made = [a_call(number, model=f"model-{number % 300:03}") for number in range(700)]
    publish(store, {"tool_calls": made})
    samples = figures(store)
    assert len(models(samples)) == MOST_MODELS + 1
    calls = {labels: number for (name, labels), number in samples.items() if name == "callgauge_calls"}
    assert len(calls) == len(SPANS) * (MOST_MODELS + 1) * 5
    assert sum(number for labels, number in calls.items() if ("days", "28") in labels) == 700
    rates = [name for name, _ in samples if name.startswith("callgauge_rate_")]
    assert len(rates) <= len(SPANS) * (MOST_MODELS + 1) * len(WATCHED) * 3


def test_names_of_the_logs_stay_one_label(store: Path) -> None:
    names = [
        'a"} 1\ncallgauge_evil{x="',
        "back\\slash",
        HOSTILE,
        "\x1b[31m\u202ered",
        "é" * 500,
        "é" * 501,
        "other",
    ]
    publish(store, {"tool_calls": [a_call(number, model=name) for number, name in enumerate(names)]})
    samples = figures(store)
    assert not [name for name, _ in samples if "evil" in name]
    assert 'a"} 1\ufffdcallgauge_evil{x="' in models(samples)
    assert "back\\slash" in models(samples)
    assert "\ufffd[31m\ufffdred" in models(samples)
    long = "é" * 99 + "…"
    assert value(samples, "calls", model=long, days="1", outcome="clean") == 2, "both names have this label"


def test_a_store_without_data_has_no_rates(store: Path) -> None:
    publish(store, {})
    samples = figures(store)
    assert value(samples, "store_open") == 1
    assert value(samples, "store_calls") == 0
    assert models(samples) == set()


def test_a_store_that_does_not_open_says_so_in_the_figures(store: Path) -> None:
    text, problem = StoreFigures(store).write()
    assert value(read(text), "store_open") == 0
    assert value(read(text), "memory_open") == 1
    assert problem is not None
    assert "Nothing has been loaded yet" in problem
    store.mkdir()
    MemoryFile(store).path.write_bytes(b"no database at all" * 100)
    assert value(figures(store), "memory_open") == 0


def test_the_newest_load_and_what_it_rejected_are_told(store: Path) -> None:
    publish(store, small_tables())
    samples = figures(store)
    (run,) = [row for row in small_tables()["ingest_runs"] if row["run_id"] == 1]
    assert value(samples, "last_load_calls") == run["calls"]
    assert value(samples, "last_load_files", state="loaded") == run["files_loaded"]
    assert value(samples, "last_load_age_seconds") > 0
    rejects = [number for (name, _), number in samples.items() if name == "callgauge_store_rejects"]
    assert sum(rejects) == len(list(small_tables()["rejects"]))


def test_a_new_generation_is_counted_anew(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)]})
    kept = StoreFigures(store)
    assert value(read(kept.write()[0]), "store_calls") == 1
    publish(store, {"tool_calls": [a_call(1), a_call(2)]}, number=2)
    assert value(read(kept.write()[0]), "store_calls") == 2


def test_each_step_of_the_newest_night_is_told(store: Path) -> None:
    publish(store, {})
    MemoryFile(store).write(
        (
            "INSERT INTO night_steps (night, step, began, ended, outcome, told) VALUES (?, ?, ?, ?, ?, '{}')",
            [
                ("2026-11-18", "load", "2026-11-18T02:14:00+00:00", "2026-11-18T02:15:00+00:00", "failed"),
                ("2026-11-19", "load", "2026-11-19T02:14:00+00:00", "2026-11-19T02:14:30+00:00", "done"),
                ("2026-11-19", "backup", "2026-11-19T02:15:00+00:00", None, None),
                (
                    "2026-11-18",
                    "report",
                    "2026-11-18T02:16:00+00:00",
                    "2026-11-18T02:16:01+00:00",
                    "broken off",
                ),
            ],
        )
    )
    samples = figures(store)
    assert value(samples, "night_step_outcome", step="load", outcome="done") == 1
    assert value(samples, "night_step_outcome", step="load", outcome="failed") == 0
    assert value(samples, "night_step_duration_seconds", step="load") == 30
    assert value(samples, "night_step_outcome", step="backup", outcome="running") == 1
    assert ("callgauge_night_step_end_timestamp_seconds", frozenset({("step", "backup")})) not in samples
    assert value(samples, "night_step_outcome", step="report", outcome="broken off") == 1
    nights = [value(samples, "night_step_night_timestamp_seconds", step=step) for step in ("load", "report")]
    assert nights[0] - nights[1] == 86_400


def test_every_rate_that_is_written_exists() -> None:
    assert set(WATCHED) <= set(RATES)
    assert len(set(WATCHED)) == len(WATCHED)


def test_the_command_prints_or_replaces_a_file(store: Path, tmp_path: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)]})
    command = [sys.executable, "-m", "callgauge", "metrics", "--store", str(store)]
    # This is a new process, in which no module is loaded yet.
    printed = subprocess.run(command, capture_output=True, text=True)
    assert (printed.returncode, printed.stderr) == (0, "")
    file = tmp_path / "callgauge.prom"
    file.write_text("old")
    written = CliRunner().invoke(cli, ["metrics", "--store", str(store), "--textfile", str(file)])
    assert (written.exit_code, written.output) == (0, "")
    assert read(file.read_text("utf-8")).keys() == read(printed.stdout).keys()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["callgauge.prom", "store"]


def test_the_command_says_what_is_wrong(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "callgauge.prom"
    closed = CliRunner().invoke(cli, ["metrics", "--store", str(store), "--textfile", str(file)])
    assert closed.exit_code == 1
    assert "Nothing has been loaded yet" in closed.stderr
    assert "callgauge_store_open 0" in file.read_text("utf-8"), "an alert can watch it"
    misnamed = CliRunner().invoke(
        cli, ["metrics", "--store", str(store), "--textfile", str(tmp_path / "x.txt")]
    )
    assert misnamed.exit_code == 2
    nowhere = tmp_path / "none" / "x.prom"
    lost = CliRunner().invoke(cli, ["metrics", "--store", str(store), "--textfile", str(nowhere)])
    assert lost.exit_code == 1
    assert ": No such file or directory" in lost.stderr
