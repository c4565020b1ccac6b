"""Tests that unreadable lines are listed with their positions, and can be read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import InputError
from ingest.formats import formats
from ingest.load_report import ForeignKind, Reject
from ingest.maintenance.rejects import list_rejects, retry_rejected
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.store.night import count, rows_by_reference, session

TOOL = {"name": "read", "input_schema": {"properties": {"path": {"type": "string"}}}}


@pytest.fixture
def loaded(logs: Path, store: Path) -> Path:
    (logs / "a.jsonl").write_text(session("a") + "broken\n" + session("b"))
    (logs / "b.log").write_text(session("c") + "[1]\n")
    (logs / "c.bin").write_bytes(bytes(100))
    load([logs], store)
    return store


def test_rejects_are_listed_by_file_and_place(logs: Path, loaded: Path) -> None:
    first, second, third = list_rejects(loaded)
    line = len(session("a").splitlines()) + 1
    place = (first.file, first.line, first.byte_offset)
    assert place == (str(logs / "a.jsonl"), line, len(session("a")))
    assert (first.code, first.message[:9], first.snippet) == ("not_json", "not JSON:", "broken")
    assert (second.file, second.code) == (str(logs / "b.log"), "not_an_object")
    fields = (str(logs / "c.bin"), None, None, "unreadable", "the file is a binary file", "")
    assert third == Reject(*fields, foreign=ForeignKind.BINARY)


def test_they_can_be_chosen_by_file_and_code(loaded: Path) -> None:
    def chosen(**words: Any) -> list[str]:
        return [reject.code for reject in list_rejects(loaded, **words)]

    assert chosen(files="*.log") == ["not_an_object"]
    assert chosen(files="a.*") == ["not_json"]
    assert chosen(files="*/logs/c*") == chosen(code="unreadable") == ["unreadable"]
    assert chosen(files="*.log", code="not_json") == []


def test_where_nothing_was_loaded_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing has been loaded into .* yet"):
        list(list_rejects(tmp_path / "none"))


@pytest.mark.thorough
def test_a_retry_reads_again_what_an_upgrade_can_read(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "good.jsonl").write_text(session("good"))
    (logs / "bad.jsonl").write_text(session("s"))
    with monkeypatch.context() as older:
        form = formats()["session_history"]
        older.setattr(form, "recognise", lambda head: "good" in str(head))
        load([logs], store)
    assert [reject.code for reject in list_rejects(store)] == ["unreadable"]
    report, left = retry_rejected(store)
    assert report is not None
    assert (report.loaded, report.unchanged, left) == (1, 0, [])
    assert list(list_rejects(store)) == []
    fresh = store.with_name("fresh")
    load([logs], fresh)
    assert rows_by_reference(store) == rows_by_reference(fresh)


@pytest.mark.thorough
def test_a_retry_replaces_and_doubles_nothing(logs: Path, loaded: Path) -> None:
    before = rows_by_reference(loaded)
    report, _ = retry_rejected(loaded, files="a.jsonl")
    assert report is not None
    assert (report.loaded, report.rejects) == (1, 1)
    assert rows_by_reference(loaded) == before
    assert count(loaded, "files") == 3


@pytest.mark.thorough
def test_a_file_that_is_gone_keeps_its_rows(logs: Path, loaded: Path) -> None:
    (logs / "a.jsonl").unlink()
    before = rows_by_reference(loaded)
    report, left = retry_rejected(loaded, code="not_json")
    assert (report, left) == (None, [f"{logs / 'a.jsonl'} is no longer there"])
    assert rows_by_reference(loaded) == before


@pytest.mark.thorough
def test_a_file_that_was_read_with_definitions_is_not_read_without(logs: Path, store: Path) -> None:
    tools = logs.with_name("tools.json")
    tools.write_text(json.dumps([TOOL]))
    (logs / "a.jsonl").write_text(session("a") + "broken\n")
    load([logs], store, tools=[tools])
    report, left = retry_rejected(store)
    assert report is None
    assert left == [f"{logs / 'a.jsonl'} was read with tool definitions; name them with --tools"]
    report, left = retry_rejected(store, tools=[tools])
    assert report is not None
    assert (report.loaded, left) == (1, [])


def test_a_first_load_that_reads_nothing_publishes_nothing(logs: Path, store: Path) -> None:
    (logs / "notes.txt").write_text("no log")
    for _ in range(2):
        report = load([logs], store)
        assert (report.loaded, report.new_rejected, report.generation) == (0, 1, None)
    assert published_generation(store) is None
