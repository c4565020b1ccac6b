"""Provides stores of several days."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from callgauge.analysis.metrics.published_store import read_store
from callgauge.report.content.compose import TeamContext, make_report
from callgauge.report.content.morning_report import MorningReport
from tests.analysis.made_nights import publish_nights, regressed
from tests.analysis.store_fixture import HOSTILE, a_call

LAST = date(2026, 11, 20)
SINCE = date(2026, 11, 19)
ADDRESS = "https://gauge.example.com"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store in which a model got worse on the 19th. On the 20th, a new error with a hostile message
    appeared.
    """
    folder = tmp_path_factory.mktemp("made") / "store"
    failed = {"fault_layer": "refused", "result_status": "denied", "result_text": f"most {HOSTILE}"}
    when = {"day": "2026-11-20", "ts": "2026-11-20T10:00:00"}
    new = [a_call(n, call_id=f"n{n}", session_id=f"n{n % 4}", **when, **failed) for n in range(10)]
    publish_nights(folder, regressed(SINCE), last=LAST, tool_calls=new)
    return folder


@pytest.fixture
def store(published: Path, tmp_path: Path) -> Path:
    """Return a copy of the store, for tests that save decisions and notes."""
    return Path(shutil.copytree(published, tmp_path / "store"))


@pytest.fixture(scope="session")
def report(published: Path) -> MorningReport:
    """Return the report of the last day, compared with the report of two days before."""
    return report_of(published, LAST, since=date(2026, 11, 18))


def report_of(
    store: Path,
    night: date,
    *,
    team: TeamContext | None = None,
    since: date | None = None,
    address: str | None = ADDRESS,
) -> MorningReport:
    with read_store(store, texts=True) as reader:
        return make_report(
            reader.ask, team or TeamContext(), night, store="store", since=since, address=address
        )
