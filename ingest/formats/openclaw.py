"""OpenClaw telemetry: one event per line, written by the plugin knostic/openclaw-telemetry and its forks.

OpenClaw's own session files have pi's format and are read by the format `pi`.

**Files.** Sources: knostic/openclaw-telemetry; a sample of meridianlabs-ai/inspect_scout (2026-06).

**Fields.** `{type, sessionKey, agentId, ts}` with `agent.start` (`prompt`, sometimes `messages`), `agent.end`
(`success`, `error`, sometimes `messages`, `model`), `tool.start` (`toolName`, `params`), `tool.end`
(`success`, `error`, `durationMs`), `llm.usage` (`provider`, `model`), `message.in`, `message.out`. Other
types are skipped.

**Sessions.** One file contains all agents of a gateway. A session is one `sessionKey` in one file, because
every gateway uses the same keys. Events of a direct channel (`agent:main:telegram:default:direct:…`) belong
to the agent's main session, which contains their prompts. `agent:main:subagent:<id>` is a sub-agent of the
main agent.

**Turns.** A turn lasts from one `agent.start` to the next one of its session, or to `agent.end`. The model's
answers are not events, so a turn has steps only if later messages repeat it. Calls that started before any of
them ended belong to one model reply.

**Rules.**
- `agent.start` is written twice, the second time with all messages of the session so far, in pi's format.
  These messages add to the previous turn what its events lack: call ids, times, results, tokens and the
  answer. The events of a turn therefore wait for the next turn.
- Calls have no ids. A `tool.end` belongs to the first open call of its tool.

**Limits.** At most 10,000 events wait for the next turn of their session. Beyond this, all events are used
unchanged.

**Side files.** `sessions.json`, the list of sessions, contains no calls.

**Not in the log.** Tool definitions, the model's own argument text, and which session made a call if two
sessions share a key. Results and answers are missing in the last turn of a session and in sub-agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.decoding.fields import (
    count_input_parts,
    read_count,
    read_epoch_ms,
    read_number,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import (
    CallMade,
    Event,
    LogLine,
    ResultSeen,
    SessionSeen,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
    TurnStatus,
)
from ingest.formats.conversations.agent_session import decoded_argument_fields
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="openclaw",
    title="OpenClaw telemetry",
    raw_arguments="no: the decoded object",
    argument_failures="no",
    error_flag="yes: success; the result itself where a later agent.start repeats it",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: per session, as soon as an event names it",
    turn_end="partly: agent.end where it is written, with the log's own verdict",
    cannot_tell="The answer of a turn is in the agent.start of the next one, so the last turn has none.",
)

_SIDE_FILE = compile_regex(r"(?:.*[/!])?agents/[^/]+/sessions/sessions\.json")
_LANES = 10_000  # maximum number of sessions in memory; a removed session that continues begins a new turn
_MAX_WAITING = 10_000  # maximum number of events that wait for the next turn
_TYPES = frozenset({"tool.start", "tool.end", "agent.start", "agent.end", "llm.usage"})
Message = Mapping[str, Any]


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(read_text(record.get("type")) in _TYPES and "sessionKey" in record for record in head)


def side_file(about: About) -> str | None:
    """Describe a file that OpenClaw keeps next to its sessions. Return None for other files."""
    return "a side file of OpenClaw" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return _Telemetry(about.identity)


class _TelemetrySession(msgspec.Struct):
    """The state of one session.

    `step` is the index of the turn's latest model reply, or -1 before the first reply. `ended` is True when a
    tool call of that reply has ended. `turn` contains the events of the current turn. `before` contains the
    events of the previous turn, which wait for the messages of that turn.
    """

    session_id: str
    model: str | None = None
    prompt: str | None = None
    open: bool = False
    step: int = -1
    ended: bool = True
    turn: list[Event] = []
    before: list[Event] = []

    def release(self) -> Iterator[Event]:
        """Yield all waiting events unchanged and remove them."""
        yield from self.before
        yield from self.turn
        self.before, self.turn = [], []


class _Telemetry:
    """Translator of one file, which contains the sessions of a gateway."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._lanes: dict[str, _TelemetrySession] = {}
        self._waiting_count = 0  # estimate of the number of waiting events, never too low
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterator[Event]:
        event = record.value
        rule = _RULES.get(read_text(event.get("type")) or "")
        if rule is None:
            return
        self._where = record.where
        self._ts = read_time(event.get("ts")) or read_epoch_ms(event.get("ts"))
        key = _session_of_key(read_text(event.get("sessionKey")) or "")
        lane = self._lanes.get(key)
        if lane is None:
            if len(self._lanes) >= _LANES:
                yield from self._lanes.pop(next(iter(self._lanes))).release()
            lane = self._lanes[key] = _TelemetrySession(f"{self._identity}/{key}")
            agent, is_sub_agent, _ = lane.session_id.partition(":subagent:")
            parent = f"{agent}:main" if is_sub_agent else None
            yield SessionSeen(**self._event_place(lane), harness="openclaw", parent_session_id=parent)
        if rule is not _Telemetry._take_agent_start:
            yield from lane.before
            lane.before = []
        yield from rule(self, lane, event)

    def finish(self) -> Iterator[Event]:
        for lane in self._lanes.values():
            yield from lane.release()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _keep(self, lane: _TelemetrySession, event: Event) -> Iterator[Event]:
        lane.turn.append(event)
        self._waiting_count += 1
        if self._waiting_count > _MAX_WAITING:
            self._waiting_count = 0
            yield from self.finish()

    def _take_agent_start(self, lane: _TelemetrySession, event: Mapping[str, Any]) -> Iterator[Event]:
        prompt, messages = read_text(event.get("prompt")), read_objects(event.get("messages"))
        if not (lane.open and lane.step < 0 and lane.prompt == prompt):
            yield from self._begin_next_turn(lane, prompt)
        replies = [message for message in messages if message.get("role") == "assistant"]
        if replies:
            yield from self._take_model_name(lane, replies[-1])
            yield from _add_message_facts(lane.before, messages)
            lane.before = []

    def _begin_next_turn(self, lane: _TelemetrySession, prompt: str | None) -> Iterator[Event]:
        if lane.open:
            yield from self._keep(lane, TurnEnded(**self._event_place(lane)))
        yield from lane.before
        lane.before, lane.turn = lane.turn, []
        lane.prompt, lane.open, lane.step, lane.ended = prompt, True, -1, True
        yield from self._keep(lane, TurnStarted(**self._event_place(lane), text=prompt))

    def _take_agent_end(self, lane: _TelemetrySession, event: Mapping[str, Any]) -> Iterator[Event]:
        ok, latency = event.get("success"), read_number(event.get("durationMs"))
        ok = ok if isinstance(ok, bool) else None
        status = None if ok is None else "success" if ok else TurnStatus.ERROR.value
        end = TurnEnded(**self._event_place(lane), status=status, recorded_ok=ok, latency_ms=latency)
        lane.open = False
        messages = read_objects(event.get("messages"))
        replies = [message for message in messages if message.get("role") == "assistant"]
        yield from self._take_model_name(lane, replies[-1] if replies else event)
        yield from self._keep(lane, end)
        if replies:
            yield from _add_message_facts(lane.turn, messages)
            lane.turn = []

    def _take_tool_start(self, lane: _TelemetrySession, event: Mapping[str, Any]) -> Iterator[Event]:
        if not lane.open:
            yield from self._begin_next_turn(lane, None)
        if lane.ended:
            lane.step, lane.ended = lane.step + 1, False
        call = CallMade(
            **self._event_place(lane),
            **decoded_argument_fields(event.get("params")),
            tool=read_text(event.get("toolName")),
            step=lane.step,
            strategy=Strategy.TOOL_USE,
        )
        yield from self._keep(lane, call)

    def _take_tool_end(self, lane: _TelemetrySession, event: Mapping[str, Any]) -> Iterator[Event]:
        lane.ended = True
        reason, success = read_text(event.get("error")), event.get("success")
        flag = PASSED if success is True else failed_flag(reason or "") if success is False else ResultFlag()
        result = ResultSeen(
            **self._event_place(lane),
            tool=read_text(event.get("toolName")),
            content=reason,
            latency_ms=read_number(event.get("durationMs")),
            **flag.fields,
        )
        return self._keep(lane, result)

    def _take_usage(self, lane: _TelemetrySession, event: Mapping[str, Any]) -> Iterator[Event]:
        return self._take_model_name(lane, event)

    def _take_model_name(self, lane: _TelemetrySession, teller: Mapping[str, Any]) -> Iterator[Event]:
        provider, model = read_text(teller.get("provider")), read_text(teller.get("model"))
        if model is not None and model != lane.model:
            lane.model = model
            yield SessionSeen(**self._event_place(lane), provider=provider, model=model)

    def _event_place(self, lane: _TelemetrySession) -> dict[str, Any]:
        return {"session_id": lane.session_id, "where": self._where, "ts": self._ts}


def _session_of_key(key: str) -> str:
    """Return the session key. For a direct channel, return the key of the agent's main session."""
    agent = ":".join(key.split(":")[:2])
    return f"{agent}:main" if ":direct:" in key else key


_RULES: Mapping[str, Callable[[_Telemetry, _TelemetrySession, Mapping[str, Any]], Iterator[Event]]] = {
    "agent.start": _Telemetry._take_agent_start,
    "agent.end": _Telemetry._take_agent_end,
    "tool.start": _Telemetry._take_tool_start,
    "tool.end": _Telemetry._take_tool_end,
    "llm.usage": _Telemetry._take_usage,
}


def _add_message_facts(events: Sequence[Event], messages: Sequence[Message]) -> Iterator[Event]:
    """Yield the events of a turn, with ids, times, texts, tokens and results added from `messages`.

    The events stay unchanged if the last user message is not the turn's prompt or if its tool calls differ.
    No steps are added if the last message contains a tool call, because the turn's answer is then unknown.
    """
    repeated = _RepeatedMessages(messages)
    calls = [event for event in events if isinstance(event, CallMade)]
    sent = [(call.tool, call.arguments) for call in calls]
    first = events[0] if events else None
    if not isinstance(first, TurnStarted) or first.text != repeated.prompt or sent != repeated.sent:
        yield from events
        return
    of_call = {id(call): at for at, call in enumerate(calls)}
    answered = bool(repeated.replies) and not _find_calls(repeated.replies[-1])
    waiting = list(repeated.ids)
    for event in events:
        if isinstance(event, TurnStarted):
            yield replace(event, ts=event.ts or repeated.prompt_time)
        elif isinstance(event, CallMade):
            at = of_call[id(event)]
            if answered and (at == 0 or repeated.steps[at] != repeated.steps[at - 1]):
                yield repeated.make_step(repeated.steps[at], event)
            yield repeated.make_call(at, event)
        elif isinstance(event, ResultSeen):
            yield repeated.make_result(event, waiting)
        elif isinstance(event, TurnEnded) and answered:
            yield repeated.make_step(len(repeated.replies) - 1, event)
            yield replace(
                event,
                ts=event.ts or _message_time(repeated.replies[-1]),
                answer=_join_words(repeated.replies[-1]),
            )
        else:
            yield event


class _RepeatedMessages:
    """The tool calls, results and texts in the messages since the last user message."""

    def __init__(self, messages: Sequence[Message]) -> None:
        question_at = max(
            (at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1
        )
        since = messages[question_at + 1 :]
        self.prompt = join_content(messages[question_at].get("content")) if question_at >= 0 else None
        self.prompt_time = _message_time(messages[question_at]) if question_at >= 0 else None
        self.replies = [message for message in since if message.get("role") == "assistant"]
        self.results = {
            read_text(message.get("toolCallId")): message
            for message in since
            if message.get("role") == "toolResult"
        }
        made = [(step, call) for step, reply in enumerate(self.replies) for call in _find_calls(reply)]
        self.steps = [step for step, _ in made]
        self.sent = [(read_text(call.get("name")), call.get("arguments")) for _, call in made]
        self.ids = [(read_text(call.get("name")), read_text(call.get("id"))) for _, call in made]

    def make_step(self, number: int, at: Event) -> StepMade:
        reply = self.replies[number]
        usage = read_object(reply.get("usage"))
        return StepMade(
            session_id=at.session_id,
            where=at.where,
            ts=_message_time(reply),
            step=number,
            text=_join_words(reply) or None,
            provider=read_text(reply.get("provider")),
            model=read_text(reply.get("model")),
            strategy=Strategy.TOOL_USE if _find_calls(reply) else None,
            **count_input_parts(*map(usage.get, ("input", "cacheRead", "cacheWrite"))),
            output_tokens=read_count(usage.get("output")) or None,
        )

    def make_call(self, at: int, event: CallMade) -> CallMade:
        call_id = self.ids[at][1]
        ts = event.ts or _message_time(self.replies[self.steps[at]])
        return replace(event, step=self.steps[at], tool_call_id=call_id, key=unique_id(call_id), ts=ts)

    def make_result(self, event: ResultSeen, waiting: list[tuple[str | None, str | None]]) -> ResultSeen:
        """Return the result with the id of its tool call.

        Text and time are added if the messages repeat the result. `waiting` contains (tool, id) pairs of
        calls without a result. The first pair with the same tool gives the id and is removed.
        """
        place = next((at for at, (tool, _) in enumerate(waiting) if tool == event.tool), None)
        call_id = waiting.pop(place)[1] if place is not None else None
        result = self.results.get(call_id) if call_id is not None else None
        if result is None:
            return replace(event, tool_call_id=call_id)
        content = event.content or join_content(result.get("content"))
        return replace(event, tool_call_id=call_id, content=content, ts=event.ts or _message_time(result))


def _find_calls(reply: Message) -> list[dict[str, Any]]:
    return [block for block in read_objects(reply.get("content")) if block.get("type") == "toolCall"]


def _join_words(reply: Message) -> str:
    blocks = read_objects(reply.get("content"))
    return "\n".join(read_text(block.get("text")) or "" for block in blocks if block.get("type") == "text")


def _message_time(message: Message) -> Any:
    return read_epoch_ms(message.get("timestamp"))
