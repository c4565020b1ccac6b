"""Run the tool of a tool call, or tell the model why the tool was not run.

A function never receives arguments that could not be read, that the tool's policy rejects, or that lost
meaning in a repair.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from callgauge.gateway.apis.messages import check_parts
from callgauge.gateway.tools.toolbox import (
    Tool,
    Toolbox,
    ToolContext,
    ToolFailed,
    ToolOutput,
    ToolRejected,
)
from lenient import ToolCallRequest
from lenient.arguments.checked_call import describe_refusal, describe_unknown_tool

TOOLS_LOG = logging.getLogger("callgauge.Tools")
PARSE_LOG = logging.getLogger("callgauge.ToolParse")
MOST_CHARACTERS = 20_000  # most characters of a result


# Log nothing until the program configures logging.
logging.getLogger("callgauge").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a tool call: a `status` of docs/session-log.md, the text for the model, and the time
    taken.

    `code` is the tool's own word for a rejection. `metadata` is what the tool wrote into its context. `parts`
    holds images, audio or files, which are sent to the model unchanged.
    """

    status: str
    text: str
    seconds: float = 0.0
    code: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[Mapping[str, Any], ...] = ()

    @property
    def ran(self) -> bool:
        """Return True when the tool was called, whether it succeeded, rejected the call or failed."""
        return self.status in ("success", "tool_rejected", "execution_failed")


class Executor:
    """Runs the tools of a toolbox.

    `timeout`, in seconds, applies to tools without a timeout of their own. With `tells_warnings`, the result
    of a call with repaired arguments includes the diagnostics as `[ParseWarning] …`. A function that is not
    async runs in a thread. After a timeout the thread continues, because Python cannot stop it.
    """

    def __init__(self, toolbox: Toolbox, *, timeout: float = 30.0, tells_warnings: bool = True) -> None:
        self.toolbox = toolbox
        self.timeout = timeout
        self.tells_warnings = tells_warnings

    async def execute(self, context: ToolContext) -> ToolResult:
        """Run the tool call of `context.request`. Invalid calls and failing tools raise no exception."""
        request = context.request
        tool = self.toolbox.get(request.tool_name)
        _log_parse(request, tool)
        result = self._refuse(request, tool) or await self._run(tool, context)  # type: ignore[arg-type]
        TOOLS_LOG.info("%s: %s in %.3f s", request.tool_name, result.status, result.seconds)
        return result

    def _refuse(self, request: ToolCallRequest, tool: Tool | None) -> ToolResult | None:
        """Return a result that says why the tool must not be called, or None if the call is allowed."""
        if tool is None:
            offered = [tool.name for tool in self.toolbox]
            return ToolResult("tool_not_found", describe_unknown_tool(request.tool_name, offered))
        if request.arguments is None:
            return ToolResult("input_unparsable", describe_refusal(request, tool.definition))
        if request.accepted_under(tool.policy) and (tool.takes_lossy or not request.lossy):
            return None
        judged = request._replace(policy=tool.policy)  # makes the error message name what this tool rejects
        return ToolResult("input_invalid", describe_refusal(judged, tool.definition))

    async def _run(self, tool: Tool, context: ToolContext) -> ToolResult:
        request = context.request.with_defaults()
        started, task = time.monotonic(), asyncio.current_task()
        seconds = self.timeout if tool.timeout is None else tool.timeout
        limit = asyncio.timeout(seconds)
        parts: tuple[Mapping[str, Any], ...] = ()
        try:
            async with limit:
                returned = await tool.run(replace(context, request=request))
            if isinstance(returned, ToolOutput):
                parts = check_parts(returned.parts)
            value = returned.text if isinstance(returned, ToolOutput) else returned
            status, code, text = "success", None, _write_result(value)
            if self.tells_warnings and context.request.parse_warning:
                text += f"\n[ParseWarning] {context.request.parse_warning}"
        except ToolRejected as failure:
            status, code, text = "tool_rejected", failure.code, str(failure)
        except ToolFailed as failure:
            status, code, text = "execution_failed", None, str(failure)
        except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_task_cancelled():
                raise
            if isinstance(error, GeneratorExit) and _current_task() is not task:
                raise  # This coroutine is being closed from outside.
            TOOLS_LOG.warning("%s failed", _describe_call(request), exc_info=error)
            late = f"{tool.name} gave no result within {seconds:g} s."
            status, code, text = "execution_failed", None, late if limit.expired() else _name_error(error)
        duration = time.monotonic() - started
        return ToolResult(status, _cut(text), duration, code, dict(context.metadata), parts)


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_task_cancelled() -> bool:
    """Return True when the conversation itself is cancelled, not only a task within a tool."""
    task = _current_task()
    return task is not None and task.cancelling() > 0


def _log_parse(request: ToolCallRequest, tool: Tool | None) -> None:
    if tool is None:
        PARSE_LOG.warning("tool_definition_missing: %s", request.tool_name)
    elif request.parse_error:
        PARSE_LOG.warning("%s: %s", request.tool_name, request.parse_error)
    elif request.parse_warning:
        PARSE_LOG.info("%s: %s", request.tool_name, request.parse_warning)


def _name_error(error: BaseException) -> str:
    message = str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _write_result(returned: Any) -> str:
    """Return a result as text: a string unchanged, '' for None, and any other value as JSON."""
    if returned is None or isinstance(returned, str):
        return returned or ""
    try:
        return msgspec.json.encode(returned, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(returned)


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    left_out = len(text) - MOST_CHARACTERS
    return f"{text[:MOST_CHARACTERS]}\n[cut: {left_out:,} characters more]"


def _describe_call(request: ToolCallRequest) -> str:
    return f"{request.tool_name}[{request.tool_call_id}]"
