"""Reads calls in Gemma's own notation: `call:name{key:<escape>text<escape>,number:3}` between two tokens.

Source: Google's FunctionGemma formatting guide; vLLM `functiongemma` and `gemma4` (strings in `<|"|>`). The
raw arguments are built as JSON: keys and the texts between delimiters are put in double quotes, all other
text is kept as the model wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import find_blocks
from lenient.definitions.json_schema.json_values import to_json_text

_CALL = re.compile(r"(?:<start_function_call>|<\|tool_call>)\s*+call:\s*+(?P<name>[\w.\-]{1,128}+)\s*+(?=\{)")
_CALL_END = re.compile(r"\s*+(?:<end_function_call>|<tool_call\|>|<\|tool_call\|>)")
_DELIMITER = re.compile(r"<escape>|<\|\"\|>")
_KEY = re.compile(r"(?<![\w.\-])([A-Za-z_][\w.\-]*+)(?=\s*+:)")


def gemma(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in the notation of Gemma.

    The notation is `<start_function_call>call:name{…}<end_function_call>` or
    `<|tool_call>call:name{…}<tool_call|>`.
    """
    for block in find_blocks(reply, _CALL, _CALL_END):
        complete = bool(block.ends)
        body = reply.text[block.body : block.end].rstrip()
        end = block.ends[0].end() if complete else block.body + len(body)
        raw = _write_as_json(body, complete=complete)
        yield FoundCall(block.opening["name"], raw, block.start, end, complete or raw.endswith("}"))


def _write_as_json(body: str, *, complete: bool) -> str:
    """Return the body as JSON: the texts between delimiters as strings, keys in double quotes.

    When `complete` is False and the last delimiter is missing, the last string is left open.
    """
    pieces = _DELIMITER.split(body)
    parts = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            parts.append(_KEY.sub(r'"\1"', piece))
        elif index + 1 < len(pieces):
            parts.append(to_json_text(piece))
        else:
            parts.append(to_json_text(piece) if complete else to_json_text(piece)[:-1])
    return "".join(parts)
