"""Classify an endpoint's error: a network problem, a bad request, or a bad tool call by the model.

When a server reports a bad call as an HTTP error, the call counts as a step with a syntax error. If the
gateway took the error for an outage and repeated the request, bad models would look good
(ggml-org/llama.cpp#22072, OpenHands#13949).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import orjson

from lenient.calls.refusals import ServerRefusal, read_server_refusal


class Trouble(StrEnum):
    """Why there was no reply."""

    NETWORK = "network"  # the request is repeated, up to the endpoint's limit of attempts
    NO_TOOLS = "no_tools"  # The model or server does not accept tool definitions.
    LIMIT = "limit"  # the conversation is too long for the model
    REQUEST = "request"  # A key, name, address or field is wrong, so another attempt would fail as well.


class NoReplyError(Exception):
    """Raised when there is no reply. The message gives the reason, without the API key.

    `status` is the HTTP status, if there is one.
    """

    def __init__(self, trouble: Trouble, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.status = status


_AGAIN = frozenset((408, 409, 425, 429))
_LONGEST = 500  # maximum number of characters of an error's message
_TOO_LONG_STATUS = 413
_FIRST_SERVER_ERROR = 500
# Each pattern matches error messages of the server that is named beside it.
_NO_TOOLS = re.compile(
    r"does not support (?:tools|tool use|tool calling|function)"  # Ollama, Groq, OpenRouter
    r"|no endpoints found that support tool use"  # OpenRouter
    r"|tool choice requires --enable-auto-tool-choice"  # vLLM
    r"|tools? param(?:eter)? requires --jinja"  # llama-server
    r"|(?:tools|functions?|function calling) (?:is|are) not supported"
    r"|unsupported.{0,20}(?:tools|functions?|tool_choice)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _]length|maximum context|context window|context size|prompt is too long|too many tokens"
    r"|input token count.{0,40}exceeds",
    re.IGNORECASE | re.DOTALL,
)


def read_error_field(body: str) -> Any:
    """Return the field `error` of an error's body. If this field is missing, return the whole body."""
    try:
        decoded = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    if isinstance(decoded, list) and decoded:  # Gemini sends a list with one item.
        decoded = decoded[0]
    return decoded.get("error", decoded) if isinstance(decoded, dict) else body


def read_model_call(body: str) -> ServerRefusal | None:
    """Return the model's tool call that this error is about, or None."""
    return read_server_refusal(read_error_field(body))


def find_trouble(status: int | None, body: str, *, has_tools: bool) -> Trouble:
    """Return the kind of an error. `status` is None for an error within a stream."""
    if has_tools and _NO_TOOLS.search(body):
        return Trouble.NO_TOOLS
    if status == _TOO_LONG_STATUS or (status not in _AGAIN and _TOO_LONG.search(body)):
        return Trouble.LIMIT
    if status is None or status in _AGAIN or status >= _FIRST_SERVER_ERROR:
        return Trouble.NETWORK
    return Trouble.REQUEST


def shorten_error(body: str) -> str:
    """Return an error's message in one line of limited length."""
    error = read_error_field(body)
    message = error.get("message") if isinstance(error, dict) else error
    text = " ".join((message if isinstance(message, str) and message else body).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
