"""Publishes a store made in memory (`bench.replay.fix_cells.MadeStore`) as a real store."""

from __future__ import annotations

import json
from pathlib import Path

from bench.replay.fix_cells import MadeStore
from lenient import ToolDefinition, parse_arguments
from tests.analysis.store_fixture import a_call, a_turn, publish


def publish_made(store: Path, made: MadeStore) -> None:
    """Publish the calls of a made store with their diagnostics and definitions."""
    calls, diagnostics = [], []
    for number, call in enumerate(made.calls):
        own = ToolDefinition.from_json_schema(name=call["sent"], schema=made.definitions[call["sent"]])
        request = parse_arguments(call["raw_arguments"], own, tool_name=call["sent"])
        kept = {name: call[name] for name in ("session_id", "model", "raw_arguments", "definition_id")}
        calls.append(a_call(number, tool=call["sent"], outcome=request.outcome.value, **kept))
        diagnostics += [
            {
                "call_id": f"c{number}", "file_id": 1, "position": place,
                "code": found.code, "path": found.path,
                "stage": found.stage.value, "severity": found.severity.value, "lossy": found.lossy,
            }
            for place, found in enumerate(request.diagnostics)
        ]  # fmt: skip
    definitions = [
        {
            "definition_id": f"d-{tool}", "tool": tool, "description": f"Runs {tool}.", "origin": "log",
            "definition": json.dumps(schema),
        }
        for tool, schema in made.definitions.items()
    ]  # fmt: skip
    tables = {"tool_calls": calls, "diagnostics": diagnostics, "tool_definitions": definitions}
    publish(store, {**tables, "turns": [a_turn(1)]})
