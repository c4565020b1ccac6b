"""Tests the tab Stored calls of the playground."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from callgauge.analysis.replay.scenarios import Scenario
from callgauge.analysis.replay.tally import CodeMoves, ReplaySummary
from callgauge.analysis.texts.url_texts import pack_text
from callgauge.dashboard.pages import shell
from callgauge.dashboard.pages.playground.replay import tab as replay_tab
from callgauge.dashboard.pages.playground.replay.sentences import (
    describe_edits,
    describe_order,
    describe_replay,
    describe_settings,
)
from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables
from tests.analysis.test_replay import READ, as_tool, stored, summed
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets

PAGE = "callgauge/dashboard/pages/playground/page.py"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
WIDER = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": ["integer", "string"]}},
}
WIDENED = "If read_file.limit accepted a string, 31 of 31 calls that needed repair would be clean."
TOOL = {"definition_id": "d1", "tool": "read_file", "description": "Reads.", "definition": json.dumps(SCHEMA)}


@pytest.fixture
def replayed(store: Path) -> Path:
    coerced = {"raw_arguments": '{"path": "a", "limit": "20"}', "outcome": "coerced"}
    calls = [
        *(a_call(n, definition_id="d1", session_id=f"s{n}") for n in range(10)),
        *(a_call(n, definition_id="d1", session_id=f"s{n}", **coerced) for n in range(10, 40)),
        a_call(
            40, model=HOSTILE, definition_id="d1", raw_arguments=json.dumps({"path": HOSTILE, "limit": "1"})
        ),
        a_call(41, raw_arguments=None, args_source="missing", outcome="unmeasured"),
    ]
    publish(store, small_tables() | {"tool_calls": calls, "tool_definitions": [TOOL]})
    return store


def run(app: AppTest) -> AppTest:
    wait_for_result(app.button(key="replay_run").click().run())
    assert not app.exception
    return app


def replay(**query: str) -> AppTest:
    return opened(PAGE, tab="stored", **query)


def verdict(app: AppTest) -> str:
    """Return the page's main sentence without Markdown escapes."""
    return str(app.header[0].value).replace("\\", "")


def test_nothing_is_replayed_before_somebody_asks(replayed: Path) -> None:
    words = page_text(replay())
    assert "Parse stored calls again under another definition or policy." in words
    assert "No changes yet." in words
    assert "The store has the raw text of 41 / 42 calls." in words


def test_the_filters_are_shown_in_this_tab_only(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[bool] = []
    draw = shell._filter_bar

    def note(**how: bool) -> None:
        shown.append(how["shown"])
        draw(**how)

    monkeypatch.setattr(shell, "_filter_bar", note)
    app = opened(PAGE)
    last = [shown[-1]]
    app.session_state["tab"] = "Stored calls"
    app.run()
    last.append(shown[-1])
    assert "Parse stored calls again" in page_text(app)
    opened(PAGE, tab="nonsense")
    assert [*last, shown[-1]] == [False, True, False]


def test_of_a_large_slice_the_newest_days_tell_what_the_store_has(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_tab, "SIZED", 3)
    calls = [a_call(n, day=f"2026-11-{20 - n // 2}", ts=f"2026-11-{20 - n // 2}T10:00:00") for n in range(6)]
    publish(store, small_tables() | {"tool_calls": calls})
    app = replay()
    assert "calls since 2026-11-20; earlier calls were not counted." in page_text(app)
    assert app.button(key="replay_run").label == "Parse 6 calls again"


@pytest.mark.thorough
def test_the_same_settings_move_nothing(replayed: Path) -> None:
    app = run(replay())
    assert verdict(app) == "Nothing would change: 41 calls with the same result."
    assert "Not parsed: 1 (the log keeps no text)." in page_text(app)


@pytest.mark.thorough
def test_a_definition_in_the_link_is_replayed_and_said_in_words(replayed: Path) -> None:
    edited = json.dumps({"name": "read_file", "input_schema": WIDER})
    app = run(replay(replay_tool="read_file", definition=pack_text(edited)))
    assert verdict(app) == WIDENED
    flows = sheet_of(app, "Outcomes before and after")
    assert [(row["Before"]["text"], row["After"]["text"], row["Calls"]["text"]) for row in flows] == [
        ("coerced", "clean", "31"),
        ("clean", "clean", "10"),
    ]
    listed = sheet_of(app, "Changed calls")
    assert len(listed) == 25
    assert listed[0]["Changed values"]["text"] == '$.limit: 20 → "20"'
    assert "− string_literal_converted_to_integer $.limit" in listed[0]["Diagnostics"]["text"]
    assert "call=" in listed[0]["Time (UTC)"]["href"]
    app.session_state["rates"] = True
    app.run()
    rates = {row["Outcome"]["text"]: row for row in sheet_of(app, "Rates before and after")}
    assert rates["Clean"]["Difference"]["text"].startswith("+75.6")


@pytest.mark.thorough
def test_the_second_page_of_the_changed_calls_is_in_the_url(replayed: Path) -> None:
    app = run(replay(replay_policy="strict"))
    app.query_params["moved_page"] = "2"
    app.run()
    assert len(sheet_of(app, "Changed calls")) == 6


@pytest.mark.thorough
def test_the_changed_calls_are_offered_as_a_trial(replayed: Path) -> None:
    app = run(replay(replay_policy="strict"))
    app.selectbox(key="replay_testset_shape").select("trial").run()
    app.button(key="replay_testset_prepare").click().run()
    assert not app.exception
    assert "No task." in page_text(app)
    assert "the user's message is not in the log" in page_text(app)


@pytest.mark.thorough
def test_codes_and_policy_come_from_the_link_and_hostile_text_stays_text(replayed: Path) -> None:
    app = run(replay(refuse="string_literal_converted_to_integer"))
    assert verdict(app) == (
        "If string_literal_converted_to_integer counted as an error, 31 calls that passed would fail."
    )
    assert HOSTILE not in "".join(element.value for element in (*app.markdown, *app.caption, *app.header))


def wait_for_result(app: AppTest) -> AppTest:
    until = time.monotonic() + 240
    while "Parsing stored calls" in page_text(app):
        assert time.monotonic() < until
        time.sleep(0.1)
        app.run()
    return app


def fresh_browser(**query: str) -> AppTest:
    """Open the page as a new browser does, without a cached result of the replay."""
    st.cache_resource.clear()
    return replay(**query)


@pytest.mark.thorough
def test_a_link_opens_with_its_settings_and_its_result(replayed: Path) -> None:
    edited = json.dumps({"name": "read_file", "input_schema": WIDER})
    first = run(replay(replay_tool="read_file", definition=pack_text(edited)))
    link = {key: first.query_params[key] for key in ("replay_tool", "definition", "reading")}
    colleague = wait_for_result(fresh_browser(**link))
    assert verdict(colleague) == verdict(first)
    assert "limit" in "".join(block.value for block in colleague.code if block.language == "diff")


@pytest.mark.thorough
def test_other_settings_than_those_of_the_link_do_not_run_by_themselves(replayed: Path) -> None:
    mark = run(replay()).query_params["reading"]
    app = fresh_browser(reading=mark, replay_policy="strict")
    assert not app.header
    assert "reading" not in app.query_params


@pytest.mark.thorough
def test_a_link_to_more_calls_than_it_may_start_asks_first(
    replayed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = run(replay()).query_params["reading"]
    monkeypatch.setattr(replay_tab, "AT_ONCE", 10)
    app = fresh_browser(reading=mark)
    assert "Press the button to start." in page_text(app)
    assert not sheets(app)


@pytest.mark.thorough
def test_the_calls_of_one_move_are_in_the_link(replayed: Path) -> None:
    app = run(replay(replay_policy="strict", replay_against="stored"))
    flows = sheet_of(app, "Outcomes before and after")
    changed = [row for row in flows if row["Outcome"]["text"] == "changed"]
    assert all("flow=" in row["Calls"]["href"] for row in changed)


@pytest.mark.thorough
def test_the_definition_is_edited_by_form_and_shown_as_a_diff(replayed: Path) -> None:
    app = replay(replay_tool="read_file", **{"as": "form"})
    types = next(box for box in app.multiselect if box.label == "Types of limit")
    types.set_value(["integer", "string"]).run()
    assert "As if read_file.limit accepted a string." in page_text(app).replace("\\", "")
    [diff] = [block.value for block in app.code if block.language == "diff"]
    assert '+          "string"' in diff
    assert "definition" in app.query_params
    assert verdict(run(app)) == WIDENED


@pytest.mark.parametrize("link", ["%%%", pack_text("x" * 10), "eJ" + "A" * 50])
def test_a_damaged_link_is_a_sentence(replayed: Path, link: str) -> None:
    app = replay(replay_tool="read_file", definition=link)
    assert [*app.warning, *app.error]


def test_a_definition_of_another_tool_is_said_to_change_nothing(replayed: Path) -> None:
    other = json.dumps({"name": "write", "input_schema": WIDER})
    app = replay(replay_tool="read_file", definition=pack_text(other))
    assert "This defines write, not read" in app.warning[0].value


def test_a_running_replay_can_be_cancelled(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgauge.analysis.replay.jobs.COMMAND", ("sleep", "60"))
    app = replay()
    app.button(key="replay_run").click().run()
    assert "Parsing stored calls" in page_text(app)
    assert app.button(key="replay_run").disabled
    app.button(key="replay_cancel").click().run()
    app.run()
    assert "The replay was cancelled." in page_text(app)


def test_a_dead_worker_is_a_sentence(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgauge.analysis.replay.jobs.COMMAND", ("sh", "-c", "kill -9 $$"))
    assert "process ended (killed" in page_text(run(replay()))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"a": {"type": "integer"}}, {"a": {"type": ["integer", "string"]}}, ["t.a accepted a string"]),
        (
            {"a": {"type": "integer"}},
            {"a": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
            ["t.a accepted null"],
        ),
        (
            {"a": {"type": "integer"}},
            {"a": {"type": "string"}},
            ["t.a accepted a string", "t.a no longer accepted an integer"],
        ),
        ({"a": {"enum": ["x"]}}, {"a": {"enum": ["x", "y"]}}, ["t.a were declared as edited"]),
        ({}, {"b": {"type": "string"}}, ["t took b"]),
        ({"b": {"type": "string"}}, {}, ["t had no b"]),
        ({"a": 7}, {"a": True}, ["t.a were declared as edited"]),
    ],
)
def test_an_edit_is_said_in_words(old: dict[str, object], new: dict[str, object], words: list[str]) -> None:
    assert describe_edits("t", {"properties": old}, {"properties": new}) == words


def test_what_is_required_is_said_in_words() -> None:
    old = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
    new = {"properties": {"a": {}, "b": {}}, "required": ["b"]}
    assert describe_edits("t", old, new) == ["t.a were optional", "t.b were required"]
    assert describe_edits("t", old, {**old, "additionalProperties": False}) == ["t were declared as edited"]


def test_the_sentence_names_conditions_and_moves() -> None:
    summary = ReplaySummary(
        calls=110,
        changes={"fails": 9, "passes": 4, "values": 1},
        not_read={"missing": 10},
        flows=[
            ("clean", "clean", 50),
            ("coerced", "failed", 9),
            ("failed", "clean", 4),
            ("failed", "failed", 37),
        ],
        rates={},
        codes={"string_literal_converted_to_integer": CodeMoves(13, 4, 9, 0)},
    )
    assert describe_order(summary) == (
        "Biggest changes first: 9 would fail, 4 would no longer fail, 1 with other values."
    )
    scenario = Scenario(policy="strict", silent=("missing_required",))
    assert describe_replay(scenario, summary) == (
        "With these settings, 4 of 41 failed calls would pass; 9 calls that passed would fail."
    )
    assert describe_settings(scenario) == ("If missing_required were ignored and under the policy strict.")


@pytest.mark.parametrize(
    ("flows", "sentence"),
    [
        (
            [
                ("failed", "clean", 31),
                ("failed", "failed", 66),
                ("clean", "failed", 2),
                ("clean", "clean", 9),
            ],
            "31 of 97 failed calls would pass; 2 clean calls would fail.",
        ),
        (
            [("failed", "coerced", 3), ("clean", "clean", 9)],
            "3 of 3 failed calls would pass; no other call would fail.",
        ),
        ([("clean", "failed", 1)], "1 clean call would fail."),
        (
            [("coerced", "failed", 1), ("unmeasured", "failed", 3)],
            "1 call that passed would fail; 3 calls not measured before would fail.",
        ),
        ([("failed", "unmeasured", 2)], "2 of 2 failed calls may pass (no raw text to check)."),
        (
            [("coerced", "clean", 3), ("repaired", "repaired", 1)],
            "3 of 4 calls that needed repair would be clean.",
        ),
        ([("clean", "coerced", 3)], "3 clean calls would need repair."),
        ([("unmeasured", "clean", 3)], "3 calls would have another outcome."),
        (
            [("clean", "clean", 30)],
            "No outcome would change; 5 calls would have other values or diagnostics.",
        ),
    ],
)
def test_the_sentence_counts_what_would_be_fine_and_what_would_fail(
    flows: list[tuple[str, str, int]], sentence: str
) -> None:
    summary = ReplaySummary(sum(calls for *_, calls in flows), {"values": 5}, {}, flows, {}, {})
    assert describe_replay(Scenario(), summary).lower() == sentence.lower()
    edited = Scenario(edited='{"name": "t", "input_schema": {}}')
    assert (
        describe_replay(edited, summary)
        == f"If t were defined like this, {sentence[0].lower()}{sentence[1:]}"
    )


def test_a_refused_call_without_its_text_may_pass() -> None:
    refused = stored('{"range": 3}', "failed", args_source="reserialised", result_fault_layer="schema")
    fits = as_tool({**READ, "required": []})
    replayed = describe_replay(Scenario(edited=fits), summed([refused], edited=fits))
    assert "1 of 1 failed call may pass (no raw text to check)" in replayed
