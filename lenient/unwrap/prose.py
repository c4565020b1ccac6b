"""Finds where the object in prose begins, or the reason why there is none.

Narration may stand before an object; source code, a log line or a sentence that holds braces may not.
"""

from __future__ import annotations

import re

from lenient.diagnostics.unreadable import UnreadableError
from lenient.scan.strings.string_end_scoring import VALUE_START

OBJECT_START = re.compile(
    r"[{｛]\s*+(?:,\s*+)?(?:[\"'“‘`＂「]|[}｝]|\\++[\"']|[A-Za-z_$][\w$\-]*+[\"']?\s*+[:：=]|//|/\*|#|\*{1,2}\"|[rbuf][\"']|\Z)"
)
SOURCE_CODE = re.compile(
    r"^[ \t]*(?:def \w+ ?\(|import \w|from [\w.]+ import |class \w+[:( {]|print\(|console\.log\("
    r"|#include|#!/|package \w+;?[ \t]*$|func \w+\(|<\?php|<!doctype|<html|(?:async )?function \w+ ?\("
    r"|public |return |select .{1,200} from |insert into \w)",
    re.MULTILINE | re.IGNORECASE,
)
_VALUE_LINE = re.compile(r"[ \t]*+[a-z_][\w.\-]{0,63}[ \t]*+[:=](?!=)[ \t]*+[^\s{]")
_BARE_MEMBER = re.compile(r"[{｛]\s*+[A-Za-z_$][\w$\-]*+\s*+[:：]")
_STYLE_RULE = re.compile(r"\{\s*+[a-z\-]++\s*+:[^;{}\"'`\n]{1,200}+;")
_LOG_LINE = re.compile(r"\s*+\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_EMPTY = re.compile(r"\{\s*+\}")


def find_object(text: str, at: int) -> tuple[int, int | None]:
    """Return the offset of the first object after `at`, and the offset of a code fence before it, or None.

    Raises UnreadableError with the reason when there is no object.
    """
    if _LOG_LINE.match(text, at):
        raise UnreadableError("log_line", at)
    end = _find_object_start(text, at)
    if end is None:
        raise UnreadableError("source_code" if SOURCE_CODE.search(text, at) else "no_object_found", at)
    fence = text.rfind("```", at, end)
    before = fence if fence >= 0 else end
    if SOURCE_CODE.search(text, at, before) and text[at:before].strip() != "return":
        raise UnreadableError("source_code", at)
    if fence < 0 and "..." in text[max(at, end - 4) : end] and text[at:end].strip(" .") == "":
        raise UnreadableError("ellipsis", at)
    return end, fence if fence >= 0 else None


def _find_object_start(text: str, at: int) -> int | None:
    """Return the offset of the first object that is no part of the surrounding text, None without one."""
    line_end = text.find("\n", at)
    line_end = line_end if line_end >= 0 else len(text)
    match = OBJECT_START.search(text, at)
    while match is not None and _is_part_of_text(text, at, match.start(), line_end):
        match = OBJECT_START.search(text, match.end())
    if match is None or (match.end() == len(text) and len(match.group().strip()) == 1):
        return None  # a brace at the very end holds nothing
    return match.start()


def _is_part_of_text(text: str, start: int, at: int, line_end: int) -> bool:
    """Return True when the object at `at` stands inside a sentence, command or value that begins at `start`.

    Examples are the object in `command: curl -d '{"a": 1}'` and the `{}` of `find -exec rm {}`.
    """
    if _STYLE_RULE.match(text, at):
        return True
    if (name := _BARE_MEMBER.match(text, at)) is not None and not VALUE_START.match(text, name.end()):
        return True  # a rule of a style sheet
    if at <= line_end and _VALUE_LINE.match(text, start, at):
        return True
    before = text[max(start, at - 40) : at].rstrip(" \t").rpartition("\n")[2]
    return _EMPTY.match(text, at) is not None and before != "" and before[-1] not in ":：`>=(|"
