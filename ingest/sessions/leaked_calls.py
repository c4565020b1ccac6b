"""Finds tool calls that the model wrote into the text of a step instead of making them natively."""

from __future__ import annotations

from ingest.events import ArgsSource, CallMade, FaultLayer, StepMade, Strategy
from lenient import ToolCatalog, leaked_tool_calls

_SHORTEST = 8  # characters; no call is shorter


def find_leaked_calls(step: StepMade, number: int, offered: ToolCatalog | None) -> list[CallMade]:
    """Return the tool calls that stand in the text of a step, for a step that made no call.

    `number` is the step's number, `offered` the tools of the step. The list is empty for a step whose
    strategy is JSON_FALLBACK: its calls stand in the text by design, and the format reads them.
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
