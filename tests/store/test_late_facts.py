"""Tests a log that is split into two files. In any order, both files give the same rows as the whole log."""

# ruff: noqa: S608 - the queries are made of our own table and column names

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline.load import load
from tests.store.night import ROLLUPS, ask, contents, count, session
from tests.store.test_copies import from_scratch

# One file and two files give different values in these columns: positions, and values from the start of a
# session.
PLACES = {
    "file_id", "line", "byte_offset", "result_file_id", "begun", "first_step", "results_expected",
    "prompt_id",
    "prompt_hash",
}  # fmt: skip


def counted(store: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows that statistics use, without positions."""
    columns = [name for name, *_ in ask(store, f"DESCRIBE {table}") if name not in PLACES]
    rows = ask(store, f"SELECT {', '.join(columns)} FROM {table} WHERE NOT duplicate ORDER BY ALL")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def read_all(store: Path) -> list[Any]:
    """Return the turns, calls and diagnostics that statistics use."""
    findings = "SELECT call_id, position, code FROM diagnostics ORDER BY ALL"
    return [*counted(store, "turns"), *counted(store, "tool_calls"), *ask(store, findings)]


def plain(name: str, day: int) -> str:
    return session(name, day=day)


def with_retries(name: str, day: int) -> str:
    """Return a log of two turns. The first call of the first turn fails and is retried."""
    return session(name, turns=(3, 1), day=day, raw="{'path': 1,}")


def halves(log: str, cut: int) -> tuple[str, str]:
    lines = log.splitlines(keepends=True)
    return "".join(lines[:cut]), "".join(lines[cut:])


def cuts(log: str) -> range:
    return range(1, len(log.splitlines()))


def kinds_of_cuts(log: str) -> dict[tuple[str, str], int]:
    """Return one position to cut the log for each pair of kinds that consecutive lines have."""
    kinds = [json.loads(line)["type"] for line in log.splitlines()]
    return {(kinds[cut - 1], kinds[cut]): cut for cut in cuts(log)}


ORDERS = pytest.mark.parametrize("reverse", [False, True], ids=["in order", "the later file first"])
LOGS = pytest.mark.parametrize("made", [plain, with_retries], ids=["plain", "with retries"])


@pytest.mark.thorough
@ORDERS
@LOGS
def test_a_log_in_two_files_tells_what_the_whole_tells(
    logs: Path, tmp_path: Path, made: Callable[[str, int], str], reverse: bool
) -> None:
    """Each cut is tested in a session on its own day."""
    parts: tuple[list[Path], list[Path]] = ([], [])
    for cut in cuts(made("s", 1)):
        log = made(f"s{cut}", cut)
        (logs / f"{cut}.jsonl").write_text(log)
        for number, half in enumerate(halves(log, cut)):
            parts[number].append(tmp_path / f"{cut}-{number}.jsonl")
            parts[number][-1].write_text(half)
    load([logs], tmp_path / "whole")
    store = tmp_path / "store"
    for files in reversed(parts) if reverse else parts:
        load(files, store)
    assert read_all(store) == read_all(tmp_path / "whole")
    assert count(store, "rejects") == 0
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("made", "reverse"), [(with_retries, False), (plain, True)], ids=["in order", "the later file first"]
)
def test_each_kind_of_cut_alone_has_all_done_that_it_needs(
    logs: Path, tmp_path: Path, made: Callable[[str, int], str], reverse: bool
) -> None:
    """A load skips work that none of its logs needs. So each cut is loaded alone, and no other cut can cause
    the work.
    """
    log = made("s", 1)
    (logs / "whole.jsonl").write_text(log)
    load([logs], tmp_path / "whole")
    expected = read_all(tmp_path / "whole")
    for kinds, cut in kinds_of_cuts(log).items():
        store, first, second = tmp_path / f"store{cut}", logs / "1.jsonl", logs / "2.jsonl"
        for file, half in zip((first, second), halves(log, cut), strict=True):
            file.write_text(half)
        for file in (second, first) if reverse else (first, second):
            load([file], store)
        assert read_all(store) == expected, f"cut between {kinds}"
        assert count(store, "rejects") == 0
        assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


def lines_of(log: str, *kinds: str) -> str:
    return "".join(line for line in log.splitlines(True) if json.loads(line)["type"] in kinds)


@pytest.mark.thorough
def test_a_result_whose_call_never_comes_stays_listed(logs: Path, store: Path) -> None:
    log = session("s", turns=(1,))
    (logs / "b.jsonl").write_text(lines_of(log, "session_start", "observation", "turn_end"))
    report = load([logs], store)
    assert report.rejects == 1
    listed = "SELECT code, line, reason FROM rejects"
    reason = "a result (s-1-0) of session s whose call is in no log that was loaded"
    assert ask(store, listed) == [("orphan_result", 2, reason)]
    assert ask(store, "SELECT rejects FROM files") == ask(store, "SELECT rejects FROM ingest_runs") == [(1,)]

    (logs / "a.jsonl").write_text(lines_of(log, "session_start", "turn_start", "assistant", "action"))
    assert load([logs], store).rejects == 0
    assert ask(store, listed) == []
    assert ask(store, "SELECT path LIKE '%b.jsonl', rejects FROM files ORDER BY 1") == [(False, 0), (True, 0)]
    assert ask(store, "SELECT c.result_status, c.result_text, state FROM tool_calls c, late_results") == [
        ("ok", "text of the file", "joined")
    ]


@pytest.mark.thorough
def test_a_late_result_goes_with_its_file(logs: Path, store: Path) -> None:
    log = session("s", turns=(1,))
    call = lines_of(log, "session_start", "turn_start", "assistant", "action")
    (logs / "a.jsonl").write_text(call)
    (logs / "b.jsonl").write_text(lines_of(log, "session_start", "observation", "turn_end"))
    load([logs], store)
    assert ask(store, "SELECT result_status, result_file_id, fault_layer FROM tool_calls") == [
        ("ok", 2, None)
    ]
    (logs / "b.jsonl").write_text(session("other", turns=(1,), day=5))
    load([logs], store, replacing=True)
    alone = store.with_name("alone")
    load([logs], alone)
    assert read_all(store) == read_all(alone)
    assert count(store, "turn_parts") == 0


def test_a_result_of_a_call_that_has_one_is_a_copy_and_no_reject(logs: Path, store: Path) -> None:
    log = session("s", turns=(1,))
    (logs / "a.jsonl").write_text(log)
    (logs / "b.jsonl").write_text(lines_of(log, "session_start", "observation"))
    assert load([logs], store).rejects == 0
    assert ask(store, "SELECT state FROM late_results") == [("copy",)]
    assert ask(store, "SELECT count(*), sum(calls), sum(steps) FROM turns WHERE NOT duplicate") == [(1, 1, 2)]


@pytest.mark.thorough
def test_a_result_that_fails_late_is_the_fault_of_its_call(logs: Path, store: Path) -> None:
    log = session("s", turns=(2,), raw="]")
    cut = log.splitlines(True)
    number = next(i for i, line in enumerate(cut) if '"observation"' in line)
    (logs / "a.jsonl").write_text("".join(cut[:number]))
    load([logs], store)
    assert ask(store, "SELECT harness_verdict, attempt FROM tool_calls") == [(None, 1)]
    (logs / "b.jsonl").write_text("".join(cut[number:]))
    load([logs], store)
    columns = "harness_verdict, attempt, retry_kind, chain_outcome"
    assert ask(store, f"SELECT {columns} FROM tool_calls ORDER BY step") == [
        ("syntax", 1, None, "abandoned"),
        ("syntax", 2, "identical", "abandoned"),
    ]
    assert ask(store, "SELECT derived_reason, faults, retries FROM turns WHERE NOT duplicate") == [
        ("chain_abandoned", 2, 1)
    ]
    assert ask(store, "SELECT faults FROM sessions ORDER BY file_id") == [(1,), (1,)]


@pytest.mark.thorough
def test_the_parts_of_a_turn_in_three_files_are_one_turn(logs: Path, store: Path) -> None:
    log = session("s", turns=(5,)).splitlines(True)
    (logs / "whole.jsonl").write_text("".join(log))
    load([logs], store.with_name("whole"))
    (logs / "whole.jsonl").unlink()
    for name, part in (("c", log[12:]), ("a", log[:6]), ("b", log[6:12])):
        (logs / f"{name}.jsonl").write_text("".join(part))
        load([logs], store)
    assert read_all(store) == read_all(store.with_name("whole"))
    assert count(store, "turn_parts") == 3
