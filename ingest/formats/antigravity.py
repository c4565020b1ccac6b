"""Google Antigravity's conversations, one step per line.

**Files.** The only source is one shortened fixture of jazzyalex/agent-sessions (2026-06).

**Fields.** `{step_index, source, type, status, created_at, content, tool_calls[].{name, args}}`. `source` is
USER_EXPLICIT, MODEL or SYSTEM. A model reply has the type PLANNER_RESPONSE. The MODEL steps after a reply are
the results of its calls (LIST_DIRECTORY, RUN_COMMAND …).

**Rules.**
- The values in `args` are JSON text and are decoded.
- A result does not name its call. Results are assigned in order to the calls of the reply before them.
- The model is named in the text of the user's message (`Model Selection`).

**Not in the log.** Tokens, tool definitions, the system prompt and the model's own argument text. No failed
step was available.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import Event, FlagSource, ResultSeen, ResultStatus, SessionSeen
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.provider_messages.embedded_json import decode_json
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="antigravity",
    title="Antigravity conversations",
    raw_arguments="no: the decoded object",
    argument_failures="no",
    error_flag="partly: a step with the status ERROR",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="partly: where the user chose one",
    turn_end="no: concluded from the last message",
    cannot_tell="Known from one shortened log. Results stay unknown.",
)

_MODEL = compile_regex(r"`Model Selection` from [^\n]{1,200}? to ([^\n]{1,200}?)\.?\n")
_USER_REQUEST = compile_regex(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        {"step_index", "source", "type", "status"} <= record.keys()
        and record["type"] in ("USER_INPUT", "PLANNER_RESPONSE")
        for record in head
    )


def translator(about: About) -> Translator:
    return _AntigravityConversation(about.identity)


class _AntigravityConversation:
    """Translator of one file, which contains one conversation."""

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._model: str | None = None
        self._waiting = 0  # number of calls in the last reply that have no result yet
        self._begun = False

    def take(self, record: Record) -> Iterator[Event]:
        line, where, dialogue = record.value, record.where, self._dialogue
        kind, words, ts = line.get("type"), read_text(line.get("content")), read_time(line.get("created_at"))
        if not self._begun:
            self._begun = True
            yield SessionSeen(session_id=dialogue.session_id, where=where, ts=ts, harness="antigravity")
        if kind == "USER_INPUT":
            chosen, question_match = _MODEL.search(words or ""), _USER_REQUEST.search(words or "")
            self._model = chosen[1] if chosen is not None else self._model
            dialogue.ask(where, ts, question_match[1] if question_match is not None else words)
        elif kind == "PLANNER_RESPONSE":
            yield from dialogue.add_step(where, ts, words, model=self._model)
            calls = read_objects(line.get("tool_calls"))
            self._waiting = len(calls)
            for call in calls:
                yield dialogue.add_call(where, ts, **_read_call(call))
        elif line.get("source") == "MODEL" and self._waiting:
            self._waiting -= 1
            failed = line.get("status") == "ERROR"
            yield ResultSeen(
                session_id=dialogue.session_id,
                where=where,
                ts=ts,
                status=ResultStatus.ERROR if failed else ResultStatus.UNKNOWN,
                flag_source=FlagSource.EXPLICIT if failed else FlagSource.ABSENT,
                content=words,
            )

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _read_call(call: Mapping[str, Any]) -> dict[str, Any]:
    sent = read_object(call.get("args"))
    opened = {key: _open_value(value) for key, value in sent.items()}
    return {
        **decoded_argument_fields(opened if isinstance(call.get("args"), dict) else None),
        "tool": read_text(call.get("name")),
        **native_call_fields(read_text(call.get("id"))),
    }


def _open_value(value: Any) -> Any:
    decoded = decode_json(value) if isinstance(value, str) else None
    return value if decoded is None else decoded
