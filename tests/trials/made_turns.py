"""Makes turns from calls and an answer, as the gateway does. No model is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.gateway import (
    Call,
    CallResult,
    Executor,
    RecordedAnswer,
    Reply,
    Toolbox,
    ToolContext,
    Turn,
    TurnStep,
    recorded_tools,
)
from callgauge.gateway.read_calls import read_native_calls
from lenient import ToolCatalog
from tests.event_loops import run


def tool_line(name: str, required: Sequence[str] = (), **parameters: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": parameters, "required": list(required)}
    return {"name": name, "description": f"About {name}.", "input_schema": schema}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = [
    tool_line("search_orders", ["customer"], customer=TEXT, limit={"type": "integer", "default": 10}),
    tool_line("get_weather", ["city"], city=TEXT),
    tool_line(
        "book",
        seats=WHOLE,
        price={"type": "number"},
        extra={"type": "boolean"},
        note={"type": ["string", "null"]},
        names={"type": "array", "items": TEXT},
        where={"type": "object", "properties": {"row": WHOLE, "side": TEXT}},
        stops={"type": "array", "items": {"type": "object", "properties": {"row": WHOLE}}},
        start={"type": "string", "format": "date-time"},
    ),
]
CATALOG = ToolCatalog.load(TOOLS)


def make_turn(calls: Sequence[Sequence[str]] = (), answer: str = "Done.", **metadata: Any) -> Turn:
    """Return a turn with one call per step, and the answer. Calls run as in the gateway."""
    answers = [RecordedAnswer(tool["name"], "ok") for tool in TOOLS]
    executor = Executor(Toolbox(recorded_tools(CATALOG, answers)))
    steps = []
    for number, (name, raw) in enumerate(calls):
        reply = Reply("", (Call(f"call_{number}", name, raw),))
        (read,) = read_native_calls(reply, CATALOG, id_pattern=None, new_id=str)
        context = ToolContext(read.request, "session", 1, number, {}, dict(metadata))
        steps.append(TurnStep(reply, "tool_use", (CallResult(read, run(executor.execute(context))),)))
    steps.append(TurnStep(Reply(answer), "tool_use"))
    return Turn(1, "ok", answer, tuple(steps), 0, 0.1)
