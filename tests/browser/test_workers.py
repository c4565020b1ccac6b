"""Tests two browsers that use two workers. A sign-out in one tab must sign out the other tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from callgauge.serving.sign_in.users_file import FILE, UsersFile
from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import LONGEST_WAIT, App, Served, serving, watch
from tests.serving.test_users import PASSWORD, put_quickly

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("workers")
    store = folder / "store"
    publish(store, small_tables())
    for name in ("ann", "bob"):
        put_quickly(UsersFile(store / FILE), name, "admin", PASSWORD)
    with serving(store, folder, options=("--sign-in", "password", "--workers", "2")) as running:
        yield running


def open_signed_in(context: BrowserContext, site: Served, name: str) -> App:
    context.set_default_timeout(LONGEST_WAIT)
    app = App(context.new_page(), site)
    watch(app)
    app.page.goto(f"{site.url}/models")
    app.page.get_by_label("Name").fill(name)
    app.page.get_by_label("Password").fill(PASSWORD)
    app.page.get_by_role("button", name="Sign in").click()
    app.settle()
    return app


def test_two_browsers_at_two_workers(browser: Browser, site: Served) -> None:
    with closing(browser.new_context()) as first, closing(browser.new_context()) as second:
        tabs = [open_signed_in(first, site, "ann"), open_signed_in(second, site, "bob")]
        workers = [
            {str(cookie["name"]): str(cookie["value"]) for cookie in context.cookies()}["callgauge_worker"]
            for context in (first, second)
        ]
        assert sorted(workers) == ["1", "2"]
        for app in tabs:
            app.expect("falcon-3")
            app.go("/errors").expect("1 of 44 calls failed")
            app.open("/models?days=1").expect("falcon-3")
        other = first.new_page()
        other.goto(f"{site.url}/sign-out")  # no link was clicked, so the server asks for confirmation
        other.get_by_role("button", name="Sign out").click()
        expect(other.get_by_role("heading", name="Signed out")).to_be_visible()
        tabs[0].page.reload()
        expect(tabs[0].page).to_have_url(re.compile("/sign-in"))
        tabs[1].go("/errors").expect("1 of 44 calls failed")
        assert [app.problems for app in tabs] == [[], []]
