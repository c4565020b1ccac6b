"""Tests that the page, the schema, the sample and the reader of the published session log agree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types

from ingest.formats.session_history.history_texts import STATUS_WORDS
from tests.formats.test_cases import translated_by

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "session-log.md"
EXAMPLE = ROOT / "docs" / "session-log.example.jsonl"
SCHEMA = json.loads((ROOT / "docs" / "session-log.schema.json").read_text(encoding="utf-8"))
MADE = sorted((ROOT / "sample_data" / "logs" / "session_history" / "made").glob("*.jsonl"))
STORE = ROOT / "ingest" / "store" / "schema.sql"
BEGIN, END = "<!-- fields: ", "<!-- end of fields -->"


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    node: Any = SCHEMA
    for part in schema["$ref"].removeprefix("#/").split("/"):
        node = node[part]
    return dict(node)


def field_rows(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, stated in schema.get("properties", {}).items():
        item = resolved(stated)
        kind = item.get("type", "any")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        values = ", ".join(f"`{value}`" for value in item.get("enum", ()))
        note = ", required" if name in schema.get("required", ()) else ""
        meaning = f"{item['description']} {values}".rstrip()
        yield f"| `{path}{name}` | {kind}{note} | {meaning} | {columns_of(item)} |"
        if "$ref" not in stated and kind == "object":
            yield from field_rows(item, f"{path}{name}.")
        elif kind == "array":
            yield from field_rows(item["items"], f"{path}{name}[].")


def columns_of(item: dict[str, Any]) -> str:
    stored_in = item.get("x-kept-in", "")
    return (
        ", ".join(f"`{name}`" if "." in name else name for name in stored_in.split(", ")) if stored_in else ""
    )


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each field of a JSON Schema that is not an object, as (path, schema)."""
    for name, stated in schema.get("properties", {}).items():
        item = resolved(stated)
        inner = item["items"] if item.get("type") == "array" else item
        if inner.get("properties"):
            yield from leaves(inner, f"{path}{name}.")
        elif name != "meta":
            yield f"{path}{name}", item


def fields_part() -> str:
    """Return the section of the page that is generated from the schema."""
    head = "| field | type | meaning | kept in |\n|---|---|---|---|"
    parts = ["### Every event\n", head, *field_rows(SCHEMA)]
    for event, meta in SCHEMA["$defs"].items():
        parts.append(f"\n### `{event}`\n\n{meta['description']}")
        rows = list(field_rows(meta, "meta."))
        parts += [f"\n{head}", *rows] if rows else []
    return "\n".join(parts)


def test_the_field_tables_are_the_schema(accept: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    opening = page.index("\n", page.index(BEGIN)) + 1
    printed = f"{page[:opening]}\n{fields_part()}\n\n{page[page.index(END) :]}"
    if accept:
        PAGE.write_text(printed, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == printed


def test_every_field_says_in_which_column_of_the_store_it_is_kept() -> None:
    tables = re.findall(r"CREATE TABLE (\w+) \(([^;]*)\);", STORE.read_text(encoding="utf-8"))
    columns = {f"{table}.{name}" for table, body in tables for name in re.findall(r"(\w+) [A-Z]+", body)}
    for path, item in [pair for part in (SCHEMA, *SCHEMA["$defs"].values()) for pair in leaves(part)]:
        stored_in = item["x-kept-in"]
        assert stored_in == "not kept" or set(stored_in.split(", ")) <= columns, path


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.thorough(quick=10)
@pytest.mark.parametrize("path", [EXAMPLE, *MADE], ids=lambda path: path.name)
def test_a_published_log_is_valid(path: Path) -> None:
    validator = Draft202012Validator(SCHEMA)
    problems = [error.message for record in records(path) for error in validator.iter_errors(record)]
    assert problems == []


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    validator = Draft202012Validator(SCHEMA)
    whole = {"ts": "2026-11-09T08:15:00Z", "sessionId": "s", "type": "turn_start"}
    assert validator.is_valid(whole)
    for name in whole:
        assert not validator.is_valid({key: value for key, value in whole.items() if key != name})


def test_the_page_and_the_schema_name_every_status_that_the_reader_knows() -> None:
    stated = SCHEMA["$defs"]["observation"]["properties"]["status"]["enum"]
    assert sorted(stated) == sorted(STATUS_WORDS)
    page = PAGE.read_text(encoding="utf-8")
    assert [word for word in STATUS_WORDS if f"| `{word}`" not in page and f"`{word}`" not in page] == []


def test_the_example_becomes_one_failed_one_retried_and_one_clean_call() -> None:
    events = list(translated_by("session_history", EXAMPLE))
    calls = [event for event in events if event["event"] == "CallMade"]
    assert [call.get("refused_by_harness") for call in calls] == ["syntax", None, None]
    assert [call.get("retry_of") for call in calls] == [None, "call_1", None]
    assert all(call["args_source"] == "raw" for call in calls)


@pytest.mark.parametrize(
    ("writer", "raw", "source"),
    [
        ("server", '{"path": 3}', "reserialised"),
        ("server", '{"path": ', "raw"),
        ("server", '"a text"', "raw"),
        ("unknown", '{"path": 3}', "unattributed"),
        ("unknown", '{"path": ', "unattributed"),
        ("model", '{"path": 3}', "raw"),
    ],
)
def test_arguments_that_a_server_wrote_are_not_the_models_text(
    writer: str, raw: str, source: str, tmp_path: Path
) -> None:
    block = {"id": "c", "name": "read", "raw": raw, "raw_is": writer}
    event = {"ts": "2026-11-09T08:15:00Z", "sessionId": "s", "turn": 1, "step": 0}
    log = [
        event | {"type": "turn_start", "content": "Read it."},
        event | {"type": "action", "meta": {"toolBlocks": [block]}},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in log), encoding="utf-8")
    [call] = [made for made in translated_by("session_history", path) if made["event"] == "CallMade"]
    expected = None if source == "reserialised" else raw
    assert (call["args_source"], call.get("raw_arguments")) == (source, expected)
