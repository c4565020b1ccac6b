"""Tests MCP servers on pages, including tools that were offered but never called."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from callgauge.dashboard.page_files import page_file
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, sheet_of, sheets

TOOLS, CALLS = page_file("tools"), page_file("calls")
SERVERS = "MCP servers by calls"
UNUSED = "Offered tools that no session called"


@pytest.fixture
def served(store: Path) -> Path:
    """Return a store with calls to the MCP server `files`, a server `web` that is only offered, and a tool
    `shell` without a server.
    """
    made = [
        *calls(60, 40, tool="mcp__files__read", mcp_server="files", latency_ms=120.0),
        *calls(50, 0, tool="shell"),
    ]
    turns = [a_turn(1, steps=4, tool_list="l1"), a_turn(2, steps=2, tool_list=None)]
    lists = [
        ("mcp__files__read", "files", 400),
        ("mcp__files__write", "files", 800),
        ("mcp__web__fetch", "web", 1200),
        ("shell", None, 200),
    ]
    rows = [
        {"tool_list": "l1", "tool": tool, "mcp_server": server, "bytes": size} for tool, server, size in lists
    ]
    publish(store, {"tool_calls": made, "turns": turns, "tool_lists": rows})
    return store


def test_the_scorecard_has_a_row_for_each_server_called_or_offered(served: Path) -> None:
    app = opened(TOOLS, days="All days", view="server")
    rows = {row["MCP server"]["text"]: row for row in sheet_of(app, SERVERS)}
    assert list(rows) == ["files", "web", "no MCP server"]
    files, web = rows["files"], rows["web"]
    assert (files["Calls"]["text"], web["Calls"]["text"]) == ("100", "0")
    assert files["Parse errors"]["text"].startswith("40")
    assert (files["Never called"]["text"], files["Never called"]["sub"]) == ("1", "of 2 tools")
    assert (files["Tokens / step"]["text"], web["Tokens / step"]["text"]) == ("300", "300")
    assert files["Latency"]["text"] == "119 ms"
    assert web["Parse errors"]["text"] == "–"
    link = urlsplit(files["Calls"]["href"])
    assert (link.path, parse_qs(link.query)["mcp_server"]) == ("calls", ["files"])


def test_a_chosen_server_lists_its_tools_with_the_next_step(served: Path) -> None:
    app = opened(TOOLS, days="All days", view="server")
    assert "2 tools of 2 MCP servers were never called" in page_text(app)
    (row,) = [row for row in sheet_of(app, SERVERS) if row["MCP server"]["text"] == "files"]
    query = parse_qs(urlsplit(row["MCP server"]["href"]).query)
    assert (query["mcp_server"], query["view"]) == (["files"], ["server"])
    app = opened(TOOLS, days="All days", view="server", mcp_server="files")
    read, write = (
        next(row for row in sheet_of(app, "Tools of the MCP server") if row["Tool"]["text"].endswith(name))
        for name in ("read", "write")
    )
    assert parse_qs(urlsplit(read["Next step"]["href"]).query)["tool_open"] == ["mcp__files__read"]
    assert write["Next step"]["text"] == "Stop offering it"


def test_unused_tools_are_listed_with_what_they_cost_per_step(served: Path) -> None:
    app = opened(TOOLS, days="All days", unused="1")
    labels = [fold.label for fold in app.expander]
    assert "2 offered tools were never called · about 500 tokens per step" in labels
    listed = [
        (row["Tool"]["text"], row["Tokens / step"]["text"], row["Tokens in all"]["text"])
        for row in sheet_of(app, UNUSED)
    ]
    assert listed == [("mcp__web__fetch", "300", "1,200"), ("mcp__files__write", "200", "800")]


def test_a_server_that_is_chosen_narrows_every_list(served: Path) -> None:
    app = opened(CALLS, days="All days", mcp_server="files")
    assert "100" in page_text(app)
    app = opened(TOOLS, days="All days", mcp_server="files")
    assert "shell" not in page_text(app)


def test_without_a_server_there_is_no_view_and_no_filter(store: Path) -> None:
    publish(store, {"tool_calls": calls(9, 1, tool="shell")})
    app = opened(TOOLS, days="All days", view="server")
    assert SERVERS not in sheets(app)
    assert "mcp_server" not in [widget.key for widget in app.multiselect]
