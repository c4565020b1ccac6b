"""Tests the playground in a browser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App

EXAMPLE = "/playground?example=Values+of+another+type"
PARAMETERS = "Parameters, sent and read"


def box(page: Page, element: Any) -> dict[str, float]:
    bounds: dict[str, float] = element.bounding_box()
    assert bounds["x"] >= 0
    assert bounds["y"] >= 0
    assert bounds["x"] + bounds["width"] <= page.evaluate("innerWidth")
    return bounds


@pytest.mark.thorough
def test_raw_text_definition_and_each_parameter_are_in_one_screen(app: App) -> None:
    app.page.set_viewport_size({"width": 1440, "height": 900})
    app.open(EXAMPLE)
    page = app.page
    table = page.get_by_role("region", name=PARAMETERS)
    expect(table).to_contain_text("converted")
    for element in (
        page.get_by_label("Raw arguments, as sent"),
        page.get_by_label("Tool definition"),
        page.get_by_role("heading", name="Coerced: 3 of 4 arguments converted"),
        table,
    ):
        bounds = box(page, element)
        assert bounds["y"] + bounds["height"] <= 900
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    assert table.evaluate("table => table.scrollWidth - table.clientWidth") <= 1, "no column is cut"


@pytest.mark.thorough
def test_the_marked_text_stays_in_sight_while_the_result_is_read(app: App) -> None:
    app.page.set_viewport_size({"width": 1440, "height": 700})
    app.open(EXAMPLE)
    page = app.page
    expect(page.get_by_role("region", name=PARAMETERS)).to_contain_text("converted")
    page.get_by_text("Other provider formats").click()
    app.settle()
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    page.wait_for_timeout(200)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") > 100
    marked = box(page, page.get_by_test_id("stCode").first)
    assert marked["y"] + marked["height"] <= 700


def test_a_broken_call_is_pasted_and_read_by_keyboard_alone(app: App) -> None:
    app.open("/playground")
    page = app.page
    definition = {"name": "search", "input_schema": {"properties": {"top_k": {"type": "integer"}}}}
    page.get_by_label("Tool definition").focus()
    page.keyboard.insert_text(json.dumps(definition))
    page.get_by_label("Raw arguments, as sent").focus()
    page.keyboard.insert_text("{'top_k': '5',}")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name=re.compile("^Repaired: "))).to_be_visible()
    row = page.get_by_role("region", name=PARAMETERS).get_by_role("row").filter(has_text="top_k").last
    expect(row).to_contain_text("converted")
    expect(row).to_contain_text("5")


@pytest.mark.thorough
@pytest.mark.parametrize("width", [390, 1024])
def test_on_a_narrow_screen_the_texts_come_first_and_nothing_is_cut(app: App, width: int) -> None:
    app.page.set_viewport_size({"width": width, "height": 900})
    app.open(EXAMPLE)
    page = app.page
    table = page.get_by_role("region", name=PARAMETERS)
    expect(table).to_contain_text("converted")
    raw = box(page, page.get_by_label("Raw arguments, as sent"))
    definition = box(page, page.get_by_label("Tool definition"))
    answer = page.get_by_role("heading", name="Coerced: 3 of 4 arguments converted").bounding_box()
    assert answer
    assert raw["y"] <= definition["y"] < answer["y"]
    assert table.evaluate("table => table.scrollWidth - table.clientWidth") <= 1
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 1


@pytest.mark.thorough
def test_a_megabyte_does_not_freeze_the_page(app: App) -> None:
    app.open("/playground")
    page = app.page
    page.get_by_label("Raw arguments, as sent").fill(
        '{"text": "' + "<img src=x onerror=alert(1)> " * 34_000 + '",' + "'k': 1,}"
    )
    expect(page.get_by_role("heading", name=re.compile("^Repaired: "))).to_be_visible()
    app.settle()
    page.get_by_label("Tool definition").fill('{"name": "t", "input_schema": {}}')
    expect(page.get_by_text("Definition lint")).to_be_visible()
    assert not page.locator("img[src=x]").count()
