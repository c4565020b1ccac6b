"""Finds the tool calls in a model's text, for models that write calls as text.

A dialect is the notation in which a family of models writes calls. Each dialect finds the name, the raw
arguments and the span of a call; `lenient.arguments.parse` then reads the raw arguments. A call is found even
if the text ends in the middle of the call.
"""

from lenient.calls.reading.extracted_call import TextCall
from lenient.calls.search import DIALECTS, extract_tool_calls, leaked_tool_calls

__all__ = ["DIALECTS", "TextCall", "extract_tool_calls", "leaked_tool_calls"]
