"""Tests backups. Each backup is complete or does not exist, and a restored store equals the original."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.team_memory import TeamMemory
from ingest.backup import make_backup as backups
from ingest.backup.make_backup import make_backup, read_record
from ingest.backup.manifest import (
    BackupFile,
    Manifest,
    list_backups,
    read_manifest,
    read_pieces,
    write_manifest,
)
from ingest.backup.places import open_place
from ingest.backup.restore import restore
from ingest.backup.verify import verify_backup, verify_store
from ingest.errors import BackupError, InputError, OptionError, StoreError
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from tests.store.night import contents, opened, session


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def loaded(logs: Path, store: Path) -> Path:
    (logs / "a.jsonl").write_text("".join(session(f"a{n}", day=n + 1, raw="{'a': 1,}") for n in range(8)))
    (logs / "growing.jsonl").write_text(session("g", ended=False, turns=(1,)))
    load([logs], store)
    return store


def all_numbers(store: Path) -> dict[str, Any]:
    with read_store(store, texts=True) as reader:
        return {
            metric: reader.ask(metric, by="model").to_dict()
            for metric in ("breakdown", "coverage", "fault_layers", "costs", "signatures", "extent")
        }


def test_what_is_restored_is_what_was_and_loads_go_on(loaded: Path, logs: Path, place: Path) -> None:
    TeamMemory(loaded).acknowledge("alert", note="seen", by="ada")
    (loaded / "naming.toml").write_text("")
    (loaded / "redaction.key").write_bytes(b"secret")
    tables, numbers = contents(loaded), all_numbers(loaded)
    made = make_backup(loaded, str(place))
    undisturbed = loaded.with_name("undisturbed")
    shutil.copytree(loaded, undisturbed)
    shutil.rmtree(loaded)
    report = restore(str(place), loaded)
    assert (report.name, report.generation, report.files) == (made.name, "gen-000001.duckdb", 3)
    assert sorted(path.name for path in loaded.iterdir()) == [
        "CURRENT", "gen-000001.duckdb", "lock", "memory.sqlite", "naming.toml",
    ]  # fmt: skip
    assert (contents(loaded), all_numbers(loaded)) == (tables, numbers)
    assert TeamMemory(loaded).read().acknowledgements["alert"].note == "seen"
    with (logs / "growing.jsonl").open("a") as stream:
        stream.write("".join(session("g", turns=(1, 2)).splitlines(keepends=True)[6:]))
    assert load([logs], loaded).unchanged == load([logs], undisturbed).unchanged == 1
    assert contents(loaded) == contents(undisturbed)


@pytest.mark.thorough
def test_what_only_its_owner_could_read_stays_so(loaded: Path, place: Path) -> None:
    TeamMemory(loaded).acknowledge("alert", note="seen", by="ada")
    for name, mode in (("users.json", 0o600), ("sign_in.key", 0o600), ("naming.toml", 0o644)):
        (loaded / name).write_text("")
        (loaded / name).chmod(mode)
    (loaded / "memory.sqlite").chmod(0o600)
    make_backup(loaded, place, with_keys=True)
    restored = loaded.with_name("restored")
    restored.mkdir()
    restored.chmod(0o2770)  # a store that its group shares
    restore(place, restored)
    modes = {
        path.name: path.stat().st_mode & 0o777 for path in restored.iterdir() if path.suffix != ".duckdb"
    }
    private = {"users.json", "sign_in.key", "memory.sqlite"}
    assert {name for name, mode in modes.items() if not mode & 0o077} == private
    own = loaded.with_name("own")
    restore(place, own)
    assert not any(path.stat().st_mode & 0o077 for path in (own, *own.iterdir()))


@pytest.mark.thorough
def test_only_what_changed_is_sent_again(loaded: Path, logs: Path, place: Path) -> None:
    first = make_backup(loaded, place)
    assert first.bytes_sent == first.bytes
    (loaded / "naming.toml").write_text("# new\n")
    second = make_backup(loaded, place)
    assert (second.bytes_sent, second.backups) == (len("# new\n"), 2)
    third = make_backup(loaded, place)
    assert (third.unchanged, third.name, third.bytes_sent, third.backups) == (True, second.name, 0, 2)


@pytest.mark.thorough
def test_the_newest_are_kept_and_nothing_of_the_others(loaded: Path, place: Path) -> None:
    names = []
    for number in range(3):
        (loaded / "naming.toml").write_text(f"# {number} {'x' * 50}\n")
        names.append(make_backup(loaded, place, keep=2).name)
    assert sorted(names[-2:]) == list(list_backups(open_place(place)))
    assert read_record(loaded) == {str(place): sorted(names[-2:])}
    assert not [path for path in (place / "pieces").iterdir() if b"# 0" in path.read_bytes()]
    for name in names[-2:]:
        assert verify_backup(place, backup=name).files == 2


@pytest.mark.thorough
def test_what_was_removed_from_a_store_goes_from_its_backups(logs: Path, store: Path, place: Path) -> None:
    (logs / "a.jsonl").write_text(session("young", day=20) + session("hummingbird", day=1))
    load([logs], store)
    make_backup(store, place)
    apply_retention(store, fact_days=5, today=date(2026, 11, 21))
    report = make_backup(store, place, keep=1)
    assert len(report.removed) == 1
    restored = store.with_name("restored")
    restore(place, restored)
    assert "hummingbird" not in json.dumps(contents(restored))


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def lose_a_piece(place: Path) -> None:
    max((place / "pieces").iterdir(), key=lambda path: path.stat().st_size).unlink()


def change_a_piece(place: Path) -> None:
    damage(max((place / "pieces").iterdir(), key=lambda path: path.stat().st_size))


def change_the_list(place: Path) -> None:
    damage(next((place / "backups").iterdir()))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("harm", [lose_a_piece, change_a_piece, change_the_list])
def test_a_damaged_backup_is_told_and_replaces_nothing(
    loaded: Path, place: Path, harm: Callable[[Path], None]
) -> None:
    make_backup(loaded, place)
    before = contents(loaded)
    harm(place)
    with pytest.raises(BackupError):
        verify_backup(place)
    with pytest.raises(BackupError):
        restore(place, loaded, replace=True)
    assert contents(loaded) == before
    assert sorted(path.name for path in loaded.iterdir()) == [
        "CURRENT", "backups.json", "gen-000001.duckdb", "lock",
    ]  # fmt: skip
    (loaded / "naming.toml").write_text("")
    if harm is not change_a_piece:
        make_backup(loaded, place, keep=1)
        assert verify_backup(place).rows["tool_calls"] > 0


@pytest.mark.thorough
def test_a_damaged_store_is_told_and_is_no_backup(loaded: Path, place: Path) -> None:
    make_backup(loaded, place)
    generation = loaded / "gen-000001.duckdb"
    with opened(generation) as con:
        con.execute("DELETE FROM daily_calls WHERE calls = (SELECT min(calls) FROM daily_calls)")
    with pytest.raises(StoreError, match="do not add up"):
        verify_store(loaded)
    TeamMemory(loaded).set_goal("mended", 0.5)
    data = (loaded / "memory.sqlite").read_bytes()
    (loaded / "memory.sqlite").write_bytes(data[:5000] + b"x" * 5000)
    with pytest.raises(StoreError, match=r"memory\.sqlite is damaged"):
        make_backup(loaded, place)
    generation.write_bytes(generation.read_bytes()[:100_000])
    with pytest.raises(StoreError, match="cannot be read"):
        make_backup(loaded, place)
    assert len(list_backups(open_place(place))) == 1


@pytest.mark.thorough
def test_verify_says_what_is_there(loaded: Path, place: Path) -> None:
    TeamMemory(loaded).set_goal("mended", 0.5)
    make_backup(loaded, place)
    of_store, of_backup = verify_store(loaded), verify_backup(place)
    assert (of_store.files, of_store.generation) == (2, "gen-000001.duckdb")
    assert dict(of_store.rows) == dict(of_backup.rows)
    assert of_backup.rows["sessions"] == 9


@pytest.mark.thorough
def test_a_folder_with_something_in_it_is_replaced_only_when_asked(
    loaded: Path, place: Path, logs: Path
) -> None:
    make_backup(loaded, place)
    before = contents(loaded)
    (logs / "b.jsonl").write_text(session("later"))
    load([logs], loaded)
    with pytest.raises(StoreError, match="add --replace"):
        restore(place, loaded)
    assert restore(place, loaded, replace=True).generation == "gen-000003.duckdb"
    assert contents(loaded) == before
    with pytest.raises(StoreError, match="is not empty"):
        restore(place, logs)


@pytest.mark.thorough
def test_a_disk_that_is_full_is_told_and_the_backups_stay(
    loaded: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_backup(loaded, place)
    (loaded / "naming.toml").write_text("")
    (loaded / "other.toml").write_text("x")

    def refuse(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ingest.backup.places.os.fsync", refuse)
    with pytest.raises(BackupError, match="No space left on device; free some space"):
        make_backup(loaded, place)
    monkeypatch.undo()
    assert not list(place.rglob("*.part"))
    assert verify_backup(place).files == 1


@pytest.mark.thorough
def test_a_generation_that_a_load_removes_meanwhile_is_no_matter(
    loaded: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = loaded / "gen-000001.duckdb"
    answers = iter([whole, loaded / "gen-000000.duckdb", whole, whole])
    monkeypatch.setattr(backups, "published_generation", lambda _store: next(answers))
    assert make_backup(loaded, place).generation == "gen-000001.duckdb"


def test_the_newest_backup_is_the_last_even_if_the_clock_was_ahead(place: Path) -> None:
    years = (2026, 2028, 2027)
    for year in years:
        manifest = Manifest(
            made_at=f"{year}-02-03T04:05:06.000007+00:00",
            callgauge_version="1",
            schema_version=1,
            generation="gen-000001.duckdb",
            files=(),
            rows={},
        )
        write_manifest(open_place(place), manifest)
    made = [read_manifest(open_place(place), name).made_at for name in list_backups(open_place(place))]
    assert [int(text[:4]) for text in made] == [*years]


@pytest.mark.thorough
def test_two_at_once_do_not_write_into_one_place(loaded: Path, place: Path) -> None:
    with open_place(place).hold(), pytest.raises(BackupError, match="is writing another backup"):
        make_backup(loaded, place)


@pytest.mark.parametrize("name", ["../stolen", "/stolen", "CURRENT", "building.duckdb", "gen-000009.duckdb"])
def test_a_forged_list_of_files_writes_nothing(place: Path, tmp_path: Path, name: str) -> None:
    generation = "gen-000001.duckdb"
    files = tuple(BackupFile(file_name, 0, sha256(b"").hexdigest(), ()) for file_name in (generation, name))
    manifest = Manifest(
        made_at="2026-11-27T00:00:00",
        callgauge_version="1",
        schema_version=7,
        generation=generation,
        files=files,
        rows={},
    )
    write_manifest(open_place(place), manifest)
    with pytest.raises(BackupError, match="outside of the store"):
        restore(place, tmp_path / "new")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["lock"]


def test_a_forged_piece_is_not_read(place: Path, tmp_path: Path) -> None:
    """The list of pieces names a file outside the backup, which could be endless."""
    (tmp_path / "secret").write_bytes(b"secret")
    name = "gen-000001.duckdb"
    file = BackupFile(name, 6, sha256(b"secret").hexdigest(), ("../../secret",))
    with pytest.raises(BackupError, match="outside of the backup"):
        list(read_pieces(open_place(place), file))


def test_places_and_options_must_make_sense(loaded: Path, store: Path, tmp_path: Path) -> None:
    for to in ("https://host/x", store / "backups", tmp_path):
        with pytest.raises(OptionError):
            make_backup(loaded, to)
    with pytest.raises(OptionError, match="at least 1"):
        make_backup(loaded, tmp_path / "b", keep=0)
    with pytest.raises(InputError):
        make_backup(tmp_path / "nothing", tmp_path / "b")
    with pytest.raises(BackupError, match="no backup in"):
        restore(tmp_path / "b", tmp_path / "new")
