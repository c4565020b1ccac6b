"""Tests logs that grow between loads."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.decoding.containers import Container, detect_container
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from ingest.pipeline.reading.checkpoint import unpack_state
from tests.formats.test_cases import LOGS, SAMPLES
from tests.store.night import ask, contents, count, session

GROWING = [
    path
    for path in (*LOGS, *SAMPLES)
    if path.is_file() and detect_container(path.read_bytes()[:65536]) is Container.LINES
]
PARTS = 4
# The values of these columns depend on the load that wrote the row, on the number of loads, or on the path of
# the log.
BOOKKEEPING = ("file_id", "result_file_id", "run_id", "mtime_ns", "path")
COMPARED = (
    "files", "rejects", "sessions", "prompts", "tool_definitions", "turns", "tool_calls", "diagnostics",
    "probes", "late_results", "daily_calls", "daily_turns", "daily_codes",
)  # fmt: skip


@pytest.fixture(autouse=True)
def every_log_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 0)


def tables(store: Path) -> dict[str, list[str]]:
    return contents(store, COMPARED, without=BOOKKEEPING)


def grown(folder: Path, data: bytes, cuts: list[int]) -> Path:
    """Load the log cut at each length in `cuts`, and then the whole log. Return the store."""
    return grown_together(folder, {folder / "log.jsonl": data}, [[cut] for cut in sorted(cuts)])


def grown_together(folder: Path, logs: dict[Path, bytes], lengths: list[list[int]]) -> Path:
    """Load all logs cut at each of these lengths, and then the whole logs. Return the store."""
    store = folder / "store"
    for cut_at in (*lengths, [len(data) for data in logs.values()]):
        for (log, data), length in zip(logs.items(), cut_at, strict=True):
            log.parent.mkdir(exist_ok=True)
            log.write_bytes(data[:length])
        load(logs, store)
    return store


def at_once(folder: Path, data: bytes) -> Path:
    log, store = folder / "log.jsonl", folder / "whole"
    log.write_bytes(data)
    load([log], store)
    return store


@pytest.fixture
def read_at_once() -> dict[Path, Any]:
    """Return an empty cache for the stored rows of each log, by the file path of the log."""
    return {}


def read_on(store: Path) -> int:
    """Return how many lines of the log the last load read."""
    return int(ask(store, "SELECT lines FROM ingest_runs ORDER BY run_id DESC LIMIT 1")[0][0])


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_log_cut_anywhere_and_loaded_as_it_grows_ends_in_the_same_tables(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, read_at_once: dict[Path, Any], part: int
) -> None:
    path = data.draw(st.sampled_from(GROWING[part::PARTS]))
    whole = path.read_bytes()
    cuts = data.draw(st.lists(st.integers(1, len(whole)), min_size=1, max_size=2))
    folder = tmp_path_factory.mktemp("growing")
    if path not in read_at_once:
        read_at_once[path] = tables(at_once(folder, whole))
    assert tables(grown(folder, whole, cuts)) == read_at_once[path]


_UNDATED = "examples_that_end_at_a_call_or_at_an_answer.jsonl"


@pytest.mark.thorough
def test_logs_with_and_without_times_that_grow_together_count_once(tmp_path: Path) -> None:
    """NULL equals no other value, so rows without a day are merged separately."""
    undated = next(path for path in GROWING if path.name == _UNDATED)
    dated = session("dated", turns=(2, 1, 2)).encode()
    logs = {tmp_path / "1" / "log.jsonl": dated, tmp_path / "2" / "log.jsonl": undated.read_bytes()}
    lengths = [[len(data) * part // 3 for data in logs.values()] for part in (1, 2)]
    store = grown_together(tmp_path, logs, lengths)
    load(logs, tmp_path / "whole")
    assert tables(store) == tables(tmp_path / "whole")
    assert ask(store, "SELECT count(DISTINCT day), bool_or(day IS NULL) FROM daily_calls") == [(1, True)]


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    first, second = session("s1", ended=False).encode(), session("s2").encode()
    store = grown(tmp_path, first + second, [len(first)])
    assert read_on(store) == second.count(b"\n")
    assert count(store, "unfinished") == 1


@pytest.mark.thorough
def test_a_turn_that_begins_in_a_last_line_without_its_break_counts_once(tmp_path: Path) -> None:
    lines = session("s1").encode().splitlines(keepends=True)
    begins = next(
        number for number, line in enumerate(lines) if b'"turn_start"' in line and b'"turn": 2' in line
    )
    data = b"".join(lines)
    for whole in (begins, begins + 1):
        store = grown(tmp_path, data, [len(b"".join(lines[: whole + 1])) - 1])
        assert tables(store) == tables(at_once(tmp_path, data))
        tmp_path = tmp_path / "again"
        tmp_path.mkdir()


@pytest.mark.thorough
def test_a_small_log_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 1_000_000)
    data = session("s1").encode() + session("s2").encode()
    store = grown(tmp_path, data, [len(session("s1"))])
    assert (read_on(store), count(store, "unfinished")) == (data.count(b"\n"), 0)


@pytest.mark.thorough
def test_a_log_that_was_rewritten_and_is_longer_is_read_whole(tmp_path: Path) -> None:
    log, store = tmp_path / "log.jsonl", tmp_path / "store"
    log.write_text(session("s1"))
    load([log], store)
    log.write_text(session("s3") + session("s1"))
    load([log], store)
    assert tables(store) == tables(at_once(tmp_path, log.read_bytes()))


@pytest.mark.thorough
def test_another_version_of_the_code_reads_it_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = session("s1").encode() + session("s2").encode()
    log, store = tmp_path / "log.jsonl", tmp_path / "store"
    log.write_bytes(data[: len(session("s1"))])
    load([log], store)
    monkeypatch.setattr(checkpoint, "STATE_VERSION", 99)
    log.write_bytes(data)
    load([log], store)
    assert read_on(store) == data.count(b"\n")
    assert tables(store) == tables(at_once(tmp_path, data))


@pytest.mark.thorough
def test_other_definitions_read_it_whole(tmp_path: Path) -> None:
    data = session("s1").encode() + session("s2").encode()
    log, store, tools = tmp_path / "log.jsonl", tmp_path / "store", tmp_path / "tools.json"
    tools.write_text('[{"name": "read", "input_schema": {"type": "object", "properties": {}}}]')
    log.write_bytes(data[: len(session("s1"))])
    load([log], store)
    log.write_bytes(data)
    load([log], store, tools=[tools])
    assert ask(store, "SELECT DISTINCT definition_origin FROM tool_calls") == [("tools",)]


class _Hostile:
    def __reduce__(self) -> Any:
        return (Path.unlink, (Path("anything"),))


HOSTILE_STATES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no zlib": lambda: b"no zlib",
    "no pickle": lambda: zlib.compress(b"no pickle"),
    "other": lambda: zlib.compress(pickle.dumps({"not": "a reading"})),
    "hostile": lambda: zlib.compress(pickle.dumps(_Hostile())),
    "functions": lambda: zlib.compress(pickle.dumps((load, load))),
    "bomb": lambda: zlib.compress(b"\0" * 100_000_000, 1),
}


@pytest.mark.parametrize("kind", HOSTILE_STATES)
def test_a_state_that_is_none_makes_nothing(kind: str) -> None:
    assert unpack_state(HOSTILE_STATES[kind]()) is None
