"""What is forgotten is gone: from every table, from the disk, and from the loads that follow."""

from __future__ import annotations

import json
import secrets
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import InputError, OptionError, StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.rejects import retry_rejected
from ingest.pipeline.load import load
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


def test_no_load_brings_it_back(logs: Path, store: Path) -> None:
    log = logs / "a.jsonl"
    log.write_text(session("keep") + session("go", day=2) + "broken\n")
    load([logs], store)
    forget(store, SessionChoice(sessions=["go"]))
    kept = contents(store, FACTS, without=("file_id",))
    assert load([logs], store).generation is None
    log.write_text(log.read_text() + session("new", day=3))
    load([logs], store)
    assert ask(store, "SELECT session_id FROM sessions ORDER BY ALL") == [("keep",), ("new",)]
    assert ask(store, "SELECT snippet FROM rejects") == [("",)], "a forgetful file is quoted no more"
    forget(store, SessionChoice(sessions=["new"]))
    assert contents(store, ["turns", "tool_calls"], without=("file_id",)) == {
        name: kept[name] for name in ("turns", "tool_calls")
    }
    retry_rejected(store)
    (logs / "copy.jsonl").write_text(session("go", day=2) + session("keep"))
    load([logs], store)
    assert ask(store, "SELECT DISTINCT session_id FROM sessions") == [("keep",)]
    assert count(store, "forgotten") == 2


def test_sessions_without_a_sign_of_life_since_a_day_go(logs: Path, store: Path) -> None:
    untimed = session("untimed").replace('"2026-11-01T10:00:00.000Z"', '"0001-01-01T00:00:00Z"')
    (logs / "a.jsonl").write_text("".join(session(f"s{day}", day=day) for day in (1, 2, 3)) + untimed)
    load([logs], store)
    trial = forget(store, SessionChoice(before=date(2026, 11, 3)), dry_run=True)
    assert (trial.sessions, trial.generation, count(store, "sessions")) == (3, None, 4)
    assert forget(store, SessionChoice(before=date(2026, 11, 3))).sessions == 3
    assert ask(store, "SELECT session_id FROM sessions") == [("s3",)]
    assert forget(store, SessionChoice(before=date(2026, 11, 3))).generation is None


def test_the_sessions_of_a_user_go(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(of_user(session("a"), "ada@example.com") + of_user(session("b"), "bob"))
    load([logs], store)
    assert ask(store, "SELECT session_id, user_name FROM sessions ORDER BY ALL") == [
        ("a", "ada@example.com"), ("b", "bob"),
    ]  # fmt: skip
    assert forget(store, SessionChoice(user="bob")).sessions == 1
    assert ask(store, "SELECT session_id FROM sessions") == [("a",)]


def test_the_copy_that_stays_counts(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", turns=(2,)))
    (logs / "b.jsonl").write_text(session("s", turns=(2, 2)))
    load([logs], store)
    assert forget(store, SessionChoice(sessions=["s"])).files == 2
    assert [count(store, table) for table in ("sessions", "turns", "tool_calls", "diagnostics")] == [0] * 4
    assert count(store, "files") == 2


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


def test_texts_that_only_it_used_go_and_shared_ones_stay(logs: Path, store: Path) -> None:
    other = session("go").replace("You write code.", "You keep secrets.")
    (logs / "a.jsonl").write_text(session("keep") + other)
    load([logs], store)
    assert count(store, "prompts") == 2
    forget(store, SessionChoice(sessions=["go"]))
    assert ask(store, "SELECT text FROM prompts") == ask(store, "SELECT text FROM prompt_texts")
    assert ask(store, "SELECT text FROM prompts") == [("You write code.",)]


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
