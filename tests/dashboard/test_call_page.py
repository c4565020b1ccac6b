"""The page of one call says who judged what, and never lends the parser a verdict that it did not give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.widgets import call_words
from tests.dashboard.conftest import opened, said
from tests.dashboard.store_fixture import HOSTILE, a_call, publish, small_tables

CALLS = "dashboard/pages/calls.py"
CUT: dict[str, Any] = {
    "args_source": "truncated",
    "raw_arguments": '{"path": "a" "lim',
    "arguments": None,
    "outcome": "failed",
    "fault_layer": "syntax",
    "syntax_seen": "failures",
    "schema_seen": "none",
    "parse_error": "refused_by_harness:Expecting ',' delimiter: line 1 column 14 (char 13)",
    "harness_verdict": "syntax",
    "harness_message": "Expecting ',' delimiter: line 1 column 14 (char 13)",
}


def page_of(store: Path, **call: Any) -> AppTest:
    publish(store, small_tables() | {"tool_calls": [a_call(1, **call)]})
    return opened(CALLS, call="c1")


def test_one_call_shows_its_text_with_the_fault_marked(small: Path) -> None:
    words = said(opened("dashboard/pages/calls.py", call="c41"))
    assert "^^^^^^^ json_parse_error" in words
    assert "Error at line 1, column 14 (byte 13)" in words


def test_an_unknown_call_is_said_to_be_unknown(small: Path) -> None:
    assert "No such call" in said(opened("dashboard/pages/calls.py", call="c999"))


def test_names_from_a_log_never_become_markdown(small: Path) -> None:
    app = opened("dashboard/pages/calls.py", call="c43")
    assert HOSTILE not in [
        element.value for kind in (app.title, app.markdown, app.caption) for element in kind
    ]
    assert r"\<img src\=x" in app.title[0].value


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("truncated", "the log cut the text"),
        ("reserialised", "the log keeps only the decoded object"),
        ("missing", "the log keeps no text"),
    ],
)
def test_a_verdict_of_the_harness_is_not_the_parsers(source: str, reason: str) -> None:
    row = {**a_call(1), "parse_warning": None, **CUT, "args_source": source}
    assert call_words.not_judged(row) == reason


@pytest.mark.parametrize(
    ("said_of_it", "judged"),
    [
        ({"syntax_seen": "full", "schema_seen": "none"}, True),
        ({"syntax_seen": "failures", "schema_seen": "full"}, True),
        ({"syntax_seen": "failures", "schema_seen": "failures", "args_source": "reserialised"}, False),
        ({"syntax_seen": "none", "schema_seen": "none", "fault_layer": "emission"}, False),
    ],
)
def test_the_parser_judged_what_it_saw(said_of_it: dict[str, str], judged: bool) -> None:
    row = {**a_call(1), "parse_error": None, "parse_warning": None, "fault_layer": None, **said_of_it}
    assert (call_words.not_judged(row) is None) == judged


def test_the_place_that_the_harness_names_is_marked_in_the_text(store: Path) -> None:
    words = said(page_of(store, **CUT))
    assert "             ^ place named by the harness" in words
    assert "The parser did not judge this: the log cut the text." in words
    assert "None, and none were looked for: the log cut the text." in words


def test_a_place_in_a_text_written_anew_is_not_marked(store: Path) -> None:
    assert "place named by the harness" not in said(page_of(store, **CUT | {"args_source": "reserialised"}))


def test_of_a_call_that_was_never_made_nothing_was_tried(store: Path) -> None:
    lost = {"fault_layer": "emission", "arguments": None, "outcome": "unmeasured", "syntax_seen": "none"}
    words = said(page_of(store, **lost, schema_seen="none", harness_verdict="emission"))
    assert "None, and none were looked for: no call was made." in words


def test_the_tool_definition_is_folded_below(store: Path) -> None:
    known = [{"definition_id": "d1", "tool": "read_file", "definition": '{"name": "read_file"}'}]
    publish(
        store,
        small_tables() | {"tool_calls": [a_call(1, definition_id="d1")], "tool_definitions": known},
    )
    app = opened(CALLS, call="c1")
    assert [fold.label for fold in app.expander if fold.label == "Tool definition"]
    assert '"name": "read_file"' in said(app)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        ({"attempt": None, "retry_kind": None}, "in no chain"),
        ({"attempt": 1, "retry_kind": None}, "1 (first try)"),
        ({"attempt": 3, "retry_kind": "identical"}, "3 (identical arguments)"),
    ],
)
def test_an_attempt_reads_as_words(attempt: dict[str, Any], words: str) -> None:
    assert call_words.attempt(attempt) == words


def test_what_is_known_is_said_in_words_not_in_names_of_the_store() -> None:
    assert call_words.known_by({"syntax_seen": "failures", "schema_seen": "none"}) == (
        "text: only refusals show\ndefinition: not visible"
    )
    assert call_words.error_flag("explicit") == "the log's own flag"
    assert call_words.error_flag("absent") == "no flag in the log"
