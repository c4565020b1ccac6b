"""Tests MCP servers in the API. `mcp_server` can filter or group the rates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.analysis.store_fixture import publish
from tests.api.conftest import Api, open_api
from tests.dashboard.sheets import calls


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("served") / "store"
    made = [
        *calls(60, 40, tool="mcp__files__read", mcp_server="files"),
        *calls(98, 2, tool="mcp__web__fetch", mcp_server="web"),
        *calls(9, 1, tool="shell"),
    ]
    publish(folder, {"tool_calls": made})
    yield from open_api(folder)


@pytest.mark.parametrize(("server", "k", "n"), [("files", 40, 100), ("web", 2, 100), ("none", 1, 10)])
def test_rates_are_those_of_the_server(served: Api, server: str, k: int, n: int) -> None:
    (row,) = served.get("/rates", rate="parse_error", mcp_server=server)["rows"]
    assert (row["k"], row["n"]) == (k, n)
    answer = served.get("/metrics/fault_layers", mcp_servers=server)
    assert sum(row["calls"] for row in answer["rows"]) == n


def test_rates_have_a_row_for_each_server(served: Api) -> None:
    answer = served.get("/rates", rate="parse_error", by="mcp_server")
    assert {row["slice"]: row["n"] for row in answer["rows"]} == {"files": 100, "web": 100, "none": 10}


def test_a_server_that_no_log_names_is_refused_with_what_there_is(served: Api) -> None:
    answer = served.client().get("/rates", params={"mcp_server": "wep"})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("There is no MCP server 'wep'.")
    assert "web" in answer.json()["detail"]
