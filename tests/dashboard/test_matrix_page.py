"""The Matrix page: rates by two dimensions, shaded, each cell a way to its calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgauge.dashboard.pages.matrix.heat_map import DEEPEST
from tests.dashboard.conftest import opened, said
from tests.dashboard.sheets import calls, sheet_of
from tests.dashboard.store_fixture import HOSTILE, publish

PAGE = "callgauge/dashboard/pages/matrix/page.py"


@pytest.fixture
def filled(store: Path) -> Path:
    publish(
        store,
        {
            "tool_calls": [
                *calls(75, 25, model="falcon", prompt_id="p1"),
                *calls(150, 0, model="heron", prompt_id="p1"),
                *calls(2, 2, model="heron", prompt_id="p2"),
                *calls(40, 0, model=HOSTILE, prompt_id=None, tool=HOSTILE),
            ]
        },
    )
    return store


def test_a_cell_has_its_rate_its_shade_and_leads_to_its_calls(filled: Path) -> None:
    rows = {row["Model"]["text"]: row for row in sheet_of(opened(PAGE), "Parse errors by model and prompt")}
    cell = rows["falcon"]["p1"]
    assert (cell["text"], cell["sub"], cell["heat"]) == ("25.0%", "25 / 100", DEEPEST)
    assert cell["href"] == "calls?model=falcon&prompt=p1&fault=arguments"
    assert cell["title"].startswith("17.5–34.3%, Wilson")
    assert rows["heron"]["p1"]["heat"] == 0
    assert rows["heron"]["p2"]["pale"]
    assert rows["heron"]["p2"]["heat"] is None
    assert rows["falcon"]["p2"]["text"] == ""
    assert rows["heron"]["All"]["sub"] == "2 / 154"


def test_other_pairs_are_chosen_in_the_url(filled: Path) -> None:
    app = opened(PAGE, cells="tool.prompt", rate="mended")
    rows = sheet_of(app, "Mended by tool and prompt")
    assert rows[0]["Tool"]["text"] == "read_file"
    assert rows[1]["unknown"]["sub"] == "0 / 40"
    assert not app.error


def test_many_rows_and_columns_are_bounded_with_a_sentence(store: Path) -> None:
    publish(
        store,
        {
            "tool_calls": [
                call for n in range(45) for call in calls(1, 0, model=f"m{n:02}", prompt_id=f"p{n:02}")
            ]
        },
    )
    app = opened(PAGE)
    assert len(sheet_of(app, "Parse errors by model and prompt")) == 40
    assert "40 of 45 models and 14 of 45 prompt versions" in said(app)
    assert "No shades" in said(app)


def test_without_anything_it_says_what_to_widen(filled: Path) -> None:
    assert "No chains for this rate here" in said(opened(PAGE, rate="recovered", model="falcon"))
