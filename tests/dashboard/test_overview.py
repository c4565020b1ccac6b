"""Tests that the Overview claims only what logs support, and that each number except zero is a link."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.cli.up_command import write_verdict
from callgauge.dashboard.components.controls import url_widgets
from callgauge.dashboard.components.slice_table import IntervalScale, make_scale
from callgauge.stats import Share
from tests.analysis.store_fixture import a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets

FINDINGS = {"found": "1"}
BLIND = {"syntax_seen": "failures", "schema_seen": "failures", "outcome": "unmeasured"}


def overview(store: Path, query: Mapping[str, str] | None = None, /, **tables: Any) -> AppTest:
    publish(store, small_tables() | {"diagnostics": []} | tables)
    return opened(**(query or {}))


def doors(app: AppTest) -> list[str]:
    """Return the labels of links. Links in explanations (SQL and glossary) are left out."""
    labels = [str(link.proto.label) for link in app.get("page_link")]
    explained = ("Open in SQL", "What the words mean")
    return [label for label in labels if not any(words in label for words in explained)]


def test_callgauge_up_prints_the_answer_of_the_page(small: Path) -> None:
    answer = write_verdict(small)
    assert "Not enough data" in answer
    assert answer in page_text(opened()).replace("\\", "")


@pytest.mark.thorough
def test_nothing_found_where_nothing_could_be_read_is_not_called_clean(store: Path) -> None:
    words = page_text(overview(store, FINDINGS, tool_calls=[a_call(1, **BLIND)]))
    assert "Not measured: these logs keep neither the model's text nor a tool definition." in words


@pytest.mark.thorough
def test_nothing_found_says_in_how_many_calls_and_how_many_are_unmeasured(store: Path) -> None:
    calls = [a_call(1), *(a_call(number, **BLIND) for number in (2, 3, 4))]
    words = page_text(overview(store, FINDINGS, tool_calls=calls))
    assert "No diagnostics in the 1 call that could be checked; measured on 25% of calls." in words


def test_turn_success_is_one_rate_with_its_counts_and_who_reports_it(small: Path) -> None:
    """Both turns are in one session, which counts as one observation. The interval is Wilson's (1927) for n =
    1.
    """
    words = page_text(opened())
    assert "few: 2 / 2 turns · 20.7–100%  \nreported by the log" in words
    assert "Turn success, derived" not in words


@pytest.mark.thorough
def test_turns_of_which_the_log_reports_nothing_have_derived_success(store: Path) -> None:
    words = page_text(overview(store, turns=[a_turn(1, recorded_ok=None), a_turn(2, derived_ok=None)]))
    assert "few: 2 / 2 turns · 20.7–100%  \n50% reported by the log, the others derived" in words


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("defined", "caption"),
    [
        (0, "JSON syntax only: no tool definitions"),
        (1, "JSON syntax only on 50% of calls: no tool definition"),
    ],
)
def test_parse_errors_without_definitions_are_said_to_cover_syntax_only(
    store: Path, defined: int, caption: str
) -> None:
    calls = [a_call(number, schema_seen="full" if number < defined else "none") for number in (0, 1)]
    assert caption in page_text(overview(store, tool_calls=calls))


@pytest.mark.thorough
def test_a_number_that_is_zero_has_no_door(store: Path) -> None:
    app = overview(store, tool_calls=[a_call(1)], turns=[a_turn(1)], rejects=[], files=[])
    assert doors(app) == []


@pytest.mark.thorough
def test_a_headline_that_rests_on_few_says_so_and_has_no_line_of_days(store: Path) -> None:
    days = ("2026-11-19", "2026-11-20")
    solid = [row for first, day in enumerate(days) for row in model_calls("m", day, 4, 40, 1000 * first)]
    few = [row for first, day in enumerate(days) for row in model_calls("m", day, 1, 4, 1000 * first)]
    assert "few: 2 / 8 calls" in page_text(overview(store, tool_calls=few))
    one_session = [row | {"session_id": "s"} for row in model_calls("m", days[0], 4, 40, 1000)]
    assert "few sessions: 4 / 40 calls" in page_text(overview(store, tool_calls=one_session))
    lines = page_text(overview(store, tool_calls=solid)).split("\n")
    assert "few" not in next(line for line in lines if "8 / 80 calls" in line)


def test_layers_are_a_share_of_all_calls(small: Path) -> None:
    assert "Share of all 44 calls; a full bar is 100%." in page_text(opened())


@pytest.mark.thorough
def test_the_codes_beyond_the_first_ten_are_one_click_away(store: Path) -> None:
    diagnostic = {"file_id": 1, "stage": "repair", "severity": "note", "lossy": False}
    many = [diagnostic | {"call_id": "c1", "position": n, "code": f"code_{n}"} for n in range(15)]
    app = overview(store, FINDINGS, diagnostics=many)
    assert "15 codes." in page_text(app)
    table = sheets(app)["Diagnostics by code"]
    assert (table["shown"], len(table["rows"])) == (10, 15)


@pytest.mark.thorough
def test_the_trend_of_many_days_has_a_point_a_week(store: Path) -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in (1, 3, 5) for day in range(1, 21)]
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    assert "A point is a week" in page_text(overview(store, {"days": "all"}, tool_calls=calls))


def test_counting_is_told_in_sentences_before_the_sql(small: Path) -> None:
    words = page_text(opened())
    assert "A retry is a call of the same tool after a failure, in a later step of the same turn" in words
    assert "What could not be measured counts in neither k nor n" in words


def test_what_a_popover_holds_is_not_sent_while_it_is_closed(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_widgets, "is_open", lambda popover: bool(popover.open))
    app = opened()
    assert "A retry is a call of the same tool" not in page_text(app)
    assert not app.get("download_button")
    assert not app.number_input


@pytest.mark.thorough
def test_versions_of_a_prompt_in_two_sources_are_compared_once(store: Path) -> None:
    prompts = [{"prompt_id": f"fixer@{n}", "name": "fixer", "version": str(n)} for n in (1, 2)]
    used = [(source, n) for source in ("claude_code", "codex") for n in (1, 2)]
    turns = [
        a_turn(number, source=source, prompt_id=f"fixer@{n}", day=f"2026-11-{n:02d}")
        for number, (source, n) in enumerate(used)
    ]
    app = overview(store, {"days": "all"}, prompts=prompts, turns=turns)
    assert not app.exception
    assert page_text(app).count("**fixer**") == 1


def test_a_scale_of_rates_ends_on_a_round_share_and_says_so() -> None:
    assert make_scale([Share(72, 309), Share(2, 263)]).ends() == ("0%", "30%")
    assert make_scale([Share(2, 263)]).ends() == ("0%", "3%")
    assert make_scale([Share(109, 111), Share(100, 113)]).ends() == ("80%", "100%")


def test_what_lies_beyond_a_scale_is_not_pulled_to_its_end() -> None:
    assert IntervalScale(0.0, 0.4).position_of(0.6) > 1
    assert IntervalScale(0.5, 1.0).position_of(0.4) < 0


# --- the answers ------------------------------------------------------------------------------------------


def model_calls(
    model: str, day: str, refused: int, size: int, first: int, **fields: Any
) -> list[dict[str, Any]]:
    """Return the calls of a model on one day, two per session. `refused` is the number of rejected calls."""
    faulty = {"outcome": "failed", "fault_layer": "syntax"}
    return [
        a_call(
            first + n,
            model=model,
            day=day,
            ts=f"{day}T10:00:00",
            session_id=f"{model}{first + n // 2}",
            **fields,
            **(faulty if n < refused else {}),
        )
        for n in range(size)
    ]


@pytest.mark.thorough
def test_the_best_models_are_named_with_their_interval_and_the_thin_ones_only_counted(store: Path) -> None:
    calls = [
        *model_calls("good", "2026-11-20", 1, 80, 1000),
        *model_calls("bad", "2026-11-20", 30, 80, 2000),
        *model_calls("lucky", "2026-11-20", 0, 4, 3000),
    ]
    app = overview(store, tool_calls=calls)
    words = str(app.header[0].value).replace("\\", "")
    assert words.startswith("good is the best by parse errors: 1.2% against 38% of bad, the other model")
    assert "1 model with too few sessions" in page_text(app)
    rows = sheet_of(app, "Models by the leading rates")
    assert [(row["Rank"]["text"], row["Model"]["text"]) for row in rows] == [("1", "good"), ("2", "bad")]


@pytest.mark.thorough
def test_the_prompt_card_says_for_whom_a_version_is_worse(store: Path) -> None:
    prompts = [
        {
            "prompt_id": f"fixer@{version}",
            "name": "fixer",
            "version": version,
            "text": version,
            "source": "made",
        }
        for version in ("12", "13")
    ]
    calls = [
        call
        for day in range(6)
        for call in (
            *model_calls("kestrel", f"2026-11-{4 + day:02d}", 1, 40, 1000 + 1000 * day, prompt_id="fixer@12"),
            *model_calls("aurora", f"2026-11-{4 + day:02d}", 3, 40, 8000 + 1000 * day, prompt_id="fixer@12"),
            *model_calls("kestrel", f"2026-11-{14 + day}", 20, 40, 16000 + 1000 * day, prompt_id="fixer@13"),
            *model_calls("aurora", f"2026-11-{14 + day}", 3, 40, 24000 + 1000 * day, prompt_id="fixer@13"),
        )
    ]
    turns = [
        a_turn(1, prompt_id="fixer@12", prompt_hash="12", day="2026-11-10", ts="2026-11-10T10:00:00"),
        a_turn(2, prompt_id="fixer@13", prompt_hash="13", day="2026-11-20", ts="2026-11-20T10:00:00"),
    ]
    app = overview(store, prompts=prompts, turns=turns, tool_calls=calls)
    words = page_text(app)
    assert "keep @12. @13 is worse: " in words.replace("\\", "")
    assert "for kestrel" in words.replace("\\", ""), [line for line in words.splitlines() if "@13" in line]


@pytest.mark.thorough
def test_a_change_against_the_baseline_is_coloured_only_when_it_is_decided(store: Path) -> None:
    days = [
        call
        for day in range(5)
        for call in (
            *model_calls("m", f"2026-11-{11 + day}", 2, 120, 1000 + 1000 * day),
            *model_calls("m", f"2026-11-{16 + day}", 60, 120, 9000 + 1000 * day),
        )
    ]
    app = overview(store, {"days": "5 days"}, tool_calls=days)
    errors = next(metric for metric in app.metric if metric.label == "Parse errors")
    assert errors.delta == "+48.3 points"
    assert errors.proto.color == errors.proto.MetricColor.RED
    old_link = opened(days="5 days", baseline="No baseline")
    assert not next(metric for metric in old_link.metric if metric.label == "Parse errors").delta
    none = opened(days="5 days", baseline="nothing")
    assert not next(metric for metric in none.metric if metric.label == "Parse errors").delta


@pytest.mark.thorough
def test_a_goal_is_kept_for_the_team_and_says_whether_it_is_met(store: Path) -> None:
    app = overview(store, tool_calls=model_calls("m", "2026-11-20", 40, 120, 1000))
    app.number_input(key="goal_parse_error").set_value(5.0)
    app.button(key="FormSubmitter:goals-Save goals").click().run()
    assert ":red[goal ≤ 5%: missed]" in page_text(app)
    again = opened()
    assert ":red[goal ≤ 5%: missed]" in page_text(again)
    assert any("Goal missed: parse errors" in door.replace("\\", "") for door in doors(again))
    assert (store / "memory.sqlite").exists()


def test_a_memory_that_cannot_be_read_is_said_and_the_page_goes_on(small: Path) -> None:
    (small / "memory.sqlite").write_bytes(b"no database, but as long as one may be" * 100)
    app = opened()
    assert "cannot be read or written" in str(app.warning[0].value).replace("\\", "")
    assert "1 / 44 calls" in page_text(app)


@pytest.mark.thorough
def test_the_days_that_are_shown_are_said_with_how_much_they_leave_out(store: Path) -> None:
    days = ("2025-01-01", "2026-11-20")
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    app = overview(store, tool_calls=calls)
    assert "1 call, 2026-10-24 to 2026-11-20" in page_text(app)
    app.button(key="all_days").click().run()
    assert "2 calls" in page_text(app)


@pytest.mark.thorough
def test_chosen_days_are_kept_as_a_named_baseline_and_removed(store: Path) -> None:
    app = overview(store, {"days": "1 day"}, tool_calls=model_calls("m", "2026-11-20", 1, 30, 1000))
    app.text_input(key="baseline_name").set_value("before 13")
    app.button(key="FormSubmitter:kept_baseline-Keep").click().run()
    again = opened(baseline="before 13")
    assert again.selectbox(key="baseline").value == "before 13"
    assert "before 13: 2026-11-20 to 2026-11-20" in page_text(again).replace("\\", "")
    again.button(key="remove_baseline_0").click().run()
    assert "before 13: 2026-11-20" not in page_text(again).replace("\\", "")


@pytest.mark.thorough
def test_where_no_model_can_be_ranked_the_thin_ones_are_listed_and_the_link_says_when_closed(
    store: Path,
) -> None:
    calls = [*model_calls("some", "2026-11-20", 1, 4, 1000), *model_calls("few", "2026-11-20", 0, 4, 2000)]
    app = overview(store, tool_calls=calls)
    (row,) = (
        row
        for row in sheet_of(app, "2 models with too few sessions: counts")
        if row["Model"]["text"] == "some"
    )
    assert (row["Parse errors"]["text"], row["Parse errors"]["sub"]) == ("25%", "1 / 4")
    closed = opened(which_model_thin="0")
    assert "2 models with too few sessions: counts" not in sheets(closed)


@pytest.mark.thorough
def test_rejected_files_and_old_data_need_attention_last(store: Path) -> None:
    run = {"run_id": 1, "finished_at": "2026-11-30T02:00:00"}
    files = [{"file_id": number, "status": "rejected"} for number in (7, 8)]
    words = [door.replace("\\", "") for door in doors(overview(store, ingest_runs=[run], files=files))]
    assert any(door.startswith(":gray[○]") and "2 files are not recognised" in door for door in words)


@pytest.mark.parametrize(
    ("code", "wrong", "calls", "is_linked"),
    [
        ("unsupported_integer_literal", 40, 100, True),
        ("unsupported_integer_literal", 1, 100, False),
        ("unsupported_integer_literal", 10, 20, False),
        ("missing_required", 40, 100, False),
    ],
)
def test_a_parameter_that_is_often_wrong_links_to_its_tool(
    store: Path, code: str, wrong: int, calls: int, is_linked: bool
) -> None:
    diagnostic = {"file_id": 1, "position": 0, "stage": "coerce", "lossy": False, "severity": "error"}
    app = overview(
        store,
        tool_calls=[a_call(number, session_id=f"s{number}") for number in range(calls)],
        diagnostics=[
            diagnostic | {"call_id": f"c{number}", "code": code, "path": "$.limit"} for number in range(wrong)
        ],
    )
    links = [link.proto for link in app.get("page_link") if "be fixed" in link.proto.label]
    labels = [link.label.replace("\\", "") for link in links]
    sentence = ":gray[○] :blue[limit of read_file] is often wrong: can the definition be fixed?"
    assert labels == ([sentence] if is_linked else [])
    details = [link.help.replace("\\", "") for link in links]
    assert details == ([f"{code} in 40.0% of calls"] if is_linked else [])
    assert [link.query_string for link in links] == (["tool_open=read_file"] if is_linked else [])
