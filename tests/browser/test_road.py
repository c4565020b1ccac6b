"""Tests the links from a rate to a call, to the playground, to a changed definition, and to the replay of
stored calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.analysis.store_fixture import a_call, publish, small_tables
from tests.browser.conftest import App, Served, serving, watch


def definition(limit: Any) -> dict[str, Any]:
    properties = {"path": {"type": "string"}, "limit": {"type": limit}}
    return {"type": "object", "properties": properties}


WIDER = json.dumps({"name": "read_file", "input_schema": definition(["integer", "string"])})
REFUSED = {
    "raw_arguments": '{"path": "a", "limit": "all of it"}',
    "outcome": "failed",
    "fault_layer": "schema",
    "parse_error": "value_not_converted:limit",
    "arguments": '{"path": "a"}',
}


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("road")
    calls = [
        *(a_call(number, definition_id="d1", session_id=f"s{number}") for number in range(30)),
        *(a_call(number, definition_id="d1", session_id=f"s{number}", **REFUSED) for number in range(30, 40)),
    ]
    tool = {
        "definition_id": "d1",
        "tool": "read_file",
        "description": "Reads.",
        "definition": json.dumps(definition("integer")),
    }
    publish(folder / "store", small_tables() | {"tool_calls": calls, "tool_definitions": [tool]})
    with serving(folder / "store", folder) as served:
        yield served


@pytest.mark.thorough
def test_the_road_from_a_rate_to_a_replayed_definition(road: Served, context: BrowserContext) -> None:
    app = App(context.new_page(), road)
    watch(app)
    page = app.page

    def arrive(address: str) -> None:
        page.wait_for_url(address)
        app.settle()

    app.open()
    app.expect("10 / 40 calls")
    page.get_by_test_id("stMain").get_by_role("link", name="Calls", exact=True).first.click()
    arrive("**/calls?fault=arguments")
    app.expect("10 of 40 calls match")
    page.get_by_role("link", name=re.compile("^2026-11-20")).first.click()
    arrive("**peek=c39*")
    app.expect("all of it")
    page.get_by_role("link", name="Open fully").click()
    arrive("**call=c39*")
    page.get_by_role("link", name="Open in the playground").click()
    arrive("**/playground?*call=c39*")
    verdict = page.get_by_role("region", name="Verdict under each policy")
    expect(verdict).to_contain_text("failed")
    page.get_by_label("Tool definition").fill(WIDER)
    expect(verdict).to_contain_text("clean")
    page.get_by_role("link", name="Try on stored calls").click()
    arrive("**/playground?*tab=stored*definition=*")
    page.get_by_role("button", name="Parse 40 calls again").click()
    app.expect("10 changed calls")
    app.settle()
    app.expect("10 of 10 failed calls would pass")
    page.get_by_role("button", name="Export").last.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV, all rows").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("call_id,")
    assert {line.split(",")[0] for line in lines[1:]} == {f"c{number}" for number in range(30, 40)}
    assert not app.problems
    page.close()


@pytest.mark.thorough
def test_a_query_runs_from_the_keyboard_travels_in_the_link_and_comes_back(app: App) -> None:
    app.open("/sql")
    query = app.page.get_by_label("Query", exact=True)
    # Until the script has run, the page still shows the rows of the previous query above.
    rows = app.page.get_by_role("region", name="Rows of the result").last
    query.fill("SELECT count(*) AS n FROM tool_calls")
    query.press("Control+Enter")
    app.settle()
    expect(rows).to_contain_text("44")
    first = app.page.url
    assert "sql=" in first
    query.fill("SELECT '<img src=x onerror=alert(1)>' AS tag")
    app.page.get_by_role("button", name="Run").click()  # the click comes before the editor has sent its text
    app.settle()
    expect(rows).to_contain_text("<img src=x onerror=alert(1)>")
    app.page.go_back()
    app.settle()
    expect(app.page).to_have_url(first)
    expect(rows).to_contain_text("44")
    expect(query).to_have_value("SELECT count(*) AS n FROM tool_calls")
