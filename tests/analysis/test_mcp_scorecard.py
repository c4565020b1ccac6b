"""Tests the comparison of MCP servers: the worst server, unused definitions, and missing data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from callgauge.analysis.comparisons.mcp_servers import ServerComparison, ServerScore, compare_servers
from callgauge.analysis.metrics.published_store import read_store
from callgauge.cli.main import app
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.sheets import calls

FAILED = {"fault_layer": "execution", "result_status": "error"}


def server_calls(
    server: str, good: int, failed: int, tool: str = "search", **fields: Any
) -> list[dict[str, Any]]:
    own = {"tool": tool, "mcp_server": server, **fields}
    return [*calls(good, 0, **own), *calls(failed, 0, **own, **FAILED)]


def compare(folder: Path, tables: dict[str, Any]) -> ServerComparison:
    publish(folder, tables)
    with read_store(folder, texts=False) as reader:
        return compare_servers(reader.ask, {})


def offers(*lists: tuple[str, str | None, int]) -> dict[str, Any]:
    rows = [
        {"tool_list": "l1", "tool": tool, "mcp_server": server, "bytes": size} for tool, server, size in lists
    ]
    return {"turns": [a_turn(1, steps=4, tool_list="l1")], "tool_lists": rows}


def by_name(comparison: ServerComparison) -> dict[str, ServerScore]:
    return {score.name: score for score in comparison.servers}


def test_the_sentence_names_the_server_that_fails_most_and_what_unused_tools_cost(tmp_path: Path) -> None:
    made = [*server_calls("files", 100, 0, "read", latency_ms=120.0), *server_calls("web", 40, 60, "fetch")]
    lists = offers(("read", "files", 400), ("write", "files", 800), ("fetch", "web", 1200))
    comparison = compare(tmp_path, {"tool_calls": made, **lists})
    assert "web has the highest share of execution errors: 60 of 100 calls (60.0%)." in comparison.sentence
    assert "1 tool of files was never called and cost about 200 tokens per step." in comparison.sentence
    files, web = by_name(comparison)["files"], by_name(comparison)["web"]
    assert ([tool.name for tool in files.unused], files.tokens_per_step, files.unused_tokens_per_step) == (
        ["write"],
        300,
        200,
    )
    assert (web.unused, web.tokens_per_step) == ([], 300)
    assert files.latency
    assert files.latency.p95
    assert not comparison.notes


def test_servers_that_fail_equally_often_have_no_worst_server(tmp_path: Path) -> None:
    made = [*server_calls("files", 90, 10), *server_calls("web", 90, 10)]
    sentence = compare(tmp_path, {"tool_calls": made}).sentence
    assert "No MCP server is clearly the worst yet by execution errors" in sentence
    assert "highest" not in sentence


def test_the_only_server_with_enough_data_is_described_once(tmp_path: Path) -> None:
    sentence = compare(tmp_path, {"tool_calls": server_calls("files", 90, 10)}).sentence
    assert sentence == (
        "Only files has enough data for its rates: execution errors 10 of 100 calls (10.0%) and parse errors "
        "0 of 100 calls (0%)."
    )


def test_too_little_data_is_said(tmp_path: Path) -> None:
    sentence = compare(tmp_path, {"tool_calls": server_calls("files", 2, 1)}).sentence
    assert sentence.startswith("Not enough data to say which MCP server fails most often: none has 30")


def test_one_tool_name_on_two_servers_is_counted_separately(tmp_path: Path) -> None:
    made = [*server_calls("files", 30, 5), *server_calls("web", 40, 0)]
    lists = offers(("search", "files", 400), ("search", "web", 800))
    comparison = compare(tmp_path, {"tool_calls": made, **lists})
    files, web = by_name(comparison)["files"], by_name(comparison)["web"]
    assert [(tool.name, tool.calls, tool.tokens) for tool in files.tools] == [("search", 35, 100)]
    assert [(tool.name, tool.calls, tool.tokens) for tool in web.tools] == [("search", 40, 200)]
    assert any("a tool with the same name (search)" in note for note in comparison.notes)


def test_a_store_without_servers_lists_and_latencies_says_what_is_missing(tmp_path: Path) -> None:
    nothing = compare(tmp_path / "a", {"tool_calls": calls(40, 0, tool="shell")})
    assert nothing.sentence == (
        "No call and no offered tool names an MCP server. Callgauge reads the server from tool names of the "
        "form mcp__SERVER__TOOL."
    )
    assert not nothing.has_servers
    bare = compare(tmp_path / "b", {"tool_calls": server_calls("files", 40, 0)})
    assert [note.split(" of ")[0] for note in bare.notes] == [
        "No log lists the offered tools",
        "No log has the latency",
    ]
    assert by_name(bare)["files"].tokens_per_step is None


def test_the_command_prints_the_same_sentence_as_text_and_json(tmp_path: Path) -> None:
    made = [
        *server_calls("files", 100, 0, "read"),
        *server_calls("\x1b[31mweb", 40, 60, "fetch"),
        *calls(40, 0, tool="shell"),
    ]
    lists = offers(("write", "files", 800), ("wait", None, 400))
    comparison = compare(tmp_path, {"tool_calls": made, **lists})
    command = ["mcp-servers", "--store", str(tmp_path), "--days", "all"]
    month = CliRunner().invoke(app, command[:3])
    assert month.output.startswith("Days: 2026-")
    text = CliRunner().invoke(app, command)
    assert text.exit_code == 0, text.output
    assert "\x1b" not in text.output
    assert text.output.startswith("Days: all.\n")
    assert "never called          write; about 200 tokens per step" in text.output
    assert "60.0% (" in text.output
    assert "60 / 100, measured on all calls" in text.output
    assert "\n\nTools without an MCP server: 40 calls\n" in text.output
    assert "never called          wait; about 100 tokens per step" in text.output
    data = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).output)
    assert data["sentence"] == comparison.sentence
    assert [(each["server"], each["calls"]) for each in data["servers"]][-1] == (None, 40)
    servers = {each["server"]: each for each in data["servers"]}
    assert (servers["files"]["execution"]["n"], servers["files"]["never_called_tokens_per_step"]) == (
        100,
        200,
    )
    assert servers["files"]["latency_ms"]["p95"] is None
