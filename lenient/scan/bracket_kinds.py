"""Decides what a closing bracket closes, and whether an opening bracket is of the wrong kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from lenient.scan.strings.string_end_scoring import BLANKS, QUOTED_KEY, EnclosingBracket

_CONTINUES = re.compile(
    rf"(?:{BLANKS}[}}\]]){{0,3}}{BLANKS},{BLANKS}(?:[\"'“]([^\"'“”\\\n]{{1,64}})[\"'”]|([A-Za-z_]\w{{0,63}}))\s*+:"
)
_KEY = re.compile(rf"{BLANKS},{BLANKS}(?:[\"'“][^\"'“”\\\n]{{1,64}}[\"'”]|[A-Za-z_]\w{{0,63}})\s*+:")
_NEXT_ITEM = re.compile(rf"{BLANKS},{BLANKS}[\[{{\"\d]")
_NEXT_BRACKET = re.compile(rf"{BLANKS},{BLANKS}[\[{{]")
_DOUBLED = re.compile(r"\{\{\s*+(?:[\"'\w}]|\*{1,2}\"|//|/\*)")


class BracketAction(Enum):
    """The effect of a closing bracket on the open brackets."""

    CLOSES = "closes"
    EXTRA = "extra"  # nothing; it is one too many
    MISSING = "missing"  # one before it is missing: it closes an outer bracket
    WRONG = "wrong"  # it stands for the one that is due


def judge_closer(text: str, at: int, close: str, stack: Sequence[EnclosingBracket]) -> BracketAction:
    """Return the effect of the closing bracket `close` at offset `at` on the open brackets in `stack`."""
    if close == stack[-1].close:
        return BracketAction.EXTRA if _closes_too_early(text, at + 1, close, stack) else BracketAction.CLOSES
    outer = len(stack) - 2
    while outer >= 0 and stack[outer].close != close:
        outer -= 1
    if outer > 0 or (outer == 0 and not _KEY.match(text, at + 1)):
        in_list = outer > 0 and stack[outer - 1].close == "]"
        goes_on = stack[-1].close == "]" and not in_list and _NEXT_ITEM.match(text, at + 1)
        return BracketAction.EXTRA if goes_on and not _KEY.match(text, at + 1) else BracketAction.MISSING
    if len(stack) > 1 or text[at + 1 : at + 1_000].strip() == "" or stack[-1].close == ")":
        return BracketAction.WRONG
    return BracketAction.EXTRA


def _closes_too_early(text: str, after: int, close: str, stack: Sequence[EnclosingBracket]) -> bool:
    """Return True when more members or items follow the closing bracket.

    For the root object, a comma and a key must follow; for an array in an object, a comma and an opening
    bracket.
    """
    if len(stack) == 1:
        return close == "}" and _CONTINUES.match(text, after) is not None
    return close == "]" and stack[-2].close == "}" and _NEXT_BRACKET.match(text, after) is not None


def is_doubled_brace(text: str, at: int) -> bool:
    """Return True when the text at `at` has the `{{` of a template in place of one brace."""
    return _DOUBLED.match(text, at) is not None


def is_object_start(text: str, at: int) -> bool:
    """Return True when a key follows the square or round bracket at `at`."""
    return text[at] in "[(" and QUOTED_KEY.match(text, at + 1) is not None
