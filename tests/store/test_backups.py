"""A lost disk is no lost history: a backup is whole or not there, and what is restored is what was."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.backup.make_backup import make_backup
from ingest.pipeline.load import load
from tests.store.night import session


def files_of(place: Path) -> dict[str, int]:
    return {str(path.relative_to(place)): path.stat().st_size for path in place.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def test_only_what_changed_is_sent_again(logs: Path, store: Path, place: Path) -> None:
    (logs / "a.jsonl").write_text("".join(session(f"a{n}") for n in range(40)))
    load([logs], store)
    first = make_backup(store, place)
    assert first.bytes_sent == first.bytes
    (logs / "b.jsonl").write_text(session("b", day=2))
    load([logs], store)
    second = make_backup(store, place)
    third = make_backup(store, place)
    assert third.unchanged
