"""Reads the errors with which a server reports that it could not parse a call of the model.

Such an error is no failure of the server but the model's own bad call, which it sends in place of a reply.
"""

from __future__ import annotations

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
    """Return the call that an error of a chat API is about, None when the error is about anything else.

    `error` is the field `error` of the answer, an object or a text. Groq's has the text in
    `failed_generation`, Ollama's (`error parsing tool call: raw='…', err=…`, server/routes.go) in its
    message; llama-server's (`Failed to parse tool call arguments as JSON: …`, common/chat.cpp) quotes only
    the end.
    """
    told = error if isinstance(error, Mapping) else {"message": error}
    said, message = told.get("failed_generation"), told.get("message")
    message = message if isinstance(message, str) else ""
    if not isinstance(said, str):
        start, end = message.find(_OLLAMA), message.rfind(_OLLAMA_END)
        said = message[start + len(_OLLAMA) : end] if 0 <= start < end else None
    if said is None and _LLAMA_SERVER not in message:
        return None
    return ServerRefusal(said, message or None)
