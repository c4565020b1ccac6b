"""The agent in docs/gateway.md runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model

PAGE = Path(__file__).parents[2] / "docs" / "gateway.md"


def model(asked: Asked) -> Emitted:
    if "Report" in asked.user:
        return Emitted(calls=[("report_number", '{"number": 7}')])
    if asked.last.role == "tool":
        return Emitted(f"Acme: {asked.last.text[:16]}")
    return Emitted(calls=[("search_orders", '{"customer": "Acme", "limit": 2}')])


def test_the_example_runs_as_it_stands(tmp_path: Path) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with serve_model(model) as served:
        program = tmp_path / "agent.py"
        program.write_text(example.replace("http://127.0.0.1:8080/v1", served.url), encoding="utf-8")
        told = subprocess.run(
            [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
    assert told.stdout == 'ok Acme: ["Acme: order 0"\n', told.stderr
    assert len(list((tmp_path / "logs").glob("*.jsonl"))) == 1
