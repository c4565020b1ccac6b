"""Copilot CLI sessions: one event per line, `~/.copilot/session-state/<session>/events.jsonl`.

The format is undocumented. These notes are based on a session of 1.0.64 (2026-06) and the types of GitHub's
Copilot SDK.

**Fields.** `{type, data, id, timestamp, parentId}`. These types are read: `session.start` (id, version,
model, `context`), `session.model_change`, `system.message` (the system prompt), `user.message`,
`assistant.message` (`content`, `toolRequests[].{toolCallId, name, arguments, type}`, `model`,
`outputTokens`), `tool.execution_start` (`mcpServerName`), `tool.execution_complete` (`success`,
`result.content`, `error.{message, code}`, `model`), `subagent.*`, `abort`, `session.error`,
`session.shutdown` (`modelMetrics`, `currentModel`). Other types are skipped.

**Turns.** An answered `user.message` begins a turn, which lasts until the next answered `user.message`. A
"turn" in the log is one model reply, so it is read as a step.

**Rules.**
- `hook.start` repeats every call and result and is half of the file. It is not read, because the CLI, not the
  model, writes the text of `toolArgs`.
- `success` is true for every shell command that ran. The exit code is at the end of the content: `<shellId: 6
  completed with exit code 1>`.
- `arguments` is a decoded object, or the model's own text. With `type: custom` (`apply_patch`) it is free
  text, not JSON.
- Messages of a sub-agent have the id of the call that started it (`parentToolCallId`). They become the
  session `<session>/<call id>`.
- Version 1.0.20 names the model only after the calls (`tool.execution_complete`) or at the end
  (`session.shutdown`). Up to 1,000 earlier events wait for the model's name.
- `abort` ends the turn (status `cancelled`).

**Side files.** `workspace.yaml`, `plan.md`, `checkpoints/` and `files/` next to `events.jsonl` contain no
calls.

**Not in the log.** Tool definitions, input tokens, and the model's text of arguments that were not JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import name_project, read_count, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import Line, decode_object
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    PromptSeen,
    Rejected,
    ResultSeen,
    SessionSeen,
    StepMade,
    TurnStatus,
)
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
    remember_call,
)
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="copilot_cli",
    title="Copilot CLI sessions",
    raw_arguments="no: the decoded object, except where a call's arguments are text",
    argument_failures="partly: known sentences in the error; text that is not JSON is not marked",
    error_flag="yes: success, and the exit code in the text of shell results",
    definitions="no: supply them with --tools",
    system_prompt="yes: system.message",
    model="yes: per step; not who served it",
    turn_end="partly: the answer, abort and session.error, without a verdict",
    cannot_tell="Clean and repaired arguments cannot be distinguished without the model's own text.",
)

_SIDE_FILE = compile_regex(
    r"(?:.*[/!])?session-state/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/(?!events\.jsonl).+"
)
_UNUSED = compile_regex(
    rb'\{"type":"(?:hook\.|assistant\.turn_|assistant\.reasoning|session\.(?:info|usage))'
)
_NOTHING: Mapping[str, Any] = {}
_TEXTS: Texts = (
    (
        FaultLayer.REFUSED,
        compile_regex(r"The user rejected|Permission (?:to run|was) |User denied", re.IGNORECASE),
    ),
    (
        FaultLayer.SCHEMA,
        compile_regex(r"Multiple validation errors:|Tool '\S{1,200}' (?:does not exist|not found)"),
    ),
)
_REFUSED_CODES = frozenset({"denied", "rejected"})
_EXIT = compile_regex(r"<(?:shellId: \S{1,80} completed|exited) with exit code (-?\d{1,10})>\s*\Z")
_TAIL = 200  # The exit code is within this many characters at the end of a result.
_MAX_WAITING = 1_000  # maximum number of events that wait for the name of the model
_REMEMBERED = 1_000  # maximum number of sub-agents that may run at the same time


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        (read_text(record.get("type")) or "").startswith(
            ("session.", "assistant.", "user.message", "tool.execution")
        )
        and isinstance(record.get("data"), dict)
        and {"id", "timestamp", "parentId"} <= record.keys()
        for record in head
    )


def decode(line: Line) -> Mapping[str, Any] | Rejected:
    """Return the record of a line. Return an empty mapping for a line that is not used."""
    data = line.data
    return _NOTHING if _UNUSED.match(data) and data.endswith(b"}") else decode_object(line)


def side_file(about: About) -> str | None:
    """Describe a file that Copilot CLI keeps next to its sessions. Return None for other files."""
    return "a side file of Copilot CLI" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return CopilotSession(about.identity)


class CopilotSession:
    """Translator of one file, which contains a session and the sub-agents that it started."""

    def __init__(self, identity: str) -> None:
        self._main = AgentSession(identity)
        # id of the call that started a sub-agent → the sub-agent's session
        self._agents: dict[str, AgentSession] = {}
        self._named: set[str] = set()  # ids of sessions in which the model's messages name the model
        # session id → the model, if the log names it only after the first message
        self._models: dict[str, str] = {}
        # events that wait for the model's name; None when the model is known
        self._waiting: list[Event] | None = []
        self._place: dict[str, Any] = {}  # project and branch, which are the same for sub-agents
        self._kinds: dict[str, str] = {}  # call id → the kind of the sub-agent that it starts
        self._servers: dict[str, str] = {}  # call id → the MCP server that runs it
        self._begun: dict[str, datetime] = {}  # call id → time when the call began to run
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        event = record.value
        rule = _RULES.get(read_text(event.get("type")) or "")
        if rule is None:
            return ()
        self._where, self._ts = record.where, read_time(event.get("timestamp"))
        events = rule(self, read_object(event.get("data")), event)
        return self._hold(events) if self._waiting is not None else events

    def finish(self) -> Iterator[Event]:
        yield from self._release()
        for dialogue in (self._main, *self._agents.values()):
            yield from dialogue.close_turn()

    # --- the model ------------------------------------------------------------------------------

    def _hold(self, events: Iterable[Event]) -> Iterator[Event]:
        """Keep back events until one of them names the model.

        Some versions name the model only after the first tool calls.
        """
        for event in events:
            if self._waiting is None:
                yield event
                continue
            self._waiting.append(event)
            named = isinstance(event, SessionSeen | StepMade) and event.model is not None
            of_main = event.session_id == self._main.session_id
            if (named and of_main) or len(self._waiting) >= _MAX_WAITING:
                yield from self._release()

    def _release(self) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, None
        yield from waiting or ()

    def _name_model_late(self, dialogue: AgentSession, model: str | None) -> Iterator[Event]:
        """Yield the model of a session whose messages do not name the model.

        Then yield the events that waited for the model.
        """
        if model is None or self._models.get(dialogue.session_id) == model:
            return
        self._models[dialogue.session_id] = model
        if dialogue is self._main and self._waiting:
            first, waiting = self._waiting[0], list(self._release())
            yield SessionSeen(session_id=first.session_id, where=first.where, ts=first.ts, model=model)
            yield from waiting
        else:
            yield SessionSeen(**self._event_place(dialogue), model=model)

    def _take_shutdown(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        # A model that is named only at the end is used if no earlier event named a model.
        if self._waiting is not None:
            used = list(read_object(data.get("modelMetrics")))
            current = read_text(data.get("currentModel")) if not used else None
            yield from self._name_model_late(self._main, used[0] if len(used) == 1 else current)

    def close(self) -> None:
        """Do nothing: no file is open."""

    # --- the session ---------------------------------------------------------------------------

    def _take_start(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        self._main.session_id = read_text(data.get("sessionId")) or self._main.session_id
        context = read_object(data.get("context"))
        folder = context.get("gitRoot") or context.get("cwd")
        self._place = {
            "project": name_project(folder, context.get("repository")),
            "branch": read_text(context.get("branch")),
        }
        yield SessionSeen(
            **self._event_place(self._main),
            harness="copilot_cli",
            harness_version=read_text(data.get("copilotVersion")),
            model=read_text(data.get("selectedModel")),
            **self._place,
        )

    def _take_model(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        model = read_text(data.get("newModel")) or read_text(data.get("selectedModel"))
        yield SessionSeen(**self._event_place(self._main), model=model)

    def _take_prompt(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        words = read_text(data.get("content"))
        if words:
            yield PromptSeen(**self._event_place(self._main), text=words)

    # --- turns ---------------------------------------------------------------------------------

    def _take_question(self, data: Mapping[str, Any], event: Mapping[str, Any]) -> Iterable[Event]:
        key = unique_id(read_text(event.get("id")))
        self._main.ask(self._where, self._ts, read_text(data.get("content")), key)
        return ()

    def _take_abort(self, _data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        self._main.note_stop(self._where, self._ts, TurnStatus.CANCELLED.value)
        return self._main.close_turn()

    def _take_failed(self, _data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterable[Event]:
        self._main.note_stop(self._where, self._ts, TurnStatus.ERROR.value, ok=False)
        return ()

    def _take_agent_start(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterable[Event]:
        call_id, kind = read_text(data.get("toolCallId")), read_text(data.get("agentName"))
        if call_id is not None and kind is not None:
            remember_call(self._kinds, call_id, kind)
        return ()

    def _take_agent_end(self, data: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Event]:
        dialogue = self._agents.pop(read_text(data.get("toolCallId")) or "", None)
        if dialogue is not None:
            well = event.get("type") == "subagent.completed"
            dialogue.note_stop(
                self._where,
                self._ts,
                TurnStatus.COMPLETED.value if well else TurnStatus.ERROR.value,
                ok=None if well else False,
            )
            yield from dialogue.close_turn()

    # --- steps ---------------------------------------------------------------------------------

    def _take_message(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        dialogue, model = (yield from self._find_speaker(data)), read_text(data.get("model"))
        if model is not None:
            self._named.add(dialogue.session_id)
        yield from dialogue.add_step(
            self._where,
            self._ts,
            read_text(data.get("content")),
            model=model,
            output_tokens=read_count(data.get("outputTokens")) or None,
        )
        for request in read_objects(data.get("toolRequests")):
            yield dialogue.add_call(self._where, self._ts, **_read_call(request))

    def _take_run(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterable[Event]:
        call_id, server = read_text(data.get("toolCallId")), read_text(data.get("mcpServerName"))
        if call_id is not None and self._ts is not None:
            remember_call(self._begun, call_id, self._ts)
        if call_id is not None and server is not None:
            remember_call(self._servers, call_id, server)
        return ()

    def _take_result(self, data: Mapping[str, Any], _event: Mapping[str, Any]) -> Iterator[Event]:
        call_id, error = read_text(data.get("toolCallId")), read_object(data.get("error"))
        content = read_text(read_object(data.get("result")).get("content")) or read_text(error.get("message"))
        flag = _read_flag(data.get("success"), content or "", read_text(error.get("code")))
        begun = self._begun.pop(call_id or "", None)
        ran = (self._ts - begun).total_seconds() if self._ts and begun else None
        dialogue = yield from self._find_speaker(data)
        if dialogue.session_id not in self._named:
            yield from self._name_model_late(dialogue, read_text(data.get("model")))
        yield ResultSeen(
            **self._event_place(dialogue),
            tool_call_id=call_id,
            content=content,
            latency_ms=ran * 1000 if ran is not None and ran >= 0 else None,
            mcp_server=self._servers.pop(call_id or "", None),
            **flag.fields,
        )

    def _find_speaker(self, data: Mapping[str, Any]) -> Generator[Event, None, AgentSession]:
        """Return the session or sub-agent that sent the event. Open a sub-agent if necessary.

        Also yield the events of opening a sub-agent. If too many are open, close the oldest sub-agent and
        yield its last events.
        """
        started_by = read_text(data.get("parentToolCallId"))
        if started_by is None:
            return self._main
        if started_by not in self._agents:
            if len(self._agents) >= _REMEMBERED:
                yield from self._agents.pop(next(iter(self._agents))).close_turn()
            dialogue = AgentSession(f"{self._main.session_id}/{started_by}")
            self._agents[started_by] = dialogue
            parent = self._main.session_id
            yield SessionSeen(
                **self._event_place(dialogue),
                harness="copilot_cli",
                parent_session_id=parent,
                sub_agent=self._kinds.pop(started_by, None),
                **self._place,
            )
        return self._agents[started_by]

    def _event_place(self, dialogue: AgentSession) -> dict[str, Any]:
        return {"session_id": dialogue.session_id, "where": self._where, "ts": self._ts}


def _read_call(request: Mapping[str, Any]) -> dict[str, Any]:
    call_id, sent = read_text(request.get("toolCallId")), request.get("arguments")
    free_text = request.get("type") == "custom" and isinstance(sent, str)
    return {
        **(decoded_argument_fields({"input": sent}) if free_text else argument_fields(sent)),
        "tool": read_text(request.get("name")),
        **native_call_fields(call_id),
    }


def _read_flag(success: Any, content: str, code: str | None) -> ResultFlag:
    if success is False:
        refused = FaultLayer.REFUSED if code in _REFUSED_CODES else None
        return failed_flag(content, refused or find_layer(content, _TEXTS) or FaultLayer.EXECUTION)
    ended = _EXIT.search(content[-_TAIL:])
    if ended and int(ended.group(1)):
        return failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE)
    return PASSED if success is True else ResultFlag()


_RULES: Mapping[str, Callable[[CopilotSession, Mapping[str, Any], Mapping[str, Any]], Iterable[Event]]] = {
    "session.start": CopilotSession._take_start,
    "session.shutdown": CopilotSession._take_shutdown,
    "session.resume": CopilotSession._take_model,
    "session.model_change": CopilotSession._take_model,
    "system.message": CopilotSession._take_prompt,
    "user.message": CopilotSession._take_question,
    "abort": CopilotSession._take_abort,
    "session.error": CopilotSession._take_failed,
    "subagent.started": CopilotSession._take_agent_start,
    "subagent.completed": CopilotSession._take_agent_end,
    "subagent.failed": CopilotSession._take_agent_end,
    "assistant.message": CopilotSession._take_message,
    "tool.execution_start": CopilotSession._take_run,
    "tool.execution_complete": CopilotSession._take_result,
}
