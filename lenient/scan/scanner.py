"""Reads one value from broken JSON, with the span of each inner value and a diagnostic for each repair.

The input is read once, from left to right. If brackets or quotes were in doubt, `second_pass` reads the input
again. The definition helps to distinguish keys from strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import Findings, Path, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.object_members import read_member
from lenient.scan.scan_state import OpenContainer, ScanResult, ScanState
from lenient.scan.second_pass import is_doubtful, read_again
from lenient.scan.source_text import SourceText
from lenient.scan.strings.quoted_string import StringReader
from lenient.scan.strings.string_end import Lookahead
from lenient.scan.strings.string_end_scoring import (
    BLANKS,
    CLOSERS,
    COMMAS,
    QUOTES,
    REMARK,
    EnclosingBracket,
    find_odd_comma,
)
from lenient.scan.strings.trivia import find_fence_end
from lenient.scan.value_start import read_value_start

_STRAY = compile_regex(
    r"[^\s,:=\"'“”`{}\[\]()][^,:=\"'“”`{}\[\]()\n]{0,60}+(?<!\s)(?=\s*+(?:[}\]]|,\s*+[\"'\w]))"
)
_AFTER_STRAY = compile_regex(r"\s*+(?:[}\]]|,\s*+[\"'\w])")
_QUOTED = r"(?:\"[^\"\\\n]*+\"|'[^'\\\n]*+')"
_SET = compile_regex(rf"{_QUOTED}\s*+(?:,\s*+{_QUOTED}\s*+)*+,?\s*+\}}(?!\s*+:)")
"""The items of a Python set and its closing brace."""


def scan_value(
    piece: SourceText,
    start: int,
    node: Node | None,
    findings: Findings,
    *,
    path: Path = None,
    ahead: Lookahead | None = None,
    opened: bool = False,
    strict: bool = False,
) -> ScanResult:
    """Read one value of `piece.text` from the offset `start` on, and add the repairs to `findings`.

    `node` is the definition of the value, and `path` is the value's position in diagnostics. `opened` means
    that the opening brace is missing and `start` is the offset of the first key. `strict` means that the
    value is valid JSON, so each string ends at the first unescaped quote. `ahead` is shared by several scans
    of one input.

    Raises UnreadableError and TooManyFindingsError.
    """
    ahead = ahead or Lookahead(piece.text)
    own = findings if strict else Findings()
    reading = ScanState(piece, start, own, path, StringReader(piece.text, ahead, strict=strict))
    first: ScanResult | None = None
    try:
        first = _scan_once(reading, node, opened=opened)
        if strict:
            return first
        if not is_doubtful(piece, first, own.items, node, reading.strings.ends):
            findings.extend(own.items)
            return first
        failure = None
    except UnreadableError as error:
        if not _may_be_brackets(error, piece.text):
            findings.extend(own.items)
            raise
        failure = error
    ahead.left_again -= len(piece.text) - start
    if ahead.left_again >= 0:
        fresh = ScanState(piece, start, Findings(), path, StringReader(piece.text, ahead, strict=False))
        second = read_again(fresh, node, first, reading, opened=opened)
        if second is not None:
            findings.extend(fresh.findings.items)
            return second
    findings.extend(own.items)
    if first is None:
        raise failure or UnreadableError("truncated", start)
    return first


def _may_be_brackets(error: UnreadableError, text: str) -> bool:
    """Return True when missing or superfluous brackets may explain a failure.

    If not, a missing value is the cause of the failure.
    """
    if error.reason == "no_value":
        return text[error.position : error.position + 1] in QUOTES and not _SET.match(text, error.position)
    return error.reason in ("unexpected_character", "truncated")


def _scan_once(reading: ScanState, node: Node | None, *, opened: bool) -> ScanResult:
    if opened:
        _open_missing_brace(reading, node)
    else:
        reading.pass_gap()
        read_value_start(reading, node)
    stack = reading.stack
    while stack:
        _read_next_sign(reading, stack[-1])
    if reading.done is None:
        raise UnreadableError("truncated", len(reading.text))
    value, mark = reading.done
    return ScanResult(value, mark, reading.position)


def _open_missing_brace(reading: ScanState, node: Node | None) -> None:
    reading.report_missing("missing_opener", "{")
    reading.stack.append(OpenContainer("}", reading.position, node))


def _read_next_sign(reading: ScanState, frame: OpenContainer) -> None:
    """Read the next member, item, comma or closing bracket of the innermost container."""
    reading.pass_gap()
    _pass_simple_parts(reading, frame)
    if reading.position >= len(reading.text):
        _close_all_brackets(reading)
        return
    sign = reading.text[reading.position]
    if frame.filled and (odd := find_odd_comma(reading.text, reading.position, is_member=frame.close == "}")):
        _pass_odd_comma(reading, frame, odd)
    elif sign in CLOSERS:
        _close_bracket(reading, frame, sign)
    elif sign in COMMAS:
        _pass_comma(reading, frame, sign)
    elif sign == "`" and _pass_fence(reading, frame):
        return
    else:
        _read_part(reading, frame)


def _pass_fence(reading: ScanState, frame: OpenContainer) -> bool:
    """Skip and report a code fence after a member or item of the innermost container, or before a member.

    Return False when there is no fence.
    """
    following = ",}]`" if frame.filled else "\"'}" if frame.close == "}" else None
    end = following and find_fence_end(reading.text, reading.position, following)
    if not end:
        return False
    reading.report("code_fence_removed", reading.position, end, found="```")
    reading.position = end
    return True


def _pass_simple_parts(reading: ScanState, frame: OpenContainer) -> None:
    around = reading.stack[-2].close if len(reading.stack) > 1 else ""
    read = reading.plain.read_members if frame.close == "}" else reading.plain.read_items
    while not frame.filled:
        position = read(reading.position, frame, around)
        if position == reading.position:
            return
        reading.position = position
        reading.pass_gap()


def _read_part(reading: ScanState, frame: OpenContainer) -> None:
    """Read the next member or item. Report a missing comma before the member or item."""
    if frame.filled:
        if (stray := _find_stray_end(reading.text, reading.position, frame)) is not None:
            stray_text = reading.text[reading.position : stray]
            reading.report("stray_text_dropped", reading.position, stray, found=stray_text)
            reading.position = stray
            return
        reading.report_missing("missing_comma", ",")
        frame.filled, before = False, reading.position
        _pass_simple_parts(reading, frame)
        if reading.position != before:
            return
    frame.filled = True
    if frame.close == "}":
        read_member(reading, frame)
    else:
        read_value_start(reading, frame.item_node())


def _find_stray_end(text: str, at: int, frame: OpenContainer) -> int | None:
    """Return the end of words at `at` that are neither a member nor an item. Return None for anything else.

    In an array, such words must directly follow a string, because other words may be an item.
    """
    if frame.close == "}":
        stray = REMARK.match(text, at)
        if stray is not None and not _AFTER_STRAY.match(text, stray.end()):
            return None
    else:
        stray = _STRAY.match(text, at) if text[at - 1] in QUOTES else None
    return stray.end() if stray is not None else None


def _pass_odd_comma(reading: ScanState, frame: OpenContainer, end: int) -> None:
    """Read the characters up to `end` as a comma between two members or items.

    Between items, such characters may belong to a string, so the result is ambiguous.
    """
    at = reading.position
    if frame.close != "}":
        reading.report("ambiguous", at, end, hint="Or the signs and quotes around them belong to one text.")
    reading.report("wrong_separator", at, end, found=reading.text[at:end], became=",")
    frame.comma, frame.filled, reading.position = at, False, end


def _pass_comma(reading: ScanState, frame: OpenContainer, sign: str) -> None:
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


# --- closing objects and arrays ------------------------------------------------------------------------

_ROUND = compile_regex(r"\s*+,?\s*+\)")


def _close_bracket(reading: ScanState, frame: OpenContainer, sign: str) -> None:
    """Process the closing bracket `sign` at the current position, and report each repair.

    The bracket closes `frame`, or is superfluous and is skipped. If the bracket that closes `frame` is
    missing, it is added, and the position stays the same.
    """
    close, at = CLOSERS[sign], reading.position
    if not frame.filled and frame.comma >= 0:
        reading.report("trailing_comma", frame.comma, frame.comma + 1, found=reading.text[frame.comma])
        frame.comma = -1
    verdict = (
        _BracketAction.CLOSES
        if close == frame.also
        else _judge_closer(reading.text, at, close, reading.stack)
    )
    if verdict is _BracketAction.MISSING:
        reading.report("missing_closer", at, at, became=frame.close)
        reading.close_container()
        return
    if verdict is not _BracketAction.CLOSES:
        is_wrong = verdict is _BracketAction.WRONG
        code = "wrong_closer" if is_wrong else "extra_closer"
        reading.report(code, at, at + 1, found=sign, became=frame.close if is_wrong else None)
    elif sign not in "}])":
        reading.report("fullwidth_punctuation", at, at + 1, found=sign, became=close)
    reading.position += 2 if frame.doubled and reading.text.startswith("}}", at) else 1
    if verdict is not _BracketAction.EXTRA:
        reading.close_container()
        if frame.wrapped and (around := _ROUND.match(reading.text, reading.position)) is not None:
            reading.position = around.end()


def _close_all_brackets(reading: ScanState) -> None:
    end = len(reading.text)
    frame = reading.stack[-1]
    if not frame.filled and not reading.dropped:
        reading.report("truncated_text", end, end)
    missing = "".join(frame.close for frame in reversed(reading.stack))
    reading.report("missing_closer", end, end, became=missing)
    while reading.stack:
        reading.close_container()


# --- what a closing bracket closes ---------------------------------------------------------------------

_KEY = compile_regex(rf"{BLANKS},{BLANKS}(?:[\"'“][^\"'“”\\\n]{{1,64}}[\"'”]|[A-Za-z_]\w{{0,63}})\s*+:")
_NEXT_ITEM = compile_regex(rf"{BLANKS},{BLANKS}[\[{{\"\d]")


class _BracketAction(Enum):
    CLOSES = "closes"
    EXTRA = "extra"  # the closing bracket is superfluous and has no effect
    # the bracket closes an outer container; the bracket of the inner container is missing
    MISSING = "missing"
    WRONG = "wrong"  # the bracket is used instead of the expected one


def _judge_closer(text: str, at: int, close: str, stack: Sequence[EnclosingBracket]) -> _BracketAction:
    if close == stack[-1].close:
        return _BracketAction.CLOSES
    outer = len(stack) - 2
    while outer >= 0 and stack[outer].close != close:
        outer -= 1
    if outer > 0 or (outer == 0 and not _KEY.match(text, at + 1)):
        in_list = outer > 0 and stack[outer - 1].close == "]"
        goes_on = stack[-1].close == "]" and not in_list and _NEXT_ITEM.match(text, at + 1)
        return _BracketAction.EXTRA if goes_on and not _KEY.match(text, at + 1) else _BracketAction.MISSING
    if len(stack) > 1 or text[at + 1 : at + 1_000].strip() == "" or stack[-1].close == ")":
        return _BracketAction.WRONG
    return _BracketAction.EXTRA
