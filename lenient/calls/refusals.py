"""Recognises error messages of servers and tools that reject a malformed call.

A server reports that it could not parse the call; a tool or its framework reports that the arguments do not
fit. Neither error is a failure of the server or the tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_OLLAMA, _OLLAMA_END = "error parsing tool call: raw='", "', err="
_LLAMA_SERVER = "Failed to parse tool call arguments as JSON"


class ServerRefusal(NamedTuple):
    """A call that a server could not parse.

    `raw` is the text that the model wrote, None where the error does not quote all of it. `message` is the
    server's complaint.
    """

    raw: str | None
    message: str | None


def read_server_refusal(error: Any) -> ServerRefusal | None:
    """Return the call that an error of a chat API is about, None when the error has another cause.

    `error` is the field `error` of the answer, an object or a text. Groq's has the text in
    `failed_generation`, Ollama's (`error parsing tool call: raw='…', err=…`, server/routes.go) in its
    message; llama-server's (`Failed to parse tool call arguments as JSON: …`, common/chat.cpp) quotes only
    the end.
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

# Sentences with which MCP servers begin the result: the TypeScript SDK, the Python SDK.
MCP_REFUSALS = (
    r"^MCP error -32602|^Input validation error: ",
    r"^Error executing tool [^\n]{1,200}\d validation errors? for ",
)
# Words of schema libraries and of Python, anywhere in a message.
LIBRARY_REFUSALS = (
    r"ValidationError|validation errors? for |ZodError",
    r"missing \d{1,9} required positional argument",
    r"(?:^|: )Invalid (?:arguments?|parameters?|time ?zone|time format|date|date format)\b",
)
_LONGEST = 4_000  # characters that are searched; the sentences are at the beginning
_REFUSALS = re.compile("|".join((*MCP_REFUSALS, *LIBRARY_REFUSALS)))


def refuses_arguments(message: str) -> bool:
    """Return True when a failed tool blames the arguments."""
    return _REFUSALS.search(message[:_LONGEST]) is not None
