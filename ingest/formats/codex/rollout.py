"""Translates the records of one Codex rollout into events: the session, its turns and their steps.

A step is complete when the next step begins, because the token counts come after the step in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from ingest.decoding.fields import (
    count_whole_input,
    name_project,
    read_count,
    read_number,
    read_object,
    read_text,
    read_time,
)
from ingest.events import Event, LogLine, PromptSeen, ResultSeen, SessionSeen, TurnStatus, Visibility
from ingest.formats.codex.outputs import output_text, parse_wall_time, read_event_status, read_flag
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
    remember_call,
)
from ingest.formats.provider_messages.chat_messages import argument_fields, join_content
from ingest.log_format import Record

_STOPPED_BY_PEOPLE = frozenset({"interrupted", "replaced", "review_ended"})
_MAX_ITEMS = 1_000
_REMOTE = "mcp__"  # prefix of MCP tools, which have their own error texts for invalid arguments


class Rollout:
    """Translator of one file, which contains one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._steps = StepTracker(self._dialogue)
        self._session: str | None = None
        self._parent: str | None = None
        self._task: str | None = None  # the id of the open task
        self._has_tasks = False
        self._servers: dict[str, str] = {}  # call id → the MCP server that ran it
        # call id → whether the call succeeded, if an event before the result reported it
        self._successes: dict[str, bool] = {}
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        value = record.value
        payload = value.get("payload")
        if not isinstance(payload, dict):
            return ()
        rules = _RULES.get(read_text(value.get("type")) or "")
        rule = rules.get(read_text(payload.get("type")) or "") if rules is not None else None
        if rule is None:
            return ()
        self._where, self._ts = record.where, read_time(value.get("timestamp"))
        return rule(self, payload)

    def finish(self) -> Iterator[Event]:
        yield from self._steps.close()
        if self._task is None:
            yield from self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    # --- the session ---------------------------------------------------------------------------

    def _take_session_meta(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        session = read_text(payload.get("id"))
        if self._session is not None and session != self._session:
            # The first foreign session id in a forked rollout is its parent. Later ids are the parent's own
            # ancestors.
            if self._parent is None and session is not None:
                self._parent = session
                yield SessionSeen(**self._event_place, parent_session_id=session)
            return
        if session is not None:
            self._session = self._dialogue.session_id = session
        self._parent = _parent_session(payload) or self._parent
        git = read_object(payload.get("git"))
        yield SessionSeen(
            **self._event_place,
            harness="codex",
            harness_version=read_text(payload.get("cli_version")),
            parent_session_id=self._parent,
            provider=read_text(payload.get("model_provider")),
            project=name_project(payload.get("cwd"), git.get("repository_url")),
            branch=read_text(git.get("branch")),
            sub_agent=_sub_agent(payload),
        )
        instructions = payload.get("base_instructions", payload.get("instructions"))
        words = read_text(read_object(instructions).get("text")) or read_text(instructions)
        if words:
            yield PromptSeen(**self._event_place, text=words)

    def _take_turn_context(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        self._steps.model = read_text(payload.get("model")) or self._steps.model
        return ()

    # --- turns ---------------------------------------------------------------------------------

    def _take_task_started(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._steps.close()
        if self._task is None:
            yield from self._dialogue.close_turn()
        else:
            self._dialogue.close_without_end()
        self._task, self._has_tasks = read_text(payload.get("turn_id")) or "", True
        self._dialogue.ask(self._where, self._ts, None, self._task or None)

    def _take_user_message(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        text = read_text(payload.get("message"))
        if not self._has_tasks:
            yield from self._steps.close()
            self._dialogue.ask(self._where, self._ts, text)
        elif self._dialogue.waits_for_words and not self._steps.is_open:
            self._dialogue.ask(self._where, self._ts, text, self._task or None)

    def _take_task_complete(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        if payload.get("error") is not None:
            return self._take_end(payload, TurnStatus.ERROR.value, ok=False)
        return self._take_end(payload, "complete", answer=read_text(payload.get("last_agent_message")))

    def _take_turn_aborted(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        reason = read_text(payload.get("reason")) or TurnStatus.CANCELLED.value
        return self._take_end(payload, TurnStatus.CANCELLED.value if reason in _STOPPED_BY_PEOPLE else reason)

    def _take_end(self, payload: Mapping[str, Any], status: str, **facts: Any) -> Iterator[Event]:
        yield from self._steps.close()
        latency = read_number(payload.get("duration_ms"))
        self._dialogue.note_stop(self._where, self._ts, status, latency_ms=latency, **facts)
        yield from self._dialogue.close_turn()
        self._task = None

    # --- steps ---------------------------------------------------------------------------------

    def _take_message(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        if payload.get("role") != "assistant":
            return ()
        text = join_content(payload.get("content")) or ""
        return self._steps.add_text(self._where, self._ts, text, final=payload.get("phase") == "final_answer")

    def _take_function_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.add_call(self._where, self._ts, function_call(payload))

    def _take_custom_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.add_call(self._where, self._ts, custom_call(payload))

    def _take_built_in_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.add_call(self._where, self._ts, built_in_call(payload))

    def _take_web_search(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of a web search that the provider ran.

        The call's item also contains the outcome.
        """
        yield from self._take_built_in_call(payload)
        yield from self._take_result(
            None, None, payload.get("status") in (None, "completed"), tool="web_search"
        )

    def _take_output(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        call_id, success = (
            read_text(payload.get("call_id")),
            read_object(payload.get("output")).get("success"),
        )
        is_success = self._successes.pop(call_id or "", success if isinstance(success, bool) else None)
        return self._take_result(call_id, output_text(payload), is_success)

    def _take_search_output(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._take_result(
            read_text(payload.get("call_id")), None, payload.get("status") == "completed"
        )

    def _take_result(
        self, call_id: str | None, content: str | None, is_success: bool | None, tool: str | None = None
    ) -> Iterator[Event]:
        flag = read_flag(content or "", is_success)
        return self._steps.add_result(
            ResultSeen(
                **self._event_place,
                tool_call_id=call_id,
                tool=tool,
                content=content,
                latency_ms=parse_wall_time(content or ""),
                mcp_server=self._servers.pop(call_id or "", None),
                **flag.fields,
            ),
            by_provider=tool is not None,
        )

    def _take_tool_end(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        call_id, is_success = read_text(payload.get("call_id")) or "", read_event_status(payload)
        if is_success is not None:
            remember_call(self._successes, call_id, is_success)
        server = read_text(read_object(payload.get("invocation")).get("server"))
        if server is not None:
            remember_call(self._servers, call_id, server)
        return ()

    def _take_token_count(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        self._steps.add_usage(read_object(read_object(payload.get("info")).get("last_token_usage")))
        return ()

    @property
    def _event_place(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _parent_session(payload: Mapping[str, Any]) -> str | None:
    """Return the id of the session that started or forked this session.

    Return None when there is no such session.
    """
    spawned = read_object(read_object(read_object(payload.get("source")).get("subagent")).get("thread_spawn"))
    return read_text(spawned.get("parent_thread_id")) or read_text(payload.get("forked_from_id"))


def _sub_agent(payload: Mapping[str, Any]) -> str | None:
    """Return the role of the sub-agent that runs this session, such as `review`.

    Return None for the main agent.
    """
    kind = read_object(payload.get("source")).get("subagent")
    spawned = read_object(read_object(kind).get("thread_spawn"))
    return read_text(spawned.get("agent_role")) or read_text(kind)


_Rule = Callable[[Rollout, Mapping[str, Any]], Iterable[Event]]
_RULES: Mapping[str, Mapping[str, _Rule]] = {
    "session_meta": {"": Rollout._take_session_meta},
    "turn_context": {"": Rollout._take_turn_context},
    "response_item": {
        "message": Rollout._take_message,
        "function_call": Rollout._take_function_call,
        "custom_tool_call": Rollout._take_custom_call,
        "local_shell_call": Rollout._take_built_in_call,
        "tool_search_call": Rollout._take_built_in_call,
        "web_search_call": Rollout._take_web_search,
        "function_call_output": Rollout._take_output,
        "custom_tool_call_output": Rollout._take_output,
        "tool_search_output": Rollout._take_search_output,
    },
    "event_msg": {
        "user_message": Rollout._take_user_message,
        "token_count": Rollout._take_token_count,
        "task_started": Rollout._take_task_started,
        "turn_started": Rollout._take_task_started,
        "task_complete": Rollout._take_task_complete,
        "turn_complete": Rollout._take_task_complete,
        "turn_aborted": Rollout._take_turn_aborted,
        "patch_apply_end": Rollout._take_tool_end,
        "mcp_tool_call_end": Rollout._take_tool_end,
        "exec_command_end": Rollout._take_tool_end,
    },
}


class _OpenStep(msgspec.Struct):
    """One model reply, including all items of this reply so far.

    `ended` is True after a tool result or the token counts.
    """

    where: LogLine
    ts: datetime | None
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    results: list[ResultSeen] = []
    usage: Mapping[str, Any] = {}
    final: bool = False
    ended: bool = False

    @property
    def is_full(self) -> bool:
        """Return True when the step has the maximum number of items.

        The next item then begins a new step.
        """
        return len(self.texts) + len(self.calls) + len(self.results) >= _MAX_ITEMS


class StepTracker:
    """Builds the steps of one session. `model` is the model of the current turn."""

    def __init__(self, dialogue: AgentSession) -> None:
        self.model: str | None = None
        self._dialogue = dialogue
        self._step: _OpenStep | None = None

    @property
    def is_open(self) -> bool:
        return self._step is not None

    def add_text(self, where: LogLine, ts: datetime | None, text: str, *, final: bool) -> Iterator[Event]:
        """Add a text of the model to the open step.

        If the text begins a new step, yield the events of the previous step. `final` is True when the log
        marks the text as the answer of the turn.
        """
        step = yield from self._enter(where, ts)
        step.texts.append(text)
        step.final = final

    def add_call(self, where: LogLine, ts: datetime | None, call: Mapping[str, Any]) -> Iterator[Event]:
        step = yield from self._enter(where, ts)
        step.calls.append({"where": where, "ts": ts, **call})

    def add_result(self, result: ResultSeen, *, by_provider: bool = False) -> Iterator[Event]:
        """Add a tool result to the open step. Yield the result directly when no step is open.

        `by_provider` is True when the provider ran the tool. The model's reply then continues after the
        result.
        """
        if self._step is not None and self._step.is_full:
            yield from self.close()
        if self._step is None:
            yield result
        else:
            self._step.results.append(result)
            self._step.ended = not by_provider

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        """Set the token counts of the open step. Further counts for the same step are ignored."""
        if usage and self._step is not None and not self._step.usage:
            self._step.usage, self._step.ended = usage, True

    def close(self) -> Iterator[Event]:
        step, self._step = self._step, None
        if step is None:
            return
        yield from self._dialogue.add_step(
            step.where,
            step.ts,
            "\n".join(filter(None, step.texts)),
            model=self.model,
            **count_whole_input(step.usage.get("input_tokens"), step.usage.get("cached_input_tokens")),
            output_tokens=read_count(step.usage.get("output_tokens")),
            answers=step.final and not step.calls,
        )
        for call in step.calls:
            yield self._dialogue.add_call(**call)
        yield from step.results

    def _enter(self, where: LogLine, ts: datetime | None) -> Generator[Event, None, _OpenStep]:
        if self._step is not None and (self._step.ended or self._step.is_full):
            yield from self.close()
        if self._step is None:
            self._step = _OpenStep(where, ts)
        return self._step


def function_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call to a function of Codex or of an MCP server. The arguments are the model's
    own text.
    """
    name, server = read_text(payload.get("name")), read_text(payload.get("namespace"))
    if name is not None and server:
        name = f"{server.rstrip('_')}__{name.lstrip('_')}"
    refusals_show = name is not None and not name.startswith(_REMOTE)
    return {
        **_shared_fields(payload),
        **argument_fields(payload.get("arguments")),
        "tool": name,
        "schema_seen": Visibility.FAILURES if refusals_show else Visibility.NONE,
    }


def custom_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call to a custom tool, whose input is free text instead of JSON."""
    text = read_text(payload.get("input"))
    sent = decoded_argument_fields(None if text is None else {"input": text})
    return {**_shared_fields(payload), **sent, "tool": read_text(payload.get("name"))}


def built_in_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call to a tool that OpenAI's API defines.

    The item's type without `_call` is the tool's name. The arguments are an object.
    """
    name = (read_text(payload.get("type")) or "").removesuffix("_call")
    return {
        **_shared_fields(payload),
        **decoded_argument_fields(payload.get("action", payload.get("arguments"))),
        "tool": name,
    }


def _shared_fields(payload: Mapping[str, Any]) -> dict[str, Any]:
    return native_call_fields(read_text(payload.get("call_id")))
