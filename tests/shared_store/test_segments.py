"""Tests rows of earlier loads, which stay in object storage."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.metrics.published_store import open_generation
from callgauge.analysis.sandbox import query_runs
from callgauge.analysis.sandbox.query_runs import QueryLimits, SqlError
from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.backup.verify import verify_store
from ingest.errors import StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.pipeline.load import load
from ingest.store import building_segments
from ingest.store.generations import lock_store, published_generation
from ingest.store.shared import segment_files, shared_folder
from ingest.store.shared.place import SharedPlace, UnreachableError
from tests.shared_store.conftest import AT_ONCE, belongs, keys
from tests.store.night import contents, count, session
from tests.store.sealed_months import first_night, late_log, seal_months

MakeFolder = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each load write its new rows into a segment. Clear the caches."""
    monkeypatch.setattr(building_segments, "SEAL_AT", 0)
    segment_files._opened.clear()


@pytest.fixture
def nights(s3: Any, logs: Path, folder: MakeFolder) -> Path:
    """Return a folder after two loads, each of which has written a segment."""
    for number in range(2):
        (logs / f"{number}").write_text(session(f"s{number}", day=number + 1))
        load([logs], folder("loader"))
    return folder("loader")


def segments(s3: Any) -> list[str]:
    return [key for key in keys(s3) if key.startswith("seg-")]


def generation(folder: Path) -> Path:
    path = published_generation(folder)
    assert path is not None
    return path


@pytest.mark.thorough
def test_the_store_is_the_same_as_one_of_a_machine_alone(
    s3: Any, nights: Path, logs: Path, folder: MakeFolder, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    for number in range(2):
        load([logs / f"{session_number}" for session_number in range(number + 1)], alone)
    # the log grows, so its rows in the segment change
    (logs / "0").write_text(session("s0", turns=(2, 1, 3)))
    for store in (nights, alone):
        load([logs], store)
    reader = folder("reader")
    belongs(reader).fetch()
    assert contents(reader) == contents(nights) == contents(alone)
    assert not list(reader.glob("seg-*"))
    assert not list(nights.glob("seg-*"))
    assert len(segments(s3)) >= 3


@pytest.mark.thorough
def test_old_months_of_sums_stay_there_and_change_there(
    s3: Any, logs: Path, folder: MakeFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, loader = tmp_path / "alone", folder("loader")
    for step in (first_night, late_log):
        step(logs)
        load([logs], alone)
        with monkeypatch.context() as patched:
            seal_months(patched)
            load([logs], loader)
    reader = folder("reader")
    belongs(reader).fetch()
    assert contents(reader) == contents(loader) == contents(alone)
    assert not list(loader.glob("seg-*"))
    verify_store(reader)
    parameters = {"rates": ["parse_error"], "from_day": date(2026, 7, 1), "to_day": date(2026, 8, 31)}
    answers = []
    for store in (reader, alone):
        connection = open_generation(generation(store), texts=True)
        answers.append(answer_metric(connection, "slices", parameters).k.to_list())
        connection.close()
    assert answers[0] == answers[1] != []


@pytest.mark.thorough
@pytest.mark.parametrize("texts", [True, False])
def test_pages_read_the_segments_where_they_are(nights: Path, folder: MakeFolder, *, texts: bool) -> None:
    belongs(folder("reader")).fetch()
    connection = open_generation(generation(folder("reader")), texts=texts)
    try:
        calls = answer_metric(connection, "calls", {"limit": 10, "offset": 0})
        assert len(calls) == 6
    finally:
        connection.close()


@pytest.mark.thorough
def test_a_persons_query_reads_them_without_credentials(
    nights: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    belongs(folder("reader")).fetch()
    query = "SELECT count(*), count(DISTINCT day) FROM tool_calls"
    limits = QueryLimits(seconds=120)
    assert query_runs.run(generation(folder("reader")), query, limits, texts=True).read_rows(0, 1) == [[6, 2]]

    def fail(*_: object) -> bytes:
        raise UnreachableError("gone")

    segment_files._opened.clear()
    monkeypatch.setattr(SharedPlace, "read_range", fail)
    with pytest.raises(SqlError):
        query_runs.run(generation(folder("reader")), query, limits, texts=True)


@pytest.mark.thorough
def test_segments_that_nobody_reads_any_more_are_removed(
    s3: Any, nights: Path, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(segments(s3))
    (logs / "0").write_text(session("other"))
    load([logs], nights)
    assert before < set(segments(s3))  # a reader may still use these segments
    monkeypatch.setattr(shared_folder, "GRACE", AT_ONCE)
    with lock_store(folder("other")):
        pass
    pointer = belongs(nights).fetch().pointer
    assert pointer is not None
    assert set(segments(s3)) == set(pointer.segments)


@pytest.mark.thorough
def test_what_is_forgotten_is_in_no_segment(s3: Any, nights: Path, folder: MakeFolder) -> None:
    before = set(segments(s3))
    forget(nights, SessionChoice(sessions=["s0"]))
    reader = folder("reader")
    pointer = belongs(reader).fetch().pointer
    assert pointer is not None
    assert set(segments(s3)) == set(pointer.segments) != before
    assert count(reader, "sessions") == 1
    assert verify_store(reader).rows["sessions"] == 1


@pytest.mark.thorough
def test_a_backup_holds_the_segments_too(nights: Path, folder: MakeFolder, tmp_path: Path) -> None:
    reader = folder("reader")
    belongs(reader).fetch()
    report = make_backup(reader, tmp_path / "backups")
    assert report.files == 3
    restore(tmp_path / "backups", tmp_path / "alone")
    assert contents(tmp_path / "alone") == contents(nights)
    forget(nights, SessionChoice(sessions=["s0"]))
    restore(tmp_path / "backups", reader, replace=True)
    belongs(nights).fetch()
    assert contents(nights) == contents(tmp_path / "alone")


@pytest.mark.thorough
def test_an_object_store_that_is_gone_is_told_by_loads_and_pages(
    nights: Path, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = folder("reader")
    belongs(reader).fetch()
    segment_files._opened.clear()

    def fail(*_: object) -> bytes:
        raise UnreachableError("the shared store s3://logs/team/store cannot be reached")

    monkeypatch.setattr(SharedPlace, "read_range", fail)
    with pytest.raises(StoreError, match=r"^the shared store s3://logs/team/store cannot be reached$"):
        verify_store(reader)
    (logs / "2").write_text(session("s2"))
    with pytest.raises(StoreError, match=r"^the shared store s3://logs/team/store cannot be reached"):
        load([logs], nights)
    monkeypatch.undo()
    monkeypatch.setattr(building_segments, "SEAL_AT", 0)
    assert load([logs], nights).loaded == 1
