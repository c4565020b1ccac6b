"""A span as any file has it, and what it says once its attributes are understood.

`RawSpan` is what a format makes of its file. `UnderstoodSpan` is what `ingest.formats.span_conventions` make
of that: a model call, the run of a tool, an agent's work around them, or nothing that matters here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import msgspec

from ingest.events import LogLine
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.spans.span_attributes import Attributes

_NANO = 1_000_000_000
_SPAN = 500  # bytes that a span is counted for besides its texts
_ANSWER = 4_000  # characters of an agent's input or output that are kept


class SpanKind(StrEnum):
    INFERENCE = "inference"  # one model call
    AGENT = "agent"  # an agent's run: model calls and tools are inside of it
    EXECUTION = "execution"  # a tool ran
    OTHER = "other"  # may still be a tool's run, if it has the name of a tool that a model called


class RawSpan(msgspec.Struct, kw_only=True):
    """A span before its attributes are read. Times are nanoseconds since 1970, `error` the status's text."""

    trace_id: str
    span_id: str
    where: LogLine
    name: str = ""
    parent_id: str | None = None
    start: int | None = None
    end: int | None = None
    attributes: Attributes = {}
    events: tuple[tuple[str, Attributes], ...] = ()
    resource: Attributes = {}
    scope: str | None = None
    failed: bool = False
    error: str | None = None


class SpanFacts(msgspec.Struct, kw_only=True):
    """What the conventions find in a span. None = not told; `output` None = the content was not recorded."""

    kind: SpanKind | None = None
    session_id: str | None = None
    user: str | None = None
    task: str | None = None  # the item of a data set, in an experiment
    provider: str | None = None
    model: str | None = None
    prompt_name: str | None = None
    prompt_version: str | None = None
    system: str | None = None
    definitions: tuple[Mapping[str, Any], ...] | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    tool: str | None = None
    call_id: str | None = None
    arguments: Any = None
    result: Any = None
    asked: str | None = None  # the beginning of what an agent, or whatever it is, was given …
    answered: str | None = None  # … and of what it gave back
    problem: str | None = None  # why a part of the span could not be read

    def fill(self, **found: Any) -> None:
        """Set what is not known yet: the conventions are asked in the order of their trust."""
        for name, value in found.items():
            if value is not None and getattr(self, name) is None:
                setattr(self, name, value)

    def fill_texts(self, asked: str | None, answered: str | None) -> None:
        self.fill(asked=asked[:_ANSWER] if asked else None, answered=answered[:_ANSWER] if answered else None)


class UnderstoodSpan(msgspec.Struct, kw_only=True):
    """A span that has been understood."""

    trace_id: str
    span_id: str
    where: LogLine
    facts: SpanFacts
    kind: SpanKind
    name: str = ""
    parent_id: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None  # None = the span tells of none
    harness: str | None = None
    harness_version: str | None = None
    scope: str | None = None  # the instrumentation that wrote the span

    @property
    def latency_ms(self) -> float | None:
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return (self.end - self.start) / 1_000_000

    @property
    def size(self) -> int:
        """Bytes that wait with this span, roughly; messages are counted by the trace."""
        return _SPAN + sum(len(part) for part in (self.facts.asked, self.facts.answered) if part)


def to_datetime(nanoseconds: int | None) -> datetime | None:
    """Return nanoseconds since 1970 as a UTC time; None for what is no time of this calendar."""
    if not nanoseconds:
        return None
    try:
        seconds, rest = divmod(nanoseconds, _NANO)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    except (OverflowError, OSError, ValueError):
        return None


def to_nanoseconds(time: datetime | None) -> int | None:
    """Return a time as nanoseconds since 1970, exact to the microsecond."""
    if time is None:
        return None
    whole = int(time.replace(microsecond=0).timestamp())
    return whole * _NANO + time.microsecond * 1000
