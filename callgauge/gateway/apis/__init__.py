"""Name the adapters for the four APIs. An adapter writes requests and reads replies in one API's format."""

from callgauge.gateway.apis.adapter import (
    BrokenReplyError,
    ErrorInReplyError,
    ReplyStream,
    Wire,
    WireRequest,
)
from callgauge.gateway.apis.anthropic import ANTHROPIC
from callgauge.gateway.apis.gemini import GEMINI
from callgauge.gateway.apis.openai import OPENAI_CHAT, OPENAI_RESPONSES

WIRES = {wire.name: wire for wire in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)}

__all__ = ["WIRES", "BrokenReplyError", "ErrorInReplyError", "ReplyStream", "Wire", "WireRequest"]
