"""Tests the benchmark of the parser with tiny corpora whose results are known."""

from __future__ import annotations

import ast
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.parser import shown, tables
from bench.parser.accuracy import calls_verdict, judge, measure, tally
from bench.parser.corpus import Entry, read_corpus
from bench.parser.hostile import Endured
from bench.parser.page import speed_part
from bench.parser.promises import of_hostile, of_speed
from bench.parser.readings import Finding, Reading, Tool
from bench.parser.scoring import (
    Verdict,
    changes_unsaid,
    is_strict_json,
    located,
    mended_unsaid,
    same,
    verdict,
)  # fmt: skip
from bench.parser.speed import Timed
from bench.parser.texts import DEFECTS, FAULTS, calls, samples
from bench.peers import OURS, PEERS, reading_of
from lenient import ToolDefinition, parse_arguments

ERROR = Finding("missing_required", path="$.a", warns=True, error=True)
LOSSY = Finding("unclosed_string", warns=True)
NOTE = Finding("trailing_comma", start=7, end=8)
RIGHT, SILENT, TOLD, REFUSED = Verdict
NUMBER = Tool("count", {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})


def entry(intended: Any, raw: str = "{'a': 1}", **fields: Any) -> Entry:
    return Entry("one", "quotes", raw, intended, **fields)


@pytest.mark.parametrize(
    ("intended", "got", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ([[True]], [[1]], False),
        ("2024-01-01T01:00:00+01:00", datetime(2024, 1, 1, tzinfo=UTC), True),
        ("2024-01-01T01:00:00", datetime(2024, 1, 1, 1, tzinfo=UTC), False),
        ('{"a":1}', '{"a": 1}', False),
    ],
)
def test_values_are_equal_as_json_and_never_by_accident(intended: Any, got: Any, equal: bool) -> None:
    assert same(intended, got) is equal


def test_text_that_holds_json_is_compared_as_json_only_where_its_spacing_is_free() -> None:
    assert same('{"a":1}', '{"a": 1}', spacing=False)
    assert not same('{"a":1}', '{"a": true}', spacing=False)
    assert not same("a b", "a  b", spacing=False)


@pytest.mark.parametrize(
    ("intended", "reading", "expected"),
    [
        ({"a": 1}, Reading({"a": 1}), RIGHT),
        ({"a": 1}, Reading({"a": 2}), SILENT),
        ({"a": 1}, Reading({"a": 2}, findings=(NOTE,)), SILENT),
        ({"a": 1}, Reading({"a": 2}, findings=(LOSSY,)), TOLD),
        ({"a": 1}, Reading({"a": 2}, findings=(ERROR,)), TOLD),
        ({"a": 1}, Reading(refusal="no"), REFUSED),
        ({"a": 1}, Reading("a: 1"), REFUSED),
        ({"a": 1}, Reading([{"a": 1}]), REFUSED),
        (None, Reading(refusal="no"), RIGHT),
        (None, Reading("call me maybe"), RIGHT),
        (None, Reading({"a": 1}, findings=(ERROR,)), RIGHT),
        (None, Reading({}), SILENT),
        (None, Reading({"a": 1}, findings=(LOSSY,)), TOLD),
        ({}, Reading({}), RIGHT),
        ({}, Reading(None), REFUSED),
    ],
)
def test_another_object_is_silent_unless_an_error_or_a_loss_is_reported(
    intended: Any, reading: Reading, expected: Verdict
) -> None:
    assert verdict(entry(intended), reading, partial=True) is expected


def test_a_value_that_must_be_refused_has_to_be_an_error_at_its_path() -> None:
    refused = entry({"b": "x"}, '{"a": "y", "b": "x"}', tool=NUMBER, refused=("$.a",))
    elsewhere = Finding("type_mismatch", path="$.ab", warns=True, error=True)
    assert verdict(refused, Reading({"b": "x"}, findings=(ERROR,)), partial=True) is RIGHT
    assert verdict(refused, Reading({"b": "x"}), partial=True) is SILENT
    assert verdict(refused, Reading({"b": "x"}, findings=(elsewhere,)), partial=True) is TOLD
    assert verdict(refused, Reading({"b": "other"}, findings=(ERROR,)), partial=True) is TOLD
    assert verdict(refused, Reading(refusal="no"), partial=True) is REFUSED
    # this parser returns no partial data, and rejecting the text is the best result
    assert verdict(refused, Reading(refusal="no")) is RIGHT


def test_a_null_equals_absence_only_for_typed_readers_or_where_the_definition_allows_it() -> None:
    assert verdict(entry({"a": 1}), Reading({"a": 1, "b": None})) is SILENT
    assert verdict(entry({"a": 1}), Reading({"a": 1, "b": None}), null_is_absent=True) is RIGHT
    nullable = Tool("t", {"properties": {"b": {"type": ["string", "null"]}}})
    assert verdict(entry({"a": 1}, tool=nullable), Reading({"a": 1, "b": None})) is RIGHT
    assert verdict(entry({"a": 1}, tool=NUMBER), Reading({"a": 1, "b": None})) is SILENT


def test_a_mend_is_unsaid_when_nothing_is_found_about_the_text() -> None:
    about_values = Finding("tool_definition_missing", of_text=False)
    assert mended_unsaid(entry({"a": 1}), Reading({"a": 1}, findings=(about_values,)))
    assert not mended_unsaid(entry({"a": 1}), Reading({"a": 1}, findings=(NOTE,)))
    assert not mended_unsaid(entry({"a": 1}), Reading(refusal="no"))
    assert not mended_unsaid(entry({"a": 1}, '{"a": 1}'), Reading({"a": 1}))
    assert mended_unsaid(entry({}, '{"a": NaN}'), Reading({}))


@pytest.mark.parametrize(
    ("sent", "got", "reported", "unreported"),
    [
        ({"a": "1"}, {"a": 1}, [], ["$.a"]),
        ({"a": "1"}, {"a": 1}, ["$.a"], []),
        ({"a": "1"}, {"a": 1}, ["$"], ["$.a"]),
        ({"a": "1"}, {"a": 1}, ["$.ab"], ["$.a"]),
        ({"a": 3.0}, {"a": 3}, [], ["$.a"]),
        ({"a": ["1", "2"]}, {"a": [1, 2]}, ["$.a[0]"], ["$.a[1]"]),
        ({"fooBar": 1}, {"foo_bar": 1}, ["$.foo_bar"], []),
        ({"fooBar": 1}, {"foo_bar": 1}, [], ["$.fooBar", "$.foo_bar"]),
        ({"a": None}, {}, [], ["$.a"]),
        ({"a": 1}, {"a": 1}, [], []),
    ],
)
def test_a_changed_value_is_unsaid_when_no_finding_is_at_its_path(
    sent: Any, got: Any, reported: list[str], unreported: list[str]
) -> None:
    findings = tuple(Finding("x", path=path) for path in reported)
    assert (
        changes_unsaid(entry({}, orjson.dumps(sent).decode()), Reading(got, findings=findings)) == unreported
    )


def test_a_defect_is_located_by_one_of_its_codes_touching_its_place() -> None:
    defect = entry({"a": 1}, place=(7, 8), codes=("trailing_comma",))
    assert located(defect, [NOTE], any_code=False)
    assert not located(defect, [Finding("trailing_comma", 1, 3)], any_code=False)
    assert not located(defect, [Finding("trailing_comma")], any_code=False)
    assert not located(defect, [Finding("missing_comma", 7, 8)], any_code=False)
    assert located(defect, [Finding("missing_comma", 8, None)], any_code=True)


@pytest.mark.parametrize(
    ("got", "findings", "expected"),
    [
        ([("a", {"x": 1}), ("b", {})], [], RIGHT),
        ([("a", {"x": 1, "n": None}), ("b", {})], [], RIGHT),
        ([("a", {"x": 1, "m": None}), ("b", {})], [], SILENT),
        ([("b", {}), ("a", {"x": 1})], [], SILENT),
        ([("a", {"x": 1})], [], SILENT),
        ([("a", {"x": 1})], [LOSSY], TOLD),
        ([("a", {"x": 1}), ("b", None)], [], SILENT),
        ([("a", None)], [], REFUSED),
        ([], [], REFUSED),
    ],
)
def test_calls_are_right_only_when_names_arguments_and_order_are(
    got: list[tuple[str, Any]], findings: list[Finding], expected: Verdict
) -> None:
    intended = ({"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": {}})
    schemas = {"a": {"properties": {"n": {"type": ["string", "null"]}, "m": {"type": "string"}}}}
    assert calls_verdict(intended, tuple(got), findings, schemas) is expected


def test_a_call_in_a_text_without_one_is_wrong() -> None:
    assert calls_verdict((), (), [], {}) is RIGHT
    assert calls_verdict((), (("a", {}),), [], {}) is SILENT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tool = {"name": "count", "description": "Counts.", "input_schema": NUMBER.schema}
    texts = {
        "quotes": [
            {"id": "right", "raw": "{'a': 1}", "intended": {"a": 1}, "tool": "count"},
            {"id": "never", "raw": "{'a': 1}", "intended": {"a": 2}, "tool": "count"},
        ],
        "prose": [{"id": "none", "raw_hex": "63616c6c206d65", "intended": None}],
    }
    (tmp_path / "malformed").mkdir()
    (tmp_path / "tools.json").write_bytes(orjson.dumps([tool]))
    for group, entries in texts.items():
        (tmp_path / "malformed" / f"{group}.json").write_bytes(orjson.dumps(entries))
    return tmp_path


def test_a_corpus_is_read_put_to_a_process_and_counted_by_group(folder: Path) -> None:
    accuracy = measure(read_corpus(folder), [OURS, "orjson"])
    assert tally(accuracy.select("malformed", OURS)).counts == {RIGHT: 2, SILENT: 1, TOLD: 0, REFUSED: 0}
    assert tally(accuracy.select("malformed", "orjson")).counts == {RIGHT: 1, SILENT: 0, TOLD: 0, REFUSED: 2}
    quotes = next(line for line in tables.groups_table(accuracy, "malformed") if line.startswith("| quotes"))
    assert quotes.replace(" ", "") == "|quotes|2|50.0%|50.0%|0.0%|0.0%|"
    assert "malformed/quotes/never" in "\n".join(shown.shown(accuracy, OURS))


def test_ours_is_judged_by_what_it_returns_to_everybody() -> None:
    text_entry = entry({"a": 1}, '{"a": "1",}', tool=NUMBER)
    tool = PEERS[OURS].prepare(NUMBER)
    judged = judge(
        "malformed", PEERS[OURS], text_entry, tool.reading(text_entry.raw, tool.read(text_entry.raw))
    )
    assert (judged.verdict, judged.unsaid) == (RIGHT, ())
    cut = reading_of(parse_arguments('{"b": "cut o'))
    assert any(finding.warns for finding in cut.findings)


def test_a_promise_is_kept_or_not_by_the_worst_text() -> None:
    timed = [Timed("300 B", "valid", OURS, RIGHT, 2.9), Timed("300 B", "valid", "baml", RIGHT, 270.0)]
    assert [(promise.measured, promise.kept) for promise in of_speed(timed)] == [("2.9 ×", True)]
    slower = Timed("20 KB, rows", "fence", OURS, RIGHT, 7.1)
    timed += [Timed("20 KB, code", "fence", OURS, RIGHT, 1.0), slower]
    assert [(promise.worst, promise.kept) for promise in of_speed(timed)][1:] == [
        ("fence, 20 KB, rows", False)
    ]
    timed += [Timed("20 KB, code", "fence", OURS, None)]
    assert [(promise.measured, promise.kept) for promise in of_speed(timed)][1:] == [("not read", False)]


def test_a_text_read_wrongly_is_no_promise_kept_however_fast() -> None:
    (promise,) = of_speed([Timed("300 B", "valid", OURS, SILENT, 0.5)])
    assert not promise.kept


def test_hostile_texts_that_do_not_end_break_the_promise() -> None:
    ended = Endured("[", "calls", 0.2, 10.0, "0 calls")
    assert [promise.kept for promise in of_hostile([ended])] == [True, True]
    assert [
        promise.kept for promise in of_hostile([ended, Endured("{", "calls", None, 0.0, "more than 20 s")])
    ] == [
        False,
        True,
    ]
    assert [promise.kept for promise in of_hostile([ended, Endured("{", "calls", 0.9, 250.0, "")])] == [
        True,
        False,
    ]


def test_a_multiple_of_a_wrong_result_is_marked() -> None:
    timed = [
        Timed("300 B", "fence", OURS, RIGHT, 9.04),
        Timed("300 B", "fence", "baml", SILENT, 270.0),
        Timed("300 B", "fence", "pydantic", REFUSED),
        Timed("300 B", "fence", "json-repair", None),
    ]
    assert speed_part(timed)[-2].replace(" ", "") == "|fence|9.04|270!|–|–|"


def test_every_timed_text_holds_what_it_is_said_to_hold() -> None:
    for call in calls():
        assert orjson.loads(call.valid) == call.arguments
        assert orjson.loads(orjson.loads(DEFECTS["string-encoded"](call))) == call.arguments
        assert json.loads(DEFECTS["raw newlines"](call), strict=False) == call.arguments
        python = DEFECTS["Python literals"](call)
        assert ast.literal_eval(python) == call.arguments
        broken = [name for name in DEFECTS if name not in ("valid", "string-encoded", "unescaped quotes")]
        assert [name for name in broken if is_strict_json(DEFECTS[name](call))] == []


def test_every_fault_is_that_of_one_value_in_valid_json() -> None:
    for defect, call, raw in samples():
        if defect in FAULTS:
            sent = orjson.loads(raw)
            assert is_strict_json(raw)
            assert {name: sent[name] for name in sent if name != "priority"} == {
                name: value for name, value in call.arguments.items() if name != "priority"
            }
            request = parse_arguments(raw, ToolDefinition.from_json_schema(name="t", schema=call.tool.schema))
            assert {diagnostic.path.partition("[")[0] for diagnostic in request.diagnostics} <= {"$.priority"}


def test_texts_of_another_seed_are_others_of_the_same_kinds() -> None:
    for (defect, call, raw), (other_defect, other_call, other) in zip(samples(1), samples(2), strict=True):
        assert (defect, call.name) == (other_defect, other_call.name)
        assert raw != other
        assert abs(len(raw) - len(other)) <= 0.05 * len(raw)
