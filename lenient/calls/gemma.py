"""Calls in Gemma's own notation: `call:name{key:<escape>text<escape>,number:3}` between two tokens.

Source: Google's FunctionGemma formatting guide; vLLM `functiongemma` and `gemma4` (strings in `<|"|>`).
Goes in: a reply. Comes out: calls whose raw arguments are built as JSON; what stands outside of the
delimiters goes in as it was written, with its keys in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.blocks import blocks
from lenient.calls.found import Found
from lenient.calls.reply import Reply
from lenient.json_values import compact

_CALL = re.compile(r"(?:<start_function_call>|<\|tool_call>)\s*+call:\s*+(?P<name>[\w.\-]{1,128}+)\s*+(?=\{)")
_CALL_END = re.compile(r"\s*+(?:<end_function_call>|<tool_call\|>|<\|tool_call\|>)")
_DELIMITER = re.compile(r"<escape>|<\|\"\|>")
_KEY = re.compile(r"(?<![\w.\-])([A-Za-z_][\w.\-]*+)(?=\s*+:)")


def gemma(reply: Reply) -> Iterator[Found]:
    """`<start_function_call>call:name{…}<end_function_call>`, `<|tool_call>call:name{…}<tool_call|>`."""
    for block in blocks(reply, _CALL, _CALL_END):
        complete = bool(block.ends)
        body = reply.text[block.body : block.end].rstrip()
        end = block.ends[0].end() if complete else block.body + len(body)
        raw = _json(body, complete=complete)
        yield Found(block.opening["name"], raw, block.start, end, complete or raw.endswith("}"))


def _json(body: str, *, complete: bool) -> str:
    """The body as JSON: what is between delimiters as strings, keys in quotes."""
    pieces = _DELIMITER.split(body)
    parts = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            parts.append(_KEY.sub(r'"\1"', piece))
        elif index + 1 < len(pieces):
            parts.append(compact(piece))
        else:
            parts.append(compact(piece) if complete else compact(piece)[:-1])
    return "".join(parts)
