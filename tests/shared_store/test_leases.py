"""Tests the lease that a load into a shared store needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import StoreBusy, StoreError
from ingest.store.generations import lock_store
from ingest.store.shared import lease
from ingest.store.shared.lease import LEASE, Lease, hold_lease
from tests.bucket import BUCKET, forget_drivers
from tests.shared_store.conftest import ADDRESS, belongs

MakeFolder = Callable[[str], Path]


def refuse(who: str) -> None:
    raise StoreBusy(who)


def take(folder: Path) -> Lease:
    shared = belongs(folder)
    lease = Lease(shared.place, shared.folder_id)
    lease.take(refuse)
    return lease


def test_a_lease_that_is_not_renewed_is_taken_over(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = take(folder("one"))
    with pytest.raises(StoreBusy):
        take(folder("two"))
    monkeypatch.setattr(lease, "LASTS", timedelta(0))
    take(folder("two"))
    monkeypatch.undo()
    dead.renew()
    with pytest.raises(StoreBusy, match="lost its lease"):
        dead.check()
    dead.release()
    with pytest.raises(StoreBusy):
        take(folder("three"))


@pytest.mark.thorough
def test_a_load_that_was_killed_in_the_same_folder_does_not_bar_the_next(s3: Any, folder: MakeFolder) -> None:
    take(folder("one"))
    take(folder("one"))


@pytest.mark.thorough
def test_a_lease_is_given_back(s3: Any, folder: MakeFolder) -> None:
    shared = belongs(folder("one"))
    with hold_lease(shared.place, shared.folder_id, refuse) as lease:
        lease.check()
        with pytest.raises(StoreBusy):
            take(folder("two"))
    take(folder("two"))


@pytest.mark.thorough
def test_a_lease_is_renewed_while_a_load_goes_on(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_RENEWED_EVERY", 0.01)
    shared = belongs(folder("one"))
    with hold_lease(shared.place, shared.folder_id, refuse):
        first = shared.place.find(LEASE)
        assert first is not None
        while (later := shared.place.find(LEASE)) is not None and later.etag == first.etag:
            pass
    assert later is not None


@pytest.mark.thorough
def test_a_lease_that_could_not_be_renewed_in_time_is_lost(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_lease = take(folder("one"))
    monkeypatch.setattr(lease, "LASTS", timedelta(0))
    with pytest.raises(StoreBusy, match="lost its lease"):
        own_lease.check()


@pytest.mark.thorough
@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_a_file_of_others_in_its_place_counts_as_a_lease_until_it_is_old(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    s3.put_object(Bucket=BUCKET, Key=f"team/store/{LEASE}", Body=content)
    with pytest.raises(StoreBusy, match="another process since an unknown time"):
        take(folder("one"))
    monkeypatch.setattr(lease, "LASTS", timedelta(0))
    take(folder("one"))


@pytest.mark.thorough
def test_a_store_that_cannot_be_reached_stops_a_load(
    s3: Any, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    forget_drivers()
    with pytest.raises(StoreError, match=rf"{ADDRESS} cannot be reached"), lock_store(folder("one")):
        pass


@pytest.mark.thorough
def test_a_lease_names_its_holder(s3: Any, folder: MakeFolder) -> None:
    take(folder("one"))
    content = s3.get_object(Bucket=BUCKET, Key=f"team/store/{LEASE}")["Body"].read()
    assert json.loads(content)["holder"].startswith("process ")
