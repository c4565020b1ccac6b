"""Tests a shared store with several readers, with one load and with two loads at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.backup.verify import verify_store
from ingest.errors import OptionError, StoreBusy, StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.pipeline.load import load
from ingest.store.generations import lock_store, published_generation
from ingest.store.shared import shared_folder
from ingest.store.shared.lease import Lease
from ingest.store.shared.link import LINK, link_folder
from ingest.store.shared.place import SharedPlace
from tests.shared_store.conftest import ADDRESS, AT_ONCE, belongs, keys
from tests.store.night import contents, count, session

MakeFolder = Callable[[str], Path]


def test_what_one_machine_loads_others_read(s3: Any, logs: Path, folder: MakeFolder) -> None:
    (logs / "a").write_text(session("s1"))
    loader, *readers = folder("loader"), folder("one"), folder("two")
    load([logs], loader)
    for reader in readers:
        belongs(reader).fetch()
        assert contents(reader) == contents(loader)
    (logs / "b").write_text(session("s2"))
    load([logs], loader)
    assert count(readers[0], "sessions") == 1
    for reader in readers:
        belongs(reader).fetch()
        assert contents(reader) == contents(loader)


@pytest.mark.thorough
def test_any_machine_may_load_next(s3: Any, logs: Path, folder: MakeFolder) -> None:
    for number, name in enumerate(("one", "two", "one", "three")):
        (logs / f"{number}").write_text(session(f"s{number}"))
        assert load([logs], folder(name)).loaded == 1
    assert count(folder("three"), "sessions") == 4


@pytest.mark.thorough
def test_a_load_that_finds_nothing_new_publishes_nothing(s3: Any, logs: Path, folder: MakeFolder) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("one"))
    before = keys(s3)
    assert load([logs], folder("two")).generation is None
    assert keys(s3) == before


@pytest.mark.thorough
def test_a_second_load_is_told_who_loads(s3: Any, logs: Path, folder: MakeFolder) -> None:
    (logs / "a").write_text(session("s1"))
    holders: list[str] = []

    def wait_twice(who: str) -> bool:
        holders.append(who)
        return len(holders) < 2

    with lock_store(folder("one")):
        with pytest.raises(StoreBusy, match=r"process \d+ on .* since .* its lease ends in 1\d\d s"):
            load([logs], folder("two"))
        with pytest.raises(StoreBusy):
            load([logs], folder("two"), patience=wait_twice)
    assert len(holders) == 2
    assert load([logs], folder("two")).loaded == 1


@pytest.mark.thorough
def test_of_two_loads_at_once_one_is_published_and_the_other_says_so(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second load has taken over the lease of the first load. So only the conditional write protects the
    store.
    """
    (logs / "a").write_text(session("s1"))
    other = logs.with_name("others")
    other.mkdir()
    (other / "b").write_text(session("s2"))

    def load_at_upload(step: str) -> None:
        if step == "upload":
            with monkeypatch.context() as late:
                late.setattr(Lease, "_describe_holder", lambda *_: None)
                load([other], folder("two"))

    with pytest.raises(StoreBusy, match=r"another load has published .* no log is lost"):
        load([logs], folder("one"), on_write=load_at_upload)
    belongs(folder("three")).fetch()
    assert count(folder("three"), "sessions") == 1
    assert [key for key in keys(s3) if "gen-" in key] == [published_name(folder("two"))]
    assert load([logs], folder("one")).loaded == 1
    assert count(folder("one"), "sessions") == 2


def published_name(folder: Path) -> str:
    generation = published_generation(folder)
    assert generation is not None
    return generation.name


@pytest.mark.thorough
def test_what_is_forgotten_is_gone_from_the_object_store_at_once(
    s3: Any, logs: Path, folder: MakeFolder
) -> None:
    (logs / "a").write_text(session("s1") + session("s2"))
    load([logs], folder("one"))
    belongs(folder("two")).fetch()
    forget(folder("one"), SessionChoice(sessions=["s1"]))
    assert len([key for key in keys(s3) if key.startswith("gen-")]) == 1
    belongs(folder("two")).fetch()
    assert count(folder("two"), "sessions") == 1
    assert len(list(folder("two").glob("gen-*"))) == 1
    assert load([logs], folder("two")).generation is None


@pytest.mark.thorough
def test_replaced_generations_stay_for_a_while(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (logs / f"{number}").write_text(session(f"s{number}"))
        load([logs], folder("one"))
    assert len([key for key in keys(s3) if key.startswith("gen-")]) == 3
    monkeypatch.setattr(shared_folder, "GRACE", AT_ONCE)
    with lock_store(folder("two")):
        assert len([key for key in keys(s3) if key.startswith("gen-")]) == 1


@pytest.mark.thorough
def test_a_store_moves_into_an_object_store_by_its_backup(
    s3: Any, logs: Path, folder: MakeFolder, tmp_path: Path
) -> None:
    (logs / "a").write_text(session("s1"))
    own = tmp_path / "own"
    load([logs], own)
    with pytest.raises(OptionError, match=r"callgauge restore"):
        link_folder(own, ADDRESS)
    make_backup(own, tmp_path / "backups")
    restore(tmp_path / "backups", folder("one"))
    belongs(folder("two")).fetch()
    assert contents(folder("two")) == contents(own)


@pytest.mark.thorough
def test_a_shared_store_is_verified_backed_up_and_restored(
    s3: Any, logs: Path, folder: MakeFolder, tmp_path: Path
) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("one"))
    assert verify_store(folder("one")).rows["sessions"] == 1
    make_backup(folder("one"), tmp_path / "backups")
    (logs / "b").write_text(session("s2"))
    load([logs], folder("two"))
    restore(tmp_path / "backups", folder("two"), replace=True)
    belongs(folder("three")).fetch()
    assert count(folder("three"), "sessions") == 1
    restore(tmp_path / "backups", tmp_path / "alone")
    assert not (tmp_path / "alone" / LINK).exists()  # a backup contains no address
    assert count(tmp_path / "alone", "sessions") == 1


@pytest.mark.thorough
def test_an_object_store_without_conditions_is_refused(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = SharedPlace._request

    def forget_conditions(place: SharedPlace, what: str, name: str, **more: Any) -> Any:
        return request(place, what, name, **{key: more[key] for key in more if key == "Body"})

    monkeypatch.setattr(SharedPlace, "_request", forget_conditions)
    (logs / "a").write_text(session("s1"))
    with pytest.raises(StoreError, match=r"ignores the headers If-Match"):
        load([logs], folder("one"))
    assert keys(s3) == ["lease"]


@pytest.mark.thorough
def test_an_emptied_bucket_is_not_filled_again_unasked(s3: Any, logs: Path, folder: MakeFolder) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("one"))
    for key in keys(s3):
        s3.delete_object(Bucket=ADDRESS.split("/")[2], Key=f"team/store/{key}")
    (logs / "b").write_text(session("s2"))
    with pytest.raises(StoreError, match=r"has no store any more"):
        load([logs], folder("one"))


@pytest.mark.thorough
def test_nothing_secret_is_in_the_object_store_or_the_folder(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    (logs / "a").write_text(session("s1"))
    load([logs], folder("one"))
    contents = [path.read_bytes() for path in folder("one").iterdir()]
    bucket = ADDRESS.split("/")[2]
    contents += [
        s3.get_object(Bucket=bucket, Key=f"team/store/{key}")["Body"].read() for key in ("CURRENT", "lease")
    ]
    assert not [text for text in contents if b"wJalrXUtnFEMI" in text]
    assert json.loads((folder("one") / LINK).read_text())["address"] == ADDRESS
