"""Tools that run: functions with their definitions, recorded answers, and the executor."""

from callgauge.gateway.tools.executor import Executor, ToolResult
from callgauge.gateway.tools.functions import tool
from callgauge.gateway.tools.recorded import RecordedAnswer, recorded_tools
from callgauge.gateway.tools.toolbox import Tool, Toolbox, ToolContext, ToolRejected

__all__ = [
    "Executor",
    "RecordedAnswer",
    "Tool",
    "ToolContext",
    "ToolRejected",
    "ToolResult",
    "Toolbox",
    "recorded_tools",
    "tool",
]
