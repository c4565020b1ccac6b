"""Finds the tool calls in a model's reply, for models that write tool calls as plain text.

A dialect is the notation in which a family of models writes tool calls. Each dialect finds the tool name, the
raw arguments and the span of a tool call; `lenient.arguments.parse` then reads the raw arguments. A tool call
is found even if the reply ends in the middle of the call.
"""

from lenient.calls.reading.extracted_call import TextCall
from lenient.calls.search import DIALECTS, extract_tool_calls, leaked_tool_calls

__all__ = ["DIALECTS", "TextCall", "extract_tool_calls", "leaked_tool_calls"]
