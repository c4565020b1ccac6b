"""Provides one server and one browser for all browser tests. A script error, or a request to another host,
makes a test fail.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Response, expect, sync_playwright

from tests.analysis.store_fixture import publish, small_tables

ROOT = Path(__file__).parents[2]
FAILURES = Path(__file__).parent / "failures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
LONGEST_WAIT = 90_000  # milliseconds; only a real fault takes so long, even on a busy machine
expect.set_options(timeout=LONGEST_WAIT)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # A request to any other host fails. Such a failed request also fails the test.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]
# The frontend first requests these paths below the path of the page. The answer 404 tells it to use another
# base path.
PROBES = ("/_stcore/health", "/_stcore/host-config")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Repeat a failed browser test once, because slow machines cause random failures.

    pytest reports the number of repeated tests.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@dataclass(frozen=True, slots=True)
class Served:
    """A running dashboard, and its store."""

    url: str
    store: Path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    publish(folder / "store", small_tables())
    with serving(folder / "store", folder) as running:
        yield running


FROM_THE_CHECKOUT = (sys.executable, "-m", "callgauge")


@contextmanager
def serving(
    store: Path,
    folder: Path,
    callgauge: Sequence[str] = FROM_THE_CHECKOUT,
    options: Sequence[str] = (),
    port: int | None = None,
) -> Iterator[Served]:
    """Start `callgauge serve` on the given port, or on a free port.

    The test fails if the log in `folder` contains a traceback, or if SIGTERM does not end the server.
    """
    if port is None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    log = folder / "server.log"
    command = [*callgauge, "serve", "--store", str(store), "--port", str(port), *options]
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_up(url, server, log)
        yield Served(url, store)
        log_text = log.read_text(encoding="utf-8")
        if "Traceback" in log_text:
            pytest.fail(f"an error in the server's log:\n{log_text}")
    finally:
        server.terminate()
        ended = server.wait(30)
    assert ended == 0


def _wait_until_up(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(900):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:  # noqa: S310 - our own server
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the dashboard did not come up:\n" + log.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("BROWSER_BIN") or next(
        (found for name in BROWSERS if (found := shutil.which(name))), None
    )
    if path is None:
        pytest.fail("no Chromium or Chrome found: name one in BROWSER_BIN, or run ./dev test")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@dataclass(slots=True)
class App:
    """A browser page that shows the dashboard."""

    page: Page
    served: Served
    problems: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> App:
        self.page.goto(self.served.url + path)
        self.settle()
        return self

    def go(self, path: str) -> App:
        """Open an address as a click on a link does, without loading the frontend again."""
        if self.page.url.startswith(self.served.url):
            self.page.evaluate(
                """href => {
                  window.runBegan = false
                  const noted = new MutationObserver(() => { window.runBegan = true })
                  const app = document.querySelector('[data-testid="stApp"]')
                  noted.observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] })
                  window.history.pushState({}, "", href)
                  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }))
                }""",
                self.served.url + path,
            )
            self.page.wait_for_function("() => window.runBegan", timeout=LONGEST_WAIT)
            self.settle()
            return self
        return self.open(path)

    def settle(self) -> None:
        """Wait until Streamlit's script has ended, the page is connected, and no placeholder is left."""
        # A click reaches the server after a moment. Without this pause, the end of the previous run would end
        # the wait.
        self.page.wait_for_timeout(250)
        self.page.wait_for_function(
            """() => {
              const app = document.querySelector('[data-testid="stApp"]')
              return app && app.dataset.testScriptState === "notRunning"
                && app.dataset.testConnectionState === "CONNECTED"
                && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]')
            }""",
            timeout=LONGEST_WAIT,
        )

    def open_filters(self) -> Locator:
        panel = self.page.get_by_role("dialog", name="Filters")
        if not panel.is_visible():
            self.page.get_by_role("button", name="Filters").click()
        return panel

    def choose(self, dimension: str, value: str) -> None:
        """Choose a value of a dimension (`Models`, `Hosts`, …) in the filter panel. Then close the panel."""
        group = self.open_filters().get_by_role("group", name=dimension, exact=True)
        group.get_by_role("checkbox", name=value, exact=True).check()
        self.settle()
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("dialog", name="Filters")).to_be_hidden()

    def expect(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page shows `text`. Tables appear some time after Streamlit's script has ended."""
        expect(self.page.get_by_test_id("stMain")).to_contain_text(text)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1440, "height": 1000}, reduced_motion="reduce", locale="en-US", timezone_id="UTC"
    )
    made.set_default_timeout(LONGEST_WAIT)
    yield made
    made.close()


@pytest.fixture
def app(served: Served, context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[App]:
    app = App(context.new_page(), served)
    watch(app)
    yield app
    if request.node.stash.get(FAILED, False):
        FAILURES.mkdir(exist_ok=True)
        app.page.screenshot(path=str(FAILURES / f"{request.node.name}.png"), full_page=True)
    crashed = app.page.get_by_test_id("stException").count()
    app.page.close()
    assert not crashed
    assert not app.problems


def watch(app: App) -> None:
    """Record every script error, console error, failed request and error status."""
    own = app.served.url

    def on_response(response: Response) -> None:
        if response.status >= 400 and not response.url.split("?")[0].endswith(PROBES):
            app.problems.append(f"{response.status} {response.url}")

    app.page.on("pageerror", lambda error: app.problems.append(f"script error {error}"))
    app.page.on("response", on_response)
    app.page.on(
        "request",
        lambda made: (
            app.problems.append(f"outside {made.url}")
            if not made.url.startswith((own, "data:", "blob:"))
            else None
        ),
    )
    app.page.on(
        "console",
        lambda message: (
            app.problems.append(f"console {message.text}")
            if message.type == "error" and "404" not in message.text
            else None
        ),
    )


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        item.stash[FAILED] = True
    return report
