"""Provides a folder for logs and a folder for a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.pipeline.load import load
from ingest.pipeline.workers import process_executor
from tests.store.night import session
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
    """Make worker processes read all logs, even small logs, if the load has workers."""
    monkeypatch.setattr(process_executor, "WorkerProcess", ReadyWorker)


@pytest.fixture
def begun(tmp_path: Path, store: Path) -> Path:
    """Return a store with one session.

    So a load publishes a store file even if it rejects all files.
    """
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "s.jsonl").write_text(session("earlier"))
    load([tmp_path / "earlier"], store)
    return store
