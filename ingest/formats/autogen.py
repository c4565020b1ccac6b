"""AutoGen: model calls that its recorder saved (`session.json`). Who&When files are rejected.

**Files.** Sources: microsoft/autogen, `ChatCompletionClientRecorder` and `PageLogger` (two recordings of its
tests), and ag2ai/Agents_Failure_Attribution (Who&When).

**Fields.** A list of `{mode, messages[], response.{content, usage, finish_reason}, stream}`. A message is
`{type: SystemMessage | UserMessage | AssistantMessage | FunctionExecutionResultMessage, content}`. The
`content` of a reply is text or a list of calls `{id, name, arguments}`; `arguments` is the model's own text.

**Sessions.** Each request repeats the whole conversation. Requests with the same history are joined into one
session, as in `http_cassette`.

**Who&When.** `{history[], question, mistake_agent, mistake_step}`: messages between agents, as plain text.
The files are rejected, because they contain no structured calls and the team's configuration decides which
text is a call.

**Limits.** `--max-line` limits the size of an array.

**Not in the log.** The model, times and tool definitions. No file with calls and results was available.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, FlagSource, Rejected, ResultStatus
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages import openai_chat
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.formats.provider_messages.exchange import Exchange, ModelReply, RequestResult, read_stop_reason
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="autogen",
    title="AutoGen recorded model calls",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="partly: is_error of a result",
    definitions="no: supply them with --tools",
    system_prompt="yes",
    model="no",
    turn_end="yes: finish_reason, without a verdict",
    cannot_tell="Which model it was, and when. Who&When runs are not loaded: they contain no calls as data.",
)

_ROLES = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}
_RESULTS = "FunctionExecutionResultMessage"
_FINISH = {"function_calls": "tool_calls"}
_NO_CALLS = (
    "a Who&When run: messages of agents as text, without tool calls as data, so there is nothing to load"
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(_is_recorded(record) or _is_who_and_when(record) for record in head[:5])


def _is_recorded(record: Mapping[str, Any]) -> bool:
    messages = read_objects(record.get("messages"))
    return {"mode", "response"} <= record.keys() and any(
        str(message.get("type")) in _ROLES for message in messages
    )


def _is_who_and_when(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("history"), list) and {"mistake_agent", "mistake_step"} <= record.keys()


def translator(about: About) -> Translator:
    return _Recording(about)


class _Recording:
    """Translator of one file, which contains the recorded model calls of one program run."""

    def __init__(self, about: About) -> None:
        self._traffic = ExchangeTranslator(about.identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if _is_who_and_when(record.value):
            yield Rejected(record.where, "wrong_type", _NO_CALLS, make_snippet(record.data))
            return
        messages = [
            chat for message in read_objects(record.value.get("messages")) for chat in _to_chat(message)
        ]
        request = openai_chat.read_request({"messages": messages})
        request.result = _read_result
        reply = _read_reply(record.value.get("response"))
        yield from self._traffic.take(
            Exchange(
                request=request, replies=[reply] if reply is not None else [], where=record.where,
                failure=None if reply is not None else "no reply", harness="autogen",
            )
        )  # fmt: skip

    def finish(self) -> Iterator[Event]:
        yield from self._traffic.finish()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _to_chat(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message of AutoGen as one or more messages in the chat API's format."""
    content, kind = message.get("content"), message.get("type")
    if kind == _RESULTS:
        for result in read_objects(content):
            yield {**result, "role": "tool", "tool_call_id": result.get("call_id")}
    elif isinstance(kind, str) and kind in _ROLES:
        calls = _list_calls(content) if kind == "AssistantMessage" else []
        yield {
            "role": _ROLES[kind],
            "content": read_text(message.get("thought")) if calls else join_content(content),
            "tool_calls": calls,
        }


def _list_calls(content: Any) -> list[dict[str, Any]]:
    return [call for call in read_objects(content) if "arguments" in call and "name" in call]


def _read_reply(response: Any) -> ModelReply | None:
    body = read_object(response)
    content, usage = body.get("content"), read_object(body.get("usage"))
    if content is None:
        return None
    word = read_text(body.get("finish_reason"))
    word = _FINISH.get(word, word) if word is not None else None
    calls = _list_calls(content)
    message = {"content": None if calls else content, "tool_calls": calls}
    return ModelReply(
        text=join_content(message["content"]) or read_text(body.get("thought")),
        calls=list(openai_chat.read_calls(message)),
        word=word,
        end=read_stop_reason(word),
        output_tokens=read_count(usage.get("completion_tokens")) or None,
        marks=openai_chat.message_marks(message),
        **count_whole_input(usage.get("prompt_tokens")),
    ).seal()


def _read_result(message: Mapping[str, Any]) -> RequestResult:
    content, failed = join_content(message.get("content")), message.get("is_error")
    if not isinstance(failed, bool):
        return RequestResult(content, read_text(message.get("name")))
    status = ResultStatus.ERROR if failed else ResultStatus.OK
    return RequestResult(content, read_text(message.get("name")), status, FlagSource.EXPLICIT)
