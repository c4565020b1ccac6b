"""Tests the list of calls on the page Calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.texts.marked_text import find_hits, one_line_with_hits
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import here_links, sheet_of, sheets

PAGE = "callgauge/dashboard/pages/calls/page.py"
SESSIONS = "callgauge/dashboard/pages/sessions/page.py"


@pytest.fixture
def long(store: Path) -> Path:
    """Return a store of ninety tool calls. The newest is c89. The second page of the list starts with c49."""
    calls = [a_call(number, tool="bash" if number % 2 else "read_file") for number in range(90)]
    publish(store, small_tables() | {"tool_calls": calls})
    return store


def shown_calls(app: AppTest) -> list[str]:
    """Return the ids of the calls on the current page of the list, in their order."""
    return [row["Time (UTC)"]["href"].rpartition("peek=")[2] for row in sheet_of(app, "Calls")]


def test_the_page_says_first_how_many_calls_there_are_and_how_many_went_wrong(small: Path) -> None:
    app = opened(PAGE)
    assert app.header[0].value == "1 of 44 calls failed, 1 because of its arguments."
    matching = opened(PAGE, outcome="coerced").header[0].value
    assert matching == "1 of 44 calls matches the filters. 0 failed."


def test_what_the_log_cannot_tell_is_said_and_not_counted_as_good(store: Path) -> None:
    blind = {"result_status": None, "result_text": None, "error_flag_source": "none"}
    calls = [a_call(1), *(a_call(number, **blind) for number in (2, 3))]
    publish(store, small_tables() | {"tool_calls": calls})
    sentence = "No failure was seen in 3 calls. 2 could not be judged."
    assert opened(PAGE).header[0].value == sentence
    errors = opened("callgauge/dashboard/pages/errors/page.py").header[0].value
    assert errors.replace("\\", "") == sentence


def test_a_row_opens_its_call_beside_the_list_which_stays(small: Path) -> None:
    table = sheets(opened(PAGE, outcome="failed"))["Calls"]
    assert table["opens"]
    assert table["rows"][0][0]["href"] == "calls?outcome=failed&peek=c41"
    app = opened(PAGE, outcome="failed", peek="c41")
    assert sheets(app)["Calls"]["chosen"] == 0
    assert "^^^^^^^ json_parse_error" in page_text(app)
    assert "42 lines" in page_text(app)
    links = here_links(app)
    assert links["Open fully"] == "calls?outcome=failed&peek=c41&call=c41"
    assert links["Close"] == "calls?outcome=failed"


@pytest.mark.thorough
def test_the_next_call_of_the_list_is_on_the_next_page_where_the_page_ends(long: Path) -> None:
    assert shown_calls(opened(PAGE))[-1] == "c50"
    links = here_links(opened(PAGE, peek="c50"))
    assert (links["↑ Previous"], links["↓ Next"]) == ("calls?peek=c51", "calls?page=2&peek=c49")
    links = here_links(opened(PAGE, page="2", peek="c49"))
    assert (links["↑ Previous"], links["↓ Next"]) == ("calls?peek=c50", "calls?page=2&peek=c48")
    links = here_links(opened(PAGE, peek="c89"))
    assert (links["↑ Previous"], links["↓ Next"]) == (None, "calls?peek=c88")


def test_a_call_in_full_goes_on_in_the_list_from_which_it_was_opened(long: Path) -> None:
    links = here_links(opened(PAGE, order="tool", peek="c89", call="c89"))
    assert links["↓ Next"] == "calls?order=tool&peek=c87&call=c87"
    assert links["← All calls"] == "calls?order=tool&peek=c89"
    assert "↓ Next" not in here_links(opened(PAGE, call="c89"))


def test_a_head_sorts_the_whole_list_and_then_the_other_way_and_not_at_all(long: Path) -> None:
    heads = [
        next(
            column
            for column in sheets(opened(PAGE, **query))["Calls"]["columns"]
            if column["title"] == "Tool"
        )
        for query in ({}, {"order": "tool"}, {"order": "-tool"})
    ]
    assert [(head["sorted"], head["href"]) for head in heads] == [
        (None, "calls?order=tool"),
        ("ascending", "calls?order=-tool"),
        ("descending", "calls?"),
    ]
    assert {row["Tool"]["text"] for row in sheet_of(opened(PAGE, order="tool"), "Calls")} == {"bash"}
    assert {row["Tool"]["text"] for row in sheet_of(opened(PAGE, order="-tool"), "Calls")} == {"read_file"}
    assert shown_calls(opened(PAGE, order="nonsense"))[0] == "c89"


def test_what_was_searched_is_marked_in_the_raw_arguments(small: Path) -> None:
    cell = sheet_of(opened(PAGE, q="LIMIT"), "Calls")[0]["Raw arguments"]
    assert [cell["text"][start:end] for start, end in cell["marks"]] == ["limit"]


@pytest.mark.parametrize(
    ("text", "searched", "hits"),
    [
        ("aXbxc", "x", ["X", "x"]),
        ("aaa", "aa", ["aa"]),
        ("検索する検索", "検索", ["検索", "検索"]),
        ("🙂🙂 né NÉ", "né", ["né", "NÉ"]),
        ("שלום עולם", "עולם", ["עולם"]),
        ("İstanbul istanbul", "stan", ["stan", "stan"]),
        ("İ", "i", ["İ"]),
        ("none", "x", []),
        ("any", "", []),
    ],
)
def test_hits_are_found_in_any_script_and_case(text: str, searched: str, hits: list[str]) -> None:
    assert [text[start:end] for start, end in find_hits(text, searched)] == hits


def test_a_hit_stays_marked_where_blanks_and_hidden_characters_are_written_otherwise() -> None:
    shown, spans = one_line_with_hits("a\n\n  b\u202e needle\tz", "needle", 40)
    assert [shown[start:end] for start, end in spans] == ["needle"]
    assert "\n" not in shown
    assert "\u202e" not in shown
    shown, spans = one_line_with_hits("needle" * 10, "needle", 9)
    assert (len(shown), spans) == (9, ((0, 6), (6, 9)))


def a_chain(first: int, ended: str, *kinds: str, **both: Any) -> list[dict[str, Any]]:
    chain = {"chain_id": f"c{first}", "chain_outcome": ended} | both
    begun = a_call(first, attempt=1, fault_layer="schema", outcome="failed", **chain)
    return [
        begun,
        *(
            a_call(first + number, attempt=1 + number, retry_kind=kind, **chain)
            for number, kind in enumerate(kinds, start=1)
        ),
    ]


@pytest.fixture
def chained(store: Path) -> Path:
    turn = {"turn_id": "s2:1", "session_id": "s2"}
    publish(
        store,
        {
            "tool_calls": [
                *a_chain(1, "recovered", "identical", "changed"),
                *a_chain(11, "abandoned", "changed", tool="search", **turn),
                a_call(20),
            ],
            "turns": [a_turn(1), a_turn(1, derived_ok=False, **turn)],
            "sessions": [
                {
                    "session_id": name,
                    "file_id": 1,
                    "source": "session_history",
                    "started_at": "2026-11-20T10:00:00",
                    "ended_at": "2026-11-20T11:00:00",
                    "day": "2026-11-20",
                    "duplicate": False,
                }
                for name in ("s1", "s2")
            ],
        },
    )
    return store


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("query", "calls"),
    [
        ({"chain": "abandoned"}, ["c12", "c11"]),
        ({"chain": "abandoned", "tool": "read_file"}, None),
        ({"chain": "none"}, ["c20"]),
        ({"attempt": "changed"}, ["c12", "c3"]),
        ({"attempt": "first", "attempts": "2-"}, ["c11", "c1"]),
        ({"attempt": "first", "attempts": "2"}, ["c11"]),
        ({"attempt": "first", "first_retry": "identical"}, ["c1"]),
        ({"turns": "derived_not_ok", "chain": "any"}, ["c12", "c11"]),
        ({"turns": "disagree", "attempt": "first"}, ["c11"]),
        ({"chain": "nonsense", "attempts": "0", "first_retry": "x"}, ["c20", "c12", "c11", "c3", "c2", "c1"]),
    ],
)
def test_chains_attempts_and_turns_narrow_the_list(
    chained: Path, query: dict[str, str], calls: list[str] | None
) -> None:
    app = opened(PAGE, **query)
    assert (shown_calls(app) if calls else "No calls here" in page_text(app)) == (calls or True)


def test_a_filter_that_only_a_link_sets_is_named_and_can_be_removed(chained: Path) -> None:
    app = opened(PAGE, attempt="first", attempts="3-")
    assert "Retry sequences of 3 attempts or more." in page_text(app)
    app.button(key="no_attempts").click().run()
    assert shown_calls(app) == ["c11", "c1"]


def test_the_filters_of_a_list_are_behind_one_button_which_says_how_many_are_set(chained: Path) -> None:
    for page in (PAGE, SESSIONS):
        app = opened(page, turns="disagree", attempt="first", q="c")
        (fold,) = [block for block in app.get("popover") if "Filter this list" in block.proto.popover.label]
        assert fold.proto.popover.label == "Filter this list: 2 set"
        folded = fold.get("selectbox")
        labels = [select.proto.label for select in folded]
        assert {"Retry sequence", "Attempt", "Turns"} <= set(labels)
        outside = [select.label for select in app.selectbox if select.label in labels]
        assert sorted(outside) == sorted(labels), "none is drawn beside the fold"
        (turns,) = [select for select in app.selectbox if select.label == "Turns"]
        assert "Log and derivation disagree" in turns.options


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("query", "sessions"),
    [
        ({"chain": "abandoned"}, ["s2"]),
        ({"chain": "abandoned", "tool": "search"}, ["s2"]),
        ({"attempt": "identical"}, ["s1"]),
        ({"turns": "derived_ok"}, ["s1"]),
        ({"order": "calls"}, ["s1", "s2"]),
    ],
)
def test_sessions_are_narrowed_by_what_happened_in_them(
    chained: Path, query: dict[str, str], sessions: list[str]
) -> None:
    assert [row["Session"]["sub"] for row in sheet_of(opened(SESSIONS, **query), "Sessions")] == sessions


def test_a_session_goes_on_in_the_list_from_which_it_was_opened(chained: Path) -> None:
    links = here_links(opened(SESSIONS, session="s1", session_page="1"))
    assert links["← All sessions"] == "sessions?"
    assert (links["↑ Previous"], links["↓ Next"]) == (None, "sessions?session=s2&session_page=1")
    assert "↓ Next" not in here_links(opened(SESSIONS, session="s1"))


@pytest.mark.thorough
def test_every_rate_of_calls_and_chains_leads_to_a_list(small: Path) -> None:
    assert not [
        rate.name for rate in RATES.values() if rate.noun != "turn" and rate.is_listed and rate.calls is None
    ]
    for rate in RATES.values():
        opened(PAGE, **(rate.calls or {}))


def test_hostile_raw_arguments_stay_text_in_the_list_and_beside_it(store: Path) -> None:
    publish(store, small_tables() | {"tool_calls": [a_call(1, raw_arguments=HOSTILE, tool=HOSTILE)]})
    app = opened(PAGE, q="ONERROR", peek="c1")
    cell = sheet_of(app, "Calls")[0]["Raw arguments"]
    assert [cell["text"][start:end] for start, end in cell["marks"]] == ["onerror"]
    drawn = [element.value for kind in (app.header, app.markdown, app.caption) for element in kind]
    assert not [value for value in drawn if "<img" in value.replace("\\", "\\\\") and "\\<" not in value]
