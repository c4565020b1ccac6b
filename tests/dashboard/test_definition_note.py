"""Tests the note on pages that, without tool definitions, parse errors include only invalid JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgauge.dashboard.page_files import page_file
from tests.analysis.store_fixture import a_call, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of

PAGES = "callgauge/dashboard/pages"
NOTE = "Parse errors cover JSON syntax only: the logs have no tool definitions."


def without_definitions(store: Path) -> None:
    calls = [
        a_call(number, schema_seen="failures", outcome="unmeasured", session_id=f"s{number}")
        for number in range(40)
    ]
    publish(store, small_tables() | {"tool_calls": calls})


@pytest.mark.parametrize("page", ["models", "errors", "tools"])
def test_a_store_without_definitions_says_so(store: Path, page: str) -> None:
    without_definitions(store)
    assert NOTE in page_text(opened(f"{PAGES}/{page}/page.py"))


@pytest.mark.parametrize("page", ["models", "errors", "tools"])
def test_a_store_with_definitions_says_nothing(small: Path, page: str) -> None:
    assert "JSON syntax only" not in page_text(opened(f"{PAGES}/{page}/page.py"))


def test_schema_errors_without_definitions_are_not_measured(store: Path) -> None:
    without_definitions(store)
    app = opened(f"{PAGES}/tools/page.py", rate="schema_error", few="1")
    [row] = sheet_of(app, "Tools by failures")
    assert row["Schema errors"]["text"] == "–"
    assert "Schema errors: not measured. It takes a tool definition." in page_text(app)


def test_a_card_of_a_rate_that_was_not_measured_says_what_it_takes(store: Path) -> None:
    without_definitions(store)
    note = "Strict failures: not measured. It takes the model's own text and a tool definition."
    assert note in page_text(opened(page_file("models"), rate="strict_failure", all_rates="1"))
