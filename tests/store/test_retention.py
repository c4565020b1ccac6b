"""Tests that retention removes old content and rows from all files, but keeps daily sums."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import InputError, OptionError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.rejects import retry_rejected
from ingest.maintenance.reparse import reparse
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from tests.store.night import ROLLUPS, ask, claude_code_session, contents, count, opened, session

TODAY = date(2026, 11, 25)
SUMS = tuple(table for table in ROLLUPS if table not in ("signatures", "task_trials"))
CANARY = "hummingbird"
JUDGED = """
    SELECT call_id, outcome, fault_layer, syntax_seen, signature_id, chain_id, attempt, result_status
    FROM tool_calls ORDER BY ALL"""
DAYS = "SELECT DISTINCT day FROM tool_calls ORDER BY 1"


def old_session(name: str, *, day: int, word: str = CANARY) -> str:
    """Return a session with marker words for user, model, tool, agent and prompt. One call is broken."""
    text = session(name, day=day, turns=(2, 1), raw=json.dumps({"path": f"{word}.py", f"a {word}": 1}))
    text += session(f"{name} broken", day=day, turns=(1,), raw=f"[{word}")
    lines = []
    for line in text.splitlines():
        record: dict[str, Any] = json.loads(line)
        if isinstance(record.get("content"), str):
            record["content"] = (
                f"{record['content']} {word} says {name}, and this is long enough to be a task"
            )
        if record["type"] == "observation":
            record["meta"]["status"] = "error"
        lines.append(json.dumps(record))
    return "\n".join([*lines, f'{{"ts": "2026-11-{day:02d}", "{word}']) + "\n"


def plain_sums(store: Path) -> dict[str, list[str]]:
    """Return the daily sums. Keys that retention removes are replaced by one value."""
    return {
        table: sorted(re.sub(r'\["a \w+"\]', '["removed"]', row) for row in rows)
        for table, rows in contents(store, SUMS).items()
    }


def holding(store: Path, word: str = CANARY) -> list[str]:
    """Return those files of a store that contain a word. DuckDB's compression is off."""
    places = [path.name for path in store.iterdir() if word.encode() in path.read_bytes()]
    for path in store.glob("gen-*.duckdb"):
        with opened(path, "READ_ONLY") as con:
            for (table,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                where = f"FROM {table} t WHERE contains(t::VARCHAR, ?)"
                places += [f"{path.name}: {table}"] * bool(con.execute(where, [word]).fetchall())
    return places


@pytest.fixture
def aged(logs: Path, store: Path) -> Path:
    """Return a store with two store files and with sessions of the 1st, the 10th and the 20th."""
    (logs / "a.jsonl").write_text(
        old_session("first", day=1) + old_session("tenth", day=10, word="kingfisher")
    )
    load([logs], store)
    (logs / "b.jsonl").write_text(old_session("twentieth", day=20, word="sparrow"))
    load([logs], store)
    return store


def test_texts_go_from_every_file_and_what_was_judged_stays(aged: Path) -> None:
    sums, verdicts = plain_sums(aged), ask(aged, JUDGED)
    assert len(holding(aged)) > 8, "or it proves nothing"
    report = apply_retention(aged, text_days=20, today=TODAY)
    assert (report.sessions_without_text, report.calls_without_text, report.sessions_removed) == (2, 4, 0)
    assert report.text_before == date(2026, 11, 5)
    assert holding(aged) == []
    assert sorted(path.name for path in aged.iterdir()) == ["CURRENT", str(report.generation), "lock"]
    assert (plain_sums(aged), ask(aged, JUDGED)) == (sums, verdicts)
    assert len(holding(aged, "kingfisher")) > 5
    assert ask(aged, "SELECT DISTINCT snippet <> '', reason LIKE 'removed%' FROM rejects ORDER BY 1") == [
        (False, True), (True, False),
    ]  # fmt: skip


@pytest.mark.thorough
def test_the_sums_are_the_same_when_days_without_texts_are_counted_anew(aged: Path, logs: Path) -> None:
    before = plain_sums(aged)
    apply_retention(aged, text_days=10, today=TODAY)
    (logs / "c.jsonl").write_text(session("more", day=1) + session("more", day=10))
    load([logs], aged)
    forget(aged, SessionChoice(sessions=["more"]))
    after = plain_sums(aged)
    assert {table for table in SUMS if after[table] != before[table]} == set()


def test_facts_go_and_daily_sums_stay(aged: Path) -> None:
    sums = plain_sums(aged)
    report = apply_retention(aged, fact_days=20, today=TODAY)
    assert (report.sessions_removed, report.turns_removed, report.calls_removed) == (2, 3, 4)
    assert holding(aged) == []
    assert plain_sums(aged) == sums
    assert ask(aged, DAYS) == [(date(2026, 11, 10),), (date(2026, 11, 20),)]
    assert ask(aged, "SELECT sessions, turns, calls FROM files ORDER BY 1, 2, 3") == [(2, 3, 4), (2, 3, 4)]


@pytest.mark.thorough
def test_no_load_brings_old_texts_or_facts_back(aged: Path, logs: Path) -> None:
    apply_retention(aged, text_days=10, fact_days=20, today=TODAY)
    sums = plain_sums(aged)
    assert load([logs], aged).generation is None
    (logs / "again.jsonl").write_text(old_session("first", day=1) + old_session("older", day=2))
    (logs / "a.jsonl").write_text((logs / "a.jsonl").read_text() + session("new", day=21))
    report = load([logs], aged)
    assert any("older than the store keeps them" in note for note in report.notes)
    assert (holding(aged), holding(aged, "kingfisher")) == ([], [])
    assert ask(aged, DAYS) == [(date(2026, 11, day),) for day in (10, 20, 21)]
    old = "SELECT sum(calls)::INT FROM daily_calls WHERE day < '2026-11-21'"
    assert ask(aged, old) == [(12,)]
    forget(aged, SessionChoice(sessions=["new"]))
    assert plain_sums(aged) == sums
    retry_rejected(aged)
    assert (holding(aged), holding(aged, "kingfisher")) == ([], [])
    assert load([logs], aged).generation is None


@pytest.mark.thorough
def test_an_old_session_that_goes_on_is_young_again(aged: Path, logs: Path) -> None:
    apply_retention(aged, text_days=10, fact_days=20, today=TODAY)
    sums = ask(aged, "SELECT day, sum(calls)::INT FROM daily_calls GROUP BY 1 ORDER BY 1")
    lines = session("first", day=22, turns=(1, 1, 1)).splitlines(keepends=True)
    later = [line for line in lines if '"turn": 3' in line]
    (logs / "a.jsonl").write_text(
        old_session("first", day=1) + "".join(later) + old_session("tenth", day=10, word="kingfisher")
    )
    load([logs], aged)
    turns = "SELECT turn, day, user_text IS NULL FROM turns WHERE session_id = 'first' ORDER BY 1"
    assert ask(aged, turns) == [
        (1, date(2026, 11, 1), False), (2, date(2026, 11, 1), False), (3, date(2026, 11, 22), False),
    ]  # fmt: skip
    assert ask(aged, "SELECT day, sum(calls)::INT FROM daily_calls GROUP BY 1 ORDER BY 1") == [
        *sums, (date(2026, 11, 22), 1),
    ]  # fmt: skip
    assert holding(aged, "kingfisher") == []


@pytest.mark.thorough
def test_calls_without_texts_keep_their_judgement(aged: Path) -> None:
    apply_retention(aged, text_days=10, today=TODAY)
    before, sums = ask(aged, JUDGED), plain_sums(aged)
    assert reparse(aged, everything=True).calls == 4
    assert (ask(aged, JUDGED), plain_sums(aged)) == (before, sums)
    with opened(aged / (aged / "CURRENT").read_text().strip()) as con:
        con.execute("UPDATE tool_calls SET parser_version = '0' WHERE text_removed")
    assert reparse(aged).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("facts", [True, False], ids=["facts", "texts"])
def test_what_is_kept_for_reading_on_goes_with_the_texts(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, facts: bool
) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 0)
    (logs / "a.jsonl").write_text(session("old", day=1) + session("young", day=20))
    (logs / "b.jsonl").write_text(session("other", day=20))
    load([logs], store)
    assert count(store, "unfinished") == 2
    apply_retention(store, text_days=10, fact_days=10 if facts else None, today=TODAY)
    assert count(store, "unfinished") == 1
    with (logs / "a.jsonl").open("a") as stream:
        stream.write(session("new", day=21))
    load([logs], store)
    assert count(store, "unfinished") == 1
    old = [] if facts else [("old", True)]
    assert ask(store, "SELECT session_id, text_removed FROM sessions ORDER BY 1") == [
        ("new", None), *old, ("other", None), ("young", None),
    ]  # fmt: skip


@pytest.mark.thorough
def test_a_session_without_a_time_keeps_its_facts_and_loses_its_texts(logs: Path, store: Path) -> None:
    text = claude_code_session("timeless").replace("text of the file", CANARY)
    (logs / "a.jsonl").write_text(re.sub('"timestamp": "[^"]*", ', "", text))
    load([logs], store)
    far = date(2100, 1, 1)
    report = apply_retention(store, text_days=10, fact_days=20, today=far)
    assert (report.undated, report.sessions_removed, report.sessions_without_text) == (1, 0, 1)
    assert (count(store, "tool_calls"), holding(store)) == (1, [])


@pytest.mark.thorough
def test_a_trial_of_it_removes_nothing_and_a_second_one_has_nothing_to_do(aged: Path) -> None:
    before = (aged / "CURRENT").read_text()
    trial = apply_retention(aged, text_days=10, fact_days=20, today=TODAY, dry_run=True)
    assert (trial.sessions_removed, trial.sessions_without_text, trial.generation) == (2, 2, None)
    assert ((aged / "CURRENT").read_text(), len(list(aged.glob("gen-*")))) == (before, 2)
    assert apply_retention(aged, text_days=10, fact_days=20, today=TODAY).generation is not None
    assert apply_retention(aged, text_days=10, fact_days=20, today=TODAY).generation is None


@pytest.mark.thorough
def test_a_wider_limit_lets_texts_in_again_but_no_facts(aged: Path, logs: Path) -> None:
    apply_retention(aged, text_days=10, fact_days=20, today=TODAY)
    report = apply_retention(aged, text_days=20, fact_days=100, today=date(2026, 11, 27))
    assert (report.text_before, report.facts_before) == (date(2026, 11, 7), date(2026, 11, 5))


@pytest.mark.thorough
def test_sums_of_old_days_take_part_when_a_model_gets_another_name(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("old", day=1) + session("young", day=20))
    load([logs], store, model="hawk-old")
    apply_retention(store, fact_days=10, today=TODAY)
    (store / "naming.toml").write_text('[aliases.names]\n"hawk-old" = "hawk"\n')
    assert load([logs], store, model="hawk-old").generation is not None
    for table in ("daily_calls", "daily_turns", "daily_rates"):
        assert ask(store, f"SELECT DISTINCT model FROM {table}") == [("hawk",)]  # noqa: S608
    assert load([logs], store, model="hawk-old").generation is None


@pytest.mark.thorough
def test_after_a_wrong_clock_loads_keep_new_sessions(aged: Path, logs: Path) -> None:
    report = apply_retention(aged, text_days=30, fact_days=90, today=date(2027, 11, 25))
    assert (report.sessions_removed, report.facts_before) == (6, date(2026, 11, 21))
    apply_retention(aged, text_days=30, fact_days=90, today=TODAY)
    (logs / "c.jsonl").write_text(session("new", day=21))
    load([logs], aged)
    assert ask(aged, "SELECT session_id FROM sessions") == [("new",)]


@pytest.mark.parametrize("days", [(None, None), (0, None), (30, -1)])
def test_limits_must_make_sense(store: Path, days: tuple[int | None, int | None]) -> None:
    with pytest.raises(OptionError):
        apply_retention(store, text_days=days[0], fact_days=days[1])


@pytest.mark.thorough
def test_texts_that_would_stay_longer_than_their_calls_are_refused(aged: Path) -> None:
    before = contents(aged)
    with pytest.raises(OptionError, match="use --text-days 20 or less"):
        apply_retention(aged, text_days=30, fact_days=20)
    assert contents(aged) == before


def test_without_a_store_it_says_so(store: Path) -> None:
    with pytest.raises(InputError, match="nothing has been loaded"):
        apply_retention(store, text_days=30)
