"""The page Replay: settings from the URL, a run of its own, what moved in words, lists and files."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.dashboard.pages.replay.sentences import describe_edits, describe_replay
from callgauge.dashboard.replay.scenarios import Scenario
from callgauge.dashboard.replay.tally import CodeMoves, ReplaySummary
from callgauge.dashboard.texts.url_texts import pack_text
from tests.dashboard.conftest import opened, said
from tests.dashboard.sheets import sheet_of
from tests.dashboard.store_fixture import HOSTILE, a_call, publish, small_tables

PAGE = "callgauge/dashboard/pages/replay/page.py"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
WIDER = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": ["integer", "string"]}},
}
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
    app.button(key="replay_run").click().run()
    until = time.monotonic() + 240
    while "Replaying" in said(app):
        assert time.monotonic() < until
        time.sleep(0.1)
        app.run()
    assert not app.exception
    return app


def verdict(app: AppTest) -> str:
    """The sentence, without the escapes that keep it from being Markdown."""
    return str(app.subheader[0].value).replace("\\", "")


def test_nothing_is_replayed_before_somebody_asks(replayed: Path) -> None:
    words = said(opened(PAGE))
    assert "Nothing has been replayed yet" in words
    assert "Nothing is changed yet" in words
    assert "The store has the text of 41 / 42 calls of this slice." in words


def test_the_same_settings_move_nothing(replayed: Path) -> None:
    app = run(opened(PAGE))
    assert verdict(app) == "Nothing would move: all 41 calls read as before."
    assert "Not read again: 1 (the log keeps no text)." in said(app)


def test_a_definition_in_the_link_is_replayed_and_said_in_words(replayed: Path) -> None:
    edited = json.dumps({"name": "read_file", "input_schema": WIDER})
    app = run(opened(PAGE, replay_tool="read_file", definition=pack_text(edited)))
    assert verdict(app) == "If read_file.limit accepted a string, 100% of the coercions would go (31 / 31)."
    flows = sheet_of(app, "Outcomes before and after")
    assert [(row["Before"]["text"], row["After"]["text"], row["Calls"]["text"]) for row in flows] == [
        ("coerced", "clean", "31"),
        ("clean", "clean", "10"),
    ]
    listed = sheet_of(app, "Calls that read otherwise")
    assert len(listed) == 25
    assert listed[0]["Values that moved"]["text"] == '$.limit: 20 → "20"'
    assert "− string_literal_converted_to_integer $.limit" in listed[0]["Findings"]["text"]
    assert "call=" in listed[0]["Time (UTC)"]["href"]
    rates = {row["Outcome"]["text"]: row for row in sheet_of(app, "Rates before and after")}
    assert rates["Clean"]["Difference"]["text"].startswith("+75.6")


def test_the_second_page_of_the_changed_calls_is_in_the_url(replayed: Path) -> None:
    app = run(opened(PAGE, replay_policy="strict"))
    app.query_params["moved_page"] = "2"
    app.run()
    assert len(sheet_of(app, "Calls that read otherwise")) == 6


def test_codes_and_policy_come_from_the_link_and_hostile_text_stays_text(replayed: Path) -> None:
    app = run(opened(PAGE, refuse="string_literal_converted_to_integer"))
    assert verdict(app) == (
        "If string_literal_converted_to_integer counted as an error, 76% of the calls that pass would be "
        "refused (31 / 41)."
    )
    assert HOSTILE not in "".join(element.value for element in (*app.markdown, *app.caption, *app.subheader))


@pytest.mark.parametrize("link", ["%%%", pack_text("x" * 10), "eJ" + "A" * 50])
def test_a_damaged_link_is_a_sentence(replayed: Path, link: str) -> None:
    app = opened(PAGE, replay_tool="read_file", definition=link)
    assert [*app.warning, *app.error]


def test_a_definition_of_another_tool_is_said_to_change_nothing(replayed: Path) -> None:
    other = json.dumps({"name": "write", "input_schema": WIDER})
    app = opened(PAGE, replay_tool="read_file", definition=pack_text(other))
    assert "This defines write, and not read" in app.warning[0].value


def test_a_running_replay_can_be_cancelled(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgauge.dashboard.replay.jobs.COMMAND", ("sleep", "60"))
    app = opened(PAGE)
    app.button(key="replay_run").click().run()
    assert "Replaying" in said(app)
    assert app.button(key="replay_run").disabled
    app.button(key="replay_cancel").click().run()
    app.run()
    assert "The replay was cancelled." in said(app)


def test_a_dead_worker_is_a_sentence(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgauge.dashboard.replay.jobs.COMMAND", ("sh", "-c", "kill -9 $$"))
    assert "process ended (killed" in said(run(opened(PAGE)))


@pytest.mark.parametrize(
    ("old", "new", "told"),
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
def test_an_edit_is_said_in_words(old: dict[str, object], new: dict[str, object], told: list[str]) -> None:
    assert describe_edits("t", {"properties": old}, {"properties": new}) == told


def test_what_is_required_is_said_in_words() -> None:
    old = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
    new = {"properties": {"a": {}, "b": {}}, "required": ["b"]}
    assert describe_edits("t", old, new) == ["t.a were optional", "t.b were required"]
    assert describe_edits("t", old, {**old, "additionalProperties": False}) == ["t were declared as edited"]


def test_the_sentence_names_conditions_and_moves() -> None:
    found = ReplaySummary(
        calls=110,
        changed=14,
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
    scenario = Scenario(policy="strict", silent=("missing_required",))
    assert describe_replay(scenario, found) == (
        "If missing_required were accepted silently and under the policy strict, 69% of the coercions would "
        "go (9 / 13); 9.8% of the refused calls would pass (4 / 41); 15% of the calls that pass would be "
        "refused (9 / 59)."
    )
