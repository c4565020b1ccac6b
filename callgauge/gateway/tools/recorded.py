"""Tools that return recorded results, so that a conversation can be repeated without side effects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgauge.gateway.tools.toolbox import Tool, ToolContext, ToolFailed, ToolRejected
from lenient import Policy, ToolDefinition


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The recorded result of a tool.

    It applies to arguments that contain `when`, or to all arguments if `when` is missing. `status` is the
    status of the recorded call: `success`, `tool_rejected` or `execution_failed`.
    """

    tool: str
    result: str
    when: Mapping[str, Any] = field(default_factory=dict)
    status: str = "success"


class NoRecordedAnswerError(Exception):
    """Raised when no recorded result fits the arguments, which is not the model's fault.

    The metadata of the result contains `simulated: miss`.
    """


def recorded_tools(
    catalog: Iterable[ToolDefinition],
    answers: Iterable[RecordedAnswer],
    *,
    policy: Policy | str = Policy.LENIENT,
    takes_lossy: bool = False,
    defaults: Mapping[str, str | None] | None = None,
) -> list[Tool]:
    """Return a tool for each definition. The tool returns the first recorded result that fits the arguments.

    `defaults` maps tools to results for all other arguments. In the metadata of a result, `simulated` is
    `recorded`, `default`, or `miss` if no result was found.
    """
    by_tool: dict[str, list[RecordedAnswer]] = {}
    for answer in answers:
        by_tool.setdefault(answer.tool, []).append(answer)
    return [
        Tool(
            definition,
            _Recorded(by_tool.get(definition.name, ()), (defaults or {}).get(definition.name)),
            Policy(policy),
            takes_lossy,
        )
        for definition in catalog
    ]


class _Recorded:
    """The function that runs a tool with recorded results."""

    def __init__(self, answers: Sequence[RecordedAnswer], default: str | None = None) -> None:
        self.answers = answers
        self.default = default

    async def __call__(self, context: ToolContext) -> str:
        sent = context.request.arguments or {}
        answer = next((candidate for candidate in self.answers if contains(sent, candidate.when)), None)
        if answer is None and self.default is not None:
            context.metadata["simulated"] = "default"
            return self.default
        context.metadata["simulated"] = "miss" if answer is None else "recorded"
        if answer is None:
            raise NoRecordedAnswerError("No recorded answer fits these arguments.")
        if answer.status == "success":
            return answer.result
        if answer.status == "tool_rejected":
            code, _, message = answer.result.partition(": ")
            raise ToolRejected(code, message) if message else ToolRejected("rejected", answer.result)
        raise ToolFailed(answer.result)


def contains(sent: Any, wanted: Any) -> bool:
    """Return True when `sent` contains `wanted`: objects field by field, and lists item by item."""
    if isinstance(wanted, Mapping):
        return isinstance(sent, Mapping) and all(
            name in sent and contains(sent[name], value) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(sent, list)
            and len(sent) == len(wanted)
            and all(contains(item, other) for item, other in zip(sent, wanted, strict=True))
        )
    return type(sent) is type(wanted) and sent == wanted if isinstance(wanted, bool) else bool(sent == wanted)
