"""Tests the files in a store's folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest

from callgauge.configuration.places import REPORTS
from callgauge.memory import memory_file
from callgauge.serving import access_log
from callgauge.serving.sign_in import sessions, users_file
from ingest.errors import StoreBusy, StoreError, StoreVersionError
from ingest.pipeline.load import load
from ingest.pipeline.planning import naming
from ingest.privacy.configuration import KEY
from ingest.store.generations import check_store_place, lock_store, published_generation
from ingest.store.migrations import SCHEMA_VERSION
from tests.store.night import count, rows_by_reference, session


@pytest.fixture
def loaded(logs: Path, store: Path) -> Path:
    (logs / "a.jsonl").write_text(session("s1"))
    load([logs], store)
    return store


def test_nothing_is_published_where_there_is_no_store(tmp_path: Path) -> None:
    assert published_generation(tmp_path / "missing") is None
    assert published_generation(tmp_path) is None


def test_a_second_load_is_told_who_holds_the_store_since_when(logs: Path, loaded: Path) -> None:
    with lock_store(loaded), pytest.raises(StoreBusy) as busy:
        load([logs], loaded)
    holder = json.loads((loaded / "lock").read_text())
    assert f"process {os.getpid()} on {holder['host']} since {holder['since']}" in str(busy.value)


@pytest.mark.thorough
def test_another_process_is_kept_out_while_a_load_runs(logs: Path, loaded: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from ingest.errors import IngestError; from ingest.pipeline.load import load\n"
        "try: load([Path(sys.argv[1])], Path(sys.argv[2]))\n"
        "except IngestError as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", script, str(logs), str(loaded)]
    with lock_store(loaded):
        kept_out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert kept_out.startswith(f"StoreBusy process {os.getpid()} on ")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.thorough
def test_a_load_that_waits_is_told_for_whom_and_goes_on_when_the_store_is_free(
    logs: Path, loaded: Path
) -> None:
    (logs / "b.jsonl").write_text(session("s2"))
    holders: list[str] = []
    with ExitStack() as other_load:
        other_load.enter_context(lock_store(loaded))

        def patience(who: str) -> bool:
            holders.append(who)
            if len(holders) == 3:
                other_load.close()
            return True

        assert load([logs], loaded, patience=patience).loaded == 1
    assert len(holders) == 3
    assert holders[0].startswith(f"process {os.getpid()} on ")
    assert holders[0].endswith(f"is loading into the store {loaded}")


@pytest.mark.thorough
def test_a_lock_file_left_by_a_dead_process_is_no_lock(logs: Path, loaded: Path) -> None:
    (loaded / "lock").write_text('{"pid": 1, "host": "here", "since": "long ago"}')
    (logs / "b.jsonl").write_text(session("s2"))
    assert load([logs], loaded).loaded == 1


@pytest.mark.thorough
def test_a_lock_file_of_nonsense_still_gives_a_sentence(logs: Path, loaded: Path) -> None:
    with lock_store(loaded):
        (loaded / "lock").write_text("\0nonsense")
        with pytest.raises(StoreBusy, match="another process is loading into the store"):
            load([logs], loaded)


@pytest.mark.thorough
def test_leftovers_of_a_killed_load_are_swept_away(logs: Path, loaded: Path) -> None:
    spill = loaded / "building.duckdb.tmp"
    spill.mkdir()
    for name in (
        "building.duckdb",
        "building.duckdb.wal",
        "building.duckdb.tmp/x",
        "CURRENT.new",
        "gen-000002.duckdb",
    ):
        (loaded / name).write_bytes(b"torn")
    (logs / "b.jsonl").write_text(session("s2"))
    assert load([logs], loaded).generation == "gen-000002.duckdb"
    assert sorted(path.name for path in loaded.iterdir()) == [
        "CURRENT", "gen-000001.duckdb", "gen-000002.duckdb", "lock",
    ]  # fmt: skip
    assert count(loaded, "sessions") == 2


@pytest.mark.thorough
def test_files_of_other_people_in_the_store_are_left_alone(logs: Path, loaded: Path) -> None:
    (loaded / "notes.txt").write_text("mine")
    (logs / "b.jsonl").write_text(session("s2"))
    load([logs], loaded)
    assert (loaded / "notes.txt").read_text() == "mine"


def test_a_lost_current_is_found_again(logs: Path, loaded: Path) -> None:
    before = rows_by_reference(loaded)
    (loaded / "CURRENT").unlink()
    assert load([logs], loaded).unchanged == 1
    assert rows_by_reference(loaded) == before


@pytest.mark.thorough
def test_a_current_that_names_nothing_is_one_sentence(logs: Path, loaded: Path) -> None:
    for name in ("gen-000009.duckdb", "../../etc/passwd", "", "gen-000001.duckdb/../x"):
        (loaded / "CURRENT").write_text(name)
        with pytest.raises(StoreError, match=r"CURRENT names .* which is .*; write the name of one"):
            published_generation(loaded)
        with pytest.raises(StoreError):
            load([logs], loaded)
    assert (loaded / "gen-000001.duckdb").exists()


def test_a_failed_load_leaves_the_published_store_as_it_was(logs: Path, loaded: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in loaded.iterdir() if path.name != "lock"}
    (logs / "b.jsonl").write_text(session("s2"))

    def fail(step: str) -> None:
        if step == "settle.sql":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load([logs], loaded, on_write=fail)
    assert {path.name: path.stat().st_mtime_ns for path in loaded.iterdir() if path.name != "lock"} == before
    assert load([logs], loaded).loaded == 1


def change(store: Path, statement: str) -> None:
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation)) as con:
        con.execute(statement)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE store_info SET schema_version = 99",
            f"tables of version 99, this Callgauge writes version {SCHEMA_VERSION}",
        ),
        ("UPDATE store_info SET schema_version = 0", "tables of version 0"),
        ("DELETE FROM store_info", "tables without a version"),
        ("DROP TABLE store_info", "tables without a version"),
    ],
)
def test_a_store_of_another_version_is_refused_and_kept(
    logs: Path, loaded: Path, statement: str, message: str
) -> None:
    change(loaded, statement)
    with pytest.raises(StoreVersionError, match=message) as refused:
        load([logs], loaded)
    assert "load the logs into a new folder" in str(refused.value)
    assert (loaded / "gen-000001.duckdb").exists()


def test_a_generation_that_is_no_database_is_one_sentence(logs: Path, loaded: Path) -> None:
    (loaded / "gen-000001.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match=r"gen-000001\.duckdb cannot be read") as refused:
        load([logs], loaded)
    assert "\n" not in str(refused.value)


def test_tables_that_do_not_add_up_are_never_published(logs: Path, loaded: Path) -> None:
    change(loaded, "DELETE FROM tool_calls WHERE step = 0")
    (logs / "b.jsonl").write_text(session("s2"))
    with pytest.raises(StoreError, match=r"do not add up \(calls in daily_calls: 4 expected, 6 found"):
        load([logs], loaded)
    assert (loaded / "CURRENT").read_text() == "gen-000001.duckdb\n"


def make_parent_missing(place: Path) -> Path:
    return place / "missing" / "store"


def make_file(place: Path) -> Path:
    (place / "store").write_text("a file")
    return place / "store"


def make_parent_a_file(place: Path) -> Path:
    return make_file(place) / "store"


def make_foreign(place: Path) -> Path:
    (place / "store").mkdir()
    (place / "store" / "thesis.txt").write_text("mine")
    return place / "store"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (make_parent_missing, "no folder .*missing; create it"),
        (make_parent_a_file, "no folder .*store; create it"),
        (make_file, "store is a file, not a folder"),
        (make_foreign, "contains other files and no store"),
    ],
)
def test_a_place_that_can_be_no_store_is_one_sentence(
    logs: Path, tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    with pytest.raises(StoreError, match=message):
        load([logs], make(tmp_path))


@pytest.mark.thorough
def test_what_is_made_before_the_first_load_is_no_obstacle_to_it(logs: Path, tmp_path: Path) -> None:
    """Before the first load, the folder may contain files of users, names, tokens and a waiting server, and
    `lost+found`.
    """
    (logs / "a.jsonl").write_text(session("s1"))
    store = tmp_path / "store"
    made = [
        users_file.FILE, sessions.KEY_FILE, sessions.ENDED_FILE, access_log.FILE, "access.1.jsonl",
        memory_file.FILE, f"{memory_file.FILE}-journal", naming.FILE, naming.KEPT_ALIASES, KEY, REPORTS,
        "lost+found", "users.lock", "up.lock", "night.lock", f".{users_file.FILE}-k1l_l3d.new",
    ]  # fmt: skip
    for name in made:
        place = tmp_path / name.replace(".", "_")
        place.mkdir()
        (place / name).touch()
        check_store_place(place)
    store.mkdir()
    (store / users_file.FILE).write_text("{}")
    (store / naming.FILE).write_text("[aliases]\nenabled = false\n")
    load([logs], store)
    assert count(store, "tool_calls") == 3
    (tmp_path / "mixed").mkdir()
    for name in (users_file.FILE, "thesis.txt"):
        (tmp_path / "mixed" / name).touch()
    with pytest.raises(StoreError, match="contains other files"):
        load([logs], tmp_path / "mixed")


def test_a_store_that_may_not_be_written_is_one_sentence(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a.jsonl").write_text(session("s1"))

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(StoreError, match="Permission denied; change its permissions, or name another folder"):
        load([logs], tmp_path / "store")


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from ingest.errors import StoreError
from ingest.pipeline.load import load
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    load([Path(sys.argv[1])], Path(sys.argv[2]))
except StoreError as error:
    print(error)
"""


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("share", [0.2, 0.9], ids=["while copying", "while writing"])
def test_a_disk_that_is_full_is_one_sentence_and_costs_nothing(
    logs: Path, loaded: Path, share: float
) -> None:
    """A limit on file sizes makes either the copy of the store or DuckDB's writes fail."""
    before = rows_by_reference(loaded)
    for number in range(3):
        raws = (os.urandom(30_000).hex() for _ in range(20))
        (logs / f"{number}.jsonl").write_text(
            "".join(session(f"n{i}", raw=raw) for i, raw in enumerate(raws))
        )
    if share > 0.5:
        limit = (loaded / "gen-000001.duckdb").stat().st_size + 600_000
    else:
        limit = int((loaded / "gen-000001.duckdb").stat().st_size * share)
    command = [sys.executable, "-c", FULL_DISK, str(logs), str(loaded), str(limit)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "The published store is unchanged." in output, output
    assert output.count("\n") == 1
    assert rows_by_reference(loaded) == before
    assert sorted(path.name for path in loaded.iterdir()) == ["CURRENT", "gen-000001.duckdb", "lock"]
    assert load([logs], loaded).loaded == 3
