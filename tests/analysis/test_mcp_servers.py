"""Tests the MCP server as a dimension: every metric can be filtered by the server of a tool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation
from tests.analysis.store_fixture import a_call, a_turn, publish
from tests.dashboard.sheets import calls


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Return a store with two tools of the server `files`, one of `web`, and one tool without a server."""
    folder = tmp_path_factory.mktemp("served") / "store"
    made = [
        *calls(8, 2, tool="mcp__files__read", mcp_server="files"),
        *calls(5, 0, tool="mcp__files__write", mcp_server="files"),
        *calls(3, 1, tool="mcp__web__fetch", mcp_server="web"),
        *calls(20, 4, tool="shell"),
    ]
    made = [call | {"turn_id": call["call_id"]} for call in made]
    turns = [
        a_turn(1, turn_id=call["turn_id"], session_id=call["session_id"], recorded_ok=False) for call in made
    ]
    publish(folder, {"tool_calls": made, "turns": turns})
    with open_generation(published_generation(str(folder)), texts=True) as connection:
        yield connection


def test_every_metric_that_filters_by_tool_filters_by_server() -> None:
    # The metric `definitions` lists versions of one tool, so a filter by server would be useless.
    for name, metric in metrics().items():
        if "tools" in metric.parameters and name != "definitions":
            assert "mcp_servers" in metric.parameters, name


@pytest.mark.parametrize(("server", "n", "k"), [("files", 15, 2), ("web", 4, 1), ("none", 24, 4)])
def test_a_server_has_the_calls_of_its_tools(served: Connection, server: str, n: int, k: int) -> None:
    parameters = {"rates": ["parse_error"], "mcp_servers": [server]}
    (row,) = answer_metric(served, "slices", parameters).to_dict("records")
    assert (row["n"], row["k"]) == (n, k)
    assert len(answer_metric(served, "calls", {"mcp_servers": [server], "limit": 100, "offset": 0})) == n
    days = answer_metric(served, "call_days", {"mcp_servers": [server]})
    assert (days.most.sum(), set(days.exact)) == (n, {True})
    disagreements = {"mcp_servers": [server], "limit": 100, "offset": 0}
    assert len(answer_metric(served, "disagreements", disagreements)) == n


def test_rates_are_told_apart_by_server(served: Connection) -> None:
    rows = answer_metric(served, "slices", {"rates": ["parse_error"], "by": "mcp_server"})
    assert dict(zip(rows.slice, rows.n, strict=True)) == {"none": 24, "files": 15, "web": 4}


def test_servers_are_among_the_choices(served: Connection) -> None:
    rows = answer_metric(served, "choices", {})
    named = rows[rows.dimension == "mcp_server"]
    assert dict(zip(named.value, named.calls, strict=True)) == {"none": 24, "files": 15, "web": 4}


def test_a_server_that_no_log_names_counts_nothing(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1, mcp_server="files")]})
    with open_generation(published_generation(str(store)), texts=True) as connection:
        for name in ("outcomes", "latency", "chains", "signatures", "traits"):
            assert answer_metric(connection, name, {"mcp_servers": ["other"]}).empty, name
