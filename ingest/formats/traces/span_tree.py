"""Sorts the spans of one trace into lanes: a lane is the model calls and tool runs of one agent, by time.

Spans of several instrumentations may be nested: `ai.generateText` contains `ai.generateText.doGenerate`, and
ADK's `call_llm` contains `openai.chat`. A model call counts once, as the innermost span that records it.
Facts that only the outer spans have are copied to that span. In the same way, a tool's span within a span of
the same tool is the same run. Spans inside a tool's run form a separate lane: a sub-agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ingest.formats.spans.span import SpanFacts, SpanKind, UnderstoodSpan

_HANDED_DOWN = ("provider", "model", "system", "definitions", "prompt_name", "prompt_version", "input")
_CALL_FIELDS = (
    "output", "finish", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
)  # fmt: skip
_AROUND = 20  # maximum number of enclosing spans that are checked for a model call
_PREFIXES = ("execute_tool ", "tool.", "running tool: ", "tool: ")


class TraceLane(msgspec.Struct):
    """The model calls and tool runs of one agent, each in order of time.

    `within` is the tool run that contains the agent, or None for the main agent.
    """

    within: UnderstoodSpan | None = None
    parent: UnderstoodSpan | None = None  # the tool run that contains the agent which started `within`
    calls: list[UnderstoodSpan] = []
    runs: list[UnderstoodSpan] = []
    agents: list[UnderstoodSpan] = []


class SpanContext(msgspec.Struct, frozen=True):
    """The agent, the model call and the tool run that contain a span.

    `lane` is the id of the tool run that contains the agent, or None for the main agent. `call` may also be
    an agent's span.
    """

    lane: str | None = None
    call: UnderstoodSpan | None = None
    run: UnderstoodSpan | None = None


class TreeWalk:
    """The state of one pass over the spans of a trace, from the roots down, without recursion."""

    def __init__(self) -> None:
        self.lanes: dict[str | None, TraceLane] = {None: TraceLane()}
        # span id of a model call or agent → the nearest model call or agent that contains it
        self.outer: dict[str, UnderstoodSpan] = {}
        # the reverse of `outer`: span id → the model calls and agents directly inside of that span
        self.inner: dict[str, list[UnderstoodSpan]] = {}

    def visit(self, span: UnderstoodSpan, context: SpanContext) -> SpanContext:
        """Add a span to its agent, and return the context for the children of the span."""
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
    """Return the spans of the main agent, then the spans of each sub-agent.

    Tool runs that contain no model call and no agent span are not sub-agents.
    """
    _name_runs(spans.values())
    join_stages(spans.values())
    walk = TreeWalk()
    walk_tree(spans, walk)
    for lane in walk.lanes.values():
        lane.calls = counted_model_calls(lane, walk)
        lane.runs.sort(key=time_key)
    main, *others = walk.lanes.values()
    return [main, *(lane for lane in others if lane.calls or lane.agents)]


def _name_runs(spans: Iterable[UnderstoodSpan]) -> None:
    """Turn spans of unknown kind into tool runs, if a model called a tool that has the span's name."""
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


def join_stages(spans: Iterable[UnderstoodSpan]) -> None:
    """Merge the spans that an instrumentation wrote for the stages of one operation.

    BeeAI writes one span when an operation starts, one when it succeeds or fails, and one when it is
    finished. The first span gets the facts of the later spans and lasts until the second span begins. The
    later spans are then ignored.
    """
    staged = sorted((span for span in spans if span.facts.stage_of is not None), key=time_key)
    open_stages: dict[str, UnderstoodSpan] = {}
    joined: set[str] = set()
    for span in staged:
        operation, stage = span.facts.stage_of or "", span.facts.stage
        first = open_stages.get(operation)
        if stage == "start" or first is None:
            open_stages[operation] = span
            continue
        facts = span.facts
        first.facts.fill(**{name: getattr(facts, name) for name in (*_HANDED_DOWN, *_CALL_FIELDS)})
        _merge(first, span)
        if first.span_id not in joined:
            first.end = span.start
            joined.add(first.span_id)
        span.kind = SpanKind.OTHER
        facts.output, facts.tool = None, None


def tool_name(span_name: str) -> str:
    """Return the tool name in a span's name: `x` for `execute_tool x`, `tool.x` or `x.tool`."""
    for prefix in _PREFIXES:
        if span_name.startswith(prefix):
            return span_name[len(prefix) :]
    return span_name.removesuffix(".tool")


def walk_tree(spans: Mapping[str, UnderstoodSpan], walk: TreeWalk) -> None:
    """Visit every span once, parents before children, siblings by time.

    In a cycle of parents, the first span in `spans` is visited first.
    """
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
    """Return the start time as a sort key. Spans without a time come last, in the order of the file."""
    start = span.start if span.start is not None else 1 << 63
    return start, span.where.offset, span.where.line


def counted_model_calls(lane: TraceLane, walk: TreeWalk) -> list[UnderstoodSpan]:
    """Return the agent's model calls in order of time, each once.

    If spans of model calls are nested, the innermost span is returned. An agent's span with messages is
    returned if it contains no span of a model call. Missing facts are copied from the enclosing spans.
    """
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
    """Fill missing facts of a model call's span from the spans that contain it.

    Reply, token counts and error are copied only from spans that contain no further model call.
    """
    alone, inner = True, span
    for _ in range(_AROUND):
        outer = walk.outer.get(inner.span_id)
        if outer is None:
            return
        alone = alone and outer.kind is SpanKind.INFERENCE and len(walk.inner[outer.span_id]) == 1
        names = (*_HANDED_DOWN, *_CALL_FIELDS) if alone else _HANDED_DOWN
        if alone and makes_calls(outer.facts) and not makes_calls(span.facts):
            # The inner span contains only the text of the reply, and no calls. In traces of Agno, the text is
            # "None".
            span.facts.output, span.facts.finish = outer.facts.output, outer.facts.finish
        span.facts.fill(**{name: getattr(outer.facts, name) for name in names})
        if alone and span.error is None:
            span.error = outer.error
        inner = outer


def makes_calls(facts: SpanFacts) -> bool:
    return any(message.calls for message in facts.output or ())


def _merge(run: UnderstoodSpan, again: UnderstoodSpan) -> None:
    """Add to `run` the facts of a second span of the same tool run, for example the server's span."""
    run.facts.fill(call_id=again.facts.call_id, arguments=again.facts.arguments, result=again.facts.result)
    if run.error is None:
        run.error = again.error
