"""Makes a store with failed tool calls, and a function that queries this store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.testsets import Ask
from tests.analysis.store_fixture import a_call, a_turn, publish

Rows = list[dict[str, Any]]
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}, "scale": {"type": "number"}},
    "required": ["path"],
}
BROKEN = '{"path": "a" "limit": 20}'
RIGHT = '{"path": "a", "limit": 20}'
PROMPT = "Be kind."
CHAIN = {"chain_id": "c2", "chain_outcome": "recovered"}
FAILED = {
    "raw_arguments": BROKEN,
    "arguments": None,
    "outcome": "failed",
    "fault_layer": "syntax",
    "result_status": "error",
    "result_text": "The arguments are no JSON.",
}


def definition(name: str = "read_file", **fields: Any) -> dict[str, Any]:
    """Return a row with a tool definition. `fields` contains more keys of the schema, or its id."""
    row = {"definition_id": fields.pop("definition_id", f"d-{name}"), "tool": name, "description": "Reads."}
    return row | {"definition": json.dumps({**SCHEMA, **fields})}


def call(number: int, **fields: Any) -> dict[str, Any]:
    return a_call(number, **{"definition_id": "d-read_file", **fields})


def the_calls() -> Rows:
    """Return four calls: an earlier one, a failed one, a clean parallel one, and the successful retry of the
    failed one.
    """
    looked = {"tool": "list", "definition_id": "d-list", "result_text": "a b"}
    return [
        call(1, raw_arguments='{"path": "."}', arguments='{"path": "."}', **looked),
        call(2, attempt=1, **CHAIN, **FAILED),
        call(3, step=2, ordinal=1),
        call(4, step=3, attempt=2, raw_arguments=RIGHT, arguments=RIGHT, **CHAIN),
    ]


def store_tables(
    calls: Rows | None = None,
    *,
    definitions: Rows | None = None,
    user: str | None = "Read a, please.",
    prompts: Iterable[tuple[str, str]] = (("p1", PROMPT),),
    texts: Rows | None = None,
    turns: Rows | None = None,
) -> dict[str, Rows]:
    """Return the rows of a store. `prompts` maps ids to prompts."""
    default_texts = [{"turn_id": "s1:1", "step": 1, "file_id": 1, "text": "I look around first."}]
    return {
        "tool_calls": the_calls() if calls is None else calls,
        "turns": turns or [a_turn(1, user_text=user, prompt_hash="h")],
        "prompts": [{"prompt_id": name, "name": "support", "version": "3"} for name, _ in prompts],
        "prompt_texts": [{"prompt_id": name, "text_hash": "h", "text": text} for name, text in prompts],
        "tool_definitions": definitions or [definition(), definition("list")],
        "step_texts": default_texts if texts is None else texts,
    }


def ask_store(folder: Path, tables: Mapping[str, Rows]) -> Ask:
    """Publish the rows. Return a function that queries them."""
    connection = duckdb.connect(str(publish(folder, tables)), read_only=True)
    return lambda metric, parameters: answer_metric(connection, metric, parameters).to_dict("records")
