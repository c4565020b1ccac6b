"""Tests a published leaderboard in a browser: paper, phone, and the width of a badge's text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from callgauge.analysis.comparisons.leaderboard import PublishedNames, read_leaderboard
from callgauge.analysis.metrics.published_store import read_store
from callgauge.documents.badge import draw_badge
from callgauge.documents.leaderboard_files import PAGE, write_files
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.sheets import calls

pytestmark = pytest.mark.thorough
UNREAD = {"syntax_seen": "none", "schema_seen": "none", "outcome": "unmeasured"}


@pytest.fixture(scope="module", params=[False, True])
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the largest possible page: many models and tools, long names, and unmeasured calls in each
    cell.
    """
    folder = tmp_path_factory.mktemp("leaderboard")
    made = []
    for model in (f"{'W' * 50}-{number:02}" for number in range(9)):
        for tool in (f"mcp__{'W' * 50}_{number:02}" for number in range(13)):
            of_both = {"model": model, "tool": tool, "prompt_id": f"{'W' * 50}@{tool[-2:]}"}
            made += [*calls(28, 2, **of_both), *calls(1, 0, **of_both, **UNREAD)]
    turns = [a_turn(1, **{name: call[name] for name in ("session_id", "turn_id", "model")}) for call in made]
    publish(folder / "store", {"tool_calls": made, "turns": turns})
    with read_store(folder / "store", texts=False) as reader:
        board = read_leaderboard(reader.ask, (), {}, 10, PublishedNames(prompts=request.param))
    (folder / PAGE).write_bytes(write_files(board, "1.2.3")[PAGE])
    return folder / PAGE


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_largest_page_prints_on_two_sheets(browser: Browser, page_file: Path, paper: str) -> None:
    page = browser.new_page()
    page.goto(page_file.as_uri())
    printed = page.pdf(
        format=paper, margin={"top": "12mm", "right": "12mm", "bottom": "12mm", "left": "12mm"}
    )
    page.close()
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == 2


def test_the_page_asks_for_nothing_and_fits_a_phone(browser: Browser, page_file: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert requests == [page_file.as_uri()]
    assert width == 390


@pytest.mark.parametrize("label", ["tool calls valid", "claude-opus-4 · tool calls valid", "日本語モデル"])
def test_the_estimated_width_of_a_badge_is_near_the_real_width(browser: Browser, label: str) -> None:
    page = browser.new_page()
    page.set_content(draw_badge(label, "99.4 % (98.9–99.7), n = 2,113", "words"))
    sizes = page.evaluate("""[...document.querySelectorAll("text")].map(text => {
        const length = Number(text.getAttribute("textLength"));
        text.removeAttribute("textLength");
        return [length, text.getComputedTextLength()];
    })""")
    page.close()
    for length, real in sizes:
        assert 0.85 < real / length < 1.15, (length, real)
