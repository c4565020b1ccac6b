"""What is remembered of one conversation between its requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ingest.events import LogLine
from ingest.formats.provider_messages.exchange import ConversationItem


@dataclass(slots=True)
class FailedRequest:
    """A request that got no reply, kept until the conversation goes on or the file ends."""

    where: LogLine
    ts: datetime | None
    word: str
    said: str | None


@dataclass(slots=True)
class RepeatedConversation:
    """One conversation: what names it, and what its next request is compared with."""

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
        """The ids by which a request names this conversation outright."""
        return (*(() if self.reply_id is None else (self.reply_id,)), *self.named, *self.ties)


class HistoryTrail(NamedTuple):
    """The history that a request repeats: its hash up to its end, and whether a unique call id is in it."""

    end: bytes
    certain: bool


class JoinedExchange(NamedTuple):
    """An exchange's conversation, and what its request says that is new to it: its parts from `start` on."""

    thread: RepeatedConversation
    start: int
    fresh: list[ConversationItem]
    trail: HistoryTrail
