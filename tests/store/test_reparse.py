"""Tests that parsing stored calls again gives the same result as loading the logs again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import InputError, OptionError
from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from ingest.sessions import classification, table_rows
from ingest.store.migrations import SCHEMA_VERSION
from lenient import PARSER_VERSION, parse_arguments
from tests.store.night import TABLES, ask, contents, session
from tests.store.older import make_older

HERE = Path(__file__).parents[1]
LOGS = [HERE / "cases" / "formats", HERE.parent / "sample_data" / "logs"]
FACTS = [table for table in TABLES if table not in ("ingest_runs", "files", "tool_definitions")]
READ = {"name": "read", "input_schema": {"properties": {"path": {"type": "integer"}}, "required": ["path"]}}


@contextmanager
def another_parser() -> Iterator[None]:
    """Make loads use another parser, which repairs nothing and calls all results clean."""

    def strict(raw: Any, *_: Any, **names: Any) -> Any:
        return parse_arguments(raw if raw.startswith("[") else json.dumps({"raw": raw}), None, **names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classification, "parse_arguments", strict)
        patch.setattr(table_rows, "PARSER_VERSION", "0")
        yield


def night(logs: Path) -> None:
    (logs / "a.jsonl").write_text(session("a", raw="{'path': 1,}") + session("b", raw="]", turns=(3, 1)))
    (logs / "b.jsonl").write_text(session("b", raw="]", turns=(3,)) + session("c", ended=False, day=3))
    (logs / "c.jsonl").write_text(session("d", raw='{"path": "7"}'))


def tools_file(folder: Path) -> Path:
    path = folder.with_name("tools.json")
    path.write_text(json.dumps([READ]))
    return path


@pytest.mark.thorough
def test_calls_of_an_older_parser_are_judged_as_todays_load_would(logs: Path, store: Path) -> None:
    night(logs)
    fresh = store.with_name("fresh")
    load([logs], fresh)
    with another_parser():
        load([logs], store)
    assert contents(store, FACTS) != contents(fresh, FACTS)
    shutil.rmtree(logs)
    report = reparse(store)
    assert (report.calls, report.generation) == (16, "gen-000002.duckdb")
    assert 0 < report.changed <= 16
    assert contents(store, FACTS) == contents(fresh, FACTS)
    assert reparse(store).generation is None


@pytest.mark.thorough
def test_judging_what_every_format_left_again_changes_nothing(store: Path) -> None:
    load(LOGS, store)
    before = contents(store)
    report = reparse(store, everything=True)
    assert (report.changed, report.generation) == (0, "gen-000002.duckdb")
    assert report.calls == len(before["tool_calls"]) > 100
    after = contents(store)
    assert {table: rows for table, rows in after.items() if rows != before[table]} == {}


@pytest.mark.thorough
def test_definitions_given_later_need_no_log(logs: Path, store: Path) -> None:
    night(logs)
    tools, fresh = tools_file(logs), store.with_name("fresh")
    load([logs], fresh, tools=[tools])
    load([logs], store)
    assert reparse(store, tools=[tools]).changed > 0
    assert contents(store, FACTS) == contents(fresh, FACTS)
    assert contents(store, ["tool_definitions"]) == contents(fresh, ["tool_definitions"])
    assert ask(store, "SELECT DISTINCT definition_origin FROM tool_calls") == [("tools",)]
    assert load([logs], store, tools=[tools]).generation is None, "the files count as read with them"


@pytest.mark.thorough
def test_other_definitions_take_the_place_of_those_given_before(logs: Path, store: Path) -> None:
    night(logs)
    tools, fresh = tools_file(logs), store.with_name("fresh")
    load([logs], store, tools=[tools])
    tools.write_text(json.dumps([{**READ, "input_schema": {"properties": {"file": {"type": "string"}}}}]))
    load([logs], fresh, tools=[tools])
    reparse(store, tools=[tools])
    assert contents(store, FACTS) == contents(fresh, FACTS)


@pytest.mark.thorough
def test_small_batches_give_the_same_tables(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night(logs)
    fresh = store.with_name("fresh")
    load([logs], fresh)
    with another_parser():
        load([logs], store)
    monkeypatch.setattr("ingest.store.reassessment.BATCH_BYTES", 1)
    reparse(store)
    assert contents(store, FACTS) == contents(fresh, FACTS)


@pytest.mark.thorough
def test_an_older_store_is_brought_up_to_date(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    make_older(store, 1)
    assert reparse(store).generation == "gen-000002.duckdb"
    assert ask(store, "SELECT schema_version, parser_version FROM store_info") == [
        (SCHEMA_VERSION, PARSER_VERSION)
    ]


def test_without_a_store_or_definitions_it_says_so(logs: Path, store: Path) -> None:
    with pytest.raises(InputError, match=r"nothing has been loaded into .* yet; check the spelling"):
        reparse(store)
    assert not store.exists()
    with pytest.raises(OptionError, match="these tool definitions cannot be used"):
        reparse(store, tools=[logs / "missing.json"])
