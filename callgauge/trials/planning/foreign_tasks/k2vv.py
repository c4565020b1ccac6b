"""Reads request bodies of MoonshotAI/K2-Vendor-Verifier: one JSON object with `messages` and `tools` per
line.

The data set only checks whether tool calls match their definitions. Every trial measures this, so the tasks
contain no expected result. The sampling settings and the model name are ignored, because the plan sets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgauge.trials.planning.foreign_tasks.chat import read_messages
from callgauge.trials.planning.foreign_tasks.records import ForeignRecord, ForeignTaskError


def is_request(record: Mapping[str, Any]) -> bool:
    return "messages" in record and "tools" in record and "input" not in record


def read_request(record: ForeignRecord) -> dict[str, Any]:
    """Return the task that a request body describes. Raises ForeignTaskError."""
    body = record.value
    if body.get("tool_choice") not in (None, "auto"):
        raise ForeignTaskError("tool_choice is neither auto nor left out: a trial forces no call")
    tools = body.get("tools")
    if not isinstance(tools, list):
        raise ForeignTaskError("tools is not a list of definitions")
    return {"id": f"line-{record.line}", "input": read_messages(body["messages"]), "definitions": tools}
