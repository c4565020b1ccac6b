"""Tests every page with a missing, an empty, a small and a broken store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.store_fixture import a_call, publish, small_tables
from tests.dashboard.conftest import APP, COUNTING, FILES, opened, page_text


@pytest.mark.parametrize("page", FILES)
def test_a_page_shows_a_small_store(small: Path, page: str) -> None:
    app = opened(page)
    assert not app.error
    assert "Nothing has been loaded yet" not in page_text(app)


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("page", FILES)
def test_a_page_shows_a_store_without_a_single_call(store: Path, page: str) -> None:
    publish(store, {})
    app = opened(page)
    assert not app.error


@pytest.mark.parametrize("page", COUNTING)
def test_without_a_store_a_page_says_which_command_to_run(store: Path, page: str) -> None:
    app = opened(page)
    assert page_text(app).count("Nothing has been loaded yet") == 1
    assert [block.value for block in app.code] == [f"callgauge ingest PATH --store {store}"]


def test_without_the_variable_the_pages_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLGAUGE_STORE", raising=False)
    assert "callgauge ingest PATH --store DIR" in page_text(opened())


def test_the_playground_works_without_a_store(store: Path) -> None:
    assert "Nothing to show yet" not in page_text(opened("callgauge/dashboard/pages/playground/page.py"))


@pytest.mark.parametrize(
    "damage", ["not a database", "missing generation", "escaping name", "binary pointer"]
)
def test_a_broken_store_is_a_sentence_and_no_traceback(small: Path, damage: str) -> None:
    pointer = small / "CURRENT"
    if damage == "not a database":
        (small / "gen-000001.duckdb").write_bytes(b"\x00nonsense" * 1000)
    elif damage == "missing generation":
        (small / "gen-000001.duckdb").unlink()
    elif damage == "escaping name":
        pointer.write_text("../store/gen-000001.duckdb", encoding="utf-8")
    else:
        pointer.write_bytes(b"\xff\xfe\x00")
    words = page_text(opened())
    assert "The store cannot be shown" in words
    assert "callgauge ingest" in words
    assert "Traceback" not in words


def test_a_store_of_another_version_says_so(store: Path) -> None:
    publish(store, {"store_info": [{"schema_version": 999}]})
    assert "written by another version" in page_text(opened())
    assert "Move the folder" in page_text(opened())


def test_a_store_of_an_older_version_says_how_to_bring_it_up_to_date(store: Path) -> None:
    publish(store, {"store_info": [{"schema_version": 1}]})
    import duckdb

    with duckdb.connect(str(store / "gen-000001.duckdb")) as connection:
        connection.execute("UPDATE store_info SET schema_version = 1")
    app = opened()
    assert "Bring it up to date" in page_text(app)
    assert [block.value for block in app.code] == [f"callgauge reparse --store {store}"]


def test_a_store_without_a_table_costs_only_the_cards_that_ask_for_it(small: Path) -> None:
    publish(small, small_tables(), number=2)
    import duckdb

    with duckdb.connect(str(small / "gen-000002.duckdb")) as connection:
        connection.execute("DROP TABLE daily_codes")
    app = opened(found="1")
    assert [error.value for error in app.error if "Diagnostics" in str(error.value)]
    assert "Parse errors by day" in page_text(app)


def test_headline_rates_print_their_counts_and_interval(small: Path) -> None:
    app = opened()
    assert app.metric[0].label == "Parse errors"
    assert app.metric[0].value == "2.3%"
    # All 44 calls are in one session, which counts as one observation: proportion_confint(1 / 44, 1).
    assert "1 / 44 calls · 0.01–80.3%" in page_text(app)


def test_a_filter_narrows_every_number(small: Path) -> None:
    app = opened()
    app.multiselect(key="model").select("falcon-3").run()
    assert not app.exception
    assert "1 / 43 calls" in page_text(app)


def test_a_filter_from_the_url_is_in_force(small: Path) -> None:
    assert "1 / 43 calls" in page_text(opened(model="falcon-3"))


def test_nonsense_in_the_url_is_dropped(small: Path) -> None:
    app = opened(model="' OR 1=1 --", days="soon", by="nothing", rejects="-3")
    assert app.multiselect(key="model").value == []
    assert "1 / 44 calls" in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("days", ["2019-01-01", "2026-11-20", "2026-13-45", ""])
def test_days_from_the_url_that_the_store_does_not_span_do_no_harm(small: Path, days: str) -> None:
    app = opened(days=days)
    assert not app.error


@pytest.mark.thorough
def test_reset_clears_the_filters(small: Path) -> None:
    app = opened(model="falcon-3")
    app.button(key="reset").click().run()
    assert app.multiselect(key="model").value == []
    assert "1 / 44 calls" in page_text(app)


def test_a_selection_without_calls_says_which_filter_to_widen(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py")
    app.text_input(key="q").set_value("nowhere in any call").run()
    assert "The filters leave nothing: days, search." in page_text(app)
    app.button(key="clear").click().run()
    assert "44 calls" in page_text(app)


def test_the_button_of_an_empty_list_clears_all_that_its_sentence_names(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py", model="falcon-3")
    app.selectbox(key="fault").set_value("refused").run()
    app.text_input(key="q").set_value("nowhere in any call").run()
    assert "The filters leave nothing: days, model, failure stage, search." in page_text(app)
    app.button(key="clear").click().run()
    assert "44 calls" in page_text(app)
    assert not {"model", "fault", "q"} & set(app.query_params)


def test_reset_clears_the_filters_of_the_page_too(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py", model="falcon-3")
    app.selectbox(key="outcome").set_value("failed").run()
    assert "1 of 43 calls matches the filters." in page_text(app)
    app.button(key="reset").click().run()
    assert "44 calls" in page_text(app)


@pytest.mark.thorough
def test_another_filter_begins_at_the_first_page_again(store: Path) -> None:
    calls = [a_call(number, tool="other" if number % 2 else "read_file") for number in range(220)]
    publish(store, small_tables() | {"tool_calls": calls})
    app = opened("callgauge/dashboard/pages/calls/page.py", page="2")
    assert app.query_params["page"] == "2"
    app.multiselect(key="tool").select("other").run()
    assert "110 calls" in page_text(app)
    assert "page" not in app.query_params


def test_a_link_that_names_a_page_of_a_narrowed_list_opens_that_page(store: Path) -> None:
    publish(store, small_tables() | {"tool_calls": [a_call(number) for number in range(220)]})
    app = opened("callgauge/dashboard/pages/calls/page.py", page="3", model="falcon-3")
    assert app.query_params["page"] == "3"


@pytest.mark.thorough
def test_a_link_for_one_day_means_that_day_only(store: Path) -> None:
    days = ("2026-11-18", "2026-11-19", "2026-11-20")
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    publish(store, small_tables() | {"tool_calls": calls})
    app = opened(days="2026-11-19")
    assert app.selectbox(key="days").value == "2026-11-19"
    assert "/ 1 calls" in page_text(app)


@pytest.mark.thorough
def test_the_usual_days_are_the_newest_28_and_all_days_are_one_choice_away(store: Path) -> None:
    days = ("2025-01-01", "2026-10-23", "2026-10-24", "2026-11-20")
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    publish(store, small_tables() | {"tool_calls": calls})
    app = opened()
    assert "/ 2 calls" in page_text(app)
    app.selectbox(key="days").set_value("All days").run()
    assert "/ 4 calls" in page_text(app)
    assert "/ 1 calls" in page_text(opened(days="2025-01-01"))


def test_what_is_no_range_of_days_is_said_and_the_usual_days_stay(small: Path) -> None:
    app = opened(days="last year")
    assert "“last year” is not a range of days" in page_text(app)
    assert "1 / 44 calls" in page_text(app)


@pytest.mark.thorough
def test_a_link_of_before_with_two_days_still_means_them(store: Path) -> None:
    days = ("2026-11-18", "2026-11-19", "2026-11-20")
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    publish(store, small_tables() | {"tool_calls": calls})
    app = AppTest.from_file(str(APP), default_timeout=300)
    app.query_params["days"] = ["2026-11-18", "2026-11-19"]
    app.run()
    assert "/ 2 calls" in page_text(app)


def test_cards_that_the_filters_do_not_touch_say_so(small: Path) -> None:
    words = page_text(opened("callgauge/dashboard/pages/data/page.py", inventory="1"))
    assert words.count("Filtered by source only, not by day, model, prompt or tool.") == 2
    assert "Not filtered. A file is read once, and again when it grows." in words


def test_a_new_generation_is_shown_on_the_next_run(small: Path) -> None:
    app = opened()
    tables = small_tables()
    publish(small, {**tables, "tool_calls": list(tables["tool_calls"])[:10]}, number=2)
    app.run()
    assert "0 / 10 calls" in page_text(app)


@pytest.mark.thorough
def test_the_whole_extent_grows_with_the_store(small: Path) -> None:
    app = opened()
    later = [dict(row) | {"day": "2026-11-22"} for row in small_tables()["tool_calls"]]
    publish(small, small_tables() | {"tool_calls": later}, number=2)
    app.run()
    assert "1 / 44 calls" in page_text(app)
    assert "days" not in app.query_params


@pytest.mark.thorough
def test_a_store_that_was_deleted_and_built_anew_under_the_same_name_is_shown_anew(small: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py")
    before = page_text(app)
    elsewhere = small.with_name("elsewhere")
    publish(elsewhere, {**small_tables(), "tool_calls": [a_call(1, tool="only_one")]})
    shutil.rmtree(small)
    elsewhere.rename(small)
    app.run()
    assert not app.exception
    assert page_text(app) != before
    assert "1 call" in page_text(app)
