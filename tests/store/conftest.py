"""Provides a folder for logs and the path of a store for the tests in this folder."""

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
    """Make worker processes read all logs if a load has workers, even small logs."""
    monkeypatch.setattr(process_executor, "WorkerProcess", ReadyWorker)


@pytest.fixture
def begun(tmp_path: Path, store: Path) -> Path:
    """Return a store with one session.

    Tests need it because a first load that rejects all files publishes no store file.
    """
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "s.jsonl").write_text(session("earlier"))
    load([tmp_path / "earlier"], store)
    return store
