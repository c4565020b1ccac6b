"""Tests the tab Which model where of the page Models, and the API's answer to the same question."""

from __future__ import annotations

import json
from datetime import date
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from callgauge.api.tables import PARQUET
from callgauge.memory.records import ModelPrice
from callgauge.memory.team_memory import TeamMemory
from tests.analysis.made_models import join_rows, make_rows
from tests.analysis.store_fixture import HOSTILE, publish
from tests.api.conftest import open_api
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import here_links, sheet_of

PAGE = "callgauge/dashboard/pages/models/page.py"
PROMPTS = "callgauge/dashboard/pages/prompts/page.py"
TABLE = "Which model where"


@pytest.fixture
def made(store: Path) -> Path:
    rows = join_rows(make_rows("owl", 300), make_rows("jay", 260), make_rows("owl", 40, prompt_id=HOSTILE))
    publish(store, rows)
    TeamMemory(store).replace_prices(
        [ModelPrice(name, date(2026, 1, 1), amount, amount) for name, amount in (("owl", 2), ("jay", 1))]
    )
    return store


def test_the_tab_has_the_sentence_the_rows_and_the_files_as_the_api_has(made: Path) -> None:
    app = opened(PAGE, tab="where")
    # The page scrolls to this link, because the table is below the fold.
    links = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    assert [link["label"] for link in links if link.get("appears")] == ["All prompts"]
    first, second = sheet_of(app, TABLE)
    assert (first["Current model"]["text"], first["Suggestion"]["text"]) == ("owl", "jay")
    assert first["Suggestion"]["title"].startswith(
        "Use jay instead of owl: jay is not worse by 2 points or more"
    )
    assert first["Parse errors"]["text"] == "0% → 0%"
    assert first["Parse errors"]["sub"].startswith("0 / 600 · 0–")
    for column, difference in (("Parse errors", "0 points ("), ("Cost / success", "50% less (")):
        assert difference in first[column]["sub"].splitlines()[-1]
        assert difference.partition(" (")[0] in first["Suggestion"]["title"]
    assert "The differences are mix-adjusted" in first["Suggestion"]["title"]
    assert (first["Cost / success"]["text"], first["Saved"]["text"]) == ("$2.00 → $1.00", "$300")
    assert (second["Prompt"]["text"], second["Suggestion"]["text"]) == (HOSTILE, "keep")
    assert second["Suggestion"]["sub"] == "only one model was used"
    for api in open_api(made):
        answer = api.get("/model-choices")
        assert answer["sentence"] in page_text(app).replace("\\", "")
        assert [row["model"] for row in answer["rows"]] == ["jay", "owl"]
        parquet = api.client().get("/model-choices", headers={"accept": PARQUET})
        assert pq.read_table(BytesIO(parquet.content)).num_rows == 2


@pytest.mark.thorough
def test_tools_and_stores_without_prices_have_sentences(made: Path) -> None:
    (row,) = sheet_of(opened(PAGE, tab="where", choice_by="tool"), TABLE)
    assert row["Tool"]["text"] == "read_file"
    TeamMemory(made).replace_prices([])
    assert "No cost is known" in page_text(opened(PAGE, tab="where"))


@pytest.mark.thorough
def test_the_prompts_page_leads_to_the_tab(made: Path) -> None:
    href = here_links(opened(PROMPTS))["Which model for which prompt"]
    assert href is not None
    assert href.startswith("models?")
    assert "tab=where" in href
