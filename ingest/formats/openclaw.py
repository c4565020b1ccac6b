"""OpenClaw telemetry: one event a line, as the plugin knostic/openclaw-telemetry and its forks write them.

The sessions themselves, which OpenClaw keeps in pi's shape, are read by the format `pi`. Sources:
knostic/openclaw-telemetry; a sample of meridianlabs-ai/inspect_scout (2026-06).

**Shape.** `{type, sessionKey, agentId, ts}` with `agent.start` (`prompt`, sometimes `messages`),
`agent.end` (`success`, `error`), `tool.start` (`toolName`, `params`), `tool.end` (`success`, `error`,
`durationMs`), `llm.usage` (`provider`, `model`), `message.in`, `message.out`. Types that are not named here
pass silently.

**Sessions.** One file holds all agents of a gateway. A session is one `sessionKey` of one file, since every
gateway has the same keys; what came over a direct channel (`agent:main:telegram:default:direct:…`) belongs
to the agent's main session, under whose key its prompts are written. `agent:main:subagent:<id>` is a
sub-agent of the main one.

**Turns.** From one `agent.start` to the next of its session, or to `agent.end`. The model's answers are not
logged, so a turn has no steps; calls that began together before one ended are of one model call.

**Traps.**
- `agent.start` is written twice, the second time with all messages of the session so far. Those repeat what
  earlier events told; only the model is read from them.
- Calls have no ids: an end belongs to the first call of its tool that has none.
- Not every writer adds a time.

**Cannot tell.** Results, answers, tool definitions, the model's own text of arguments, who made a call when
two sessions share a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.events import CallMade, Event, ResultSeen, SessionSeen, Strategy, TurnEnded, TurnStarted, Where
from ingest.fields import epoch_ms, moment, number, tables, text
from ingest.formats import About, Source, Translator
from ingest.records import Record
from ingest.shapes.chat import Flag
from ingest.shapes.dialogue import ERROR, decoded
from ingest.shapes.verdicts import PASSED, failed

SOURCE = Source(
    name="openclaw",
    title="OpenClaw telemetry",
    raw_arguments="no: the decoded object",
    argument_failures="no",
    error_flag="yes: success; the result itself is not logged",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: per session, as soon as an event names it",
    turn_end="partly: agent.end where it is written, with the log's own verdict",
    cannot_tell="The model's answers are not logged, so whether a turn came to one is unknown.",
)

_LANES = 10_000  # sessions that are known at the same time; one that was forgotten begins a new turn
_TYPES = frozenset({"tool.start", "tool.end", "agent.start", "agent.end", "llm.usage"})


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(text(record.get("type")) in _TYPES and "sessionKey" in record for record in head)


def translator(about: About) -> Translator:
    return _Telemetry(about.identity)


@dataclass(slots=True)
class _Lane:
    """One session. `step`: model calls seen so far in the turn; `ended`: a call of the newest has ended."""

    session_id: str
    model: str | None = None
    prompt: str | None = None
    open: bool = False
    step: int = -1
    ended: bool = True


class _Telemetry:
    """One file: the sessions of a gateway."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._lanes: dict[str, _Lane] = {}
        self._where = Where(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterator[Event]:
        event = record.value
        rule = _RULES.get(text(event.get("type")) or "")
        if rule is None:
            return
        self._where = record.where
        self._ts = moment(event.get("ts")) or epoch_ms(event.get("ts"))
        key = _session_of(text(event.get("sessionKey")) or "")
        lane = self._lanes.get(key)
        if lane is None:
            if len(self._lanes) >= _LANES:
                del self._lanes[next(iter(self._lanes))]
            lane = self._lanes[key] = _Lane(f"{self._identity}/{key}")
            agent, is_sub_agent, _ = lane.session_id.partition(":subagent:")
            parent = f"{agent}:main" if is_sub_agent else None
            yield SessionSeen(**self._at(lane), harness="openclaw", parent_session_id=parent)
        yield from rule(self, lane, event)

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    def _agent_start(self, lane: _Lane, event: Mapping[str, Any]) -> Iterator[Event]:
        said = [message for message in tables(event.get("messages")) if message.get("role") == "assistant"]
        if said:
            yield from self._served(lane, said[-1])
        prompt = text(event.get("prompt"))
        if lane.open and lane.step < 0 and lane.prompt == prompt:
            return
        if lane.open:
            yield TurnEnded(**self._at(lane))
        lane.prompt, lane.open, lane.step, lane.ended = prompt, True, -1, True
        yield TurnStarted(**self._at(lane), text=prompt)

    def _agent_end(self, lane: _Lane, event: Mapping[str, Any]) -> Iterator[Event]:
        ok, latency = event.get("success"), number(event.get("durationMs"))
        ok = ok if isinstance(ok, bool) else None
        status = None if ok is None else "success" if ok else ERROR
        yield TurnEnded(**self._at(lane), status=status, recorded_ok=ok, latency_ms=latency)
        lane.open = False

    def _tool_start(self, lane: _Lane, event: Mapping[str, Any]) -> Iterator[Event]:
        if not lane.open:
            lane.open, lane.step, lane.ended = True, -1, True
            yield TurnStarted(**self._at(lane))
        if lane.ended:
            lane.step, lane.ended = lane.step + 1, False
        yield CallMade(
            **self._at(lane),
            **decoded(event.get("params")),
            tool=text(event.get("toolName")),
            step=lane.step,
            strategy=Strategy.TOOL_USE,
        )

    def _tool_end(self, lane: _Lane, event: Mapping[str, Any]) -> Iterator[Event]:
        lane.ended = True
        reason, success = text(event.get("error")), event.get("success")
        flag = PASSED if success is True else failed(reason or "") if success is False else Flag()
        yield ResultSeen(
            **self._at(lane),
            tool=text(event.get("toolName")),
            content=reason,
            latency_ms=number(event.get("durationMs")),
            **flag.fields,
        )

    def _usage(self, lane: _Lane, event: Mapping[str, Any]) -> Iterator[Event]:
        return self._served(lane, event)

    def _served(self, lane: _Lane, teller: Mapping[str, Any]) -> Iterator[Event]:
        provider, model = text(teller.get("provider")), text(teller.get("model"))
        if model is not None and model != lane.model:
            lane.model = model
            yield SessionSeen(**self._at(lane), provider=provider, model=model)

    def _at(self, lane: _Lane) -> dict[str, Any]:
        return {"session_id": lane.session_id, "where": self._where, "ts": self._ts}


def _session_of(key: str) -> str:
    """The session of a key: direct channels lead to the agent's main session."""
    agent = ":".join(key.split(":")[:2])
    return f"{agent}:main" if ":direct:" in key else key


_RULES: Mapping[str, Callable[[_Telemetry, _Lane, Mapping[str, Any]], Iterator[Event]]] = {
    "agent.start": _Telemetry._agent_start,
    "agent.end": _Telemetry._agent_end,
    "tool.start": _Telemetry._tool_start,
    "tool.end": _Telemetry._tool_end,
    "llm.usage": _Telemetry._usage,
}
