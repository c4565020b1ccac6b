"""Tests that one process, worker processes and a Ray cluster produce the same rows."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import OptionError
from ingest.pipeline.load import load
from tests.killed_processes import THOROUGH
from tests.store.test_workers import SAMPLE_DATA, in_order, long_file, night

pytestmark = pytest.mark.usefixtures("workers_read")
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")

KILLED_AT: tuple[str, ...] = ("piece",)
if THOROUGH:
    points = ("begun", "piece", "read", "shared")
    drivers = ("create", "batch", "settle.sql", "checkpoint", "name", "switch", "switched")
    KILLED_AT = (
        *points,
        *(f"process-{point}" for point in points),
        *(f"driver-{driver}" for driver in drivers),
    )


def loads_on_ray(logs: Path, out: Path, *stages: str) -> dict[str, Any]:
    out.mkdir()
    command = [sys.executable, "-m", "tests.store.ray_loads", str(logs), str(out), *stages]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(stages, outcomes, strict=True))


@pytest.mark.thorough
@needs_ray
def test_all_executors_make_equal_tables(logs: Path, tmp_path: Path) -> None:
    night(logs)
    shutil.copytree(SAMPLE_DATA, logs / "sample_data")
    reports = [load([logs], tmp_path / str(workers), workers=workers) for workers in (1, 2)]

    whole = loads_on_ray(logs, tmp_path / "ray", "whole")["whole"]

    expected = in_order(tmp_path / "1")
    assert in_order(tmp_path / "2") == expected
    assert in_order(Path(whole["store"])) == expected
    assert {(report.loaded, len(report.rejected)) for report in reports} == {
        (whole["loaded"], whole["rejected"])
    }
    assert whole["left"] == ["CURRENT", "gen-000001.duckdb", "lock"], "shared rows go when they are in"


@pytest.mark.thorough
@needs_ray
def test_a_load_on_a_cluster_bears_the_loss_of_a_node(logs: Path, tmp_path: Path) -> None:
    night(logs)
    for name in ("4-long", "5-long", "6-long"):
        long_file(logs / f"{name}.jsonl")
    load([logs], tmp_path / "alone", workers=1)
    expected = in_order(tmp_path / "alone")

    loads = loads_on_ray(logs, tmp_path / "ray", *KILLED_AT, *(["twice"] if THOROUGH else []))

    for stage, outcome in loads.items():
        killed = tmp_path / "ray" / f"{stage}.killed"
        assert killed.exists() or stage.startswith(("driver-", "twice")), f"nothing died at {stage}"
        assert in_order(Path(outcome["store"])) == expected, stage
        assert outcome["left"][-1] == "lock", f"rows are left over after {stage}"
        if stage.startswith("driver-") and stage != "driver-create":
            assert outcome["kept"], f"{stage}: rows that were finished are there for the next load"


@pytest.mark.thorough
@needs_ray
def test_a_cluster_that_does_not_answer_is_told(logs: Path, store: Path) -> None:
    night(logs)
    with pytest.raises(OptionError, match=r"the Ray cluster at ray://127\.0\.0\.1:1 cannot be reached"):
        load([logs], store, on="ray://127.0.0.1:1")


def test_without_ray_the_message_says_how_to_get_it(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night(logs)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else find(name))
    with pytest.raises(OptionError, match=r'install "callgauge\[ray\]"'):
        load([logs], store, on="ray")
    assert not list(store.glob("gen-*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"shared": "rows"}, "add --on ray"), ({"on": "dask"}, "is not a cluster")],
    ids=["rows without a cluster", "another engine"],
)
def test_options_that_make_no_sense_are_refused(
    logs: Path, store: Path, options: dict[str, str], words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        load([logs], store, **options)  # type: ignore[arg-type]
