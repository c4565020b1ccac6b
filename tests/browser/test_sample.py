"""Tests the installed wheel."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.conftest import LONGEST_WAIT, App, Served, serving, watch
from tests.packaging.installation import ROOT, Installation, clean_environment, installed_callgauge


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return installed_callgauge(tmp_path_factory)


def load(installed: Installation, path: str, store: Path) -> subprocess.Popen[str]:
    command = [installed.programs / "callgauge", "ingest", ROOT / path, "--store", store]
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=store.parent,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def sample(installed: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("sample")
    store = folder / "store"
    loading = load(installed, "sample_data/logs", store)
    output, _ = loading.communicate()
    assert loading.returncode == 0, output
    with serving(store, folder, [str(installed.programs / "callgauge")]) as served:
        yield served


@pytest.fixture
def app(sample: Served, context: BrowserContext) -> Iterator[App]:
    app = App(context.new_page(), sample)
    watch(app)
    yield app
    app.page.close()
    assert not app.problems


@pytest.mark.thorough
def test_every_page_shows_the_sample(app: App) -> None:
    for path, words in (
        ("/", "Needs attention"),
        ("/models", "Parse errors by model"),
        ("/prompts", "fixer@13 is worse"),
        ("/models?view=prompt", "Parse errors by model and prompt"),
        ("/tools", "10 tools with enough sessions"),
        ("/errors", "Errors by signature"),
        ("/retries", "Outcome after a failure"),
        ("/compare", "By model, tool or host"),
        ("/calls", "Raw arguments"),
        ("/sessions", "Successful turns"),
        ("/data", "Every line could be read"),
        ("/playground", "Nothing to parse yet"),
        ("/playground?tab=stored", "Settings"),
        ("/sql", "What it answers"),
    ):
        app.open(path)
        app.expect(words)


@pytest.mark.thorough
def test_a_model_leads_to_its_repaired_calls_and_to_one_of_them(app: App) -> None:
    app.open()
    ranking = app.page.get_by_role("region", name="Models by the leading rates")
    ranking.get_by_role("link").first.click()
    app.page.wait_for_url("**/calls?model=*")
    app.settle()
    app.page.goto(app.page.url + "&outcome=mended")
    app.settle()
    app.page.get_by_role("region", name="Calls", exact=True).get_by_role("row").nth(1).click()
    app.page.wait_for_url(re.compile("peek="))
    app.page.get_by_role("link", name="Open fully").click()
    app.page.wait_for_url(re.compile("call="))
    app.settle()
    expect(app.page.get_by_role("region", name="Diagnostics in order")).to_contain_text(":")
    app.expect("Verdicts of parser, agent and tool")


@pytest.mark.thorough
def test_a_finding_leads_to_the_calls_that_have_it(app: App) -> None:
    app.open()
    app.page.get_by_text("Parser diagnostics").click()
    codes = app.page.get_by_role("region", name="Diagnostics by code")
    row = codes.get_by_role("row").nth(1)
    calls = row.get_by_role("cell").nth(1).inner_text()
    row.get_by_role("link").click()
    app.page.wait_for_url("**code=*")
    app.settle()
    app.expect(re.compile(rf"{calls} of [\d,]+ calls match"))


# For each interval with an arrow, this returns the end of its bar in percent of the track.
ENDS_WITH_ARROW = """tracks => tracks.filter((track) => track.querySelector(".beyond")).map((track) => {
  const range = track.querySelector(".range")
  const [x, width] = ["x", "width"].map((name) => Number(range.getAttribute(name)))
  return [x, x + width]
})"""


@pytest.mark.thorough
def test_an_interval_that_goes_beyond_its_scale_ends_in_an_arrow(app: App) -> None:
    app.open("/errors?tab=retries&days=all")
    tracks = app.page.get_by_role("region", name="Retry sequences by tool").locator(".whisker")
    expect(tracks.first).to_be_visible()
    ends = tracks.evaluate_all(ENDS_WITH_ARROW)
    assert 0 < len(ends) < tracks.count()
    assert all(low <= 0 or high > 99.99 for low, high in ends)


def follow(app: App, link: str, text: str) -> None:
    """Click a sidebar link until the page shows `text`, which no other page contains.

    On a busy machine, Streamlit can lose the connection and a click.
    """
    shown = app.page.get_by_test_id("stMain").get_by_text(text)
    for _ in range(3):
        app.page.get_by_role("link", name=link).click()
        with suppress(PlaywrightTimeout):
            shown.first.wait_for(timeout=LONGEST_WAIT / 3)
            return
    pytest.fail(f"{link} was not shown")


@pytest.mark.thorough
def test_an_open_page_keeps_answering_during_a_load_and_then_shows_it(
    app: App, installed: Installation
) -> None:
    app.open("/data")
    app.expect("In all: ")
    before = int(re.findall(r"In all: ([\d,]+) files", app.page.get_by_test_id("stMain").inner_text())[0])
    loading = load(installed, "docs/session-log.example.jsonl", app.served.store)
    while loading.poll() is None:
        follow(app, "Overview", "Needs attention")
        follow(app, "Data", "In all: ")
    output, _ = loading.communicate()
    assert loading.returncode == 0, output
    app.expect(f"In all: {before + 1} files")
    app.open("/data?inventory=1")
    app.expect("session-log.example.jsonl")
