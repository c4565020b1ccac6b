"""The records of one Codex rollout in file order in, its session and turns out, with the steps in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import Event, PromptSeen, ResultSeen, SessionSeen, Where
from ingest.fields import moment, number, table, text
from ingest.formats.codex.calls import built_in_call, custom_call, function_call
from ingest.formats.codex.outputs import content_of, flag_of, told_by, wall_time
from ingest.formats.codex.steps import Steps
from ingest.records import Record
from ingest.shapes.chat import content_text
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue

_STOPPED_BY_PEOPLE = frozenset({"interrupted", "replaced", "review_ended"})
_REMEMBERED = 1_000  # events of the harness that wait for their result; they come just before it


class Rollout:
    """One file: one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = Dialogue(identity)
        self._steps = Steps(self._dialogue)
        self._session: str | None = None
        self._task: str | None = None  # the id of the open task
        self._has_tasks = False
        self._told: dict[str, bool] = {}  # call id → what the harness said of it before its result
        self._where = Where(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterable[Event]:
        value = record.value
        payload = value.get("payload")
        if not isinstance(payload, dict):
            return ()
        rules = _RULES.get(text(value.get("type")) or "")
        rule = rules.get(text(payload.get("type")) or "") if rules is not None else None
        if rule is None:
            return ()
        self._where, self._ts = record.where, moment(value.get("timestamp"))
        return rule(self, payload)

    def finish(self) -> Iterator[Event]:
        yield from self._steps.close()
        if self._task is None:
            yield from self._dialogue.end()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    # --- the session ---------------------------------------------------------------------------

    def _session_meta(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        session = text(payload.get("id"))
        if self._session is not None and session != self._session:
            return  # a forked rollout repeats the one it comes from
        if session is not None:
            self._session = self._dialogue.session_id = session
        yield SessionSeen(
            **self._here,
            harness="codex",
            harness_version=text(payload.get("cli_version")),
            parent_session_id=_parent(payload),
            provider=text(payload.get("model_provider")),
        )
        told = payload.get("base_instructions", payload.get("instructions"))
        words = text(table(told).get("text")) or text(told)
        if words:
            yield PromptSeen(**self._here, text=words)

    def _turn_context(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        self._steps.model = text(payload.get("model")) or self._steps.model
        return ()

    # --- turns ---------------------------------------------------------------------------------

    def _task_started(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._steps.close()
        if self._task is None:
            yield from self._dialogue.end()
        else:
            self._dialogue.leave()
        self._task, self._has_tasks = text(payload.get("turn_id")) or "", True
        self._dialogue.ask(self._where, self._ts, None, self._task or None)

    def _user_message(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        said = text(payload.get("message"))
        if not self._has_tasks:
            yield from self._steps.close()
            self._dialogue.ask(self._where, self._ts, said)
        elif self._dialogue.waits_for_words and not self._steps.is_open:
            self._dialogue.ask(self._where, self._ts, said, self._task or None)

    def _task_complete(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        if payload.get("error") is not None:
            return self._ended(payload, ERROR, ok=False)
        return self._ended(payload, "complete", answer=text(payload.get("last_agent_message")))

    def _turn_aborted(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        reason = text(payload.get("reason")) or CANCELLED
        return self._ended(payload, CANCELLED if reason in _STOPPED_BY_PEOPLE else reason)

    def _ended(self, payload: Mapping[str, Any], status: str, **facts: Any) -> Iterator[Event]:
        yield from self._steps.close()
        latency = number(payload.get("duration_ms"))
        self._dialogue.stopped(self._where, self._ts, status, latency_ms=latency, **facts)
        yield from self._dialogue.end()
        self._task = None

    # --- steps ---------------------------------------------------------------------------------

    def _message(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        if payload.get("role") != "assistant":
            return ()
        said = content_text(payload.get("content")) or ""
        return self._steps.said(self._where, self._ts, said, final=payload.get("phase") == "final_answer")

    def _function_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.called(self._where, self._ts, function_call(payload))

    def _custom_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.called(self._where, self._ts, custom_call(payload))

    def _built_in_call(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._steps.called(self._where, self._ts, built_in_call(payload))

    def _web_search(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        """A search that the provider ran: the call says how it ended, no result follows."""
        yield from self._built_in_call(payload)
        yield from self._result(None, None, payload.get("status") in (None, "completed"), tool="web_search")

    def _output(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        call_id, success = text(payload.get("call_id")), table(payload.get("output")).get("success")
        told = self._told.pop(call_id or "", success if isinstance(success, bool) else None)
        return self._result(call_id, content_of(payload), told)

    def _search_output(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        return self._result(text(payload.get("call_id")), None, payload.get("status") == "completed")

    def _result(
        self, call_id: str | None, content: str | None, told: bool | None, tool: str | None = None
    ) -> Iterator[Event]:
        flag = flag_of(content or "", told)
        return self._steps.resulted(
            ResultSeen(
                **self._here,
                tool_call_id=call_id,
                tool=tool,
                content=content,
                latency_ms=wall_time(content or ""),
                **flag.fields,
            ),
            by_provider=tool is not None,
        )

    def _tool_ended(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        told = told_by(payload)
        if told is not None:
            self._told[text(payload.get("call_id")) or ""] = told
            if len(self._told) > _REMEMBERED:
                del self._told[next(iter(self._told))]
        return ()

    def _token_count(self, payload: Mapping[str, Any]) -> Iterable[Event]:
        self._steps.counted(table(table(payload.get("info")).get("last_token_usage")))
        return ()

    @property
    def _here(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _parent(payload: Mapping[str, Any]) -> str | None:
    """The session that this one was spawned by or forked from."""
    spawned = table(table(table(payload.get("source")).get("subagent")).get("thread_spawn"))
    return text(spawned.get("parent_thread_id")) or text(payload.get("forked_from_id"))


_Rule = Callable[[Rollout, Mapping[str, Any]], Iterable[Event]]
_RULES: Mapping[str, Mapping[str, _Rule]] = {
    "session_meta": {"": Rollout._session_meta},
    "turn_context": {"": Rollout._turn_context},
    "response_item": {
        "message": Rollout._message,
        "function_call": Rollout._function_call,
        "custom_tool_call": Rollout._custom_call,
        "local_shell_call": Rollout._built_in_call,
        "tool_search_call": Rollout._built_in_call,
        "web_search_call": Rollout._web_search,
        "function_call_output": Rollout._output,
        "custom_tool_call_output": Rollout._output,
        "tool_search_output": Rollout._search_output,
    },
    "event_msg": {
        "user_message": Rollout._user_message,
        "token_count": Rollout._token_count,
        "task_started": Rollout._task_started,
        "turn_started": Rollout._task_started,
        "task_complete": Rollout._task_complete,
        "turn_complete": Rollout._task_complete,
        "turn_aborted": Rollout._turn_aborted,
        "patch_apply_end": Rollout._tool_ended,
        "mcp_tool_call_end": Rollout._tool_ended,
        "exec_command_end": Rollout._tool_ended,
    },
}
