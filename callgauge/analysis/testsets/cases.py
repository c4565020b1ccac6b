"""Makes a test case from a stored tool call and the steps before it: messages, tools, correct arguments.

Messages have the format of OpenAI chat completions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from callgauge.analysis.reparsed_call import READABLE_SOURCES
from callgauge.analysis.replay.replay_calls import restore_definition
from lenient import ToolDefinition

MOST_EARLIER = 200  # maximum number of calls before the exported call
_NO_RESULT = "(no result in the log)"
Message = dict[str, Any]
Row = Mapping[Any, Any]
Ask = Callable[[str, Mapping[str, Any]], Sequence[Row]]
"""Returns the rows of a metric, given its name and parameters."""


class NotExportedError(Exception):
    """Raised when a call cannot become a case. `reason` is a key of `testsets.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TestsetCase:
    """One call that a tested model should make, with the messages before the call.

    `sent` holds the raw arguments that the stored model sent. `right` holds raw arguments that are known to
    be correct: `sent`, or the arguments of a later attempt that worked. `right` is None when no correct
    arguments are known, or when a call failed and the same arguments worked later. `tools` holds first the
    called tool, then the tools of the earlier calls.
    """

    call_id: str
    session_id: str
    model: str | None
    source: str | None
    tool: str
    sent: str
    parse_error: str | None
    messages: list[Message]
    tools: list[ToolDefinition]
    right: str | None


def make_case(row: Row, steps: Sequence[Row], defined: Callable[[str], ToolDefinition | None]) -> TestsetCase:
    """Return the case of a row of `testset_calls` and the steps of the call's turn.

    Raises NotExportedError. `defined` returns the tool definition with an id, or None.
    """
    if row["raw_arguments"] is None or row["args_source"] not in READABLE_SOURCES:
        raise NotExportedError("text")
    tool = defined(row["definition_id"]) if row["definition_id"] else None
    if tool is None:
        raise NotExportedError("definition")
    if not row["user_text"]:
        raise NotExportedError("user")
    if row["earlier"] > MOST_EARLIER:
        raise NotExportedError("long")
    earlier = [step for step in steps if step["step"] < row["step"]]
    tools = {tool.name: tool}
    for step in earlier:
        definition = defined(step["definition_id"]) if step["definition_id"] else None
        if definition is not None:
            tools.setdefault(definition.name, definition)
    clean = row["outcome"] == "clean" and row["fault_layer"] is None and row["args_source"] == "raw"
    return TestsetCase(
        call_id=row["call_id"],
        session_id=row["session_id"],
        model=row["model"],
        source=row["source"],
        tool=tool.name,
        sent=row["raw_arguments"],
        parse_error=row["parse_error"],
        messages=make_messages(row, earlier),
        tools=list(tools.values()),
        right=row["raw_arguments"] if clean else _find_correction(row),
    )


def _find_correction(row: Row) -> str | None:
    """Return the arguments of the later attempt that worked.

    Return None when these are the arguments of the call itself.
    """
    try:
        is_same: bool = json.loads(row["raw_arguments"]) == json.loads(row["corrected"])
    except (TypeError, ValueError, RecursionError):  # no later attempt, or no JSON
        is_same = False
    corrected: str | None = row["corrected"]
    return None if is_same else corrected


def find_definitions(ask: Ask) -> Callable[[str], ToolDefinition | None]:
    """Return a function that finds a definition by id.

    The function returns None if the id is unknown.
    """

    @lru_cache(maxsize=512)
    def find_definition(definition_id: str) -> ToolDefinition | None:
        return restore_definition(ask("replayed_definition", {"definition": definition_id}))

    return find_definition


def read_turns(ask: Ask, metric: str, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of a metric about turns, by turn, but only for turns short enough for a case."""
    short = sorted({row["turn_id"] for row in rows if row["earlier"] <= MOST_EARLIER})
    turns: dict[str, list[Row]] = {}
    for step in ask(metric, {"turns": short}) if short else ():
        turns.setdefault(step["turn_id"], []).append(step)
    return turns


def right_arguments(case: TestsetCase) -> dict[str, Any]:
    """Return the decoded arguments that are known to be correct.

    Raises NotExportedError if no correct arguments are known.
    """
    if case.right is None:
        raise NotExportedError("uncorrected")
    try:
        value = json.loads(case.right)
    except (ValueError, RecursionError):
        raise NotExportedError("uncorrected") from None
    if not isinstance(value, dict):
        raise NotExportedError("uncorrected")
    return value


def make_messages(row: Row, earlier: Sequence[Row]) -> list[Message]:
    """Return the model's input before a call: prompt, user's message, earlier steps with their results.

    Raises NotExportedError if the raw text of an earlier call is unknown.
    """
    messages: list[Message] = [{"role": "system", "content": row["prompt"]}] if row["prompt"] else []
    messages.append({"role": "user", "content": row["user_text"]})
    number = 0
    for _, step in groupby(earlier, key=lambda call: call["step"]):
        reply: Message = {"role": "assistant"}
        calls, results = [], []
        for call in step:
            if call["tool"] is None and call["raw_arguments"] is None and call["text"] is not None:
                reply["content"] = call["text"]
                continue
            if call["raw_arguments"] is None or call["tool"] is None:
                raise NotExportedError("history")
            number += 1
            name = {"name": call["tool"], "arguments": call["raw_arguments"]}
            calls.append({"id": f"call_{number}", "type": "function", "function": name})
            result = call["result_text"] if call["result_text"] is not None else _NO_RESULT
            results.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
        if calls:
            reply["tool_calls"] = calls
        messages += [reply, *results]
    return messages
