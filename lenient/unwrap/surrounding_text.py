"""Classifies what surrounds an object: narration, source code, members outside of the braces, or values.

Narration may precede an object. Source code, a log line or a sentence that contains braces must not precede
an object. Members are outside of the braces when a brace closes too early, or when the first brace is
missing. The definition decides which of several values is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from lenient.definitions.json_schema.nodes import Node, known_fields, normalise_name
from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import LocatedValue, ValueSpan
from lenient.scan.strings.string_end_scoring import NEXT_KEY, QUOTED_KEY, VALUE_START, key_name
from lenient.scan.valid_json import find_valid_end

OBJECT_START = compile_regex(
    r"[{｛]\s*+(?:,\s*+)?(?:[\"'“‘`＂「]|[}｝]|\\++[\"']|[A-Za-z_$][\w$\-]*+[\"']?\s*+[:：=]|//|/\*|#|\*{1,2}\"|[rbuf][\"']|\Z)"
)
SOURCE_CODE = compile_regex(
    r"^[ \t]*(?:def \w+ ?\(|import \w|from [\w.]+ import |class \w+[:( {]|print\(|console\.log\("
    r"|#include|#!/|package \w+;?[ \t]*$|func \w+\(|<\?php|<!doctype|<html|(?:async )?function \w+ ?\("
    r"|public |return |select .{1,200} from |insert into \w|(?:if|while|for|switch) ?\()",
    re.MULTILINE | re.IGNORECASE,
)
_STATEMENT = compile_regex(
    r"(?:(?:const|let|var)[ \t]++)?(?:[A-Za-z_$][\w$.]*+[ \t]*+=[ \t]*+)?(?:(?:return|await)[ \t]++){0,2}"
    r"(?:[A-Za-z_$][\w$.]*+[ \t]?\(\s*+(?:\*\*)?){0,4}(?:[rb]?(?:\"\"\"|'''|[\"'`]))?\s*+"
)
"""The beginning of a statement that uses an object, up to the object."""
_PROGRAM = compile_regex(r"\b(?:const|let|var)\s+[\w$]+\s*=|\breturn\b|\w\(\s*\Z", re.IGNORECASE)
_ARGUMENT_BEFORE = compile_regex(r"\w\(\s*+[A-Za-z_]\w*+\s*+=(?!=)[^\n]*,\s*+\Z")
"""A named argument before an object that is another argument."""
_NOTATION = compile_regex(r"call:[\w.\-]++\Z")
"""The beginning of a call in Gemma's notation."""
_VALUE_LINE = compile_regex(r"[ \t]*+[a-z_][\w.\-]{0,63}[ \t]*+[:=](?!=)[ \t]*+[^\s{]")
_BARE_MEMBER = compile_regex(r"[{｛]\s*+[A-Za-z_$][\w$\-]*+\s*+[:：]")
_STYLE_RULE = compile_regex(r"\{\s*+[a-z\-]++\s*+:[^;{}\"'`\n]{1,200}+;")
_LOG_LINE = compile_regex(r"\s*+\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_ASSIGNMENT = compile_regex(r"\{\s*+([A-Za-z_$]\w*+)\s*+=(?![=>])")
_EMPTY = compile_regex(r"\{\s*+\}")
_LOOK_BACK = 200  # in characters


def find_object(text: str, at: int, declared: Collection[str]) -> tuple[int, int | None]:
    """Return the offset of the first object after `at`, and the offset of the code fence before the object.

    The second offset is None when there is no fence. `declared` are the names of the parameters. Raises
    UnreadableError with the reason when there is no object.
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
    if _ARGUMENT_BEFORE.search(text, max(at, before - _LOOK_BACK), before):
        raise UnreadableError("source_code", at)
    if fence < 0 and "..." in text[max(at, end - 4) : end] and text[at:end].strip(" .") == "":
        raise UnreadableError("ellipsis", at)
    return end, fence if fence >= 0 else None


def holds_variables(text: str, at: int) -> bool:
    """Return True when words without quotes in the object at `at` are variables of a program."""
    return _PROGRAM.search(text, max(0, at - _LOOK_BACK), at) is not None


def _find_object_start(text: str, at: int, declared: Collection[str]) -> int | None:
    """Return the offset of the first object that is not part of the surrounding prose or code, or None."""
    line_end = text.find("\n", at)
    line_end = line_end if line_end >= 0 else len(text)
    match = OBJECT_START.search(text, at)
    while match is not None and (
        _is_part_of_text(text, at, match.start(), line_end) or _is_block(text, match.start(), declared)
    ):
        match = OBJECT_START.search(text, match.end())
    if match is None or (match.end() == len(text) and len(match.group().strip()) == 1):
        return None  # no object can follow a brace at the very end
    return match.start()


def _is_block(text: str, at: int, declared: Collection[str]) -> bool:
    """Return True when the brace at `at` opens a block of a program, as in `try { a = 1 }`."""
    assigned = _ASSIGNMENT.match(text, at)
    before = text[max(at - _LOOK_BACK, 0) : at].rstrip()[-1:]
    return assigned is not None and (before == ")" or before.isalnum()) and assigned[1] not in declared


def _is_part_of_text(text: str, start: int, at: int, line_end: int) -> bool:
    """Return True when the object at `at` is inside a sentence, command or value that begins at `start`.

    Examples are the object in `command: curl -d '{"a": 1}'` and the `{}` of `find -exec rm {}`.
    """
    if _STYLE_RULE.match(text, at):
        return True
    if _NOTATION.match(text, start, at):
        return False
    if (name := _BARE_MEMBER.match(text, at)) is not None and not VALUE_START.match(text, name.end()):
        return True  # this is a rule of a style sheet, not an object
    if text[at - 1] in "(\"'`" and _STATEMENT.fullmatch(text, start, at):
        return False
    if at <= line_end and _VALUE_LINE.match(text, start, at):
        return True
    before = text[max(start, at - 40) : at].rstrip(" \t").rpartition("\n")[2]
    return _EMPTY.match(text, at) is not None and before != "" and before[-1] not in ":：`>=(|"


# --- members outside of the braces ---------------------------------------------------------------------

_SEPARATOR = compile_regex(r"(?:[,;]\s*+)?")
_QUOTED_MEMBER = compile_regex(
    r"[\"'“]([^\"'“”\\\n]{1,64})[\"'”]\s*+[:：]\s*+(?=[\"'“\[{\d\-]|(?:true|false|null)\b)"
)
_WORDS_BETWEEN = 100  # in characters
_LOOK = 2_000
_BRACKET = compile_regex(r"[{}\[\]]")
_MEMBER_LINE = compile_regex(r"(?<![^\n])[ \t]*+([A-Za-z_][\w.\-]*+)[ \t]*+[:=](?!=)")
_LATER_KEY = compile_regex(r",\s*+(?:\"[^\"\\\n]{1,64}\"|'[^'\\\n]{1,64}')\s*+:")
_ANNOUNCED = compile_regex(r"[\"']?\w++[\"']?\s*+[:：]\s*+(?:[{｛\[]|\"[^\"\\\n]{1,64}\"\s*+:)")
_KEY_LINE = compile_regex(r"\n[ \t]*+(?=\"[^\"\\\n]{1,64}\"\s*+:)")
_PLAIN = r"(?:-?\d[\d.]*+|true|false|null|True|False|None)\b"
_VALUE_DROPPED = compile_regex(
    rf"[\s,;]*+(?:\[(?!\d{{1,3}}\][:(]|[ xX]\]\s)\s*+(?:[\"'{{\[\]]|{_PLAIN}\s*+[,\]])"
    rf"|{_PLAIN}\s*+(?:[,;}}\]]|\Z)"
    rf"|(?:\"[^\"\\\n]{{0,200}}+\"|'[^'\\\n]{{1,200}}+')\s*+(?:\Z|[,:=}}\]\"'{{\[]|{_PLAIN}))"
)
"""A value, or a name and a value, at the beginning of what follows the arguments."""
_NAMED_VALUE = compile_regex(rf"[\s,;]*+([A-Za-z_]\w*+)\s++(?:[\"'\[{{]|{_PLAIN}\s*+(?:[,}}]|\Z))")
_FORMATTING = r"(?:indent|sep|end|separators|sort_keys|ensure_ascii|default|flush|file|cls)"
_ARGUMENT = compile_regex(rf"[\s,]*+(?!{_FORMATTING}\b)[A-Za-z_]\w*+\s*+=(?!=)\s*+[^\n)]{{1,300}}+\)")
"""A named argument, except arguments that only describe the format of an object."""
_LIST_WITHIN = compile_regex(r"\[\s*+(?:\"[^\"\\\n]{0,200}+\"|'[^'\\\n]{0,200}+')\s*+[,\]]")
_CONTENT = compile_regex(r"[\w\"']")
_COLONLESS = compile_regex(rf"(?:\"([^\"\\\n]{{1,64}})\"|'([^'\\\n]{{1,64}})')\s++(?=[\"'\[{{]|{_PLAIN})")
_GROUP = compile_regex(r"[\[{][^\[\]{}\n]*+[\]}]")


def find_member(text: str, at: int) -> int | None:
    """Return the offset of the key of the member that begins at `at`, or None when no member begins there.

    A comma or semicolon may precede the key. The key may lack quotes.
    """
    separator = _SEPARATOR.match(text, at)
    start = separator.end() if separator else at
    key = NEXT_KEY.match(text, start)
    return start if key is not None and VALUE_START.match(text, key.end()) else None


def find_colonless_member(text: str, at: int) -> int | None:
    """Return where a member without a colon begins at `at`: a quoted key, then its value. None if there is
    none.

    A comma or semicolon may precede the key. After the member, more braces must close than open.
    """
    separator = _SEPARATOR.match(text, at)
    start = separator.end() if separator else at
    if _COLONLESS.match(text, start) is None:
        return None
    rest = text[start : start + _LOOK]
    return start if rest.count("}") > rest.count("{") else None


def find_member_after_words(text: str, at: int, declared: Collection[str]) -> int | None:
    """Return the offset of a member that follows a few words at `at`, or None when there is none.

    A brace that was never opened must close the member.
    """
    key = _QUOTED_MEMBER.search(text, at, at + _WORDS_BETWEEN)
    if key is None or (declared and key[1] not in declared) or _BRACKET.search(text, at, key.start()):
        return None
    rest = text[key.start() : key.start() + _LOOK]
    return key.start() if rest.count("}") > rest.count("{") else None


def contains_member(text: str, start: int, end: int, declared: Collection[str]) -> bool:
    """Return True when `text[start:end]` contains a member.

    The key must be quoted, or must be declared and begin a line. If any name is declared, a quoted key must
    also be declared.
    """
    return any(not declared or name in declared for name in _QUOTED_MEMBER.findall(text, start, end)) or any(
        name in declared for name in _MEMBER_LINE.findall(text, start, end)
    )


def holds_value(text: str, start: int, end: int, declared: Collection[str]) -> bool:
    """Return True when `text[start:end]`, which follows the value, contains another value or a member.

    It may begin with a list, a quoted string, a number or a named argument. A list of strings or a member may
    be anywhere. It may also close a brace that was opened before.
    """
    named = _NAMED_VALUE.match(text, start, end)
    return (
        contains_member(text, start, end, declared)
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
    """Return True when `text[start:end]` contains the members of an object without its opening brace.

    The first member must have the form of JSON. In addition, a brace that was never opened must close the
    members, or the line of the first member must have a comma at the end or before another quoted key. A word
    and a colon before an object or a key are narration, unless the word is in `declared`.
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
    return text.endswith("}") and text.count("}") > text.count("{")


def find_announced_members(text: str, at: int) -> int | None:
    """Return the offset of an object's members after prose, if the opening brace of the object is missing.

    Return None when there are no such members. The first key must begin a line, and no object may precede the
    key.
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
    """Return the name of the key at `at`, or "" when there is no key."""
    key = NEXT_KEY.match(text, at)
    return key_name(key) if key is not None else ""


# --- several values ------------------------------------------------------------------------------------

_SAME = 4  # number of characters that are compared first
# maximum number of braces to examine; maximum number of characters before the restart
_MOST, _MAX_BEGINNING = 64, 4_096


def find_anew(text: str) -> int | None:
    """Return the offset where an object breaks off and restarts, as in `{"a": "x{"a": "xy"}`, or None.

    What follows this offset is valid JSON that begins with everything before this offset.
    """
    start, at = text[:_SAME], 0
    for _ in range(_MOST):
        at = text.find("{", at + 1, _MAX_BEGINNING)
        if at < 0:
            return None
        if text.startswith(start[:at], at) and text.startswith(text[:at], at):
            return at if find_valid_end(text, at) is not None else None
    return None


def choose_value(first: LocatedValue, other: LocatedValue, node: Node | None) -> tuple[str, bool]:
    """Return the diagnostic code for the dropped value, and True to keep `first`.

    The kept value is not empty, does not repeat the dropped value, and has the parameters that the tool
    requires.
    """
    if first.value == {} and other.value:
        return "empty_object_skipped", False
    if first.value == other.value:
        return "repeated_value_skipped", True
    if _extends_value(other.value, first.value):
        return "repeated_value_skipped", False
    if other.value == {}:
        return "empty_object_skipped", True
    is_worse = (_lacks_required(first, node) and not _lacks_required(other, node)) or (
        is_foreign_object(first, node) and not is_foreign_object(other, node)
    )
    return "further_value_dropped", not is_worse


def is_foreign_object(located: LocatedValue, node: Node | None) -> bool:
    """Return True when a non-empty object has none of the fields that the tool declares.

    Such an object within narration does not contain the arguments.
    """
    if node is None or not node.fields or not isinstance(located.value, dict):
        return False
    names = {normalise_name(name) for name in node.fields}
    return bool(located.value) and not any(normalise_name(name) in names for name in located.value)


def find_moved_member(value: Any, mark: ValueSpan, node: Node | None) -> ValueSpan | None:
    """Return the span of a member that should be in the object before the member, or None.

    The preceding object contains or declares a member of this name. The object around the member does not
    declare this name.
    """
    if not isinstance(value, dict) or not isinstance(mark.children, dict):
        return None
    marks: dict[str, ValueSpan] = mark.children
    fields, before = known_fields(node), set[str]()
    for name, inner in value.items():
        if name in before and name not in fields:
            return marks[name]
        if isinstance(inner, dict):
            moved = find_moved_member(inner, marks[name], fields.get(name))
            if moved is not None:
                return moved
            before = inner.keys() | known_fields(fields.get(name)).keys()
    return None


def _lacks_required(located: LocatedValue, node: Node | None) -> bool:
    required = node.required if node is not None else frozenset()
    return bool(required) and not (isinstance(located.value, dict) and required <= located.value.keys())


def _extends_value(value: Any, part: Any) -> bool:
    """Return True when the object `value` has all members of the object `part`.

    A stream may repeat an object, each time with more members.
    """
    return isinstance(value, dict) and isinstance(part, dict) and part.items() <= value.items()
