"""A loader and readers of one shared store, each with a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingest.pipeline.load import load
from ingest.store.shared.link import read_link
from ingest.store.shared.shared_folder import SharedFolder, open_shared_folder
from tests.bucket import BUCKET
from tests.store.night import count, session


def shared(folder: Path) -> SharedFolder:
    link = read_link(folder)
    assert link is not None
    return open_shared_folder(folder, link)


def names(s3: Any) -> list[str]:
    return sorted(one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []))


def test_what_one_machine_loads_others_read(s3: Any, logs: Path, folder: Callable[[str], Path]) -> None:
    (logs / "a").write_text(session("s1"))
    loader, *readers = folder("loader"), folder("one"), folder("two")
    load([logs], loader)
    for reader in readers:
        shared(reader).fetch()
        assert count(reader, "sessions") == 1
    (logs / "b").write_text(session("s2"))
    load([logs], loader)
    assert count(readers[0], "sessions") == 1
    for reader in readers:
        shared(reader).fetch()
        assert count(reader, "sessions") == 2
    print(names(s3))
    print(list(loader.iterdir()), list(readers[0].iterdir()))
    print(s3.get_object(Bucket=BUCKET, Key="team/store/CURRENT")["Body"].read().decode())
    print(s3.get_object(Bucket=BUCKET, Key="team/store/lease")["Body"].read().decode())
