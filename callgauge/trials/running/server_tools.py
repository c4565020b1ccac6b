"""Tools of a plan's MCP servers, each judged by the arm's definition.

Every trial has its servers for itself: what one trial leaves in a server (rows, a login) must not reach
another, or the order of the trials would be measured. A server behind an address keeps what it keeps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from callgauge.gateway import McpServer, McpServerError, Tool, open_mcp_servers
from callgauge.trials.planning.plan import Plan, ServerPlan, TrialArm
from lenient import ToolCatalog, ToolDefinition

SERVERS_OWN = "(servers)"
"""The key of the definitions that servers list, for arms that name none."""


@asynccontextmanager
async def open_server_tools(
    plan: Plan, arm: TrialArm, definitions: Iterable[ToolDefinition]
) -> AsyncIterator[list[Tool]]:
    """Open the servers behind these tools, and give the tools with the definitions of the arm.

    Tools whose source is no server are passed over. Raises McpServerError where a server cannot be used or
    lacks a tool.
    """
    wanted = {one.name: one for one in definitions if _server_of(plan, one.name) is not None}
    used = dict.fromkeys(_server_of(plan, name) or "" for name in wanted)
    async with AsyncExitStack() as stack:
        found = await _open(stack, plan, tuple(used))
        yield [
            replace(
                _find(plan, found, name),
                definition=definition,
                policy=arm.policy,
                takes_lossy=plan.run.takes_lossy,
            )
            for name, definition in wanted.items()
        ]


async def add_server_definitions(plan: Plan) -> Plan:
    """Return the plan in which arms without definitions have those that the servers list for its tools.

    Each server that a tool of the plan names is opened once. Raises McpServerError.
    """
    names = [name for name in plan.tools if _server_of(plan, name) is not None]
    if not names or all(arm.definitions is not None for arm in plan.arms):
        return plan
    async with AsyncExitStack() as stack:
        found = await _open(stack, plan, tuple(dict.fromkeys(_server_of(plan, name) or "" for name in names)))
        listed = [_find(plan, found, name).definition for name in names]
    offered = ToolCatalog.from_definitions(listed)
    arms = tuple(
        arm if arm.definitions is not None else replace(arm, definitions=SERVERS_OWN) for arm in plan.arms
    )
    return replace(plan, definitions={**plan.definitions, SERVERS_OWN: offered}, arms=arms)


async def _open(stack: AsyncExitStack, plan: Plan, names: Sequence[str]) -> dict[str, list[Tool]]:
    """Open the servers of these names, each for itself, so that no tool's name is changed."""
    return {
        name: await stack.enter_async_context(open_mcp_servers([_make_server(plan, plan.servers[name])]))
        for name in names
    }


def _make_server(plan: Plan, server: ServerPlan) -> McpServer:
    """Return a server of a plan; its command is started in the plan's folder."""
    return McpServer(
        server.name, server.command, server.url, environment=server.environment, folder=plan.path.parent
    )


def _server_of(plan: Plan, tool: str) -> str | None:
    source = plan.tools.get(tool)
    return source.target if source is not None and source.kind == "server" else None


def _find(plan: Plan, found: Mapping[str, Sequence[Tool]], name: str) -> Tool:
    server = _server_of(plan, name) or ""
    for tool in found[server]:
        if tool.name == name:
            return tool
    offered = ", ".join(tool.name for tool in found[server]) or "none"
    raise McpServerError(f"tools.{name}: MCP server {server} has no such tool; it has {offered}.")
