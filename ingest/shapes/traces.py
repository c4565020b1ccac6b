"""The spans of a file in, in any order, the events of its sessions out: the translator of every trace format.

Spans of one trace may lie far apart (an exporter writes them when they end, in batches), so that nothing can
be said of a trace before the end of the file. They wait by trace, those silent for longest in a temporary
file. At the end each session has its traces in order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from ingest.events import Event, Rejected, Where
from ingest.open_sessions import OpenSessions
from ingest.records import Record
from ingest.shapes.attributes import Attributes
from ingest.shapes.conventions import facts_of, span_of
from ingest.shapes.conventions.gen_ai_events import read_events
from ingest.shapes.message_parts import Message
from ingest.shapes.requests import Definitions, same_definitions
from ingest.shapes.span_sessions import TracedSession
from ingest.shapes.span_tree import by_time, lanes_of
from ingest.shapes.spans import Facts, RawSpan, Span

# What OpenTelemetry's spans can tell, whatever file they are in: fields of `ingest.formats.Source`.
TOLD_BY_SPANS: dict[str, str] = {
    "raw_arguments": "partly: where the instrumentation kept the model's text; the convention wants objects",
    "argument_failures": "partly: judged where the text is there; a refusal shows as a tool's error, if ever",
    "error_flag": "yes: the status of the tool's span; what only messages tell has no flag",
    "definitions": "partly: where the instrumentation records them",
    "system_prompt": "partly: where content is recorded; name and version where set",
    "model": "yes: per model call, with its provider",
    "turn_end": "partly: the last reply without a call; no verdict",
    "cannot_tell": "Arguments that a client could not decode are often not recorded at all, so few failures "
    "do not mean that there were few. Calls of replies that were not recorded are unmeasured.",
}


class SpanEvent(msgspec.Struct, kw_only=True):
    """An event that a file keeps apart from its span: a log record."""

    trace_id: str
    span_id: str
    where: Where
    name: str
    body: Attributes
    time: int | None = None


class Known(msgspec.Struct):
    """A span whose format already knows what it says; the conventions are not asked."""

    raw: RawSpan
    facts: Facts


Found = RawSpan | Known | SpanEvent | Rejected


class _Entry(msgspec.Struct):
    """What the index knows of a trace while its spans may be in the temporary file."""

    session_id: str | None = None
    from_root: bool = False
    start: int | None = None


class Traces:
    """Translates a file with a function that finds the spans in one record."""

    def __init__(self, read: Callable[[Record], Iterable[Found]]) -> None:
        self._read = read
        self._open = OpenSessions[Trace]()
        self._index: dict[str, _Entry] = {}

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        for found in self._read(record):
            if isinstance(found, Rejected):
                yield found
            elif isinstance(found, SpanEvent):
                self._trace(found.trace_id).add_event(found)
                self._open.weigh(found.trace_id)
            else:
                yield from self._take_span(found)

    def finish(self) -> Iterator[Event | Rejected]:
        """Everything: a trace is complete when the file is."""
        sessions: dict[str, list[tuple[int, int, str]]] = {}
        for order, (trace_id, entry) in enumerate(self._index.items()):
            start = entry.start if entry.start is not None else 1 << 63
            sessions.setdefault(entry.session_id or trace_id, []).append((start, order, trace_id))
        self._index = {}
        for session_id, traces in sessions.items():
            session = TracedSession(session_id)
            for _, _, trace_id in sorted(traces):
                trace = self._open.pop(trace_id)
                if trace is not None:
                    yield from trace.events(session_id, session)

    def close(self) -> None:
        self._open.close()

    def _trace(self, trace_id: str) -> Trace:
        self._index.setdefault(trace_id, _Entry())
        return self._open.open(trace_id, partial(Trace, trace_id))

    def _take_span(self, found: RawSpan | Known) -> Iterator[Rejected]:
        raw, facts = (found.raw, found.facts) if isinstance(found, Known) else (found, facts_of(found))
        if facts.problem is not None:
            yield Rejected(raw.where, "wrong_type", facts.problem, raw.span_id[:200])
        span = span_of(raw, facts)
        self._trace(raw.trace_id).add(span)
        self._open.weigh(raw.trace_id)
        self._note(span)

    def _note(self, span: Span) -> None:
        entry = self._index[span.trace_id]
        root = span.parent_id is None
        if span.facts.session_id and (entry.session_id is None or (root and not entry.from_root)):
            entry.session_id, entry.from_root = span.facts.session_id, root
        if span.start is not None:
            entry.start = min(span.start, entry.start if entry.start is not None else span.start)


class Trace:
    """The spans of one trace so far. What requests repeat is kept once; `held` is its size, roughly."""

    def __init__(self, trace_id: str) -> None:
        self.held = 0
        self._trace_id = trace_id
        self._spans: dict[str, Span] = {}
        self._events: dict[str, list[SpanEvent]] = {}
        self._messages: dict[Message, Message] = {}
        self._system: str | None = None
        self._definitions: Definitions | None = None

    def add(self, span: Span) -> None:
        """A span; where an exporter sent it again, the later copy counts."""
        facts = span.facts
        facts.input = tuple(map(self._once, facts.input)) if facts.input is not None else None
        if facts.system is not None and facts.system != self._system:
            self._system = facts.system
            self.held += len(facts.system)
        if facts.definitions is not None and not same_definitions(facts.definitions, self._definitions):
            self._definitions = facts.definitions
            self.held += 1_000 * len(facts.definitions)
        facts.system = self._system if facts.system is not None else None
        facts.definitions = self._definitions if facts.definitions is not None else None
        self.held += span.size + sum(map(_size, facts.output or ()))
        self._spans[span.span_id] = span

    def add_event(self, event: SpanEvent) -> None:
        self._events.setdefault(event.span_id, []).append(event)
        self.held += 1_000 + sum(len(value) for value in event.body.values() if isinstance(value, str))

    def events(self, session_id: str, session: TracedSession) -> Iterator[Event | Rejected]:
        """The events of the trace, in the session that it belongs to and in those of its sub-agents."""
        self._read_events()
        if not self._spans:
            return
        main, *others = lanes_of(self._spans)
        roots = [span for span in self._spans.values() if span.parent_id not in self._spans]
        yield from session.take(main, min(roots, key=by_time, default=None))
        for lane in others:
            within, parent = lane.within, lane.parent
            if within is not None:
                above = f"{session_id}/{parent.span_id}" if parent is not None else session_id
                below = TracedSession(f"{session_id}/{within.span_id}", above)
                yield from below.take(lane, next(iter(lane.agents), None))

    def _once(self, message: Message) -> Message:
        """A message of a request without what is not asked of it: its calls were counted as replies."""
        if message.role == "assistant":
            return _SAID_BEFORE
        known = self._messages.get(message)
        if known is None:
            known = self._messages[message] = message
            texts = (message.text, *(result.content for result in message.results))
            self.held += 200 + sum(len(text) for text in texts if text is not None)
        return known

    def _read_events(self) -> None:
        """Add what log records tell of spans; a span that is not in the file is made of them."""
        for span_id, events in self._events.items():
            bodies = [(event.name, event.body) for event in events]
            span = self._spans.get(span_id)
            if span is not None:
                read_events(bodies, span.facts)
                continue
            first, attributes = (
                events[0],
                {key: value for event in events for key, value in event.body.items()},
            )
            raw = RawSpan(
                trace_id=self._trace_id,
                span_id=span_id,
                where=first.where,
                start=first.time,
                end=events[-1].time,
                attributes=attributes,
                events=tuple(bodies),
            )
            self.add(span_of(raw, facts_of(raw)))


def _size(message: Message) -> int:
    """Characters of a reply, roughly: decoded arguments are counted for a kilobyte."""
    sent = [len(call.arguments) if isinstance(call.arguments, str) else 1_000 for call in message.calls]
    return len(message.text or "") + sum(sent)


_SAID_BEFORE = Message(role="assistant")
