"""Hold a conversation with a model: parse its tool calls, repair them where that is safe, run and record
them.
"""

from callgauge.gateway.apis import WIRES
from callgauge.gateway.apis.messages import (
    Call,
    CallSource,
    ChatMessage,
    ChatRequest,
    FinishReason,
    Reply,
    TextPiece,
    Tokens,
)
from callgauge.gateway.capabilities import Capabilities, JsonStability
from callgauge.gateway.endpoint import Endpoint
from callgauge.gateway.gateway import Gateway, Limits, Prompt
from callgauge.gateway.probe import Probe, ServerFeatures, probe_model
from callgauge.gateway.provider_errors import NoReplyError, Trouble
from callgauge.gateway.tools import (
    Executor,
    McpServer,
    McpServerError,
    RecordedAnswer,
    Tool,
    Toolbox,
    ToolContext,
    ToolFailed,
    ToolOutput,
    ToolRejected,
    ToolResult,
    open_mcp_servers,
    recorded_tools,
    tool,
)
from callgauge.gateway.turn import CallResult, Turn, TurnStep

__all__ = [
    "WIRES",
    "Call",
    "CallResult",
    "CallSource",
    "Capabilities",
    "ChatMessage",
    "ChatRequest",
    "Endpoint",
    "Executor",
    "FinishReason",
    "Gateway",
    "JsonStability",
    "Limits",
    "McpServer",
    "McpServerError",
    "NoReplyError",
    "Probe",
    "Prompt",
    "RecordedAnswer",
    "Reply",
    "ServerFeatures",
    "TextPiece",
    "Tokens",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolOutput",
    "ToolRejected",
    "ToolResult",
    "Toolbox",
    "Trouble",
    "Turn",
    "TurnStep",
    "open_mcp_servers",
    "probe_model",
    "recorded_tools",
    "tool",
]
