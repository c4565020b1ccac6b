"""Whose an endpoint's error is: the network's, the request's, or the model's own bad call.

A model's own bad call that comes as an HTTP error is a step of the conversation with a syntax fault. Whoever
takes it for an outage and asks again makes bad models look good (ggml-org/llama.cpp#22072, OpenHands#13949).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import orjson

from lenient.calls.refusals import ServerRefusal, read_server_refusal


class Trouble(StrEnum):
    """Why there was no reply."""

    NETWORK = "network"  # asked again, as often as the endpoint allows
    NO_TOOLS = "no_tools"  # this model or server takes no tool definitions
    LIMIT = "limit"  # the conversation is too long for the model
    REQUEST = "request"  # a key, a name, an address, a field is wrong: asking again is of no use


class NoReplyError(Exception):
    """There is no reply; the message says why, without the key. `status` is the HTTP status, if any."""

    def __init__(self, trouble: Trouble, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.status = status


_AGAIN = frozenset((408, 409, 425, 429))
_TOO_LONG_STATUS = 413
_FIRST_SERVER_ERROR = 500
# Words of errors, each with the server that says them.
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
    """Return the field `error` of an error's body, or the whole text where it is no such object."""
    try:
        decoded = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body
    if isinstance(decoded, list) and decoded:  # Gemini sends a list of one
        decoded = decoded[0]
    return decoded.get("error", decoded) if isinstance(decoded, dict) else body


def read_model_call(body: str) -> ServerRefusal | None:
    """Return the model's own call that this error is about, if it is about one."""
    return read_server_refusal(read_error_field(body))


def find_trouble(status: int | None, body: str, *, has_tools: bool) -> Trouble:
    """Return whose an error is; `status` is None for an error that came within a stream."""
    if has_tools and _NO_TOOLS.search(body):
        return Trouble.NO_TOOLS
    if status == _TOO_LONG_STATUS or (status not in _AGAIN and _TOO_LONG.search(body)):
        return Trouble.LIMIT
    if status is None or status in _AGAIN or status >= _FIRST_SERVER_ERROR:
        return Trouble.NETWORK
    return Trouble.REQUEST


def shorten_error(body: str, most: int = 500) -> str:
    """Return the message of an error in one line, at most `most` characters."""
    error = read_error_field(body)
    message = error.get("message") if isinstance(error, dict) else error
    text = " ".join((message if isinstance(message, str) and message else body).split())
    return text if len(text) <= most else text[: most - 1] + "…"
