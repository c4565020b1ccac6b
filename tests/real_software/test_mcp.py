"""Tests `callgauge mcp` with the MCP inspector. Also tests `callgauge chat` with two MCP servers as tools."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model
from tests.real_software.programs import VARIABLES, callgauge, node_program, read_store, run_program
from tests.store.night import session

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"
FILESYSTEM = "@modelcontextprotocol/server-filesystem/dist/index.js"


# --- the inspector asks `callgauge mcp`


def inspect(folder: Path, *words: str) -> dict[str, Any]:
    command = node_program(INSPECTOR)
    asked = ("--cli", "--config", "mcp.json", "--server", "callgauge", *words)
    answer: dict[str, Any] = json.loads(run_program(*command, *asked, folder=folder))
    return answer


def test_the_inspector_lists_and_calls_the_tools_of_callgauge_mcp(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "s.jsonl").write_text(session("s", turns=(2, 1)), encoding="utf-8")
    callgauge("ingest", "logs", "--store", "store", folder=tmp_path)
    server = {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-m", "callgauge", "mcp", "--store", str(tmp_path / "store")],
        "env": {"PYTHONPATH": VARIABLES["PYTHONPATH"]},
    }
    config = json.dumps({"mcpServers": {"callgauge": server}})
    (tmp_path / "mcp.json").write_text(config, encoding="utf-8")
    tools = [tool["name"] for tool in inspect(tmp_path, "--method", "tools/list")["tools"]]
    assert "rank_slices" in tools
    called = inspect(tmp_path, "--method", "tools/call", "--tool-name", "rank_slices")
    assert not called.get("isError")
    assert called["content"][0]["text"]


# --- servers of the MCP project as tools of `callgauge chat`


def chat(folder: Path, mcp: list[str], calls: list[tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Let a scripted model make all calls in one reply. Return the failure stage of each failed call, and the
    outcome of each other call.
    """

    def answer(request: Asked) -> Emitted:
        if request.last.role == "tool" or not request.has_tools:
            return Emitted("All done.")
        if "number" in request.user:
            raws = ('{"number": 7}', '{"number": 8}')
            return Emitted(calls=[("report_number", raw) for raw in raws])
        return Emitted(calls=[(name, json.dumps(arguments)) for name, arguments in calls])

    with serve_model(answer) as model:
        words = ("--endpoint", model.url, "--model", "scripted", "--mcp", shlex.join(mcp), "--log", "logs")
        printed = callgauge("chat", *words, folder=folder, text="Please begin.\n")
    assert "All done." in printed
    callgauge("ingest", "logs", "--store", "store", folder=folder)
    return dict(read_store(folder / "store", "SELECT tool, coalesce(fault_layer, outcome) FROM tool_calls"))


def test_server_everything_runs_calls_whose_arguments_are_repaired(tmp_path: Path) -> None:
    statuses = chat(
        tmp_path,
        node_program(EVERYTHING),
        [
            ("echo", {"message": "hello"}),
            ("get-sum", {"a": "2", "b": 3}),
            ("get-tiny-image", {}),
            ("get-annotated-message", {"messageType": "loud"}),
        ],
    )
    assert statuses == {
        "echo": "unmeasured",  # the server of the model may have rewritten the arguments
        "get-sum": "coerced",
        "get-tiny-image": "unmeasured",
        "get-annotated-message": "schema",
    }


def test_server_filesystem_reads_and_rejects(tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "note.txt").write_text("the note", encoding="utf-8")
    shown = str(tmp_path / "shown")
    statuses = chat(
        tmp_path,
        [*node_program(FILESYSTEM), shown],
        [
            ("list_directory", {"path": shown}),
            ("read_text_file", {"path": f"{shown}/note.txt", "head": "1"}),
            ("get_file_info", {"path": "/etc/passwd"}),
        ],
    )
    assert statuses == {
        "list_directory": "unmeasured",
        "read_text_file": "coerced",
        "get_file_info": "execution",
    }
