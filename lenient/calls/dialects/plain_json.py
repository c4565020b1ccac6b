"""Reads calls without delimiter tokens: JSON objects in a Markdown fence, or between prose.

`CallEvidence.TEXT` lists the conditions under which an object counts as a tool call. An object does not count
when the words before the object announce an example, or when it is in a fence of program code or in a line of
prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_calls import CallEvidence, call_envelope, find_calls
from lenient.calls.reading.json_in_text import JsonInText, find_json_end, read_json_value
from lenient.calls.reading.model_text import FencedBlock, ModelText
from lenient.calls.reading.token_blocks import find_outside_strings
from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_end import Lookahead
from lenient.unwrap.surrounding_text import OBJECT_START

_LANGUAGES = frozenset(
    {"", "json", "json5", "jsonc", "jsonl", "tool_call", "tool_calls", "tool", "tool_use", "tool_code",
     "call", "function_call", "function", "action", "text", "txt", "plaintext", "xml", "javascript", "js"}
)  # fmt: skip
_START = compile_regex(rf"\[(?=\s*+\{{\s*+\")|{OBJECT_START.pattern}")
_FENCE = compile_regex(r"^[ \t]*+(?:`{3}|~{3})", re.MULTILINE)
_NAME = compile_regex(
    r"[\"'“]?(?:name|tool|tool_name|tool_call|function|action)[\"'”]?\s*+[:：]\s*+[\"'“]([^\"'“”\n]{1,128})[\"'”]"
)


def fenced_json(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as a JSON object, or as a list of objects, in a Markdown fence.

    Source: replies of models whose prompt asks for JSON.
    """
    for fence in reply.find_fences:
        if fence.language not in _LANGUAGES or reply.is_quoted(fence.start):
            continue
        whole = reply.is_whole(fence.start, fence.end)
        if not whole and reply.is_example(fence.start):
            continue
        yield from _read_fence(reply, fence, whole)


def _read_fence(reply: ModelText, fence: FencedBlock, whole: bool) -> Iterator[FoundCall]:
    start = _START.search(reply.text, fence.body, fence.close)
    if start is None:
        return
    end = reply.find_strict_end(start.start())
    if end is not None:
        limits = [max(fence.close, end)]  # a fence inside a JSON string does not end the block
    else:
        outside = find_outside_strings(reply, start.start(), _FENCE)
        limits = sorted({fence.close, max(fence.close, outside.start() if outside is not None else 0)})
    readings = [
        (text, list(_read_objects(reply, text, fence.body)))
        for text in (reply.text[fence.body : limit] for limit in limits)
        if reply.spend_budget(len(text))
    ]
    best = min(readings, key=lambda each: max((read.damage for read in each[1]), default=3), default=None)
    text, reads = best if best is not None else ("", [])
    for read in reads:
        alone = whole and not text[: read.mark.start].strip() and not text[read.end :].strip()
        yield from find_calls(reply, read, CallEvidence.TEXT, whole=alone)


def bare_json(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as JSON objects without a fence.

    Models: Llama 3.2, and models without a chat template for tool calls. Sources: vLLM's parser
    `llama3_json`; replies of models whose prompt asks for JSON.
    """
    done = 0
    for read in _read_objects(reply, reply.text, 0):
        whole = reply.is_whole(read.base + read.mark.start, read.base + read.end)
        if whole or not _is_quoted_example(reply, read, done):
            for call in find_calls(reply, read, CallEvidence.TEXT, whole=whole):
                yield call
                done = call.end


def _is_quoted_example(reply: ModelText, read: JsonInText, done: int) -> bool:
    """Return True for an object in inline code, in a fence, or after words that announce an example.

    `done` is the end of the previous tool call; words before this offset are ignored.
    """
    start = read.base + read.mark.start
    quoted = reply.is_inline_code(start) or reply.fence_around(start) is not None
    return quoted or reply.is_example(start, since=done)


_LOOK = 800  # reading an object costs as much as skipping this many characters


def _read_objects(reply: ModelText, text: str, base: int) -> Iterator[JsonInText]:
    """Yield the JSON objects and the lists of objects in `text`, a section of the reply.

    `base` is the offset of `text` in the reply. Reasoning and anything that is not an object are skipped.
    """
    piece, ahead, position = SourceText(text), Lookahead(text), 0
    while (opening := _START.search(text, position)) is not None:
        hidden = reply.find_reasoning_end(base + opening.start())
        if hidden is not None:
            position = max(hidden - base, opening.end())
            continue
        is_list = text[opening.start()] == "["
        if is_list and find_json_end(text, opening.start()) is None:
            position = opening.start() + 1  # next, read the objects inside the list one by one
            continue
        if not reply.spend_budget(_LOOK):
            return
        name = _NAME.search(text, opening.start(), opening.start() + 300)
        node = call_envelope(reply, name.group(1)) if name and not is_list else None
        read = read_json_value(piece, opening.start(), ahead, base, node)
        if isinstance(read, UnreadableError):
            # skip to the line end, where the search for the end of an unquoted word stops
            line_end = text.find("\n", read.position)
            if not reply.spend_budget((line_end if line_end >= 0 else len(text)) - opening.start()):
                return
            position = max(opening.start() + 1, min(read.position, len(text)))
            continue
        position = max(read.end, opening.start() + 1)
        yield read
