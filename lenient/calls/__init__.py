"""Finds the tool calls in text that a model wrote, for models that write calls as text.

Each dialect finds names, raw arguments and places; the arguments are read like any others. A cut-off last
call is found too.
"""

from lenient.calls.reading.extracted_call import TextCall
from lenient.calls.search import DIALECTS, extract_tool_calls, leaked_tool_calls

__all__ = ["DIALECTS", "TextCall", "extract_tool_calls", "leaked_tool_calls"]
