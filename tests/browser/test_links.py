"""Tests links between views of the same page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import App, Served


@pytest.fixture(scope="module", autouse=True)
def _two_reasons(served: Served) -> Iterator[None]:
    tables = small_tables()
    rejects = list(tables["rejects"])
    more = {**rejects[0], "code": "truncated", "line": 9}
    publish(served.store, tables | {"rejects": [*rejects, more]}, number=8)
    yield
    publish(served.store, tables, number=9)


def signature(page: Page) -> None:
    page.get_by_role("region", name="Errors by signature").get_by_role("link").first.click()
    page.wait_for_url("**signature=*")


def nothing(_page: Page) -> None:
    """Do nothing, for views that need no action after their address is opened."""


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("start", "opening", "link", "arrives"),
    [
        ("/tools?tool_open=read_file", nothing, "All tools", "/tools$"),
        ("/errors?days=all", signature, "All errors", r"/errors\?days="),
        ("/data?reject=not_json", nothing, "All reasons", "/data$"),
        ("/compare?a_model=falcon-3", nothing, "The two models measured most", "a_model=falcon-3&.*b_model="),
        ("/calls?call=c41", nothing, "All calls", "/calls$"),
        ("/sessions?session=s1", nothing, "All sessions", "/sessions$"),
    ],
)
def test_a_link_within_a_page_leads_to_the_other_view(
    app: App, start: str, opening: Any, link: str, arrives: str
) -> None:
    app.open(start)
    opening(app.page)
    way_out = app.page.get_by_role("link", name=re.compile(f"{link}$"))
    expect(way_out).to_be_visible()
    app.settle()
    main = app.page.get_by_test_id("stMain")
    before = main.inner_text()
    way_out.click()
    app.page.wait_for_url(re.compile(arrives.replace("$", "[?]?$")))
    app.settle()
    expect(main).not_to_have_text(before, use_inner_text=True)


@pytest.mark.thorough
@pytest.mark.parametrize("title", ["Models", "Compare", "Prompts"])
def test_a_click_in_the_menu_chooses_nothing_by_itself(app: App, title: str) -> None:
    """The click comes while the first page is still loading."""
    app.page.goto(f"{app.served.url}/?rate=turn_success")
    app.page.get_by_role("link", name=title, exact=True).first.click()
    app.settle()
    keys = {pair.partition("=")[0] for pair in app.page.url.partition("?")[2].split("&") if pair}
    assert keys <= {"rate", "a_model", "b_model"}


@pytest.mark.thorough
@pytest.mark.parametrize("wait", [0, 2000])  # milliseconds
@pytest.mark.parametrize("way", ["menu", "keys"])
def test_a_chosen_rate_goes_along_to_the_next_page_and_nothing_else_does(
    app: App, wait: int, way: str
) -> None:
    app.open("/")
    expect(app.page.get_by_role("button", name="Find", exact=True)).to_be_visible()
    app.page.get_by_role("combobox", name="Rate").click()
    app.page.get_by_role("option", name="Needed repair").click()
    app.page.wait_for_url("**rate=mended")
    app.settle()
    app.page.wait_for_timeout(wait)
    if way == "menu":
        app.page.get_by_role("navigation").get_by_role("link", name="Models", exact=True).click()
    else:
        # letters would be typed into a field that has the focus
        app.page.evaluate("document.activeElement.blur()")
        app.page.keyboard.press("g")
        app.page.keyboard.press("m")
    app.page.wait_for_url("**/models*")
    app.settle()
    expect(app.page).to_have_url(f"{app.served.url}/models?rate=mended")
