"""Bodies of OpenAI's Responses API in, `Asked` and `Reply` out.

The shape (https://platform.openai.com/docs/api-reference/responses): a request has `instructions`,
`input` (text or items), `tools[]`, perhaps `previous_response_id` or `conversation` instead of the
history, and `prompt.{id, version}`; a response has `output[]` items, `status`,
`incomplete_details.reason`, `usage`, and repeats the request's instructions, tools and
`previous_response_id`.

Items of the provider's own tools (`web_search_call`, `code_interpreter_call`, `mcp_call` …) are no calls.
`local_shell_call` and its like are: the client runs them, on an object instead of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.events import ArgsSource, FlagSource, ResultStatus
from ingest.fields import table, tables, text, whole
from ingest.shapes.chat import arguments_of, content_text
from ingest.shapes.exchanges import (
    Asked,
    Call,
    End,
    Item,
    Kind,
    Reply,
    Result,
    call_mark,
    decoded_arguments,
    end_of,
    instant,
    joined,
    words_mark,
)
from ingest.shapes.openai_chat import free_text

# Items whose tool the client runs and the provider defines: its name, and the field with its arguments.
_CLIENT_CALLS = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
}
_CLIENT_TOOLS = {"local_shell": "local_shell", "shell": "shell", "apply_patch": "apply_patch",
                 "computer_use_preview": "computer", "computer": "computer"}  # fmt: skip
_STATUS = {"failed": ResultStatus.ERROR, "completed": ResultStatus.OK}
_BY_PROGRAM = "called by a program that the model wrote"


def asked(body: Mapping[str, Any]) -> Asked:
    """Of a request, or of a response that repeats it."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(tables(given))
    prompt = table(body.get("prompt"))
    leading: list[str | None] = [content_text(body.get("instructions"))]
    for item in items:
        if item.get("role") not in ("system", "developer"):
            break
        leading.append(content_text(item.get("content")))
    return Asked(
        items=[read for item in items if (read := _item(item)) is not None],
        prompt=joined(leading),
        prompt_name=text(prompt.get("id")),
        prompt_version=text(prompt.get("version")),
        tools=definitions(body.get("tools")),
        model=text(body.get("model")),
        max_tokens=whole(body.get("max_output_tokens")),
        previous=text(body.get("previous_response_id")) or _conversation(body),
        result=_result,
    )


def definitions(tools: Any) -> list[Mapping[str, Any]]:
    """The tools that the client runs: functions, also those in a namespace, custom and shell tools."""
    found: list[Mapping[str, Any]] = []
    for tool in tables(tools):
        kind = tool.get("type")
        if kind in ("function", None) and ("name" in tool or "function" in tool):
            found.append(tool)
        elif kind == "custom":
            found.append({"name": tool.get("name"), "description": text(tool.get("description")) or ""})
        elif kind == "namespace":
            found += definitions(tool.get("tools"))
        elif isinstance(kind, str) and kind in _CLIENT_TOOLS:
            found.append({"name": _CLIENT_TOOLS[kind]})
    return found


def replies(body: Mapping[str, Any]) -> Iterator[Reply]:
    output = tables(body.get("output"))
    usage = table(body.get("usage"))
    calls = [call for item in output if (call := _call(item)) is not None]
    words = [_words(item) for item in output if item.get("type") == "message"]
    refusals = [_refusal(item) for item in output if item.get("type") == "message"]
    word = text(table(body.get("incomplete_details")).get("reason")) or text(body.get("status"))
    end = End.BROKEN if body.get("unfinished") is True else end_of(word)
    if joined(refusals) is not None:
        words, word, end = refusals, "refusal", End.REFUSED
    yield Reply(
        id=text(body.get("id")),
        model=text(body.get("model")),
        ts=instant(body.get("completed_at")) or instant(body.get("created_at")),
        text=joined(words),
        calls=calls,
        word=word,
        end=end,
        input_tokens=whole(usage.get("input_tokens")) or None,
        output_tokens=whole(usage.get("output_tokens")) or None,
        marks=tuple(mark for item in output for mark in _marks(item)),
        ties=tuple(filter(None, [_conversation(body)])),
    )


def _conversation(body: Mapping[str, Any]) -> str | None:
    held = body.get("conversation")
    return text(held) or text(table(held).get("id"))


def _item(item: Mapping[str, Any]) -> Item | None:
    kind, role = item.get("type", "message"), item.get("role")
    if isinstance(kind, str) and kind.endswith("_call_output"):
        return Item(Kind.RESULT, ids=(text(item.get("call_id")) or text(item.get("id")),), body=item)
    if kind == "message" and role == "user":
        words = content_text(item.get("content"))
        return Item(Kind.USER, ("user:" + (words or ""),), text=words)
    marks = _marks(item)
    return Item(Kind.MODEL, marks, (text(item.get("call_id")),)) if marks else None


def _marks(item: Mapping[str, Any]) -> tuple[str, ...]:
    kind = item.get("type", "message")
    if kind == "message" and item.get("role") == "assistant":
        return words_mark(_words(item))
    if kind in ("function_call", "custom_tool_call"):
        return (call_mark(item.get("name"), item.get("call_id"), item.get("arguments", item.get("input"))),)
    if isinstance(kind, str) and kind in _CLIENT_CALLS:
        tool, key = _CLIENT_CALLS[kind]
        return (call_mark(tool, item.get("call_id"), item.get(key)),)
    return ()


def _call(item: Mapping[str, Any]) -> Call | None:
    kind, id_ = item.get("type"), item.get("call_id")
    if kind == "custom_tool_call":
        return Call.of(item.get("name"), id_, free_text(item.get("input")))
    if kind == "function_call":
        if table(item.get("caller")).get("type", "direct") != "direct":
            arguments = decoded_arguments(arguments_of(item.get("arguments")))
            return Call.of(item.get("name"), id_, arguments, _BY_PROGRAM)
        return Call.of(item.get("name"), id_, arguments_of(item.get("arguments")))
    if isinstance(kind, str) and kind in _CLIENT_CALLS:
        tool, key = _CLIENT_CALLS[kind]
        return Call.of(tool, id_, {"arguments": item.get(key), "args_source": ArgsSource.RESERIALISED})
    return None


def _words(item: Mapping[str, Any]) -> str | None:
    return content_text(item.get("content"))


def _refusal(item: Mapping[str, Any]) -> str | None:
    return joined(text(part.get("refusal")) for part in tables(item.get("content")))


def _result(item: Mapping[str, Any]) -> Result:
    output = item.get("output")
    content = content_text(output)
    if content is None and output is not None and not isinstance(output, str):
        content = joined(text(part.get("stdout")) for part in tables(output))
    status = item.get("status") if item.get("type") == "apply_patch_call_output" else None
    if isinstance(status, str) and status in _STATUS:
        return Result(content, status=_STATUS[status], flag_source=FlagSource.EXPLICIT)
    return Result(content)
