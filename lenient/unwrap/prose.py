"""Finds where the object in prose begins, or the reason why there is none.

Narration may stand before an object; source code, a log line or a sentence that holds braces may not.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from lenient.diagnostics.unreadable import UnreadableError
from lenient.scan.strings.string_end_scoring import VALUE_START

OBJECT_START = re.compile(
    r"[{｛]\s*+(?:,\s*+)?(?:[\"'“‘`＂「]|[}｝]|\\++[\"']|[A-Za-z_$][\w$\-]*+[\"']?\s*+[:：=]|//|/\*|#|\*{1,2}\"|[rbuf][\"']|\Z)"
)
SOURCE_CODE = re.compile(
    r"^[ \t]*(?:def \w+ ?\(|import \w|from [\w.]+ import |class \w+[:( {]|print\(|console\.log\("
    r"|#include|#!/|package \w+;?[ \t]*$|func \w+\(|<\?php|<!doctype|<html|(?:async )?function \w+ ?\("
    r"|public |return |select .{1,200} from |insert into \w|(?:if|while|for|switch) ?\()",
    re.MULTILINE | re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"(?:(?:const|let|var)[ \t]++)?(?:[A-Za-z_$][\w$.]*+[ \t]*+=[ \t]*+)?(?:(?:return|await)[ \t]++){0,2}"
    r"(?:[A-Za-z_$][\w$.]*+[ \t]?\(\s*+(?:\*\*)?){0,4}(?:[rb]?(?:\"\"\"|'''|[\"'`]))?\s*+"
)
"""The beginning of one statement that does something with an object, up to the object."""
_PROGRAM = re.compile(r"\b(?:const|let|var)\s+[\w$]+\s*=|\breturn\b|\w\(\s*\Z", re.IGNORECASE)
_ARGUMENT = re.compile(r"\w\(\s*+[A-Za-z_]\w*+\s*+=(?!=)[^\n]*,\s*+\Z")
"""An argument with a name before an object that is another argument."""
_NOTATION = re.compile(r"call:[\w.\-]++\Z")
"""How Gemma begins a call."""
_VALUE_LINE = re.compile(r"[ \t]*+[a-z_][\w.\-]{0,63}[ \t]*+[:=](?!=)[ \t]*+[^\s{]")
_BARE_MEMBER = re.compile(r"[{｛]\s*+[A-Za-z_$][\w$\-]*+\s*+[:：]")
_STYLE_RULE = re.compile(r"\{\s*+[a-z\-]++\s*+:[^;{}\"'`\n]{1,200}+;")
_LOG_LINE = re.compile(r"\s*+\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_ASSIGNMENT = re.compile(r"\{\s*+([A-Za-z_$]\w*+)\s*+=(?![=>])")
_EMPTY = re.compile(r"\{\s*+\}")
_LOOK_BACK = 200  # characters


def find_object(text: str, at: int, declared: Collection[str]) -> tuple[int, int | None]:
    """Return the offset of the first object after `at`, and the offset of a code fence before it, or None.

    `declared` are the names of the parameters.

    Raises UnreadableError with the reason when there is no object.
    """
    if _LOG_LINE.match(text, at):
        raise UnreadableError("log_line", at)
    end = _find_object_start(text, at, declared)
    if end is None:
        raise UnreadableError("source_code" if SOURCE_CODE.search(text, at) else "no_object_found", at)
    fence = text.rfind("```", at, end)
    before = fence if fence >= 0 else end
    if SOURCE_CODE.search(text, at, before) and _STATEMENT.fullmatch(text, at, before) is None:
        raise UnreadableError("source_code", at)
    if _ARGUMENT.search(text, max(at, before - _LOOK_BACK), before):
        raise UnreadableError("source_code", at)
    if fence < 0 and "..." in text[max(at, end - 4) : end] and text[at:end].strip(" .") == "":
        raise UnreadableError("ellipsis", at)
    return end, fence if fence >= 0 else None


def holds_variables(text: str, at: int) -> bool:
    """Return True when words without quotes in the object at `at` are variables of a program."""
    return _PROGRAM.search(text, max(0, at - _LOOK_BACK), at) is not None


def _find_object_start(text: str, at: int, declared: Collection[str]) -> int | None:
    """Return the offset of the first object that is no part of the surrounding text, None without one."""
    line_end = text.find("\n", at)
    line_end = line_end if line_end >= 0 else len(text)
    match = OBJECT_START.search(text, at)
    while match is not None and (
        _is_part_of_text(text, at, match.start(), line_end) or _is_block(text, match.start(), declared)
    ):
        match = OBJECT_START.search(text, match.end())
    if match is None or (match.end() == len(text) and len(match.group().strip()) == 1):
        return None  # a brace at the very end holds nothing
    return match.start()


def _is_block(text: str, at: int, declared: Collection[str]) -> bool:
    """Return True when the brace at `at` opens a block of a program, as in `try { a = 1 }`."""
    assigned = _ASSIGNMENT.match(text, at)
    before = text[max(at - _LOOK_BACK, 0) : at].rstrip()[-1:]
    return assigned is not None and (before == ")" or before.isalnum()) and assigned[1] not in declared


def _is_part_of_text(text: str, start: int, at: int, line_end: int) -> bool:
    """Return True when the object at `at` stands inside a sentence, command or value that begins at `start`.

    Examples are the object in `command: curl -d '{"a": 1}'` and the `{}` of `find -exec rm {}`.
    """
    if _STYLE_RULE.match(text, at):
        return True
    if _NOTATION.match(text, start, at):
        return False
    if (name := _BARE_MEMBER.match(text, at)) is not None and not VALUE_START.match(text, name.end()):
        return True  # a rule of a style sheet
    if text[at - 1] in "(\"'`" and _STATEMENT.fullmatch(text, start, at):
        return False
    if at <= line_end and _VALUE_LINE.match(text, start, at):
        return True
    before = text[max(start, at - 40) : at].rstrip(" \t").rpartition("\n")[2]
    return _EMPTY.match(text, at) is not None and before != "" and before[-1] not in ":：`>=(|"
