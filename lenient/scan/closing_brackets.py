"""Closes objects and arrays, at a closing bracket or at the end of the text; adds missing brackets."""

from __future__ import annotations

import re

from lenient.scan.bracket_kinds import BracketAction, judge_closer
from lenient.scan.nesting import find_strays, is_ambiguous
from lenient.scan.open_brackets import OpenContainer
from lenient.scan.scan_state import ScanState
from lenient.scan.strings.string_end_scoring import CLOSERS

_ROUND = re.compile(r"\s*+,?\s*+\)")
_EARLIER = "The missing bracket may belong before an earlier member."


def close_bracket(reading: ScanState, frame: OpenContainer, sign: str) -> None:
    """Process the closing bracket `sign` at the current position.

    The bracket closes `frame`, is skipped as superfluous, or shows that the bracket that closes `frame` is
    missing. In the last case, the missing bracket is added and the position stays the same. Each repair is
    reported.
    """
    close, at = CLOSERS[sign], reading.position
    if not frame.filled and frame.comma >= 0:
        reading.report("trailing_comma", frame.comma, frame.comma + 1, found=reading.text[frame.comma])
        frame.comma = -1
    verdict = (
        BracketAction.CLOSES if close == frame.also else judge_closer(reading.text, at, close, reading.stack)
    )
    if verdict is BracketAction.MISSING:
        reading.report("missing_closer", at, at, became=frame.close)
        reading.close_container()
        return
    if verdict is not BracketAction.CLOSES:
        is_wrong = verdict is BracketAction.WRONG
        code = "wrong_closer" if is_wrong else "extra_closer"
        reading.report(code, at, at + 1, found=sign, became=frame.close if is_wrong else None)
    elif sign not in "}])":
        reading.report("fullwidth_punctuation", at, at + 1, found=sign, became=close)
    reading.position += 2 if frame.doubled and reading.text.startswith("}}", at) else 1
    if verdict is not BracketAction.EXTRA:
        reading.close_container()
        if frame.wrapped and (around := _ROUND.match(reading.text, reading.position)) is not None:
            reading.position = around.end()


def close_all_brackets(reading: ScanState) -> None:
    """Close every bracket that is still open at the end of the text; report the missing brackets."""
    end = len(reading.text)
    frame = reading.stack[-1]
    if not frame.filled and not reading.dropped:
        reading.report("truncated_text", end, end)
    missing = "".join(frame.close for frame in reversed(reading.stack))
    if frame.close != "}" or not frame.filled or not _move_strays_out(reading, frame):
        reading.report("missing_closer", end, end, became=missing)
    while reading.stack:
        reading.close_container()


def _move_strays_out(reading: ScanState, frame: OpenContainer) -> bool:
    """Move the members that are declared for this object out of its last inner object.

    Return True when this repair closes all brackets. When no member is moved but the missing brace may belong
    before an earlier member, that is reported as ambiguous.
    """
    strays = find_strays(frame.children, frame.marks, frame.fields)
    if strays is None:
        if is_ambiguous(frame.children, frame.fields):
            end = len(reading.text)
            reading.report("ambiguous", end, end, hint=_EARLIER)
        return False
    reading.report("missing_closer", strays.end, strays.end, became="}")
    for name in strays.names:
        frame.children[name] = strays.inner.pop(name)
        frame.marks[name] = strays.marks.pop(name)
    return len(reading.stack) == 1
