"""Tests the comparison with other parsers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from callgauge.dashboard.pages.playground import other_parsers
from callgauge.dashboard.pages.playground.other_parsers import ParserReading, read_with_others
from callgauge.dashboard.pages.playground.pydantic_models import NotSimpleError, make_pydantic_model
from lenient import ToolDefinition, parse_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "top_k": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "due": {"type": "string", "format": "date-time"},
        "near": {"type": "object", "properties": {"km": {"type": ["number", "null"]}}, "required": ["km"]},
        "kind": {"enum": ["a", "b"]},
    },
    "required": ["query"],
}


def tool(schema: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition.from_json_schema(name="search", schema=schema)


def read(raw: str, schema: dict[str, Any] | None = SCHEMA) -> dict[str, ParserReading]:
    definition = None if schema is None else tool(schema)
    return {reading.reader: reading for reading in read_with_others(raw, parse_arguments(raw, definition))}


@pytest.fixture
def repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a fake json_repair for this process and its child processes."""

    def install(body: str) -> None:
        (tmp_path / "json_repair.py").write_text(body, encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_a_clean_text_is_the_same_for_all_that_are_there() -> None:
    raw = '{"query": "x", "top_k": 3, "due": "2026-11-22T10:00:00Z", "near": {"km": null}, "kind": "a"}'
    readings = read(raw)
    assert readings["json.loads"].verdict == "parsed"
    assert readings["json.loads"].same is True, "a clean text is what json.loads returns"
    assert readings["pydantic"].verdict == "parsed"
    assert readings["pydantic"].same is True


def test_each_refuses_in_its_own_words() -> None:
    readings = read("{'query': 'x'}")
    assert readings["json.loads"].verdict == "rejected"
    assert readings["json.loads"].reason.startswith("JSONDecodeError: Expecting property name")
    assert readings["pydantic"].verdict == "rejected"
    assert "Invalid JSON" in readings["pydantic"].reason


def test_pydantic_says_where_and_how_many() -> None:
    reading = read('{"top_k": "many", "tags": 5, "kind": "c", "near": {}}')["pydantic"]
    assert reading.reason.startswith("query: Field required; top_k: Input should be a valid integer")
    assert reading.reason.endswith("and 2 more")


def test_a_value_read_otherwise_than_by_us_is_told() -> None:
    assert read('{"query": "x", "top_k": "3"}')["json.loads"].same is False
    assert read('{"query": "x", "top_k": 3}')["json.loads"].same is True
    assert read('["x"]')["json.loads"].same is None


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (None, "There is no definition"),
        ({"type": "object"}, "declares no properties"),
        ({"properties": {"a": {"anyOf": [{"type": "string"}]}}}, "`anyOf` at $.a"),
        ({"properties": {"a": {"type": "string", "pattern": "x"}}}, "`pattern` at $.a"),
        ({"properties": {"a": True}}, "$.a is not an object schema"),
        ({"properties": {"a": {"enum": [{}]}}}, "lists more than plain values"),
        (
            {"properties": {"a": {"type": "number"}}, "additionalProperties": {"type": "number"}},
            "is a schema",
        ),
        ({"properties": {f"p{number}": {} for number in range(201)}}, "more than 200 fields"),
    ],
)
def test_where_no_model_is_made_pydantic_is_not_asked_and_the_reason_is_said(
    schema: Any, reason: str
) -> None:
    reading = read("{}", schema)["pydantic"]
    assert reading.verdict == "not asked"
    assert reason in reading.reason


def test_names_that_python_has_not_are_names_of_a_model_too() -> None:
    made = make_pydantic_model(tool({"properties": {"a-b": {"type": "integer"}, "_x": {}, "model_dump": {}}}))
    values = {"a-b": 1, "_x": [2], "model_dump": 3}
    assert made.model_validate(values).model_dump(by_alias=True) == values


def test_a_definition_nested_too_deep_makes_no_model() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(20):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(NotSimpleError, match="nested too deep"):
        make_pydantic_model(tool(schema))


def test_a_reader_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert {reading.reader: reading.verdict for reading in read("{}").values()} == {
        "json.loads": "parsed",
        "pydantic": "not installed",
        "json-repair": "not installed",
    }


def test_json_repair_reads_in_a_process_of_its_own(repair: Any) -> None:
    repair("def loads(text): return {'query': text.strip('{}')}")
    reading = read("{'x'}")["json-repair"]
    assert reading == ParserReading(
        "json-repair", reading.version, "parsed", '{"query": "\'x\'"}', "", reading.same
    )


def test_a_reader_that_hangs_is_ended(repair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_parsers, "PATIENCE", 0.5)
    repair("def loads(text):\n    while True: pass")
    began = time.monotonic()
    reading = read("{}")["json-repair"]
    assert (reading.verdict, reading.reason) == ("rejected", "No answer within 0.5 seconds; it was ended.")
    assert time.monotonic() - began < 20


def test_a_reader_that_fails_says_why_in_one_line(repair: Any) -> None:
    repair("def loads(text): raise RuntimeError('no idea')")
    assert read("{}")["json-repair"].reason == "RuntimeError: no idea"


def test_a_long_text_is_not_asked_where_it_could_take_long(repair: Any) -> None:
    repair("def loads(text): return {}")
    readings = read(json.dumps({"query": "x" * 300_000}))
    assert readings["json.loads"].verdict == "parsed"
    assert len(readings["json.loads"].value or "") == 2_000
    assert "longer than 200,000 characters" in readings["pydantic"].reason
    assert "longer than 20,000 characters" in readings["json-repair"].reason


@pytest.mark.parametrize(
    "raw", ["[" * 100_000, '{"query": ' + "1" * 100_000 + "}", "\ud800", '{"a":' * 900 + "1" + "}" * 900]
)
def test_hostile_texts_are_refused_or_read_but_never_raise(raw: str) -> None:
    for reading in read(raw).values():
        assert reading.verdict in ("parsed", "rejected", "not installed", "not asked")


def test_a_list_full_of_errors_costs_one() -> None:
    raw = json.dumps({"query": "x", "tags": [5] * 60_000})
    assert read(raw)["pydantic"].reason == "tags.0: Input should be a valid string"
