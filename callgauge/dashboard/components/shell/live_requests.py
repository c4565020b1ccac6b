"""What the dashboard asks of whoever can ask a model for it: the entry hands in a sender, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import streamlit as st

MOST_AT_ONCE = 20  # the server's key pays


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One request: messages in OpenAI's chat format, definitions in Anthropic's shape."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LiveReply:
    """One reply: its calls as (tool, raw arguments), its text, seconds and tokens; or why there is none."""

    calls: tuple[tuple[str, str], ...] = ()
    text: str = ""
    seconds: float = 0.0
    tokens_read: int | None = None
    tokens_written: int | None = None
    error: str | None = None


class LiveSender(Protocol):
    """Asks models. `endpoint` is shown to people; without `models`, that of the stored call is asked."""

    endpoint: str
    models: tuple[str, ...]

    def send(self, request: LiveRequest, times: int) -> list[LiveReply]:
        """Return the replies to so many requests."""
        ...


_KEY = "_live_sender"


def offer_sender(sender: LiveSender | None) -> None:
    """Keep the sender for the pages of this session."""
    st.session_state[_KEY] = sender


def find_sender() -> LiveSender | None:
    """Return the sender that the entry handed in, or None."""
    sender: LiveSender | None = st.session_state.get(_KEY)
    return sender
