"""Tests that the glossary matches the code."""

from __future__ import annotations

from pathlib import Path

from callgauge.dashboard.pages import glossary
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS
from callgauge.stats.rates import ENOUGH_TO_COMPARE
from tests.dashboard.conftest import opened


def meanings() -> dict[str, str]:
    text = Path(glossary.__file__).with_name("glossary.md").read_text(encoding="utf-8")
    rows = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| "))
    return {cells[0]: cells[1] for cells in rows}


def test_enough_is_explained_for_a_rank_and_for_a_difference() -> None:
    meaning = meanings()["enough"]
    assert f"a rank or an alert: {ENOUGH} observations in {ENOUGH_SESSIONS} sessions" in meaning
    pair = f"a difference of two: {ENOUGH} observations in {ENOUGH_TO_COMPARE} sessions on each side"
    assert pair in meaning


def test_words_that_pages_show_are_explained() -> None:
    assert {
        "recovered",
        "given up",
        "mix-adjusted",
        "unknown",
        "not declared",
        "no definition",
    } <= meanings().keys()


def test_a_link_opens_one_subject() -> None:
    app = opened(glossary.__file__.replace("__init__", "page"), about="how-rates-are-counted-and-compared")
    (shown,) = (element.value for element in app.markdown if "| word |" in element.value)
    assert "95 % interval" in shown
    assert "unreadable line" not in shown
