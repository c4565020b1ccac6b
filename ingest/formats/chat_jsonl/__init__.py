"""Chat transcripts: JSON objects with `messages` in the format of OpenAI or Anthropic.

**Files.** Many programs write each conversation as one line of JSON, and so do data sets for fine-tuning
(https://platform.openai.com/docs/guides/supervised-fine-tuning). This is the format of last resort: it reads
only files that no other format reads.

**Fields.** `{messages: [{role, content, tool_calls[].{id, function.{name, arguments}}}], …}`, or the content
blocks `text`, `tool_use` and `tool_result`. Older logs have `function_call`. `messages` may be JSON text.
ShareGPT's rows have `conversations[].{from, value}`. Hermes' rows have `<tool_call>` and `<tool_response>` in
texts, and `<tools>` in the system prompt. Use `--map` for other field names (docs/mapping.md). These fields
are read at the top level or in `metadata`:
- ids of the conversation: `session_id`, `conversation_id`, `thread_id`, `chat_id`; ids of one line: `id`,
  `request_id`
- `model`, `model_name`, `model_id`; `provider`
- the time: `timestamp`, `created`, `created_at`, `time`, `ts` …; a message's own time is preferred
- `tools` or `functions`, also as JSON text; `system`, `system_prompt` or `instructions`
- the reply, if it is not among the messages: `response`, `completion`, `output`, `reply`, `choices`
- `usage` with the field names of any API, `latency_ms` or `duration_ms`, `finish_reason` or `stop_reason`
- `user`, `user_id`, `task`

**Required.** At least half of the records must have `messages` in which every message is readable: one of
OpenAI's roles, and text, blocks or calls. At least one record must contain an answer. A record without such
messages must not contain a call.

**Rules.**
- A line may repeat the conversation so far, only its last messages, or nothing. Lines that name the same
  conversation become one session. Other lines are joined when they repeat a whole conversation or one of its
  unique call ids. Repeated messages count once.
- Two equal lines without unique call ids are two sessions, because two users may write the same text.
- The `usage` of a line is stored with its last new reply.
- In training data the calls are labels, so failures are defects of the data.
- `<tool_call>` in a text is a call in ShareGPT's rows. In other rows it is a call only if the system prompt
  contains `<tools>` or `<tool_call>`, or a message begins with `<tool_response>`. Otherwise it is a missing
  call: the model wrote text instead of a call.

**Not in the log.** Everything that the lines leave out. After loading, a message names the files without
model, time, tool definitions or token counts.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ingest.decoding.call_marks import find_marks
from ingest.decoding.fields import json_type, read_number, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, PromptSeen, Rejected, SessionSeen, Strategy, ToolsOffered
from ingest.formats.chat_jsonl.conversation_joining import (
    ConversationJoiner,
    JoinedConversation,
    TranscriptLine,
    hash_parts,
    make_mark,
)
from ingest.formats.chat_jsonl.training_rows import WRITTEN, read_prompt_tools, unify_messages
from ingest.formats.conversations.message_dump import DumpedSession
from ingest.formats.conversations.session_per_record import RecordIds
from ingest.formats.provider_messages import anthropic_messages, openai_chat
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.exchange import join_texts, parse_instant
from ingest.formats.provider_messages.message_hashes import is_unique
from ingest.formats.provider_messages.message_lists import read_message, read_messages
from ingest.formats.provider_messages.message_parts import (
    Message,
    MessageCall,
    MessageResult,
    part_kind,
)
from ingest.log_format import About, Record, Source, Translator
from ingest.record_mapping import RecordMapping, put_fields
from ingest.sessions.stored_text import json_text

SOURCE = Source(
    name="chat_jsonl",
    title="Chat transcripts",
    raw_arguments="partly: where arguments are text",
    argument_failures="yes, where arguments are text",
    error_flag="partly: Anthropic's is_error, where a result has it",
    definitions="partly: where a line has tools",
    system_prompt="yes",
    model="partly: where a line names it",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="What the lines leave out; a load names the files without a model, time, tools or tokens. "
    "In training data failures are defects of the data, not of a model.",
)
LAST_RESORT = True

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CONVERSATIONS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId",
                  "chat_id", "chatId")  # fmt: skip
_LINES = ("id", "request_id", "requestId", "uuid")
_MODELS = ("model", "model_name", "modelName", "model_id", "modelId")
_TIMES = ("timestamp", "created_at", "createdAt", "created", "time", "ts", "datetime", "date", "start_time",
          "started_at")  # fmt: skip
_SYSTEMS = ("system", "system_prompt", "systemPrompt", "instructions")
_REPLIES = ("response", "completion", "output", "reply", "choices", "message")
_LATENCIES = ("latency_ms", "duration_ms", "latencyMs", "durationMs", "elapsed_ms")
_TOKENS = frozenset(("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "tokens",
                     "cache_read_input_tokens", "cache_creation_input_tokens"))  # fmt: skip
_ENDS = ("finish_reason", "stop_reason", "finishReason", "stopReason")
_ANSWERS = ("stop", "end_turn")
_USERS = ("user", "user_id", "userId")
# Messages of any role have these keys, so they do not show that a message is a reply.
_BARE = frozenset(("role", "content", "name", "tool_call_id"))
_PLAIN = frozenset(("role", "content", "tool_calls"))  # the only keys of a reply that `_read_plain` can read
_CALL = frozenset(("id", "type", "function"))  # the only keys of a call that `_read_plain` can read
_FUNCTION = frozenset(("name", "arguments"))  # the only keys of a call's function that `_read_plain` can read
_AT_PROVIDER = "server_tool_use"  # the type of a call that the provider runs
_SILENT = Message(role="none")  # placeholder for a message without content
_NAMES = 100_000
_FACTS = {"model": "model", "time": "time", "tools": "tool definitions", "tokens": "token counts"}
# fact → the name of its field in a mapping (`--map`)
_FACT_FIELDS = {"model": "model", "time": "timestamp", "tools": "tools", "tokens": "usage"}


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    transcripts = [record for record in head if _is_transcript(record)]
    if 2 * len(transcripts) < len(head) or not any(map(_has_answer, transcripts)):
        return False
    others = [record for record in head if not _is_transcript(record)]
    return not any(True for record in others for _ in find_marks(record))


def _is_transcript(record: Mapping[str, Any]) -> bool:
    messages = _list_messages(record)
    return isinstance(messages, list) and bool(messages) and all(map(_parse_message, messages))


def _list_messages(value: Mapping[str, Any]) -> Any:
    """Return the messages of a record in OpenAI's format.

    If the field contains no list, return the field's value unchanged.
    """
    messages = value.get("messages")
    messages = open_json(value.get("conversations") if messages is None else messages)
    return unify_messages(messages) if isinstance(messages, list) else messages


def _parse_message(raw: Any) -> Message | None:
    """Return an object as a message. Return None when the object, its content or one of its tool calls is
    unreadable.
    """
    if not isinstance(raw, dict) or raw.get("role") not in _ROLES:
        return None
    content = raw.get("content")
    if isinstance(content, list):
        if not all(isinstance(part, str) or (isinstance(part, dict) and _is_part(part)) for part in content):
            return None
        parts = [part for part in content if read_object(part).get("type") != _AT_PROVIDER]
        raw = {**raw, "content": parts}
    elif content is not None and not isinstance(content, str):
        return None
    if isinstance(content, str | None) and (plain := _read_plain(raw, content)) is not None:
        return plain
    message = next(read_message(raw, None), _SILENT)
    if not isinstance(content, list) and raw.keys() <= _BARE:
        return message
    is_read = len(message.calls) >= sum(1 for _ in find_marks(raw)) and all(
        call.name for call in message.calls
    )
    return message if is_read else None


def _read_plain(raw: dict[str, Any], content: str | None) -> Message | None:
    """Return a message of the most common kinds. This is faster than `read_message`.

    Return None for any other message.
    """
    role, text = raw["role"], content or ""
    if role == "user" and content is not None:
        return Message(role="user", text=content)  # A user's text is never read as a list of calls.
    if text.startswith("[{"):  # The text may be a list of calls, which `read_message` reads.
        return None
    if raw.keys() <= _BARE and text:
        if role in ("system", "developer"):
            return Message(role="system", text=content)
        if role == "tool" and text.lstrip()[:1] not in ("", "{", "[", '"'):
            call_id, name = read_text(raw.get("tool_call_id")), read_text(raw.get("name"))
            return Message(role="tool", results=(MessageResult(call_id or None, name or None, content),))
    calls = _read_plain_calls(raw) if role == "assistant" and raw.keys() <= _PLAIN else None
    return Message(role="assistant", text=content, calls=tuple(calls)) if calls is not None else None


def _read_plain_calls(raw: dict[str, Any]) -> list[MessageCall] | None:
    listed = raw.get("tool_calls") or []
    if not isinstance(listed, list):
        return None
    calls = []
    for call in listed:
        if not isinstance(call, dict) or not call.keys() <= _CALL:
            return None
        function = call.get("function")
        if not isinstance(function, dict) or function.keys() != _FUNCTION:
            return None
        name, call_id = function["name"], read_text(call.get("id"))
        if not isinstance(name, str) or not name:
            return None
        calls.append(MessageCall(name, call_id or None, function["arguments"]))
    return calls


def _is_part(part: dict[str, Any]) -> bool:
    return isinstance(part.get("type"), str) or part_kind(part) is not None


def _has_answer(record: Mapping[str, Any]) -> bool:
    messages = read_objects(_list_messages(record))
    return any(message.get("role") == "assistant" for message in messages) or _read_reply(record) is not None


def translator(about: About) -> Translator:
    return _ChatTranscripts(about)


def describe_record(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that were read from a record, as short strings.

    The keys are the field names that `--map` can set. Fields that the record lacks are left out.
    """
    pairs, value = _read_logged_messages(value), _merge_metadata(value)
    messages = [] if isinstance(pairs, tuple) else [pair.message for pair in pairs]
    roles = ", ".join(
        f"{count} {role}" for role, count in Counter(message.role for message in messages).items()
    )
    calls = ", ".join(call.name or "?" for message in messages for call in message.calls)
    last = next((message for message in reversed(messages) if message.role == "assistant"), _SILENT)
    facts = _reply_facts(value, last)
    tools, ts = _read_definitions(value), _read_time(value)
    tokens = {"in": facts.get("input_tokens"), "out": facts.get("output_tokens")}
    texts = {
        "messages": f"{roles}; calls {calls}" if calls else roles,
        "model": _read_model(value),
        "provider": _find_text(value, ("provider",)),
        "session_id": _find_text(value, _CONVERSATIONS),
        "id": _find_text(value, _LINES),
        "timestamp": ts.isoformat() if ts else None,
        "tools": f"{len(tools)} definition{'' if len(tools) == 1 else 's'}" if tools else None,
        "usage": ", ".join(f"{count} {way}" for way, count in tokens.items() if count is not None),
        "latency_ms": str(facts["latency_ms"]) if facts.get("latency_ms") is not None else None,
        "stop_reason": facts.get("stop_reason"),
        **_session_facts(value),
    }
    return {name: text for name, text in texts.items() if text}


class LoggedMessage(NamedTuple):
    """A message, and the unchanged object that contains the message in the log."""

    message: Message
    raw: Mapping[str, Any]


class _ChatTranscripts:
    def __init__(self, about: About) -> None:
        self._identity = about.identity
        self._mapping = about.mapping
        # fields of `--map` whose path has matched nothing so far
        self._unmapped = dict(about.mapping.paths) if about.mapping else {}
        self._ids = RecordIds(about.identity)
        self._joiner = ConversationJoiner()
        # id of a line → number of sessions that were named after this id
        self._names: OrderedDict[str, int] = OrderedDict()
        self._missing = dict.fromkeys(_FACTS)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        made_id = self._ids.make(record)
        mapped = record.value if self._mapping is None else self._map_fields(record.value, self._mapping)
        if self._mapping is not None and self._mapping.skips(mapped):
            return
        pairs = _read_logged_messages(mapped)
        if isinstance(pairs, tuple):
            yield Rejected(record.where, *pairs, make_snippet(record.data))
            return
        value = _merge_metadata(mapped)
        line = _make_line(value, pairs)
        joined = self._joiner.find(line)
        if joined is None:
            session = DumpedSession(self._name_session(line, made_id), record.where)
            conversation, start = self._joiner.begin(line, session), 0
        else:
            conversation, start = joined
        start = max(start, _count_leading(pairs))
        conversation.session.where = record.where
        conversation.session.ts = _read_time(value) or conversation.session.ts
        if joined is None:
            yield SessionSeen(**conversation.session.event_place(), **_session_facts(value))
        if fresh := pairs[start:]:
            yield from self._take_offers(conversation, line, value)
            yield from self._take_messages(conversation, fresh, value, record)
            self._joiner.add(conversation, line, start)
        for silent in self._joiner.drain_surplus():
            yield from silent.session.finish()

    def finish(self) -> Iterator[Event | Rejected]:
        for conversation in self._joiner.drain():
            yield from conversation.session.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def list_missing(self) -> tuple[str, ...]:
        """Return the facts that every line lacks, and the `--map` fields whose path matched in no line."""
        unmapped = (f"{name} at {path.text}" for name, path in self._unmapped.items())
        others = (_FACTS[fact] for fact in self._missing if _FACT_FIELDS[fact] not in self._unmapped)
        return (*unmapped, *others)

    def _map_fields(self, value: Mapping[str, Any], mapping: RecordMapping) -> dict[str, Any]:
        mapped_fields = mapping.find_fields(value)
        for name in mapped_fields:
            self._unmapped.pop(name, None)
        return put_fields(value, mapped_fields)

    def _name_session(self, line: TranscriptLine, made_id: str) -> str:
        """Return the id of a new session.

        The id is the log's conversation id or, if there is none, the line's id. If the line has no id either,
        return `made_id`.
        """
        if line.conversation is not None or line.name is None:
            return line.conversation or made_id
        base_name = line.name if is_unique(line.name) else f"{self._identity}/{line.name}"
        count = self._names.pop(base_name, 0) + 1
        self._names[base_name] = count
        if len(self._names) > _NAMES:
            self._names.popitem(last=False)
        return base_name if count == 1 else f"{base_name}/{count}"

    def _take_offers(
        self, conversation: JoinedConversation, line: TranscriptLine, value: Mapping[str, Any]
    ) -> Iterator[Event]:
        """Yield a line's tool definitions and system prompt, if they are new in the conversation."""
        place = conversation.session.event_place()
        definitions = tuple(_read_definitions(value) or read_prompt_tools(line.prompt))
        if definitions:
            self._missing.pop("tools", None)
            digest = hash_parts(json_text(definitions))
            if digest != conversation.tools:
                conversation.tools = digest
                yield ToolsOffered(**place, definitions=definitions)
        if line.prompt and (digest := hash_parts(line.prompt)) != conversation.prompt:
            conversation.prompt = digest
            yield PromptSeen(**place, text=line.prompt)

    def _take_messages(
        self,
        conversation: JoinedConversation,
        pairs: Sequence[LoggedMessage],
        value: Mapping[str, Any],
        record: Record,
    ) -> Iterator[Event]:
        session = conversation.session
        replies = [at for at, pair in enumerate(pairs) if pair.message.role == "assistant"]
        model, provider = _read_model(value), _find_text(value, ("provider",))
        for at, (message, raw) in enumerate(pairs):
            beside = {} if raw.keys() <= _BARE else _merge_metadata(raw)
            session.ts = _read_time(beside) or session.ts
            facts: dict[str, Any] = {}
            if message.role == "assistant":
                facts = {
                    "model": _read_model(beside) or model,
                    "provider": provider.lower() if provider else None,
                    "strategy": _choose_strategy(raw) if message.calls else None,
                    **_reply_facts(beside, message),
                }
            if replies[-1:] == [at]:
                of_line = _reply_facts(value, message)
                if len(replies) > 1:
                    of_line.pop("latency_ms")  # The latency covers all replies of the line.
                facts |= {key: fact for key, fact in of_line.items() if fact is not None}
            if message.role == "assistant":
                self._note_facts(session, facts)
            yield from session.take(message, facts, record, ())

    def _note_facts(self, session: DumpedSession, facts: Mapping[str, Any]) -> None:
        if facts["model"] is not None:
            self._missing.pop("model", None)
        if session.ts is not None:
            self._missing.pop("time", None)
        if facts.get("input_tokens") is not None or facts.get("output_tokens") is not None:
            self._missing.pop("tokens", None)


def _read_logged_messages(value: Mapping[str, Any]) -> list[LoggedMessage] | tuple[str, str]:
    """Return the messages of a record, including the reply.

    If the record is invalid, return the reject code and the reason.
    """
    messages = _list_messages(value)
    if messages is None or messages == []:
        return "missing_field", "there are no messages"
    if not isinstance(messages, list):
        return "wrong_type", f"messages is {json_type(messages)}, not an array"
    pairs = [LoggedMessage(message, raw) for raw in messages if (message := _parse_message(raw)) is not None]
    if unread := len(messages) - len(pairs):
        return "wrong_type", f"{unread:,} of {len(messages):,} messages have no known role or content"
    if pairs[-1].message.role != "assistant" and (reply := _read_reply(value)) is not None:
        pairs.append(LoggedMessage(reply, {}))
    return pairs


def _read_reply(value: Mapping[str, Any]) -> Message | None:
    """Return the reply that a record stores in a separate field.

    The field contains a string, a message or a whole API response.
    """
    for key in _REPLIES:
        if key not in value:
            continue
        reply = open_json(value[key])
        if isinstance(reply, str) and reply:
            return Message(role="assistant", text=reply)
        if isinstance(reply, dict | list):
            body = {"choices": reply[:1]} if key == "choices" and isinstance(reply, list) else reply
            answer = next(
                (message for message in read_messages(body, "assistant") if message.role == "assistant"), None
            )
            if answer is not None:
                return answer
    return None


def _make_line(value: Mapping[str, Any], pairs: Sequence[LoggedMessage]) -> TranscriptLine:
    """Return a line with its ids, its system prompt and the messages after the system prompt."""
    stated = (_read_system(value[key]) for key in _SYSTEMS if key in value)
    prompts = [
        next(filter(None, stated), None),
        *(pair.message.text for pair in pairs[: _count_leading(pairs)]),
    ]
    return TranscriptLine(
        messages=[pair.message for pair in pairs],
        marks=[make_mark(pair.message) for pair in pairs],
        prompt=join_texts(prompts),
        conversation=_find_text(value, _CONVERSATIONS),
        name=_find_text(value, _LINES),
    )


def _count_leading(pairs: Sequence[LoggedMessage]) -> int:
    """Return the number of system messages before the first other message. They form the system prompt."""
    return next((at for at, pair in enumerate(pairs) if pair.message.role != "system"), len(pairs))


def _read_system(value: Any) -> str | None:
    return anthropic_messages.join_block_texts(anthropic_messages.content_blocks(value))


def _merge_metadata(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge the fields of `metadata` into a record or message.

    Fields of the record or message have precedence.
    """
    metadata = value.get("metadata")
    return {**metadata, **value} if isinstance(metadata, dict) else value


def _find_text(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the value of the first of the named fields that contains a string or an integer."""
    for name in names:
        if name in value and (((raw := value[name]) and isinstance(raw, str)) or type(raw) is int):
            return str(raw)
    return None


def _read_model(value: Mapping[str, Any]) -> str | None:
    named = read_object(value.get("model"))
    return _find_text(value, _MODELS) or read_text(named.get("id")) or read_text(named.get("name"))


def _read_time(value: Mapping[str, Any]) -> datetime | None:
    for name in _TIMES:
        if name in value and (instant := parse_instant(value[name])) is not None:
            return instant
    return None


def _read_definitions(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    for key in ("tools", "functions"):
        if key in value and (definitions := read_objects(open_json(value[key]))):
            return definitions
    return []


def _choose_strategy(raw: Mapping[str, Any]) -> Strategy:
    return Strategy.JSON_FALLBACK if WRITTEN in raw else Strategy.TOOL_USE


def _session_facts(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"user": _find_text(value, _USERS), "task": _find_text(value, ("task", "task_id"))}


def _count_tokens(usage: Mapping[str, Any]) -> dict[str, Any]:
    is_anthropic = "cache_read_input_tokens" in usage and "prompt_tokens" not in usage
    count_input = anthropic_messages.count_input if is_anthropic else openai_chat.count_input
    return {**count_input(usage), "output_tokens": openai_chat.count_tokens(usage, {}, "completion")}


def _reply_facts(value: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """Return the token counts, latency and stop reason of a reply in the log, as `StepMade` fields."""
    if not value:
        return {"stop_reason": message.finish, "answers": message.finish in _ANSWERS and not message.calls}
    inner = next(
        (body for key in _REPLIES if key in value and (body := read_object(open_json(value[key])))), {}
    )
    usage = read_object(open_json(value.get("usage"))) or read_object(inner.get("usage")) or value
    word = _find_text(value, _ENDS) or _find_text(inner, _ENDS) or message.finish
    latencies = (read_number(value[name]) for name in _LATENCIES if name in value)
    return {
        **({} if _TOKENS.isdisjoint(usage) else _count_tokens(usage)),
        "latency_ms": next((latency for latency in latencies if latency is not None), None),
        "stop_reason": word,
        "answers": word in _ANSWERS and not message.calls,
    }
