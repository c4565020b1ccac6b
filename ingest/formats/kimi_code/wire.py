"""The records of one Kimi Code agent in file order in, turns, steps, calls and results out."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.events import (
    Event,
    FaultLayer,
    PromptSeen,
    ResultSeen,
    Seen,
    SessionSeen,
    Strategy,
    ToolsOffered,
    Where,
)
from ingest.fields import epoch_ms, number, table, tables, text, whole
from ingest.records import Record
from ingest.shapes.chat import content_text
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue, decoded
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in

_HELD = 1_000
_TEXTS: Texts = (
    (FaultLayer.SYNTAX, re.compile(r'Invalid args for tool "[^"\n]{1,200}":.{0,400}(?:JSON|Unexpected)')),
    (FaultLayer.SCHEMA, re.compile(r'Invalid args for tool "|Tool "[^"\n]{1,200}" not found')),
    (
        FaultLayer.REFUSED,
        re.compile(r"(?:The )?[Uu]ser (?:rejected|denied|cancelled)|Tool call (?:was )?rejected"),
    ),
)


@dataclass(slots=True)
class _Step:
    where: Where
    ts: datetime | None
    texts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[ResultSeen] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """True when more is held than any model call makes."""
        return len(self.texts) + len(self.calls) + len(self.results) >= _HELD


class Agent:
    """One file: one agent."""

    def __init__(self, identity: str) -> None:
        self._dialogue = Dialogue(identity)
        self._step: _Step | None = None
        self._model: dict[str, str | None] = {}
        self._declined: set[str] = set()  # calls of the turn that the user said no to
        self._prompt: str | None = None
        self._active: set[str] = set()  # the names of the tools that the agent may use
        self._where = Where(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        value = record.value
        kind = text(value.get("type")) or ""
        event = table(value.get("event"))
        if kind == "context.append_loop_event":
            kind, value = text(event.get("type")) or "", event
        rule = _RULES.get(kind)
        if rule is None:
            return ()
        self._where, self._ts = record.where, epoch_ms(record.value.get("time"))
        return rule(self, value)

    def finish(self) -> Iterator[Event]:
        yield from self._close_step({})
        yield from self._dialogue.end()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    # --- the session ---------------------------------------------------------------------------

    def _metadata(self, value: Mapping[str, Any]) -> Iterator[Event]:
        self._ts = epoch_ms(value.get("created_at"))
        yield SessionSeen(**self._here, harness="kimi_code")

    def _config(self, value: Mapping[str, Any]) -> Iterator[Event]:
        words = text(value.get("systemPrompt"))
        if words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**self._here, text=words)

    def _activated(self, value: Mapping[str, Any]) -> Iterable[Event]:
        names = value.get("names")
        self._active = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        return ()

    def _tools(self, value: Mapping[str, Any]) -> Iterator[Event]:
        definitions = tables(value.get("tools"))
        if definitions and self._active <= {text(each.get("name")) for each in definitions}:
            yield ToolsOffered(**self._here, definitions=tuple(definitions))

    def _request(self, value: Mapping[str, Any]) -> Iterable[Event]:
        self._model = {name: text(value.get(name)) for name in ("provider", "model")}
        return ()

    # --- turns ---------------------------------------------------------------------------------

    def _asked(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        self._declined.clear()
        self._dialogue.ask(self._where, self._ts, content_text(value.get("input")))

    def _cancelled(self, _value: Mapping[str, Any]) -> Iterator[Event]:
        return self._ended({"reason": CANCELLED})

    def _ended(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        reason = text(value.get("reason"))
        status = CANCELLED if reason in (CANCELLED, "canceled", "aborted") else reason
        ok = False if status in (ERROR, "failed") else None
        latency = number(value.get("durationMs"))
        self._dialogue.stopped(self._where, self._ts, status, ok=ok, latency_ms=latency)
        yield from self._dialogue.end()

    # --- steps ---------------------------------------------------------------------------------

    def _begun(self, _value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        self._step = _Step(self._where, self._ts)

    def _part(self, value: Mapping[str, Any]) -> Iterator[Event]:
        part = table(value.get("part"))
        if part.get("type") == "text":
            step = yield from self._open_step()
            step.texts.append(text(part.get("text")) or "")

    def _called(self, value: Mapping[str, Any]) -> Iterator[Event]:
        step = yield from self._open_step()
        step.calls.append(
            {
                "where": self._where,
                "ts": self._ts,
                **decoded(value.get("args")),
                "tool": text(value.get("name")),
                "tool_call_id": text(value.get("toolCallId")),
                "strategy": Strategy.TOOL_USE,
                "syntax_seen": Seen.FAILURES,
                "schema_seen": Seen.FAILURES,
            }
        )

    def _declines(self, value: Mapping[str, Any]) -> Iterable[Event]:
        call_id = text(value.get("toolCallId"))
        if call_id is not None and table(value.get("result")).get("decision") in ("rejected", "denied"):
            self._declined.add(call_id)
        return ()

    def _resulted(self, value: Mapping[str, Any]) -> Iterator[Event]:
        call_id, told = text(value.get("toolCallId")), table(value.get("result"))
        content = content_text(told.get("output"))
        flag = PASSED
        if call_id in self._declined:
            flag = failed(content or "", FaultLayer.REFUSED)
        elif told.get("isError") is True:
            flag = failed(content or "", layer_in(content or "", _TEXTS) or FaultLayer.EXECUTION)
        result = ResultSeen(
            **self._here,
            tool_call_id=call_id,
            content=content,
            **flag.fields,
        )
        if self._step is not None and self._step.is_full:
            yield from self._close_step({})
        if self._step is None:
            yield result
        else:
            self._step.results.append(result)

    def _finished(self, value: Mapping[str, Any]) -> Iterator[Event]:
        return self._close_step(value)

    def _open_step(self) -> Generator[Event, None, _Step]:
        if self._step is not None and self._step.is_full:
            yield from self._close_step({})
        if self._step is None:
            self._step = _Step(self._where, self._ts)
        return self._step

    def _close_step(self, told: Mapping[str, Any]) -> Iterator[Event]:
        """`told`: the record of the step's end, with its tokens; empty where there is none."""
        step, self._step = self._step, None
        usage = table(told.get("usage"))
        if step is None or not (step.texts or step.calls or usage):
            return
        yield from self._dialogue.step(
            step.where,
            step.ts,
            "\n".join(step.texts),
            **self._model,
            input_tokens=_input_tokens(usage),
            output_tokens=whole(usage.get("output")) or None,
            latency_ms=_latency(told),
            answers=told.get("finishReason") == "end_turn" and not step.calls,
        )
        for call in step.calls:
            yield self._dialogue.call(**call)
        yield from step.results
        if told and not step.calls:
            self._dialogue.stopped(self._where, self._ts)  # a step is dated by its beginning

    @property
    def _here(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens the model read, from the cache or not; zeros are no measurement."""
    names = ("inputOther", "inputCacheRead", "inputCacheCreation")
    return sum(whole(usage.get(name)) or 0 for name in names) or None


def _latency(told: Mapping[str, Any]) -> float | None:
    """Milliseconds from the request to the last token."""
    waited, streamed = number(told.get("llmFirstTokenLatencyMs")), number(told.get("llmStreamDurationMs"))
    return None if waited is None or streamed is None else waited + streamed


_RULES: Mapping[str, Callable[[Agent, Mapping[str, Any]], Iterable[Event]]] = {
    "metadata": Agent._metadata,
    "config.update": Agent._config,
    "profile.bind": Agent._config,
    "tools.set_active_tools": Agent._activated,
    "llm.tools_snapshot": Agent._tools,
    "llm.request": Agent._request,
    "turn.prompt": Agent._asked,
    "turn.cancel": Agent._cancelled,
    "turn.ended": Agent._ended,
    "permission.record_approval_result": Agent._declines,
    "step.begin": Agent._begun,
    "content.part": Agent._part,
    "tool.call": Agent._called,
    "tool.result": Agent._resulted,
    "step.end": Agent._finished,
}
