"""Reads text with one common defect, when the rest of the text is valid JSON that fits the definition.

The defects are a code fence, prose around the object, one layer of string encoding, raw newlines in strings,
a comma after the last member, and missing closing brackets at the end. They are repaired with functions that
run at the speed of C, and only when no other reading exists. `lenient.unwrap.extraction` handles all other
texts, and would find the same in these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from lenient.diagnostics import MAX_FINDINGS, Diagnostic, Path, render_path, shorten
from lenient.diagnostics.codes import Stage
from lenient.regex import compile_regex
from lenient.unwrap.long_strings import LONG, NO_JSON, ReadFitting
from lenient.unwrap.loose_members import holds_value
from lenient.unwrap.prose import OBJECT_START, SOURCE_CODE

_FENCE = re.compile(r"[ \t\r\n]*+(`{3,}[ \t]*+(?:[A-Za-z][\w+.\-]*+)?[ \t]*+\r?\n?)[ \t\r\n]*+(?=\{)")
_FENCE_END = re.compile(r"[ \t\r\n]*+`{3,}[ \t\r\n]*+\Z")
_PROSE = re.compile(r"[^\W\d_][^\[\]{}()\"`~<>“‘「＂｛\x00-\x08\x0b-\x1f\ufeff\ud800-\udfff]*+")
_BROKEN = compile_regex(r"[\n\t][^\"\\]*+(?:\\.[^\"\\]*+)*+\"", re.DOTALL)
"""The rest of a string from its first newline or tab on."""
_LAST_NUMBER = re.compile(r"(?<![\w.+\-])-?[0-9][0-9.eE+\-]*+\Z")
_LONGEST_NUMBER = 40  # characters
_ESCAPED = ("\b", "\f", "\n", "\r", "\t")
_INNER_PATH = re.compile(rb"\"[A-Za-z]:\\[bfnrt]")
_REPAIR = Stage.REPAIR  # looking a member up takes long
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long
_CLOSERS = {
    **dict.fromkeys('"el', ("}", "}]}", "]}", "}}", "]}]}")),  # true, false and null end in e and l
    "}": ("]}", "}", "}}"),
    "]": ("}", "}}", "}]}"),
    **dict.fromkeys("0123456789", ("}", "]}", "}]}", "}}")),
}
"""Maps the last character of a text to the closing brackets that may be missing, the likeliest first."""


class FastResult(NamedTuple):
    """The arguments, their diagnostics, and the step for the trace."""

    arguments: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    step: tuple[Stage, str, str, Any]


def read_one_defect(text: str, value: Any, read: ReadFitting) -> FastResult | None:
    """Return the arguments of a text with one common defect, None when the text has another form.

    `value` is the value that orjson decoded from the text, or NO_JSON.
    """
    if type(value) is str:
        return _read_encoded(text, value, read)
    if value is not NO_JSON or not text:
        return None
    if text[0] != "{":
        return _read_fenced(text, read) or _read_in_prose(text, read)
    if text[-1] == "}":
        return _read_raw_newlines(text, read) or _read_trailing_comma(text, read)
    return _read_unclosed(text, read)


def _read_encoded(text: str, inner: str, read: ReadFitting) -> FastResult | None:
    if inner[:1] != "{" or text[0] != '"' or text[-1] != '"' or type(value := read(inner)) is not dict:
        return None
    found = Diagnostic("string_encoding_removed", "$", 0, len(text), shorten(text[:200]))
    return FastResult(value, (found,), (Stage.UNWRAP, "string decoded", text, inner))


def _read_fenced(text: str, read: ReadFitting) -> FastResult | None:
    opening = _FENCE.match(text)
    last = text.rfind("}") + 1
    if opening is None or _FENCE_END.match(text, last) is None:
        return None
    first = opening.end()
    if type(value := read(text[first:last])) is not dict:
        return None
    found = Diagnostic("code_fence_removed", "$", *opening.span(1), opening.group(1))
    return FastResult(value, (found,), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_in_prose(text: str, read: ReadFitting) -> FastResult | None:
    first, last = text.find("{"), text.rfind("}") + 1
    if not 0 < first < last or _PROSE.fullmatch(text, 0, first) is None:
        return None
    before, after = text[:first], text[last:].strip(" \t\r\n")
    if (
        (after and (_PROSE.fullmatch(after) is None or holds_value(after, 0, len(after), ())))
        or OBJECT_START.match(text, first) is None
        or SOURCE_CODE.search(before)
        or type(value := read(text[first:last])) is not dict
    ):
        return None
    found = [Diagnostic("narration_removed", "$", 0, first, shorten(before[:200]))]
    if after:
        start = text.index(after[0], last)
        found.append(Diagnostic("narration_removed", "$", start, start + len(after), shorten(after[:200])))
    return FastResult(value, tuple(found), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_raw_newlines(text: str, read: ReadFitting) -> FastResult | None:
    """Read an object with raw newlines and tabs in strings; return None for other texts.

    All newlines and tabs are escaped before decoding. An escape outside of strings is no valid JSON and is
    refused. Return None as well when a string has escaped ones only: then it is not certain which have raw
    ones.
    """
    if "\n" not in text or "\\\n" in text or "\r" in text:
        return None
    written = text.replace("\n", "\\n")
    if "\t" in written:
        if "\\\t" in written:
            return None
        written = written.replace("\t", "\\t")
    if type(value := read(written)) is not dict:
        return None
    if (len(text) >= LONG or ":\\" in text) and _may_hold_path(value):  # of a long text the search costs more
        return None
    places: list[Path] = []
    if not _collect_broken(value, None, places) or len(places) >= MAX_FINDINGS:
        return None
    if len(places) == 1:  # then no other string has raw ones
        found = [_report_controls(text, 0, len(text), places[0])]
    else:
        parts = _BROKEN.finditer(text)
        found = [
            _report_controls(text, *part.span(), path) for part, path in zip(parts, places, strict=False)
        ]
        if len(found) < len(places) or next(parts, None) is not None:
            return None
    return _NEW(FastResult, (value, tuple(found), (_REPAIR, "text mended", text, value)))


def _report_controls(text: str, start: int, end: int, path: Path) -> Diagnostic:
    """Return the finding for the raw newlines and tabs of the only string with some in `text[start:end]`."""
    first, last = text.find("\n", start, end), text.rfind("\n", start, end)
    times = text.count("\n", start, end)
    if "\t" in text and (tab := text.find("\t", start, end)) >= 0:
        first = tab if first < 0 else min(first, tab)
        last = max(last, text.rfind("\t", start, end))
        times += text.count("\t", start, end)
    hint = f"{times} times" if times > 1 else None
    where, sign = render_path(path), text[first]
    return _NEW(Diagnostic, ("raw_control_character", where, first, last + 1, sign, sign, None, hint))


def _collect_broken(value: Any, path: Path, into: list[Path]) -> bool:
    """Add the paths of the strings with a newline or tab. Return False when a key holds one."""
    if type(value) is dict:
        keys = "".join(value)
        if "\n" in keys or "\t" in keys:
            return False
        parts: Iterable[tuple[str | int, Any]] = value.items()
    else:
        parts = enumerate(value)
    for step, item in parts:
        if type(item) is str:
            if "\n" in item or "\t" in item:
                into.append((path, step))
        elif (type(item) is dict or type(item) is list) and not _collect_broken(item, (path, step), into):
            return False
    return True


def _read_trailing_comma(text: str, read: ReadFitting) -> FastResult | None:
    """Read an object with a comma after its last member, and perhaps with raw newlines in strings."""
    body = text[:-1].rstrip(" \t\r\n")
    if body[-1:] != ",":
        return None
    written, comma = f"{body[:-1]}}}", len(body) - 1
    found = Diagnostic("trailing_comma", "$", comma, comma + 1, ",")
    value = read(written)
    if value and type(value) is dict:
        known: tuple[Diagnostic, ...] = ()
        if _may_hold_path(value):
            return None
    else:
        broken = _read_raw_newlines(written, read)
        if broken is None or not broken.arguments:
            return None
        value, known = broken.arguments, broken.diagnostics
    return FastResult(value, (*known, found), (_REPAIR, "text mended", text, value))


def _may_hold_path(value: dict[str, Any]) -> bool:
    r"""Return True when an escape may be the backslash of a Windows path, as in `C:\temp\new`."""
    for item in value.values():
        if type(item) is str:
            if item[1:2] == ":" and item[2:3] in _ESCAPED:
                return True
        elif (type(item) is dict or type(item) is list) and _INNER_PATH.search(orjson.dumps(item)):
            return True
    return False


def _read_unclosed(text: str, read: ReadFitting) -> FastResult | None:
    for closers in _CLOSERS.get(text[-1], ()):
        value = read(text + closers)
        if type(value) is dict and not _may_hold_path(value):
            where, end = render_path(_find_last_place(value, len(closers))), len(text)
            found = Diagnostic("missing_closer", where, end, end, None, closers)
            number = _LAST_NUMBER.search(text, end - _LONGEST_NUMBER) if text[-1].isdigit() else None
            cut = () if number is None else (_report_cut_number(number, value),)
            return FastResult(value, (*cut, found), (_REPAIR, "text mended", text, value))
    return None


def _report_cut_number(number: re.Match[str], value: Any) -> Diagnostic:
    """Return the finding for the number at the end of the text, the last one in `value`: it may be cut."""
    path: Path = None
    while type(value) is dict or type(value) is list:
        step = next(reversed(value)) if type(value) is dict else len(value) - 1
        path, value = (path, step), value[step]
    return Diagnostic("truncated_number", render_path(path), *number.span(), number.group(), str(value))


def _find_last_place(value: Any, depth: int) -> Path:
    """Return the path at which a text ended with `depth` open brackets.

    This is the path of the innermost object, or of the next item of the innermost array.
    """
    path: Path = None
    for _ in range(depth - 1):
        step = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
        path, value = (path, step), value[step]
    return path if isinstance(value, dict) else (path, len(value))
