"""A line of a test set, read again, and the case that it was made of in; raises where they do not agree."""

from __future__ import annotations

import json
import re
from typing import Any

from dashboard.testsets.cases import Case, Message, NotExportedError, right_arguments
from lenient import ToolCatalog, ToolDefinitionError

TEMPLATE = re.compile(r"\{(?=[{%#])")
"""Where promptfoo's templates begin."""

Line = dict[str, Any]


def request_holds(line: Line, case: Case) -> None:
    _check_tools(line["tools"], case)
    _check_messages(line["messages"], case)


def training_holds(line: Line, case: Case) -> None:
    _check_tools(line["tools"], case)
    *earlier, target = line["messages"]
    _check_messages(earlier, case)
    (call,) = target["tool_calls"]
    learnt = [message for message in line["messages"] if message.get("weight") == 1]
    _hold(learnt == [target] and json.loads(call["function"]["arguments"]) == right_arguments(case))


def entry_holds(line: Line, case: Case) -> None:
    _check_messages(line["question"][0], case)
    _hold([one["name"] for one in line["function"]] == [tool.name for tool in case.tools])
    _hold(all(one["parameters"].get("type", "dict") == "dict" for one in line["function"]))


def answer_holds(line: Line, case: Case) -> None:
    (call,) = line["ground_truth"]
    (given,) = call.values()
    _hold({name: values[0] for name, values in given.items()} == right_arguments(case))


def sample_holds(line: Line, case: Case) -> None:
    _check_tools(line["metadata"]["tools"], case)
    _hold([message["role"] for message in line["input"]] == [one["role"] for one in case.messages])
    _hold(
        all(
            isinstance(call["arguments"], dict) for one in line["input"] for call in one.get("tool_calls", ())
        )
    )


def promptfoo_holds(line: Line, case: Case) -> None:
    _hold(not any(TEMPLATE.search(text) for text in line["vars"].values()))
    _hold(json.loads(line["vars"]["messages"]) == case.messages)
    _hold(len(line["options"]["tools"]) == len(case.tools))


def _check_tools(tools: list[Line], case: Case) -> None:
    """The definitions, read as our own parser reads them, are those that the calls were held against."""
    try:
        read = ToolCatalog.load(tools)
    except ToolDefinitionError:
        raise NotExportedError("unread") from None
    _hold([tool.to_json_schema() for tool in read] == [tool.to_json_schema() for tool in case.tools])
    _hold(read.get(case.tool) is not None)


def _check_messages(messages: list[Message], case: Case) -> None:
    """Every call has its result, every result its call, and the last word is not the assistant's call."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            _hold(message["tool_call_id"] in waiting and isinstance(message["content"], str))
            waiting.remove(message["tool_call_id"])
            continue
        _hold(not waiting and message["role"] in ("system", "user", "assistant"))
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        _hold(bool(waiting) or isinstance(message["content"], str))
    _hold(not waiting and len(messages) == len(case.messages))


def _hold(held: bool) -> None:
    if not held:
        raise NotExportedError("unread")
