"""Tests `--dry-run`. The forecast equals the later load. A dry run writes nothing and does not wait for a
lock.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from ingest.decoding.lines import MAX_LINE
from ingest.pipeline.dry_run import LoadForecast, PlannedAction, forecast_load
from ingest.pipeline.load import load
from ingest.sources.local_files import LocalFile
from ingest.store.generations import ignore_write, lock_store
from tests.sources.archives import tarred, zipped
from tests.store.night import session


def count_by_kind(outlook: LoadForecast) -> dict[str, tuple[str | None, int]]:
    files: dict[str, int] = {}
    forms: dict[str, str | None] = {}
    for share in outlook.shares:
        files[share.would] = files.get(share.would, 0) + share.files
        forms[share.would] = share.form or forms.get(share.would)
    return {would: (forms[would], count) for would, count in files.items()}


def test_every_kind_of_file_is_foretold(logs: Path, store: Path) -> None:
    for name in ("grows", "changes", "stays", "is-touched"):
        (logs / name).write_text(session(name))
    (logs / "is-refused").write_text("no log")
    load([logs], store)
    with (logs / "grows").open("a") as file:
        file.write(session("more"))
    (logs / "changes").write_text(session("other"))
    (logs / "is-new.gz").write_bytes(gzip.compress(session("new").encode()))
    (logs / "is-copied.gz").write_bytes(gzip.compress(session("stays").encode()))
    os.utime(logs / "is-touched", (1, 1))
    zipped(logs / "archive", {"a": session("zipped").encode(), "b": b"no log"})
    outlook = forecast_load([logs], store)
    assert count_by_kind(outlook) == {
        "new": ("session_history", 2),
        "grown": ("session_history", 1),
        "changed": ("session_history", 1),
        "alike": ("session_history", 2),
        "unchanged": ("session_history", 1),
        "rejected": (None, 2),
    }
    assert [Path(rejected.path).name for rejected in outlook.rejected] == ["is-refused", "archive!b"]
    report = load([logs], store)
    assert (report.loaded, report.unchanged, len(report.rejected)) == (4, 3, 2)
    assert count_by_kind(forecast_load([logs], store)) == {
        "unchanged": ("session_history", 7),
        "rejected": (None, 2),
    }


@pytest.mark.thorough
def test_it_changes_nothing_and_needs_no_lock(logs: Path, store: Path) -> None:
    (logs / "a").write_text(session("s1"))
    assert count_by_kind(forecast_load([logs], store)) == {"new": ("session_history", 1)}
    assert not store.exists()
    load([logs], store)
    (logs / "b").write_text(session("s2"))
    before = {path: path.stat().st_mtime_ns for path in store.iterdir() if path.name != "lock"}
    with lock_store(store, ignore_write):
        assert count_by_kind(forecast_load([logs], store))["new"] == ("session_history", 1)
    after = {path: path.stat().st_mtime_ns for path in store.iterdir() if path.name != "lock"}
    assert after == before


def test_it_reads_only_the_beginning_of_each_file(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a").write_text(session("s1") * 10_000)
    read = 0
    really = LocalFile.open

    def counting(place: LocalFile) -> object:
        file = really(place)
        readinto = file.readinto

        class Counting:
            def __getattr__(self, name: str) -> object:
                return getattr(file, name)

            def readinto(self, buffer: bytearray) -> int:
                nonlocal read
                count = readinto(buffer) or 0
                read += count
                return count

        return Counting()

    monkeypatch.setattr(LocalFile, "open", counting)
    (share,) = forecast_load([logs], store).shares
    assert (share.would, share.files, share.bytes) == (PlannedAction.NEW, 1, (logs / "a").stat().st_size)
    assert 0 < read < 1_000_000 < share.bytes


def test_the_bytes_are_those_that_are_stored(logs: Path, store: Path) -> None:
    (logs / "a.gz").write_bytes(gzip.compress(session("s1").encode()))
    (share,) = forecast_load([logs], store).shares
    assert share.bytes == (logs / "a.gz").stat().st_size


@pytest.mark.thorough
def test_options_that_see_more_read_again(logs: Path, store: Path, tmp_path: Path) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], store)
    tools = tmp_path / "tools.json"
    tools.write_text('{"name": "read", "parameters": {}}')
    assert count_by_kind(forecast_load([logs], store, tools=[tools])) == {"again": ("session_history", 1)}
    assert count_by_kind(forecast_load([logs], store, form="claude_code")) == {"again": ("claude_code", 1)}
    assert count_by_kind(forecast_load([logs], store, max_line=MAX_LINE + 1)) == {
        "unchanged": ("session_history", 1)
    }


def test_what_is_left_out_is_counted(logs: Path, store: Path) -> None:
    for number in range(4):
        (logs / f"{number}").write_text(session(f"s{number}"))
    os.utime(logs / "0", (1, 1))
    outlook = forecast_load([logs], store, since="1d", limit=2)
    assert (count_by_kind(outlook), outlook.left) == ({"new": ("session_history", 2)}, 2)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", ["tar", "tar.gz"])
def test_an_archive_is_foretold_member_by_member(logs: Path, store: Path, packing: str) -> None:
    made = tarred({"a": session("s1").encode(), "b": session("s2").encode()})
    (logs / "night").write_bytes(gzip.compress(made) if packing == "tar.gz" else made)
    assert count_by_kind(forecast_load([logs], store)) == {"new": ("session_history", 2)}
    load([logs], store)
    assert count_by_kind(forecast_load([logs], store)) == {"unchanged": ("session_history", 2)}
