"""Event streams that coding agents print when a script or a CI job runs them (headless mode).

**Files.** Standard output saved as `.jsonl`, `.log` or `.txt`.
- `codex exec --json`
- `gemini -o stream-json`
- `cursor-agent -p --output-format stream-json`
- the events of a session of Claude Managed Agents (`GET /v1/sessions/<id>/events`, or its stream)

`claude_code` and `opencode` read the output of `claude -p` and `opencode run`. Sources: the documentation of
the four agents, openai/codex `codex-rs/exec/src/exec_events.rs`, and streams quoted in public repositories.

**Fields.**
- Codex: `{type: thread.started | turn.* | item.*}`. An item is `{id, type: agent_message | command_execution
  | mcp_tool_call | file_change | collab_tool_call …}`.
- Gemini: `{type: init | message | tool_use | tool_result | result, timestamp}`.
- Cursor: `{type: system | user | assistant | tool_call | result}`. A call is `tool_call.<name>ToolCall.{args,
  result}`.
- Managed Agents: `{type: user.message | agent.message | agent.tool_use | agent.tool_result |
  session.status_idle …, id, processed_at}`, also as a page `{data: [event, …]}`.

**Turns.** A run is one turn, unless the stream shows further prompts. A turn ends with `result`,
`turn.completed`, `turn.failed` or an idle session.

**Rules.**
- A call is reported at its start and at its end. Both reports have the same id, so the call counts once.
- Codex's items do not name the tool, so the tool's name is the type: `command_execution` or `file_change`.
  MCP tools become `mcp__<server>__<tool>`.
- Codex's item ids start again in each run. Web searches (run at OpenAI) and to-do lists are not counted.
- The name of a Cursor tool is the key without `ToolCall`. With `--stream-partial-output` a text arrives in
  pieces and then whole.
- Token counts are for the whole run. Managed Agents count tokens for each request, but not next to the reply.
  The sum of the counts is stored with the last step of the turn.
- A Managed Agents call that waits for a person (`requires_action`) does not end the turn.
- An agent may also write its own log, in which the same calls have other ids. Load only one of the two files,
  or each call counts twice.

**Not in the log.** The system prompt, tool definitions and the model's own argument text. Codex's stream does
not contain the prompt. Codex and Managed Agents do not name the model. Codex and older versions of Cursor
have no times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from ingest.decoding.fields import (
    count_input_parts,
    count_whole_input,
    read_count,
    read_epoch_ms,
    read_number,
    read_object,
    read_objects,
    read_text,
    read_time,
)
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
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
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.gemini_cli import read_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields, join_content
from ingest.formats.provider_messages.embedded_json import to_text
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="agent_streams",
    title="Headless agent streams",
    raw_arguments="no: only decoded objects",
    argument_failures="partly: marked by Gemini CLI",
    error_flag="yes: status, and the exit code of commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: Gemini CLI and Cursor per run; the others do not name it",
    turn_end="yes: the result of the run; whether it did what the user wanted is not recorded",
    cannot_tell="Clean and repaired calls cannot be distinguished without the model's own text.",
)

_REMEMBERED = 50_000  # maximum number of remembered ids of calls that have not ended
_Value = Mapping[str, Any]


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_find_producer(event) is not None for record in head for event in _list_events(record))


def _list_events(record: _Value) -> Sequence[_Value]:
    """Return the events in a page of events. A record that is not a page is itself one event."""
    return (record,) if "type" in record else read_objects(record.get("data"))


def _find_producer(record: _Value) -> type[AgentRun] | None:
    """Return the class that reads streams which contain this event.

    Return None if this event alone does not identify the agent.
    """
    kind = record.get("type")
    if not isinstance(kind, str):
        return None
    return next((run for run in _RUNS if run.owns(kind, record)), None)


def translator(about: About) -> Translator:
    return _HeadlessRuns(about.identity)


class _HeadlessRuns:
    """Translator of one file, which contains one or more agent runs in sequence."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._run: AgentRun | None = None

    def take(self, record: Record) -> Iterator[Event]:
        for event in _list_events(record.value):
            where = record.where if event is record.value else record.find_line(f'"{event.get("id")}"')
            yield from self._take_event(event, where)

    def _take_event(self, value: _Value, where: LogLine) -> Iterator[Event]:
        owner, named = type(self._run), None
        if self._run is None or not self._run.owns(read_text(value.get("type")) or "", value):
            owner = _find_producer(value) or owner
        if issubclass(owner, AgentRun):
            named = read_text(value.get(owner.session_key))
            if self._run is None or owner is not type(self._run) or named not in (None, self._run.session_id):
                yield from self.finish()
                self._run = owner(named or self._identity)
        if self._run is not None:
            yield from self._run.take(value, where)

    def finish(self) -> Iterator[Event]:
        run, self._run = self._run, None
        if run is not None:
            yield from run.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


class AgentRun(ABC):
    """One agent run."""

    session_key: ClassVar[str]

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id

    @staticmethod
    @abstractmethod
    def owns(kind: str, event: _Value) -> bool:
        """Return True when only this agent writes events of this type."""

    @abstractmethod
    def take(self, event: _Value, where: LogLine) -> Iterable[Event]:
        """Return the translated events that are complete after this event of the stream."""

    @abstractmethod
    def finish(self) -> Iterable[Event]:
        """Return the translated events that were still incomplete when the agent run ended."""


class _SequentialRun(AgentRun):
    """An agent run whose stream lists the model's texts, tool calls and results in sequence.

    A step begins with the first text or call after a result. A text may arrive in pieces, so the pieces are
    collected until a call follows or the agent run ends.
    """

    harness: ClassVar[str]
    schema_seen: ClassVar[Visibility] = Visibility.NONE

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.turns = AgentSession(session_id)
        self.model: str | None = None
        self._begun = False
        self._in_step = False
        self._text: tuple[LogLine, datetime | None, str] | None = None
        self._in_pieces = False
        self._calls: dict[str, str | None] = {}  # call id → tool name, for calls without a result

    def take(self, event: _Value, where: LogLine) -> Iterable[Event]:
        ts = self.read_time(event)
        if not self._begun:
            self._begun = True
            yield SessionSeen(session_id=self.session_id, where=where, ts=ts, harness=self.harness)
        yield from self.read_event(event, where, ts)

    def finish(self) -> Iterable[Event]:
        yield from self._close_text()
        yield from self.turns.close_turn()

    @abstractmethod
    def read_time(self, event: _Value) -> datetime | None: ...

    @abstractmethod
    def read_event(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterable[Event]:
        """Translate one event of the stream."""

    def ask(self, where: LogLine, ts: datetime | None, text: str | None) -> Iterator[Event]:
        yield from self._close_text()
        self.turns.ask(where, ts, text)

    def say(self, where: LogLine, ts: datetime | None, text: str | None, *, piece: bool = False) -> None:
        """Add a text of the model. A complete text replaces the earlier pieces of this text."""
        before = self._text
        if not text:
            return
        if before is None:
            self._text = (where, ts, text)
        elif piece:
            self._text = (*before[:2], before[2] + text)
        elif self._in_pieces or before[2] == text:
            self._text = (*before[:2], text)
        else:
            self._text = (*before[:2], f"{before[2]}\n{text}")
        self._in_pieces = piece

    def call(self, where: LogLine, ts: datetime | None, call_id: str | None, **facts: Any) -> Iterator[Event]:
        """Yield the events of a tool call. Yield nothing when the stream already contained the tool call."""
        if call_id is not None and call_id in self._calls:
            return
        if self._text is None and not self._in_step:
            yield from self.turns.add_step(where, ts, model=self.model)
        yield from self._close_text()
        self._in_step = True
        self._calls[call_id or ""] = facts["tool"]
        if len(self._calls) > _REMEMBERED:
            del self._calls[next(iter(self._calls))]
        yield self.turns.add_call(
            where, ts, **native_call_fields(call_id), schema_seen=self.schema_seen, **facts
        )

    def result(
        self, where: LogLine, ts: datetime | None, call_id: str | None, flag: ResultFlag, content: str | None
    ) -> Iterator[Event]:
        self._in_step = False
        yield ResultSeen(
            session_id=self.session_id,
            where=where,
            ts=ts,
            tool_call_id=call_id,
            tool=self._calls.pop(call_id or "", None),
            content=content,
            **flag.fields,
        )

    def tool_of(self, call_id: str | None) -> str | None:
        return self._calls.get(call_id or "")

    def end(
        self, where: LogLine, ts: datetime | None, status: str | None, *, ok: bool | None = None,
        latency_ms: float | None = None, **tokens: int | None,
    ) -> Iterator[Event]:  # fmt: skip
        """Yield the end of the turn.

        `tokens` are the token counts of the whole turn. They are stored with the turn's last step.
        """
        yield from self._close_text(answers=ok is None, **tokens)
        self.turns.note_stop(where, ts, status, ok=ok, latency_ms=latency_ms)
        yield from self.turns.close_turn()
        self._in_step = False

    def _close_text(self, **facts: Any) -> Iterator[Event]:
        text, self._text, self._in_pieces = self._text, None, False
        if text is not None:
            self._in_step = True
            yield from self.turns.add_step(*text, model=self.model, **facts)


class _CodexRun(_SequentialRun):
    session_key = "thread_id"
    harness = "codex"

    @staticmethod
    def owns(kind: str, event: _Value) -> bool:
        if kind == "thread.started":
            return "thread_id" in event
        return kind in ("item.started", "item.updated", "item.completed") and isinstance(
            event.get("item"), dict
        )

    def read_time(self, event: _Value) -> datetime | None:
        return read_time(event.get("timestamp"))

    def read_event(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterable[Event]:
        kind = event.get("type")
        if kind in ("item.started", "item.completed"):
            yield from self._take_item(read_object(event.get("item")), kind == "item.completed", where, ts)
        elif kind == "turn.completed":
            usage = read_object(event.get("usage"))
            yield from self.end(
                where, ts, TurnStatus.COMPLETED.value,
                **count_whole_input(usage.get("input_tokens"), usage.get("cached_input_tokens")),
                output_tokens=read_count(usage.get("output_tokens")),
            )  # fmt: skip
        elif kind == "turn.failed":
            yield from self.end(where, ts, TurnStatus.ERROR.value, ok=False)

    def _take_item(
        self, item: _Value, is_complete: bool, where: LogLine, ts: datetime | None
    ) -> Iterator[Event]:
        kind, call_id = read_text(item.get("type") or item.get("item_type")), read_text(item.get("id"))
        if kind in ("agent_message", "assistant_message") and is_complete:
            self.say(where, ts, read_text(item.get("text")))
        make = _CODEX_CALLS.get(kind or "")
        if make is None:
            return
        tool, arguments = make(item)
        yield from self.call(where, ts, call_id, tool=tool, **decoded_argument_fields(arguments))
        if is_complete:
            content = _codex_content(item)
            yield from self.result(where, ts, call_id, _codex_flag(item, content or ""), content)


# Each function returns the tool's name and the arguments of a call. The key is the type of the item.
_CODEX_CALLS: Mapping[str, Callable[[_Value], tuple[str, Any]]] = {
    "command_execution": lambda item: ("command_execution", {"command": item.get("command")}),
    "file_change": lambda item: ("file_change", {"changes": item.get("changes")}),
    "mcp_tool_call": lambda item: (f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments")),
    "collab_tool_call": lambda item: (str(item.get("tool")), {"prompt": item.get("prompt")}),
}


def _codex_content(item: _Value) -> str | None:
    result, error = read_object(item.get("result")), read_object(item.get("error"))
    texts = (item.get("aggregated_output"), error.get("message"), join_content(result.get("content")))
    return next((text for text in texts if isinstance(text, str)), None)


def _codex_flag(item: _Value, content: str) -> ResultFlag:
    status, code = item.get("status"), item.get("exit_code")
    if status == "declined":
        return failed_flag(content, FaultLayer.REFUSED)
    if isinstance(code, int) and code:
        return failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE)
    if status == "failed":
        return failed_flag(content)
    return PASSED if status == "completed" or code == 0 else ResultFlag()


class _GeminiRun(_SequentialRun):
    session_key = "session_id"
    harness = "gemini_cli"
    schema_seen = Visibility.FAILURES

    @staticmethod
    def owns(kind: str, event: _Value) -> bool:
        if kind == "init":
            return {"timestamp", "session_id", "model"} <= event.keys()
        return kind == "tool_use" and {"tool_name", "tool_id", "parameters"} <= event.keys()

    def read_time(self, event: _Value) -> datetime | None:
        return read_time(event.get("timestamp"))

    def read_event(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterable[Event]:
        kind, call_id = event.get("type"), read_text(event.get("tool_id"))
        if kind == "init":
            self.model = read_text(event.get("model"))
        elif kind == "message" and event.get("role") == "user":
            yield from self.ask(where, ts, read_text(event.get("content")))
        elif kind == "message":
            self.say(where, ts, read_text(event.get("content")), piece=event.get("delta") is True)
        elif kind == "tool_use":
            sent = decoded_argument_fields(event.get("parameters"))
            yield from self.call(where, ts, call_id, tool=read_text(event.get("tool_name")), **sent)
        elif kind == "tool_result":
            content = to_text(event.get("output")) or read_text(
                read_object(event.get("error")).get("message")
            )
            yield from self.result(where, ts, call_id, self._flag(event, content or ""), content)
        elif kind == "result":
            stats, failed = read_object(event.get("stats")), event.get("status") == "error"
            yield from self.end(
                where, ts, read_text(event.get("status")), ok=False if failed else None,
                latency_ms=read_number(stats.get("duration_ms")),
                **count_whole_input(stats.get("input_tokens"), stats.get("cached")),
                output_tokens=read_count(stats.get("output_tokens")),
            )  # fmt: skip

    def _flag(self, event: _Value, content: str) -> ResultFlag:
        kind = (read_text(read_object(event.get("error")).get("type")) or "").lower()
        layer = _GEMINI_FAULTS.get(kind)
        if layer is not None and event.get("status") == "error":
            return failed_flag(content, layer)
        call_id = read_text(event.get("tool_id"))
        flag = read_flag({"status": event.get("status"), "name": self.tool_of(call_id)}, content)
        return flag or ResultFlag()


_GEMINI_FAULTS = {  # source: google-gemini/gemini-cli, packages/core/src/tools/tool-error.ts
    "invalid_tool_params": FaultLayer.SCHEMA,
    "tool_not_registered": FaultLayer.SCHEMA,
    "policy_violation": FaultLayer.REFUSED,
}


class _CursorRun(_SequentialRun):
    session_key = "session_id"
    harness = "cursor"

    @staticmethod
    def owns(kind: str, event: _Value) -> bool:
        if kind == "tool_call":
            return event.get("subtype") in ("started", "completed") and isinstance(
                event.get("tool_call"), dict
            )
        is_start = kind == "system" and event.get("subtype") == "init"
        return is_start and "apiKeySource" in event and "tools" not in event

    def read_time(self, event: _Value) -> datetime | None:
        return read_epoch_ms(event.get("timestamp_ms"))

    def read_event(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterable[Event]:
        kind = event.get("type")
        words = join_content(read_object(event.get("message")).get("content"))
        if kind == "system":
            self.model = read_text(event.get("model")) or self.model
        elif kind == "user":
            yield from self.ask(where, ts, words)
        elif kind == "assistant":
            self.say(where, ts, words, piece="timestamp_ms" in event and "model_call_id" not in event)
        elif kind == "tool_call":
            yield from self._take_call(event, where, ts)
        elif kind == "result":
            usage, failed = read_object(event.get("usage")), event.get("is_error") is True
            cached, written = read_count(usage.get("cacheReadTokens")), usage.get("cacheWriteTokens")
            yield from self.end(
                where, ts, read_text(event.get("subtype")), ok=False if failed else None,
                latency_ms=read_number(event.get("duration_ms")),
                **count_whole_input(usage.get("inputTokens"), cached, written),
                output_tokens=read_count(usage.get("outputTokens")),
            )  # fmt: skip

    def _take_call(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterator[Event]:
        tool_call = read_object(event.get("tool_call"))
        key = next((key for key, value in tool_call.items() if isinstance(value, dict)), "")
        body = read_object(tool_call.get(key))
        call_id = read_text(event.get("call_id")) or read_text(tool_call.get("toolCallId"))
        yield from self.call(where, ts, call_id, **_cursor_call(key, body))
        if event.get("subtype") == "completed":
            flag, content = _cursor_result(read_object(body.get("result")))
            yield from self.result(where, ts, call_id, flag, content)


def _cursor_call(key: str, body: _Value) -> dict[str, Any]:
    args = read_object(body.get("args"))
    if key == "function":
        return {"tool": read_text(body.get("name")), **argument_fields(body.get("arguments"))}
    if key == "mcpToolCall" and isinstance(args.get("args"), dict):
        server = read_text(args.get("providerIdentifier"))
        tool = read_text(args.get("toolName")) or read_text(args.get("name"))
        named = f"mcp__{server}__{tool}" if server else tool
        return {"tool": named, **decoded_argument_fields(args["args"])}
    return {"tool": key.removesuffix("ToolCall") or None, **decoded_argument_fields(body.get("args"))}


def _cursor_result(result: _Value) -> tuple[ResultFlag, str | None]:
    """Return the error flag and the content of a tool result.

    A result has one key, which is a status such as `success` or `error`.
    """
    word, outcome = next(iter(result.items()), ("", None))
    body = read_object(outcome)
    texts = (body.get(name) for name in ("content", "stdout", "error", "errorMessage", "message", "reason"))
    content = next((text for text in texts if isinstance(text, str) and text), None) or to_text(outcome)
    code = body.get("exitCode")
    if word in ("rejected", "permissionDenied"):
        return failed_flag(content or "", FaultLayer.REFUSED), content
    if isinstance(code, int) and code:
        return failed_flag(content or "", source=FlagSource.DERIVED_EXIT_CODE), content
    if word == "success":
        return (failed_flag(content or "") if body.get("isError") is True else PASSED), content
    return (failed_flag(content or "") if word else ResultFlag()), content


class _ManagedRun(_SequentialRun):
    """A session of Claude Managed Agents."""

    session_key = "session_id"
    harness = "claude_managed_agents"

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._usage: list[_Value] = []  # token counts of the open turn's requests
        self._denied: set[str] = set()

    @staticmethod
    def owns(kind: str, event: _Value) -> bool:
        if kind == "user.message":
            # The type alone does not show a Managed Agents event, because other agents use the same type.
            return "processed_at" in event and "content" in event
        return kind in _MANAGED and "id" in event

    def read_time(self, event: _Value) -> datetime | None:
        return read_time(event.get("processed_at"))

    def read_event(self, event: _Value, where: LogLine, ts: datetime | None) -> Iterable[Event]:
        kind = read_text(event.get("type")) or ""
        name = kind.removeprefix("agent.").removeprefix("user.")
        if kind == "user.message":
            yield from self.ask(where, ts, join_content(event.get("content")))
        elif kind == "agent.message":
            self.say(where, ts, join_content(event.get("content")))
        elif name in ("tool_use", "mcp_tool_use", "custom_tool_use"):
            server, tool = read_text(event.get("mcp_server_name")), read_text(event.get("name"))
            yield from self.call(
                where, ts, read_text(event.get("id")), tool=f"mcp__{server}__{tool}" if server else tool,
                **decoded_argument_fields(event.get("input")),
            )  # fmt: skip
        elif name in ("tool_result", "mcp_tool_result", "custom_tool_result"):
            call_id = read_text(event.get(name.replace("result", "use") + "_id"))
            content = join_content(event.get("content"))
            if call_id not in self._denied:
                flag = failed_flag(content or "") if event.get("is_error") is True else PASSED
                yield from self.result(where, ts, call_id, flag, content)
        elif kind == "user.tool_confirmation" and event.get("result") == "deny":
            call_id, message = read_text(event.get("tool_use_id")), read_text(event.get("deny_message"))
            self._denied.add(call_id or "")
            yield from self.result(
                where, ts, call_id, failed_flag(message or "", FaultLayer.REFUSED), message
            )
        elif kind == "span.model_request_end":
            self._usage.append(read_object(event.get("model_usage")))
        elif kind == "session.status_idle":
            reason = read_text(read_object(event.get("stop_reason")).get("type"))
            if reason not in (None, "requires_action"):
                yield from self._close(where, ts, reason, ok=None if reason == "end_turn" else False)
        elif kind == "session.status_terminated":
            yield from self._close(where, ts, TurnStatus.ERROR.value, ok=False)

    def _close(
        self, where: LogLine, ts: datetime | None, status: str | None, ok: bool | None
    ) -> Iterator[Event]:
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        counts = [sum(read_count(usage.get(name)) or 0 for usage in self._usage) for name in names]
        self._usage = []
        tokens = count_input_parts(*counts[:3])
        yield from self.end(where, ts, status, ok=ok, **tokens, output_tokens=counts[3] or None)


_MANAGED = frozenset(
    {"agent.message", "agent.thinking", "agent.tool_use", "agent.tool_result", "agent.mcp_tool_use",
     "agent.mcp_tool_result", "agent.custom_tool_use", "span.model_request_start"}
)  # fmt: skip
_RUNS: tuple[type[AgentRun], ...] = (_CodexRun, _GeminiRun, _CursorRun, _ManagedRun)
