"""Text that a model wrote → the tool calls in it, for models that write calls as text; one function per
dialect, one module per family of dialects.

Each dialect finds names, raw arguments and places; the arguments are read by `lenient.parse` like any
others. A cut-off last call is found too. Text without a call gives no calls. Knows no page and no log.
"""

from lenient.calls.found import TextCall
from lenient.calls.search import DIALECTS, extract_tool_calls, leaked_tool_calls

__all__ = ["DIALECTS", "TextCall", "extract_tool_calls", "leaked_tool_calls"]
