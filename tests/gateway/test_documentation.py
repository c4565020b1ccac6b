"""Executes the programs in docs/gateway.md unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model

RAW_SERVER = Path(__file__).parent / "served" / "raw_mcp_server.py"
PAGE = Path(__file__).parents[2] / "docs" / "gateway.md"


def model(request: Asked) -> Emitted:
    if "Report" in request.user:
        return Emitted(calls=[("report_number", '{"number": 7}')])
    if request.last.role == "tool":
        return Emitted(f"Acme: {request.last.text[:16]}")
    return Emitted(calls=[("search_orders", '{"customer": "Acme", "limit": 2}')])


def run_example(number: int, folder: Path, url: str, changes: tuple[tuple[str, str], ...] = ()) -> str:
    """Execute an example of the page with a scripted model. Return the output of the example."""
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    text = examples[number]
    for old, new in (("http://127.0.0.1:8080/v1", url), *changes):
        assert old in text
        text = text.replace(old, new)
    program = folder / "agent.py"
    program.write_text(text, encoding="utf-8")
    process = subprocess.run(
        [sys.executable, str(program)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_agent_runs_as_it_stands(tmp_path: Path) -> None:
    with serve_model(model) as served:
        output = run_example(0, tmp_path, served.url)
    assert output == 'ok Acme: ["Acme: order 0"\n'
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == 1


def test_the_example_that_shows_text_runs_unchanged(tmp_path: Path) -> None:
    with serve_model(lambda _: Emitted("Acme makes chairs and tables.")) as served:
        output = run_example(1, tmp_path, served.url)
    assert output == "\nAcme makes chairs and tables."


@pytest.mark.thorough
def test_the_agent_with_a_server_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp", reason="the extra callgauge[mcp] is not installed")
    monkeypatch.setenv("TZ", "Asia/Tokyo")

    def calls_echo(request: Asked) -> Emitted:
        if "Report" in request.user:
            return model(request)
        if request.last.role == "tool":
            return Emitted("It knows TZ." if "TZ=Asia/Tokyo" in request.last.text else "It does not.")
        return Emitted(calls=[("echo", '{"text": "environment"}')])

    command = '("uvx", "mcp-server-time")', f"({sys.executable!r}, {str(RAW_SERVER)!r}, 'plain')"
    with serve_model(calls_echo) as served:
        output = run_example(2, tmp_path, served.url, (command,))
    assert output == "ok It knows TZ.\n"
