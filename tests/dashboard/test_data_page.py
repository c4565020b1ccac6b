"""The Data page: what sources can tell, what came twice, what changed, what was refused and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgauge.dashboard.pages.data import sources_card
from callgauge.dashboard.texts.text_diff import definition_text, unified_diff
from tests.dashboard.conftest import opened, said
from tests.dashboard.store_fixture import HOSTILE, a_call, publish, small_tables

PAGE = "callgauge/dashboard/pages/data/page.py"


@pytest.mark.parametrize(
    ("promise", "word", "below", "tone"),
    [
        ("yes", "yes", "here 50% of calls", "good"),
        ("partly: where the writer adds it", "partly", "here 50% of calls\nwhere the writer adds it", "warn"),
        ("no; supply them with --tools", "no", "here 50% of calls\nsupply them with --tools", "bad"),
        ("nobody knows", "not said", "here 50% of calls\nnobody knows", None),
        (None, "not said", "here 50% of calls", None),
    ],
)
def test_a_promise_is_yes_partly_or_no_beside_what_is_known_here(
    promise: str | None, word: str, below: str, tone: str | None
) -> None:
    cell = sources_card._told_cell(promise, 1, 2, "calls")
    assert (cell.text, cell.sub, cell.tone, cell.share) == (word, below, tone, 0.5)


def test_every_card_has_something_to_show_of_a_small_store(small: Path) -> None:
    words = said(opened(PAGE))
    for title in (
        "What each source can tell",
        "Sessions in several files",
        "Prompts and tools that changed",
        "Refused files",
        "Rejected lines",
        "Files",
        "Loads",
    ):
        assert title in words.splitlines()


def test_cards_about_trouble_are_not_there_without_trouble(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "files": [{"file_id": 1, "path": "a", "status": "loaded"}]})
    words = said(opened(PAGE))
    for title in ("Sessions in several files", "Prompts and tools that changed", "Refused files"):
        assert title not in words
    assert "None." in words


def test_formats_that_the_store_has_no_file_of_are_folded_away(store: Path) -> None:
    other = {"source": "otlp", "title": "OpenTelemetry", "raw_arguments": "no"}
    sources = [*small_tables()["sources"], other]
    publish(store, small_tables() | {"sources": sources})
    (folded,) = [part for part in opened(PAGE).expander if "other format" in part.label]
    assert folded.label == "1 other format that can be read, without a file here"
    assert not folded.proto.expanded


def test_two_versions_of_a_prompt_are_compared(small: Path) -> None:
    app = opened(PAGE, changed="prompt:session_history:support")
    (changes,) = [code.value for code in app.code if code.value.startswith("--- before")]
    assert changes.splitlines()[-2:] == [" Be kind.", f"+{HOSTILE}"]
    app.selectbox(key="after").select("1").run()
    assert "These two are the same." in said(app)


@pytest.mark.parametrize("named", ["", "prompt", "prompt:session_history:gone", "tool:::", "x:y:z"])
def test_a_link_to_what_is_not_there_shows_the_page_all_the_same(small: Path, named: str) -> None:
    assert "Prompts and tools that changed" in said(opened(PAGE, changed=named, before="9", after="x"))


def test_a_link_to_one_reason_opens_its_lines(small: Path) -> None:
    (lines,) = [
        part for part in opened(PAGE, reject="not_json").expander if part.label.startswith("Every line")
    ]
    assert lines.proto.expanded
    assert "Rejected lines" in said(opened(PAGE, reject="no_such_reason"))


# --- what changed between two texts ----------------------------------------------------------------


def test_a_change_in_a_long_line_is_shown_by_its_sentence() -> None:
    before = " ".join(f"Sentence {number} of a long prompt." for number in range(20))
    changes = unified_diff(before, before.replace("Sentence 7 ", "Sentence seven ")).splitlines()
    assert [line for line in changes[2:] if line[0] in "+-"] == [
        "-Sentence 7 of a long prompt.",
        "+Sentence seven of a long prompt.",
    ]


def test_texts_that_are_the_same_have_no_difference_and_long_ones_say_where_it_ends() -> None:
    assert unified_diff("a\nb", "a\nb") == ""
    assert unified_diff("a\n" * 5_000, "b\n" + "a\n" * 5_000).endswith(
        "only the first 4,000 lines are compared"
    )


def test_a_definition_is_laid_out_so_that_one_change_is_one_line() -> None:
    assert definition_text("Read.", '{"a":{"b":1}}').splitlines()[2:] == [
        "{",
        '  "a": {',
        '    "b": 1',
        "  }",
        "}",
    ]
    assert definition_text(None, "not json") == "not json"
