"""Data classes for a span: as read from a file, and after its attributes are interpreted.

A format makes a `RawSpan` from its file. `ingest.formats.span_conventions` makes an `UnderstoodSpan` from the
`RawSpan`: a model call, a tool's run, an agent's run that contains both, or another span.
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
_SPAN = 500  # approximate bytes of a span without its texts
_ANSWER = 4_000  # maximum number of characters of an agent's input or output that are kept


class SpanKind(StrEnum):
    INFERENCE = "inference"  # The span is one model call.
    AGENT = "agent"  # The span is an agent's run, which contains model calls and tool runs.
    EXECUTION = "execution"  # The span is the run of a tool.
    OTHER = "other"  # The span may still be a tool's run, if a model called a tool with the span's name.


class RawSpan(msgspec.Struct, kw_only=True):
    """A span whose attributes are not interpreted yet.

    Times are nanoseconds since 1970. `error` is the text of the span's status.
    """

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
    """The facts that are found in a span. A fact that the span does not state is None.

    `output` is None when the content of the reply was not recorded.
    """

    kind: SpanKind | None = None
    session_id: str | None = None
    user: str | None = None
    environment: str | None = None
    task: str | None = None  # the item of a data set, if the span belongs to an experiment
    provider: str | None = None
    model: str | None = None
    prompt_name: str | None = None
    prompt_version: str | None = None
    system: str | None = None
    definitions: tuple[Mapping[str, Any], ...] | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    finish: str | None = None
    tool: str | None = None
    call_id: str | None = None
    arguments: Any = None
    # True when only a model can start such a tool run; the run's arguments are then the model's
    by_model: bool | None = None
    result: Any = None
    stage_of: str | None = None  # the operation, if the span describes only one stage of it
    stage: str | None = None  # the stage in `stage_of`: start, success, error or finish
    question: str | None = None  # the beginning of the input of an agent or another component
    answered: str | None = None  # the beginning of the output of an agent or another component
    problem: str | None = None  # why a part of the span could not be read

    def fill(self, **facts: Any) -> None:
        """Set the fields that are still None. Fields with a value stay unchanged."""
        for name, value in facts.items():
            if value is not None and getattr(self, name) is None:
                setattr(self, name, value)

    def fill_texts(self, question: str | None, answered: str | None) -> None:
        self.fill(
            question=question[:_ANSWER] if question else None,
            answered=answered[:_ANSWER] if answered else None,
        )


class UnderstoodSpan(msgspec.Struct, kw_only=True):
    """A span after its attributes were interpreted. `facts` contains the result."""

    trace_id: str
    span_id: str
    where: LogLine
    facts: SpanFacts
    kind: SpanKind
    name: str = ""
    parent_id: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None  # None when the span has no error
    harness: str | None = None
    harness_version: str | None = None
    scope: str | None = None  # name of the instrumentation that wrote the span

    @property
    def latency_ms(self) -> float | None:
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return (self.end - self.start) / 1_000_000

    @property
    def size(self) -> int:
        """Return the approximate size of the span in bytes, without its messages."""
        return _SPAN + sum(len(part) for part in (self.facts.question, self.facts.answered) if part)


def to_datetime(nanoseconds: int | None) -> datetime | None:
    """Return nanoseconds since 1970 as a UTC time. Return None when the value is None, 0 or out of range."""
    if not nanoseconds:
        return None
    try:
        seconds, rest = divmod(nanoseconds, _NANO)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    except (OverflowError, OSError, ValueError):
        return None


def to_nanoseconds(time: datetime | None) -> int | None:
    """Return a time as nanoseconds since 1970, exact to the microsecond. Return None when `time` is None."""
    if time is None:
        return None
    whole = int(time.replace(microsecond=0).timestamp())
    return whole * _NANO + time.microsecond * 1000
