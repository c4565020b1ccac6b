"""Tests that loading with other options shows more of a file than before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.pipeline.load import load
from ingest.store.generations import published_generation

READ = {"name": "read", "input_schema": {"properties": {"path": {"type": "string"}}, "required": ["path"]}}


def write_log(folder: Path, padding: int = 0) -> None:
    common = {"ts": "2026-11-20T10:00:00.000Z", "sessionId": "s1", "turn": 1}
    call = {"id": "c1", "name": "read", "input": {}, "raw": '{"path": "a"}'}
    events: list[dict[str, Any]] = [
        {"type": "turn_start", "content": "x" * padding},
        {"type": "assistant", "step": 0, "content": ""},
        {"type": "action", "step": 0, "meta": {"toolBlocks": [call]}},
    ]
    lines = [json.dumps({**common, **event}) for event in events]
    (folder / "night.jsonl").write_text("\n".join(lines) + "\n")


def tools_file(folder: Path, name: str = "read") -> Path:
    path = folder.with_name(f"{name}.json")
    path.write_text(json.dumps({**READ, "name": name}))
    return path


def outcomes(store: Path) -> list[str]:
    with duckdb.connect(str(published_generation(store)), read_only=True) as con:
        return [outcome for (outcome,) in con.execute("SELECT outcome FROM tool_calls").fetchall()]


def test_definitions_given_later_judge_what_is_in_already(logs: Path, store: Path) -> None:
    write_log(logs)
    load([logs], store)
    assert outcomes(store) == ["unmeasured"]
    assert load([logs], store, tools=[tools_file(logs)]).loaded == 1
    assert outcomes(store) == ["clean"]


@pytest.mark.thorough
def test_the_same_definitions_are_no_news_and_neither_is_leaving_them_out(logs: Path, store: Path) -> None:
    write_log(logs)
    load([logs], store, tools=[tools_file(logs)])
    assert load([logs], store, tools=[tools_file(logs)]).generation is None
    assert load([logs], store).generation is None
    assert outcomes(store) == ["clean"]


@pytest.mark.thorough
def test_other_definitions_judge_anew(logs: Path, store: Path) -> None:
    write_log(logs)
    load([logs], store, tools=[tools_file(logs)])
    assert load([logs], store, tools=[tools_file(logs, "write")]).loaded == 1
    assert outcomes(store) == ["unmeasured"]


@pytest.mark.thorough
def test_a_line_that_was_too_long_is_read_under_a_larger_limit(logs: Path, store: Path) -> None:
    write_log(logs, padding=5_000)
    assert load([logs], store, max_line=2_000).rejects == 1
    assert load([logs], store, max_line=2_000).generation is None
    assert load([logs], store, max_line=10_000).rejects == 0
    assert load([logs], store, max_line=20_000).generation is None, "nothing was cut any more"


def in_folder(store: Path, name: str = "read") -> Path:
    path = store.with_name("tools") / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**READ, "name": name}))
    return path


@pytest.mark.thorough
def test_definitions_in_the_folder_beside_the_store_judge_as_given_ones_do(logs: Path, store: Path) -> None:
    write_log(logs)
    load([logs], store)
    file = in_folder(store)
    assert load([logs], store).loaded == 1
    assert outcomes(store) == ["clean"]
    assert load([logs], store).generation is None
    file.write_text(file.read_text().replace('"string"', '"integer"'))
    assert load([logs], store).loaded == 1
    assert outcomes(store) == ["failed"]


@pytest.mark.thorough
def test_a_definition_that_is_named_counts_before_one_in_the_folder(logs: Path, store: Path) -> None:
    write_log(logs)
    in_folder(store)
    refusing = tools_file(logs)
    refusing.write_text(json.dumps(READ).replace('"string"', '"integer"'))
    load([logs], store, tools=[refusing])
    assert outcomes(store) == ["failed"]


def test_what_else_lies_in_the_folder_is_noted_and_stops_nothing(logs: Path, store: Path) -> None:
    write_log(logs)
    folder = in_folder(store).parent
    (folder / "README.md").write_text("how to")
    (folder / ".hidden").write_text("x")
    (folder / "more").mkdir()
    report = load([logs], store)
    assert outcomes(store) == ["clean"]
    assert [note.split(": ")[1] for note in report.notes] == [str(folder / "README.md")]
