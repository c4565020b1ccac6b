"""Finds the raw text of each argument of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lenient import ToolCallRequest
from lenient.diagnostics.codes import Stage


def read_member_texts(request: ToolCallRequest) -> Mapping[str, str]:
    """Return the raw text of each argument, where the raw text is a JSON object; of equal names the last.

    The parser gives only the spans of its diagnostics. Nothing is judged here.
    """
    raw, decoder, texts = request.raw_arguments, json.JSONDecoder(), dict[str, str]()
    if not isinstance(raw, str) or any(found.stage in _TEXT_STAGES for found in request.diagnostics):
        return texts
    try:
        at = _skip_blanks(raw, 0)
        while raw[at] in "{,":
            name, at = decoder.raw_decode(raw, _skip_blanks(raw, at + 1))
            start = _skip_blanks(raw, _skip_blanks(raw, at) + 1)
            end = decoder.raw_decode(raw, start)[1]
            texts[name] = raw[start:end]
            at = _skip_blanks(raw, end)
    except (ValueError, IndexError, RecursionError):
        pass  # an empty object, or a number longer than Python reads
    return texts


_TEXT_STAGES = (Stage.UNWRAP, Stage.REPAIR)


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in " \t\n\r":
        at += 1
    return at
