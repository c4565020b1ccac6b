"""The open parts of a Claude Code conversation: message, prompt and turn that have not ended."""

from __future__ import annotations

from datetime import datetime

import msgspec

from ingest.events import Event, LogLine
from ingest.formats.claude_code.transcript_entries import Usage
from ingest.formats.claude_code.user_lines import UserLineKind

_NOTHING_SAID = Usage()


class OpenMessage(msgspec.Struct, gc=False):
    """One model message, as far as its records have been read.

    `after` has the events of the records after the first one, in order: calls and results.
    """

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
        """Add the token counts and stop reason of one more record.

        The counts are final with a stop reason, or when the output tokens have grown since the record before.
        """
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
    """The open turn. `answer` is None while the last message of the model made a call."""

    where: LogLine
    ts: datetime | None
    status: str | None = None
    answer: str | None = None
    latency_ms: float | None = None
