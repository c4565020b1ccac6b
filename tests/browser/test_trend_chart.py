"""Tests a rate chart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.analysis.store_fixture import a_call, a_turn, publish, small_tables
from tests.browser.conftest import App

DAYS = [f"2026-11-{day:02}" for day in range(10, 20)]


@pytest.fixture
def chart(app: App) -> Iterator[Locator]:
    """Publish a model that failed in 3 of 40 calls on each of ten days. Return its chart."""
    calls, turns = [], []
    for place, day in enumerate(DAYS):
        turns.append(a_turn(900 + place, day=day, ts=f"{day}T10:00:00"))
        for number in range(40):
            failed = {"outcome": "failed", "fault_layer": "syntax"} if number < 3 else {}
            calls.append(
                a_call(1000 + 40 * place + number, model="osprey", day=day, ts=f"{day}T10:00:00", **failed)
            )
    try:
        publish(app.served.store, {"tool_calls": calls, "turns": turns}, number=21)
        app.open("/models?days=2026-11-10+to+2026-11-19")
        shown = app.page.get_by_role("group", name="Arrow keys go from point to point")
        shown.scroll_into_view_if_needed()
        expect(shown.locator("circle.point[cx]").first).to_be_visible()
        yield shown
    finally:
        publish(app.served.store, small_tables(), number=22)


@pytest.mark.thorough
def test_dragging_over_days_chooses_them_and_back_undoes_it(app: App, chart: Locator) -> None:
    points = chart.locator(".panel circle.point")
    expect(points).to_have_count(len(DAYS))
    third, sixth = points.nth(2).bounding_box(), points.nth(5).bounding_box()
    assert third
    assert sixth
    app.page.mouse.move(third["x"], third["y"] + 40)
    app.page.mouse.down()
    app.page.mouse.move(sixth["x"] - 9, sixth["y"] + 40, steps=4)
    expect(chart.get_by_role("status")).to_contain_text("12 Nov 2026 to 15 Nov 2026")
    app.page.mouse.up()
    app.page.wait_for_url("**/models?*days=2026-11-12+to+2026-11-15*")
    expect(points).to_have_count(4)
    app.page.go_back()
    expect(points).to_have_count(len(DAYS))


def test_a_click_on_a_point_opens_its_calls(app: App, chart: Locator) -> None:
    chart.locator(".panel circle.point").nth(4).click(force=True)
    app.page.wait_for_url("**/calls?*days=2026-11-14*")
    assert "model=osprey" in app.page.url
    app.expect("3 of 40 calls match")


@pytest.mark.thorough
def test_keys_open_the_calls_of_a_point_and_choose_days(app: App, chart: Locator) -> None:
    chart.focus()
    app.page.keyboard.press("ArrowLeft")
    app.page.keyboard.press("ArrowLeft")
    expect(chart.get_by_role("status")).to_contain_text("2026-11-18")
    app.page.keyboard.press("Shift+ArrowLeft")
    expect(chart.get_by_role("status")).to_contain_text("17 Nov 2026 to 18 Nov 2026")
    app.page.keyboard.press("Escape")
    expect(chart.get_by_role("status")).to_be_hidden()
    app.page.keyboard.press("ArrowLeft")
    app.page.keyboard.press("Enter")
    app.page.wait_for_url("**/calls?*days=2026-11-19*")


@pytest.mark.thorough
def test_all_points_are_listed_in_a_table_with_links(app: App, chart: Locator) -> None:
    app.page.get_by_text("As a table").click()
    table = app.page.get_by_role("region", name="Parse errors by day and model")
    expect(table.get_by_role("link")).to_have_count(len(DAYS))
    table.get_by_role("link").first.click()
    app.page.wait_for_url("**/calls?*days=2026-11-19*")
    del chart
