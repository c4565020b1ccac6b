"""Grok Build sessions: `~/.grok/sessions/<folder>/<id>/chat_history.jsonl`, one entry per line.

**Files.** Sources: fixtures of kenn-io/agentsview and jazzyalex/agent-sessions, modelled on real files
(2026-07).

**Fields.** `{type, content, …}` with `type` system, user, reasoning, assistant, tool_result or
backend_tool_call. Older files have `role` (system, user, assistant, tool) and OpenAI's `tool_calls`. A call
is `{id, name, arguments}`; `arguments` is the model's own text. `summary.json` in the same folder has the
session's id, parent, times and model.

**Rules.**
- A user line with `synthetic_reason` begins no turn. Nobody typed it, or it was typed in the middle of a turn
  (`interjection`).
- `backend_tool_call` ran at the provider and is not counted.
- Lines have no time, so calls get the session's time.

**Not in the log.** Whether a call failed (results have no error flag), tool definitions and tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import name_project, read_object, read_text, read_time
from ingest.decoding.lines import Line, decode_object
from ingest.events import (
    Event,
    FlagSource,
    LogLine,
    PromptSeen,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
)
from ingest.formats.conversations.agent_session import AgentSession, sent_call_fields
from ingest.formats.provider_messages.chat_messages import join_content, list_calls
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="grok_build",
    title="Grok Build sessions",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="no",
    definitions="no: supply them with --tools",
    system_prompt="yes",
    model="yes: per step",
    turn_end="no: concluded from the last message",
    cannot_tell="Results carry no sign of success: they stay unknown. Calls that ran at the provider are not "
    "counted.",
)

_HISTORY, _SUMMARY = "chat_history.jsonl", "summary.json"


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(map(_is_sure, head)) and all("message" not in record for record in head)


def _is_sure(record: Mapping[str, Any]) -> bool:
    """Return True for a line that only Grok Build writes.

    Such a line is a reply with its model, a user line with fields of Grok Build, or a tool call that the
    provider ran.
    """
    kind = record.get("type", record.get("role"))
    if kind == "assistant":
        return "model_id" in record and isinstance(record.get("content"), str | list)
    if kind == "user":
        return "content" in record and ("synthetic_reason" in record or "prompt_index" in record)
    return bool(kind == "backend_tool_call")


def translator(about: About) -> Translator:
    return _GrokSession(about)


def read_with(about: About) -> str | None:
    """If the file is a summary, return the name of the session file. Return None for any other file."""
    beside = about.read_sibling(_HISTORY) if about.name == _SUMMARY else None
    return _HISTORY if beside is not None and b'"model_id"' in beside else None


class _GrokSession:
    """Translator of one file, which contains one session."""

    def __init__(self, about: About) -> None:
        self._summary = _read_summary(about)
        info = read_object(self._summary.get("info"))
        self._dialogue = AgentSession(read_text(info.get("id")) or about.identity)
        self._ts = read_time(self._summary.get("created_at"))
        self._begun = False

    def take(self, record: Record) -> Iterator[Event]:
        if not self._begun:
            self._begun = True
            yield SessionSeen(
                session_id=self._dialogue.session_id,
                where=record.where,
                ts=self._ts,
                harness="grok-build",
                parent_session_id=read_text(self._summary.get("parent_session_id")),
                project=name_project(read_object(self._summary.get("info")).get("cwd")),
                model=read_text(self._summary.get("current_model_id")),
            )
        yield from _make_events(record.value, self._dialogue, record.where, self._ts)

    def finish(self) -> Iterable[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _read_summary(about: About) -> dict[str, Any]:
    data = about.read_sibling(_SUMMARY) if about.name == _HISTORY else None
    value = decode_object(Line(LogLine(1, 0), data, True)) if data is not None else {}
    return {} if isinstance(value, Rejected) else value


def _make_events(
    line: Mapping[str, Any], dialogue: AgentSession, where: LogLine, ts: datetime | None
) -> Iterator[Event]:
    kind, words = line.get("type", line.get("role")), join_content(line.get("content"))
    shared: dict[str, Any] = {"session_id": dialogue.session_id, "where": where, "ts": ts}
    if kind == "system" and words:
        yield PromptSeen(**shared, text=words)
    elif kind == "user" and "synthetic_reason" not in line:
        dialogue.ask(where, ts, words)
    elif kind == "assistant":
        yield from dialogue.add_step(where, ts, words, model=read_text(line.get("model_id")))
        for call in list_calls(line):
            yield dialogue.add_call(where, ts, **sent_call_fields(call))
    elif kind in ("tool_result", "tool"):
        yield ResultSeen(
            **shared,
            tool_call_id=read_text(line.get("tool_call_id")),
            status=ResultStatus.UNKNOWN,
            flag_source=FlagSource.ABSENT,
            content=words,
        )
