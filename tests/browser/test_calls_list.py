"""Tests the list of calls with mouse and keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App


@pytest.mark.thorough
def test_a_click_anywhere_in_a_row_shows_the_call_beside_the_list_and_back_undoes_it(app: App) -> None:
    app.open("/calls?outcome=failed")
    first, entries = app.page.url, app.page.evaluate("history.length")
    app.page.get_by_role("region", name="Calls").get_by_text("limit").first.click()
    app.page.wait_for_url("**peek=c41*")
    app.settle()
    assert app.page.evaluate("history.length") == entries + 1
    peek = app.page.locator(".st-key-peek_view")
    expect(peek).to_contain_text("json_parse_error")
    expect(peek).to_contain_text("42 lines")
    expect(app.page.locator("tr.chosen")).to_contain_text("read_file")
    app.page.get_by_role("link", name="Open fully").click()
    app.page.wait_for_url("**call=c41*")
    app.settle()
    app.expect("Verdicts of parser, agent and tool")
    app.page.go_back()
    app.settle()
    expect(peek).to_contain_text("42 lines")
    app.page.go_back()
    app.settle()
    expect(app.page).to_have_url(first)
    expect(peek).to_have_count(0)


@pytest.mark.thorough
def test_j_and_k_go_through_the_list_across_its_pages(app: App) -> None:
    app.open("/calls?peek=c5")
    step(app, "j", "calls?peek=c4")
    step(app, "j", "calls?page=2&peek=c3")
    expect(app.page.locator("tr.chosen")).to_have_count(1)
    step(app, "k", "calls?peek=c4")
    app.page.wait_for_url("**peek=c4")
    assert "page=2" not in app.page.url
    app.page.go_back()
    app.page.wait_for_url("**page=2&peek=c3")


def step(app: App, key: str, address: str) -> None:
    """Wait until the page shows the link to `address`, which this key opens. Then press the key."""
    name = "step_next" if key == "j" else "step_previous"
    expect(app.page.locator(f".st-key-{name} a")).to_have_attribute("href", address)
    app.page.wait_for_function("() => window.callgaugeKeys")  # the script that handles the keys is loaded
    app.page.keyboard.press(key)
    app.settle()


@pytest.mark.thorough
def test_a_head_sorts_the_list_in_the_link(app: App) -> None:
    app.open("/calls")
    region = app.page.get_by_role("region", name="Calls")
    region.get_by_role("link", name="Outcome").click()
    app.page.wait_for_url("**order=outcome*")
    app.settle()
    expect(region.get_by_role("columnheader", name="Outcome")).to_have_attribute("aria-sort", "ascending")
    region.get_by_role("link", name="Outcome").click()
    app.page.wait_for_url("**order=-outcome*")
    app.settle()
    expect(region.locator("tbody tr").first).to_contain_text("failed")
