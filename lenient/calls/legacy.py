"""The older form of Claude's calls, in which tags are named after the parameters.

Goes in: a reply. Comes out: calls whose raw arguments are built as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.blocks import Block, blocks
from lenient.calls.found import Found
from lenient.calls.parameters import Parameter, Undeclared, built_arguments
from lenient.calls.reply import Reply

_CALL = re.compile(r"<invoke>\s*+<tool_name>\s*+(?P<name>[\w.\-]{1,128}+)\s*+</tool_name>")
_CALL_END = re.compile(r"</invoke>")
_TAG = re.compile(r"<([A-Za-z_][\w.\-]{0,127}+)>")


def anthropic_legacy(reply: Reply) -> Iterator[Found]:
    """`<invoke><tool_name>name</tool_name><parameters><key>value</key></parameters></invoke>`: Claude 2.

    Source: Anthropic's XML tool use guide of 2024. Values are as in `lenient.calls.tagged.anthropic_invoke`.
    """
    for block in blocks(reply, _CALL, _CALL_END):
        complete = bool(block.ends)
        parameters = list(_parameters(reply, block))
        raw, built = built_arguments(
            parameters, reply.root(block.opening["name"]), Undeclared.TEXT, entities=True, cut=not complete
        )
        end = block.ends[0].end() if complete else block.end
        yield Found(block.opening["name"], raw, block.start, end, complete, built=built)


def _parameters(reply: Reply, block: Block) -> Iterator[Parameter]:
    text, position = reply.text, block.body
    while (tag := _TAG.search(text, position, block.end)) is not None:
        position = tag.end()
        name = tag.group(1)
        if name == "parameters":
            continue
        end = text.find(f"</{name}>", position, block.end)
        if end < 0 and not reply.spend(block.end - position):
            return
        cut = end < 0 and not block.ends
        stop = end if end >= 0 else block.end
        yield Parameter(name, text[position:stop], None, end >= 0, cut, layout=False, end=stop)
        position = stop
