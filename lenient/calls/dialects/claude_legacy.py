"""Reads the older form of Claude's calls, in which tags are named after the parameters.

The raw arguments are built as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import TokenBlock, find_blocks
from lenient.calls.reading.written_parameters import UndeclaredType, WrittenParameter, build_arguments
from lenient.regex import compile_regex

_CALL = compile_regex(
    r"(?:(?P<begin><invoke>)\s*+)?+<tool_name>\s*+(?P<name>[\w.\-]{1,128}+)\s*+</tool_name>"
    r"(?(begin)|(?=\s*+<parameters>))"
)
_CALL_END = re.compile(r"</invoke>")
_TAG = re.compile(r"<([A-Za-z_][\w.\-]{0,127}+)>")


def anthropic_legacy(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in the notation of Claude 2.

    The notation is `<invoke><tool_name>name</tool_name><parameters><key>value</key></parameters></invoke>`.
    Source: Anthropic's XML tool use guide of 2024. Values are read as in
    `lenient.calls.dialects.tagged_parameters.anthropic_invoke`.
    """
    done = 0
    for block in find_blocks(reply, _CALL, _CALL_END):
        if block.start < done:
            continue  # an example within a value
        parameters = list(_read_parameters(reply, block))
        last = parameters[-1].end if parameters else block.body
        closing = _CALL_END.search(reply.text, last) if last > block.end else next(iter(block.ends), None)
        complete = closing is not None
        raw, built = build_arguments(
            parameters,
            reply.arguments_node(block.opening["name"]),
            UndeclaredType.TEXT,
            entities=True,
            cut=not complete,
        )
        done = closing.end() if closing is not None else max(block.end, last)
        around = () if block.opening["begin"] else (missing_opening(block.start),)
        yield FoundCall(
            block.opening["name"], raw, block.start, done, complete, built=built, around=around
        )  # fmt: skip


def _read_parameters(reply: ModelText, block: TokenBlock) -> Iterator[WrittenParameter]:
    """Yield the parameters of a call.

    A value ends at its own closing tag, also beyond what looks like the end of the call, unless its opening
    tag comes again before that.
    """
    text, position = reply.text, block.body
    stop = block.end
    while (tag := _TAG.search(text, position, stop)) is not None:
        position = tag.end()
        name = tag.group(1)
        if name == "parameters":
            continue
        end = text.find(f"</{name}>", position, stop)
        if end < 0:
            if not reply.spend_budget(0):
                return
            end = text.find(f"</{name}>", position)
            if not reply.spend_budget((end if end >= 0 else len(text)) - position):
                return
            if text.find(f"<{name}>", position, max(end, position)) >= 0:
                end = -1
        cut = end < 0 and not block.ends
        end_of_value = end if end >= 0 else stop
        value = text[position:end_of_value]
        yield WrittenParameter(name, value, None, end >= 0, cut, layout=False, end=end_of_value)
        position = end_of_value
        if position > stop:
            closing = _CALL_END.search(text, position)
            stop = closing.start() if closing is not None else len(text)
