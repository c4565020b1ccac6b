"""Tests the page Trials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.analysis.made_trials import MadeArm, join_tables, make_run
from tests.analysis.store_fixture import HOSTILE, publish, small_tables
from tests.browser.conftest import App, Served, serving, watch

pytestmark = pytest.mark.thorough

ARMS = (MadeArm("old", 0.35), MadeArm("new", 0.03), MadeArm(HOSTILE, 0.9))


def tables(done: int, **fields: Any) -> dict[str, Any]:
    return join_tables(
        small_tables(), make_run(ARMS, tasks=100, done=done, question=HOSTILE, **fields).tables
    )


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("trials")
    publish(folder / "store", tables(0))
    with serving(folder / "store", folder) as running:
        yield running


@pytest.fixture
def app(trials: Served, context: BrowserContext) -> Iterator[App]:
    app = App(context.new_page(), trials)
    watch(app)
    yield app
    crashed = app.page.get_by_test_id("stException").count()
    app.page.close()
    assert not crashed
    assert not app.problems


def test_the_page_of_a_run_fills_up_while_it_is_open(app: App) -> None:
    app.open("/trials?trial=orders.7f3a")
    app.expect("No trial has ended yet")
    verdicts = app.page.get_by_role("table", name="Invalid calls by variant")
    for number, (done, verdict) in enumerate(((15, "Still open"), (33, "Still open"), (100, "Better")), 2):
        publish(app.served.store, tables(done), number=number)
        expect(verdicts).to_contain_text(f"{done} / 100")
        expect(verdicts).to_contain_text(verdict)
    app.expect("new is better than old by invalid calls")
    assert "trial=orders.7f3a" in app.page.url


def test_a_cell_leads_to_the_session_and_the_session_back_to_its_run(app: App) -> None:
    publish(app.served.store, tables(100), number=9)
    app.open("/trials?trial=orders.7f3a&tasks_by=run")
    grid = app.page.get_by_role("table", name="Tasks by variant")
    grid.get_by_role("row").nth(1).get_by_role("link").first.click()
    app.page.wait_for_url("**/sessions?**")
    app.settle()
    app.expect("Time line")
    app.page.get_by_role("link", name="orders.7f3a").first.click()
    app.page.wait_for_url("**/trials?**trial=orders.7f3a**")


def test_it_is_one_word_or_two_keys_away_and_no_name_is_run(app: App) -> None:
    publish(app.served.store, tables(100), number=10)
    app.open("/models?days=all")
    expect(app.page.get_by_role("button", name="Find")).to_be_visible()
    app.page.keyboard.press("g")
    app.page.keyboard.press("i")
    app.page.wait_for_url("**/trials**")
    app.settle()
    app.page.keyboard.press("Control+k")
    expect(app.page.get_by_role("combobox", name="Find a page")).to_be_focused()
    app.page.keyboard.type("trials")
    expect(app.page.get_by_role("option", name="Trials").first).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.page.get_by_role("dialog", name="Find")).to_be_hidden()
    app.open("/trials")
    app.page.get_by_role("table", name="Trial runs").get_by_role("link").first.click()
    app.page.wait_for_url("**trial=orders.7f3a**")
    app.settle()
    app.expect("by invalid calls")
    assert not app.page.locator("img[src='x']").count()


@pytest.mark.parametrize("width", [390, 1440])
def test_no_width_scrolls_sideways(app: App, width: int) -> None:
    app.page.set_viewport_size({"width": width, "height": 900})
    for path in ("/trials", "/trials?trial=orders.7f3a", "/trials?trial=orders.7f3a&show=conditions"):
        app.go(path)
        beyond = app.page.evaluate(
            "() => document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
        )
        assert beyond <= 0, path
