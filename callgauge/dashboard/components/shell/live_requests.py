"""The interface for live requests to a model: the entry point passes a sender, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st

MOST_AT_ONCE = 20  # the server's key is charged


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One request: messages in OpenAI's chat format, definitions in Anthropic's format."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LiveReply:
    """One reply: its calls as (tool, raw arguments), text, seconds and tokens; or the error."""

    calls: tuple[tuple[str, str], ...] = ()
    text: str = ""
    seconds: float = 0.0
    tokens_read: int | None = None
    tokens_written: int | None = None
    error: str | None = None


class LiveSender(Protocol):
    """Sends requests to models. `endpoint`: its address, shown to people.

    `models`: the offered models; without them, the model of the stored call is used.
    """

    endpoint: str
    models: tuple[str, ...]

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        """Return the replies to a request that is sent several times."""
        ...


_KEY = "_live_sender"


def offer_sender(sender: LiveSender | None) -> None:
    """Keep the sender for the pages of this session."""
    st.session_state[_KEY] = sender


def find_sender() -> LiveSender | None:
    """Return the sender from the entry point, or None."""
    sender: LiveSender | None = st.session_state.get(_KEY)
    return sender
