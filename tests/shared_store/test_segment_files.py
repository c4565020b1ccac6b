"""Tests that DuckDB reads segments of a shared store directly from object storage."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.store.shared import segment_files
from ingest.store.shared.place import SharedPlace, UnreachableError
from ingest.store.shared.segment_files import SegmentFiles
from tests.bucket import BUCKET
from tests.shared_store.conftest import ADDRESS
from tests.store.night import opened

NAME = "seg-0123456789ab.duckdb"
ROWS = 400_000


@pytest.fixture
def segment(s3: Any, tmp_path: Path) -> Path:
    with opened(tmp_path / NAME) as con:
        con.execute(f"CREATE TABLE calls AS SELECT i, md5(i::VARCHAR) AS text FROM range({ROWS}) r(i)")  # noqa: S608
    s3.upload_file(str(tmp_path / NAME), BUCKET, f"team/store/{NAME}")
    return tmp_path / NAME


@pytest.fixture
def files(segment: Path) -> SegmentFiles:
    return SegmentFiles(SharedPlace(ADDRESS))


@pytest.fixture
def attached(files: SegmentFiles) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.register_filesystem(files)
        con.execute(f"ATTACH 'shared://{NAME}' AS segment (READ_ONLY)")
        con.execute("SET threads = 4; SET memory_limit = '60MB'; SET enable_external_access = false")
        yield con


def test_any_part_is_what_stands_there(files: SegmentFiles, segment: Path) -> None:
    whole, drawn = segment.read_bytes(), random.Random(1)
    for _ in range(60):
        start = drawn.randrange(len(whole))
        end = min(len(whole), start + drawn.choice((1, 4096, 262_144, 3_000_000)))
        assert files.read_bytes(NAME, start, end) == whole[start:end]


@pytest.mark.thorough
def test_threads_that_share_a_stream_do_not_move_each_other(files: SegmentFiles, segment: Path) -> None:
    """DuckDB seeks and reads in two steps. With a shared file handle, two threads could read wrong blocks."""
    stream = files.open(f"shared://{NAME}")
    stream.seek(4096)
    other = threading.Thread(target=stream.seek, args=(70_000,))
    other.start()
    other.join()
    assert stream.read(100) == segment.read_bytes()[4096:4196]
    assert stream.tell() == 4196


@pytest.mark.thorough
def test_queries_at_once_find_what_is_there(
    attached: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_files, "_KEPT", 0)
    rows: list[Any] = []

    def ask() -> None:
        query = "SELECT count(*), sum(length(text)), sum(i) FROM segment.calls"
        rows.extend(attached.cursor().execute(query).fetchall())

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows == [(ROWS, 32 * ROWS, ROWS * (ROWS - 1) // 2)] * 3


@pytest.mark.thorough
def test_what_was_read_is_kept_within_a_limit(
    files: SegmentFiles, segment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_files, "_KEPT", 3 * 1024 * 1024)
    sizes: list[int] = []
    read = SharedPlace.read_range

    def note(place: SharedPlace, name: str, start: int, end: int) -> bytes:
        sizes.append(end - start)
        return read(place, name, start, end)

    monkeypatch.setattr(SharedPlace, "read_range", note)
    for _ in range(3):
        files.read_bytes(NAME, 100, 200)
    assert len(sizes) == 1
    files.read_bytes(NAME, 0, segment.stat().st_size)
    assert len(files._blocks) == 3
    assert max(sizes) > 3 * 1024 * 1024


@pytest.mark.thorough
def test_a_read_that_fails_is_an_error_of_the_query_and_the_next_one_answers(
    attached: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise UnreachableError("gone")

    with monkeypatch.context() as gone:
        gone.setattr(SharedPlace, "read_range", fail)
        with pytest.raises(duckdb.Error, match="gone"):
            attached.execute("SELECT sum(length(text)) FROM segment.calls")
    assert attached.execute("SELECT sum(length(text)) FROM segment.calls").fetchall() == [(32 * ROWS,)]


@pytest.mark.thorough
def test_a_segment_that_was_cut_is_an_error(s3: Any, files: SegmentFiles, segment: Path) -> None:
    files.find_size(NAME)
    s3.put_object(Bucket=BUCKET, Key=f"team/store/{NAME}", Body=segment.read_bytes()[:1000])
    with pytest.raises(UnreachableError, match="ended too early"):
        files.read_bytes(NAME, 500, 5000)


@pytest.mark.parametrize("name", [f"{NAME}.wal", "seg-1.duckdb", "CURRENT", "gen-000001.duckdb", ""])
def test_only_segments_are_opened(s3: Any, name: str) -> None:
    files = SegmentFiles(SharedPlace(ADDRESS))
    assert not files.exists(f"shared://{name}")
    with pytest.raises(FileNotFoundError):
        files.open(f"shared://{name}")


@pytest.mark.thorough
def test_what_attaching_reads_of_several_segments_is_fetched_at_once(
    s3: Any, segment: Path, files: SegmentFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"seg-{number:012x}.duckdb" for number in range(4)]
    for name in names:
        s3.upload_file(str(segment), BUCKET, f"team/store/{name}")
    together = threading.Barrier(len(names), timeout=60)
    find, read = SharedPlace.find, SharedPlace.read_range
    fetched: list[str] = []

    def find_together(place: SharedPlace, name: str) -> Any:
        fetched.append(name)
        together.wait()  # this returns only when all parts are requested at the same time
        return find(place, name)

    def note(place: SharedPlace, name: str, start: int, end: int) -> bytes:
        fetched.append(name)
        return read(place, name, start, end)

    monkeypatch.setattr(SharedPlace, "find", find_together)
    monkeypatch.setattr(SharedPlace, "read_range", note)
    files.fetch_ends([*names, "seg-1.duckdb"])
    assert sorted(fetched) == sorted(3 * names)
    fetched.clear()
    with duckdb.connect() as con:
        con.register_filesystem(files)
        for name in names:
            con.execute(f"ATTACH 'shared://{name}' AS s{name[4:-7]} (READ_ONLY)")
    assert fetched == []


@pytest.mark.thorough
def test_ends_that_cannot_be_fetched_are_left_to_who_attaches(s3: Any, files: SegmentFiles) -> None:
    files.fetch_ends(["seg-00000000ffff.duckdb", NAME])
    assert files.exists(f"shared://{NAME}")
    assert not files.exists("shared://seg-00000000ffff.duckdb")
