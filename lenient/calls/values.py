"""A text and a place in it → the JSON value there, as it stands or mended. Knows nothing of calls."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import orjson

from lenient.diagnostics import Diagnostic, Findings, TooManyFindingsError
from lenient.nodes import Node
from lenient.repair import UnreadableError, scan
from lenient.repair.strings import Lookahead
from lenient.source import Mark, Piece
from lenient.valid import valid_end

_BLANK = re.compile(r"\s*+")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_WINDOW = 400
_AFTER = 150
"""Characters after a value, or of a token cut in two, that decide whether it is over."""


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value as read: `piece[mark]` is its text, and `base` is where the piece begins in the reply.

    `complete` is False when the text ended with brackets open. `mends` have spans in the piece.
    """

    value: Any
    mark: Mark
    piece: str
    base: int
    end: int
    complete: bool
    mends: tuple[Diagnostic, ...] = ()


def blank_end(text: str, position: int) -> int:
    """The place after the blanks at a place."""
    match = _BLANK.match(text, position)
    return match.end() if match else position


def is_json(text: str) -> bool:
    """Is the whole text one JSON value?"""
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def json_end(text: str, start: int) -> int | None:
    """Where the valid JSON object or array at a place ends, None when it is not valid.

    Looks at a window that grows while the value goes on: a failed decoder counts the lines of all that it
    was given, which would make many failures in one text quadratic.
    """
    size = _WINDOW
    while True:
        piece = text[start : start + size]
        end = valid_end(piece, 0)
        whole = start + size >= len(text)
        if end is not None and (whole or end + _AFTER < len(piece)):
            return start + end
        if whole or (end is None and not _goes_beyond(piece)):
            return None
        size *= 4


def _goes_beyond(piece: str) -> bool:
    """Is it JSON as far as the window goes?"""
    try:
        _DECODER.raw_decode(piece)
    except json.JSONDecodeError as error:
        return error.pos >= len(piece) - _AFTER or error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        return False
    return True


def read_value(
    piece: Piece, start: int, ahead: Lookahead, base: int, node: Node | None = None, *, opened: bool = False
) -> Value | UnreadableError:
    """The value at a place of a piece of the reply, mended where it must be; or why there is none.

    `opened` = its opening brace is missing.
    """
    findings = Findings()
    strict = json_end(piece.text, start) is not None
    try:
        found = scan(piece, start, node, findings, ahead=ahead, strict=strict, opened=opened)
    except UnreadableError as error:
        return error
    except TooManyFindingsError:
        return UnreadableError("too_many_findings", len(piece.text))
    complete = not any(
        finding.code in ("missing_closer", "unclosed_string") and finding.end == len(piece.text)
        for finding in findings.items
    )
    return Value(found.value, found.mark, piece.text, base, found.end, complete, tuple(findings.items))
