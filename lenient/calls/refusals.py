"""Recognises error messages of servers and tools that reject a malformed tool call.

Either a server could not parse the tool call, or the arguments do not fit the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lenient.regex import compile_regex

_OLLAMA, _OLLAMA_END = "error parsing tool call: raw='", "', err="
_LLAMA_SERVER = "Failed to parse tool call arguments as JSON"


class ServerRefusal(NamedTuple):
    """A tool call that a server could not parse.

    `raw` is the tool call as the model wrote it, or None when the error quotes less. `message` is the
    server's error message.
    """

    raw: str | None
    message: str | None


def read_server_refusal(error: Any) -> ServerRefusal | None:
    """Return the tool call that a chat API rejects with this error, or None when the error has another cause.

    `error` is the field `error` of the response, an object or a string. Groq quotes the tool call in
    `failed_generation`. Ollama quotes the tool call in its message (`error parsing tool call: raw='…',
    err=…`, server/routes.go). llama-server (`Failed to parse tool call arguments as JSON: …`,
    common/chat.cpp) quotes only the end of the tool call.
    """
    error_object = error if isinstance(error, Mapping) else {"message": error}
    raw, message = error_object.get("failed_generation"), error_object.get("message")
    message = message if isinstance(message, str) else ""
    if not isinstance(raw, str):
        start, end = message.find(_OLLAMA), message.rfind(_OLLAMA_END)
        raw = message[start + len(_OLLAMA) : end] if 0 <= start < end else None
    if raw is None and _LLAMA_SERVER not in message:
        return None
    return ServerRefusal(raw, message or None)


# --- tools ---------------------------------------------------------------------------------------------

# The TypeScript SDK and the Python SDK of MCP begin the result of a rejected tool call with these sentences.
MCP_REFUSALS = (
    r"^MCP error -32602|^Input validation error: ",
    r"^Error executing tool [^\n]{1,200}\d validation errors? for ",
)
# Schema libraries and Python use these words anywhere in their error messages.
LIBRARY_REFUSALS = (
    r"ValidationError|validation errors? for |ZodError",
    r"missing \d{1,9} required positional argument",
    r"(?:^|: )Invalid (?:arguments?|parameters?|time ?zone|time format|date|date format)\b",
)
_LONGEST = 4_000  # the number of characters to search; the sentences are at the beginning
_REFUSALS = compile_regex("|".join((*MCP_REFUSALS, *LIBRARY_REFUSALS)))


def refuses_arguments(message: str) -> bool:
    """Return True when the error message of a tool blames the arguments."""
    return _REFUSALS.search(message[:_LONGEST]) is not None
