"""gptme conversations: `~/.local/share/gptme/logs/<name>/conversation.jsonl`, one message per line.

**Files.** Sources: gptme/gptme, `gptme/message.py` and `gptme/tools`; a fixture of kenn-io/agentsview
(2026-06).

**Fields.** `{role, content, timestamp, pinned?, hide?, metadata.{model, usage}, call_id?}`.

**Calls.** gptme's prompt asks the model to write calls into the text (strategy `json_fallback`). A call is a
code block whose language is a tool (`shell`, `ipython`, `save FILE`, `patch FILE` …), or `@tool(id): {json}`.
The code block is not JSON and is kept as `{args, content}`. The JSON of the second form is kept unchanged as
raw arguments.

**Rules.**
- A code block in `python`, `bash` or a similar language may be an example. The code block is a call only if
  the next message comes from a tool.
- Results are messages with the role `system` (older) or `tool`, without a tool name. A system message that
  does not follow a call is not a result.

**Not in the log.** Whether a call failed, and tool definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import count_input_parts, read_count, read_object, read_text, read_time
from ingest.events import (
    ArgsSource,
    Event,
    FlagSource,
    LogLine,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    Strategy,
)
from ingest.formats.conversations.agent_session import AgentSession
from ingest.log_format import About, Record, Source, Translator
from lenient.calls.reading.json_in_text import find_json_end
from lenient.regex import compile_regex

SOURCE = Source(
    name="gptme",
    title="gptme conversations",
    raw_arguments="partly: of calls written as @tool(id): {json}; code blocks are not JSON",
    argument_failures="partly: parsed if the arguments are JSON",
    error_flag="no",
    definitions="no: supply them with --tools",
    system_prompt="yes: as a message",
    model="yes: per step, with its provider",
    turn_end="no: concluded from the last message",
    cannot_tell="Results carry no sign of success: they stay unknown.",
)

_OWN = ("pinned", "hide", "call_id", "metadata")
_TOOLS = frozenset(
    ("shell", "ipython", "py", "save", "append", "patch", "morph", "tmux", "gh", "read", "todowrite")
)
_EXAMPLES = frozenset(("python", "bash", "sh", "zsh"))
_FENCE = compile_regex(r"^```(?:(?P<tool>[A-Za-z_]{1,40})(?P<args>[^\n`]{0,500}))?[ \t]*$", re.MULTILINE)
_CALL = compile_regex(r"^@(?P<tool>\w{1,100})\((?P<id>[\w-]{1,200})\):[ \t]*(?=\{)", re.MULTILINE)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return all({"role", "content", "timestamp"} <= record.keys() for record in head) and any(
        any(key in record for key in _OWN[:3]) or "model" in read_object(record.get("metadata"))
        for record in head
    )


def translator(about: About) -> Translator:
    return _GptmeConversation(about.identity)


class _GptmeConversation:
    """Translator of one file, which contains one conversation.

    A model reply waits for the next message, which shows whether the reply's code blocks were run.
    """

    def __init__(self, identity: str) -> None:
        self._dialogue = AgentSession(identity)
        self._reply: tuple[dict[str, Any], LogLine] | None = None
        self._waiting = 0  # number of calls without a result
        self._begun = False

    def take(self, record: Record) -> Iterator[Event]:
        if not self._begun:
            self._begun = True
            session = self._dialogue.session_id
            yield SessionSeen(session_id=session, where=record.where, harness="gptme")
        role = record.value.get("role")
        yield from self._release(answered=role in ("tool", "system"))
        words, ts = read_text(record.value.get("content")), read_time(record.value.get("timestamp"))
        if role == "assistant":
            self._reply = record.value, record.where
        elif role == "user":
            self._waiting = 0
            self._dialogue.ask(record.where, ts, words)
        elif role in ("tool", "system") and self._waiting:
            self._waiting -= 1
            yield self._make_result(record, words, ts)
        elif role == "system" and words and record.value.get("pinned") is True:
            yield PromptSeen(session_id=self._dialogue.session_id, where=record.where, ts=ts, text=words)

    def finish(self) -> Iterator[Event]:
        yield from self._release(answered=False)
        yield from self._dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _release(self, *, answered: bool) -> Iterator[Event]:
        """Yield the events of the waiting reply.

        `answered` is True when the next message comes from a tool.
        """
        if self._reply is None:
            return
        (message, where), self._reply = self._reply, None
        words, ts = read_text(message.get("content")) or "", read_time(message.get("timestamp"))
        calls = list(_list_calls(words, answered=answered))
        yield from self._dialogue.add_step(where, ts, words, **_model_facts(message))
        for call in calls:
            yield self._dialogue.add_call(where, ts, strategy=Strategy.JSON_FALLBACK, **call)
        self._waiting = len(calls)

    def _make_result(self, record: Record, words: str | None, ts: datetime | None) -> ResultSeen:
        return ResultSeen(
            session_id=self._dialogue.session_id,
            where=record.where,
            ts=ts,
            tool_call_id=read_text(record.value.get("call_id")),
            status=ResultStatus.UNKNOWN,
            flag_source=FlagSource.ABSENT,
            content=words,
        )


def _model_facts(message: Mapping[str, Any]) -> dict[str, Any]:
    metadata = read_object(message.get("metadata"))
    usage = read_object(metadata.get("usage"))
    provider, _, model = (read_text(metadata.get("model")) or "").partition("/")
    parts = map(usage.get, ("input_tokens", "cache_read_tokens", "cache_creation_tokens"))
    return {
        "model": model or provider or None,
        "provider": provider if model else None,
        "output_tokens": read_count(usage.get("output_tokens")) or None,
        **count_input_parts(*parts),
    }


def _list_calls(words: str, *, answered: bool) -> Iterator[dict[str, Any]]:
    """Yield the `CallMade` fields of each tool call in a reply, in order."""
    calls = [(match.start(), _read_call(match, words)) for match in _CALL.finditer(words)]
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(words):
        if opened is None:
            opened = fence
            continue
        tool, body = (opened["tool"] or "").lower(), words[opened.end() + 1 : fence.start()]
        if tool in _TOOLS or (answered and tool in _EXAMPLES):
            arguments = {"args": (opened["args"] or "").split(), "content": body}
            calls.append(
                (
                    opened.start(),
                    {"tool": tool, "arguments": arguments, "args_source": ArgsSource.RESERIALISED},
                )
            )
        opened = None
    for _, call in sorted(calls, key=lambda pair: pair[0]):
        yield call


def _read_call(match: re.Match[str], words: str) -> dict[str, Any]:
    end = find_json_end(words, match.end())
    raw = words[match.end() : end] if end is not None else words[match.end() :].split("\n@", 1)[0].rstrip()
    return {
        "tool": match["tool"],
        "tool_call_id": match["id"],
        "raw_arguments": raw,
        "args_source": ArgsSource.RAW,
    }
