"""Tests that the page of a tool call names the source of each verdict: the parser, the agent or the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.verdicts.calls import describe_call
from callgauge.dashboard.components import call_descriptions
from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import here_links, sheet_of, sheets

CALLS = "callgauge/dashboard/pages/calls/page.py"
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
    words = page_text(opened("callgauge/dashboard/pages/calls/page.py", call="c41"))
    assert "^^^^^^^ 1 json_parse_error" in words
    assert "Error at line 1, column 14 (byte 13)" in words


def test_an_unknown_call_is_said_to_be_unknown(small: Path) -> None:
    assert "No such call" in page_text(opened("callgauge/dashboard/pages/calls/page.py", call="c999"))


@pytest.mark.thorough
def test_a_link_from_before_ids_had_marks_still_leads_to_its_call(store: Path) -> None:
    page_of(store, call_id="0123456789abcdef" + "01234567")
    words = page_text(opened(CALLS, call="0123456789abcdef"))
    assert "Raw arguments" in words
    assert "No such call" not in words


def test_names_from_a_log_never_become_markdown(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py", call="c43")
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
    assert call_descriptions.describe_not_judged(row) == reason


@pytest.mark.parametrize(
    ("columns", "judged"),
    [
        ({"syntax_seen": "full", "schema_seen": "none"}, True),
        ({"syntax_seen": "failures", "schema_seen": "full"}, True),
        ({"syntax_seen": "failures", "schema_seen": "failures", "args_source": "reserialised"}, False),
        ({"syntax_seen": "none", "schema_seen": "none", "fault_layer": "emission"}, False),
    ],
)
def test_the_parser_judged_what_it_saw(columns: dict[str, str], judged: bool) -> None:
    row = {**a_call(1), "parse_error": None, "parse_warning": None, "fault_layer": None, **columns}
    assert (call_descriptions.describe_not_judged(row) is None) == judged


def test_the_place_that_the_harness_names_is_marked_in_the_text(store: Path) -> None:
    words = page_text(page_of(store, **CUT))
    assert "             ^ place named by the agent" in words
    assert "The parser did not judge this: the log cut the text. The agent rejected it:" in words
    assert "None: the log cut the text." in words


@pytest.mark.thorough
def test_a_place_in_a_text_written_anew_is_not_marked(store: Path) -> None:
    text = page_text(page_of(store, **CUT | {"args_source": "reserialised"}))
    assert "place named by the agent" not in text


@pytest.mark.thorough
def test_of_a_call_that_was_never_made_nothing_was_tried(store: Path) -> None:
    lost = {"fault_layer": "emission", "arguments": None, "outcome": "unmeasured", "syntax_seen": "none"}
    words = page_text(page_of(store, **lost, schema_seen="none", harness_verdict="emission"))
    assert "None: no call was made." in words


@pytest.mark.thorough
def test_the_tool_definition_is_folded_below(store: Path) -> None:
    definitions = [{"definition_id": "d1", "tool": "read_file", "definition": '{"name": "read_file"}'}]
    publish(
        store,
        small_tables() | {"tool_calls": [a_call(1, definition_id="d1")], "tool_definitions": definitions},
    )
    app = opened(CALLS, call="c1")
    assert [fold.label for fold in app.expander if fold.label == "Tool definition"]
    assert '"name": "read_file"' in page_text(app)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        ({"attempt": None, "retry_kind": None}, "in no retry sequence"),
        ({"attempt": 1, "retry_kind": None}, "1 (first try)"),
        ({"attempt": 3, "retry_kind": "identical"}, "3 (identical arguments)"),
    ],
)
def test_an_attempt_reads_as_words(attempt: dict[str, Any], words: str) -> None:
    assert call_descriptions.describe_attempt(attempt) == words


def test_what_is_known_is_said_in_words_not_in_names_of_the_store() -> None:
    assert call_descriptions.describe_visibility({"syntax_seen": "failures", "schema_seen": "none"}) == (
        "text: only failures are in the log\ndefinition: not measured"
    )
    assert call_descriptions.describe_error_flag("explicit") == "the log's own flag"
    assert call_descriptions.describe_error_flag("absent") == "no flag in the log"


SCHEMA = '{"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}'
DEFINED: dict[str, Any] = {"definition_id": "d1"}


def in_session(store: Path, *calls: dict[str, Any], page: str = "c1") -> AppTest:
    definitions = [
        {"definition_id": "d1", "tool": "read_file", "description": "Reads.", "definition": SCHEMA}
    ]
    publish(store, small_tables() | {"tool_calls": calls, "tool_definitions": definitions})
    return opened(CALLS, call=page)


def test_the_arguments_stand_beside_the_definition_with_the_offending_parameter_lit(store: Path) -> None:
    app = in_session(store, a_call(1, raw_arguments='{"path": "a", "limit": "many"}', **DEFINED))
    path, limit = sheet_of(app, "Parameters: declared, sent, become")
    assert (path["Became"]["text"], path["Parameter"]["heat"]) == ("as sent", None)
    assert (limit["Type"]["text"], limit["Sent"]["text"], limit["Became"]["text"]) == (
        "integer",
        '"many"',
        "invalid",
    )
    assert limit["Parameter"]["heat"] > 0
    assert limit["Diagnostic"]["tone"] == "bad"


def test_the_steps_of_the_parser_are_shown_with_before_and_after(store: Path) -> None:
    app = in_session(store, a_call(1, raw_arguments='```json\n{"path": "a", "limit": "7"}\n```', **DEFINED))
    rows = sheet_of(app, "Steps of the parser in order")
    assert [row["Step"]["text"] for row in rows] == ["surroundings removed", "values converted"]
    assert rows[1]["After"]["text"] == '{"path": "a", "limit": 7}'


def test_attempts_of_a_chain_are_listed_and_what_the_next_changed(store: Path) -> None:
    chain = {"chain_id": "c1", "chain_outcome": "recovered"}
    app = in_session(
        store,
        a_call(1, raw_arguments='{"path": "a"}', attempt=1, fault_layer="execution", **chain),
        a_call(2, raw_arguments='{"path": "b"}', attempt=2, retry_kind="changed", **chain),
        a_call(3, raw_arguments='{"path": "b"}', attempt=3, retry_kind="identical", **chain),
        page="c2",
    )
    rows = sheet_of(app, "Attempts of the retry sequence")
    assert [row["Attempt"]["href"] for row in rows] == ["calls?call=c1", None, "calls?call=c3"]
    assert [row["Arguments"]["text"] for row in rows] == [
        '{"path": "a"}',
        '- path: "a"\n+ path: "b"',
        "identical to the attempt before",
    ]
    assert [row["Arguments"]["diff"] for row in rows] == [False, True, False]
    assert rows[0]["Time (UTC)"]["text"] == "10:00:01"
    assert [table for table in sheets(app) if "ttempt" in table] == ["Attempts of the retry sequence"]
    words = page_text(app)
    assert "3 attempts. The last one worked." in words
    assert r"The arguments were valid\. This is attempt 2 of 3\; the last one worked\." in words


@pytest.mark.parametrize(
    ("call", "attempts", "sentence"),
    [
        ({}, 0, "The arguments were valid. The tool returned a result."),
        (
            {"outcome": "failed", "fault_layer": "syntax", "parse_error": "json_parse_error:x; b:c"},
            0,
            "The arguments were not valid JSON: json_parse_error:x. No retry is in the log.",
        ),
        (
            {
                "fault_layer": "execution",
                "attempt": 1,
                "chain_outcome": "abandoned",
                "result_status": "error",
            },
            1,
            "The arguments were accepted, but the tool failed. It was given up without a retry.",
        ),
        (
            {"outcome": "repaired", "attempt": 2, "chain_outcome": "recovered"},
            2,
            "The arguments were not valid JSON and were repaired. This is attempt 2 of 2, and it worked.",
        ),
        (
            {"fault_layer": "schema", "attempt": 1, "chain_outcome": "abandoned"},
            3,
            "The arguments did not fit the tool's definition. This is attempt 1 of 3; the call was given up.",
        ),
        (
            {"result_status": None, "outcome": "clean"},
            0,
            "The arguments were valid. The log does not say what the tool returned.",
        ),
    ],
)
def test_a_sentence_says_what_was_wrong_and_what_became_of_it(
    call: dict[str, Any], attempts: int, sentence: str
) -> None:
    row = {"parse_error": None, "attempt": None, "chain_outcome": None, "fault_layer": None, **a_call(1)}
    assert describe_call(row | call, attempts, None) == sentence


def test_a_call_that_nobody_could_judge_is_not_called_valid() -> None:
    row = {"fault_layer": None, "attempt": None, "chain_outcome": None, **a_call(1)}
    sentence = describe_call(row, 0, "the log cut the text")
    assert sentence.startswith("The arguments could not be judged: the log cut the text.")


def test_a_call_leads_to_its_session_its_neighbours_and_the_playground(store: Path) -> None:
    app = in_session(store, a_call(1, fault_layer="syntax"), a_call(2), a_call(3), page="c2")
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    assert links[":blue[Open session]"] == "session=s1&call=c2"
    assert links[":blue[Open in the playground]"] == "call=c2"
    page_links = here_links(app)
    assert (page_links["← Previous call"], page_links["Next call →"]) == ("calls?call=c1", "calls?call=c3")
    assert "Next failure →" not in page_links
    assert "Call 2 of 3 in the session" in page_text(app)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "call",
    [
        {"raw_arguments": None, "args_source": "missing", "arguments": None},
        {"raw_arguments": '{"path": "' + "x" * 10_000_000 + '"}', "arguments": None},
        {"fault_layer": "emission", "arguments": None, "raw_arguments": None},
        {"definition_id": None},
        {"definition_id": "gone"},
        {"session_id": None},
        {"raw_arguments": f'{{"{HOSTILE}\u202e": "{HOSTILE}"}}', "tool": HOSTILE},
        {"raw_arguments": "", "arguments": "{}"},
    ],
    ids=[
        "no text",
        "10 MB",
        "emission",
        "no definition",
        "lost definition",
        "no session",
        "hostile",
        "empty",
    ],
)
def test_no_call_breaks_its_page(store: Path, call: dict[str, Any]) -> None:
    app = in_session(store, a_call(1, **{**DEFINED, **call}))
    assert not app.error
    assert "Verdicts of parser, agent and tool" in [fold.label for fold in app.expander]
