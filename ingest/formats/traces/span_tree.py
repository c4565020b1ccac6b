"""Finds in the spans of one trace the lanes: the model calls and tool runs of each agent, in order of time.

Instrumentations stand inside one another: `ai.generateText` around `ai.generateText.doGenerate`, ADK's
`call_llm` around `openai.chat`. A model call counts once, as the innermost span that tells of it; what only
the outer ones know is taken over. Likewise a tool that ran inside of a span of the same tool ran once. What
happens inside of a tool's run is a lane of its own: a sub-agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ingest.formats.spans.span import SpanKind, UnderstoodSpan

_HANDED_DOWN = ("provider", "model", "system", "definitions", "prompt_name", "prompt_version", "input")
_OF_THE_ONE_CALL = ("output", "finish", "input_tokens", "output_tokens")
_AROUND = 20  # spans around a model call that are asked
_PREFIXES = ("execute_tool ", "tool.", "running tool: ", "tool: ")


class TraceLane(msgspec.Struct):
    """The model calls and tool runs of one agent, each in order of time. `within` is the tool that ran it."""

    within: UnderstoodSpan | None = None
    parent: UnderstoodSpan | None = None  # the tool whose lane this one's tool is in
    calls: list[UnderstoodSpan] = []
    runs: list[UnderstoodSpan] = []
    agents: list[UnderstoodSpan] = []


class SpanContext(msgspec.Struct, frozen=True):
    """What a span finds around it: its lane's key, the model call and the tool's run it is inside of."""

    lane: str | None = None
    call: UnderstoodSpan | None = None
    run: UnderstoodSpan | None = None


class TreeWalk:
    """The state of one pass from the roots down; nothing recurses, however deep a trace is."""

    def __init__(self) -> None:
        self.lanes: dict[str | None, TraceLane] = {None: TraceLane()}
        self.outer: dict[str, UnderstoodSpan] = {}  # span id of a call → the nearest call or agent around it
        self.inner: dict[str, list[UnderstoodSpan]] = {}  # the other way round

    def visit(self, span: UnderstoodSpan, context: SpanContext) -> SpanContext:
        """Return what the children of this span find around them."""
        lane = self.lanes[context.lane]
        if span.kind is SpanKind.EXECUTION:
            if context.run is not None and context.run.facts.tool == span.facts.tool:
                _merge(context.run, span)
                return context
            lane.runs.append(span)
            within = TraceLane(within=span, parent=lane.within)
            self.lanes[span.span_id] = within
            return SpanContext(lane=span.span_id, run=span)
        if span.kind in (SpanKind.INFERENCE, SpanKind.AGENT):
            if context.call is not None:
                self.outer[span.span_id] = context.call
                self.inner.setdefault(context.call.span_id, []).append(span)
            (lane.calls if span.kind is SpanKind.INFERENCE else lane.agents).append(span)
            return SpanContext(lane=context.lane, call=span)
        return context


def find_lanes(spans: Mapping[str, UnderstoodSpan]) -> list[TraceLane]:
    """Return the lanes that have calls or agents; the main one first."""
    _name_runs(spans.values())
    walk = TreeWalk()
    walk_tree(spans, walk)
    for lane in walk.lanes.values():
        lane.calls = counted_model_calls(lane, walk)
        lane.runs.sort(key=time_key)
    main, *others = walk.lanes.values()
    return [main, *(lane for lane in others if lane.calls or lane.agents)]


def _name_runs(spans: Iterable[UnderstoodSpan]) -> None:
    """Mark as tools' runs the spans that no convention knows and that have the name of a tool that was
    called.
    """
    named = [span for span in spans if span.kind is SpanKind.OTHER and span.name]
    if not named:
        return
    called = {
        call.name
        for span in spans
        for message in span.facts.output or ()
        for call in message.calls
        if call.name
    }
    for span in named:
        name = tool_name(span.name)
        if name in called:
            span.kind = SpanKind.EXECUTION
            span.facts.fill(tool=name, result=span.facts.answered)


def tool_name(span_name: str) -> str:
    """Return the tool in the name of a span: `execute_tool x`, `tool.x`, `x.tool`."""
    for prefix in _PREFIXES:
        if span_name.startswith(prefix):
            return span_name[len(prefix) :]
    return span_name.removesuffix(".tool")


def walk_tree(spans: Mapping[str, UnderstoodSpan], walk: TreeWalk) -> None:
    """Visit every span once, parents before children, siblings by time; a circle begins at its earliest."""
    children: dict[str | None, list[UnderstoodSpan]] = {}
    for span in sorted(spans.values(), key=time_key):
        parent = span.parent_id if span.parent_id in spans and span.parent_id != span.span_id else None
        children.setdefault(parent, []).append(span)
    seen: set[str] = set()
    for start in (*children.get(None, ()), *spans.values()):
        waiting = [(start, SpanContext())]
        while waiting:
            span, context = waiting.pop()
            if span.span_id not in seen:
                seen.add(span.span_id)
                inside = walk.visit(span, context)
                waiting.extend((child, inside) for child in reversed(children.get(span.span_id, ())))


def time_key(span: UnderstoodSpan) -> tuple[int, int, int]:
    """Return a sort key: spans without a time keep the order of the file, behind those that have one."""
    start = span.start if span.start is not None else 1 << 63
    return start, span.where.offset, span.where.line


def counted_model_calls(lane: TraceLane, walk: TreeWalk) -> list[UnderstoodSpan]:
    """Return the model calls that count: the innermost, and agents of which only their messages are known."""
    candidates = [*lane.calls, *(agent for agent in lane.agents if agent.facts.output)]
    around: set[str] = set()
    for span in candidates:
        outer = walk.outer.get(span.span_id)
        while outer is not None and outer.span_id not in around:
            around.add(outer.span_id)
            outer = walk.outer.get(outer.span_id)
    standing = sorted((span for span in candidates if span.span_id not in around), key=time_key)
    for span in standing:
        copy_facts(span, walk)
    return standing


def copy_facts(span: UnderstoodSpan, walk: TreeWalk) -> None:
    """Copy what the spans around a model call know of it and it does not."""
    alone, inner = True, span
    for _ in range(_AROUND):
        outer = walk.outer.get(inner.span_id)
        if outer is None:
            return
        alone = alone and outer.kind is SpanKind.INFERENCE and len(walk.inner[outer.span_id]) == 1
        names = (*_HANDED_DOWN, *_OF_THE_ONE_CALL) if alone else _HANDED_DOWN
        span.facts.fill(**{name: getattr(outer.facts, name) for name in names})
        if alone and span.error is None:
            span.error = outer.error
        inner = outer


def _merge(run: UnderstoodSpan, again: UnderstoodSpan) -> None:
    """Merge a second span of the same run: client and server of a tool, say."""
    run.facts.fill(call_id=again.facts.call_id, arguments=again.facts.arguments, result=again.facts.result)
    if run.error is None:
        run.error = again.error
