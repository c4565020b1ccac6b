"""Droid (Factory) sessions: one record a line, as the CLI keeps them or as `droid exec` streams them.

On disk `~/.factory/sessions/<project>/<session>.jsonl`. Undocumented; these notes come from samples of
jazzyalex/agent-sessions (0.81, 2025-12), which were shortened by hand.

**Shape.** Kept: `{type: session_start, id, title, version}`, then `{type: message, id, parentId, timestamp,
message}` with Anthropic's content blocks. Streamed (`--output-format stream-json`): `{type, session_id,
timestamp}` of type system (`model`), message (`role`, `text`), tool_call (`toolCallId`, `toolName`,
`parameters`), tool_result (`toolCallId`, `value`, `isError`), completion (`finalText`).

**Turns.** A user's message with words that is answered; `completion` ends a streamed one.

**Traps.**
- Results that were kept carry no flag; a failed command says `Error: Command failed (exit code: 1)`.
- A streamed command's exit code is `value.exitCode`.
- What the harness adds for the model comes as text in `<system-reminder>` and is no prompt.

**Cannot tell.** System prompt, tool definitions, the model's own text; the model of kept sessions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.events import (
    Event,
    FaultLayer,
    FlagSource,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    Where,
)
from ingest.fields import moment, table, text
from ingest.formats import About, Source, Translator
from ingest.records import Record
from ingest.shapes.blocks import blocks_in, calls_in, results_in, words_in
from ingest.shapes.chat import Flag
from ingest.shapes.dialogue import Dialogue, decoded, native
from ingest.shapes.marks import unique_id
from ingest.shapes.verdicts import PASSED, Texts, failed

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

_STREAMED = frozenset({"system", "message", "tool_call", "tool_result", "completion"})
_TEXTS: Texts = (
    (FaultLayer.REFUSED, re.compile(r"(?:Error: )?(?:User|The user) (?:rejected|denied|cancelled)")),
)
_COMMAND = re.compile(r"Error: Command failed \(exit code: -?\d+\)")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    kept = any(
        record.get("type") == "session_start" and "id" in record and {"title", "sessionTitle"} & record.keys()
        for record in head[:3]
    )
    streamed = all(
        text(record.get("type")) in _STREAMED and isinstance(record.get("session_id"), str) for record in head
    ) and any({"text", "role"} <= record.keys() or "toolCallId" in record for record in head)
    return kept or streamed


def translator(about: About) -> Translator:
    return _Session(about.identity)


class _Session:
    """One file: one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = Dialogue(identity)
        self._begun = False
        self._answered = False  # a result came after the model's last message: it will speak again
        self._where = Where(1, 0)
        self._ts: datetime | None = None

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        self._where, self._ts = record.where, moment(value.get("timestamp"))
        if not self._begun:
            self._begun = True
            yield from self._session(value)
        if isinstance(value.get("message"), dict):
            yield from self._kept(value["message"], unique_id(text(value.get("id"))))
        elif isinstance(value.get("session_id"), str):
            yield from self._streamed(value)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.end()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    def _session(self, value: Mapping[str, Any]) -> Iterator[Event]:
        ident = text(value.get("session_id"))
        if value.get("type") == "session_start":
            ident = text(value.get("id"))
        self._dialogue.session_id = ident or self._dialogue.session_id
        yield SessionSeen(
            **self._here,
            harness="droid",
            harness_version=text(value.get("version")),
            model=text(value.get("model")),
        )

    def _kept(self, message: Mapping[str, Any], key: str | None) -> Iterator[Event]:
        blocks = blocks_in(message.get("content"))
        if message.get("role") == "assistant":
            yield from self._dialogue.step(self._where, self._ts, words_in(blocks))
            for call in calls_in(blocks):
                yield self._dialogue.call(self._where, self._ts, **call)
        elif message.get("role") == "user":
            for result in results_in(blocks, _TEXTS):
                yield ResultSeen(**{**self._here, **result, **_failed_command(result)})
            said = [block for block in blocks if not _is_reminder(block)]
            words = words_in(said)
            if words:
                self._dialogue.ask(self._where, self._ts, words, key)

    def _streamed(self, value: Mapping[str, Any]) -> Iterator[Event]:
        kind, words = value.get("type"), text(value.get("text"))
        if kind == "message" and value.get("role") == "user":
            self._dialogue.ask(self._where, self._ts, words)
        elif kind == "message" and value.get("role") == "assistant":
            self._answered = False
            yield from self._dialogue.step(self._where, self._ts, words)
        elif kind == "tool_call":
            if self._answered or not self._dialogue.is_open:
                self._answered = False
                yield from self._dialogue.step(self._where, self._ts)
            call_id = text(value.get("toolCallId"))
            yield self._dialogue.call(
                self._where,
                self._ts,
                **decoded(value.get("parameters")),
                tool=text(value.get("toolName")),
                **native(call_id),
            )
        elif kind == "tool_result":
            self._answered = True
            yield self._result(value)
        elif kind == "completion":
            answer = text(value.get("finalText"))
            self._dialogue.stopped(self._where, self._ts, "completed", answer=answer)
            yield from self._dialogue.end()

    def _result(self, value: Mapping[str, Any]) -> ResultSeen:
        told = value.get("value")
        content = text(told) if not isinstance(told, dict) else json.dumps(told, ensure_ascii=False)
        code, flag = table(told).get("exitCode"), Flag()
        if isinstance(code, int) and not isinstance(code, bool):
            source = FlagSource.DERIVED_EXIT_CODE
            flag = failed(content or "", source=source) if code else Flag(ResultStatus.OK, source)
        elif isinstance(value.get("isError"), bool):
            flag = failed(content or "") if value["isError"] else PASSED
        return ResultSeen(
            **self._here,
            tool_call_id=text(value.get("toolCallId")),
            content=content,
            **flag.fields,
        )

    @property
    def _here(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _failed_command(result: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result whose text alone says that the command failed."""
    content = result.get("content") or ""
    if result["status"] is not ResultStatus.UNKNOWN or not _COMMAND.match(content):
        return {}
    flag = failed(content, source=FlagSource.DERIVED_EXIT_CODE)
    return flag.fields


def _is_reminder(block: Mapping[str, Any]) -> bool:
    return (text(block.get("text")) or "").lstrip().startswith("<system-reminder>")
