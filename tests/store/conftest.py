"""A folder for logs and a place for a store, for every test here."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"
