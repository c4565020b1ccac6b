"""Reads bodies of OpenAI's Responses API.

A request (https://platform.openai.com/docs/api-reference/responses) has `instructions`, `input` (text or
items), `tools[]` and `prompt.{id, version}`; it may have `previous_response_id` or `conversation` instead of
the history. A response has `output[]` items, `status`, `incomplete_details.reason` and `usage`, and repeats
the request's instructions, tools and `previous_response_id`.

Items of tools that the provider runs (`web_search_call`, `code_interpreter_call`, `mcp_call` …) are not
counted as calls. The client runs `local_shell_call` and similar items, so they are calls; their arguments are
an object instead of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FlagSource, ResultStatus
from ingest.formats.provider_messages.chat_messages import argument_fields, join_content, join_result
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    ItemKind,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
    StopReason,
    decoded_argument_fields,
    join_texts,
    parse_instant,
    read_stop_reason,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark
from ingest.formats.provider_messages.openai_chat import free_text_fields, leading_prompt

# Name and arguments field of the tools that the provider defines and the client runs. If the provider runs
# `tool_search` itself, the item is not a call.
_CLIENT_CALLS = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "tool_search_call": ("tool_search", "arguments"),
}
_SEARCHED = "tool_search_output"
_CLIENT_TOOLS = {"local_shell": "local_shell", "shell": "shell", "apply_patch": "apply_patch",
                 "computer_use_preview": "computer", "computer": "computer"}  # fmt: skip
_STATUS = {"failed": ResultStatus.ERROR, "completed": ResultStatus.OK}
_BY_PROGRAM = "called by a program that the model wrote"


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    """Return the request in a request body, or in a response body that repeats the request."""
    request_input = body.get("input")
    items: Any = (
        [{"role": "user", "content": request_input}] if isinstance(request_input, str) else request_input
    )
    parts: list[Mapping[str, Any]] = list(read_objects(items))
    prompt = read_object(body.get("prompt"))
    return ModelRequest(
        parts=parts,
        read=read_items,
        prompt=join_texts([join_content(body.get("instructions")), *leading_prompt(parts)]),
        prompt_name=read_text(prompt.get("id")),
        prompt_version=read_text(prompt.get("version")),
        tools=client_tools(body.get("tools")),
        model=read_text(body.get("model")),
        user=read_text(body.get("user")),
        max_tokens=read_count(body.get("max_output_tokens")),
        previous=read_text(body.get("previous_response_id")) or conversation_id(body),
        result=read_result,
    )


def client_tools(tools: Any) -> list[Mapping[str, Any]]:
    """Return the definitions of the tools that the client runs, including those in namespaces.

    The client runs functions, custom tools, and tools such as `shell` that the provider defines.
    """
    definitions: list[Mapping[str, Any]] = []
    for tool in read_objects(tools):
        kind = tool.get("type")
        if kind in ("function", None) and ("name" in tool or "function" in tool):
            definitions.append(tool)
        elif kind == "custom":
            definitions.append(
                {"name": tool.get("name"), "description": read_text(tool.get("description")) or ""}
            )
        elif kind == "namespace":
            definitions += client_tools(tool.get("tools"))
        elif kind == "tool_search" and tool.get("execution") == "client":
            definitions.append(dict(tool) | {"type": "function", "name": kind})
        elif isinstance(kind, str) and kind in _CLIENT_TOOLS:
            definitions.append({"name": _CLIENT_TOOLS[kind]})
    return definitions


def read_replies(body: Mapping[str, Any]) -> Iterator[ModelReply]:
    output = read_objects(body.get("output"))
    usage = read_object(body.get("usage"))
    details = read_object(usage.get("input_tokens_details"))
    calls = [call for item in output if (call := read_call(item)) is not None]
    words = [item_words(item) for item in output if item.get("type") == "message"]
    refusals = [refusal_text(item) for item in output if item.get("type") == "message"]
    word = read_text(read_object(body.get("incomplete_details")).get("reason")) or read_text(
        body.get("status")
    )
    end = StopReason.BROKEN if body.get("unfinished") is True else read_stop_reason(word)
    if join_texts(refusals) is not None:
        words, word, end = refusals, "refusal", StopReason.REFUSED
    yield ModelReply(
        id=read_text(body.get("id")),
        model=read_text(body.get("model")),
        ts=parse_instant(body.get("completed_at")) or parse_instant(body.get("created_at")),
        text=join_texts(words),
        calls=calls,
        word=word,
        end=end,
        **count_whole_input(
            usage.get("input_tokens"), details.get("cached_tokens"), details.get("cache_write_tokens")
        ),
        output_tokens=read_count(usage.get("output_tokens")) or None,
        marks=tuple(mark for item in output for mark in item_marks(item)),
        ties=tuple(filter(None, [conversation_id(body)])),
    )


def conversation_id(body: Mapping[str, Any]) -> str | None:
    conversation = body.get("conversation")
    return read_text(conversation) or read_text(read_object(conversation).get("id"))


def read_items(item: Mapping[str, Any]) -> Iterator[ConversationItem]:
    kind, role = item.get("type", "message"), item.get("role")
    if isinstance(kind, str) and (
        kind.endswith("_call_output") or (kind == _SEARCHED and _runs_at_client(item))
    ):
        yield ConversationItem(
            ItemKind.RESULT, ids=(read_text(item.get("call_id")) or read_text(item.get("id")),), body=item
        )
    elif kind == "message" and role == "user":
        words = join_content(item.get("content"))
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)
    elif marks := item_marks(item):
        yield ConversationItem(ItemKind.MODEL, marks, (read_text(item.get("call_id")),))


def item_marks(item: Mapping[str, Any]) -> tuple[str, ...]:
    kind = item.get("type", "message")
    if kind == "message" and item.get("role") == "assistant":
        return words_mark(item_words(item))
    if kind in ("function_call", "custom_tool_call"):
        return (call_mark(item.get("name"), item.get("call_id"), item.get("arguments", item.get("input"))),)
    if isinstance(kind, str) and kind in _CLIENT_CALLS and _runs_at_client(item):
        tool, key = _CLIENT_CALLS[kind]
        return (call_mark(tool, item.get("call_id"), item.get(key)),)
    return ()


def read_call(item: Mapping[str, Any]) -> ModelCall | None:
    kind, id_ = item.get("type"), item.get("call_id")
    if kind == "custom_tool_call":
        return ModelCall.from_api(item.get("name"), id_, free_text_fields(item.get("input")))
    if kind == "function_call":
        if read_object(item.get("caller")).get("type", "direct") != "direct":
            arguments = decoded_argument_fields(argument_fields(item.get("arguments")))
            return ModelCall.from_api(item.get("name"), id_, arguments, _BY_PROGRAM)
        return ModelCall.from_api(item.get("name"), id_, argument_fields(item.get("arguments")))
    if isinstance(kind, str) and kind in _CLIENT_CALLS and _runs_at_client(item):
        tool, key = _CLIENT_CALLS[kind]
        return ModelCall.from_api(
            tool, id_, {"arguments": item.get(key), "args_source": ArgsSource.RESERIALISED}
        )
    return None


def _runs_at_client(item: Mapping[str, Any]) -> bool:
    return item.get("execution") != "server"


def item_words(item: Mapping[str, Any]) -> str | None:
    return join_content(item.get("content"))


def refusal_text(item: Mapping[str, Any]) -> str | None:
    return join_texts(read_text(part.get("refusal")) for part in read_objects(item.get("content")))


def read_result(item: Mapping[str, Any]) -> RequestResult:
    output = item.get("output")
    content = join_result([output] if isinstance(output, dict) else output)
    if content is None and output is not None and not isinstance(output, str):
        content = join_texts(read_text(part.get("stdout")) for part in read_objects(output))
    has_status = item.get("type") in ("apply_patch_call_output", _SEARCHED)
    status = item.get("status") if has_status else None
    if isinstance(status, str) and status in _STATUS:
        return RequestResult(content, status=_STATUS[status], flag_source=FlagSource.EXPLICIT)
    return RequestResult(content)
