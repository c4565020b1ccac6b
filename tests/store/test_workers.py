"""Tests that worker processes produce the same rows as one process, even if a worker fails."""

from __future__ import annotations

import secrets
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from msgspec.structs import replace

from ingest.load_report import LoadReport, Progress
from ingest.pipeline.load import load
from ingest.pipeline.workers import row_collector
from ingest.pipeline.workers.messages import RowsPart, Shipment, TaskEnded, write_tables
from ingest.pipeline.workers.results import ReceivedPart, ReceivedShipment
from ingest.pipeline.workers.row_collector import RowCollector
from ingest.privacy.configuration import PrivacyOptions
from ingest.privacy.rules import read_rules
from ingest.sessions.row_batches import Row, TableRows
from ingest.store.generations import lock_store, published_generation
from ingest.store.writer import FactWriter
from tests.conftest import CASES
from tests.store.night import FACTS, count, session

LONG = '{"text": "%s"}' % ("x" * 20_000)
SAMPLE_DATA = Path(__file__).parents[2] / "sample_data" / "logs"
SESSIONS = 150  # sessions in a long file; its rows come from the worker in several parts


pytestmark = pytest.mark.usefixtures("workers_read")


def in_order(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of the database, without times. Rows of logs keep the stored order."""
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as con:
        names = [name for (name,) in con.sql("SELECT table_name FROM duckdb_tables()").fetchall()]
        assert {"tool_calls", "prompts", "copies", "unfinished", "daily_calls"} <= set(names)
        clocks = {
            "ingest_runs": "EXCLUDE (started_at, finished_at)",
            "store_info": "EXCLUDE (created_at)",
            "unfinished": "EXCLUDE (state)",
        }
        rows = {name: con.sql(f"SELECT * {clocks.get(name, '')} FROM {name}").fetchall() for name in names}  # noqa: S608
    return {name: some if name in FACTS else sorted(some, key=repr) for name, some in rows.items()}


def night(logs: Path) -> None:
    for number in range(8):
        sessions = "".join(session(f"s{number}-{n}", day=n % 5 + 1) for n in range(number + 1))
        (logs / f"{number}.jsonl").write_text(sessions + ("broken\n" if number % 3 == 0 else ""))
    (logs / "late.jsonl").write_text(session("s7-1", raw="{'a': 1,}") + '{"ts": "soon"}\n')
    (logs / "none.txt").write_text("no log\n")
    (logs / "zeros.bin").write_bytes(bytes(100))
    (logs / "sub").mkdir()
    (logs / "sub" / "other.jsonl").write_text(session("other", turns=(3, 0, 2), ended=False))


def long_file(path: Path) -> None:
    path.write_text("".join(session(f"{path.stem}-{n}", raw=LONG) for n in range(SESSIONS)))
    assert path.stat().st_size > 2 * row_collector.SHIPPED_BYTES


@pytest.mark.thorough
def test_the_tables_are_the_same_whoever_reads(logs: Path, tmp_path: Path) -> None:
    for change in (night, next_night):
        change(logs)
        for workers in (1, 2):
            load([logs], tmp_path / str(workers), workers=workers)
        assert in_order(tmp_path / "1") == in_order(tmp_path / "2")


def both(named: Sequence[Path], tmp_path: Path, **options: Any) -> tuple[LoadReport, LoadReport]:
    """Load with one process into one store, and with two workers into another. Assert equal stores."""
    serial, two = (load(named, tmp_path / str(workers), workers=workers, **options) for workers in (1, 2))
    assert in_order(tmp_path / "1") == in_order(tmp_path / "2")
    assert replace(serial, seconds=0) == replace(two, seconds=0)
    return serial, two


@pytest.mark.thorough
def test_all_formats_are_the_same_whoever_reads(tmp_path: Path) -> None:
    report, _ = both([CASES / "formats", SAMPLE_DATA], tmp_path)
    assert report.loaded > 100
    assert report.rejected


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        {"limit": 3},
        {"private": PrivacyOptions(read_rules(None))},
        {"private": PrivacyOptions(results=False)},
        {"form": "session_history"},
        {"max_line": 1024},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_hold_for_workers(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(secrets, "token_bytes", bytes)
    night(logs)
    (logs / "secret.jsonl").write_text(session("secret", raw='{"path": "/home/alice/a.py", "to": "b@c.de"}'))
    report, _ = both([logs], tmp_path, **options)
    assert report.loaded == options.get("limit", report.loaded)
    if "limit" not in options:
        (logs / "zeros.bin").write_text(session("mended"))
        assert both([logs], tmp_path, **options)[0].loaded == 1


@pytest.mark.thorough
def test_a_value_that_no_column_can_hold_is_a_reject_of_its_file(store: Path) -> None:
    shipments: list[Shipment] = []

    def ship(parts: list[RowsPart | TaskEnded], tables: dict[str, pa.Table], unfit: list[Row]) -> None:
        write_tables(store / "rows", tables)
        shipments.append(Shipment(parts, str(store / "rows"), 0, list(tables), unfit))

    with lock_store(store) as folder:
        writer = FactWriter(folder, first_file_id=70)
        collector = RowCollector(writer.builder.schemas, ship)
        for ticket, steps in ((1, 2), (2, 10**30), (3, 4)):
            collector.begin_task(ticket)
            row = {"file_id": collector.begin_file(), "line": 5, "turn_id": f"t{ticket}", "steps": steps}
            collector.add("turns", TableRows.from_dicts([row]))
            collector.flush_when_due(row_collector.SHIPPED_BYTES // 3 + 1)
            collector.end_part(10, 0)
        parcel = ReceivedShipment(shipments[0], pa.memory_map)
        parcel.skip_part()
        for _ in range(2):
            part = parcel.take_part()
            assert isinstance(part, ReceivedPart)
            writer.add_tables(*part.for_file(writer.begin_file(others=True)))
        writer.flush()
        building = writer.builder
        assert building.fetch_rows("SELECT file_id, turn_id, steps FROM turns") == [
            {"file_id": 70, "turn_id": "t2", "steps": None},
            {"file_id": 71, "turn_id": "t3", "steps": 4},
        ]
        assert building.fetch_rows("SELECT file_id, line, code FROM rejects") == [
            {"file_id": 70, "line": 5, "code": "wrong_type"}
        ]
        assert writer.unfit == {70: 1}
        writer.abandon()
    assert not list(store.glob("building*"))


@pytest.mark.thorough
def test_a_pipe_is_read_here_while_workers_read_files(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night(logs)
    for workers in (1, 2):
        with (logs / "7.jsonl").open("rb") as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", SimpleNamespace(buffer=stream, isatty=lambda: False))
            load([str(logs), "-"], tmp_path / str(workers), workers=workers)
    assert in_order(tmp_path / "1") == in_order(tmp_path / "2")


@pytest.mark.thorough
def test_progress_is_the_same_whoever_reads(logs: Path, tmp_path: Path) -> None:
    night(logs)
    long_file(logs / "5-long.jsonl")
    progress_by_workers: dict[int, list[Progress]] = {1: [], 2: []}
    for workers, at in progress_by_workers.items():
        load([logs], tmp_path / str(workers), workers=workers, on_progress=at.append)
    # While a load waits for a worker, it reports the same progress again. Such repetitions are removed.
    serial, two = (list(dict.fromkeys(at)) for at in progress_by_workers.values())
    assert [at for at in two if at in serial] == serial
    assert all(at.bytes_done <= at.bytes_total for at in two)


@pytest.mark.thorough
def test_a_large_log_that_grew_is_read_on_by_a_worker(logs: Path, tmp_path: Path) -> None:
    long_file(logs / "a.jsonl")
    (logs / "b.jsonl").write_text(session("b"))
    both([logs], tmp_path)
    assert count(tmp_path / "2", "unfinished") == 1
    for name in ("a", "b"):
        with (logs / f"{name}.jsonl").open("a") as stream:
            stream.write(session(f"{name} goes on"))
    report, _ = both([logs], tmp_path)
    assert report.lines < 100


def next_night(logs: Path) -> None:
    (logs / "0.jsonl").rename(logs / "moved.jsonl")
    (logs / "1.jsonl").write_text(session("rewritten"))
    with (logs / "2.jsonl").open("a") as stream:
        stream.write(session("grown", day=9))
    (logs / "new.jsonl").write_text(session("new"))
    (logs / "zeros.bin").unlink()


@pytest.mark.thorough
def test_copies_in_one_night_count_once(logs: Path, tmp_path: Path) -> None:
    for name in "abcdef":
        (logs / f"{name}.jsonl").write_text(session("the same", turns=(5, 5)))
    (logs / "other.jsonl").write_text(session("other"))
    serial, two = (load([logs], tmp_path / str(workers), workers=workers) for workers in (1, 2))
    assert (serial.loaded, serial.unchanged) == (two.loaded, two.unchanged) == (2, 5)
    assert in_order(tmp_path / "1") == in_order(tmp_path / "2")


@pytest.mark.thorough
def test_the_members_of_archives_are_the_same_whoever_reads(logs: Path, tmp_path: Path) -> None:
    night(logs)
    with tarfile.open(tmp_path / "night.tar.gz", "w:gz") as archive:
        archive.add(logs, "logs")
    with zipfile.ZipFile(tmp_path / "night.zip", "w") as packed:
        for number in range(4):
            packed.writestr(f"{number}.jsonl", session(f"zipped-{number}"))
    for workers in (1, 2):
        load([tmp_path / "night.tar.gz", tmp_path / "night.zip"], tmp_path / str(workers), workers=workers)
    assert in_order(tmp_path / "1") == in_order(tmp_path / "2")
