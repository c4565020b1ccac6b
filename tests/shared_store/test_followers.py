"""Tests a folder that fetches each newly published file of its shared store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from ingest.store.shared.follower import Follower
from ingest.store.shared.outage import OUTAGE, note_outage, read_outage
from ingest.store.shared.place import SharedPlace
from tests.bucket import forget_drivers
from tests.shared_store.conftest import belongs
from tests.store.night import count, session

MakeFolder = Callable[[str], Path]


@pytest.mark.thorough
def test_what_is_new_shows_and_what_is_open_stays_readable(s3: Any, logs: Path, folder: MakeFolder) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("loader"))
    follower = Follower(belongs(folder("reader")))
    follower.look()
    first = published_generation(folder("reader"))
    assert first is not None
    with duckdb.connect(str(first), read_only=True) as con:
        for number in range(3):
            (logs / f"b{number}").write_text(session(f"t{number}"))
            load([logs], folder("loader"))
            follower.look()
        assert count(folder("reader"), "sessions") == 4
        assert not first.exists()
        assert con.sql("SELECT count(*) FROM sessions").fetchall() == [(1,)]
    assert len(list(folder("reader").glob("gen-*"))) == 2  # a reader may still open the previous store file


@pytest.mark.thorough
def test_a_follower_asks_only_whether_something_is_new(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("loader"))
    shared = belongs(folder("reader"))
    follower = Follower(shared)
    follower.look()
    requests: list[str] = []
    request = SharedPlace._request

    def note(place: SharedPlace, what: str, name: str, **more: Any) -> Any:
        requests.append(what)
        return request(place, what, name, **more)

    monkeypatch.setattr(SharedPlace, "_request", note)
    monkeypatch.setattr(SharedPlace, "read", lambda *_: pytest.fail("it read the content"))
    follower.look()
    assert requests == ["head_object"]


@pytest.mark.thorough
def test_an_object_store_that_is_gone_is_told_and_the_folder_goes_on(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("loader"))
    Follower(belongs(folder("reader"))).look()
    with monkeypatch.context() as gone:
        gone.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        forget_drivers()
        follower = Follower(belongs(folder("reader")))
        follower.look()
        outage = read_outage(folder("reader"))
        assert outage is not None
        assert "s3://logs/team/store cannot be reached" in outage.problem
        assert count(folder("reader"), "sessions") == 1
        note_outage(folder("reader"), "something else")
        again = read_outage(folder("reader"))
        assert again is not None
        assert again.since == outage.since
    forget_drivers()
    Follower(belongs(folder("reader"))).look()
    assert read_outage(folder("reader")) is None


@pytest.mark.thorough
def test_a_bucket_without_a_store_is_no_problem_of_the_object_store(s3: Any, folder: MakeFolder) -> None:
    Follower(belongs(folder("reader"))).look()
    assert read_outage(folder("reader")) is None
    assert published_generation(folder("reader")) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"since": "then", "problem": 1}'])
def test_a_damaged_note_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / OUTAGE).write_text(content)
    assert read_outage(tmp_path) is None


@pytest.mark.thorough
def test_a_download_that_breaks_off_leaves_what_was_there(
    s3: Any, logs: Path, folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], folder("loader"))
    shared = belongs(folder("reader"))

    def break_off(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(shared.place), "read_range", break_off)
    Follower(shared).look()
    outage = read_outage(folder("reader"))
    assert outage is not None
    assert "free some space" in outage.problem
    assert not list(folder("reader").glob("*.part"))
