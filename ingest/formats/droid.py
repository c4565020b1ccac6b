"""Droid (Factory) sessions: one record per line, saved by the CLI or printed by `droid exec`.

**Files.** `~/.factory/sessions/<project>/<session>.jsonl`. The format is undocumented. These notes are based
on shortened samples in jazzyalex/agent-sessions (0.81, 2025-12).

**Fields.**
- Saved sessions: `{type: session_start, id, title, version}`, then `{type: message, id, parentId, timestamp,
  message}` with Anthropic's content blocks.
- Printed streams (`--output-format stream-json`): `{type, session_id, timestamp}`. The types are system
  (`model`), message (`role`, `text`), tool_call (`toolCallId`, `toolName`, `parameters`), tool_result
  (`toolCallId`, `value`, `isError`) and completion (`finalText`).

**Turns.** An answered user message with text begins a turn. In a stream, `completion` ends the turn.

**Rules.**
- Results in saved sessions have no error flag. A failed command has the text `Error: Command failed (exit
  code: 1)`.
- In a stream, a command's exit code is `value.exitCode`.
- Droid adds texts for the model in `<system-reminder>`. These texts are not prompts.

**Side files.** `<session>.settings.json` next to a session contains no calls.

**Not in the log.** The system prompt, tool definitions and the model's own argument text. Saved sessions do
not name the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import name_project, read_object, read_text, read_time
from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    ResultSeen,
    ResultStatus,
    SessionSeen,
)
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks, result_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.formats.provider_messages.message_hashes import unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="droid",
    title="Droid sessions",
    raw_arguments="no: the decoded object",
    argument_failures="no",
    error_flag="partly: exit codes; the text of failed commands",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: of streamed sessions",
    turn_end="partly: completion, in streamed sessions",
    cannot_tell="Most kept results carry no sign of success: they stay unknown.",
)

_SIDE_FILE = compile_regex(r"(?:.*[/!])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.settings\.json")
_STREAMED = frozenset({"system", "message", "tool_call", "tool_result", "completion"})
_TEXTS: Texts = (
    (FaultLayer.REFUSED, compile_regex(r"(?:Error: )?(?:User|The user) (?:rejected|denied|cancelled)")),
)
_COMMAND = compile_regex(r"Error: Command failed \(exit code: -?\d+\)")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    stored = any(
        record.get("type") == "session_start" and "id" in record and {"title", "sessionTitle"} & record.keys()
        for record in head[:3]
    )
    streamed = all(
        read_text(record.get("type")) in _STREAMED and isinstance(record.get("session_id"), str)
        for record in head
    ) and any({"text", "role"} <= record.keys() or "toolCallId" in record for record in head)
    return stored or streamed


def side_file(about: About) -> str | None:
    """Describe a file that Droid keeps next to its sessions. Return None for other files."""
    return "a side file of Droid" if _SIDE_FILE.fullmatch(about.path) else None


def translator(about: About) -> Translator:
    return _DroidSession(about.identity)


class _DroidSession:
    """Translator of one file, which contains one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._begun = False
        # A result followed the model's last message, so another model message will follow.
        self._answered = False
        self._where = LogLine(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        self._where, self._ts = record.where, read_time(value.get("timestamp"))
        if not self._begun:
            self._begun = True
            yield from self._take_session(value)
        if isinstance(value.get("message"), dict):
            yield from self._take_stored(value["message"], unique_id(read_text(value.get("id"))))
        elif isinstance(value.get("session_id"), str):
            yield from self._take_streamed(value)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_session(self, value: Mapping[str, Any]) -> Iterator[Event]:
        ident = read_text(value.get("session_id"))
        if value.get("type") == "session_start":
            ident = read_text(value.get("id"))
        self._dialogue.session_id = ident or self._dialogue.session_id
        yield SessionSeen(
            **self._event_place,
            harness="droid",
            harness_version=read_text(value.get("version")),
            project=name_project(value.get("cwd")),
            model=read_text(value.get("model")),
        )

    def _take_stored(self, message: Mapping[str, Any], key: str | None) -> Iterator[Event]:
        blocks = list_blocks(message.get("content"))
        if message.get("role") == "assistant":
            yield from self._dialogue.add_step(self._where, self._ts, join_text(blocks))
            for call in call_fields(blocks):
                yield self._dialogue.add_call(self._where, self._ts, **call)
        elif message.get("role") == "user":
            for result in result_fields(blocks, _TEXTS):
                yield ResultSeen(**{**self._event_place, **result, **_failed_command_fields(result)})
            message_blocks = [block for block in blocks if not _is_reminder(block)]
            words = join_text(message_blocks)
            if words:
                self._dialogue.ask(self._where, self._ts, words, key)

    def _take_streamed(self, value: Mapping[str, Any]) -> Iterator[Event]:
        kind, words = value.get("type"), read_text(value.get("text"))
        if kind == "message" and value.get("role") == "user":
            self._dialogue.ask(self._where, self._ts, words)
        elif kind == "message" and value.get("role") == "assistant":
            self._answered = False
            yield from self._dialogue.add_step(self._where, self._ts, words)
        elif kind == "tool_call":
            if self._answered or not self._dialogue.is_open:
                self._answered = False
                yield from self._dialogue.add_step(self._where, self._ts)
            call_id = read_text(value.get("toolCallId"))
            yield self._dialogue.add_call(
                self._where,
                self._ts,
                **decoded_argument_fields(value.get("parameters")),
                tool=read_text(value.get("toolName")),
                **native_call_fields(call_id),
            )
        elif kind == "tool_result":
            self._answered = True
            yield self._make_result(value)
        elif kind == "completion":
            answer = read_text(value.get("finalText"))
            self._dialogue.note_stop(self._where, self._ts, "completed", answer=answer)
            yield from self._dialogue.close_turn()

    def _make_result(self, value: Mapping[str, Any]) -> ResultSeen:
        output = value.get("value")
        content = (
            read_text(output) if not isinstance(output, dict) else json.dumps(output, ensure_ascii=False)
        )
        code, flag = read_object(output).get("exitCode"), ResultFlag()
        if isinstance(code, int) and not isinstance(code, bool):
            source = FlagSource.DERIVED_EXIT_CODE
            flag = failed_flag(content or "", source=source) if code else ResultFlag(ResultStatus.OK, source)
        elif isinstance(value.get("isError"), bool):
            flag = failed_flag(content or "") if value["isError"] else PASSED
        return ResultSeen(
            **self._event_place,
            tool_call_id=read_text(value.get("toolCallId")),
            content=content,
            **flag.fields,
        )

    @property
    def _event_place(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _failed_command_fields(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status fields of a tool result whose text reports that a command failed.

    The dict is empty when the result already has a status or reports no failed command.
    """
    content = result.get("content") or ""
    if result["status"] is not ResultStatus.UNKNOWN or not _COMMAND.match(content):
        return {}
    flag = failed_flag(content, source=FlagSource.DERIVED_EXIT_CODE)
    return flag.fields


def _is_reminder(block: Mapping[str, Any]) -> bool:
    return (read_text(block.get("text")) or "").lstrip().startswith("<system-reminder>")
