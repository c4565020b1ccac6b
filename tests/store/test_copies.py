"""Tests that copies count once, that daily sums match the rows, and that the order of loads is irrelevant."""

# ruff: noqa: S608 - the queries are made of our own table and column names

from __future__ import annotations

import random
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline.load import load
from ingest.store.generation_file import GenerationBuilder
from ingest.store.generations import ignore_write, published_generation
from ingest.store.reader import find_segments
from ingest.store.settling import rollup
from tests.analysis.store_fixture import roll_up_all_days
from tests.store.night import ROLLUPS, ask, claude_code_session, contents, contents_by, reading, session
from tests.store.test_options import tools_file


def counted(store: Path, table: str, what: str) -> list[tuple[Any, ...]]:
    return ask(store, f"SELECT {what}, file_id FROM {table} WHERE NOT duplicate ORDER BY ALL")


def test_the_fuller_of_two_transcripts_of_a_session_counts(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(2,), ended=False))
    (logs / "b.jsonl").write_text(session("s", turns=(2, 3)))
    report = load([logs], store)
    assert (report.calls, report.duplicates) == (7, 2)
    assert counted(store, "tool_calls", "turn, step") == [
        (1, 0, 2), (1, 1, 2), (2, 0, 2), (2, 1, 2), (2, 2, 2),
    ]  # fmt: skip
    assert counted(store, "turns", "turn, derived_reason") == [
        (1, "ended_with_answer", 2), (2, "ended_with_answer", 2),
    ]  # fmt: skip
    assert ask(store, "SELECT file_id, calls, duplicate_calls, duplicate FROM sessions ORDER BY file_id") == [
        (1, 2, 2, True), (2, 5, 0, False),
    ]  # fmt: skip


@pytest.mark.thorough
def test_of_equal_copies_the_file_read_first_counts(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s"))
    (logs / "b.jsonl").write_text(session("s") + "\n\n")
    load([logs], store)
    assert {file_id for *_, file_id in counted(store, "tool_calls", "call_id")} == {1}
    assert {file_id for *_, file_id in counted(store, "turns", "turn_id")} == {1}


def test_a_copy_with_a_result_counts_before_one_without(logs: Path, store: Path) -> None:
    whole = session("s", turns=(1,))
    without_result = "".join(line for line in whole.splitlines(True) if "observation" not in line)
    (logs / "a.jsonl").write_text(without_result)
    (logs / "b.jsonl").write_text(whole)
    load([logs], store)
    assert counted(store, "tool_calls", "result_status") == [("ok", 2)]


def test_when_the_copy_that_counted_goes_the_other_one_counts(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(2, 3)))
    (logs / "b.jsonl").write_text(session("s", turns=(2,), ended=False))
    load([logs], store)
    (logs / "a.jsonl").write_text(session("other", day=5))
    load([logs], store, replacing=True)
    assert counted(store, "tool_calls", "session_id, turn, step") == [
        ("other", 1, 0, 3), ("other", 1, 1, 3), ("other", 2, 0, 3), ("s", 1, 0, 2), ("s", 1, 1, 2),
    ]  # fmt: skip
    assert ask(store, "SELECT day, sum(calls)::INT FROM daily_calls GROUP BY day ORDER BY day") == [
        (date(2026, 11, 1), 2), (date(2026, 11, 5), 3),
    ]  # fmt: skip


@pytest.mark.thorough
def test_a_session_told_twice_in_one_file_counts_once(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(3,)) + session("t"))
    (logs / "b.jsonl").write_text(session("t") + session("s", turns=(3,)))
    report = load([logs], store)
    assert report.duplicates == 6
    assert len(counted(store, "tool_calls", "call_id")) == 6


def test_sessions_of_two_sources_with_one_id_are_two(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(2,)))
    (logs / "b.jsonl").write_text(claude_code_session("s"))
    load([logs], store)
    rows = "SELECT source, file_id, calls, duplicate_calls, duplicate FROM sessions ORDER BY file_id"
    assert ask(store, rows) == [("session_history", 1, 2, 0, False), ("claude_code", 2, 1, 0, False)]
    versions = "SELECT DISTINCT source, harness_version FROM daily_rates ORDER BY ALL"
    assert ask(store, versions) == [("claude_code", "2.1.0"), ("session_history", None)]
    calls = "SELECT source, total FROM daily_rates WHERE rate = 'emission' AND cut = 'all' ORDER BY ALL"
    assert ask(store, calls) == [("claude_code", 1), ("session_history", 2)]


def test_rollups_count_what_the_logs_tell(logs: Path, store: Path) -> None:
    """The log has three valid calls and two with invalid JSON. The second invalid call retries the first."""
    (logs / "a.jsonl").write_text(
        session("good", turns=(2, 1), day=2) + session("bad", turns=(2,), day=3, raw="]")
    )
    load([logs], store)
    columns = "day, calls, parse_known, syntax_full, failed, fault_syntax, retries, retries_identical, chains"
    assert ask(store, f"SELECT {columns}, chains_abandoned FROM daily_calls ORDER BY day") == [
        (date(2026, 11, 2), 3, 3, 3, 0, 0, 0, 0, 0, 0),
        (date(2026, 11, 3), 2, 2, 2, 2, 2, 1, 1, 1, 1),
    ]
    columns = "day, turns, retried, recorded_known, recorded_ok, derived_ok, disagree, steps, calls, retries"
    assert ask(store, f"SELECT {columns} FROM daily_turns ORDER BY day") == [
        (date(2026, 11, 2), 2, 0, 2, 2, 2, 0, 5, 3, 0),
        (date(2026, 11, 3), 1, 1, 1, 1, 0, 1, 3, 2, 1),
    ]
    codes = ask(store, "SELECT day, sum(findings)::INT, count(*) FROM daily_codes GROUP BY day ORDER BY day")
    findings = ask(store, "SELECT count(*) FROM diagnostics")[0][0]
    assert sum(row[1] for row in codes) == findings


def test_no_measure_of_the_rollups_is_left_empty(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s") + session("t", raw="{'a': 1}"))
    load([logs], store, tools=[tools_file(logs)])
    with reading(store) as con:
        for table in ROLLUPS:
            columns = con.execute(f"DESCRIBE {table}").fetchall()
            measures = [name for name, kind, *_ in columns if kind in ("BIGINT", "DOUBLE")]
            empty = ", ".join(f"count(*) FILTER ({name} IS NULL)" for name in measures)
            counts = con.execute(f"SELECT {empty or 0} FROM {table}").fetchone() or ()
            assert not any(counts), (table, dict(zip(measures, counts, strict=False)))


def from_scratch(store: Path, tmp_path: Path) -> dict[str, list[str]]:
    """Copy the published store file, compute the sums of all days again in the copy, and return them."""
    generation = published_generation(store)
    assert generation is not None
    folder = tmp_path / "copy"
    shutil.copytree(store, folder)
    building = GenerationBuilder(folder / generation.name, ignore_write)
    with building.open_transaction("from scratch") as con:
        # The signatures of rows in segments were computed when the rows were loaded, so they are kept.
        kept = {"signatures"} if find_segments(generation) else set()
        for rollup in set(ROLLUPS) - kept:
            con.execute(f"DELETE FROM {rollup}")
        roll_up_all_days(con)
        made = contents_by(con, ROLLUPS)
    building.abandon()
    shutil.rmtree(folder)
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_after_any_chain_of_loads_the_rollups_equal_those_made_from_scratch(
    logs: Path, store: Path, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        for name in chance.sample("abcd", k=chance.randint(1, 3)):
            write_some_sessions(logs / f"{name}.jsonl", chance)
        load([logs], store)
        assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)
        for table, key in (("tool_calls", "call_id"), ("turns", "turn_id"), ("sessions", "session_id")):
            once = f"SELECT count(*) FROM (SELECT {key} FROM {table} GROUP BY {key} "
            assert ask(store, once + "HAVING count(*) FILTER (NOT duplicate) <> 1)") == [(0,)], table


@pytest.mark.thorough
def test_days_summed_up_a_few_at_a_time_equal_those_summed_up_together(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(1, 6):
        raw = "]" if day % 2 else '{"a": 1}'
        (logs / f"{day}.jsonl").write_text(session(f"s{day}", day=day, raw=raw) + session("s", day=day))
    together = store.with_name("together")
    load([logs], together)
    monkeypatch.setattr(rollup, "AT_ONCE", 5)
    load([logs], store)
    assert contents(store, ROLLUPS) == contents(together, ROLLUPS)
    assert ask(store, "SELECT count(DISTINCT day) FROM daily_errors") == [(3,)]


def write_some_sessions(file: Path, chance: random.Random) -> None:
    """Write sessions with few names, so that files contain copies. Some sessions have no timestamps."""
    texts = []
    for _ in range(chance.randint(1, 4)):
        name = chance.choice("stuvw")
        raw = chance.choice(['{"a": 1}', "{'a': 1}", "]"])
        turns = [chance.randint(1, 3) for _ in range(chance.randint(1, 3))]
        text = session(name, turns=turns, day=ord(name) - ord("r"), raw=raw, ended=chance.random() < 0.7)
        texts.append(text)
    file.write_text("".join(texts))
