"""Tests the schema of a store file."""

# ruff: noqa: S608 - the queries are made of our own column names

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.formats import formats
from ingest.pipeline.load import load
from ingest.store.migrations import SCHEMA_VERSION
from lenient import CODES, PARSER_VERSION
from tests.store.night import ask, count, session


def test_the_codes_and_the_sources_are_in_every_generation(logs: Path, store: Path) -> None:
    (logs / "s.jsonl").write_text(session("s"))
    load([logs], store)
    assert {name for (name,) in ask(store, "SELECT code FROM codes")} == set(CODES)
    assert {name for (name,) in ask(store, "SELECT source FROM sources")} == set(formats())
    assert ask(store, "SELECT schema_version, parser_version FROM store_info") == [
        (SCHEMA_VERSION, PARSER_VERSION)
    ]


@pytest.mark.thorough
def test_each_load_that_published_is_a_run(logs: Path, store: Path) -> None:
    for number in range(3):
        (logs / f"{number}.jsonl").write_text(session(f"s{number}") + "broken\n")
        load([logs], store)
        load([logs], store)
    columns = "run_id, files_loaded, files_unchanged, files_rejected, sessions, turns, calls, rejects"
    assert ask(store, f"SELECT {columns} FROM ingest_runs ORDER BY run_id") == [
        (1, 1, 0, 0, 1, 2, 3, 1),
        (2, 1, 1, 0, 1, 2, 3, 1),
        (3, 1, 2, 0, 1, 2, 3, 1),
    ]
    assert ask(store, "SELECT count(*) FROM ingest_runs WHERE finished_at < started_at") == [(0,)]


@pytest.mark.thorough
def test_a_prompt_told_by_many_files_is_one_row(logs: Path, store: Path) -> None:
    for number in range(3):
        (logs / f"{number}.jsonl").write_text(session(f"s{number}"))
        load([logs], store)
    assert ask(store, "SELECT text FROM prompts") == [("You write code.",)]
    assert ask(store, "SELECT DISTINCT prompt_id FROM tool_calls") == ask(
        store, "SELECT prompt_id FROM prompts"
    )


def test_a_definition_told_by_many_files_is_one_row(logs: Path, store: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"path": {"type": "integer"}}}
    tools.write_text(json.dumps([{"name": "read", "description": "Reads.", "input_schema": schema}]))
    for number in range(2):
        (logs / f"{number}.jsonl").write_text(session(f"s{number}", raw='{"path": "12"}'))
        load([logs], store, tools=[tools])
    assert ask(store, "SELECT tool, description FROM tool_definitions") == [("read", "Reads.")]
    joined = "SELECT count(*) FROM tool_calls JOIN tool_definitions USING (definition_id)"
    assert ask(store, joined) == [(count(store, "tool_calls"),)]
    assert ask(store, "SELECT DISTINCT outcome, arguments FROM tool_calls") == [("coerced", '{"path":12}')]


def test_every_finding_belongs_to_a_call_and_has_a_known_code(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s", raw="{'path': 'a.py',}") + session("t", raw="]"))
    load([logs], store)
    assert count(store, "diagnostics") > 0
    assert ask(store, "SELECT count(*) FROM diagnostics ANTI JOIN tool_calls USING (call_id, file_id)") == [
        (0,)
    ]
    assert ask(store, "SELECT count(*) FROM diagnostics ANTI JOIN codes USING (code)") == [(0,)]


def test_arguments_that_are_the_raw_text_are_stored_once(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("a", raw='{"path":12}') + session("b", raw='{"path": 12,}'))
    load([logs], store)
    query = "SELECT as_sent, own_arguments, arguments FROM tool_calls ORDER BY session_id"
    assert set(ask(store, query)) == {(True, None, '{"path":12}'), (False, '{"path":12}', '{"path":12}')}


def test_raw_arguments_come_out_as_they_went_in(logs: Path, store: Path) -> None:
    raws = [
        "",
        " ",
        "{",
        '{"a": "ü\\u00fc"}',
        "```json\n{}\n```",
        "x" * 100_000,
        '{"a":1}\r\n\t',
        "日本語",
        "\x7f\x01",
    ]
    for number, raw in enumerate(raws):
        (logs / f"{number}.jsonl").write_text(session(f"s{number}", turns=(1,), raw=raw))
    load([logs], store)
    rows = ask(store, "SELECT raw_arguments FROM tool_calls ORDER BY session_id")
    assert [raw for (raw,) in rows] == raws
