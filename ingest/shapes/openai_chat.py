"""Bodies of chat APIs in, `Asked` and `Reply` out: OpenAI's Chat Completions and those built like it.

The shape (https://platform.openai.com/docs/api-reference/chat): a request has `messages`, `tools`; a
reply `choices[].{message, finish_reason}`, `usage`. Azure, Mistral, Groq, vLLM, OpenRouter, Writer and
others answer alike; Cohere's v2 and Ollama's own API have one `message` at the top instead of choices.
Groq answers a call it cannot read with an error and `failed_generation`: that is the model's call, not a
fault of transport.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.events import ArgsSource
from ingest.fields import table, tables, text, whole
from ingest.shapes.chat import arguments_of, calls_of, content_text
from ingest.shapes.exchanges import (
    Asked,
    Call,
    End,
    Item,
    Kind,
    Reply,
    Result,
    call_mark,
    end_of,
    instant,
    joined,
    words_mark,
)

_ANNOUNCED = "the finish reason says tool calls, but the reply has none"


def asked(body: Mapping[str, Any]) -> Asked:
    messages = tables(body.get("messages"))
    leading: list[str | None] = []
    for message in messages:
        if message.get("role") not in ("system", "developer"):
            break
        leading.append(content_text(message.get("content")))
    return Asked(
        items=[item for message in messages if (item := _item(message)) is not None],
        prompt=joined(leading),
        tools=definitions(body),
        model=text(body.get("model")),
        max_tokens=whole(body.get("max_completion_tokens", body.get("max_tokens"))),
        result=_result,
    )


def definitions(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tools that the client runs; a custom tool takes free text and has no schema."""
    found: list[Mapping[str, Any]] = list(tables(body.get("functions")))
    for tool in tables(body.get("tools")):
        if tool.get("type") == "custom":
            found.append({"name": table(tool.get("custom")).get("name")})
        elif "function" in tool or (tool.get("type") in (None, "function") and "name" in tool):
            found.append(tool)
    return found


def replies(body: Mapping[str, Any]) -> Iterator[Reply]:
    """One reply a choice; the counts of tokens are those of all and stand with the first."""
    usage = table(body.get("usage"))
    for number, choice in enumerate(_choices(body)):
        message = table(choice.get("message"))
        word = text(choice.get("finish_reason"))
        calls = list(_calls(message))
        words = content_text(message.get("content"))
        refusal = text(message.get("refusal"))
        if not message and isinstance(choice.get("text"), str):
            words = text(choice.get("text"))
        end = End.BROKEN if body.get("unfinished") is True and word is None else end_of(word)
        if end is End.CALLS and not calls:
            calls = Call.announced(words, _ANNOUNCED)
        yield Reply(
            id=text(body.get("id")),
            model=text(body.get("model")),
            ts=instant(body.get("created", body.get("created_at"))),
            text=words if refusal is None else refusal,
            calls=calls,
            word="refusal" if refusal is not None else word,
            end=End.REFUSED if refusal is not None else end,
            input_tokens=_count(usage, body, "prompt") if number == 0 else None,
            output_tokens=_count(usage, body, "completion") if number == 0 else None,
            marks=_marks(message),
        )


def failed_generation(error: Mapping[str, Any]) -> Reply | None:
    """The call in Groq's `tool_use_failed`: what the model wrote, which the provider could not read."""
    said = text(error.get("failed_generation"))
    if said is None:
        return None
    arguments = {"raw_arguments": said, "args_source": ArgsSource.RAW}
    call = Call(None, None, arguments, text(error.get("message")), lost=True)
    return Reply(calls=[call], word=text(error.get("code")), end=End.CALLS)


def _choices(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if isinstance(body.get("choices"), list):
        return list(tables(body["choices"]))
    word = body.get("finish_reason", body.get("done_reason"))
    return [{"message": body.get("message"), "finish_reason": word}]


def _count(usage: Mapping[str, Any], body: Mapping[str, Any], side: str) -> int | None:
    """Tokens read (`prompt`) or written (`completion`), in the words of four APIs; 0 stands for unknown."""
    cohere = table(usage.get("tokens"))
    other, ollama = ("input", "prompt_eval") if side == "prompt" else ("output", "eval")
    for holder, name in (
        (usage, f"{side}_tokens"),
        (usage, f"{other}_tokens"),
        (cohere, f"{other}_tokens"),
        (body, f"{ollama}_count"),
    ):
        if found := whole(holder.get(name)):
            return found
    return None


def _item(message: Mapping[str, Any]) -> Item | None:
    role = message.get("role")
    if role == "user":
        words = content_text(message.get("content"))
        return Item(Kind.USER, ("user:" + (words or ""),), text=words)
    if role in ("assistant", "model"):
        ids = tuple(text(call.get("id")) for call in calls_of(message))
        return Item(Kind.MODEL, _marks(message), ids)
    if role in ("tool", "function"):
        return Item(Kind.RESULT, ids=(text(message.get("tool_call_id")),), body=message)
    return None


def _marks(message: Mapping[str, Any]) -> tuple[str, ...]:
    calls = tuple(call_mark(call["name"], call["id"], call["arguments"]) for call in calls_of(message))
    return calls or words_mark(content_text(message.get("content")))


def _calls(message: Mapping[str, Any]) -> Iterator[Call]:
    for call in tables(message.get("tool_calls")):
        if isinstance(call.get("custom"), dict):
            custom = call["custom"]
            yield Call.of(custom.get("name"), call.get("id"), free_text(custom.get("input")))
    for call in calls_of(message):
        if call["name"] is not None or call["arguments"] is not None:
            yield Call.of(call["name"], call["id"], arguments_of(call["arguments"]))


def free_text(words: Any) -> dict[str, Any]:
    """Arguments of a custom tool: text that never was to be JSON, kept as the object {"input": text}."""
    return {"arguments": {"input": words}, "args_source": ArgsSource.RESERIALISED}


def _result(message: Mapping[str, Any]) -> Result:
    return Result(content_text(message.get("content")), text(message.get("name")))
