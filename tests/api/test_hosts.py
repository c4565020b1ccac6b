"""Tests the parameter `provider` (the host of a model) in the API and MCP: as a filter, as a grouping, and as
two sides to compare.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from callgauge.api.mcp_server import answer_tool
from tests.analysis.store_fixture import publish
from tests.api.conftest import Api, open_api
from tests.dashboard.sheets import calls
from tests.event_loops import run

SCRIPT = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("hosts") / "store"
    made = [
        *calls(98, 2, provider="east-1"),
        *calls(60, 40, provider=SCRIPT),
        *calls(45, 5, provider="a,b"),
        *calls(9, 1, provider=None),
    ]
    publish(folder, {"tool_calls": made})
    yield from open_api(folder)


@pytest.mark.parametrize(("host", "k", "n"), [("east-1", 2, 100), (SCRIPT, 40, 100), ("unknown", 1, 10)])
def test_rates_are_those_of_the_host(hosted: Api, host: str, k: int, n: int) -> None:
    (row,) = hosted.get("/rates", rate="parse_error", provider=host)["rows"]
    assert (row["k"], row["n"]) == (k, n)


def test_a_name_with_a_comma_is_one_value(hosted: Api) -> None:
    (row,) = hosted.get("/rates", rate="parse_error", provider=["a,b"])["rows"]
    assert row["n"] == 50


def test_rates_have_a_row_for_each_host_and_the_sentence_says_host(hosted: Api) -> None:
    answer = hosted.get("/rates", rate="parse_error", by="provider")
    assert {row["slice"]: row["n"] for row in answer["rows"]} == {
        "east-1": 100,
        SCRIPT: 100,
        "a,b": 50,
        "unknown": 10,
    }
    _, structure = run(answer_tool(hosted.store, "list_rates", {"rate": ["parse_error"], "by": "provider"}))
    assert len(structure["rows"]) == 4


def test_hosts_are_ranked_and_called_hosts(hosted: Api) -> None:
    answer = hosted.get("/ranking", by="provider")
    assert {row["slice"] for row in answer["rows"]} >= {"east-1", SCRIPT}
    assert "provider" not in answer["sentence"]


def test_a_host_that_no_log_names_is_refused_with_what_there_is(hosted: Api) -> None:
    answer = hosted.client().get("/rates", params={"provider": "east-2"})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("There is no host 'east-2'.")
    assert "east-1" in answer.json()["detail"]


def test_calls_and_metrics_are_filtered_by_host(hosted: Api) -> None:
    rows = hosted.get("/calls", provider=SCRIPT, limit=5)["rows"]
    assert {row["provider"] for row in rows} == {SCRIPT}
    answer = hosted.get("/metrics/fault_layers", providers="a,b")
    assert sum(row["calls"] for row in answer["rows"]) == 50


def test_agents_compare_two_hosts(hosted: Api) -> None:
    parameters = {"a_provider": ["east-1"], "b_provider": [SCRIPT]}
    answer, structure = run(answer_tool(hosted.store, "compare_slices", parameters))
    assert (structure["a"]["k"], structure["b"]["k"], structure["verdict"]) == (2, 40, "worse")
    assert f"{SCRIPT} is worse than east-1" in answer.text
