"""Tests the checks of a stored tool definition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callgauge.analysis.advice import Culprit, NotReadableError, find_advice


def definition(**properties: Any) -> str:
    return json.dumps({"type": "object", "additionalProperties": False, "properties": properties})


COUNT = {"type": "string", "description": "Number of results to return."}
WORDS = {"type": "string"}


def test_the_finding_at_the_parameter_that_calls_get_wrong_stands_first() -> None:
    advice = find_advice(
        "search",
        "Searches.",
        definition(words=WORDS, count=COUNT),
        [
            Culprit("count", "non_string_literal_retained", "warning", 12),
            Culprit("count", "missing_required", "error", 3),
            Culprit("count", "spaces", "note", 99),
        ],
    )
    assert [(entry.code, entry.place, entry.calls) for entry in advice] == [
        ("number_as_text", "$.count", 12),
        ("parameter_description_missing", "$.words", 0),
    ]
    assert {culprit.code for culprit in advice[0].explained} == {
        "non_string_literal_retained",
        "missing_required",
    }


def test_an_edit_is_a_merge_patch_where_the_lint_knows_one_and_else_a_sentence() -> None:
    by_code = {entry.code: entry for entry in find_advice("search", "", definition(count=COUNT), [])}
    patch = by_code["number_as_text"]
    assert patch.patch
    assert json.loads(patch.edit)["type"] in ("integer", "number")
    missing = by_code["tool_description_missing"]
    assert not missing.patch
    assert missing.edit.startswith("Say in one or two sentences")
    assert missing.place is None


def test_calls_are_found_below_lists() -> None:
    nested = {
        "type": "array",
        "description": "Them.",
        "items": {"type": "object", "properties": {"a": COUNT}},
    }
    advice = find_advice("t", "Does it.", definition(items=nested), [Culprit("items[].a", "x", "error", 4)])
    assert ("$.items[].a", 4) in {(entry.place, entry.calls) for entry in advice}


def test_findings_on_the_whole_explain_no_calls_since_much_has_that_place() -> None:
    opened = json.dumps({"type": "object", "properties": {"a": WORDS}})
    advice = find_advice("t", "Does it.", opened, [Culprit("", "json_parse_error", "error", 50)])
    assert {entry.calls for entry in advice} == {0}


@pytest.mark.parametrize("text", [None, "", "{", "[1]", '"x"', "[" * 100_000])
def test_a_definition_that_cannot_be_read_is_said_so(text: str | None) -> None:
    with pytest.raises(NotReadableError, match=r"\w"):
        find_advice("t", None, text, [])
