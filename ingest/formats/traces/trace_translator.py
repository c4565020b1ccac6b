"""Translates all trace formats: makes events from the spans of a file, which may be in any order.

Exporters write spans in batches when they end, so the spans of one trace may be far apart. A trace is
complete only at the end of the file. Until then the spans are kept by trace, and the longest inactive traces
are moved to a temporary file. At the end, the traces of each session are translated in order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from ingest.decoding.lines import SNIPPET_READ
from ingest.events import Event, LogLine, Rejected
from ingest.formats.provider_messages.message_parts import Message
from ingest.formats.provider_messages.model_requests import Definitions, are_same_definitions
from ingest.formats.span_conventions import collect_facts, make_span
from ingest.formats.span_conventions.gen_ai_events import read_events
from ingest.formats.spans.span import RawSpan, SpanFacts, UnderstoodSpan
from ingest.formats.spans.span_attributes import Attributes
from ingest.formats.traces.span_sessions import TracedSession
from ingest.formats.traces.span_tree import find_lanes, time_key
from ingest.log_format import Record
from ingest.sessions.open_sessions import OpenSessions

# What OpenTelemetry's spans contain in any file; the keys are fields of `ingest.formats.Source`.
SPAN_CONTENTS: dict[str, str] = {
    "raw_arguments": "partly: where the instrumentation kept the model's text; the convention wants objects",
    "argument_failures": "partly: parsed if the text is there; a denial shows as a tool's error, if ever",
    "error_flag": "yes: the status of the tool's span; calls that only messages record have no flag",
    "definitions": "partly: where the instrumentation records them",
    "system_prompt": "partly: where content is recorded; name and version where set",
    "model": "yes: per model call, with its provider",
    "turn_end": "partly: the last reply without a call; no verdict",
    "cannot_tell": "Arguments that a client could not decode are often not recorded at all, so few failures "
    "do not mean that there were few. Calls of replies that were not recorded are unmeasured.",
}


class SpanEvent(msgspec.Struct, kw_only=True):
    """A span's event, which the file stores separately as a log record."""

    trace_id: str
    span_id: str
    where: LogLine
    name: str
    body: Attributes
    time: int | None = None


class KnownSpan(msgspec.Struct):
    """A span whose attributes the format has already interpreted."""

    raw: RawSpan
    facts: SpanFacts


_NEVER = 1 << 63  # a time that sorts after all others

Found = RawSpan | KnownSpan | SpanEvent | Rejected


class TraceEntry(msgspec.Struct):
    """The entry of a trace in the index of a file's traces.

    The entry stays in memory, while the spans may be in a temporary file. `roots` maps the session ids of the
    trace's root spans to the earliest start.
    """

    session_id: str | None = None
    from_root: bool = False
    start: int | None = None
    roots: dict[str, int] = {}

    def list_sessions(self, trace_id: str) -> Iterable[tuple[str, int]]:
        """Return the id and the start of each session in the trace."""
        if len(self.roots) > 1:
            return self.roots.items()
        return [(self.session_id or trace_id, self.start if self.start is not None else _NEVER)]


class TraceTranslator:
    """Translates the records of a file into events.

    `read` is a function that returns the spans in one record.
    """

    def __init__(self, read: Callable[[Record], Iterable[Found]]) -> None:
        self._read = read
        self._open = OpenSessions[OpenTrace]()
        self._index: dict[str, TraceEntry] = {}

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        for item in self._read(record):
            if isinstance(item, Rejected):
                yield item
            elif isinstance(item, SpanEvent):
                self.open_trace(item.trace_id).add_event(item)
                self._open.spill(item.trace_id)
            else:
                yield from self._take_span(item)

    def finish(self) -> Iterator[Event | Rejected]:
        """Yield the events of all traces."""
        sessions: dict[str, list[tuple[int, int, str]]] = {}
        for order, (trace_id, entry) in enumerate(self._index.items()):
            for session_id, start in entry.list_sessions(trace_id):
                sessions.setdefault(session_id, []).append((start, order, trace_id))
        shared = {name: entry.roots for name, entry in self._index.items() if len(entry.roots) > 1}
        self._index = {}
        for session_id, traces in sessions.items():
            session = TracedSession(session_id)
            for _, _, trace_id in sorted(traces):
                if trace_id in shared:
                    trace = self._open.open(trace_id, partial(OpenTrace, trace_id))
                    yield from trace.to_events(session_id, session, others_in=next(iter(shared[trace_id])))
                elif (whole := self._open.pop(trace_id)) is not None:
                    yield from whole.to_events(session_id, session)

    def close(self) -> None:
        self._open.close()

    def open_trace(self, trace_id: str) -> OpenTrace:
        self._index.setdefault(trace_id, TraceEntry())
        return self._open.open(trace_id, partial(OpenTrace, trace_id))

    def _take_span(self, parsed: RawSpan | KnownSpan) -> Iterator[Rejected]:
        raw, facts = (
            (parsed.raw, parsed.facts) if isinstance(parsed, KnownSpan) else (parsed, collect_facts(parsed))
        )
        if facts.problem is not None:
            yield Rejected(raw.where, "wrong_type", facts.problem, raw.span_id[:SNIPPET_READ])
        span = make_span(raw, facts)
        self.open_trace(raw.trace_id).add(span)
        self._open.spill(raw.trace_id)
        self.note_span(span)

    def note_span(self, span: UnderstoodSpan) -> None:
        entry = self._index[span.trace_id]
        root = span.parent_id is None
        if span.facts.session_id and (entry.session_id is None or (root and not entry.from_root)):
            entry.session_id, entry.from_root = span.facts.session_id, root
        if span.facts.session_id and root:
            start = span.start if span.start is not None else _NEVER
            entry.roots[span.facts.session_id] = min(start, entry.roots.get(span.facts.session_id, _NEVER))
        if span.start is not None:
            entry.start = min(span.start, entry.start if entry.start is not None else span.start)


class OpenTrace:
    """The spans of one trace so far. Messages that several requests repeat are stored once.

    `weight` is the approximate size of the trace in bytes.
    """

    def __init__(self, trace_id: str) -> None:
        self.weight = 0
        self._trace_id = trace_id
        self._spans: dict[str, UnderstoodSpan] = {}
        self._events: dict[str, list[SpanEvent]] = {}
        self._messages: dict[Message, Message] = {}
        self._system: str | None = None
        self._definitions: Definitions | None = None

    def add(self, span: UnderstoodSpan) -> None:
        """Add a span. A later copy of the same span replaces the earlier copy."""
        facts = span.facts
        facts.input = tuple(map(self.keep_once, facts.input)) if facts.input is not None else None
        if facts.system is not None and facts.system != self._system:
            self._system = facts.system
            self.weight += len(facts.system)
        if facts.definitions is not None and not are_same_definitions(facts.definitions, self._definitions):
            self._definitions = facts.definitions
            self.weight += 1_000 * len(facts.definitions)
        facts.system = self._system if facts.system is not None else None
        facts.definitions = self._definitions if facts.definitions is not None else None
        self.weight += span.size + sum(map(reply_size, facts.output or ()))
        self._spans[span.span_id] = span

    def add_event(self, event: SpanEvent) -> None:
        self._events.setdefault(event.span_id, []).append(event)
        self.weight += 1_000 + sum(len(value) for value in event.body.values() if isinstance(value, str))

    def to_events(
        self, session_id: str, session: TracedSession, others_in: str | None = None
    ) -> Iterator[Event | Rejected]:
        """Yield the events of the trace's session, then the events of its sub-agents' sessions.

        If the trace has several sessions, only spans of the session `session_id` are used. `others_in` is
        then the id of the session to which spans without a session belong.
        """
        self._read_events()
        spans = self._spans if others_in is None else self._find_spans_of(session_id, others_in)
        if not spans:
            return
        main, *others = find_lanes(spans)
        roots = [span for span in spans.values() if span.parent_id not in spans]
        yield from session.take(main, min(roots, key=time_key, default=None))
        for lane in others:
            within, parent = lane.within, lane.parent
            if within is not None:
                above = f"{session_id}/{parent.span_id}" if parent is not None else session_id
                below = TracedSession(f"{session_id}/{within.span_id}", above)
                yield from below.take(lane, next(iter(lane.agents), None))

    def _find_spans_of(self, session_id: str, others_in: str) -> dict[str, UnderstoodSpan]:
        sessions: dict[str, str] = {}  # span id → session id
        for span in self._spans.values():
            path: dict[str, UnderstoodSpan] = {}
            above: UnderstoodSpan | None = span
            while above is not None and above.span_id not in sessions and above.span_id not in path:
                path[above.span_id] = above
                above = self._spans.get(above.parent_id or "")
            session_above = sessions.get(above.span_id) if above is not None else None
            named = next((root.facts.session_id for root in reversed(path.values())), None)
            sessions |= dict.fromkeys(path, session_above or named or others_in)
        return {name: span for name, span in self._spans.items() if sessions[name] == session_id}

    def keep_once(self, message: Message) -> Message:
        """Return the stored copy of an equal message. If no copy is stored, store the message.

        An assistant message is replaced by an empty message, because its tool calls are already counted in
        the reply.
        """
        if message.role == "assistant":
            return _REPEATED_REPLY
        stored = self._messages.get(message)
        if stored is None:
            stored = self._messages[message] = message
            texts = (message.text, *(result.content for result in message.results))
            self.weight += 200 + sum(len(text) for text in texts if text is not None)
        return stored

    def _read_events(self) -> None:
        """Add the facts in log records to the spans of these records.

        Log records whose span is not in the file become a new span.
        """
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
            self.add(make_span(raw, collect_facts(raw)))
        self._events = {}


def reply_size(message: Message) -> int:
    """Return the approximate number of characters in a reply. Decoded arguments count as 1,000 characters."""
    sent = [len(call.arguments) if isinstance(call.arguments, str) else 1_000 for call in message.calls]
    return len(message.text or "") + sum(sent)


_REPEATED_REPLY = Message(role="assistant")
