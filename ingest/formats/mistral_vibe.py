"""Mistral Vibe sessions: `~/.vibe/logs/session/<session>/messages.jsonl`, with `meta.json` next to it.

**Files.** Sources: mistralai/mistral-vibe, `vibe/core` (`LLMMessage`, `agent_loop`); fixtures of
kenn-io/agentsview (2026-06).

**Fields.** OpenAI's chat messages, one per line, with a `message_id`. `arguments` is the model's own text; in
the fixtures it is an object. `meta.json` is `{session_id, parent_session_id, start_time, end_time, model,
tools_available, stats}`.

**Rules.**
- Messages have no time, so calls get the session's start time.
- Tags in the result mark failures: `<tool_error>NAME: …` marks a call that Vibe could not read.
  `<tool_error>NAME failed: …` marks a call that ran and failed. `<user_cancellation>` marks a call that a
  person denied. The status of other results is unknown, because a skipped call is answered in the person's
  own words.
- A user message that Vibe wrote (`injected`) begins no turn.

**Not in the log.** Tokens of a step. No file with tags in results or with `tools_available` was available.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import name_project, read_object, read_objects, read_text, read_time
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
    ToolsOffered,
)
from ingest.formats.conversations.agent_session import AgentSession, sent_call_fields
from ingest.formats.conversations.result_layers import Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content, list_calls
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="mistral_vibe",
    title="Mistral Vibe sessions",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text; Vibe's own errors",
    error_flag="partly: tags in the result",
    definitions="partly: where meta.json lists the tools",
    system_prompt="partly: where the messages have it",
    model="partly: for the whole session, from meta.json",
    turn_end="no: concluded from the last message",
    cannot_tell="Results without a tag stay unknown.",
)

_MESSAGES, _META = "messages.jsonl", "meta.json"
_TEXTS: Texts = (
    (FaultLayer.REFUSED, compile_regex(r"<user_cancellation>")),
    (FaultLayer.EXECUTION, compile_regex(r"<tool_error>\S{1,200} failed: |Error getting tool ")),
    (FaultLayer.SCHEMA, compile_regex(r"<tool_error>")),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(
        {"role", "message_id"} <= record.keys() and not {"message", "sessionId", "created_at"} & record.keys()
        for record in head
        if record.get("role") != "system"
    )


def translator(about: About) -> Translator:
    return _VibeSession(about)


def read_with(about: About) -> str | None:
    """If the file is `meta.json`, return the name of the messages file. Return None for any other file."""
    beside = about.read_sibling(_MESSAGES) if about.name == _META else None
    return _MESSAGES if beside is not None and b'"message_id"' in beside else None


class _VibeSession:
    """Translator of one file, which contains one session."""

    def __init__(self, about: About) -> None:
        self._meta = _read_meta(about)
        self._dialogue = AgentSession(read_text(self._meta.get("session_id")) or about.identity)
        self._ts = read_time(self._meta.get("start_time"))
        self._begun = False

    def take(self, record: Record) -> Iterator[Event]:
        if not self._begun:
            self._begun = True
            yield from self._introduce(record.where)
        yield from self._take_message(record.value, record.where)

    def finish(self) -> Iterable[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _introduce(self, where: LogLine) -> Iterator[Event]:
        shared: dict[str, Any] = {"session_id": self._dialogue.session_id, "where": where}
        yield SessionSeen(
            **shared,
            ts=self._ts,
            harness="mistral-vibe",
            parent_session_id=read_text(self._meta.get("parent_session_id")),
            project=name_project(read_object(self._meta.get("environment")).get("working_directory")),
            branch=read_text(self._meta.get("git_branch")),
            model=read_text(self._meta.get("model")),
        )
        if definitions := read_objects(self._meta.get("tools_available")):
            yield ToolsOffered(**shared, ts=self._ts, definitions=tuple(definitions))

    def _take_message(self, message: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        role, words, ts = message.get("role"), join_content(message.get("content")), self._ts
        shared: dict[str, Any] = {"session_id": self._dialogue.session_id, "where": where, "ts": ts}
        if role == "system" and words:
            yield PromptSeen(**shared, text=words)
        elif role == "user" and message.get("injected") is not True:
            self._dialogue.ask(where, ts, words, unique_id(read_text(message.get("message_id"))))
        elif role == "assistant":
            yield from self._dialogue.add_step(where, ts, words)
            for call in list_calls(message):
                yield self._dialogue.add_call(where, ts, **sent_call_fields(call))
        elif role == "tool":
            layer = find_layer(words or "", _TEXTS)
            flag = failed_flag(words or "", layer, FlagSource.DERIVED_TEXT) if layer else ResultFlag()
            yield ResultSeen(
                **shared,
                tool_call_id=read_text(message.get("tool_call_id")),
                tool=read_text(message.get("name")),
                content=words,
                **flag.fields,
            )


def _read_meta(about: About) -> dict[str, Any]:
    data = about.read_sibling(_META) if about.name == _MESSAGES else None
    value = decode_object(Line(LogLine(1, 0), data, True)) if data is not None else {}
    return {} if isinstance(value, Rejected) else read_object(value)
