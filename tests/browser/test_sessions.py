"""Tests the links from an error to a call, to the call's session, and to the next error."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import App


@pytest.mark.thorough
def test_a_fault_leads_to_its_call_its_session_and_the_next(app: App) -> None:
    app.open("/calls?fault=syntax")
    app.page.get_by_role("link", name=re.compile("^2026-11-20")).first.click()
    app.page.get_by_role("link", name="Open fully").click()
    app.page.wait_for_url("**call=c41*")
    app.settle()
    app.expect("Retry sequence")
    app.page.get_by_role("link", name="Open session").click()
    app.page.wait_for_url("**/sessions?session=s1&call=c41")
    app.settle()
    lit = app.page.locator(".lit")
    expect(lit).to_contain_text("Retry sequence 1, attempt 1 · recovered")
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


# Adds the links to the previous and the next session. A list of several sessions has such links.
LIST_AROUND = """() => {
  for (const way of ["next", "previous"]) {
    const link = document.createElement("a")
    link.onclick = () => { window.leftSession = true }
    const holder = document.createElement("div")
    holder.className = `st-key-step_${way}`
    holder.append(link)
    document.querySelector("[data-testid=stApp]").prepend(holder)
  }
}"""


@pytest.mark.thorough
def test_keys_move_over_turns_and_failures_of_the_open_session_wherever_the_focus_is(app: App) -> None:
    app.open("/sessions?session=s1&session_page=1")
    app.page.evaluate(LIST_AROUND)
    expect(app.page.get_by_role("link", name="Turn →")).to_be_visible()
    app.page.evaluate("document.activeElement.blur()")
    steps = (("j", "turn=2", "Turn 2"), ("k", "turn=1", "Turn 1"), ("n", "call=c41", "json_parse_error"))
    for key, address, text in (*steps, steps[0]):
        app.page.keyboard.press(key)
        app.page.wait_for_url(f"**/sessions?session=s1&*{address}*")
        app.settle()
        expect(app.page.locator(".lit")).to_contain_text(text)
        app.page.evaluate("document.activeElement.blur()")
    expect(app.page.locator(".jump.none", has_text="Turn →")).to_be_visible()
    app.page.keyboard.press("j")
    app.settle()
    assert app.page.url.endswith("turn=2"), "at its last turn, j stays in the session"
    assert not app.page.evaluate("window.leftSession")
    field = app.page.get_by_role("searchbox", name="Search in this session")
    field.press_sequentially("jknp")
    expect(field).to_have_value("jknp")
