"""Defines the interface for live requests to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st

MOST_AT_ONCE = 20  # a limit, because each request costs the owner of the API key money


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One request.

    The messages are in OpenAI's chat format, and the tool definitions are in Anthropic's format.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LiveReply:
    """One reply: tool calls as (tool, raw arguments), text, seconds and tokens.

    `error` is set if the request failed.
    """

    calls: tuple[tuple[str, str], ...] = ()
    text: str = ""
    seconds: float = 0.0
    tokens_read: int | None = None
    tokens_written: int | None = None
    error: str | None = None


class LiveSender(Protocol):
    """Sends requests to models. The page shows `endpoint`, the address that receives the requests.

    `models` holds the offered models. If `models` is empty, the model of the stored call is used.
    """

    endpoint: str
    models: tuple[str, ...]

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        """Send a request several times and return the replies."""
        ...


_KEY = "_live_sender"


def offer_sender(sender: LiveSender | None) -> None:
    """Keep the object that sends requests, for the pages of this session."""
    st.session_state[_KEY] = sender


def find_sender() -> LiveSender | None:
    """Return the object that sends requests. Return None if the server cannot send requests to a model."""
    sender: LiveSender | None = st.session_state.get(_KEY)
    return sender
