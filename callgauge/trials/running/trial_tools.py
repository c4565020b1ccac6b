"""The tools of a trial: recorded results, Python functions and MCP servers.

Every trial starts its own MCP servers, because data or a login that a trial leaves in a server would affect
the next trial. A server at a URL keeps its state between trials.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from callgauge.gateway import (
    McpServer,
    McpServerError,
    RecordedAnswer,
    Tool,
    Toolbox,
    open_mcp_servers,
    recorded_tools,
    tool,
)
from callgauge.trials.planning.plan import Plan, ServerPlan, ToolSource, TrialArm
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.trial_files import offered_tools
from callgauge.trials.running.run_files import RunError
from lenient import ToolCatalog, ToolDefinition

_RECORDED = ToolSource("recorded")
SERVERS_OWN = "(servers)"
"""The key of the definitions that MCP servers list. Variants without definitions use these."""


class ToolSourceError(RunError):
    """Raised when a tool of the plan cannot be used. The message names the tool and the next step."""


@asynccontextmanager
async def open_tools(plan: Plan, arm: TrialArm, task: Task) -> AsyncIterator[Toolbox]:
    """Open the tools of a task in a variant during the `with` block. Raises ToolSourceError."""
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
                *(_function_tool(plan, arm, definition) for definition in by_kind.get("function", ())),
                *of_servers,
            ]
        )


async def add_listed_definitions(plan: Plan) -> Plan:
    """Return the plan, in which variants without definitions get the definitions of the plan's MCP servers.

    Raises ToolSourceError.
    """
    try:
        return await add_server_definitions(plan)
    except McpServerError as problem:
        raise ToolSourceError(str(problem)) from None


def list_definitions(plan: Plan, arm: TrialArm, task: Task) -> tuple[ToolDefinition, ...]:
    """Return the definitions that a task offers in a variant. The task's definitions override the variant's
    definitions.
    """
    return tuple(offered_tools(task, plan.definitions.get(arm.definitions or "") or ToolCatalog()))


def check_functions(plan: Plan) -> None:
    """Import all Python functions of a plan. Raises ToolSourceError for the first function that fails."""
    for name, source in plan.tools.items():
        if source.kind == "function":
            find_function(name, source.target or "", plan.path.parent)


def find_function(tool_name: str, target: str, folder: Path) -> Any:
    """Return the function `module:name`. The plan's folder is searched, too. Raises ToolSourceError."""
    module, _, name = target.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # A user's module may raise any exception.
        raise ToolSourceError(
            f"tools.{tool_name}: {target} cannot be imported: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(function, Tool) and not callable(function):
        raise ToolSourceError(f"tools.{tool_name}: {target} is not a function")
    return function


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
        defaults={definition.name: _source_of(plan, definition).default for definition in definitions},
    )


def _function_tool(plan: Plan, arm: TrialArm, definition: ToolDefinition) -> Tool:
    source = _source_of(plan, definition)
    function: Tool | Callable[..., Any] = find_function(
        definition.name, source.target or "", plan.path.parent
    )
    made = function if isinstance(function, Tool) else tool(function)
    return replace(made, definition=definition, policy=arm.policy, takes_lossy=plan.run.takes_lossy)


@asynccontextmanager
async def open_server_tools(
    plan: Plan, arm: TrialArm, definitions: Iterable[ToolDefinition]
) -> AsyncIterator[list[Tool]]:
    """Open the MCP servers of these tools. Yield the tools with the variant's definitions.

    Ignores tools from other sources. Raises McpServerError when a server fails or lacks a tool.
    """
    wanted = {
        definition.name: definition
        for definition in definitions
        if _server_of(plan, definition.name) is not None
    }
    used = dict.fromkeys(_server_of(plan, name) or "" for name in wanted)
    async with AsyncExitStack() as stack:
        tools_by_server = await _open(stack, plan, tuple(used))
        yield [
            replace(
                _find(plan, tools_by_server, name),
                definition=definition,
                policy=arm.policy,
                takes_lossy=plan.run.takes_lossy,
            )
            for name, definition in wanted.items()
        ]


async def add_server_definitions(plan: Plan) -> Plan:
    """Return the plan, in which variants without definitions get the definitions of the plan's MCP servers.

    Raises McpServerError.
    """
    names = [name for name in plan.tools if _server_of(plan, name) is not None]
    if not names or all(arm.definitions is not None for arm in plan.arms):
        return plan
    async with AsyncExitStack() as stack:
        tools_by_server = await _open(
            stack, plan, tuple(dict.fromkeys(_server_of(plan, name) or "" for name in names))
        )
        listed = [_find(plan, tools_by_server, name).definition for name in names]
    offered = ToolCatalog.from_definitions(listed)
    arms = tuple(
        arm if arm.definitions is not None else replace(arm, definitions=SERVERS_OWN) for arm in plan.arms
    )
    return replace(plan, definitions={**plan.definitions, SERVERS_OWN: offered}, arms=arms)


async def _open(stack: AsyncExitStack, plan: Plan, names: Sequence[str]) -> dict[str, list[Tool]]:
    """Open each server separately, so that tools of the same name are not renamed."""
    return {
        name: await stack.enter_async_context(open_mcp_servers([_make_server(plan, plan.servers[name])]))
        for name in names
    }


def _make_server(plan: Plan, server: ServerPlan) -> McpServer:
    return McpServer(
        server.name, server.command, server.url, environment=server.environment, folder=plan.path.parent
    )


def _server_of(plan: Plan, tool: str) -> str | None:
    source = plan.tools.get(tool)
    return source.target if source is not None and source.kind == "server" else None


def _find(plan: Plan, tools_by_server: Mapping[str, Sequence[Tool]], name: str) -> Tool:
    server = _server_of(plan, name) or ""
    for offered in tools_by_server[server]:
        if offered.name == name:
            return offered
    names = ", ".join(offered.name for offered in tools_by_server[server]) or "none"
    raise McpServerError(f"tools.{name}: MCP server {server} has no such tool; it has {names}.")
