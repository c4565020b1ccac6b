"""Tests each link to the playground, and what the playground shows after the link was followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.texts.url_texts import pack_text
from callgauge.dashboard.pages.playground.link_texts import make_link_parameter, read_link
from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets, texts

PAGE = "callgauge/dashboard/pages/playground/page.py"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
TOOL = json.dumps({"name": "read_file", "description": "Reads.", "input_schema": SCHEMA})
TWO = json.dumps([json.loads(TOOL), {"name": "other", "input_schema": {"type": "object"}}])
REPLY = 'First.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a", "limit": "5"}}\n</tool_call>'
KNOWN = {
    "tool_definitions": [
        {"definition_id": "d1", "tool": "read_file", "description": "Old.", "definition": "{}"},
        {"definition_id": "d2", "tool": "read_file", "description": "New.", "definition": json.dumps(SCHEMA)},
    ],
    "tool_calls": [
        a_call(1, definition_id="d1", ts="2026-11-19T10:00:00", day="2026-11-19"),
        a_call(2, definition_id="d2", raw_arguments='{"path": "a", "limit": "5"}'),
        a_call(3, definition_id="d2"),
    ],
}


def playground(**query: str) -> AppTest:
    return opened(PAGE, {"share": True}, **query)


def link(raw: str, definition: str = "") -> str:
    return make_link_parameter(raw, definition)


def editors(app: AppTest) -> dict[str, str]:
    """Return the initial content of each editor by the editor's label."""
    drawn = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    return {sheet["label"]: sheet["text"] for sheet in drawn if "version" in sheet}


def copied(app: AppTest) -> str | None:
    drawn = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    return next((sheet["path"] for sheet in drawn if sheet.get("label") == "Copy link"), None)


def unfold(app: AppTest, *keys: str) -> None:
    for key in keys:
        app.session_state[key] = True
    app.run()


def outcome(app: AppTest) -> str:
    return texts(sheets(app)["Verdict under each policy"], 0)[0]


def test_it_opens_empty_with_examples_one_click_away(small: Path) -> None:
    app = playground()
    assert set(editors(app).values()) == {""}
    assert "Verdict" not in page_text(app)
    row = sheet_of(app, "Examples")[0]
    assert row["Example"]["href"] == "playground?example=Clean"
    (row, *_) = sheet_of(playground(mode="reply"), "Examples")
    assert row["Example"]["href"].startswith("playground?mode=reply&example=Two+calls")


def test_an_example_fills_both_editors(store: Path) -> None:
    app = playground(example="Values of another type")
    assert outcome(app) == "coerced"
    app.selectbox(key="example_pick").select("Clean").run()
    assert outcome(app) == "clean"
    assert app.query_params["example"] == "Clean"
    app.button(key="clear_playground").click().run()
    assert set(editors(app).values()) == {""}
    assert "example" not in app.query_params


def test_a_call_brings_its_text_its_definition_and_the_way_back(store: Path) -> None:
    publish(store, small_tables() | KNOWN)
    app = playground(call="c2")
    assert editors(app)["Raw arguments, as sent"] == '{"path": "a", "limit": "5"}'
    assert '"limit"' in editors(app)["Tool definition"]
    assert outcome(app) == "coerced"
    doors = [element.proto.label.replace("\\", "") for element in app.get("page_link")]
    assert doors == [":blue[From call c2]"]
    drawn = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    (replay,) = [element["href"] for element in drawn if element.get("label") == "Try on stored calls"]
    carried = parse_qs(urlsplit(replay).query)
    assert (carried["tab"], carried["replay_tool"], carried["call"]) == (["stored"], ["read_file"], ["c2"])


def test_a_call_that_is_not_there_or_without_a_store_is_a_sentence(small: Path) -> None:
    assert "The store has no call with this id." in page_text(playground(call="c999"))


def test_a_call_without_a_store_is_a_sentence(store: Path) -> None:
    assert "there is no store." in page_text(playground(call="c1"))


def test_a_link_brings_its_texts_and_what_is_on_the_screen_makes_the_same_link(small: Path) -> None:
    app = playground(p=link("{'path': 'a'}", TWO), which="1")
    assert outcome(app) == "repaired"
    address = parse_qs(urlsplit(copied(app) or "").query)
    assert address["which"] == ["1"]
    carried = read_link(address["p"][0])
    assert (carried.raw, carried.definition) == ("{'path': 'a'}", TWO)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("damaged", ["", "!!!", "AAAA", pack_text("x" * 3_000_001), pack_text("[]")])
def test_a_damaged_link_is_a_box_and_no_crash(small: Path, damaged: str) -> None:
    app = playground(p=damaged)
    assert len(app.error) == (1 if damaged else 0)
    assert set(editors(app).values()) == {""}


def test_a_text_too_long_for_a_link_says_so_and_offers_the_case(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "".join(f"{number * 7919 % 10_007:x}" for number in range(12_000))
    monkeypatch.setattr(
        "callgauge.dashboard.components.controls.editor.editor",
        lambda key, *_, **__: noise if key == "raw" else "",
    )
    app = playground()
    assert copied(app) is None
    assert "No link: Too long for a link" in page_text(app)
    assert app.get("download_button")


def test_a_known_tool_and_version_is_picked_newest_first(store: Path) -> None:
    publish(store, small_tables() | KNOWN)
    app = playground(p=link('{"path": "a", "limit": "5"}'))
    app.selectbox(key="known_tool").select("read_file").run()
    assert app.query_params["known"] == "d2"
    assert outcome(app) == "coerced"
    assert "Version 2 · 2 calls · 2026-11-20" in app.selectbox(key="known_version").options
    app.selectbox(key="known_version").select("d1").run()
    assert '"Old."' in editors(app)["Tool definition"]
    assert outcome(app) == "clean", "that version declares nothing"


def test_a_definition_that_the_store_does_not_know_is_a_box(small: Path) -> None:
    assert "no tool definition with this id" in playground(known="nothing").error[0].value


def test_the_form_begins_with_the_arguments_and_writes_them(small: Path) -> None:
    app = playground(p=link("{'path': 'a', 'limit': '5'}", TOOL), input="form")
    assert outcome(app) == "repaired", "nobody touched the form: the text is as it was"
    assert [field.value for field in app.text_input] == ["a"]
    app.number_input[0].set_value(7).run()
    assert outcome(app) == "clean"
    assert '"limit": 7' in page_text(app)
    app.segmented_control(key="input").set_value("text").run()
    assert editors(app)["Raw arguments, as sent"] == '{"path": "a", "limit": 7}'


def test_a_form_without_a_definition_says_what_to_do(small: Path) -> None:
    assert "paste one below" in page_text(playground(p=link("{}"), input="form"))


def test_other_readers_the_lint_and_other_shapes_stand_beside_it(small: Path) -> None:
    app = playground(p=link("{'path': 'a'}", TOOL), shape="MCP")
    assert "Results of other parsers" not in sheets(app), "closed, it asks nobody"
    unfold(app, "others", "advice", "shapes")
    drawn = sheet_of(app, "Results of other parsers")
    by_reader = {row["Parser"]["text"]: row["Verdict"]["text"] for row in drawn}
    assert by_reader["json.loads"] == "rejected"
    assert set(by_reader) == {"json.loads", "pydantic", "json-repair"}
    assert "Advice of the lint" in sheets(app)
    assert '"inputSchema"' in page_text(app)


def test_a_reply_shows_each_call_its_dialect_and_its_place(small: Path) -> None:
    app = playground(p=link(REPLY, TOOL), mode="reply")
    (row,) = sheet_of(app, "Calls found in the reply")
    assert row["Call"]["text"] == "read_file"
    assert row["Call"]["sub"] == "hermes"
    assert row["Place"]["text"] == "3:1 – 3:64"
    assert row["Outcome"]["text"] == "coerced"
    assert row["Diagnostics"]["text"] == "string_literal_converted_to_integer"
    assert "1 hermes" in page_text(app)
    assert outcome(app) == "coerced"


def test_a_reply_can_be_read_by_a_told_dialect_or_for_leaks_only(small: Path) -> None:
    chosen = playground(
        p=link('{"name": "read_file", "arguments": {}}', TOOL), mode="reply", dialect="bare_json"
    )
    assert sheet_of(chosen, "Calls found in the reply")[0]["Call"]["sub"] == "bare_json"
    assert parse_qs(urlsplit(copied(chosen) or "").query)["dialect"] == ["bare_json"]
    leaked = playground(p=link("No call at all.", TOOL), mode="reply", look="leaked")
    assert "0 calls found" in page_text(leaked)
    assert "No leaked call." in page_text(leaked)


def test_of_many_calls_in_a_reply_the_url_names_the_one_shown(small: Path) -> None:
    app = playground(p=link("\n".join([REPLY] * 150), TOOL), mode="reply", nth="2")
    assert "150 calls found" in page_text(app)
    assert "The first 100 of 150." in page_text(app)
    assert len(sheet_of(app, "Calls found in the reply")) == 100
    assert app.selectbox(key="nth").value == "2"


@pytest.mark.parametrize("mode", ["arguments", "reply"])
def test_hostile_text_is_text_everywhere(small: Path, mode: str) -> None:
    hostile = HOSTILE + "\u202e\x1b[31m"
    schema = {"properties": {hostile: {"type": "string", "description": hostile}}}
    tool = json.dumps({"name": hostile, "description": hostile, "input_schema": schema})
    for way in ("text", "form"):
        app = playground(p=link(json.dumps({hostile: hostile}), tool), mode=mode, input=way)
        shown = [
            element.value for kind in (app.title, app.markdown, app.caption, app.error) for element in kind
        ]
        assert not [text for text in shown if "<img src=x" in str(text)]
        labels: list[Any] = [*app.text_input, *app.text_area]
        assert not [field.label for field in labels if "<img" in field.label.replace("\\<img", "")]


def test_the_answer_is_a_sentence_and_a_row_for_each_parameter(small: Path) -> None:
    app = playground(p=link('{"path": "a", "limit": "5"}', TOOL))
    assert app.header[0].value.replace("\\", "") == 'Coerced: 1 of 2 arguments converted (limit: "5" → 5).'
    table = sheets(app)["Parameters, sent and read"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [
        ["path", '"a"', '"a"', "as sent"],
        ["limit", '"5"', "5", "converted"],
    ]
    assert table["rows"][1][3]["sub"].startswith("1 · ")


def test_without_a_definition_no_parameter_is_called_undeclared(small: Path) -> None:
    *_, row = sheet_of(playground(p=link('{"path": "a"}')), "Parameters, sent and read")
    assert row["Parameter"]["sub"] == "no definition"
    rows = sheet_of(playground(p=link('{"path": "a", "zzz": 1}', TOOL)), "Parameters, sent and read")
    assert [row["Parameter"]["sub"] == "not declared" for row in rows] == [False, True]


def test_equal_findings_share_a_row_that_opens_into_each_place(small: Path) -> None:
    app = playground(p=link('{"a": 1, ' + ", ".join(f"'k{number}': 1" for number in range(2_000)) + "}"))
    rows = sheet_of(app, "Diagnostics in order")
    assert [row["Code"]["text"] for row in rows] == ["2,000 × single_quotes", "tool_definition_missing"]
    assert rows[0]["No."]["text"] == "1–2,000"
    unfold(app, "playground_findings_single_quotes")
    assert len(sheet_of(app, "Diagnostics of single_quotes")) == 100
    assert "The first 100 of 2,000 are listed." in page_text(app)
