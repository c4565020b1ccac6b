"""Tests damaged, encrypted or malicious archives."""

from __future__ import annotations

import random
import struct
import tarfile
from pathlib import Path

import pytest

from ingest.pipeline.load import load
from ingest.sources import archive_members
from ingest.sources.archive_members import list_members, look_inside
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.discovery import look_at_file
from ingest.sources.log_file import LogFile
from tests.sources.archives import ZSTD, tarred, zipped
from tests.sources.test_archives import LOGS, SOME, content_of, rejected, written
from tests.store.night import ask, count, session


@pytest.mark.thorough
@pytest.mark.parametrize("packing", ["tar", "tar.gz", "tar.zst"])
def test_of_a_tar_that_is_cut_the_whole_members_load_and_the_rest_when_it_is_there(
    logs: Path, store: Path, packing: str
) -> None:
    big = {name: content * 30 for name, content in LOGS.items()}
    whole = written(logs / "night", big, packing).read_bytes()
    (logs / "night").write_bytes(whole[: len(whole) * 6 // 10])
    report = load([logs], store)
    assert report.loaded in (1, 2)
    assert "ends in the middle" in rejected(store)["night"]
    (logs / "night").write_bytes(whole)
    load([logs], store)
    assert (count(store, "sessions"), rejected(store)) == (3, {})
    assert count(store, "files") == 3
    assert load([logs], store).generation is None


_REJECTS = "SELECT code, r.reason, path FROM rejects r JOIN files USING (file_id)"


@pytest.mark.thorough
@pytest.mark.parametrize("packing", ["tar", "tar.gz", "tar.xz"])
def test_of_the_member_in_which_a_tar_is_cut_the_whole_lines_load(
    logs: Path, store: Path, packing: str
) -> None:
    noise = random.Random(1)
    many = "".join(session(f"r{n}", raw=f'{{"path": "{noise.random()}"}}') for n in range(400)).encode()
    members = {"first.jsonl": session("one").encode(), "long.jsonl": many}
    whole = written(logs / "night", members, packing).read_bytes()
    (logs / "night").write_bytes(whole[: len(whole) * 6 // 10])
    report = load([logs], store)
    assert (report.loaded, report.rejects) == (2, 1)
    ((code, reason, name),) = ask(store, _REJECTS)
    assert (code, name.rpartition("!")[2]) == ("cut_off", "long.jsonl")
    assert reason.endswith("in the middle, here; the lines before are in")
    assert 100 < count(store, "sessions") < 380
    assert "ends in the middle" in rejected(store)["night"]
    (logs / "night").write_bytes(whole)
    assert load([logs], store).rejects == 0
    assert (count(store, "sessions"), count(store, "rejects"), rejected(store)) == (401, 0, {})
    assert load([logs], store).generation is None


def test_a_tar_without_its_end_mark_says_so(logs: Path, store: Path) -> None:
    made = tarred(LOGS)
    (logs / "night").write_bytes(made[: len(made.rstrip(b"\0")) // 512 * 512 + 512])
    assert load([logs], store).loaded == 3
    assert rejected(store) == {"night": "cannot be read: it ends in the middle: the end mark is missing"}


@pytest.mark.thorough
def test_a_zip_that_is_cut_is_refused(logs: Path, begun: Path) -> None:
    whole = zipped(logs / "night", LOGS).read_bytes()
    (logs / "night").write_bytes(whole[:-40])
    assert load([logs], begun).loaded == 0
    assert "its table of contents is damaged or cut off" in rejected(begun)["night"]
    (logs / "night").write_bytes(whole)
    assert load([logs], begun).loaded == 3
    assert rejected(begun) == {}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", ["zip", "zip.0", f"zip.{ZSTD}"])
def test_a_corrupt_member_of_a_zip_costs_itself(logs: Path, store: Path, packing: str) -> None:
    made = bytearray(written(logs / "night", LOGS, packing).read_bytes())
    made[200] ^= 0xFF
    (logs / "night").write_bytes(made)
    assert load([logs], store).loaded == 2
    ((name, reason),) = rejected(store).items()
    assert name == "s3.jsonl"
    assert reason.startswith("cannot be read")


def test_an_encrypted_zip_is_refused_member_by_member(logs: Path, store: Path) -> None:
    made = bytearray(zipped(logs / "night", LOGS).read_bytes())
    at = made.index(b"PK\x01\x02")
    made[at + 8] |= 1
    (logs / "night").write_bytes(made)
    assert load([logs], store).loaded == 2
    assert rejected(store) == {"s3.jsonl": "cannot be read: it is encrypted; unpack it with its password"}


def test_an_unknown_zip_method_is_refused(logs: Path, store: Path) -> None:
    made = bytearray(zipped(logs / "night", LOGS).read_bytes())
    made[made.index(b"PK\x01\x02") + 10] = 98
    (logs / "night").write_bytes(made)
    load([logs], store)
    assert "compressed with zip method 98, which is not supported" in rejected(store)["s3.jsonl"]


def test_members_that_share_their_bytes_are_a_bomb(logs: Path, begun: Path) -> None:
    made = bytearray(zipped(logs / "night", LOGS).read_bytes())
    first = made.index(b"PK\x01\x02")
    second = made.index(b"PK\x01\x02", first + 4)
    made[second + 42 : second + 46] = made[first + 42 : first + 46]
    (logs / "night").write_bytes(made)
    load([logs], begun)
    assert "its members overlap" in rejected(begun)["night"]


def test_a_member_that_lies_about_its_length_is_refused(logs: Path, store: Path) -> None:
    made = bytearray(zipped(logs / "night", LOGS).read_bytes())
    at = made.index(b"PK\x01\x02")
    made[at + 24 : at + 28] = struct.pack("<I", 100)
    (logs / "night").write_bytes(made)
    load([logs], store)
    assert "its length or checksum differs" in rejected(store)["s3.jsonl"]


def test_a_table_of_contents_that_would_fill_the_memory_is_refused(
    logs: Path, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_archive, "CONTENTS", 100)
    zipped(logs / "night", LOGS)
    load([logs], begun)
    assert "its table of contents has more than 100 bytes" in rejected(begun)["night"]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", SOME)
def test_an_archive_of_too_many_files_is_refused_after_as_many(
    logs: Path, store: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_members, "MEMBERS", 2)
    written(logs / "night", LOGS, packing)
    assert load([logs], store).loaded == 2
    assert "it contains more than 2 files; unpack it" in rejected(store)["night"]


def test_an_extended_header_that_would_fill_the_memory_is_refused(logs: Path, begun: Path) -> None:
    long = tarred({"x" * (tar_archive.EXTENDED + 1): b"{}"}, form=tarfile.GNU_FORMAT)
    (logs / "night").write_bytes(long)
    load([logs], begun)
    assert "it has an extended header of" in rejected(begun)["night"]


def test_damage_anywhere_is_damage_and_nothing_else(tmp_path: Path) -> None:
    chance = random.Random(7)
    path = tmp_path / "night"
    for packing in (*SOME, f"zip.{ZSTD}"):
        whole = written(path, LOGS, packing).read_bytes()
        for _ in range(60):
            broken = bytearray(whole[: chance.randrange(len(whole)) if chance.random() < 0.3 else None])
            for _ in range(chance.randrange(1, 6)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            path.write_bytes(broken)
            try:
                for member in listed_if_archive(path):
                    content_of(member)
            except OSError:
                pass


def listed_if_archive(path: Path) -> list[LogFile]:
    log_file, archive = look_inside(look_at_file(str(path)))
    return list(list_members(log_file, archive, fingerprints=True)) if archive else [log_file]
