"""Tests that pages, report, gate, API and MCP give the same sentence for the same question."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest

from callgauge.analysis.metrics.published_store import read_store
from callgauge.api.mcp_server import answer_tool
from callgauge.dashboard.page_files import page_file
from callgauge.report.content.compose import TeamContext, make_report
from callgauge.report.store_gate import judge_gates
from tests.api.conftest import Api
from tests.dashboard.conftest import opened
from tests.event_loops import run

OVERVIEW, MODELS, COMPARE = (page_file(name) for name in ("overview", "models", "compare"))


def read(page: Any) -> list[str]:
    """Return the headings and captions of a page as plain text."""
    blocks = (*page.header, *page.subheader, *page.caption)
    return [re.sub(r"\\(.)", r"\1", str(block.value)) for block in blocks]


def test_which_model_is_the_best(sample: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The headline of the Overview covers the newest four weeks, and ranks models by parse errors."""
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample.store.folder))
    assert sample.store.folder is not None
    with read_store(sample.store.folder, texts=True) as reader:
        newest = reader.ask("extent").iloc[0].last_day
        sentence = make_report(reader.ask, TeamContext(), newest, store="s").ranking
    assert len(sentence) > 40
    parameters = {"by": "model", "rate": "parse_error", "days": f"{newest - timedelta(27)} to {newest}"}
    assert sample.get("/ranking", **parameters)["sentence"] == sentence
    agents, _ = run(answer_tool(sample.store, "rank_slices", parameters))
    assert agents.text.startswith(sentence)
    for page in (OVERVIEW, MODELS):
        assert sentence in read(opened(page)), page
    assert sentence in read(opened(MODELS, base_model="kestrel-coder-14b", smallest="2", tab="cost"))


def test_whether_one_slice_is_better(sample: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample.store.folder))
    assert sample.store.folder is not None
    with read_store(sample.store.folder, texts=True) as reader:
        newest = reader.ask("extent").iloc[0].last_day
    weeks = [newest - timedelta(days) for days in (13, 7, 6, 0)]
    days = (f"{weeks[0]} to {weeks[1]}", f"{weeks[2]} to {weeks[3]}")
    (gate,) = judge_gates(sample.store.folder, ["no-worse=2%"], days[0], days[1], {})
    assert len(gate.sentence) > 40
    path, _, query = gate.link.partition("?")
    assert path == "/compare"
    parameters = dict(parse_qsl(query))
    assert gate.sentence in read(opened(COMPARE, **parameters))
    of_program = {
        key: value.replace("_", " to ") if "days" in key else value for key, value in parameters.items()
    }
    assert sample.get("/comparison", **of_program)["sentence"] == gate.sentence
    _, structure = run(answer_tool(sample.store, "compare_slices", of_program))
    assert structure["sentence"] == gate.sentence
