"""Finds calls in the text of a step that were meant to be native and reached no tool."""

from __future__ import annotations

from ingest.events import ArgsSource, CallMade, FaultLayer, StepMade, Strategy
from lenient import ToolCatalog, leaked_tool_calls

_SHORTEST = 8  # characters; no call is shorter


def find_leaked_calls(step: StepMade, number: int, offered: ToolCatalog | None) -> list[CallMade]:
    """Return the calls in the text of a step that made none. `number` is the step's, `offered` its tools.

    A step whose strategy is text has none: there the format reads its calls.
    """
    if step.text is None or len(step.text) < _SHORTEST or step.strategy is Strategy.JSON_FALLBACK:
        return []
    return [
        CallMade(
            session_id=step.session_id,
            where=step.where,
            ts=step.ts,
            tool=call.name,
            step=number,
            raw_arguments=step.text[call.start : call.end],
            args_source=ArgsSource.RAW,
            strategy=step.strategy,
            refused_by_harness=FaultLayer.EMISSION,
            harness_message=f"the call stood in the text, as {call.dialect} writes it",
        )
        for call in leaked_tool_calls(step.text, offered)
    ]
