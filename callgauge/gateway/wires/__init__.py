"""Adapters for the four APIs, by name: how a conversation is written for each, and how its answer is read."""

from callgauge.gateway.wires.anthropic import ANTHROPIC
from callgauge.gateway.wires.gemini import GEMINI
from callgauge.gateway.wires.openai import OPENAI_CHAT, OPENAI_RESPONSES
from callgauge.gateway.wires.wire import BrokenReplyError, ErrorInReplyError, Wire, WireRequest

WIRES = {wire.name: wire for wire in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)}

__all__ = ["WIRES", "BrokenReplyError", "ErrorInReplyError", "Wire", "WireRequest"]
