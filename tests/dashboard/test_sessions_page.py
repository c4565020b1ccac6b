"""Tests the list of sessions, and the timeline of one session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import BAD, sheet_of, sheets, texts

SESSIONS = "callgauge/dashboard/pages/sessions/page.py"


def a_session(name: str = "s1", **fields: Any) -> dict[str, Any]:
    return {
        "session_id": name,
        "file_id": 1,
        "line": 1,
        "source": "session_history",
        "started_at": "2026-11-20T10:00:00",
        "ended_at": "2026-11-20T10:04:12",
        "day": "2026-11-20",
        "duplicate": False,
    } | fields


def time_line(app: AppTest) -> dict[str, Any]:
    blocks = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    return next(element for element in blocks if "strip" in element)


def drawn_calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [call for turn in line["turns"] for step in turn["steps"] for call in step["calls"]]


@pytest.fixture
def long(store: Path) -> Path:
    """Return a store with two turns of 2,500 steps. Every thousandth step has an error."""
    calls = [
        a_call(
            number,
            turn=1 + number // 2500,
            turn_id=f"s1:{1 + number // 2500}",
            step=number % 2500,
            ts="2026-11-20T10:00:00",
            **(BAD if number % 1000 == 999 else {}),
        )
        for number in range(5000)
    ]
    turns = [a_turn(number, steps=2500, calls=2500, user_text=f"Begin {number}") for number in (1, 2)]
    publish(store, {"tool_calls": calls, "turns": turns, "sessions": [a_session()]})
    return store


@pytest.mark.thorough
def test_a_run_is_shown_where_a_session_is_of_one_and_the_list_is_filtered_by_it(store: Path) -> None:
    publish(store, small_tables() | {"sessions": [a_session(run="night-7"), a_session("s2")]})
    app = opened(SESSIONS)
    assert [row["Session"]["sub"] for row in sheet_of(app, "Sessions")] == ["s1\nrun night-7", "s2"]
    assert next(box.options for box in app.selectbox if box.label == "Run") == ["All runs", "night-7"]
    app = opened(SESSIONS, path_run="night-7")
    assert "1 session matches." in page_text(app)
    assert [row["Session"]["sub"] for row in sheet_of(app, "Sessions")] == ["s1\nrun night-7"]
    assert "run night-7" in str(sheet_of(opened(SESSIONS, session="s1"), "What is known of the session"))
    publish(store, small_tables() | {"sessions": [a_session()]})
    assert "Run" not in [box.label for box in opened(SESSIONS).selectbox]


def test_the_list_leads_to_each_session(store: Path) -> None:
    publish(store, small_tables() | {"sessions": [a_session(), a_session("s2", task="airline/7")]})
    rows = sheet_of(opened(SESSIONS), "Sessions")
    assert [row["Session"]["sub"] for row in rows] == ["s1", "s2"]
    assert rows[0]["Start (UTC)"]["href"] == "sessions?session=s1&session_page=1"
    assert rows[0]["Duration"]["text"] == "4 min 12 s"
    assert rows[1]["Session"]["text"] == "airline/7"
    assert rows[0]["Successful turns"]["text"] == "2 / 2"


def test_the_list_is_searched_and_says_what_to_widen(store: Path) -> None:
    publish(store, small_tables() | {"sessions": [a_session(), a_session("s2", task="airline/7")]})
    assert len(sheet_of(opened(SESSIONS, q="AIRLINE"), "Sessions")) == 1
    assert "The filters leave nothing: days, search." in page_text(opened(SESSIONS, q="nowhere"))


def test_a_session_id_of_two_sources_asks_which_and_its_file_tells(store: Path) -> None:
    two = [a_session(), a_session(source="pi", file_id=2)]
    calls = [a_call(1), a_call(2, source="pi", file_id=2, step=0)]
    publish(store, {"sessions": two, "tool_calls": calls, "files": [{"file_id": 2, "path": "b.jsonl"}]})
    rows = sheet_of(opened(SESSIONS, session="s1"), "Sessions with this id")
    assert rows[0]["Source"]["href"] == "sessions?session=s1&file=2"
    assert [call["place"] for call in drawn_calls(time_line(opened(SESSIONS, session="s1", file="2")))] == [
        "sessions?session=s1&file=2&call=c2"
    ]
    assert [call["lit"] for call in drawn_calls(time_line(opened(SESSIONS, session="s1", call="c1")))] == [
        True
    ]


@pytest.mark.thorough
def test_an_unknown_session_and_an_unknown_place_are_said_to_be_unknown(long: Path) -> None:
    assert "No such session" in page_text(opened(SESSIONS, session="none"))
    app = opened(SESSIONS, session="s1", call="none")
    assert "The session has no such call; it is shown from its beginning." in page_text(app)
    assert time_line(app)["start"] == 0


@pytest.mark.thorough
def test_of_five_thousand_steps_only_the_window_is_sent(long: Path) -> None:
    line = time_line(opened(SESSIONS, session="s1"))
    assert len(drawn_calls(line)) == 10
    assert len(line["strip"]["cells"]) == 240
    assert line["where"] == "1–10 of 5,000 · 5 failed calls"
    assert line["later"] == ["10 later", "sessions?session=s1&from=11"]
    assert line["earlier"] is None


@pytest.mark.thorough
def test_more_of_a_long_session_is_shown_at_once_when_asked_for(long: Path) -> None:
    narrow = time_line(opened(SESSIONS, session="s1", **{"from": "101"}))
    assert narrow["width"] == ["Show 60 together", "sessions?session=s1&from=101&wide=1"]
    wide = time_line(opened(SESSIONS, session="s1", wide="1", **{"from": "101"}))
    assert (wide["start"], len(drawn_calls(wide))) == (100, 60)
    assert wide["width"] == ["Show 10 together", "sessions?session=s1&from=101"]
    assert wide["later"] == ["60 later", "sessions?session=s1&wide=1&from=161"]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("place", "first", "lit"),
    [
        ({"turn": "2"}, 2500, "turn"),
        ({"turn": "2", "step": "100"}, 2596, "step"),
        ({"call": "c1999"}, 1995, "call"),
        ({"from": "3001"}, 3000, None),
        ({"from": "99999"}, 4990, None),
        ({"from": "x", "turn": "-1"}, 0, None),
    ],
)
def test_a_permalink_opens_at_its_place_with_it_lit(
    long: Path, place: dict[str, str], first: int, lit: str | None
) -> None:
    line = time_line(opened(SESSIONS, session="s1", **place))
    assert line["start"] == first
    steps = [step for turn in line["turns"] for step in turn["steps"]]
    shining = {
        "turn": [turn["title"] for turn in line["turns"] if turn["lit"]],
        "step": [step["title"] for step in steps if step["lit"]],
        "call": [call["place"] for call in drawn_calls(line) if call["lit"]],
    }
    assert [name for name, is_lit in shining.items() if is_lit] == ([lit] if lit else [])
    assert sum(map(len, shining.values())) == (lit is not None)


def test_one_goes_from_fault_to_fault_and_from_turn_to_turn(long: Path) -> None:
    jumps = {name: href for name, _, href in time_line(opened(SESSIONS, session="s1", call="c1999"))["jumps"]}
    assert jumps == {
        "← Failure": "sessions?session=s1&call=c999",
        "Failure →": "sessions?session=s1&call=c2999",
        "← Turn": None,
        "Turn →": "sessions?session=s1&turn=2",
    }


@pytest.mark.thorough
def test_a_window_that_begins_within_a_turn_says_so_and_does_not_repeat_its_message(long: Path) -> None:
    head = time_line(opened(SESSIONS, session="s1", **{"from": "101"}))["turns"][0]
    assert (head["title"], head["user"]) == ("Turn 1, continued", None)
    assert time_line(opened(SESSIONS, session="s1", turn="2"))["turns"][0]["user"] == "Begin 2"


def open_full_session(store: Path, **tables: Any) -> AppTest:
    """Open the page of a session of two steps, with a failed call, its retry, a parallel call, messages and a
    prompt.
    """
    chain = {"chain_id": "c1", "chain_outcome": "recovered"}
    calls = [
        a_call(1, step=0, **BAD, **chain, attempt=1, harness_message="Bad JSON"),
        a_call(2, step=1, **chain, attempt=2, retry_kind="changed", input_tokens=1200, output_tokens=30),
        a_call(3, step=1, ordinal=1, fault_layer="execution", result_status="error", latency_ms=250),
    ]
    turns = [
        a_turn(
            1, prompt_hash="a1b2c3", user_text="Look it up.", answer_text="It is 42.", recorded_ok=True,
            derived_ok=False, derived_reason="chain_abandoned", recorded_status="stop", latency_ms=4200,
        )
    ]  # fmt: skip
    words = {"session_id": "s1", "turn_id": "s1:1", "turn": 1, "step": 0, "source": "session_history"}
    prompts = [{"prompt_id": "p1", "text_hash": "a1b2c3", "text": "Be kind."}]
    facts = {
        "tool_calls": calls,
        "turns": turns,
        "step_texts": [words | {"file_id": 1, "text": "Let me see."}],
        "prompt_texts": prompts,
    }
    publish(store, {"sessions": [a_session()]} | facts | tables)
    return opened(SESSIONS, session="s1")


def test_a_turn_tells_what_was_said_called_and_concluded(store: Path) -> None:
    turn = time_line(open_full_session(store))["turns"][0]
    assert (turn["user"], turn["answer"], turn["prompt"]["text"]) == ("Look it up.", "It is 42.", "Be kind.")
    assert [tag[0] for tag in turn["tags"]] == [
        "Reported: successful",
        "Derived: unsuccessful",
        "they disagree",
    ]
    first, second = turn["steps"]
    assert first["text"] == "Let me see."
    assert second["facts"] == "10:00:02 · 1.2k in, 30 out · 2 parallel calls"
    assert "4.2 s" in turn["facts"]


def test_the_attempts_of_a_chain_are_tied_together(store: Path) -> None:
    line = time_line(open_full_session(store))
    first, second, other = drawn_calls(line)
    assert first["chain"]["after"] == "sessions?session=s1&call=c2"
    assert second["chain"]["text"] == "Retry sequence 1, attempt 2, changed arguments · recovered"
    assert other["chain"] is None
    knots = [step["knots"][0][1:4] for step in line["turns"][0]["steps"]]
    assert knots == [[False, True, True], [True, False, False]]


def test_a_call_shows_its_fault_and_its_result_and_leads_to_its_page(store: Path) -> None:
    first, _, other = drawn_calls(time_line(open_full_session(store)))
    assert (first["bad"], first["finding"]) == ("bad", "json_parse_error:x")
    assert [tag[0] for tag in first["tags"]] == ["failed", "Syntax"]
    assert (other["bad"], other["facts"]) == ("warn", "ran 250 ms")
    assert other["result"]["title"] == "Result error · 8 B"
    assert first["href"] == "calls?call=c1"


def test_a_search_lists_its_places_and_links_to_them(store: Path) -> None:
    open_full_session(store)
    rows = sheet_of(opened(SESSIONS, session="s1", find="LOOK"), "Places that hold the text")
    assert [(row["Place"]["text"], row["In"]["text"]) for row in rows] == [("Turn 1", "User")]
    answer = sheet_of(opened(SESSIONS, session="s1", find="42"), "Places that hold the text")[-1]
    assert answer["Place"]["href"] == "sessions?session=s1&find=42&turn=1&step=1"
    app = opened(SESSIONS, session="s1", find="nowhere")
    assert "No message, answer, tool name, argument or result of this session contains it." in page_text(app)


def test_parents_and_sub_agents_are_linked(store: Path) -> None:
    kin = [a_session(parent_session_id="s0"), a_session("s9", parent_session_id="s1")]
    rows = sheet_of(open_full_session(store, sessions=kin), "Sessions around this one")
    assert [(row["Relation"]["text"], row["Session"]["href"]) for row in rows] == [
        ("Started by", None),
        ("Sub-agent", "sessions?session=s9"),
    ]


def test_a_copy_of_a_turn_is_not_shown_twice_and_where_it_counts_is_said(store: Path) -> None:
    twice = [a_turn(1, session_id="s1", duplicate=True), a_turn(1, session_id="s2", file_id=2)]
    app = open_full_session(store, turns=twice, tool_calls=[], step_texts=[])
    assert "The store has no turn of this session" in page_text(app)
    rows = sheet_of(app, "Sessions around this one")
    assert [(row["Relation"]["text"], row["Turns"]["text"]) for row in rows] == [("Repeats turns of", "1")]


def test_text_from_a_log_is_data_with_nothing_invisible_in_it(store: Path) -> None:
    hidden = f"{HOSTILE}\u202e\u001b[31m"
    app = open_full_session(
        store,
        sessions=[a_session(task=hidden)],
        turns=[a_turn(1, user_text=hidden, answer_text=hidden, recorded_status=hidden, model=hidden)],
        tool_calls=[a_call(1, tool=hidden, raw_arguments=hidden, result_text=hidden, parse_error=hidden)],
    )
    written = json.dumps([time_line(app), list(sheets(app).values())], ensure_ascii=False)
    assert "\u202e" not in written
    assert "\u001b" not in written
    assert "⟨U+202E⟩" in written
    assert HOSTILE not in app.title[0].value


@pytest.mark.thorough
def test_a_call_among_thousands_of_one_step_is_drawn_when_it_is_asked_for(store: Path) -> None:
    calls = [a_call(number, step=0, ordinal=number, ts=None) for number in range(500)]
    publish(store, {"sessions": [a_session()], "tool_calls": calls, "turns": [a_turn(1)]})
    line = time_line(opened(SESSIONS, session="s1", call="c499"))
    assert [call["place"] for call in drawn_calls(line) if call["lit"]] == ["sessions?session=s1&call=c499"]
    assert line["turns"][0]["steps"][0]["note"] == "100 more calls of this step are not drawn."


def test_a_session_is_not_filtered_and_leads_back_to_its_list(small: Path) -> None:
    app = opened(SESSIONS, session="s1", q="airline", model="falcon-3")
    assert texts(sheets(app)["What is known of the session"], 3) == ["2"]
    assert "q=airline" in time_line(app)["turns"][0]["href"]
