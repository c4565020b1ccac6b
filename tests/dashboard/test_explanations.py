"""Tests that a card's menu explains the card's verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.verdicts.explanations import HOW_JUDGED
from callgauge.dashboard.components import cards
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.conftest import opened
from tests.dashboard.sheets import calls


def explained(app: AppTest) -> set[str]:
    """Return the kinds of verdicts that the page's open popovers explain."""
    words = " ".join(str(each.value) for each in app.markdown)
    return {kind for kind, text in HOW_JUDGED.items() if text in words}


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("models/page.py", {"rank", "change"}),
        ("tools/page.py", {"worst"}),
        ("compare/page.py", {"difference"}),
    ],
)
def test_each_panel_explains_its_own_kind_of_verdict(
    store: Path, monkeypatch: pytest.MonkeyPatch, page: str, kinds: set[str]
) -> None:
    made = [
        call
        for model in ("owl", "heron")
        for tool in ("Read", "Edit")
        for call in calls(20, 5, model=model, tool=tool)
    ]
    publish(store, {"tool_calls": made, "turns": [a_turn(1)]})
    # Draw the content of every popover, as if it were open.
    monkeypatch.setattr(cards, "draw_popover", lambda label, key, draw, icon: draw())
    explanations = explained(opened(f"callgauge/dashboard/pages/{page}", a_model="owl", b_model="heron"))
    assert explanations == kinds
