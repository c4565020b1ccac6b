"""Tests the page Tools."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.dashboard import viewer
from tests.analysis.made_fixes import publish_made
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish
from tests.analysis.test_definition_fixes import made
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, here_links, sheets, texts

PAGE = "callgauge/dashboard/pages/tools/page.py"
LIMIT = {"type": "string", "description": "Number of results to return."}


def definition(number: int, **limit: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"limit": LIMIT | limit}}
    return {
        "definition_id": f"d{number}",
        "tool": "search",
        "description": "Finds.",
        "definition": json.dumps(schema),
        "origin": "log",
    }


@pytest.fixture
def two_tools(store: Path) -> Path:
    bad = {"fault_layer": "schema", "outcome": "failed", "parse_error": "missing_required:limit"}
    calls = [
        *(a_call(number) for number in range(40)),
        *(a_call(number, tool="search", definition_id="d1") for number in range(40, 60)),
        *(
            a_call(
                number, tool="search", definition_id="d2", day="2026-11-21", ts="2026-11-21T10:00:00", **bad
            )
            for number in range(60, 70)
        ),
        a_call(70, tool=HOSTILE, model=HOSTILE),
    ]
    diagnostic = {"file_id": 1, "position": 0, "stage": "check", "lossy": False, "severity": "error"}
    publish(
        store,
        {
            "tool_calls": calls,
            "turns": [a_turn(1)],
            "diagnostics": [
                diagnostic | {"call_id": f"c{number}", "code": "missing_required", "path": "$.limit"}
                for number in range(60, 70)
            ],
            "codes": [{"code": "missing_required", "severity": "error", "summary": "It is missing."}],
            "tool_definitions": [definition(1), definition(2, description="Number of results to return")],
        },
    )
    return store


def test_the_tool_that_loses_most_stands_first_and_leads_to_itself_and_its_calls(two_tools: Path) -> None:
    table = sheets(opened(PAGE))["Tools by failures"]
    names = texts(table, 0)
    assert names[0] == "search"
    assert len(names) == 3
    assert table["rows"][0][0]["href"].startswith("tools?tool_open=search")
    assert table["rows"][0][1] | {"text": "30"} == table["rows"][0][1]
    assert [column["title"] for column in table["columns"]] == [
        "Tool", "Calls", "Parse errors", "Retry rate", "Turn success", "Given up", "Worst parameter",
    ]  # fmt: skip
    assert sum(bool(column["help"]) for column in table["columns"]) <= 2
    assert table["rows"][0][1]["href"] == "calls?tool=search"


def test_another_rate_comes_first(two_tools: Path) -> None:
    table = sheets(opened(PAGE, rate="mended"))["Tools by failures"]
    assert table["columns"][2]["title"] == "Needed repair"


def test_all_rates_and_the_latency_of_each_tool_are_behind_a_fold(many_sessions: Path) -> None:
    assert "All rates of tools" not in sheets(opened(PAGE))
    table = sheets(opened(PAGE, all_rates="1"))["All rates of tools"]
    assert [column["title"] for column in table["columns"][-2:]] == ["Latency p50", "Latency p95"]
    assert texts(table, 0) == ["search", "read_file"]
    assert [row[-1]["text"] for row in table["rows"]] == ["–", "–"]
    assert [row[-2]["sub"] for row in table["rows"]] == ["not measured", "not measured"]


@pytest.fixture
def many_sessions(store: Path) -> Path:
    """Return a store of four tools. Two have many sessions, one has a single session, and one has a
    misspelled name.
    """
    bad = {"fault_layer": "schema", "outcome": "failed", "parse_error": "missing_required:limit"}
    unknown = {"fault_layer": "schema", "outcome": "failed", "parse_error": "unknown_tool:serach"}
    offered = {"tools_offered": True}
    calls = [
        *(a_call(number, session_id=f"s{number}") for number in range(40)),
        *(
            a_call(number, tool="search", definition_id="d1", session_id=f"s{number}", **offered)
            for number in range(40, 80)
        ),
        *(
            a_call(number, tool="search", definition_id="d1", session_id=f"s{number}", **offered, **bad)
            for number in range(80, 90)
        ),
        a_call(90, tool="rare"),
        *(a_call(number, tool="serach", **offered, **unknown) for number in range(91, 94)),
    ]
    diagnostic = {"file_id": 1, "position": 0, "stage": "check", "lossy": False, "severity": "error"}
    publish(
        store,
        {
            "tool_calls": calls,
            "turns": [a_turn(1)],
            "diagnostics": [
                *(
                    diagnostic | {"call_id": f"c{number}", "code": "missing_required", "path": "$.limit"}
                    for number in range(80, 90)
                ),
                *(
                    diagnostic | {"call_id": f"c{number}", "code": "unknown_tool", "path": "$"}
                    for number in range(91, 94)
                ),
            ],
            "tool_definitions": [definition(1)],
        },
    )
    return store


def test_a_sentence_names_the_worst_tool_and_its_parameter(many_sessions: Path) -> None:
    app = opened(PAGE)
    assert app.header[0].value.replace("\\", "") == (
        "search has the highest share of parse errors: 10 of 50 calls (20%), mostly at limit."
    )
    assert texts(sheets(app)["Tools by failures"], 0) == ["search", "read_file"]


def test_names_that_models_invented_stand_apart_with_what_they_meant(many_sessions: Path) -> None:
    app = opened(PAGE)
    labels = [fold.label for fold in app.expander]
    assert labels[-3:] == [
        "All rates",
        "3 calls to 1 tool that were not offered",
        "1 tool with too few sessions to rank",
    ]
    app.session_state["invented"] = True
    [row] = sheets(app.run())["Tools that were not offered"]["rows"]
    assert [cell["text"] for cell in row[:4]] == ["serach", "3", "search", "falcon-3"]
    assert row[4]["href"] == "calls?call=c93"


def test_too_few_sessions_are_said(two_tools: Path) -> None:
    assert opened(PAGE).header[0].value.startswith("Not enough data to say which tool fails")


@pytest.fixture
def as_text(store: Path) -> Path:
    """Return a store of a tool with an integer parameter. One of two models sends strings for this parameter.
    Some calls are invalid JSON.
    """
    sent = {"raw_arguments": '{"limit": "20"}', "outcome": "coerced", "model": "slate"}
    many = {"raw_arguments": '{"limit": "many"}', "outcome": "failed", "fault_layer": "schema"}
    broken = {"raw_arguments": '{"limit": "20",}', "outcome": "repaired"}
    fine = {"raw_arguments": '{"limit": 20}'}
    kinds = (
        [fine] * 40 + [sent] * 30 + [sent | many] * 6 + [sent | broken] * 4 + [fine | {"model": "slate"}] * 20
    )
    calls = [
        a_call(number, tool="search", definition_id="d1", session_id=f"s{number}", **fields)
        for number, fields in enumerate(kinds)
    ]
    diagnostic = {"file_id": 1, "position": 0, "lossy": False, "path": "$.limit", "stage": "coerce"}
    text = diagnostic | {"code": "string_literal_converted_to_integer", "severity": "note", "found": '"20"'}
    error = diagnostic | {"code": "unsupported_integer_literal", "severity": "error", "found": '"many"'}
    comma = diagnostic | {
        "code": "trailing_comma",
        "severity": "note",
        "stage": "repair",
        "path": "$",
        "position": 1,
    }
    publish(
        store,
        {
            "tool_calls": calls,
            "turns": [a_turn(1)],
            "diagnostics": [
                *(
                    text | {"call_id": f"c{number}", "became": "20"}
                    for number in (*range(40, 70), *range(76, 80))
                ),
                *(error | {"call_id": f"c{number}"} for number in range(70, 76)),
                *(comma | {"call_id": f"c{number}", "position": 1} for number in range(76, 80)),
            ],
            "tool_definitions": [definition(1, type="integer")],
        },
    )
    return store


@pytest.mark.parametrize(
    ("code", "calls", "is_linked"),
    [
        ("unsupported_integer_literal", 40, True),
        ("unsupported_integer_literal", 1, False),
        ("missing_required", 40, False),
    ],
)
def test_the_page_links_to_the_edits_of_tools_for_which_an_edit_may_exist(
    store: Path, code: str, calls: int, is_linked: bool
) -> None:
    diagnostic = {"file_id": 1, "position": 0, "stage": "coerce", "lossy": False, "severity": "error"}
    publish(
        store,
        {
            "tool_calls": [a_call(number, session_id=f"s{number}") for number in range(100)],
            "turns": [a_turn(1)],
            "diagnostics": [
                diagnostic | {"call_id": f"c{number}", "code": code, "path": "$.limit"}
                for number in range(calls)
            ],
        },
    )
    links = here_links(opened(PAGE))
    tool = "Fix the definition of read_file"
    assert links.get(tool) == ("tools?tool_open=read_file" if is_linked else None)
    assert tool not in here_links(opened(PAGE, rate="execution"))


def replayed(**query: str) -> AppTest:
    """Return the page of a tool after its calls were replayed in the background."""
    return finish(opened(PAGE, tool_open="search", **query))


def finish(app: AppTest) -> AppTest:
    """Return the page after the replay in the background has ended."""
    for _ in range(120):
        if "Replaying" not in page_text(app):
            return app.run()  # this run may have drawn the sentence before the end of the replay
        time.sleep(0.5)
        app.run()
    raise AssertionError("the replay did not end")


def verdict(app: AppTest) -> str:
    return str(app.header[0].value).replace("\\", "")


@pytest.mark.thorough
def test_the_page_of_a_tool_answers_with_the_parameter_and_why_there_is_no_edit(as_text: Path) -> None:
    app = replayed()
    assert verdict(app) == "search: limit is sent as text in 40.0% of calls, mostly by slate."
    assert "because only slate clearly makes this error (36 of 56 calls)" in page_text(app).replace("\\", "")
    assert not [code for code in app.code if code.language == "diff"]


@pytest.mark.thorough
def test_the_page_of_a_tool_shows_the_edits_and_the_diff_of_the_chosen_ones(store: Path) -> None:
    def names(app: AppTest) -> list[str]:
        return [box.label.replace("\\", "") for box in app.checkbox if str(box.key).startswith("fix_")]

    publish_made(store, made())
    app = replayed()
    assert [name.strip("*").partition(":")[0] for name in names(app)] == [
        "limit", "order", "timeout", "page", "trace",
    ]  # fmt: skip
    [change] = [code.value for code in app.code if code.language == "diff"]
    assert "Unit: seconds" in change
    assert '"type": "integer"' in change
    app.checkbox(key="fix_name_unit:timeout").uncheck().run()
    app = finish(app)
    [change] = [code.value for code in app.code if code.language == "diff"]
    assert "Unit: seconds" not in change
    assert "These 4 edits would have made" in page_text(app)


def test_each_parameter_is_one_row_with_what_was_sent_instead(as_text: Path) -> None:
    table = sheets(opened(PAGE, tool_open="search"))["What calls get wrong by parameter"]
    assert texts(table, 0) == ["limit", "the arguments as a whole"]
    first = table["rows"][0]
    assert [cell["text"] for cell in first] == ["limit", "integer", "text (40)", "40.0%", "34", "6", "slate"]
    assert first[3]["sub"].startswith("40 / 100 · ")
    assert first[0]["href"] == "tools?tool_open=search&parameter=limit"
    assert sum(bool(column["help"]) for column in table["columns"]) <= 2


def test_an_open_parameter_shows_values_and_models_above_the_table(as_text: Path) -> None:
    app = opened(PAGE, tool_open="search", parameter="limit")
    captions = list(sheets(app))
    assert captions.index("Values sent at this parameter") < captions.index(
        "What calls get wrong by parameter"
    )
    assert texts(sheets(app)["Calls affected by model"], 0) == ["slate", "falcon-3"]
    values = sheets(app)["Values sent at this parameter"]["rows"]
    assert [[cell["text"] for cell in row[:2]] for row in values] == [['"20"', "20"], ['"many"', "–"]]
    assert [row[3]["text"] for row in values] == ["34", "6"]
    assert sheets(app)["What calls get wrong by parameter"]["chosen"] == 0
    app.query_params["by"] = "definition"
    assert texts(sheets(app.run())["Calls affected by tool definition"], 0) == ["d1"]


def test_whoever_sees_no_content_gets_the_answer_and_no_replay(
    as_text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "sees_texts", lambda: False)
    app = opened(PAGE, tool_open="search")
    assert verdict(app) == "search: limit is sent as text in 40.0% of calls, mostly by slate."
    assert "Replaying" not in page_text(app)
    assert "Content is hidden on this server, so calls cannot be replayed" in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("parameter", ["nothing", "", HOSTILE, "x" * 5_000])
def test_a_parameter_that_nobody_gets_wrong_says_so(two_tools: Path, parameter: str) -> None:
    app = opened(PAGE, tool_open="search", parameter=parameter)
    assert not app.exception
    assert "No call of this selection gets this parameter wrong." in page_text(app)


@pytest.mark.thorough
def test_a_tool_shows_since_when_its_rate_is_another_and_the_day_of_a_new_definition(store: Path) -> None:
    days = [f"2026-10-{day:02}" for day in range(1, 25)]
    publish(
        store,
        {
            "tool_calls": [
                *(
                    call | {"definition_id": "d1" if place < 12 else "d2", "ts": f"{day}T10:00:00"}
                    for place, day in enumerate(days)
                    for call in calls(
                        20 if place < 12 else 10, 0 if place < 12 else 10, tool="search", day=day
                    )
                ),
                *calls(20, 0, tool="other", day="2026-10-20"),
            ],
            "tool_definitions": [definition(1), definition(2)],
        },
    )
    app = opened(PAGE, tool_open="search", by_day="1")
    changes = [row[2]["text"] for row in sheets(app)["What changed, and when"]["rows"]]
    assert {"Version 2 of the definition", "search: parse errors 0% → 50.0%"} <= set(changes)
    assert "Parse errors by day, with the changes of the definition" in page_text(app)


def test_versions_stand_side_by_side_with_what_changed_between_them(two_tools: Path) -> None:
    app = opened(PAGE, tool_open="search", versions="1")
    table = sheets(app)["Versions of the definition of search"]
    assert texts(table, 0) == ["2", "1"]
    assert texts(table, 2) == ["10", "20"]
    assert [row[3]["text"] for row in table["rows"]] == ["100%", "0%"]
    [changes] = [code.value for code in app.code if code.language == "diff"]
    assert '-      "description": "Number of results to return.' in changes


def test_the_lint_advises_an_edit_and_says_how_many_calls_it_may_explain(two_tools: Path) -> None:
    table = sheets(opened(PAGE, tool_open="search", versions="1"))["Advice of the lint"]
    first = table["rows"][0]
    assert [first[0]["text"], first[1]["sub"], first[2]["text"]] == ["$.limit", "number_as_text", "10"]
    assert json.loads(first[4]["text"])["type"] in ("integer", "number")


def test_a_tool_whose_definition_no_log_holds_says_how_to_give_it(two_tools: Path) -> None:
    assert "--tools FILE" in page_text(opened(PAGE, tool_open="read_file"))


def test_a_hostile_name_stays_text(two_tools: Path) -> None:
    app = opened(PAGE, tool_open=HOSTILE)
    assert "<img" not in app.title[0].value.replace("\\<", "")
    assert "<img" not in app.header[0].value.replace("\\<", "")


def test_an_unknown_tool_says_so_and_leads_back(two_tools: Path) -> None:
    assert "No calls of this tool here" in page_text(opened(PAGE, tool_open="nothing"))


def test_an_empty_store_says_what_to_load(store: Path) -> None:
    publish(store, {})
    assert "callgauge ingest" in page_text(opened(PAGE))


def test_results_that_report_a_failure_are_said_on_the_page_of_their_tool(store: Path) -> None:
    reported = {"result_status": "error", "error_flag_source": "envelope", "fault_layer": "execution"}
    failed = {"tool": "weather", **reported, "result_text": '{"success": false, "error": "no such city"}'}
    calls = [a_call(number, tool="weather") for number in range(41)]
    publish(
        store,
        {
            "tool_calls": [*calls, *(a_call(number, **failed) for number in range(41, 50))],
            "turns": [a_turn(1)],
        },
    )
    expected = "18% of results say `success: false`; counted as failed."
    assert expected in [caption.value for caption in opened(PAGE, tool_open="weather").caption]
