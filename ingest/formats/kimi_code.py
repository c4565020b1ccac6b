"""Kimi Code (Kimi CLI): one record per line, `sessions/<workspace>/<session>/agents/<agent>/wire.jsonl`.

**Files.** Protocol 1.4 (2026-07). Sources: MoonshotAI/kimi-code; samples of jazzyalex/agent-sessions.

**Fields.** First `{type: metadata, protocol_version, created_at}`, then records with `type` and `time`
(milliseconds): `config.update` and `profile.bind` (`systemPrompt`), `llm.tools_snapshot` (`tools`: the
definitions), `llm.request` (`provider`, `model`), `turn.prompt`, `turn.cancel`, `turn.ended`,
`context.append_loop_event` with `event.type` step.begin, content.part, tool.call, tool.result, step.end
(`usage`, `finishReason`, `llmFirstTokenLatencyMs`, `llmStreamDurationMs`). Other types are skipped.

**Sessions.** A file contains one agent. It names neither the session nor the parent of a sub-agent; these are
read from the folder names and from `state.json`.

**Turns.** An answered `turn.prompt` begins a turn. `turn.steer` belongs to the turn that it interrupts.

**Rules.**
- A failed request is repeated (`attempt` 2/10). A step without content made no answer and is not counted.
- Results may come before the step's end, which has the token counts. Steps are kept back until then.
- `context.append_message` repeats the prompts. `context.apply_compaction` and `context.undo` change only what
  the model sees next. None of them is read.
- A `llm.tools_snapshot` is read only if it contains all tools of `tools.set_active_tools`. Otherwise calls of
  the missing tools would count as calls of unknown tools.

**Not in the log.** The model's own argument text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from ingest.decoding.fields import (
    count_input_parts,
    read_count,
    read_epoch_ms,
    read_number,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import (
    Event,
    FaultLayer,
    LogLine,
    PromptSeen,
    ResultSeen,
    SessionSeen,
    Strategy,
    ToolsOffered,
    TurnStatus,
    Visibility,
)
from ingest.formats.conversations.agent_session import AgentSession, decoded_argument_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="kimi_code",
    title="Kimi Code agents",
    raw_arguments="no: the decoded object",
    argument_failures="yes: in the result's text",
    error_flag="yes: isError; the stage is derived from the text",
    definitions="yes: llm.tools_snapshot",
    system_prompt="yes",
    model="yes: per step, with its provider",
    turn_end="yes: turn.ended and turn.cancel; older ones by finishReason",
    cannot_tell="A sub-agent's file does not name the session that started it.",
)
_MAX_ITEMS = 1_000
_TEXTS: Texts = (
    (FaultLayer.SYNTAX, compile_regex(r'Invalid args for tool "[^"\n]{1,200}":.{0,400}(?:JSON|Unexpected)')),
    (FaultLayer.SCHEMA, compile_regex(r'Invalid args for tool "|Tool "[^"\n]{1,200}" not found')),
    (
        FaultLayer.REFUSED,
        compile_regex(r"(?:The )?[Uu]ser (?:rejected|denied|cancelled)|Tool call (?:was )?rejected"),
    ),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        record.get("type") == "metadata" and {"protocol_version", "created_at"} <= record.keys()
        for record in head[:3]
    ) or any(record.get("type") == "context.append_loop_event" for record in head)


def translator(about: About) -> Translator:
    return KimiAgent(about.identity)


class _KimiStep(msgspec.Struct):
    where: LogLine
    ts: datetime | None
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    results: list[ResultSeen] = []

    @property
    def is_full(self) -> bool:
        """Return True when the step has the maximum number of items."""
        return len(self.texts) + len(self.calls) + len(self.results) >= _MAX_ITEMS


class KimiAgent:
    """Translator of one file, which contains one agent."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._step: _KimiStep | None = None
        self._model: dict[str, str | None] = {}
        self._declined: set[str] = set()  # ids of calls in this turn that the user denied
        self._prompt: str | None = None
        self._active: set[str] = set()  # the names of the tools that the agent may use
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        value = record.value
        kind = read_text(value.get("type")) or ""
        event = read_object(value.get("event"))
        if kind == "context.append_loop_event":
            kind, value = read_text(event.get("type")) or "", event
        rule = _RULES.get(kind)
        if rule is None:
            return ()
        self._where, self._ts = record.where, read_epoch_ms(record.value.get("time"))
        return rule(self, value)

    def finish(self) -> Iterator[Event]:
        yield from self._close_step({})
        yield from self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    # --- the session ---------------------------------------------------------------------------

    def _take_metadata(self, value: Mapping[str, Any]) -> Iterator[Event]:
        self._ts = read_epoch_ms(value.get("created_at"))
        yield SessionSeen(**self._event_place, harness="kimi_code")

    def _take_config(self, value: Mapping[str, Any]) -> Iterator[Event]:
        words = read_text(value.get("systemPrompt"))
        if words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**self._event_place, text=words)

    def _take_activation(self, value: Mapping[str, Any]) -> Iterable[Event]:
        names = value.get("names")
        self._active = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        return ()

    def _take_tools(self, value: Mapping[str, Any]) -> Iterator[Event]:
        definitions = read_objects(value.get("tools"))
        if definitions and self._active <= {read_text(each.get("name")) for each in definitions}:
            yield ToolsOffered(**self._event_place, definitions=tuple(definitions))

    def _take_request(self, value: Mapping[str, Any]) -> Iterable[Event]:
        self._model = {name: read_text(value.get(name)) for name in ("provider", "model")}
        return ()

    # --- turns ---------------------------------------------------------------------------------

    def _take_question(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        self._declined.clear()
        self._dialogue.ask(self._where, self._ts, join_content(value.get("input")))

    def _take_cancellation(self, _value: Mapping[str, Any]) -> Iterator[Event]:
        return self._take_end({"reason": TurnStatus.CANCELLED.value})

    def _take_end(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        reason = read_text(value.get("reason"))
        status = (
            TurnStatus.CANCELLED.value
            if reason in (TurnStatus.CANCELLED.value, "canceled", "aborted")
            else reason
        )
        ok = False if status in (TurnStatus.ERROR.value, "failed") else None
        latency = read_number(value.get("durationMs"))
        self._dialogue.note_stop(self._where, self._ts, status, ok=ok, latency_ms=latency)
        yield from self._dialogue.close_turn()

    # --- steps ---------------------------------------------------------------------------------

    def _take_begin(self, _value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close_step({})
        self._step = _KimiStep(self._where, self._ts)

    def _take_part(self, value: Mapping[str, Any]) -> Iterator[Event]:
        part = read_object(value.get("part"))
        if part.get("type") == "text":
            step = yield from self._open_step()
            step.texts.append(read_text(part.get("text")) or "")

    def _take_call(self, value: Mapping[str, Any]) -> Iterator[Event]:
        step = yield from self._open_step()
        step.calls.append(
            {
                "where": self._where,
                "ts": self._ts,
                **decoded_argument_fields(value.get("args")),
                "tool": read_text(value.get("name")),
                "tool_call_id": read_text(value.get("toolCallId")),
                "strategy": Strategy.TOOL_USE,
                "syntax_seen": Visibility.FAILURES,
                "schema_seen": Visibility.FAILURES,
            }
        )

    def _take_refusals(self, value: Mapping[str, Any]) -> Iterable[Event]:
        call_id = read_text(value.get("toolCallId"))
        if call_id is not None and read_object(value.get("result")).get("decision") in ("rejected", "denied"):
            self._declined.add(call_id)
        return ()

    def _take_tool_result(self, value: Mapping[str, Any]) -> Iterator[Event]:
        call_id, output = read_text(value.get("toolCallId")), read_object(value.get("result"))
        content = join_content(output.get("output"))
        flag = PASSED
        if call_id in self._declined:
            flag = failed_flag(content or "", FaultLayer.REFUSED)
        elif output.get("isError") is True:
            flag = failed_flag(content or "", find_layer(content or "", _TEXTS) or FaultLayer.EXECUTION)
        result = ResultSeen(
            **self._event_place,
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

    def _take_finish(self, value: Mapping[str, Any]) -> Iterator[Event]:
        return self._close_step(value)

    def _open_step(self) -> Generator[Event, None, _KimiStep]:
        if self._step is not None and self._step.is_full:
            yield from self._close_step({})
        if self._step is None:
            self._step = _KimiStep(self._where, self._ts)
        return self._step

    def _close_step(self, step_end: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of the open step.

        `step_end` is the record with the token counts, or empty when the log has no such record.
        """
        step, self._step = self._step, None
        usage = read_object(step_end.get("usage"))
        if step is None or not (step.texts or step.calls or usage):
            return
        yield from self._dialogue.add_step(
            step.where,
            step.ts,
            "\n".join(step.texts),
            **self._model,
            **count_input_parts(*map(usage.get, ("inputOther", "inputCacheRead", "inputCacheCreation"))),
            output_tokens=read_count(usage.get("output")) or None,
            latency_ms=_read_latency(step_end),
            answers=step_end.get("finishReason") == "end_turn" and not step.calls,
        )
        for call in step.calls:
            yield self._dialogue.add_call(**call)
        yield from step.results
        if step_end and not step.calls:
            # The turn ends at the current record; the step itself has the time of its beginning.
            self._dialogue.note_stop(self._where, self._ts)

    @property
    def _event_place(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _read_latency(step_end: Mapping[str, Any]) -> float | None:
    """Return the milliseconds from the request to the last token.

    Return None when the log does not state these two times.
    """
    waited, streamed = (
        read_number(step_end.get("llmFirstTokenLatencyMs")),
        read_number(step_end.get("llmStreamDurationMs")),
    )
    return None if waited is None or streamed is None else waited + streamed


_RULES: Mapping[str, Callable[[KimiAgent, Mapping[str, Any]], Iterable[Event]]] = {
    "metadata": KimiAgent._take_metadata,
    "config.update": KimiAgent._take_config,
    "profile.bind": KimiAgent._take_config,
    "tools.set_active_tools": KimiAgent._take_activation,
    "llm.tools_snapshot": KimiAgent._take_tools,
    "llm.request": KimiAgent._take_request,
    "turn.prompt": KimiAgent._take_question,
    "turn.cancel": KimiAgent._take_cancellation,
    "turn.ended": KimiAgent._take_end,
    "permission.record_approval_result": KimiAgent._take_refusals,
    "step.begin": KimiAgent._take_begin,
    "content.part": KimiAgent._take_part,
    "tool.call": KimiAgent._take_call,
    "tool.result": KimiAgent._take_tool_result,
    "step.end": KimiAgent._take_finish,
}
