"""The tools of a trial: recorded answers, functions, MCP servers, each judged by the arm's definition."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from callgauge.gateway import McpServerError, RecordedAnswer, Tool, Toolbox, recorded_tools, tool
from callgauge.trials.planning.plan import Plan, ToolSource, TrialArm
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.trial_files import offered_tools
from callgauge.trials.running.run_files import RunError
from callgauge.trials.running.server_tools import add_server_definitions, open_server_tools
from lenient import ToolCatalog, ToolDefinition

_RECORDED = ToolSource("recorded")


class ToolSourceError(RunError):
    """A tool of the plan cannot be had; the message names it and the next step."""


@asynccontextmanager
async def open_tools(plan: Plan, arm: TrialArm, task: Task) -> AsyncIterator[Toolbox]:
    """Open the tools that a task offers in an arm, for the length of the trial. Raises ToolSourceError."""
    definitions = list_definitions(plan, arm, task)
    by_kind: dict[str, list[ToolDefinition]] = {}
    for definition in definitions:
        by_kind.setdefault(_source_of(plan, definition).kind, []).append(definition)
    async with AsyncExitStack() as stack:
        servers = open_server_tools(plan, arm, by_kind.get("server", ()))
        try:
            of_servers = await stack.enter_async_context(servers)
        except McpServerError as problem:
            raise ToolSourceError(str(problem)) from None
        yield Toolbox(
            [
                *_recorded_tools(plan, arm, task, by_kind.get("recorded", ())),
                *(_function_tool(plan, arm, one) for one in by_kind.get("function", ())),
                *of_servers,
            ]
        )


async def add_listed_definitions(plan: Plan) -> Plan:
    """Return the plan in which arms without definitions have those that its MCP servers list now.

    Raises ToolSourceError.
    """
    try:
        return await add_server_definitions(plan)
    except McpServerError as problem:
        raise ToolSourceError(str(problem)) from None


def list_definitions(plan: Plan, arm: TrialArm, task: Task) -> tuple[ToolDefinition, ...]:
    """Return the definitions that a task offers in an arm: the task's own stand over those of the arm."""
    return tuple(offered_tools(task, plan.definitions.get(arm.definitions or "") or ToolCatalog()))


def check_functions(plan: Plan) -> None:
    """Import all Python functions of a plan. Raises ToolSourceError for the first that cannot be had."""
    for name, source in plan.tools.items():
        if source.kind == "function":
            find_function(name, source.target or "", plan.path.parent)


def find_function(tool_name: str, target: str, folder: Path) -> Any:
    """Return the function `module:name`, looked for beside the plan too. Raises ToolSourceError."""
    module, _, name = target.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:  # a module of the user's may raise anything
        raise ToolSourceError(
            f"tools.{tool_name}: {target} cannot be imported: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(found, Tool) and not callable(found):
        raise ToolSourceError(f"tools.{tool_name}: {target} is no function")
    return found


def _source_of(plan: Plan, definition: ToolDefinition) -> ToolSource:
    return plan.tools.get(definition.name, _RECORDED)


def _recorded_tools(
    plan: Plan, arm: TrialArm, task: Task, definitions: Iterable[ToolDefinition]
) -> list[Tool]:
    definitions = tuple(definitions)
    answers: tuple[RecordedAnswer, ...] = task.answers
    return recorded_tools(
        definitions,
        answers,
        policy=arm.policy,
        takes_lossy=plan.run.takes_lossy,
        defaults={one.name: _source_of(plan, one).default for one in definitions},
    )


def _function_tool(plan: Plan, arm: TrialArm, definition: ToolDefinition) -> Tool:
    source = _source_of(plan, definition)
    found: Tool | Callable[..., Any] = find_function(definition.name, source.target or "", plan.path.parent)
    made = found if isinstance(found, Tool) else tool(found)
    return replace(made, definition=definition, policy=arm.policy, takes_lossy=plan.run.takes_lossy)
