"""What a Claude Code conversation has begun and not ended yet: message, prompt, turn."""

from __future__ import annotations

from datetime import datetime

import msgspec

from ingest.events import Event, LogLine
from ingest.formats.claude_code.transcript_entries import Usage
from ingest.formats.claude_code.user_lines import UserLineKind

_NOTHING_SAID = Usage()


class OpenMessage(msgspec.Struct, gc=False):
    """One model message as far as it has come. `after` holds what the log shows behind its first record."""

    key: str | None
    where: LogLine
    ts: datetime | None
    model: str | None
    texts: list[str] = []
    stop_reason: str | None = None
    usage: Usage | None = None
    usage_is_final: bool = False
    calls: int = 0
    after: list[Event] = []

    def hear(self, usage: Usage | None, stop_reason: str | None) -> None:
        """Take the counts of one more record; they are final beside a stop reason or once they have grown."""
        if usage is not None and usage != _NOTHING_SAID:
            before, self.usage = self.output_tokens, usage
            if before is not None and (now := self.output_tokens) is not None and now > before:
                self.usage_is_final = True
        if stop_reason is not None:
            self.usage_is_final = True
            self.stop_reason = stop_reason or self.stop_reason

    @property
    def output_tokens(self) -> int | None:
        count = self.usage.output_tokens if self.usage is not None else None
        return count if count is not None and count >= 0 else None


class TranscriptPrompt(msgspec.Struct, gc=False):
    where: LogLine
    ts: datetime | None
    text: str
    key: str | None
    said: UserLineKind


class TranscriptTurn(msgspec.Struct, gc=False):
    """The open turn. `answer` is None while a call is the last thing the model made."""

    where: LogLine
    ts: datetime | None
    status: str | None = None
    answer: str | None = None
    latency_ms: float | None = None
