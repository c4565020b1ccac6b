"""Finds the end of a JSON value within a text, when the value is valid JSON."""

from __future__ import annotations

import re
from json import JSONDecoder

import orjson

_GOES_ON = re.compile(
    r"\s*+(?!\)++\s*+,)[}\])]++\s*+(?:\Z|,(?!\s*+[{｛])|[\"'“])|\s*+,\s*+[\"'“]?[\w.\-]{1,64}[\"'”]?\s*+[:：]|\s*+[\"'“][\w.\-]{1,64}[\"'”]\s*+[:：]|\"\s*+(?:,\s*+[\"'\w]|[}\]])"
)
"""After a closed value: a comma and a key, or the rest of a string that only seemed to end."""


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = JSONDecoder(parse_constant=_refuse_constant, parse_int=str, parse_float=str)


def find_valid_end(text: str, position: int) -> int | None:
    """Return the offset where the JSON object or array at `position` ends.

    Return None when the value is not valid JSON, or when the text after it shows that the value goes on.
    """
    if text[position : position + 1] not in ("{", "["):
        return None
    try:
        _, end = _DECODER.raw_decode(text, position)
        orjson.loads(text[position:end])  # json takes halves of surrogate pairs; orjson is the judge
    except (ValueError, RecursionError):
        return None
    return None if _GOES_ON.match(text, end) else end
