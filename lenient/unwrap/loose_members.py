"""Recognises members of an object that stand outside of its braces.

They stand after a brace that closes too early, in narration, or in a text that lacks its first brace.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from lenient.scan.strings.string_end_scoring import NEXT_KEY, QUOTED_KEY, VALUE_START, key_name

_SEPARATOR = re.compile(r"(?:[,;]\s*+)?")
_TOLD = re.compile(r"[\"'“]([^\"'“”\\\n]{1,64})[\"'”]\s*+[:：]\s*+(?=[\"'“\[{\d\-]|(?:true|false|null)\b)")
_WORDS_BETWEEN = 100  # characters
_LOOK = 2_000
_BRACKET = re.compile(r"[{}\[\]]")
_TOLD_LINE = re.compile(r"(?<![^\n])[ \t]*+([A-Za-z_][\w.\-]*+)[ \t]*+[:=](?!=)")
_LATER_KEY = re.compile(r",\s*+(?:\"[^\"\\\n]{1,64}\"|'[^'\\\n]{1,64}')\s*+:")
_ANNOUNCED = re.compile(r"[\"']?\w++[\"']?\s*+[:：]\s*+(?:[{｛\[]|\"[^\"\\\n]{1,64}\"\s*+:)")
_KEY_LINE = re.compile(r"\n[ \t]*+(?=\"[^\"\\\n]{1,64}\"\s*+:)")
_PLAIN = r"(?:-?\d[\d.]*+|true|false|null|True|False|None)\b"
_VALUE_DROPPED = re.compile(
    rf"[\s,;]*+(?:\[(?!\d{{1,3}}\][:(]|[ xX]\]\s)\s*+(?:[\"'{{\[\]]|{_PLAIN}\s*+[,\]])"
    rf"|{_PLAIN}\s*+(?:[,;}}\]]|\Z)"
    rf"|(?:\"[^\"\\\n]{{0,200}}+\"|'[^'\\\n]{{1,200}}+')\s*+(?:\Z|[,:=}}\]\"'{{\[]|{_PLAIN}))"
)
"""A value or a name and a value at the beginning of a text."""
_NAMED_VALUE = re.compile(rf"[\s,;]*+([A-Za-z_]\w*+)\s++(?:[\"'\[{{]|{_PLAIN}\s*+(?:[,}}]|\Z))")
_FORMATTING = r"(?:indent|sep|end|separators|sort_keys|ensure_ascii|default|flush|file|cls)"
_ARGUMENT = re.compile(rf"[\s,]*+(?!{_FORMATTING}\b)[A-Za-z_]\w*+\s*+=(?!=)\s*+[^\n)]{{1,300}}+\)")
"""An argument with a name, other than those that only say how an object is written."""
_LIST_WITHIN = re.compile(r"\[\s*+(?:\"[^\"\\\n]{0,200}+\"|'[^'\\\n]{0,200}+')\s*+[,\]]")
_CONTENT = re.compile(r"[\w\"']")
_COLONLESS = re.compile(rf"(?:\"([^\"\\\n]{{1,64}})\"|'([^'\\\n]{{1,64}})')\s++(?=[\"'\[{{]|{_PLAIN})")
_GROUP = re.compile(r"[\[{][^\[\]{}\n]*+[\]}]")


def find_member(text: str, at: int) -> int | None:
    """Return the offset of the key of the member that begins at `at`, None when no member begins there.

    A comma or semicolon may stand before the key; the key needs no quotes.
    """
    separator = _SEPARATOR.match(text, at)
    start = separator.end() if separator else at
    key = NEXT_KEY.match(text, start)
    return start if key is not None and VALUE_START.match(text, key.end()) else None


def find_colonless_member(text: str, at: int) -> int | None:
    """Return the offset of the quoted key at `at` that a value follows without a colon, None without one.

    A comma or semicolon may stand before the key. A brace that was never opened closes the member.
    """
    separator = _SEPARATOR.match(text, at)
    start = separator.end() if separator else at
    if _COLONLESS.match(text, start) is None:
        return None
    rest = text[start : start + _LOOK]
    return start if rest.count("}") > rest.count("{") else None


def find_told_member(text: str, at: int, declared: Collection[str]) -> int | None:
    """Return the offset of a member after a few words at `at`, None when there is none.

    A brace that was never opened closes it.
    """
    key = _TOLD.search(text, at, at + _WORDS_BETWEEN)
    if key is None or (declared and key[1] not in declared) or _BRACKET.search(text, at, key.start()):
        return None
    rest = text[key.start() : key.start() + _LOOK]
    return key.start() if rest.count("}") > rest.count("{") else None


def tells_member(text: str, start: int, end: int, declared: Collection[str]) -> bool:
    """Return True when `text[start:end]` holds a member.

    Its key is quoted, or begins a line and is declared. If any name is declared, a quoted key must be, too.
    """
    return any(not declared or name in declared for name in _TOLD.findall(text, start, end)) or any(
        name in declared for name in _TOLD_LINE.findall(text, start, end)
    )


def holds_value(text: str, start: int, end: int, declared: Collection[str]) -> bool:
    """Return True when `text[start:end]`, which stands after the value, holds a value or a member, too.

    A list, a text in quotes, a number or an argument of a call stands at its beginning, a list of texts
    anywhere, a member anywhere, or it closes a brace that it did not open.
    """
    named = _NAMED_VALUE.match(text, start, end)
    return (
        tells_member(text, start, end, declared)
        or _VALUE_DROPPED.match(text, start, end) is not None
        or _ARGUMENT.match(text, start, end) is not None
        or (named is not None and named[1] in declared)
        or _LIST_WITHIN.search(text, start, end) is not None
        or (
            text.count("}", start, end) > text.count("{", start, end)
            and _CONTENT.search(text, start, end) is not None
        )
    )


def are_json_members(text: str, start: int, end: int, declared: Collection[str]) -> bool:
    """Return True when `text[start:end]` are the members of an object without its opening brace.

    The key and the value of the first member are as in JSON, and a comma and a further key in quotes stand on
    its line, its line ends with a comma, or a brace is closed that was never opened. A word and a colon
    before an object or a key are narration, unless the word is in `declared`.
    """
    first = find_member(text, start)
    if first is None or (_ANNOUNCED.match(text, first) and first_key(text, first) not in declared):
        return False
    line_end = text.find("\n", first, end)
    line = _GROUP.sub("", text[first : line_end if line_end >= 0 else end].rstrip())
    if _LATER_KEY.search(line) or (line.endswith(",") and QUOTED_KEY.match(text, first)):
        return True
    return _closes_more(text[first:end].rstrip()) or _closes_more(line)


def _closes_more(text: str) -> bool:
    """Return True when the text ends with a brace and closes more braces than it opens."""
    return text.endswith("}") and text.count("}") > text.count("{")


def find_announced_members(text: str, at: int) -> int | None:
    """Return the offset of the members of an object without its opening brace, after prose; None without any.

    The first key begins a line, and no object precedes it.
    """
    brace = text.find("{", at)
    first = _KEY_LINE.search(text, at, brace if brace >= 0 else len(text))
    if first is None:
        return None
    start = first.end()
    return (
        start
        if text.count("}", start) > text.count("{", start) and find_member(text, start) is not None
        else None
    )


def is_bare_key(text: str, at: int) -> bool:
    """Return True when the key at `at` has no quotes."""
    return QUOTED_KEY.match(text, at) is None


def first_key(text: str, at: int) -> str:
    """Return the name of the key at `at`, "" when there is none."""
    key = NEXT_KEY.match(text, at)
    return key_name(key) if key is not None else ""
