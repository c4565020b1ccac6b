"""Data classes for the state of one conversation that is kept between its requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ingest.events import LogLine
from ingest.formats.provider_messages.exchange import ConversationItem


@dataclass(slots=True)
class FailedRequest:
    """A request that got no reply, kept until the conversation goes on or the file ends.

    `word` is the reason, `said` the user's text (None in the middle of a turn).
    """

    where: LogLine
    ts: datetime | None
    word: str
    said: str | None


@dataclass(slots=True)
class RepeatedConversation:
    """The state of one conversation: its ids, and the hashes with which its next request is compared."""

    number: int
    session: str
    parent: str | None = None
    head: bytes | None = None  # the hash of its history up to the last reply …
    asked: bytes | None = None  # … and up to the last request
    reply_id: str | None = None  # of the last reply
    named: tuple[str, ...] = ()  # unique ids of the last calls …
    anchor: bytes | None = None  # … and the hash up to the reply that made them
    ties: tuple[str, ...] = ()  # ids by which any later reply may refer to it
    certain: bool = False  # its last request names a call by a unique id, so nobody else sent the same
    pending: list[str | None] = field(default_factory=list)  # calls without a result
    turns: int = 0
    prompt: bytes | None = None
    tools: int | None = None
    failed: FailedRequest | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The ids by which a request can name this conversation directly: of replies, calls and others."""
        return (*(() if self.reply_id is None else (self.reply_id,)), *self.named, *self.ties)


class HistoryTrail(NamedTuple):
    """The hash of the whole history that a request repeats.

    `certain` is True when the history contains a unique call id.
    """

    end: bytes
    certain: bool


class JoinedExchange(NamedTuple):
    """The conversation of an exchange, and the new items of its request.

    The new items are those of the request's parts from index `start` on.
    """

    thread: RepeatedConversation
    start: int
    fresh: list[ConversationItem]
    trail: HistoryTrail
