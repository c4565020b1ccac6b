"""Tests the documentation site as local files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from docs.build_site import build_site


@pytest.mark.thorough
def test_the_search_works_in_a_folder(context: BrowserContext, tmp_path: Path) -> None:
    build_site(tmp_path / "site")
    page = context.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto((tmp_path / "site" / "docs" / "start.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type("retry rate")
    result = page.get_by_role("option", name="Four rates").first
    expect(result).to_be_visible()
    result.click()
    expect(page).to_have_url(re.compile(r"/docs/pages\.html.*#four-rates$"))
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()
