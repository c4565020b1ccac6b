"""Tests object storage whose content no load could write, and missing credentials."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ingest.errors import OptionError, StoreError
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from ingest.store.shared.link import LINK, link_folder, read_link
from ingest.store.shared.place import UnreachableError
from ingest.store.shared.pointer import Pointer, Replaced, find_unnamed, read_pointer
from tests.bucket import BUCKET, forget_drivers
from tests.shared_store.conftest import ADDRESS, belongs, keys
from tests.store.night import count, session

MakeFolder = Callable[[str], Path]
CURRENT = "team/store/CURRENT"


@pytest.fixture
def reader(s3: Any, logs: Path, folder: MakeFolder) -> Path:
    """Return a folder that has fetched a store file of one session. Since then, a newer store file was
    published.
    """
    (logs / "a").write_text(session("s1"))
    load([logs], folder("loader"))
    belongs(folder("reader")).fetch()
    (logs / "b").write_text(session("s2"))
    load([logs], folder("loader"))
    return folder("reader")


def read_current(s3: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(s3.get_object(Bucket=BUCKET, Key=CURRENT)["Body"].read())
    return content


POINTER = Pointer(
    "gen-000002-0123456789ab.duckdb", 10, "0" * 64, {"seg-0123456789ab.duckdb": 5}, datetime.now(UTC)
)


def test_a_pointer_is_read_as_it_was_written() -> None:
    later = replace(POINTER, generation="gen-000003-0123456789ab.duckdb").follow(POINTER)
    assert read_pointer(later.to_json(), ADDRESS) == later
    alone = replace(POINTER, generation="gen-000004-0123456789ab.duckdb").follow(later, alone=True)
    present = dict.fromkeys([*POINTER.files, *later.files, *alone.files], datetime.now(UTC))
    hour, day = timedelta(hours=1), timedelta(days=1)
    assert not set(
        find_unnamed(later, {name: present[name] for name in POINTER.files}, later.published_at, hour, day)
    )
    assert set(find_unnamed(alone, present, alone.published_at, hour, day)) == {
        "gen-000002-0123456789ab.duckdb",
        "gen-000003-0123456789ab.duckdb",
    }
    assert later.replaced == (Replaced(["gen-000002-0123456789ab.duckdb"], POINTER.published_at),)


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "../../etc/passwd"},
        {"generation": "gen-000002-0123456789ab.duckdb/../x"},
        {"generation": "building.duckdb"},
        {"generation": "gen-000002.duckdb"},
        {"generation": 1},
        {"segments": {"../seg-0123456789ab.duckdb": 5}},
        {"segments": {"seg-0123456789ab.duckdb": -1}},
        {"segments": {"seg-0123456789ab.duckdb": True}},
        {"segments": []},
        {"segments": "seg-0123456789ab.duckdb"},
        {"size": "10"},
        {"sha256": "0"},
        {"published_at": "yesterday"},
        {"published_at": "2026-11-01T00:00:00"},
        {"replaced": [{"files": 1, "at": "2026-11-01T00:00:00+00:00"}]},
    ],
    ids=str,
)
def test_a_pointer_to_what_is_no_generation_is_refused(change: dict[str, Any]) -> None:
    fields = json.loads(POINTER.to_json()) | change
    with pytest.raises(
        StoreError, match=r"CURRENT in .* is not a file of Callgauge; check the address, or restore"
    ):
        read_pointer(json.dumps(fields).encode(), ADDRESS)


@pytest.mark.parametrize("content", [b"", b"gen-000001.duckdb\n", b"[]", b"{}", b"\xff\xfe", b"[" * 200_000])
def test_a_pointer_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(
        StoreError, match=r"CURRENT in .* is not a file of Callgauge; check the address, or restore"
    ):
        read_pointer(content, ADDRESS)


def test_a_pointer_of_a_later_version_asks_for_an_update() -> None:
    with pytest.raises(StoreError, match=r"newer version of Callgauge"):
        read_pointer(POINTER.to_json().replace(b'"format": 1', b'"format": 2'), ADDRESS)


@pytest.mark.thorough
@pytest.mark.parametrize("content", [b"../../etc/passwd", b" " * 5_000_000], ids=["path", "large"])
def test_a_reader_stays_with_what_it_has(s3: Any, reader: Path, content: bytes) -> None:
    s3.put_object(Bucket=BUCKET, Key=CURRENT, Body=content)
    with pytest.raises(StoreError, match=r"is not a file of Callgauge"):
        belongs(reader).fetch()
    assert count(reader, "sessions") == 1


@pytest.mark.thorough
def test_a_generation_that_is_not_what_was_published_is_not_shown(s3: Any, reader: Path) -> None:
    key = f"team/store/{read_current(s3)['generation']}"
    whole = s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    before = sorted(path.name for path in reader.iterdir())
    for damaged in (whole[:-4096], whole[:-1] + b"0", None):
        if damaged is None:
            s3.delete_object(Bucket=BUCKET, Key=key)
        else:
            s3.put_object(Bucket=BUCKET, Key=key, Body=damaged)
        with pytest.raises(StoreError, match=r"differs from the published file|cannot be reached"):
            belongs(reader).fetch()
        assert count(reader, "sessions") == 1
        assert sorted(path.name for path in reader.iterdir()) == before
    s3.put_object(Bucket=BUCKET, Key=key, Body=whole)
    belongs(reader).fetch()
    assert count(reader, "sessions") == 2


@pytest.mark.thorough
def test_files_of_others_are_left_alone(s3: Any, reader: Path, logs: Path) -> None:
    for name in ("notes.txt", "gen-1.duckdb", "seg-.duckdb", "sub/gen-000001-0123456789ab.duckdb", ".hidden"):
        s3.put_object(Bucket=BUCKET, Key=f"team/store/{name}", Body=b"mine")
    (logs / "c").write_text(session("s3"))
    load([logs], reader)
    assert {"notes.txt", "gen-1.duckdb", "seg-.duckdb", ".hidden"} <= set(keys(s3))
    assert "sub/gen-000001-0123456789ab.duckdb" in keys(s3)


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:secret@bucket/store", "s3://bucket/store?token=secret", "s3://bucket/../other",
        "s3://bucket/a/./b", "s3://", "s3:///store", "gs://bucket/store", "s3://bucket//store",
        "s3://bucket/secret store",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_without_being_repeated(tmp_path: Path, address: str) -> None:
    with pytest.raises(OptionError, match=r"is s3://BUCKET/FOLDER") as refused:
        link_folder(tmp_path / "store", address)
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "store").exists()


def test_a_folder_belongs_to_one_shared_store(tmp_path: Path) -> None:
    link_folder(tmp_path, f"{ADDRESS}/")
    link_folder(tmp_path, ADDRESS)
    with pytest.raises(OptionError, match=r"belongs to s3://logs/team/store"):
        link_folder(tmp_path, "s3://logs/other")


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"address": "s3://a:b@c", "folder_id": "0123456789abcdef"}']
)
def test_a_damaged_link_is_no_store_of_this_machine_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / LINK).write_text(content)
    with pytest.raises(StoreError, match=r"cannot be read; move the folder away"):
        read_link(tmp_path)


@pytest.mark.thorough
def test_credentials_that_are_missing_are_asked_for(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    forget_drivers()
    link_folder(tmp_path / "store", "s3://logs/without-credentials")
    with pytest.raises(UnreachableError, match=r"give credentials: AWS_PROFILE"):
        belongs(tmp_path / "store").fetch()


def test_a_password_in_the_address_of_the_server_is_not_said(
    folder: MakeFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:geheim@127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    forget_drivers()
    link_folder(tmp_path / "store", "s3://logs/with-password")
    with pytest.raises(UnreachableError, match=r"check the network") as refused:
        belongs(tmp_path / "store").fetch()
    assert "geheim" not in str(refused.value)


@pytest.mark.thorough
def test_a_bucket_that_is_missing_is_named(s3: Any, tmp_path: Path) -> None:
    link_folder(tmp_path / "store", "s3://nowhere/store")
    with pytest.raises(UnreachableError, match=r"s3://nowhere/store .* check the name of the bucket"):
        belongs(tmp_path / "store").fetch()
    assert published_generation(tmp_path / "store") is None
