"""Finds closing tokens behind calls whose opening token the text lacks.

Servers take such tokens for special ones and remove them, and models leave them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from lenient.calls.reading.extracted_call import FoundCall
from lenient.diagnostics import Diagnostic

_TOKEN = re.compile(
    r"</?(?:\w{1,40}+:)?(?:tool_calls?|function_calls?|longcat_tool_call|TOOLCALL)>"
    r"|</?｜DSML｜(?:function|tool)_calls>|<[｜|]tool[▁_]calls[▁_](?:begin|end)[｜|]>"
    r"|<\|tool_calls?_(?:section_)?(?:start|begin|end)\|>|<\|/?tool_call\|>|\[/?TOOL_CALLS\]"
    r"|<\|(?:START|END)_ACTION\|>|<\|action_(?:start|end)\|>|<\|tools_(?:prefix|suffix)\|>"
    r"|<\|python_(?:start|tag|end)\|>|<\|(?:open|close)\|>tools<\|sep\|>"
)
"""The tokens around calls, of all dialects that have two of them."""
_CLOSING = re.compile(r"/|end|END|suffix|close")
_BETWEEN = " \t\r\n])},;`"


def report_unopened(text: str, found: Iterable[tuple[str, FoundCall]]) -> list[tuple[str, FoundCall]]:
    """Return the calls, those with a diagnostic that a closing token without an opening one follows.

    `found` are the calls with their dialects. Tokens within a call are text, or belong to it alone.
    """
    calls = sorted(found, key=lambda each: each[1].start)
    opened, position = 0, 0
    for index, (dialect, call) in enumerate([*calls]):
        opened += _count_opening(text, position, call.start)
        position, limit = call.end, calls[index + 1][1].start if index + 1 < len(calls) else len(text)
        while (token := _TOKEN.search(text, position, limit)) is not None:
            if _CLOSING.search(token.group()) is None or text[position : token.start()].strip(_BETWEEN):
                break
            position = token.end()
            if opened == 0:
                alone = Diagnostic("missing_opening_tag", "$", token.start(), position, token.group())
                calls[index] = dialect, replace(call, around=(*call.around, alone))
                break
            opened -= 1
    return calls


def _count_opening(text: str, start: int, end: int) -> int:
    return sum(_CLOSING.search(token.group()) is None for token in _TOKEN.finditer(text, start, end))
