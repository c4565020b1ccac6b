"""Tests the lists of tools that models are offered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.maintenance.forget import SessionChoice, forget
from ingest.pipeline.load import load
from ingest.store import building_segments
from ingest.store.generations import published_generation
from tests.store.night import ask, session
from tests.store.older import make_older

READ = {"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}
FETCH = {"name": "mcp__web__fetch", "description": "Fetch a page.", "input_schema": {"type": "object"}}
LISTS = "SELECT tool, mcp_server, bytes FROM tool_lists ORDER BY bytes"


def offering(name: str, *tools: object, day: int = 1) -> str:
    """Return a session that calls `read`. The log lists these tools as offered."""
    records = [json.loads(line) for line in session(name, day=day).splitlines()]
    if tools:
        records[0]["meta"]["tools"] = list(tools)
    return "".join(json.dumps(record) + "\n" for record in records)


def size(definition: object) -> int:
    return len(json.dumps(definition, sort_keys=True, separators=(",", ":")))


def test_a_list_is_kept_once_with_the_tools_that_nobody_calls(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(offering("a", READ, FETCH) + offering("b", FETCH, READ))
    (logs / "c.jsonl").write_text(offering("c", READ, FETCH) + offering("d"))
    load([logs], store)
    assert ask(store, LISTS) == [("read", None, size(READ)), ("mcp__web__fetch", "web", size(FETCH))]
    listed = "SELECT session_id, count(DISTINCT tool_list) FROM turns GROUP BY ALL ORDER BY ALL"
    assert ask(store, listed) == [("a", 1), ("b", 1), ("c", 1), ("d", 0)]


def test_a_tool_that_several_texts_define_counts_once(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(offering("a", READ, READ))
    load([logs], store)
    assert ask(store, LISTS) == [("read", None, size(READ))]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("are_sealed", [False, True])
def test_a_list_goes_with_the_last_session_that_had_it(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, are_sealed: bool
) -> None:
    if are_sealed:
        monkeypatch.setattr(building_segments, "SEAL_AT", 0)
    (logs / "a.jsonl").write_text(offering("a", READ, FETCH) + offering("b", READ))
    load([logs], store)
    forget(store, SessionChoice(sessions=("a",)))
    assert ask(store, LISTS) == [("read", None, size(READ))]


@pytest.mark.thorough
def test_turns_of_an_older_store_have_no_list(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(offering("a", READ, FETCH))
    load([logs], store)
    make_older(store, 10)
    (logs / "b.jsonl").write_text(offering("b", READ))
    load([logs], store)
    assert published_generation(store) is not None
    assert ask(store, LISTS) == [("read", None, size(READ))]
    listed = "SELECT session_id, count(tool_list) FROM turns GROUP BY ALL ORDER BY ALL"
    assert ask(store, listed) == [("a", 0), ("b", 2)]
