"""Define and run tools: functions with definitions, recorded results, and the executor."""

from callgauge.gateway.tools.executor import Executor, ToolResult
from callgauge.gateway.tools.functions import tool
from callgauge.gateway.tools.mcp_servers import McpServer, McpServerError, open_mcp_servers
from callgauge.gateway.tools.recorded import RecordedAnswer, recorded_tools
from callgauge.gateway.tools.toolbox import (
    Tool,
    Toolbox,
    ToolContext,
    ToolFailed,
    ToolOutput,
    ToolRejected,
)

__all__ = [
    "Executor",
    "McpServer",
    "McpServerError",
    "RecordedAnswer",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolOutput",
    "ToolRejected",
    "ToolResult",
    "Toolbox",
    "open_mcp_servers",
    "recorded_tools",
    "tool",
]
