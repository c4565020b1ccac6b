"""From a fault to the call, its session and the next fault, as a person goes."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import App


def test_a_fault_leads_to_its_call_its_session_and_the_next(app: App) -> None:
    app.open("/calls?fault=syntax")
    app.page.get_by_role("link", name=re.compile("^2026-11-20")).first.click()
    app.page.get_by_role("link", name="Open fully").click()
    app.page.wait_for_url("**call=c41*")
    app.settle()
    app.expect("Attempts")
    app.page.get_by_role("link", name="Open session").click()
    app.page.wait_for_url("**/sessions?session=s1&call=c41")
    app.settle()
    lit = app.page.locator(".lit")
    expect(lit).to_contain_text("Chain 1, attempt 1 · recovered")
    expect(lit).to_be_in_viewport()
    expect(lit).to_be_focused()
    app.page.keyboard.press("j")
    app.page.wait_for_url("**/sessions?session=s1&turn=2")
    app.settle()
    expect(lit).to_contain_text("Turn 2")
    app.page.keyboard.press("p")
    app.page.wait_for_url("**/sessions?session=s1&call=c41")
    app.settle()
    expect(lit).to_contain_text("json_parse_error")
