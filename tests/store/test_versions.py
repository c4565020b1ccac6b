"""Tests prompts and definitions that change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from callgauge.analysis.metrics import answer_metric
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.store.night import ask

READ = {"name": "read", "description": "Read.", "input_schema": {"properties": {"path": {"type": "string"}}}}


def log(
    name: str, day: int, prompt: str, tool: dict[str, Any] = READ, version: str = "7", hour: int = 10
) -> str:
    """Return a session of one turn, with one call, a named prompt and one offered tool."""
    shared = {"ts": f"2026-11-{day:02d}T{hour:02d}:00:00.000Z", "sessionId": name}
    base = shared | {"turn": 1, "step": 0}
    start = {"prompt": {"name": "support", "version": version}, "tools": [tool]}
    block = {"id": f"{name}-1", "name": "read", "input": {"path": "a"}, "raw": '{"path": "a"}'}
    records = [
        shared | {"type": "session_start", "content": prompt, "meta": start},
        base | {"type": "turn_start", "content": "go"},
        base | {"type": "assistant", "role": "assistant", "content": "", "meta": {}},
        base
        | {
            "type": "action",
            "meta": {"phase": "dispatch", "toolBlocks": [block], "action_ids": [f"{name}-1"]},
        },
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def versions(store: Path, kind: str, name: str) -> list[dict[str, Any]]:
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as con:
        parameters = {"kind": kind, "source": "session_history", "name": name}
        rows = [
            dict(zip(answer.columns, row, strict=True))
            for answer in [answer_metric(con, "versions", parameters)]
            for row in answer.values
        ]
        texts = [answer_metric(con, "version_text", {"kind": kind, **row}).iloc[0] for row in rows]
    return [
        {**row, "text": text.text, "definition": text.definition}
        for row, text in zip(rows, texts, strict=True)
    ]


def test_every_text_under_one_name_and_version_is_kept(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(log("a", 1, "Be kind."))
    load([logs], store)
    (logs / "b.jsonl").write_text(log("b", 2, "Be brief.") + log("c", 3, "Be kind."))
    load([logs], store)
    rows = versions(store, "prompt", "support")
    assert [(row["number"], row["text"], row["uses"]) for row in rows] == [
        (2, "Be brief.", 1),
        (1, "Be kind.", 2),
    ]
    assert [(str(row["first_day"]), str(row["last_day"])) for row in rows] == [
        ("2026-11-02", "2026-11-02"),
        ("2026-11-01", "2026-11-03"),
    ]
    assert ask(store, "SELECT DISTINCT prompt_id FROM turns") == [("support@7",)]


@pytest.mark.thorough
def test_definitions_are_numbered_by_the_time_they_appear_even_when_the_later_log_is_loaded_first(
    logs: Path, store: Path
) -> None:
    changed = READ | {"description": "Read a file."}
    (logs / "a.jsonl").write_text(log("a", 1, "x", changed, hour=15))
    load([logs], store)
    (logs / "b.jsonl").write_text(log("b", 1, "x", READ, hour=9))
    load([logs], store)
    rows = versions(store, "tool", "read")
    assert [(row["number"], row["text"]) for row in rows] == [(2, "Read a file."), (1, "Read.")]
    assert json.loads(rows[0]["definition"])["properties"]["path"] == {"type": "string"}


@pytest.mark.thorough
def test_a_text_that_its_only_file_no_longer_tells_is_no_version(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(log("a", 1, "Be kind."))
    (logs / "b.jsonl").write_text(log("b", 2, "Be brief."))
    load([logs], store)
    (logs / "b.jsonl").write_text(log("b", 2, "Be kind."))
    load([logs], store)
    assert [row["text"] for row in versions(store, "prompt", "support")] == ["Be kind."]
