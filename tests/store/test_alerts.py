"""Tests that the alerts of a load need enough data, and do not depend on the order of files."""

from __future__ import annotations

import shutil
import sys
from datetime import date
from pathlib import Path

import pytest

from callgauge.stats.over_time import window_changes
from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from tests.store.night import ask, contents, session

TABLES = ("alerts", "alert_night")
FINE = '{"path": "a.py"}'
BROKEN = '{"path": "a" "b"}'
SINCE, LAST = 22, 27
COLUMNS = "dimension, name, rate, since, rose, back, part_of IS NULL"


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a log for each day. From the 22nd on, more sessions have invalid arguments."""
    folder = tmp_path_factory.mktemp("month")
    for day in range(1, LAST + 1):
        broken = 8 if day >= SINCE else 1
        sessions = (
            session(f"d{day}-{n}", turns=(3,), day=day, raw=BROKEN if n < broken else FINE) for n in range(14)
        )
        (folder / f"{day:02d}.jsonl").write_text("".join(sessions), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def loaded(month: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("stores") / "store"
    load([month], store)
    return store


def test_a_lasting_change_is_an_alert_with_its_first_day(loaded: Path) -> None:
    assert (date(2026, 11, 27),) in ask(loaded, "SELECT night FROM alert_night")
    alerts = ask(loaded, f"SELECT {COLUMNS} FROM alerts WHERE rate = 'parse_error' AND part_of IS NULL")  # noqa: S608
    assert [(rate, since, rose, back) for _, _, rate, since, rose, back, _ in alerts] == [
        ("parse_error", date(2026, 11, SINCE), True, None)
    ]
    ((k_now, n_now, k_before, n_before),) = ask(
        loaded,
        "SELECT k_now, n_now, k_before, n_before FROM alerts WHERE rate = 'parse_error' AND part_of IS NULL",
    )
    assert (k_now, n_now) == (6 * 8 * 3, 6 * 14 * 3)
    assert (k_before, n_before) == (21 * 3, 21 * 14 * 3)


def test_what_is_the_same_calls_is_part_of_one_alert(loaded: Path) -> None:
    leading = ask(loaded, "SELECT alert_key FROM alerts WHERE part_of IS NULL AND rate = 'parse_error'")
    others = ask(loaded, "SELECT part_of FROM alerts WHERE part_of IS NOT NULL AND rate = 'parse_error'")
    assert len(leading) == 1
    assert set(others) == set(leading)


@pytest.mark.thorough
def test_a_load_of_each_night_and_a_late_file_end_in_the_same_alerts(
    month: Path, loaded: Path, tmp_path: Path
) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    files = sorted(month.iterdir())
    late = files.pop(14)
    for until in (10, 20, 23, len(files)):
        for file in files[:until]:
            shutil.copyfile(file, logs / file.name)
        load([logs], store)
    assert contents(store, TABLES) != contents(loaded, TABLES)
    shutil.copyfile(late, logs / late.name)
    load([logs], store)
    assert contents(store, TABLES) == contents(loaded, TABLES)


@pytest.mark.thorough
def test_loading_again_and_reparsing_change_no_alert(month: Path, loaded: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(loaded, tmp_path / "store"))
    load([month], store)
    reparse(store, everything=True)
    assert contents(store, TABLES) == contents(loaded, TABLES)


def test_an_alert_has_the_same_key_on_the_next_night(month: Path, loaded: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(sorted(month.iterdir())[:-1], store)
    keys = "SELECT alert_key FROM alerts WHERE rate = 'parse_error' AND part_of IS NULL"
    assert ask(store, keys) == ask(loaded, keys)


def test_a_small_store_has_no_alerts_and_needs_no_statistics(
    month: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, window_changes.__name__, None)
    load(sorted(month.iterdir())[:5], tmp_path / "store")
    assert contents(tmp_path / "store", TABLES) == {table: [] for table in TABLES}
