"""Tests names that are too long for pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.rejects import list_rejects
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from ingest.sessions.stored_text import NAME_KEPT, shorten_name
from tests.store.night import TABLES, ask, contents, count, session

LONG = "ä" * 300_000
NAMES = """
    SELECT table_name, column_name FROM duckdb_columns()
    WHERE data_type = 'VARCHAR' AND column_name IN (
        'session_id', 'parent_session_id', 'harness', 'harness_version', 'user_name', 'task', 'provider',
        'model', 'prompt_id', 'name', 'tool', 'tool_sent', 'tool_call_id', 'retry_of'
    )"""


def named(text: str, name: str) -> str:
    """Return a log that uses this name for the session, the tools, the call ids and the model."""
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        meta = line["meta"] if "meta" in line else line.setdefault("meta", {})
        if line["type"] == "session_start":
            meta |= {"model": f"model {name}", "user": f"user {name}", "promptId": f"prompt {name}"}
        for block in meta.get("toolBlocks", ()):
            block["name"] = f"tool_{name}"
        if "tools" in meta:
            meta["tools"] = [f"tool_{name}"]
        if "tool" in meta:
            meta["tool"] = f"tool_{name}"
    return "".join(json.dumps(line) + "\n" for line in lines)


def longest(store: Path) -> dict[str, int]:
    lengths = {}
    for table, column in ask(store, NAMES):
        ((length,),) = ask(store, f'SELECT max(length("{column}")) FROM "{table}"')  # noqa: S608
        lengths[f"{table}.{column}"] = length or 0
    return lengths


@pytest.mark.parametrize(
    "name", ["", "a tool", "x" * NAME_KEPT, "日本語", None], ids=["", "short", "just", "wide", "none"]
)
def test_a_name_of_everyday_length_stays(name: str | None) -> None:
    assert shorten_name(name) == name


def test_names_that_differ_in_their_end_only_stay_apart() -> None:
    first, other = shorten_name(LONG + "1"), shorten_name(LONG + "2")
    assert first != other
    assert {len(first or ""), len(other or "")} == {NAME_KEPT}
    assert shorten_name(first) == first


@pytest.mark.thorough
def test_every_table_has_the_same_cut_name(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(named(session(LONG), LONG))
    report = load([logs], store)
    assert (report.sessions, report.turns, report.calls) == (1, 2, 3)
    lengths = longest(store)
    assert max(lengths.values()) == NAME_KEPT, {name: length for name, length in lengths.items() if length}
    assert ask(store, "SELECT DISTINCT session_id FROM tool_calls SEMI JOIN sessions USING (session_id)") == [
        (shorten_name(LONG),)
    ]
    assert ask(store, "SELECT calls FROM turns SEMI JOIN sessions USING (session_id)") == [
        (2,),
        (1,),
    ]
    assert ask(store, "SELECT count(*), count(result_status) FROM tool_calls") == [(3, 3)]


def test_the_store_says_what_it_cut_once_a_file(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(named(session("s1"), LONG))
    (logs / "b.jsonl").write_text(named(session("s2"), LONG))
    load([logs], store)
    rejects = [
        reject for reject in list_rejects(store, code="name_too_long") if "tool_calls.tool " in reject.message
    ]
    assert [Path(reject.file).name for reject in rejects] == ["a.jsonl", "b.jsonl"]
    assert "300,005 characters" in rejects[0].message
    assert max(len(reject.message) for reject in list_rejects(store)) < 200


@pytest.mark.thorough
@pytest.mark.usefixtures("workers_read")
def test_workers_cut_the_same(logs: Path, store: Path, tmp_path: Path) -> None:
    (logs / "a.jsonl").write_text(named(session(LONG), LONG))
    load([logs], store)
    load([logs], tmp_path / "two", workers=2)
    assert contents(tmp_path / "two", TABLES) == contents(store, TABLES)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [LONG, shorten_name(LONG)], ids=["as in the log", "as on the page"])
def test_a_session_with_a_long_name_can_be_forgotten(logs: Path, store: Path, name: str) -> None:
    log = logs / "a.jsonl"
    log.write_text(session(LONG) + session("keep"))
    load([logs], store)
    assert forget(store, SessionChoice(sessions=[name])).sessions == 1
    log.write_text(session(LONG) + session("keep") + session("more"))
    load([logs], store)
    assert ask(store, "SELECT session_id FROM sessions ORDER BY ALL") == [("keep",), ("more",)]


@pytest.mark.thorough
def test_a_log_that_grows_is_read_on(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 0)
    log, lines = logs / "a.jsonl", named(session(LONG), LONG).splitlines(keepends=True)
    for length in range(3, len(lines) + 1, 3):
        log.write_text("".join(lines[:length]))
        load([log], store)
    log.write_text("".join(lines))
    load([log], store)
    facts = ["sessions", "turns", "tool_calls", "daily_calls", "daily_turns"]
    load([log], logs / "whole")
    own = ("file_id", "result_file_id")
    assert contents(store, facts, without=own) == contents(logs / "whole", facts, without=own)
    assert count(store, "unfinished") == 1
