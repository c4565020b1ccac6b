"""Tests the page Data."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.texts.text_diff import definition_text, unified_diff
from callgauge.dashboard.pages.data import sources_card
from callgauge.dashboard.pages.data.feed import describe_feed, describe_status
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets

PAGE = "callgauge/dashboard/pages/data/page.py"


@pytest.mark.parametrize(
    ("promise", "word", "below", "tone"),
    [
        ("yes", "yes", "here 50% of calls", "good"),
        ("partly: where the writer adds it", "partly", "here 50% of calls\nwhere the writer adds it", "warn"),
        ("no; supply them with --tools", "no", "here 50% of calls\nsupply them with --tools", "bad"),
        ("nobody knows", "not documented", "here 50% of calls\nnobody knows", None),
        (None, "not documented", "here 50% of calls", None),
    ],
)
def test_a_promise_is_yes_partly_or_no_beside_what_is_known_here(
    promise: str | None, word: str, below: str, tone: str | None
) -> None:
    cell = sources_card._promise_cell(promise, 1, 2, "calls")
    assert (cell.text, cell.sub, cell.tone, cell.share) == (word, below, tone, 0.5)


def test_files_that_are_no_logs_are_in_a_fold_and_not_called_rejected(store: Path) -> None:
    tables = small_tables()
    entry = {"run_id": 1, "status": "rejected", "reason": "is no JSON", "stored_bytes": 3}
    odd = [entry | {"file_id": 90 + n, "path": f"/web/{n}.json", "foreign_kind": "json"} for n in range(3)]
    loaded = [file for file in tables["files"] if file["status"] == "loaded"]
    publish(store, tables | {"files": [*loaded, *odd], "rejects": []})
    app = opened(PAGE)
    assert "nothing unreadable · 3 further files are not logs (skipped)" in page_text(app)
    assert "Files that are not logs" in [part.label for part in app.expander]
    assert "/web" not in str(sheets(app))
    assert "/web" in str(sheet_of(opened(PAGE, no_logs="1"), "Files that are not logs"))


FOLDS = {
    "What each source logs": "formats",
    "All files": "inventory",
    "Sessions in several files": "doubles",
    "Prompts and tools that changed": "versions",
    "Names of models": "names",
    "Trial runs": "runs",
}


def folds(app: AppTest) -> list[str]:
    """Return the labels of the page's expanders. Explanations and the filter bar are left out."""
    return [part.label for part in app.expander if part.label in ("Every line", *FOLDS)]


def test_what_a_nightly_feed_needs_comes_first_and_the_rest_asks_nothing_until_it_is_opened(
    small: Path,
) -> None:
    app = opened(PAGE)
    assert folds(app) == ["Every line", *FOLDS]
    words = page_text(app).splitlines()
    assert [title for title in words if title in ("Loads", "Unrecognised files", "Unreadable lines")] == [
        "Loads", "Unrecognised files", "Unreadable lines",
    ]  # fmt: skip
    assert "loads" in app.session_state["_page_run"].parameters
    for metric in ("coverage", "files", "session_copies", "changed", "rejects"):
        assert metric not in app.session_state["_page_run"].parameters


_METRICS = dict(
    zip(FOLDS, ("coverage", "files", "session_copies", "changed", "model_names", "loaded_runs"), strict=True)
)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("title", FOLDS)
def test_every_fold_has_something_to_show_of_a_small_store(small: Path, title: str) -> None:
    app = opened(PAGE, **{FOLDS[title]: "1"})
    assert _METRICS[title] in app.session_state["_page_run"].parameters
    assert title not in page_text(app).splitlines(), "the fold shows it"


def test_without_trouble_the_page_says_so(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "files": [{"file_id": 1, "path": "a", "status": "loaded"}]})
    words = page_text(opened(PAGE))
    for title in ("Unrecognised files", "Silent sources"):
        assert title not in words
    assert "Every line could be read." in words
    words = page_text(opened(PAGE, doubles="1", versions="1"))
    assert "No session is in several files." in words
    assert "No prompt and no tool has two texts." in words


NIGHT = datetime(2026, 11, 21, 2, 14)  # noqa: DTZ001 - as the store keeps it, in UTC
LOAD: dict[Hashable, Any] = {"finished_at": NIGHT, "files_loaded": 412, "files_rejected": 2, "rejects": 0}
LOAD |= {"sessions_replaced": 0, "sessions_removed": 0, "calls_fewer": 0}
SILENT: dict[Hashable, Any] = {"title": "Gateway EU", "silent_days": 2}


@pytest.mark.parametrize(
    ("changes", "silent", "sentence"),
    [
        ({}, [SILENT], "2 files were unreadable; Gateway EU has been silent for 2 days."),
        ({"files_rejected": 1}, [], "1 file was unreadable; no source is silent."),
        (
            {"sessions_replaced": 3, "calls_fewer": 1},
            [],
            "3 sessions replaced, 1 call fewer; 2 files were unreadable; no source is silent.",
        ),
        (
            {"sessions_removed": 2, "calls_fewer": 9, "files_rejected": 0},
            [],
            "2 sessions removed, 9 calls fewer; nothing was unreadable; no source is silent.",
        ),
        ({"rejects": 3}, [], "2 files and 3 lines were unreadable; no source is silent."),
        (
            {"files_rejected": 0},
            [SILENT | {"silent_days": 9}, SILENT],
            "nothing was unreadable; 2 sources have been silent, one for 9 days.",
        ),
    ],
)
def test_one_sentence_says_how_the_feed_is(
    changes: dict[Hashable, int], silent: list[dict[Hashable, Any]], sentence: str
) -> None:
    text = describe_feed([LOAD | changes], silent)
    assert text == f"The last load (2026-11-21 02:14 UTC) read 412 files: {sentence}"


def test_a_store_whose_newest_turn_is_old_says_so_and_not_that_no_source_is_silent() -> None:
    old, fresh = NIGHT - timedelta(days=99), NIGHT - timedelta(days=1)
    lag = "the newest turn is from 2026-08-14, 99 days before the load"
    assert describe_feed([LOAD], [], old).endswith(f"2 files were unreadable; {lag}.")
    assert describe_feed([LOAD], [SILENT], old).endswith(f"silent for 2 days; {lag}.")
    assert describe_feed([LOAD], [], fresh).endswith("no source is silent.")


def test_a_store_without_a_load_says_so() -> None:
    assert describe_feed([], []) == "Nothing has been loaded yet."


def silent_store() -> dict[str, list[dict[str, Any]]]:
    """Return the database tables of a store. One source has calls up to 20 November. The other source has a
    hostile title, and calls up to 17 November.
    """
    calls = [
        a_call(number) | {"source": source, "day": f"2026-11-{day:02d}", "ts": f"2026-11-{day:02d}T10:00:00"}
        for number, (source, day) in enumerate(
            [("steady", day) for day in range(1, 21)] + [("gateway", day) for day in range(1, 18)]
        )
    ]
    return {"tool_calls": calls, "sources": [{"source": "gateway", "title": HOSTILE}]}


def test_a_silent_source_is_in_the_sentence_and_has_a_row(store: Path) -> None:
    publish(store, silent_store() | {"ingest_runs": small_tables()["ingest_runs"]})
    app = opened(PAGE)
    assert "silent for 3 days" in page_text(app)
    assert "Silent sources" in page_text(app)


@pytest.mark.thorough
def test_the_overview_leads_to_the_page_when_a_source_is_silent(store: Path) -> None:
    publish(store, silent_store())
    links = opened("callgauge/dashboard/pages/overview/page.py").get("page_link")
    (label,) = [link.proto.label for link in links if "silent for" in link.proto.label]
    assert label.endswith("silent for 3 days →]")
    assert "<img" not in label.replace("\\<img", "")


def test_a_file_that_is_read_with_another_says_with_which() -> None:
    beside: dict[Hashable, str] = {"status": "companion", "reason": "is read with a.json"}
    assert describe_status(beside) == "read with a.json"
    assert describe_status({"status": "loaded", "reason": None}) == "loaded"


@pytest.mark.thorough
def test_formats_that_the_store_has_no_file_of_are_folded_away(store: Path) -> None:
    other = {"source": "otlp", "title": "OpenTelemetry", "raw_arguments": "no"}
    sources = [*small_tables()["sources"], other]
    publish(store, small_tables() | {"sources": sources})
    (folded,) = [part for part in opened(PAGE, formats="1").expander if "other format" in part.label]
    assert folded.label == "1 other format that can be read, without a file here"
    assert not folded.proto.expanded


def test_two_versions_of_a_prompt_are_compared(small: Path) -> None:
    app = opened(PAGE, changed="prompt:session_history:support")
    (changes,) = [code.value for code in app.code if code.value.startswith("--- before")]
    assert changes.splitlines()[-2:] == [" Be kind.", f"+{HOSTILE}"]
    app.selectbox(key="after").select("1").run()
    assert "These two are the same." in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("named", ["prompt:session_history:gone", "tool:::", "x:y:z"])
def test_a_link_to_what_is_not_there_shows_the_page_all_the_same(small: Path, named: str) -> None:
    assert "Prompts and tools that changed" in page_text(opened(PAGE, changed=named, before="9", after="x"))


@pytest.mark.parametrize("named", ["", "prompt"])
def test_a_link_that_names_nothing_opens_nothing(small: Path, named: str) -> None:
    assert folds(opened(PAGE, changed=named)) == ["Every line", *FOLDS]


def test_a_link_to_one_reason_shows_its_lines(small: Path) -> None:
    app = opened(PAGE, reject="not_json")
    assert "Every line: not\\_json" in [part.value for part in app.subheader]
    assert "Unreadable lines" in page_text(opened(PAGE, reject="no_such_reason"))


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


def test_turns_whose_reported_and_derived_success_differ_lead_to_their_session(store: Path) -> None:
    turns = [a_turn(1, derived_ok=False, derived_reason="chain_abandoned"), a_turn(2)]
    publish(store, small_tables() | {"turns": turns})
    app = opened(PAGE, disagree="1")
    assert "They differ on 50% (1 / 2) of the turns that have both." in page_text(app)
    [row] = sheets(app)["Turns whose reported and derived success differ"]["rows"]
    assert [row[2]["text"], row[3]["text"], row[3]["sub"]] == [
        "successful",
        "unsuccessful",
        "a failed call was given up",
    ]
    assert row[6]["href"] == "sessions?session=s1&turn=1"


def test_redacted_arguments_are_a_warning(store: Path) -> None:
    tables = small_tables()
    publish(
        store, tables | {"tool_calls": [{**call, "args_source": "redacted"} for call in tables["tool_calls"]]}
    )
    warnings = [warning.value for warning in opened(PAGE, formats="1").warning]
    assert any("are redacted. They are not measured." in warning for warning in warnings)
