"""Provides a folder with Callgauge's entry points, and a store in which a model got worse on two days."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.analysis.made_nights import publish_nights, regressed
from tests.integrations.distributions import install_callgauge

BEFORE = "2026-10-20 to 2026-11-09"
QUIET = "2026-11-10 to 2026-11-16"
WORSE = "2026-11-19 to 2026-11-20"


@pytest.fixture(scope="session")
def worse_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worse") / "store"
    publish_nights(folder, regressed(date(2026, 11, 19)), last=date(2026, 11, 20))
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install_callgauge(folder)
    return folder
