"""Provides an S3 server, and local folders that belong to one shared store on this server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.store.shared.link import link_folder, read_link
from ingest.store.shared.shared_folder import SharedFolder, open_shared_folder
from tests.bucket import BUCKET, s3, s3_server

__all__ = ["s3", "s3_server"]
ADDRESS = f"s3://{BUCKET}/team/store"
AT_ONCE = timedelta(seconds=-2)  # negative, because object storage cuts times to whole seconds


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a folder of the shared store, as on another machine."""

    def make(name: str) -> Path:
        link_folder(tmp_path / name, ADDRESS)
        return tmp_path / name

    return make


def belongs(folder: Path) -> SharedFolder:
    link = read_link(folder)
    assert link is not None
    return open_shared_folder(folder, link)


def keys(s3: Any) -> list[str]:
    contents = s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [entry["Key"].removeprefix("team/store/") for entry in contents]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    made = tmp_path / "logs"
    made.mkdir()
    return made
