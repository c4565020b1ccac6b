"""The tools of a trial: recorded answers, Python functions, each judged by the arm's definition."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from callgauge.gateway import RecordedAnswer, Tool, Toolbox, recorded_tools, tool
from callgauge.trials.planning.plan import Plan, ToolSource, TrialArm
from callgauge.trials.planning.task import Task
from lenient import ToolCatalog, ToolDefinition

_RECORDED = ToolSource("recorded")


class ToolSourceError(Exception):
    """A tool of the plan cannot be had; the message names it and the next step."""


@asynccontextmanager
async def open_tools(plan: Plan, arm: TrialArm, task: Task) -> AsyncIterator[Toolbox]:
    """Open the tools that a task offers in an arm, for the length of the trial. Raises ToolSourceError."""
    definitions = list_definitions(plan, arm, task)
    by_kind: dict[str, list[ToolDefinition]] = {}
    for definition in definitions:
        by_kind.setdefault(_source_of(plan, definition).kind, []).append(definition)
    if unknown := by_kind.keys() - {"recorded", "function"}:
        raise ToolSourceError(f"tools of the kind {', '.join(sorted(unknown))} cannot be opened")
    yield Toolbox(
        [
            *_recorded_tools(plan, arm, task, by_kind.get("recorded", ())),
            *(_function_tool(plan, arm, one) for one in by_kind.get("function", ())),
        ]
    )


def list_definitions(plan: Plan, arm: TrialArm, task: Task) -> tuple[ToolDefinition, ...]:
    """Return the definitions that a task offers in an arm: the task's own stand over those of the arm.

    Without definitions the arm has those of the plan's Python functions.
    """
    if arm.definitions is None:
        offered = {name: one.definition for name, one in _plan_functions(plan).items()}
    else:
        offered = {one.name: one for one in plan.definitions[arm.definitions]}
    if task.definitions:
        offered |= {one.name: one for one in ToolCatalog.load([dict(one) for one in task.definitions])}
    names = offered if task.tools is None else [name for name in task.tools if name in offered]
    return tuple(offered[name] for name in names)


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


def _plan_functions(plan: Plan) -> dict[str, Tool]:
    return {
        name: _make_function_tool(name, source, plan)
        for name, source in plan.tools.items()
        if source.kind == "function"
    }


def _make_function_tool(name: str, source: ToolSource, plan: Plan) -> Tool:
    found: Tool | Callable[..., Any] = find_function(name, source.target or "", plan.path.parent)
    return found if isinstance(found, Tool) else tool(name=name)(found)


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
    made = _make_function_tool(definition.name, _source_of(plan, definition), plan)
    return replace(made, definition=definition, policy=arm.policy, takes_lossy=plan.run.takes_lossy)
