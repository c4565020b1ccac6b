"""Tests that the keyboard alone is enough to save decisions and notes, and to find them again."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from callgauge.memory.memory_file import FILE
from callgauge.memory.team_memory import TeamMemory
from tests.browser.conftest import App, Served
from tests.browser.test_shell import FOCUSED, open_palette, opened

NAME = "Every <b>Monday</b> & =1+1"


@pytest.fixture(autouse=True)
def _nothing_stays(served: Served) -> Iterator[None]:
    """Remove the records that each test saved, because all browser tests share a store."""
    yield
    (served.store / FILE).unlink(missing_ok=True)


def focus_field(app: App, label: str) -> None:
    for _ in range(30):
        if app.page.evaluate(f"() => ({FOCUSED})()?.getAttribute('aria-label')") == label:
            return
        app.page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {label}")


@pytest.mark.thorough
def test_a_view_is_saved_and_opened_again_at_its_exact_address_by_keyboard(app: App, served: Served) -> None:
    opened(app, "/models?model=falcon-3&days=All+days&rate=mended")
    saved = app.page.url
    field = open_palette(app)
    field.fill("save this")
    expect(app.page.get_by_role("option", name="Save this view")).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(app.page.get_by_role("dialog", name="Save this view")).to_be_visible()
    focus_field(app, "Name")
    app.page.keyboard.press("ControlOrMeta+a")
    app.page.keyboard.type(NAME)
    app.page.keyboard.press("Enter")
    link = app.page.get_by_role("navigation", name="Pages").get_by_role("link", name=NAME)
    expect(link).to_be_visible()
    (view,) = TeamMemory(served.store).read().views
    assert (view.name, view.page) == (NAME, "models")
    opened(app, "/glossary")
    field = open_palette(app)
    field.fill("every mon")
    expect(app.page.get_by_role("option", name=NAME)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    app.page.wait_for_url("**/models*")
    app.settle()
    assert sorted(parse_qsl(urlsplit(app.page.url).query)) == sorted(parse_qsl(urlsplit(saved).query))
