"""Sessions of pi, and of OpenClaw, which is built on pi: one entry per line, one session per file.

**Files.** `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`,
`~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. Sources: badlogic/pi-mono,
`packages/coding-agent/docs/session.md`; a session of pi 0.7 (2025-11).

**Fields.** First `{type: session, id, timestamp, cwd}` (before version 2 with `provider`, `modelId`), then
`message` entries whose `message.role` is user, assistant, toolResult or bashExecution, `model_change`,
`compaction`, `branch_summary` and entries of extensions. Since version 2 each entry has `id` and `parentId`.
Other types are skipped.

**Turns.** A user's message begins a turn when the model answers it. `stopReason` of the last answer is stop,
length, error or aborted (status `cancelled`). `bashExecution` is a command that a person typed, not a call.

**Rules.**
- A message that was cut off (aborted, error) keeps calls that never ran. The last call has `partialJson`, the
  text received so far. It is `truncated`, which is not the model's fault.
- pi sends the request again after an error. A call with the same id in the next reply is the same call.
- All other arguments are decoded objects. pi reads them with a lenient parser, so text that was not JSON is
  repaired silently. Only a value that does not fit the tool's schema is reported, as text.
- `isError` marks invalid arguments, rejections by the tool and failed commands. The texts distinguish them.
- A rewind (`/tree`) continues from an earlier `parentId` in the same file, and a fork copies entries into a
  new file. All branches count, because the model wrote them. Copies have the same call ids and count once.

**Not in the log.** The system prompt, tool definitions, and the model's own text of arguments that were not
cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    count_input_parts,
    name_project,
    read_count,
    read_epoch_ms,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import (
    ArgsSource,
    Event,
    FaultLayer,
    LogLine,
    ResultSeen,
    SessionSeen,
    TurnStatus,
    Visibility,
)
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content, join_result
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="pi",
    title="Pi and OpenClaw sessions",
    raw_arguments="partly: only of calls that were cut off, as far as they came",
    argument_failures="partly: what does not fit the schema; text that is not JSON is repaired silently",
    error_flag="yes: isError; the stage is derived from the text",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step, with its provider",
    turn_end="yes: stopReason; whether the turn did what the user wanted is not recorded",
    cannot_tell="Arguments that were not JSON look like valid ones.",
)

_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom"})
_CUT_OFF = frozenset({"aborted", "error"})
_TEXTS: Texts = (
    (FaultLayer.SCHEMA, compile_regex(r'Validation failed for tool "|Tool \S{1,200} not found\s*\Z')),
    (FaultLayer.REFUSED, compile_regex(r"(?:Operation|Command) aborted|Skipped due to queued user message")),
)
_TAIL = 200  # The text about an aborted command is within this many characters at the end of a result.
_ABORTED = compile_regex(
    r"(?:^|\n)Command aborted\s*\Z"
)  # pi writes this text below the output of the command.


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_header(record) for record in head[:5]) and all(
        read_text(read_object(record.get("message")).get("role")) in _ROLES
        for record in head
        if record.get("type") == "message"
    )


def _is_header(record: dict[str, Any]) -> bool:
    return record.get("type") == "session" and {"id", "timestamp", "cwd"} <= record.keys()


def translator(about: About) -> Translator:
    return PiSession(about.identity)


class PiSession:
    """Translator of one file, which contains one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None
        self._harness = "pi"

    def take(self, record: Record) -> Iterable[Event]:
        entry = record.value
        rule = _RULES.get(read_text(entry.get("type")) or "")
        if rule is None:
            return ()
        self._where, self._ts = record.where, read_time(entry.get("timestamp"))
        return rule(self, entry)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_session(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        self._dialogue.session_id = read_text(entry.get("id")) or self._dialogue.session_id
        yield SessionSeen(
            **self._event_place,
            harness=self._harness,
            project=name_project(entry.get("cwd")),
            provider=read_text(entry.get("provider")),
            model=read_text(entry.get("modelId")),
        )

    def _take_model_change(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        provider, model = read_text(entry.get("provider")), read_text(entry.get("modelId"))
        yield SessionSeen(**self._event_place, provider=provider, model=model)

    def _take_custom(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        if self._harness == "pi" and (read_text(entry.get("customType")) or "").startswith("openclaw"):
            self._harness = "openclaw"
            yield SessionSeen(**self._event_place, harness=self._harness)

    def _take_message(self, entry: Mapping[str, Any]) -> Iterable[Event]:
        message = read_object(entry.get("message"))
        self._ts = read_epoch_ms(message.get("timestamp")) or self._ts
        role = message.get("role")
        if role == "assistant":
            return self._take_assistant(message)
        if role == "toolResult":
            return (self._make_result(message),)
        if role == "user":
            text = join_content(message.get("content"))
            self._dialogue.ask(self._where, self._ts, text, _world_key(entry, message))
        return ()

    def _take_assistant(self, message: Mapping[str, Any]) -> Iterator[Event]:
        stop, blocks = read_text(message.get("stopReason")), read_objects(message.get("content"))
        usage = {} if stop in _CUT_OFF else read_object(message.get("usage"))
        words = [read_text(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
        yield from self._dialogue.add_step(
            self._where,
            self._ts,
            "\n".join(words),
            provider=read_text(message.get("provider")),
            model=read_text(message.get("model")),
            **count_input_parts(*map(usage.get, ("input", "cacheRead", "cacheWrite"))),
            output_tokens=read_count(usage.get("output")) or None,
            failed=stop in _CUT_OFF,
            answers=stop == "stop",
        )
        for block in blocks:
            if block.get("type") == "toolCall":
                yield self._dialogue.add_call(self._where, self._ts, **_read_call(block, stop))
        if stop == "aborted":
            self._dialogue.note_stop(self._where, self._ts, TurnStatus.CANCELLED.value)
        elif stop == "error":
            self._dialogue.note_stop(self._where, self._ts, TurnStatus.ERROR.value, ok=False)
        elif stop not in (None, "toolUse"):
            self._dialogue.note_stop(self._where, self._ts, stop)

    def _make_result(self, message: Mapping[str, Any]) -> ResultSeen:
        content = join_result(message.get("content"))
        flag = _read_flag(message.get("isError"), content or "")
        return ResultSeen(
            **self._event_place,
            tool_call_id=read_text(message.get("toolCallId")),
            tool=read_text(message.get("toolName")),
            content=content,
            **flag.fields,
        )

    @property
    def _event_place(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _read_call(block: Mapping[str, Any], stop: str | None) -> dict[str, Any]:
    """Return the fields of a tool call.

    `stop` is the message's stop reason. If it is `length` (token limit), incomplete arguments count as a
    failure of the model.
    """
    call_id, cut = read_text(block.get("id")), read_text(block.get("partialJson"))
    sent = decoded_argument_fields(block.get("arguments"))
    if cut is not None:
        sent = {"raw_arguments": cut, "args_source": ArgsSource.TRUNCATED}
    if cut is not None and stop == "length":
        sent["refused_by_harness"] = FaultLayer.EMISSION
        sent["harness_message"] = "the message ran into the limit of tokens within the call"
    return {
        **sent,
        "tool": read_text(block.get("name")),
        **native_call_fields(call_id),
        "schema_seen": Visibility.FAILURES if cut is None else Visibility.NONE,
    }


def _read_flag(is_error: Any, content: str) -> ResultFlag:
    if is_error is True:
        layer = FaultLayer.REFUSED if _ABORTED.search(content[-_TAIL:]) else find_layer(content, _TEXTS)
        return failed_flag(content, layer or FaultLayer.EXECUTION)
    return PASSED if is_error is False else ResultFlag()


def _world_key(entry: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """Return a key that is the same for copies of a prompt in several files.

    The key consists of the entry's short id and the time in milliseconds. Return None when the message has no
    time.
    """
    sent = read_count(message.get("timestamp"))
    return f"{read_text(entry.get('id')) or ''}:{sent}" if sent is not None else None


_RULES: Mapping[str, Callable[[PiSession, Mapping[str, Any]], Iterable[Event]]] = {
    "session": PiSession._take_session,
    "model_change": PiSession._take_model_change,
    "custom": PiSession._take_custom,
    "custom_message": PiSession._take_custom,
    "message": PiSession._take_message,
}
