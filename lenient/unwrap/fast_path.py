"""Reads text with one common defect, when the rest of the text is valid JSON that fits the definition.

The defects are a code fence, prose around the object, one layer of string encoding, raw newlines in one
string, and missing closing brackets at the end. They are repaired with functions that run at the speed of C,
and only when no other reading exists. `lenient.unwrap.extraction` handles all other texts, and would find the
same in these.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import orjson

from lenient.diagnostics import Diagnostic, Path, render_path, shorten
from lenient.diagnostics.codes import Stage
from lenient.unwrap.long_strings import ReadFitting
from lenient.unwrap.prose import OBJECT_START, SOURCE_CODE

NO_JSON: Final = object()
"""Stands for the value of a text that is not JSON."""

_FENCE = re.compile(r"[ \t\r\n]*+(`{3,}[ \t]*+(?:[A-Za-z][\w+.\-]*+)?[ \t]*+\r?\n?)[ \t\r\n]*+(?=\{)")
_FENCE_END = re.compile(r"[ \t\r\n]*+`{3,}[ \t\r\n]*+\Z")
_PROSE = re.compile(r"[^\W\d_][^\[\]{}()\"`~<>“‘「＂｛\x00-\x08\x0b-\x1f\ufeff\ud800-\udfff]*+")
_ESCAPED = ("\b", "\f", "\n", "\r", "\t")
_INNER_PATH = re.compile(rb"\"[A-Za-z]:\\[bfnrt]")
_CLOSERS = {
    **dict.fromkeys('"el', ("}", "}]}", "]}", "}}")),  # true, false and null end in e and l
    "}": ("]}", "}", "}}"),
    "]": ("}", "}}", "}]}"),
}
"""Maps the last character of a text to the closing brackets that may be missing, the likeliest first."""


class FastResult(NamedTuple):
    """The arguments, their one or two diagnostics, and the step for the trace."""

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
        return _read_raw_newlines(text, read)
    return _read_unclosed(text, read)


def _read_encoded(text: str, inner: str, read: ReadFitting) -> FastResult | None:
    if inner[:1] != "{" or text[0] != '"' or text[-1] != '"' or (value := read(inner)) is None:
        return None
    found = Diagnostic("string_encoding_removed", "$", 0, len(text), shorten(text[:200]))
    return FastResult(value, (found,), (Stage.UNWRAP, "string decoded", text, inner))


def _read_fenced(text: str, read: ReadFitting) -> FastResult | None:
    opening = _FENCE.match(text)
    last = text.rfind("}") + 1
    if opening is None or _FENCE_END.match(text, last) is None:
        return None
    first = opening.end()
    if (value := read(text[first:last])) is None:
        return None
    found = Diagnostic("code_fence_removed", "$", *opening.span(1), opening.group(1))
    return FastResult(value, (found,), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_in_prose(text: str, read: ReadFitting) -> FastResult | None:
    first, last = text.find("{"), text.rfind("}") + 1
    if not 0 < first < last or _PROSE.fullmatch(text, 0, first) is None:
        return None
    before, after = text[:first], text[last:].strip(" \t\r\n")
    if (
        (after and _PROSE.fullmatch(after) is None)
        or OBJECT_START.match(text, first) is None
        or SOURCE_CODE.search(before)
        or (value := read(text[first:last])) is None
    ):
        return None
    found = [Diagnostic("narration_removed", "$", 0, first, shorten(before[:200]))]
    if after:
        start = text.index(after[0], last)
        found.append(Diagnostic("narration_removed", "$", start, start + len(after), shorten(after[:200])))
    return FastResult(value, tuple(found), (Stage.UNWRAP, "surroundings removed", text, text[first:]))


def _read_raw_newlines(text: str, read: ReadFitting) -> FastResult | None:
    """Read an object with raw newlines and tabs in one string only; return None for other texts.

    All newlines and tabs are escaped before decoding. An escape outside of strings is no valid JSON and is
    refused.
    """
    first = text.find("\n")
    if first < 0 or "\\\n" in text or "\r" in text:
        return None
    written = text.replace("\n", "\\n")
    if "\t" in written:
        if "\\\t" in written:
            return None
        written = written.replace("\t", "\\t")
        first = min(first, text.find("\t"))
    if (value := read(written)) is None or _may_hold_path(value):
        return None
    names = [name for name, item in value.items() if _may_be_broken(item) or _may_be_broken(name)]
    if len(names) != 1 or type(value[names[0]]) is not str or _may_be_broken(names[0]):
        return None
    last = max(text.rfind("\n"), text.rfind("\t")) + 1
    times = len(written) - len(text)
    hint = f"{times} times" if times > 1 else None
    found = Diagnostic(
        "raw_control_character",
        render_path((None, names[0])),
        first,
        last,
        text[first],
        text[first],
        None,
        hint,
    )
    return FastResult(value, (found,), (Stage.REPAIR, "text mended", text, value))


def _may_be_broken(value: Any) -> bool:
    """Return True when a string in the value may contain a newline or tab."""
    if type(value) is str:
        return "\n" in value or "\t" in value
    if type(value) is not dict and type(value) is not list:
        return False
    written = orjson.dumps(value)
    return b"\\n" in written or b"\\t" in written


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
        if value is not None and not _may_hold_path(value):
            where, end = render_path(_find_last_place(value, len(closers))), len(text)
            found = Diagnostic("missing_closer", where, end, end, None, closers)
            return FastResult(value, (found,), (Stage.REPAIR, "text mended", text, value))
    return None


def _find_last_place(value: Any, depth: int) -> Path:
    """Return the path at which a text ended with `depth` open brackets.

    This is the path of the innermost object, or of the next item of the innermost array.
    """
    path: Path = None
    for _ in range(depth - 1):
        step = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
        path, value = (path, step), value[step]
    return path if isinstance(value, dict) else (path, len(value))
