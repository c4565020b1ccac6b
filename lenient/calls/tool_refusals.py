"""Words with which tools and their frameworks say that they refuse the arguments of a call.

An MCP server reports this as a failed result, in no other way than any other failure. Each row is a sentence
of a framework, as its source has it.
"""

from __future__ import annotations

import re

# Sentences of MCP servers with which the result begins: the TypeScript SDK, the Python SDK.
MCP_REFUSALS = (
    r"^MCP error -32602|^Input validation error: ",
    r"^Error executing tool [^\n]{1,200}\d validation errors? for ",
)
# Words of schema libraries and of Python, anywhere in a message.
LIBRARY_REFUSALS = (
    r"ValidationError|validation errors? for |ZodError",
    r"missing \d{1,9} required positional argument",
)
_LONGEST = 4_000  # characters that are looked at; the sentences stand at the beginning
_REFUSALS = re.compile("|".join((*MCP_REFUSALS, *LIBRARY_REFUSALS)))


def refuses_arguments(message: str) -> bool:
    """Return True when a tool that failed says that it was for the arguments."""
    return _REFUSALS.search(message[:_LONGEST]) is not None
