"""A text and the place where a value begins → the value, where each part of it stands, and every mend.

One pass with an explicit stack: no depth of nesting and no length makes it recurse or look back. The
definition's nodes help it to tell keys from text. Valid JSON passes without a mend. Knows nothing of what
surrounds the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lenient.diagnostics import Findings, Path
from lenient.nodes import Node
from lenient.repair.bare import UnreadableError
from lenient.repair.closing import close_all, take_closer
from lenient.repair.follows import CLOSERS, COMMAS, QUOTED_KEY, key_name
from lenient.repair.frames import Frame
from lenient.repair.members import take_member
from lenient.repair.quoted import StringReader
from lenient.repair.reading import Reading
from lenient.repair.strings import Lookahead
from lenient.repair.values import take_value
from lenient.source import Mark, Piece

_EXTRA_OPENER = "Or the first of two opening brackets is one too many."


@dataclass(frozen=True, slots=True)
class Scan:
    """What was read: the value, its mark, and where reading stopped."""

    value: Any
    mark: Mark
    end: int


def scan(
    piece: Piece,
    start: int,
    node: Node | None,
    findings: Findings,
    *,
    path: Path = None,
    ahead: Lookahead | None = None,
    opened: bool = False,
    strict: bool = False,
) -> Scan:
    """Read one value of `piece.text` from `start` on; mends go to `findings`.

    `opened` = the opening brace is missing and `start` is the first key; `strict` = the value is known to
    be valid JSON, so that each string ends at its first quote; `ahead` is shared by scans of one text.
    Raises UnreadableError and TooManyFindingsError.
    """
    strings = StringReader(piece.text, ahead or Lookahead(piece.text), strict=strict)
    reading = Reading(piece, start, findings, path, strings)
    if opened:
        _open_here(reading, node)
    else:
        reading.gap()
        take_value(reading, node)
    stack = reading.stack
    while stack:
        _step(reading, stack[-1])
    if reading.done is None:
        raise UnreadableError("truncated", len(reading.text))
    value, mark = reading.done
    return Scan(value, mark, reading.position)


def _open_here(reading: Reading, node: Node | None) -> None:
    """Open the object whose brace is missing here."""
    reading.report_missing("missing_opener", "{")
    reading.stack.append(Frame("}", reading.position, node))


def _step(reading: Reading, frame: Frame) -> None:
    """Take the next sign of the innermost bracket: a part, a comma or a closing bracket."""
    reading.gap()
    _plain_parts(reading, frame)
    if reading.position >= len(reading.text):
        close_all(reading)
        return
    sign = reading.text[reading.position]
    if sign in CLOSERS:
        take_closer(reading, frame, sign)
    elif sign in COMMAS:
        _comma(reading, frame, sign)
    elif _meets_object(reading, frame):
        _open_here(reading, frame.item_node())
        frame.filled = True
    elif _meets_member(reading):
        if len(frame.items) == 1 and isinstance(frame.items[0], list):
            reading.report("ambiguous", frame.start, frame.start + 1, hint=_EXTRA_OPENER)
        reading.report_missing("missing_closer", frame.close)
        reading.pop()
        reading.stack[-1].filled = frame.filled
    else:
        _part(reading, frame)


def _plain_parts(reading: Reading, frame: Frame) -> None:
    """Pass the parts that can be read in one way only, with the gaps between them."""
    around = reading.stack[-2].close if len(reading.stack) > 1 else ""
    read = reading.plain.members if frame.close == "}" else reading.plain.items
    while not frame.filled:
        position = read(reading.position, frame, around)
        if position == reading.position:
            return
        reading.position = position
        reading.gap()


def _part(reading: Reading, frame: Frame) -> None:
    """The next member or item."""
    if frame.filled:
        reading.report_missing("missing_comma", ",")
        frame.filled, before = False, reading.position
        _plain_parts(reading, frame)
        if reading.position != before:
            return
    frame.filled = True
    if frame.close == "}":
        take_member(reading, frame)
    else:
        take_value(reading, frame.item_node())


def _meets_member(reading: Reading) -> bool:
    """Does a part of the bracket around stand here, a key in an array or an object where a key is due?"""
    outer = reading.stack[-2] if len(reading.stack) > 1 else None
    if reading.strings.strict or outer is None or (outer.close == "}") == (reading.stack[-1].close == "}"):
        return False
    if reading.stack[-1].close == "}":
        return reading.text[reading.position] in "{｛" and bool(reading.stack[-1].children)
    key = QUOTED_KEY.match(reading.text, reading.position)
    return key is not None and (not outer.fields or key_name(key) in outer.fields)


def _meets_object(reading: Reading, frame: Frame) -> bool:
    """Does the first item of an array start with a key of its own? Its opening brace is missing."""
    if reading.strings.strict or frame.close != "]" or frame.items or frame.comma >= 0:
        return False
    key = QUOTED_KEY.match(reading.text, reading.position)
    outer = reading.stack[-2] if len(reading.stack) > 1 else None
    return key is not None and (outer is None or key_name(key) not in outer.fields)


def _comma(reading: Reading, frame: Frame, sign: str) -> None:
    at = reading.position
    if not frame.filled:
        reading.report("extra_comma", at, at + 1, found=sign)
    elif sign != ",":
        code = "wrong_separator" if sign == ";" else "fullwidth_punctuation"
        reading.report(code, at, at + 1, found=sign, became=",")
    if frame.filled:
        frame.comma = at
    frame.filled = False
    reading.position = at + 1
