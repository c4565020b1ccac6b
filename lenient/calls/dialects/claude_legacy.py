"""Reads the older form of Claude's calls, in which tags are named after the parameters.

The raw arguments are built as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import TokenBlock, find_blocks
from lenient.calls.reading.written_parameters import UndeclaredType, WrittenParameter, build_arguments

_CALL = re.compile(r"<invoke>\s*+<tool_name>\s*+(?P<name>[\w.\-]{1,128}+)\s*+</tool_name>")
_CALL_END = re.compile(r"</invoke>")
_TAG = re.compile(r"<([A-Za-z_][\w.\-]{0,127}+)>")


def anthropic_legacy(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in the notation of Claude 2.

    The notation is `<invoke><tool_name>name</tool_name><parameters><key>value</key></parameters></invoke>`.
    Source: Anthropic's XML tool use guide of 2024. Values are read as in
    `lenient.calls.dialects.tagged_parameters.anthropic_invoke`.
    """
    for block in find_blocks(reply, _CALL, _CALL_END):
        complete = bool(block.ends)
        parameters = list(_read_parameters(reply, block))
        raw, built = build_arguments(
            parameters,
            reply.arguments_node(block.opening["name"]),
            UndeclaredType.TEXT,
            entities=True,
            cut=not complete,
        )
        end = block.ends[0].end() if complete else block.end
        yield FoundCall(block.opening["name"], raw, block.start, end, complete, built=built)


def _read_parameters(reply: ModelText, block: TokenBlock) -> Iterator[WrittenParameter]:
    text, position = reply.text, block.body
    while (tag := _TAG.search(text, position, block.end)) is not None:
        position = tag.end()
        name = tag.group(1)
        if name == "parameters":
            continue
        end = text.find(f"</{name}>", position, block.end)
        if end < 0 and not reply.spend_budget(block.end - position):
            return
        cut = end < 0 and not block.ends
        stop = end if end >= 0 else block.end
        yield WrittenParameter(name, text[position:stop], None, end >= 0, cut, layout=False, end=stop)
        position = stop
