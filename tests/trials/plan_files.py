"""Writes a plan and all files that the plan names into a folder. Tests replace some of the plan's content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conftest import CASES
from tests.trials.made_turns import TOOLS

PLAN = (CASES / "trials" / "plan.toml").read_text(encoding="utf-8")
TASK: dict[str, Any] = {
    "id": "a",
    "input": "What did Acme order?",
    "expect": {"calls": [{"search_orders": {"customer": ["Acme"]}}]},
    "answers": [{"tool": "search_orders", "result": "two pumps"}],
}


def write_plan(
    folder: Path, replace: Sequence[Sequence[str]] = (), tasks: Sequence[Any] = (TASK,), text: str = PLAN
) -> Path:
    """Write the plan with replacements, and all files that it names. Return the file path of the plan."""
    for old, new in replace:
        assert text.count(old) >= 1, f"the plan has no {old!r}"
        text = text.replace(old, new, 1)
    orders, weather, _ = TOOLS
    for name, content in (
        ("plan.toml", text),
        ("agent.md", "You are an agent."),
        ("orders.json", json.dumps([orders])),
        ("orders-enum.json", json.dumps([orders])),
        ("weather.json", json.dumps([weather])),
        ("tasks.jsonl", "".join(json.dumps(task) + "\n" for task in tasks)),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "latin.md").write_bytes("Du\ncaf\xe9".encode("latin-1"))
    return folder / "plan.toml"
