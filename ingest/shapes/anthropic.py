"""Bodies of Anthropic's Messages API in, `Asked` and `Reply` out; its content blocks for whoever else
keeps them.

The shape (https://platform.claude.com/docs/en/api/messages): a request has `system`, `messages[].content`
(text or blocks), `tools[].{name, input_schema}`; a reply has `content`, `stop_reason`, `usage`. Results
are `tool_result` blocks of a user message, the only ones of any API with a flag: `is_error`, absent for
false.

`server_tool_use` blocks are the provider's own tools and no calls. A `tool_use` whose `caller` is a code
execution was made by a program that the model wrote: a call, but its arguments are not the model's own
text. A joined stream (`ingest.shapes.streams`) has the text of the arguments in `partial_json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.events import ArgsSource, FlagSource, ResultStatus
from ingest.fields import table, tables, text, whole
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
    joined,
    words_mark,
)

# Tools that the client runs though Anthropic defines them: they have a name but no schema in the request.
_CLIENT_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_")
_ANNOUNCED = "stop_reason is tool_use, but the message has no tool call"
_REMINDER = "<system-reminder>"  # Claude Code's, put beside the user's words and taken away again
_BY_PROGRAM = "called by a program that the model wrote"


def blocks_of(content: Any) -> list[Mapping[str, Any]]:
    """The content blocks of a message; a plain text is one of them."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(tables(content))


def text_of(blocks: list[Mapping[str, Any]]) -> str | None:
    """The text blocks one below the other; None when there is none."""
    return joined(text(block.get("text")) for block in blocks if block.get("type") == "text")


def input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens the model read, from the cache or not; `input_tokens` alone leaves the cache out."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(whole(usage.get(name)) or 0 for name in names) or None


def asked(body: Mapping[str, Any]) -> Asked:
    return Asked(
        items=[item for message in tables(body.get("messages")) for item in _items(message)],
        prompt=text_of(blocks_of(body.get("system"))),
        tools=definitions(body.get("tools")),
        model=text(body.get("model")),
        max_tokens=whole(body.get("max_tokens")),
        result=result,
    )


def definitions(tools: Any) -> list[Mapping[str, Any]]:
    """The tools that the client runs."""
    return [
        tool
        for tool in tables(tools)
        if "input_schema" in tool or str(tool.get("type", "custom")).startswith(_CLIENT_TOOLS)
    ]


def replies(body: Mapping[str, Any]) -> Iterator[Reply]:
    blocks = blocks_of(body.get("content"))
    usage, word = table(body.get("usage")), text(body.get("stop_reason"))
    calls = [call_of(block) for block in blocks if block.get("type") == "tool_use"]
    end = End.BROKEN if body.get("unfinished") is True and word is None else end_of(word)
    at_server = [block for block in blocks if str(block.get("type")).startswith(("server_", "mcp_"))]
    if end is End.CALLS and not calls and not at_server:
        calls = Call.announced(text_of(blocks), _ANNOUNCED)
    yield Reply(
        id=text(body.get("id")),
        model=text(body.get("model")),
        text=text_of(blocks),
        calls=calls,
        word=word,
        end=end,
        input_tokens=input_tokens(usage),
        # Until a stream has ended, the count is that of its start.
        output_tokens=whole(usage.get("output_tokens")) or None if end is not End.BROKEN else None,
        marks=_marks(blocks),
        ties=tuple(id_ for block in at_server if (id_ := text(block.get("id"))) is not None),
        refers=tuple(_referred(blocks)),
    )


def call_of(block: Mapping[str, Any]) -> Call:
    """A `tool_use` block as a call."""
    by_program = table(block.get("caller")).get("type", "direct") != "direct"
    streamed = text(block.get("partial_json"))
    if streamed:
        arguments: dict[str, Any] = {"raw_arguments": streamed, "args_source": ArgsSource.RAW}
    elif "input" in block:
        arguments = {"arguments": block["input"], "args_source": ArgsSource.RESERIALISED}
    else:
        arguments = {"args_source": ArgsSource.MISSING}
    return Call.of(block.get("name"), block.get("id"), arguments, _BY_PROGRAM if by_program else None)


def result(block: Mapping[str, Any]) -> Result:
    """A `tool_result` block. Whether no flag means success, only its client can tell: unknown."""
    content = text_of(blocks_of(block.get("content")))
    flag = block.get("is_error")
    if not isinstance(flag, bool):
        return Result(content)
    return Result(
        content, status=ResultStatus.ERROR if flag else ResultStatus.OK, flag_source=FlagSource.EXPLICIT
    )


def _items(message: Mapping[str, Any]) -> Iterator[Item]:
    """Results first. Words beside results are reminders of the client, not a user's."""
    blocks = blocks_of(message.get("content"))
    if message.get("role") == "assistant":
        ids = tuple(text(block.get("id")) for block in blocks if block.get("type") == "tool_use")
        yield Item(Kind.MODEL, _marks(blocks), ids)
        return
    if message.get("role") != "user":
        return
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield Item(Kind.RESULT, ids=(text(block.get("tool_use_id")),), body=block)
    if not results:
        words = text_of([block for block in blocks if not str(block.get("text")).startswith(_REMINDER)])
        yield Item(Kind.USER, ("user:" + (words or ""),), text=words)


def _marks(blocks: list[Mapping[str, Any]]) -> tuple[str, ...]:
    calls = tuple(
        call_mark(block.get("name"), block.get("id"), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    return calls or words_mark(text_of(blocks))


def _referred(blocks: list[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        for id_ in (block.get("tool_use_id"), table(block.get("caller")).get("tool_id")):
            if isinstance(id_, str):
                yield id_
