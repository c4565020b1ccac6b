"""Tests the API and the MCP server, both behind the gate of a real server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.tokens import TokenList
from tests.browser.conftest import Served
from tests.event_loops import run


def ask(
    served: Served, path: str, *, token: str | None = None, method: str = "GET", **headers: str
) -> tuple[int, Any]:
    authorization = {"authorization": f"Bearer {token}"} if token else {}
    body = b"{}" if method == "POST" else None
    request = urllib.request.Request(  # noqa: S310 - our own server
        served.url + path, data=body, headers={**authorization, **headers}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own server
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        text = refused.read().decode()
        return refused.code, json.loads(text) if text.startswith("{") else text


def test_a_program_gets_the_numbers_of_the_store_that_is_served(served: Served) -> None:
    status, answer = ask(served, "/api/v1/rates?rate=parse_error")
    with read_store(served.store, texts=True) as store:
        row = store.ask("slices", rates=("parse_error",)).iloc[0]
    assert (status, answer["rows"][0]["k"], answer["rows"][0]["n"]) == (200, row.k, row.n)
    status, document = ask(served, "/api/v1/openapi.json")
    assert (status, document["openapi"]) == (200, "3.1.0")
    assert ask(served, "/api/v1/rate")[0] == 404


def test_a_token_has_its_role_and_a_wrong_one_none(served: Served) -> None:
    tokens = TokenList(served.store)
    viewer, admin = tokens.create("ci", "viewer", None), tokens.create("ops", "admin", None)
    sql = "/api/v1/sql?query=SELECT+count(*)+AS+n+FROM+tool_calls"
    assert ask(served, "/api/v1/rates", token=viewer)[0] == 200
    assert ask(served, sql, token=viewer)[0] == 403
    assert ask(served, sql, token=admin)[1]["rows"] == [{"n": 44}]
    assert ask(served, "/api/v1/rates", token=viewer[:-1])[0] == 401
    assert ask(served, "/mcp", token=viewer[:-1], method="POST")[0] == 401


def test_only_messages_of_agents_are_taken_and_none_from_other_pages(served: Served) -> None:
    assert ask(served, "/api/v1/rates", method="POST")[0] == 405
    assert ask(served, "/mcp")[0] == 405
    for path in ("/api/v1/rates", "/mcp"):
        method = "POST" if path == "/mcp" else "GET"
        assert ask(served, path, method=method, origin="http://evil.example")[0] == 403
        assert ask(served, path, method=method, host="evil.example")[0] == 421


def test_an_agent_asks_over_http(served: Served) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra callgauge[mcp] is not installed")

    async def talk() -> Any:
        async with mcp.Client(f"{served.url}/mcp") as client:
            tools = await client.list_tools()
            rates = await client.call_tool("list_rates", {"rate": "parse_error", "limit": 1000})
            return [tool.name for tool in tools.tools], rates

    names, rates = run(talk())
    assert "rank_slices" in names
    assert rates.structured_content == ask(served, "/api/v1/rates?rate=parse_error")[1]
