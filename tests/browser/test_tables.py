"""Tests tables in a browser."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.analysis.store_fixture import HOSTILE, a_call, publish
from tests.browser.conftest import App, Served, serving, watch

SORTED = "/errors?days=all&stages=1&sort=findings.code.desc"


def findings(app: App) -> Locator:
    return app.page.get_by_role("region", name="Diagnostics by code")


@pytest.mark.thorough
def test_a_head_sorts_and_the_link_shows_the_same_in_a_fresh_browser(
    app: App, browser: Browser, served: Served
) -> None:
    app.open("/errors?days=all&stages=1")
    head = findings(app).get_by_role("columnheader").filter(has_text="Code")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert app.page.url.endswith(SORTED)
    order = findings(app).get_by_role("rowheader").all_inner_texts()
    assert order == sorted(order, reverse=True)
    context = browser.new_context()
    fresh = App(context.new_page(), served)
    fresh.open(SORTED)
    expect(findings(fresh).get_by_role("rowheader")).to_have_text(order)
    context.close()
    head.get_by_role("button").click()
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))
    assert "sort=" not in app.page.url


@pytest.mark.thorough
def test_a_filter_keeps_how_a_table_is_sorted(app: App) -> None:
    app.open(SORTED)
    app.page.get_by_text("What correlates with failures").click()
    app.settle()
    assert "sort=findings.code.desc" in app.page.url


@pytest.mark.thorough
def test_what_a_head_means_opens_by_keyboard_and_closes_by_escape(app: App) -> None:
    app.open("/errors?days=all&stages=1")
    help_of = app.page.locator("th .explained", has_text="Sessions").first
    help_of.focus()
    tip = app.page.get_by_text("A session counts once for each day")
    expect(tip).to_be_visible()
    help_of.press("Escape")
    expect(tip).to_be_hidden()


@pytest.mark.thorough
def test_a_table_that_is_cut_shows_it_and_keeps_its_first_column(browser: Browser, served: Served) -> None:
    context = browser.new_context(viewport={"width": 800, "height": 900})
    app = App(context.new_page(), served)
    watch(app)
    app.open("/errors?days=all&stages=1")
    frame = app.page.get_by_role("region", name="Errors by signature")
    edges = frame.locator("..")
    expect(edges).to_have_class(re.compile(r"\bafter\b"))
    frame.evaluate("frame => { frame.scrollLeft = 300 }")
    expect(edges).to_have_class(re.compile(r"\bbefore\b"))
    place = "element => Math.round(element.getBoundingClientRect().left)"
    assert frame.get_by_role("rowheader").first.evaluate(place) == frame.evaluate(place), "it stays in sight"
    context.close()
    assert not app.problems


@pytest.mark.thorough
def test_on_a_phone_a_row_is_a_card_with_the_verdict_first(browser: Browser, served: Served) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    app = App(context.new_page(), served)
    watch(app)
    app.open(f"/compare?{urlencode({'a_model': 'falcon-3', 'b_model': HOSTILE, 'days': 'all'})}")
    row = app.page.locator("tr", has=app.page.locator("[data-label^=Verdict]")).first
    expect(row).to_have_css("display", "flex")
    top = "element => element.getBoundingClientRect().top"
    verdict = row.locator("[data-label^=Verdict]")
    others = [cell.evaluate(top) for cell in row.get_by_role("cell").all() if cell.is_visible()]
    assert verdict.evaluate(top) == min(others), "right below the name"
    app.page.get_by_label("Sort by").first.select_option(index=1)
    assert "sort=" in app.page.url
    width = app.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= 390
    context.close()
    assert not app.problems


@pytest.mark.thorough
def test_bars_and_the_chosen_row_show_in_forced_colours(app: App) -> None:
    app.page.emulate_media(forced_colors="active")
    app.open("/calls?peek=c41")
    expect(app.page.locator("tr.chosen")).to_have_css("outline-style", "solid")
    app.open("/?days=all")
    fill = app.page.get_by_role("region", name="Calls by failure stage").locator(".fill").nth(6)
    expect(fill).to_be_visible()
    background = "element => getComputedStyle(element).backgroundColor"
    assert fill.evaluate(background) != app.page.locator("body").evaluate(background)


def test_the_file_of_a_card_is_the_table_on_the_screen(app: App) -> None:
    app.open("/errors?days=all&stages=1")
    card = app.page.locator("[data-testid=stVerticalBlock]").filter(has=findings(app)).last
    card.get_by_role("button", name="Export").click()
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="CSV", exact=True).click()
    rows = list(csv.reader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    shown = findings(app).get_by_role("rowheader").all_inner_texts()
    assert [row[0] for row in rows[1:]] == shown
    assert rows[0] == ["Code", "Severity", "Calls", "Share rate", "Share k", "Share n", "Meaning"]


ARABIC, HEBREW = "مساعد@2", "עוזר@12"


@pytest.mark.thorough
def test_a_name_that_reads_from_right_to_left_keeps_its_version_behind_it(
    browser: Browser, tmp_path: Path
) -> None:
    publish(tmp_path / "store", {"tool_calls": [a_call(1, model=ARABIC, tool=HEBREW), a_call(2)]})
    with serving(tmp_path / "store", tmp_path) as running:
        app = App(browser.new_page(viewport={"width": 1440, "height": 1000}), running)
        app.open("/calls?days=all")
        for name in (ARABIC, HEBREW):
            cell = app.page.locator("td .value").filter(has_text=name).first
            expect(cell).to_be_visible()
            shown = cell.inner_text().partition("\n")[0]
            assert shown == name, "what is copied has no invisible marks"
            assert cell.evaluate(WHERE_THE_VERSION_IS) == "after"
        app.page.emulate_media(media="print")
        for hidden in ("stSidebar", "stPopoverButton"):
            expect(app.page.get_by_test_id(hidden).first).to_be_hidden()
        expect(app.page.get_by_role("region", name="Calls")).to_be_visible()
        app.page.close()


# Returns the positions on screen of a name's letters and of the @ behind the name.
WHERE_THE_VERSION_IS = """cell => {
  const texts = []
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) if (walker.currentNode.data) texts.push(walker.currentNode)
  const box = (node, start, end) => {
    const range = document.createRange()
    range.setStart(node, start)
    range.setEnd(node, end)
    return range.getBoundingClientRect()
  }
  const [name, version] = [texts[0], texts.find((node) => node.data.includes("@"))]
  const at = version.data.indexOf("@")
  return box(name, 0, 1).left < box(version, at, at + 1).left ? "after" : "before"
}"""
