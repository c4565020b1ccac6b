"""What is remembered of one conversation between its requests; knows no API and no other conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ingest.events import Where
from ingest.shapes.exchanges import Item


@dataclass(slots=True)
class Failure:
    """A request that got no reply, kept until the conversation goes on or the file ends."""

    where: Where
    ts: datetime | None
    word: str
    said: str | None


@dataclass(slots=True)
class Thread:
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
    failed: Failure | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The ids by which a request names this conversation outright."""
        return (*(() if self.reply_id is None else (self.reply_id,)), *self.named, *self.ties)


class Trail(NamedTuple):
    """The history that a request repeats: its hash up to its end, and whether a unique call id is in it."""

    end: bytes
    certain: bool


class Joined(NamedTuple):
    """An exchange's conversation, and what its request says that is new to it: its parts from `start` on."""

    thread: Thread
    start: int
    fresh: list[Item]
    trail: Trail
