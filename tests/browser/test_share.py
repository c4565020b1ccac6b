"""Tests the Share dialog in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import App


def open_share(app: App) -> None:
    button = app.page.locator(".st-key-share button")
    expect(button).to_be_visible()
    app.settle()
    button.focus()
    app.page.keyboard.press("Enter")
    expect(app.page.get_by_role("button", name="Copy as Markdown")).to_be_visible()


def headline(page: Page) -> str:
    verdict = page.locator(".st-key-verdict").get_by_role("heading")
    expect(verdict).to_be_visible()
    return verdict.inner_text()


@pytest.mark.thorough
def test_a_shared_link_opens_the_same_sentence_for_somebody_else(app: App, browser: Browser) -> None:
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.open("/prompts")
    open_share(app)
    app.page.get_by_role("button", name="Copy link", exact=True).click()
    expect(app.page.get_by_text("Copied")).to_be_visible()
    address = app.page.evaluate("navigator.clipboard.readText()")
    for written in ("days=2026-", "rate=parse_error", "of=support", "smallest=2"):
        assert written in address
    app.page.keyboard.press("Escape")
    expect(app.page.locator(".st-key-share button")).to_be_focused()
    sentence = headline(app.page)
    other = browser.new_context(viewport={"width": 390, "height": 900}, timezone_id="UTC")
    page = other.new_page()
    page.goto(address)
    assert headline(page) == sentence
    expect(page.locator(".st-key-share button")).to_be_in_viewport()
    other.close()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_report_opens_without_a_server_and_asks_for_nothing(
    app: App, browser: Browser, tmp_path: Path, theme: str
) -> None:
    app.open("/models")
    open_share(app)
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="Download report").click()
    assert download.value.suggested_filename.startswith("callgauge_models_report_2026")
    report = tmp_path / "report.html"
    download.value.save_as(report)
    other = browser.new_context(color_scheme="dark" if theme == "dark" else "light", offline=True)
    page = other.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    expect(page.get_by_role("heading", level=1)).to_have_text(headline(app.page))
    expect(page.get_by_role("table").first).to_contain_text("falcon-3")
    link = page.get_by_role("link", name="Open in Callgauge").get_attribute("href") or ""
    assert link.startswith(f"{app.served.url}/models?days=2026-")
    other.close()
