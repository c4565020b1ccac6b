"""Tests the table of parameters: the sent value, the typed value, and the sentence about the change."""

from __future__ import annotations

from typing import Any

import pytest

from callgauge.dashboard.pages.playground.parameter_changes import (
    ParameterChange,
    describe_outcome,
    list_changes,
    names_not_sent,
)
from lenient import ToolDefinition, parse_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "top_k": {"type": ["integer", "null"]},
        "odd name": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "kind": {"enum": ["a", "b"]},
    },
    "required": ["query"],
}


def changes_of(raw: str, schema: dict[str, Any] | None = None) -> tuple[str, list[ParameterChange]]:
    tool = ToolDefinition.from_json_schema(name="t", schema=SCHEMA if schema is None else schema)
    request = parse_arguments(raw, tool)
    changes = list_changes(request)
    return describe_outcome(request, changes), changes


def in_short(changes: list[ParameterChange]) -> list[tuple[str | None, str | None, str | None, str]]:
    return [(change.name, change.sent, change.became, change.verdict) for change in changes]


def test_a_value_is_kept_converted_refused_or_missing() -> None:
    sentence, changes = changes_of('{"top_k": "5", "odd name": "x", "kind": "c"}')
    assert in_short(changes) == [
        ("query", None, None, "missing"),
        ("top_k", '"5"', "5", "converted"),
        ("odd name", '"x"', None, "invalid"),
        ("kind", '"c"', None, "invalid"),
    ]
    assert sentence == (
        "Failed: 3 errors (query is missing, odd name and kind are invalid) and 1 of 3 arguments converted."
    )
    assert changes[1].declared == "integer or null"


def test_what_was_sent_is_the_raw_text_where_a_finding_spans_the_value() -> None:
    raw = "{query: INV-2231, a: 'é', b: True, c: 01, d: {e: no}, f: 2, g: \"cut"
    sent = {change.name: change.sent for change in changes_of(raw, {"type": "object"})[1]}
    assert {name: sent[name] for name in ("query", "a", "b", "c", "f", "g")} == {
        "query": "INV-2231",
        "a": "'é'",
        "b": "True",
        "c": "01",
        "f": "2",
        "g": '"cut',
    }
    assert sent["d"] == '{"e": "no"}', "its findings are about its parts"
    twice = changes_of('{"a": yes, "a": "no"}', {"type": "object"})[1]
    assert [change.sent for change in twice if change.name == "a"] == ['"no"']


def test_findings_inside_a_value_belong_to_its_parameter() -> None:
    _, changes = changes_of('{"query": "a", "tags": ["1", "2", 3]}')
    assert in_short(changes)[1] == ("tags", '["1", "2", 3]', "[1, 2, 3]", "converted")
    assert len(changes[1].findings) == 2


def test_what_is_mended_around_the_parameters_has_a_row_of_its_own() -> None:
    sentence, changes = changes_of("```json\n{'query': 'a', 'top_k': None,}\n```")
    assert in_short(changes) == [
        (None, "```json\n{'query': 'a', 'top_k': None,}\n```", '{"query": "a", "top_k": null}', "repaired"),
        ("query", "'a'", '"a"', "repaired"),
        ("top_k", "None", "null", "repaired"),
    ]
    assert sentence.startswith("Repaired: 6 repairs (code fence removed, single quotes")


def test_another_spelling_of_a_name_is_one_parameter() -> None:
    _, changes = changes_of('{"query": "a", "topK": 5}')
    assert in_short(changes)[1] == ("top_k", "5", "5", "converted")
    assert len(changes) == 2


def test_an_undeclared_parameter_is_kept_and_said_to_be_undeclared() -> None:
    sentence, changes = changes_of('{"query": "a", "extra": 1}')
    assert in_short(changes)[1] == ("extra", "1", "1", "kept, not declared")
    assert changes[1].declared is None
    assert sentence == "Clean: valid JSON that fits the definition; kept, not declared: extra."


def test_a_forbidden_parameter_is_kept_and_said_to_be_forbidden() -> None:
    closed = {**SCHEMA, "additionalProperties": False}
    sentence, changes = changes_of('{"query": "a", "top_k": "5", "extra": 1}', closed)
    assert in_short(changes)[2] == ("extra", "1", "1", "kept, but forbidden")
    assert changes[2].findings[0].hint == "The definition forbids it: additionalProperties is false."
    assert sentence == 'Coerced: 1 of 3 arguments converted (top_k: "5" → 5); kept, but forbidden: extra.'


def test_a_forbidden_field_of_a_value_leaves_the_parameter_declared() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    _, changes = changes_of('{"fields": {"b": 1}}', {"type": "object", "properties": {"fields": inner}})
    assert in_short(changes) == [("fields", '{"b": 1}', '{"b": 1}', "flagged")]


def test_a_text_without_arguments_has_one_row_and_says_why() -> None:
    sentence, changes = changes_of("Sure! I have searched.")
    assert in_short(changes) == [(None, "Sure! I have searched.", None, "invalid")]
    assert sentence.startswith("Failed: ")
    assert len(sentence.split()) <= 20


@pytest.mark.parametrize("raw", ["", "{}", "[]", "null", '"', '{"query": "\ud800"}', "{" * 300])
def test_any_text_has_a_sentence(raw: str) -> None:
    sentence, _ = changes_of(raw)
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (
            '{"top_k": "many", "tags": ["x", "y"],}',
            "Failed: 4 errors (query is missing, top_k and tags are invalid) and 1 repair.",
        ),
        (
            '{"query": "a", "tags": [1, 2], "kind": "c',
            ("Failed: 1 error (kind is invalid), 1 guess that may lose meaning and 1 repair."),
        ),
        ("{'query': \"a\"}", "Repaired: 1 repair (single quotes)."),
        ("Sure!", "Failed: 1 error (json parse error)."),
    ],
)
def test_the_sentence_counts_each_kind_of_fault_and_names_the_gravest(raw: str, sentence: str) -> None:
    assert changes_of(raw)[0] == sentence


@pytest.mark.parametrize(
    ("raw", "sent", "exact"),
    [
        ('{"query": "caf\\u00e9" , "top_k": 1E1}', {"query": '"caf\\u00e9"', "top_k": "1E1"}, True),
        ('{"query": "a", "tags": [ "1",2 ]}', {"query": '"a"', "tags": '[ "1",2 ]'}, True),
        ('{"query": "a\\u0062",}', {"query": '"ab"'}, False),
        ('{"query": "a", "tags": [1, "2', {"query": '"a"', "tags": '[1, "2"]'}, False),
    ],
)
def test_no_rewritten_value_is_shown_as_sent(raw: str, sent: dict[str, str], exact: bool) -> None:
    _, changes = changes_of(raw)
    assert {change.name: change.sent for change in changes if change.name} == sent
    rewritten = [change for change in changes if change.name and change.sent and change.sent not in raw]
    assert bool(rewritten) is not exact
    assert not [change for change in rewritten if change.is_exact or change.verdict == "as sent"]


def test_declared_parameters_that_were_not_sent_are_named() -> None:
    tool = ToolDefinition.from_json_schema(name="t", schema=SCHEMA)
    request = parse_arguments('{"query": "a"}', tool)
    assert names_not_sent(request, list_changes(request)) == ["top_k", "odd name", "tags", "kind"]
