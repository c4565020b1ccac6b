"""Tests the dashboard in a real browser, as a person uses it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, expect

from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables
from tests.browser.conftest import App, Served, watch

PAGES = (
    "/?model=falcon-3&by=Prompt",
    "/",
    "/models",
    "/prompts",
    "/models?view=prompt",
    "/tools",
    "/tools?tool_open=read_file",
    "/errors",
    "/errors?tab=retries",
    "/playground?tab=stored",
    "/glossary",
    "/calls?peek=c41",
    "/compare",
    "/calls",
    "/calls?call=c41",
    "/sessions",
    "/sessions?session=s1&call=c41&find=limit",
    "/data",
    "/data?changed=prompt:session_history:support",
    "/playground?example=Values+of+another+type",
    "/sql?start=query:recovery_by_code",
)
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS: dict[str, object] = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# Streamlit 1.67 itself violates these rules on every page that has such an element.
STOCK_FINDINGS = {"target-size", "svg-img-alt"}


def _not_stock(finding: str, nodes: list[str]) -> list[str]:
    """Return axe's violations, except for Streamlit's code blocks, which scroll but cannot take the focus."""
    scrolls = finding.endswith("scrollable-region-focusable")
    return [node for node in nodes if not (scrolls and node.startswith('<pre class="st-emotion-cache'))]


@pytest.mark.thorough
def test_a_filter_changes_the_numbers_and_the_address(app: App) -> None:
    app.open()
    app.expect("1 / 44 calls")
    app.choose("Models", "falcon-3")
    app.expect("1 / 43 calls")
    assert "model=falcon-3" in app.page.url


@pytest.mark.thorough
def test_a_filter_goes_along_from_page_to_page_and_back(app: App) -> None:
    app.open("/?model=falcon-3")
    app.page.get_by_test_id("stSidebar").get_by_role("link", name="Calls", exact=True).click()
    app.page.wait_for_url("**/calls?*")
    app.settle()
    app.expect("1 of 43 calls failed")
    app.page.go_back()
    app.settle()
    app.expect("1 / 43 calls")


@pytest.mark.thorough
def test_a_number_leads_to_its_call_in_two_clicks_and_back(app: App) -> None:
    app.open()
    app.page.get_by_role("link", name="Syntax").click()
    app.page.wait_for_url("**/calls?fault=syntax")
    app.settle()
    app.expect("1 of 44 calls matches")
    app.page.get_by_role("link", name=re.compile("^2026-11-20")).first.click()
    app.page.wait_for_url("**peek=c41*")
    app.settle()
    app.expect("^^^^^^^ json_parse_error")
    app.page.go_back()
    app.settle()
    app.expect("1 of 44 calls matches")
    app.page.go_back()
    app.settle()
    expect(app.page.get_by_role("heading", level=1)).to_have_text("Overview")


@pytest.mark.thorough
def test_neighbours_in_the_turn_are_one_click_away(app: App) -> None:
    app.open("/calls?call=c41")
    attempts = app.page.get_by_role("region", name="Attempts of the retry sequence")
    attempts.get_by_role("link", name="2", exact=True).click()
    app.page.wait_for_url("**call=c42*")
    app.settle()
    expect(attempts.get_by_role("row").nth(2)).to_contain_text("this call")


@pytest.mark.thorough
def test_a_call_has_no_filter_bar_and_leads_back_to_the_list_as_it_was_filtered(app: App) -> None:
    app.open("/calls?model=falcon-3&fault=syntax")
    app.page.get_by_role("link", name=re.compile("^2026-11-20")).first.click()
    app.page.wait_for_url("**peek=c41*")
    app.page.get_by_role("link", name="Open fully").click()
    app.page.wait_for_url("**call=c41*")
    app.settle()
    app.expect("Verdicts of parser, agent and tool")
    assert app.page.get_by_role("button", name="Reset").count() == 0
    app.page.get_by_role("link", name="All calls").click()
    app.page.wait_for_url("**/calls?*fault=syntax*")
    app.settle()
    app.expect("1 of 43 calls matches")
    assert "model=falcon-3" in app.page.url
    expect(app.page.get_by_role("button", name="Reset")).to_be_visible()


@pytest.mark.thorough
def test_search_filters_while_typing(app: App) -> None:
    app.open("/calls")
    app.page.get_by_placeholder("Search raw arguments").fill("HYPERLINK")
    app.page.wait_for_url("**q=HYPERLINK*")
    app.settle()
    app.expect("1 of 44 calls matches")


@pytest.mark.thorough
def test_the_exported_file_holds_no_formula(app: App) -> None:
    app.open("/calls?model=" + "falcon-3")
    app.page.get_by_role("button", name="Export and method of Newest first").click()
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="CSV, all rows").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("call_id,")
    assert len(text.splitlines()) == 44


def test_text_from_a_log_stays_text(app: App) -> None:
    for path in ("/", "/calls", "/data", "/calls?call=c43"):
        app.go(path)
        app.expect("<img src=x")
        assert app.page.locator("img[src=x]").count() == 0


@pytest.mark.thorough
def test_the_playground_follows_the_typing(app: App) -> None:
    app.open("/playground?example=Clean")
    raw = app.page.get_by_label("Raw arguments, as sent")
    raw.fill('{"query": "x", "top_k": "7"}')
    expect(app.page.get_by_role("region", name="Diagnostics in order")).to_contain_text(
        "string_literal_converted_to_integer"
    )
    raw.fill("{'query': 'x',}")
    raw.press("Control+Enter")
    expect(app.page.get_by_role("region", name="Verdict under each policy")).to_contain_text("repaired")


@pytest.mark.thorough
def test_a_copied_link_opens_what_was_on_the_screen_and_the_case_can_be_saved(app: App) -> None:
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.open("/playground?example=Clean")
    raw = app.page.get_by_label("Raw arguments, as sent")
    raw.fill("{'query': 'é <b>', 'top_k': '7',}")
    findings = app.page.get_by_role("region", name="Diagnostics in order")
    expect(findings).to_contain_text("trailing_comma")
    app.settle()
    app.page.locator(".st-key-share button").click()
    app.page.get_by_role("button", name="Copy link", exact=True).click()
    expect(app.page.get_by_text("Copied")).to_be_visible()
    address = app.page.evaluate("navigator.clipboard.readText()")
    app.page.keyboard.press("Escape")
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="Save as regression case").click()
    (case,) = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert case["raw"] == "{'query': 'é <b>', 'top_k': '7',}"
    assert address.startswith(f"{app.served.url}/playground?")
    assert "&p=" in address
    app.open(address.removeprefix(app.served.url))
    expect(raw).to_have_value("{'query': 'é <b>', 'top_k': '7',}")
    expect(findings).to_contain_text("trailing_comma")


@pytest.mark.thorough
def test_an_open_page_shows_a_new_load_by_itself(app: App) -> None:
    app.open()
    app.expect("1 / 44 calls")
    more = [*small_tables()["tool_calls"], *(a_call(number) for number in range(100, 106))]
    try:
        publish(app.served.store, small_tables() | {"tool_calls": more}, number=2)
        app.expect("1 / 50 calls")
    finally:
        publish(app.served.store, small_tables(), number=3)
        app.expect("1 / 44 calls")


@pytest.fixture(scope="module")
def looked_over(context: BrowserContext, served: Served) -> Iterator[App]:
    """Provide one page for all checks, because loading the frontend takes long."""
    app = App(context.new_page(), served)
    watch(app)
    yield app
    app.page.close()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_accessible_in_both_themes_and_fits(looked_over: App, path: str) -> None:
    page = looked_over.page
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 1440, "height": 1000})
    looked_over.go(path)
    page.wait_for_timeout(300)
    assert not _violations(looked_over, WCAG)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", "dark")
    looked_over.settle()
    assert not _violations(
        looked_over, {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
    ), "in the dark"
    page.set_viewport_size({"width": 390, "height": 844})
    looked_over.settle()
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollWidth <= 390")
    page.emulate_media(color_scheme="light", reduced_motion="reduce", forced_colors="active")
    page.set_viewport_size({"width": 720, "height": 500})
    looked_over.settle()
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollWidth <= 720")
    page.wait_for_function("() => document.getAnimations().every((each) => each.playState !== 'running')")
    page.emulate_media(forced_colors="none")
    assert not looked_over.problems


def _violations(app: App, rules: list[str] | dict[str, object]) -> dict[str, list[str]]:
    """Return axe's violations of these rules, with the violating elements. Violations of Streamlit itself are
    ignored.
    """
    violations = Axe().run(app.page, options={"runOnly": rules}).response["violations"]
    nodes = {
        v["id"]: [node["html"][:200] for node in v["nodes"]]
        for v in violations
        if v["id"] not in STOCK_FINDINGS
    }
    return {id_: kept for id_, several in nodes.items() if (kept := _not_stock(id_, several))}


@pytest.mark.thorough
def test_a_store_that_is_not_there_yet_says_what_to_run_and_then_shows_itself(app: App) -> None:
    pointer = app.served.store / "CURRENT"
    kept = pointer.read_text(encoding="utf-8")
    pointer.unlink()
    try:
        app.open()
        app.expect("callgauge ingest PATH --store")
    finally:
        pointer.write_text(kept, encoding="utf-8")
    app.expect("Parse errors by day")


@pytest.mark.thorough
def test_the_hostile_model_can_be_filtered(app: App) -> None:
    app.open()
    app.choose("Models", HOSTILE)
    app.expect("0 / 1 calls")
