"""Tests that the API gives the same numbers as the pages."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.api.agent_tools import TOOLS
from callgauge.api.mcp_server import answer_tool
from callgauge.api.questions.metric_questions import metric_parameters
from callgauge.api.tables import ARROW, PARQUET
from tests.api.conftest import Api
from tests.conftest import CASES
from tests.dashboard.conftest import opened
from tests.event_loops import run

FOLDER = CASES / "metrics"


def cases_of(metric: str) -> list[dict[str, Any]]:
    """Return the sets of parameters in a metric's cases without repetitions, and the empty set."""
    cases = json.loads((FOLDER / f"{metric}.json").read_text(encoding="utf-8"))
    declared = metrics()[metric].parameters
    limits = {name: number for name, number in (("limit", 50), ("offset", 0)) if name in declared}
    questions = [limits] + [
        limits | {name: value for name, value in case.get("asked", {}).items() if name in declared}
        for case in cases
    ]
    return list({json.dumps(case_, sort_keys=True): case_ for case_ in questions}.values())[:2]


def typed(metric: str, parameters: dict[str, Any]) -> dict[str, Any]:
    days = {parameter.name for parameter in metric_parameters(metric) if parameter.kind == "day"}
    return {
        name: date.fromisoformat(value) if name in days and value else value
        for name, value in parameters.items()
    }


def written(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: str(value).lower() if isinstance(value, bool) else value for name, value in parameters.items()
    }


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value.isoformat()}Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, float):
        # Threads may add floats in any order, so the last digits can differ.
        return None if value != value else float(f"{value:.9g}")
    return value


OF_EVERY_TYPE = (
    "slices", "calls", "signatures", "costs", "sessions", "session_copies", "trial_conditions", "trial_runs",
)  # fmt: skip
"""Together, these metrics have columns of all types, such as times, flags, lists and structs."""


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("metric", OF_EVERY_TYPE)
def test_a_metric_gives_a_program_the_rows_that_pages_get(small: Api, sample: Api, metric: str) -> None:
    compare_answers(small, sample, metric)


@pytest.mark.thorough
def test_every_metric_gives_a_program_the_rows_that_pages_get(small: Api, sample: Api) -> None:
    for metric in metrics().keys() - set(OF_EVERY_TYPE):
        compare_answers(small, sample, metric)


def compare_answers(small: Api, sample: Api, metric: str) -> None:
    for api in (small, sample):
        for parameters in cases_of(metric):
            rows = answer_metric(api.connection, metric, typed(metric, parameters))
            answer = api.get(f"/metrics/{metric}", **written(parameters))
            assert plain(answer["rows"]) == plain(rows.to_dict("records")), (metric, parameters)
            assert not answer["truncated"], metric


@pytest.mark.parametrize("metric", ["slices", "calls", "sessions", "signatures", "files"])
def test_arrow_and_parquet_hold_the_rows_of_json(sample: Api, metric: str) -> None:
    parameters: dict[str, Any] = {"limit": 30, "offset": 0} if "limit" in metrics()[metric].parameters else {}
    parameters |= {"rates": ["parse_error", "retried"]} if metric == "slices" else {}
    expected = sample.get(f"/metrics/{metric}", **parameters)["rows"]
    assert expected
    expected = plain(expected)
    arrow = sample.client().get(f"/metrics/{metric}", params=parameters, headers={"accept": ARROW})
    parquet = sample.client().get(f"/metrics/{metric}", params={**parameters, "format": "parquet"})
    assert (arrow.headers["content-type"], parquet.headers["content-type"]) == (ARROW, PARQUET)
    for table in (pa.ipc.open_stream(arrow.content).read_all(), pq.read_table(BytesIO(parquet.content))):
        assert plain(table.to_pylist()) == expected


def test_a_comparison_says_what_the_page_says(sample: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"a_model": "aurora-large", "b_model": "kestrel-coder-14b", "rate": "parse_error"}
    answer = sample.get("/comparison", **chosen, days="all")
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample.store.folder))
    page = opened("callgauge/dashboard/pages/compare/page.py", **chosen, days="All days")
    shown = [read(element.value) for element in (*page.header, *page.caption)]
    assert answer["verdict"] == "undecided"
    assert answer["sentence"] in shown
    assert answer["basis"] in shown
    # A breakdown by the compared dimension would be useless, so the answer must not contain it.
    assert {row["dimension"] for row in answer["rows"]} == {"tool", "prompt", "provider"}


def test_a_ranking_says_what_the_page_says(sample: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = sample.get("/ranking", rate="parse_error", by="model", days="all")
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample.store.folder))
    page = opened("callgauge/dashboard/pages/models/page.py", rate="parse_error", days="All days")
    shown = [read(element.value) for kind in (page.header, page.markdown, page.caption) for element in kind]
    assert any(answer["sentence"] in text for text in shown), answer["sentence"]


def read(text: Any) -> str:
    """Remove the escaping backslashes from Markdown."""
    return re.sub(r"\\(.)", r"\1", str(text))


def test_rates_by_day_are_those_of_the_metric(sample: Api) -> None:
    by_day = sample.get("/rates", rate="parse_error", by="day", days="all")["rows"]
    rows = answer_metric(sample.connection, "slices", {"rates": ["parse_error"], "by": "day"})
    counts = dict(zip(rows.slice, zip(rows.k, rows.n, strict=True), strict=True))
    assert {row["slice"]: (row["k"], row["n"]) for row in by_day} == counts
    assert [row["slice"] for row in by_day] == sorted(counts)


ASKED_BY_AGENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "rank_slices": ("/ranking", {"by": "model", "tool": "edit_file", "days": "all"}),
    "list_rates": ("/rates", {"by": "model", "rate": ["parse_error", "retried"], "limit": 100}),
    "compare_slices": ("/comparison", {"a_prompt": "fixer@12", "b_prompt": "fixer@13", "days": "all"}),
    "list_public_rates": ("/public-rates", {"days": "all"}),
    "choose_models": ("/model-choices", {"by": "prompt"}),
    "list_names": ("/choices", {"dimension": "tool", "limit": 50}),
    "find_errors": ("/signatures", {"tool": "edit_file", "limit": 20}),
    "list_calls": ("/calls", {"fault": "syntax", "model": "kestrel-coder-14b", "limit": 20}),
    "explain_code": ("/codes/missing_required", {"code": "missing_required"}),
    "show_loads": ("/loads", {}),
}


@pytest.mark.parametrize("tool", ASKED_BY_AGENTS)
def test_an_agents_answer_is_that_of_the_api(sample: Api, tool: str) -> None:
    path, parameters = ASKED_BY_AGENTS[tool]
    _, structure = run(answer_tool(sample.store, tool, parameters))
    query = {} if "/codes/" in path else parameters
    assert plain(structure) == plain(sample.get(path, **query))


def test_one_call_and_one_session_are_the_same_for_agents(sample: Api) -> None:
    row = sample.get("/calls", fault="schema", limit=1)["rows"][0]
    call = sample.get(f"/calls/{row['call_id']}")
    assert run(answer_tool(sample.store, "show_call", {"call": row["call_id"]}))[1] == call
    assert call["call"]["outcome"] == row["outcome"]
    assert call["findings"][0]["code"]
    assert call["findings"][0]["summary"]
    assert call["neighbours"]["of"] >= call["neighbours"]["number"] >= 1
    session = sample.get(f"/sessions/{row['session_id']}")
    assert run(answer_tool(sample.store, "show_session", {"session": row["session_id"]}))[1] == session
    ids = [call["call_id"] for turn in session["turns"] for call in turn["tool_calls"]]
    assert row["call_id"] in ids


def test_an_agent_learns_in_one_call_which_model_breaks_a_tool_most(sample: Api) -> None:
    parameters = {"by": "model", "tool": ["edit_file"], "since": "2026-11-09"}
    answer, structure = run(answer_tool(sample.store, "rank_slices", parameters))
    worst = max(structure["rows"], key=lambda row: row["share"])
    assert f"From the worst on: {worst['label']} " in answer.text
    assert f"({worst['k']} / {worst['n']})" in answer.text
    rows = answer_metric(
        sample.connection,
        "slices",
        {"rates": ["parse_error"], "by": "model", "tools": ["edit_file"], "from_day": date(2026, 11, 9)},
    )
    counts = {row["slice"]: (row["k"], row["n"]) for row in structure["rows"]}
    assert counts == dict(zip(rows.slice, zip(rows.k, rows.n, strict=True), strict=True))


def test_every_tool_is_asked_by_a_test() -> None:
    assert set(TOOLS) == {*ASKED_BY_AGENTS, "show_call", "show_session", "parse_arguments"}
