"""What a Claude Code conversation has begun and not ended yet: message, prompt, turn; knows no order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.events import Event, Where
from ingest.fields import whole
from ingest.formats.claude_code.texts import Said


@dataclass(slots=True)
class Message:
    """One model message as far as it has come. `after` holds what the log shows behind its first record."""

    key: str | None
    where: Where
    ts: datetime | None
    model: str | None
    texts: list[str] = field(default_factory=list)
    stop_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    usage_is_final: bool = False
    calls: int = 0
    after: list[Event] = field(default_factory=list)

    def hear(self, usage: Mapping[str, Any], stop_reason: str | None) -> None:
        """Take the counts of one more record; they are final beside a stop reason or once they have grown."""
        before, now = whole(self.usage.get("output_tokens")), whole(usage.get("output_tokens"))
        grown = before is not None and now is not None and now > before
        self.usage_is_final = self.usage_is_final or stop_reason is not None or grown
        self.usage = usage or self.usage
        self.stop_reason = stop_reason or self.stop_reason


@dataclass(slots=True)
class Prompt:
    where: Where
    ts: datetime | None
    text: str
    key: str | None
    said: Said


@dataclass(slots=True)
class Turn:
    """The open turn. `answer` is None while a call is the last thing the model made."""

    where: Where
    ts: datetime | None
    status: str | None = None
    answer: str | None = None
    latency_ms: float | None = None
