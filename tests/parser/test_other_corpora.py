"""Tests that three corpora are complete: coercions, calls in replies, and single defects."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from bench.parser.corpus import CORPUS, entries_in

DIALECTS = {
    "json_fenced", "json_bare", "hermes", "anthropic", "llama_json", "pythonic", "mistral", "qwen_xml",
    "deepseek_v3", "deepseek_v31", "deepseek_v32", "kimi_k2", "glm", "harmony", "react", "none",
}  # fmt: skip
CONTRACT = {"string", "boolean", "integer", "number", "object", "array", "timestamp", "uri", "enum", "trap"}


COERCIONS, CALLS, DEFECTS = (
    entries_in(CORPUS / f"{name}.json") for name in ("coercions", "calls", "defects")
)


def top_level_name(path: str) -> str:
    match = re.match(r"\$\.(\w+)", path)
    return match[1] if match else ""


@pytest.mark.parametrize(
    ("name", "fields", "optional"),
    [
        ("coercions", {"id", "group", "tool", "raw", "intended", "refused"}, set()),
        ("calls", {"id", "dialect", "text", "tools", "calls"}, {"native", "cut"}),
        ("defects", {"id", "kind", "raw", "intended", "place", "codes"}, {"tool", "refused"}),
    ],
)
def test_a_corpus_says_what_it_is_and_its_entries_have_its_fields(
    name: str, fields: set[str], optional: set[str]
) -> None:
    corpus = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    assert corpus["about"]
    for entry in corpus["entries"]:
        assert fields <= set(entry) <= fields | optional, entry["id"]
    twice = [id_ for id_, count in Counter(entry["id"] for entry in corpus["entries"]).items() if count > 1]
    assert not twice


def test_no_text_is_in_a_corpus_twice_with_the_same_tools() -> None:
    coercions = Counter((entry["raw"], json.dumps(entry["tool"])) for entry in COERCIONS)
    calls = Counter((entry["text"], json.dumps(entry["tools"])) for entry in CALLS)
    assert max(coercions.values()) == max(calls.values()) == 1


def test_there_are_enough_coercions_of_every_declared_type() -> None:
    groups = Counter(entry["group"] for entry in COERCIONS)
    assert len(COERCIONS) >= 130
    assert all(groups[group] >= 4 for group in CONTRACT)


def test_a_coercion_starts_from_valid_json_and_an_object_schema() -> None:
    for entry in COERCIONS:
        json.loads(entry["raw"])
        assert entry["tool"]["type"] == "object", entry["id"]
        assert set(entry["tool"].get("required", ())) <= set(entry["tool"]["properties"]), entry["id"]


def test_a_refused_parameter_has_no_intended_value() -> None:
    for entry in COERCIONS:
        assert all(path.startswith("$") for path in entry["refused"]), entry["id"]
        assert not {top_level_name(path) for path in entry["refused"]} & set(entry["intended"]), entry["id"]
        assert ("trap" not in entry["group"]) or entry["refused"], entry["id"]


def test_a_required_parameter_is_intended_or_refused() -> None:
    for entry in COERCIONS:
        named = set(entry["intended"]) | {top_level_name(path) for path in entry["refused"]}
        assert "$" in entry["refused"] or set(entry["tool"].get("required", ())) <= named, entry["id"]


def test_there_are_enough_texts_with_and_without_a_call_in_every_dialect() -> None:
    dialects = Counter(entry["dialect"] for entry in CALLS)
    assert set(dialects) == DIALECTS
    assert len(CALLS) >= 180
    assert min(dialects.values()) >= 10
    assert sum(not entry["calls"] for entry in CALLS) >= 30
    assert not [entry["id"] for entry in CALLS if entry["dialect"] == "none" and entry["calls"]]


def test_a_call_is_of_an_offered_tool_and_its_name_stands_in_the_text() -> None:
    for entry in CALLS:
        offered = {tool["name"]: tool["input_schema"] for tool in entry["tools"]}
        assert all(schema["type"] == "object" for schema in offered.values()), entry["id"]
        for call in entry["calls"]:
            schema = offered[call["name"]]
            assert call["name"] in entry["text"], entry["id"]
            assert set(schema["required"]) <= set(call["arguments"]) <= set(schema["properties"]), entry["id"]


def test_there_are_twenty_five_defects_each_inside_its_text_and_with_known_codes() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "codes.md").read_text(encoding="utf-8")
    assert len(DEFECTS) == len({entry["kind"] for entry in DEFECTS}) == 25
    for entry in DEFECTS:
        start, end = entry["place"]
        assert 0 <= start <= end <= len(entry["raw"]), entry["id"]
        assert entry["codes"], entry["id"]
        assert all(f"### {code}\n" in documented for code in entry["codes"]), entry["id"]


def test_a_defect_is_no_valid_object() -> None:
    for entry in DEFECTS:
        try:
            value = json.loads(entry["raw"], parse_constant=_refuse)
        except ValueError:
            continue
        assert not isinstance(value, dict) or entry["id"] == "duplicate-key", entry["id"]


def _refuse(constant: str) -> None:
    raise ValueError(constant)
