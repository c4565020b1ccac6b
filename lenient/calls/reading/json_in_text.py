"""Reads the JSON value at an offset of a reply, and repairs broken JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import orjson

from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import Diagnostic, Findings, TooManyFindingsError, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.scanner import scan_value
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.string_end import Lookahead
from lenient.scan.valid_json import find_valid_end

_BLANK = compile_regex(r"\s*+")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_WINDOW = 400
_AFTER = 150
"""The number of characters after a value that show whether the value has ended."""


@dataclass(frozen=True, slots=True)
class JsonInText:
    """A JSON value that was read from a reply.

    `piece` is the section of the reply that was read, and `base` is the offset of this section in the reply.
    `mark` is the span of the value in the piece, and `end` is the offset in the piece where reading stopped.
    `complete` is False when a bracket or string was still open at the end of the piece. `repairs` are the
    diagnostics of the repairs, with spans in the piece.
    """

    value: Any
    mark: ValueSpan
    piece: str
    base: int
    end: int
    complete: bool
    repairs: tuple[Diagnostic, ...] = ()

    @property
    def damage(self) -> int:
        """The damage in the JSON: 0 = none, 1 = a bracket or string is not closed, 2 = meaning was lost."""
        return 2 if any(repair.lossy for repair in self.repairs) else 0 if self.complete else 1


def pass_blanks(text: str, position: int) -> int:
    """Return the offset of the first non-whitespace character from `position` on."""
    match = _BLANK.match(text, position)
    return match.end() if match else position


def is_json(text: str) -> bool:
    """Return True when the whole string is one JSON value."""
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def find_json_end(text: str, start: int) -> int | None:
    """Return the end of the JSON object or array at `start`, or None when the JSON there is invalid."""
    size = _WINDOW
    while True:
        piece = text[start : start + size]
        end = find_valid_end(piece, 0)
        whole = start + size >= len(text)
        if end is not None and (whole or end + _AFTER < len(piece)):
            return start + end
        if whole or (end is None and not _goes_beyond(piece)):
            return None
        size *= 4


def _goes_beyond(piece: str) -> bool:
    """Return True when the piece is valid JSON, or JSON that only the end of the window cuts off."""
    try:
        _DECODER.raw_decode(piece)
    except json.JSONDecodeError as error:
        return error.pos >= len(piece) - _AFTER or error.msg.startswith("Unterminated")
    except (ValueError, RecursionError):
        return False
    return True


def read_json_value(
    piece: SourceText,
    start: int,
    ahead: Lookahead,
    base: int,
    node: Node | None = None,
    *,
    opened: bool = False,
) -> JsonInText | UnreadableError:
    """Read the JSON value at the offset `start` of a piece of the reply, and repair broken JSON.

    Return (do not raise) an UnreadableError when no value can be read. `ahead` caches searches for all reads
    of one piece. `base` is the offset of the piece in the reply. `node` is the expected shape of the value,
    or None when unknown. `opened` is True when the opening brace of the value is missing.
    """
    findings = Findings()
    strict = find_json_end(piece.text, start) is not None
    try:
        scanned = scan_value(piece, start, node, findings, ahead=ahead, strict=strict, opened=opened)
    except UnreadableError as error:
        return error
    except TooManyFindingsError:
        return UnreadableError("too_many_findings", len(piece.text))
    complete = not any(
        finding.code in ("missing_closer", "unclosed_string") and finding.end == len(piece.text)
        for finding in findings.items
    )
    return JsonInText(
        scanned.value, scanned.mark, piece.text, base, scanned.end, complete, tuple(findings.items)
    )
