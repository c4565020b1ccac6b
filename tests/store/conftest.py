"""A folder for logs and a place for a store, for every test here."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.pipeline.workers import process_executor
from tests.store.waiting import ReadyWorker


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def workers_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a load with workers reads, they read."""
    monkeypatch.setattr(process_executor, "WorkerProcess", ReadyWorker)
