"""Links from one view of a page to another view of the same page, clicked one by one."""

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
    """Lines were rejected for two reasons."""
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
    """The address alone opens the view."""


@pytest.mark.thorough(quick=2)
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
    expect(way_out).to_be_visible()  # the address changes before the view that it names is drawn
    app.settle()
    main = app.page.get_by_test_id("stMain")
    before = main.inner_text()
    way_out.click()
    app.page.wait_for_url(re.compile(arrives.replace("$", "[?]?$")))
    app.settle()
    expect(main).not_to_have_text(before, use_inner_text=True)
