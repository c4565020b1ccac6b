"""Tests the host filter in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import App, Served
from tests.dashboard.sheets import calls

SCRIPT = "<img src=x onerror=alert(1)>"
WIDTH, HEIGHT = 390, 800


@pytest.fixture(scope="module", autouse=True)
def _two_hosts(served: Served) -> Iterator[None]:
    made = [*calls(98, 2, provider="a,b"), *calls(60, 40, provider=SCRIPT)]
    publish(served.store, {"tool_calls": made}, number=8)
    yield
    publish(served.store, small_tables(), number=9)


@pytest.mark.thorough
def test_a_host_is_chosen_by_its_name_and_kept_from_page_to_page(app: App) -> None:
    dialogs: list[str] = []
    app.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    app.open("/models?days=All+days")
    app.choose("Hosts", SCRIPT)
    expect(app.page.get_by_role("button", name=f"Remove the filter {SCRIPT}")).to_be_visible()
    app.page.get_by_role("navigation").get_by_role("link", name="Calls", exact=True).click()
    app.page.wait_for_url("**/calls?*provider=*")
    app.settle()
    app.expect("40 of 100 calls failed")
    app.expect(SCRIPT)
    app.page.get_by_role("button", name="Reset").click()
    app.settle()
    app.expect("200 calls")
    assert "provider" not in app.page.url
    assert dialogs == []


def test_a_name_with_a_comma_is_one_host_and_the_bar_fits_a_phone(app: App) -> None:
    app.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    app.open("/calls?days=All+days&provider=a%2Cb")
    app.expect("2 of 100 calls failed")
    wide, tall = app.page.evaluate(
        "[document.documentElement.scrollWidth, document.querySelector('.st-key-filterbar').offsetHeight]"
    )
    assert wide <= WIDTH
    assert tall <= HEIGHT / 4
