"""Tests the deletion of sessions."""

from __future__ import annotations

import json
import secrets
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.memory.memory_file import MemoryFile
from ingest.errors import InputError, OptionError, StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.rejects import retry_rejected
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from tests.store.made_runs import write_run
from tests.store.night import TABLES, ask, contents, count, session

FACTS = [table for table in TABLES if table not in ("ingest_runs", "files", "codes", "sources")]


def of_user(text: str, user: str) -> str:
    lines = [json.loads(line) for line in text.splitlines()]
    lines[0]["meta"]["user"] = user
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_session_leaves_no_row_and_the_rest_is_as_if_it_had_never_been(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("keep", raw="{'a': 1}") + session("go", raw="]", day=2))
    (logs / "b.jsonl").write_text(session("other", day=3))
    load([logs], store)
    report = forget(store, SessionChoice(sessions=["go"]))
    assert (report.sessions, report.turns, report.calls, report.files) == (1, 2, 3, 1)
    (logs / "a.jsonl").write_text(session("keep", raw="{'a': 1}"))
    fresh = store.with_name("fresh")
    load([logs], fresh)
    assert contents(store, FACTS) == contents(fresh, FACTS)
    assert ask(store, "SELECT sessions, turns, calls FROM files ORDER BY file_id") == [(1, 2, 3), (1, 2, 3)]


def test_its_bytes_are_gone_from_the_disk(logs: Path, store: Path) -> None:
    secret = secrets.token_hex(400)
    (logs / "a.jsonl").write_text(session("keep") + session(f"go-{secret}", raw=f'["{secret}"') + secret)
    load([logs], store)
    (logs / "b.jsonl").write_text(session("b"))
    load([logs], store)
    assert len(list(store.glob("gen-*"))) == 2
    assert any(secret[:40].encode() in path.read_bytes() for path in store.iterdir()), "or it proves nothing"
    assert forget(store, SessionChoice(sessions=[f"go-{secret}"])).generation == "gen-000004.duckdb"
    assert sorted(path.name for path in store.iterdir()) == ["CURRENT", "gen-000004.duckdb", "lock"]
    for path in store.iterdir():
        assert secret[:40].encode() not in path.read_bytes(), path.name
    assert ask(store, "SELECT code, reason, snippet FROM rejects") == [
        ("torn_line", "removed by callgauge forget", "")
    ]


@pytest.mark.thorough
def test_no_load_brings_it_back(logs: Path, store: Path) -> None:
    log = logs / "a.jsonl"
    log.write_text(session("keep") + session("go", day=2) + "broken\n")
    load([logs], store)
    forget(store, SessionChoice(sessions=["go"]))
    tables = contents(store, FACTS, without=("file_id",))
    assert load([logs], store).generation is None
    log.write_text(log.read_text() + session("new", day=3))
    load([logs], store)
    assert ask(store, "SELECT session_id FROM sessions ORDER BY ALL") == [("keep",), ("new",)]
    assert ask(store, "SELECT snippet FROM rejects") == [("",)], "a forgetful file is quoted no more"
    forget(store, SessionChoice(sessions=["new"]))
    assert contents(store, ["turns", "tool_calls"], without=("file_id",)) == {
        name: tables[name] for name in ("turns", "tool_calls")
    }
    retry_rejected(store)
    (logs / "copy.jsonl").write_text(session("go", day=2) + session("keep"))
    load([logs], store)
    assert ask(store, "SELECT DISTINCT session_id FROM sessions") == [("keep",)]
    assert count(store, "forgotten") == 2


@pytest.mark.thorough
def test_sessions_without_a_sign_of_life_since_a_day_go(logs: Path, store: Path) -> None:
    untimed = session("untimed").replace('"2026-11-01T10:00:00.000Z"', '"0001-01-01T00:00:00Z"')
    (logs / "a.jsonl").write_text("".join(session(f"s{day}", day=day) for day in (1, 2, 3)) + untimed)
    load([logs], store)
    trial = forget(store, SessionChoice(before=date(2026, 11, 3)), dry_run=True)
    assert (trial.sessions, trial.generation, count(store, "sessions")) == (3, None, 4)
    assert forget(store, SessionChoice(before=date(2026, 11, 3))).sessions == 3
    assert ask(store, "SELECT session_id FROM sessions") == [("s3",)]
    assert forget(store, SessionChoice(before=date(2026, 11, 3))).generation is None


@pytest.mark.thorough
def test_the_sessions_of_a_user_go(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(of_user(session("a"), "ada@example.com") + of_user(session("b"), "bob"))
    load([logs], store)
    assert ask(store, "SELECT session_id, user_name FROM sessions ORDER BY ALL") == [
        ("a", "ada@example.com"), ("b", "bob"),
    ]  # fmt: skip
    assert forget(store, SessionChoice(user="bob")).sessions == 1
    assert ask(store, "SELECT session_id FROM sessions") == [("a",)]


@pytest.mark.thorough
def test_the_copy_that_stays_counts(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(2,)))
    (logs / "b.jsonl").write_text(session("s", turns=(2, 2)))
    load([logs], store)
    assert forget(store, SessionChoice(sessions=["s"])).files == 2
    assert [count(store, table) for table in ("sessions", "turns", "tool_calls", "diagnostics")] == [0] * 4
    assert count(store, "files") == 2


@pytest.mark.thorough
def test_a_late_result_of_a_forgotten_session_goes_with_it(logs: Path, store: Path) -> None:
    lines = session("go", turns=(1,)).splitlines(True)
    number = next(index for index, line in enumerate(lines) if '"observation"' in line)
    (logs / "a.jsonl").write_text("".join(lines[:number]))
    (logs / "b.jsonl").write_text("".join(lines[number:]) + session("keep"))
    load([logs / "b.jsonl"], store)
    assert count(store, "rejects") == 1
    load([logs], store)
    forget(store, SessionChoice(sessions=["go"]))
    assert [count(store, table) for table in ("late_results", "turn_parts", "rejects")] == [0, 0, 0]
    assert ask(store, "SELECT session_id, turns FROM sessions") == [("keep", 2)]


@pytest.mark.thorough
def test_texts_that_only_it_used_go_and_shared_ones_stay(logs: Path, store: Path) -> None:
    other = session("go").replace("You write code.", "You keep secrets.")
    (logs / "a.jsonl").write_text(session("keep") + other)
    load([logs], store)
    assert count(store, "prompts") == 2
    forget(store, SessionChoice(sessions=["go"]))
    assert ask(store, "SELECT text FROM prompts") == ask(store, "SELECT text FROM prompt_texts")
    assert ask(store, "SELECT text FROM prompts") == [("You write code.",)]


@pytest.mark.thorough
def test_nothing_that_matches_changes_nothing(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s"))
    load([logs], store)
    report = forget(store, SessionChoice(sessions=["nobody"]))
    assert (report.sessions, report.generation) == (0, None)
    assert sorted(path.name for path in store.iterdir()) == ["CURRENT", "gen-000001.duckdb", "lock"]


@pytest.mark.parametrize("whose", [SessionChoice(), SessionChoice(sessions=["a"], user="b")])
def test_what_is_meant_must_be_clear(store: Path, whose: SessionChoice) -> None:
    with pytest.raises(OptionError, match="say what to forget with one of"):
        forget(store, whose)


def test_without_a_store_it_says_so(store: Path) -> None:
    with pytest.raises(InputError, match="nothing has been loaded"):
        forget(store, SessionChoice(user="x"))


@pytest.mark.thorough
def test_one_that_fails_leaves_all_as_it_was(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s"))
    load([logs], store)

    def fail(step: str) -> None:
        if step == "rewritten":
            raise StoreError("the disk")

    with pytest.raises(StoreError):
        forget(store, SessionChoice(sessions=["s"]), on_write=fail)
    assert sorted(path.name for path in store.iterdir()) == ["CURRENT", "gen-000001.duckdb", "lock"]
    assert count(store, "sessions") == 1


@pytest.mark.thorough
def test_a_run_of_trials_goes_with_its_last_session(logs: Path, store: Path) -> None:
    lock = write_run(logs) / "lock.json"
    (logs / "a.jsonl").write_text(session("keep"))
    load([logs], store)
    ids = [name for (name,) in ask(store, "SELECT session_id FROM sessions WHERE trial_run = 'orders.7f3a'")]
    assert (count(store, "trial_runs"), count(store, "trial_looks") > 0, len(ids) > 1) == (1, True, True)
    assert forget(store, SessionChoice(sessions=ids[:1])).runs == 0
    assert count(store, "trial_runs") == 1
    assert forget(store, SessionChoice(sessions=ids[1:])).runs == 1
    tables = ("trial_runs", "trial_looks", "task_trials", "probes")
    assert [count(store, table) for table in tables] == [0, 0, 0, 0]
    lock.write_text(lock.read_text() + " ")
    load([logs], store)
    assert count(store, "trial_runs") == 0


@pytest.mark.thorough
def test_what_the_sums_of_old_days_name_goes_too(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("go", day=1, raw="]").replace("question 1", "hummingbird " * 6))
    (logs / "b.jsonl").write_text(session("keep", day=20))
    load([logs], store)
    apply_retention(store, fact_days=10, today=date(2026, 11, 21))
    tried = "SELECT count(*) FROM task_trials WHERE session_id = 'go'"
    assert ask(store, tried) == [(1,)]
    report = forget(store, SessionChoice(sessions=["go"]))
    assert (report.sessions, report.calls, report.generation is not None) == (1, 0, True)
    assert ask(store, tried) == [(0,)]
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(6,)]


@pytest.mark.thorough
def test_notes_on_it_go_with_their_bytes(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("go") + session("keep"))
    load([logs], store)
    (call,) = ask(store, "SELECT min(call_id) FROM tool_calls WHERE session_id = 'go'")[0]
    note = "INSERT INTO notes (subject_kind, subject, text, by, at) VALUES (?, ?, ?, '', '')"
    about = [("session", "go"), ("session", "keep"), ("call", call), ("model", "go")]
    MemoryFile(store).write((note, [(kind, ident, f"{kind} {ident} hummingbird") for kind, ident in about]))
    command = ["forget", "--store", str(store), "--session", "go"]
    trial = CliRunner().invoke(app, [*command, "--dry-run"])
    assert "2 notes on them" in trial.stdout
    assert CliRunner().invoke(app, command).exit_code == 0
    (left,) = MemoryFile(store).read_rows("SELECT subject_kind, subject FROM notes ORDER BY 1")
    assert left == [("model", "go"), ("session", "keep")]
    data = (store / "memory.sqlite").read_bytes()
    assert (b"session go" in data, b"session keep" in data) == (False, True)


@pytest.mark.thorough
def test_the_backups_that_may_still_hold_it_are_named(logs: Path, store: Path, tmp_path: Path) -> None:
    (logs / "a.jsonl").write_text(session("go") + session("keep"))
    load([logs], store)
    run = CliRunner().invoke
    place = tmp_path / "backups"
    assert run(app, ["backup", "--store", str(store), str(place)]).exit_code == 0
    line = run(app, ["forget", "--store", str(store), "--session", "go"]).stdout.splitlines()[-1]
    assert line.startswith(
        f"1 backup in {place} may still contain the data; to replace them, run `callgauge backup"
    )
    assert run(app, ["backup", "--store", str(store), str(place), "--keep", "1"]).exit_code == 0
    (manifest,) = (place / "backups").iterdir()
    restored = tmp_path / "restored"
    restore_run = run(app, ["restore", str(place), "--store", str(restored)])
    assert restore_run.exit_code == 0, restore_run.output
    assert manifest.stem in restore_run.stdout
    assert ask(restored, "SELECT session_id FROM sessions") == [("keep",)]
    for words in (["--store", str(restored)], [str(place)]):
        checked = run(app, ["verify", *words])
        assert (checked.exit_code, "is in order" in checked.stdout) == (0, True)
    assert run(app, ["verify"]).exit_code == 2


@pytest.mark.thorough
def test_old_data_goes_by_a_command(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("old", day=1))
    load([logs], store)
    run = CliRunner().invoke
    command = ["retain", "--store", str(store), "--text-days", "30"]
    future = date(2027, 3, 1)
    assert run(app, ["retain", "--store", str(store)]).exit_code == 2
    assert apply_retention(store, text_days=30, today=future, dry_run=True).sessions_without_text
    dry_run = run(app, [*command, "--fact-days", "36500", "--dry-run", "--json"])
    assert json.loads(dry_run.stdout)["generation"] is None
