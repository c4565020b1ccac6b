"""Checks a line of a test set, parsed again, against its case."""

from __future__ import annotations

import json
import re
from typing import Any

from callgauge.analysis.testsets.cases import Message, NotExportedError, TestsetCase, right_arguments
from lenient import ToolCatalog, ToolDefinitionError

TEMPLATE = re.compile(r"\{(?=[{%#])")
"""Where promptfoo's templates begin."""

Line = dict[str, Any]


def check_request(line: Line, case: TestsetCase) -> None:
    _check_tools(line["tools"], case)
    _check_messages(line["messages"], case)


def check_training(line: Line, case: TestsetCase) -> None:
    _check_tools(line["tools"], case)
    *earlier, target = line["messages"]
    _check_messages(earlier, case)
    (call,) = target["tool_calls"]
    learnt = [message for message in line["messages"] if message.get("weight") == 1]
    _require(learnt == [target] and json.loads(call["function"]["arguments"]) == right_arguments(case))


def check_entry(line: Line, case: TestsetCase) -> None:
    _check_messages(line["question"][0], case)
    _require([one["name"] for one in line["function"]] == [tool.name for tool in case.tools])
    _require(all(one["parameters"].get("type", "dict") == "dict" for one in line["function"]))


def check_answer(line: Line, case: TestsetCase) -> None:
    (call,) = line["ground_truth"]
    (given,) = call.values()
    _require({name: _read_accepted(values[0]) for name, values in given.items()} == right_arguments(case))


def _read_accepted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _read_accepted(values[0]) for name, values in value.items()}
    return [_read_accepted(inner) for inner in value] if isinstance(value, list) else value


def check_sample(line: Line, case: TestsetCase) -> None:
    _check_tools(line["metadata"]["tools"], case)
    _require([message["role"] for message in line["input"]] == [one["role"] for one in case.messages])
    _require(
        all(
            isinstance(call["arguments"], dict) for one in line["input"] for call in one.get("tool_calls", ())
        )
    )


def check_promptfoo(line: Line, case: TestsetCase) -> None:
    _require(not any(TEMPLATE.search(text) for text in line["vars"].values()))
    _require(json.loads(line["vars"]["messages"]) == case.messages)
    _require(len(line["options"]["tools"]) == len(case.tools))


def _check_tools(tools: list[Line], case: TestsetCase) -> None:
    """Raise NotExportedError unless the definitions, as `lenient` reads them, are those of the case."""
    try:
        read = ToolCatalog.load(tools)
    except ToolDefinitionError:
        raise NotExportedError("unread") from None
    _require([tool.to_json_schema() for tool in read] == [tool.to_json_schema() for tool in case.tools])
    _require(read.get(case.tool) is not None)


def _check_messages(messages: list[Message], case: TestsetCase) -> None:
    """Raise NotExportedError unless calls and results match and all messages of the case are there.

    Every call must have its result, every result its call.
    """
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            _require(message["tool_call_id"] in waiting and isinstance(message["content"], str))
            waiting.remove(message["tool_call_id"])
            continue
        _require(not waiting and message["role"] in ("system", "user", "assistant"))
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        _require(bool(waiting) or isinstance(message["content"], str))
    _require(not waiting and len(messages) == len(case.messages))


def _require(held: bool) -> None:
    if not held:
        raise NotExportedError("unread")
