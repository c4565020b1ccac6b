"""Measures a real server with real browsers: first paint, five users at the same time, memory."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
PEOPLE = 5
PAGES = ("", "models", "errors", "tools", "compare")
MODELS = ("falcon-3", "kestrel-mini", "osprey-2", "heron-large", "ibis-1")
_PATIENCE = 300_000  # ms; long enough to measure an answer that takes a minute
ROUNDS = 5  # number of page loads to measure the first paint
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_DONE = """() => {
  const app = document.querySelector('[data-testid="stApp"]')
  return app && app.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]')
}"""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Median times in ms.

    `painted` is the first paint of Overview, and `empty` is the first paint of an empty Streamlit page.
    `alone` and `together` are the times from opening a page with another filter until the last table of the
    page is shown, for one user and for five simultaneous users. `memory_mb` is the server's memory in MB at
    the end.
    """

    painted: float
    empty: float
    alone: float
    together: float
    memory_mb: float


def browser_path() -> str | None:
    return os.environ.get("BROWSER_BIN") or shutil.which("chromium") or shutil.which("google-chrome")


def crowd(store: Path, models: Sequence[str] = MODELS) -> Crowd | None:
    """Open pages, one user for each of `models`, filtered by this model. Return None if no browser is
    installed.
    """
    path = browser_path()
    if path is None:
        return None
    with (
        tempfile.TemporaryDirectory() as folder,
        served(ROOT / "callgauge" / "server.py", store) as (url, server),
    ):
        with served(empty_script(Path(folder)), store) as (empty_url, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
            _opened(browser, url)  # fill the caches, which every start of the server fills
            painted, empty = _paint(browser, url), _paint(browser, empty_url)
            alone = [_opened(browser, f"{url}/{page}?model={models[-1]}") for page in PAGES]
            browser.close()
        together = _together(path, url, models)
        return Crowd(painted, empty, statistics.median(alone), statistics.median(together), _memory(server))


def empty_script(folder: Path) -> Path:
    """Write the script of an empty Streamlit page."""
    script = folder / "blank.py"
    script.write_text("import streamlit as st\nst.title('Empty')\n", encoding="utf-8")
    return script


def _paint(browser: Browser, url: str) -> float:
    times = []
    for _ in range(ROUNDS):
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.wait_for_function(_DONE, timeout=_PATIENCE)
        times.append(float(page.evaluate(_PAINT)))
        context.close()
    return statistics.median(times)


def _opened(browser: Browser, url: str) -> float:
    context = browser.new_context()
    page = context.new_page()
    started = time.perf_counter()
    page.goto(url)
    page.wait_for_function(_DONE, timeout=_PATIENCE)
    took = 1000 * (time.perf_counter() - started)
    context.close()
    return took


def _together(browser_path: str, url: str, models: Sequence[str]) -> list[float]:
    """Let five users open the pages at the same time.

    Each user has a separate browser and selects a different model.
    """
    times: list[float] = []

    def walk(model: str) -> None:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=BROWSER_FLAGS)
            times.extend(_opened(browser, f"{url}/{page}?model={model}&tool=bash") for page in PAGES)
            browser.close()

    threads = [threading.Thread(target=walk, args=(model,)) for model in models[:PEOPLE]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


@contextmanager
def served(script: Path, store: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    env = {**os.environ, "CALLGAUGE_STORE": str(store)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=quiet, stderr=quiet) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url)
            yield url, server
        finally:
            server.terminate()


def _wait_for(url: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not come up")


def _memory(server: subprocess.Popen[bytes]) -> float:
    try:
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
