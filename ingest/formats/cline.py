"""Cline, Roo Code and Kilo Code: the history of a task in VS Code, and the sessions of Cline's CLI.

**Files.** VS Code's `globalStorage/<extension>/tasks/<epoch ms>/api_conversation_history.json`, with the
extensions `saoudrizwan.claude-dev` (Cline), `rooveterinaryinc.roo-cline` and `kilocode.kilo-code`;
`<session>.messages.json` of Cline's SDK and CLI. Sources: cline/cline, `sdk/packages/core/fixtures`
(2026-07); histories in srinivasdrona/superbased-observer and jonathan-kellerai/cross_agent_session_resumer,
modelled on real ones. No files of Roo Code and Kilo Code were available.

**Fields.** A history is an array of messages. A session is `{version, updated_at, agent, sessionId, messages,
system_prompt}`. A message has `role`, Anthropic's content blocks and `ts`. The model's messages also have
`model` or `modelInfo.modelId` and `usage` in a history, and `modelInfo.{id, provider}` and
`metrics.{inputTokens, outputTokens}` in a session.

**Rules.**
- A history does not name its session. The session is the name of the folder, `<epoch ms>`.
- Roo Code and Kilo Code keep the model in `task_metadata.json` next to the history (`model_usage[].{ts,
  model_id}`). A message gets the model that was in use at its time.
- The user's text is in `<task>`, `<feedback>`, `<user_message>`, `<user_input>` or `<answer>`.
  `<environment_details>`, results and `[ERROR] You did not use a tool` come from the extension.
- Old versions wrote calls as XML into the text, and results as `[tool …] Result:`. They are not read; one
  reject per file reports this.
- A compaction replaces earlier messages by a summary: a user message with `metadata.kind` compaction_summary
  or with `isSummary`. The summary is not a prompt. The replaced messages are not in the file.

**Limits.** `--max-line` limits the size of a document.

**Not in the log.** Tool definitions and the model's own argument text. Histories have no system prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import (
    count_input_parts,
    count_whole_input,
    read_count,
    read_epoch_ms,
    read_object,
    read_objects,
    read_text,
)
from ingest.decoding.lines import Line, decode_object, make_snippet
from ingest.events import Event, FaultLayer, LogLine, PromptSeen, Rejected, ResultSeen, SessionSeen
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks, result_fields
from ingest.formats.conversations.result_layers import Texts
from ingest.formats.provider_messages.message_hashes import is_unique, unique_id
from ingest.log_format import About, Record, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="cline",
    title="Cline, Roo and Kilo tasks",
    raw_arguments="no: the decoded object",
    argument_failures="no: the wording for invalid arguments is not known well enough",
    error_flag="yes: is_error, or success of each query",
    definitions="no: supply them with --tools",
    system_prompt="partly: in sessions of the CLI",
    model="yes: per step; for Roo and Kilo from the file next to it",
    turn_end="no: concluded from the last message",
    cannot_tell="Clean and repaired arguments cannot be distinguished. Compacted text is lost.",
)

_TEXTS: Texts = (
    (
        FaultLayer.REFUSED,
        compile_regex(r"The user denied this operation|Tool execution was (?:denied|aborted)"),
    ),
    (
        FaultLayer.SCHEMA,
        compile_regex(r"Missing value for required parameter|Invalid (?:input|arguments) for tool"),
    ),
)


_SIDE_FILE = compile_regex(r"ui_messages\.json|context_history\.json|history_item\.json|focus_chain[^/]*\.md")
_HISTORY, _METADATA = "api_conversation_history.json", "task_metadata.json"
_TYPED = compile_regex(r"<(task|feedback|user_message|user_input|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_ADDED = compile_regex(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_OF_THE_HARNESS = ("[ERROR] ", "[TASK RESUMPTION]")
_OLD_RESULT = compile_regex(r"\[\w+(?: [^\n]*)?\] Result:")
_OTHERS = {"id", "type", "uuid", "created", "timestamp", "message", "tool_calls"}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return _is_history(head) or any(
        {"version", "sessionId", "agent"} <= record.keys() and isinstance(record.get("messages"), list)
        for record in head[:1]
    )


def _is_history(head: Sequence[dict[str, Any]]) -> bool:
    """Return True for messages with a timestamp or with the model's id.

    Only Cline, Roo Code and Kilo Code store such messages.
    """
    return all(_is_message(record) for record in head) and any(
        read_count(record.get("ts")) is not None or "modelId" in read_object(record.get("modelInfo"))
        for record in head
    )


def _is_message(record: Mapping[str, Any]) -> bool:
    return (
        record.get("role") in ("user", "assistant")
        and isinstance(record.get("content"), str | list)
        and not _OTHERS & record.keys()
    )


def translator(about: About) -> Translator:
    return _ClineSessions(about)


def read_with(about: About) -> str | None:
    """If the file is `task_metadata.json`, return the name of the task's history file.

    Return None for any other file.
    """
    is_ours = about.name == _METADATA and about.read_sibling(_HISTORY) is not None
    return _HISTORY if is_ours else None


def side_file(about: About) -> str | None:
    """Describe a file that the extension keeps next to a task's history. Return None for other files."""
    is_ours = _SIDE_FILE.fullmatch(about.name) is not None and about.read_sibling(_HISTORY) is not None
    return f"a side file of a task, which is read from {_HISTORY}" if is_ours else None


class _ClineSessions:
    """Translator of one file: the history of one task, or documents that each contain one session."""

    def __init__(self, about: About) -> None:
        self._identity = about.identity
        self._history = _TaskHistory(about)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if "role" in record.value:
            yield from self._history.take(record)
        else:
            yield from self._take_document(record)

    def _take_document(self, record: Record) -> Iterator[Event]:
        dialogue = AgentSession(read_text(record.value.get("sessionId")) or self._identity)
        place: dict[str, Any] = {"session_id": dialogue.session_id, "where": record.where}
        yield SessionSeen(**place, harness="cline")
        prompt = read_text(record.value.get("system_prompt"))
        if prompt:
            yield PromptSeen(**place, text=prompt)
        for message in read_objects(record.value.get("messages")):
            yield from _make_events(message, record, dialogue)
        yield from dialogue.close_turn()

    def finish(self) -> Iterable[Event]:
        return self._history.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


class _TaskHistory:
    """The messages of one task, one per record."""

    def __init__(self, about: About) -> None:
        is_task = about.name == _HISTORY and (about.folder.isdecimal() or is_unique(about.folder))
        task = about.folder if is_task else about.identity
        self._dialogue = AgentSession(task)
        self._about = about
        # (time of the first use in ms, model) for each model; None when not read yet
        self._models: list[tuple[int, str]] | None = None
        self._old_calls_reported = False

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        message, where = record.value, record.where
        if self._models is None:
            self._models = _read_models(self._about)
            yield SessionSeen(session_id=self._dialogue.session_id, where=where, harness="cline")
        ts, blocks = read_epoch_ms(message.get("ts")), list_blocks(message.get("content"))
        if message.get("role") == "assistant":
            yield from self._take_answer(record, ts, blocks)
            return
        for result in result_fields([_join_queries(block) for block in blocks], _TEXTS):
            place = _find_place(record, result["tool_call_id"])
            yield ResultSeen(session_id=self._dialogue.session_id, where=place, ts=ts, **result)
        words = join_text(blocks) or ""
        if _OLD_RESULT.match(words) and not self._old_calls_reported:
            self._old_calls_reported = True
            reason = "calls written as XML in the text, as older versions did, are not read"
            yield Rejected(where, "missing_field", reason, make_snippet(record.data))
        typed = _find_typed_text(
            words, beside_result=any(block.get("type") == "tool_result" for block in blocks)
        )
        if typed and message.get("isSummary") is not True:
            self._dialogue.ask(where, ts, typed)

    def _take_answer(
        self, record: Record, ts: datetime | None, blocks: list[dict[str, Any]]
    ) -> Iterator[Event]:
        message, usage = record.value, read_object(record.value.get("usage"))
        info = read_object(message.get("modelInfo"))
        cached = (usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens"))
        yield from self._dialogue.add_step(
            record.where,
            ts,
            join_text(blocks),
            provider=read_text(info.get("providerId")),
            model=read_text(message.get("model") or info.get("modelId")) or self._model_at(message.get("ts")),
            **count_input_parts(usage.get("input_tokens"), *cached),
            output_tokens=read_count(usage.get("output_tokens")) or None,
        )
        for call in call_fields(blocks):
            yield self._dialogue.add_call(_find_place(record, call["tool_call_id"]), ts, **call)

    def _model_at(self, ts: Any) -> str | None:
        """Return the model that was in use at a time.

        If the time is None, return the task's model if the task used only one model.
        """
        at, models = read_count(ts), self._models or []
        if at is None:
            return models[0][1] if len({model for _, model in models}) == 1 else None
        return next((model for begun, model in reversed(models) if begun <= at), None)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()


def _read_models(about: About) -> list[tuple[int, str]]:
    data = about.read_sibling(_METADATA)
    value = decode_object(Line(LogLine(1, 0), data)) if data else None
    used = read_objects(value.get("model_usage")) if isinstance(value, dict) else []
    model_times = [(read_count(entry.get("ts")) or 0, read_text(entry.get("model_id"))) for entry in used]
    return sorted((at, model) for at, model in model_times if model)


def _find_typed_text(words: str, *, beside_result: bool) -> str | None:
    """Return the text that the user typed in a message. Return None when the extension wrote all of the text.

    `beside_result` is True when the message contains tool results. Then only text in tags such as
    `<feedback>` was typed by the user.
    """
    typed = [text for _, text in _TYPED.findall(words)]
    if typed:
        return "\n".join(typed)
    rest = _ADDED.sub("", words).strip()
    if beside_result or rest.startswith(_OF_THE_HARNESS) or _OLD_RESULT.match(rest):
        return None
    return rest or None


def _make_events(message: Mapping[str, Any], record: Record, dialogue: AgentSession) -> Iterator[Event]:
    ident, ts = read_text(message.get("id")), read_epoch_ms(message.get("ts"))
    where = _find_place(record, ident)
    blocks = list_blocks(message.get("content"))
    if message.get("role") == "assistant":
        model, metrics = read_object(message.get("modelInfo")), read_object(message.get("metrics"))
        yield from dialogue.add_step(
            where,
            ts,
            join_text(blocks),
            provider=read_text(model.get("provider")),
            model=read_text(model.get("id")),
            **count_whole_input(*map(metrics.get, ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))),
            output_tokens=read_count(metrics.get("outputTokens")) or None,
        )
        for call in call_fields(blocks):
            yield dialogue.add_call(_find_place(record, call["tool_call_id"]), ts, **call)
    elif message.get("role") == "user":
        for result in result_fields([_join_queries(block) for block in blocks], _TEXTS):
            place = _find_place(record, result["tool_call_id"])
            yield ResultSeen(session_id=dialogue.session_id, where=place, ts=ts, **result)
        words = join_text(blocks)
        if words is not None and read_object(message.get("metadata")).get("kind") != "compaction_summary":
            dialogue.ask(where, ts, words, unique_id(ident))


def _join_queries(block: dict[str, Any]) -> dict[str, Any]:
    """Join the query results in a tool_result block into one text with one error flag.

    If one query failed, the whole tool call counts as failed. Other blocks are returned unchanged.
    """
    queries = read_objects(block.get("content"))
    flags = [query.get("success") for query in queries]
    if block.get("type") != "tool_result" or not flags or not all(isinstance(flag, bool) for flag in flags):
        return block
    words = [_query_text(query) for query in sorted(queries, key=lambda query: query["success"])]
    return {**block, "content": "\n".join(words), "is_error": not all(flags)}


def _query_text(query: Mapping[str, Any]) -> str:
    outcome = query.get("error") if query.get("error") is not None else query.get("result")
    return outcome if isinstance(outcome, str) else json.dumps(outcome, ensure_ascii=False)


def _find_place(record: Record, ident: str | None) -> LogLine:
    return record.find_line(f'"{ident}"') if ident is not None else record.where
