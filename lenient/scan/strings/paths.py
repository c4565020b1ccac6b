r"""Finds Windows paths with unescaped backslashes.

In such a path, `\t` is a backslash and the start of a file name. A path begins with a drive, a network share,
a folder such as `.` or a variable. The author of a string escapes either all backslashes or none. So if a
string contains an escape that JSON does not define, the backslashes in the string's paths are literal. If
every escape is valid, only a drive, or `.` at the start, indicates a path.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from lenient.regex import compile_regex

_ALL = "bfnrtu"
_NAME = r"(?![bfnrt](?![a-z_\d]))[\w.\-%$@~#!]"
"""The beginning of a file name. After a real escape, a capital, a sign or another escape usually follows."""
_STEP = rf"\\(?:Program Files(?: \(x86\))?(?=\\)|{_NAME}[\w.\-%$@~#!]*+)"
_BEFORE = r"(?:(?<![^\s\"'`=(&;,|@])|(?<=\\n))"
_ROOT = r"(?:[A-Za-z]:|\.{1,2}|~|%\w++%|\$env:\w++|\\\\[\w.$\-]{2,}+)"
_PATH = compile_regex(rf"{_BEFORE}(?:{_ROOT}|[\w%\-.]{{2,}}+(?=(?:\\[\w.\-]{{2,}}+){{2}}))(?:{_STEP})++\\?")
_ROOTED = compile_regex(r"(?:[A-Za-z]:|\.{1,2}|~|[%$])")
_DRIVE = compile_regex(r"[A-Za-z]:\\[^\\]|\\\\[\w.]")
_WHOLE = compile_regex(
    r"[A-Za-z]:(?:(?:\\[\w.\-]{2,}+){2,}+\\?|(?:\\[\w.\-]{2,}+)++\\)|\\\\[\w.$\-]{2,}+(?:\\[\w.$ \-]++)++\\?"
    r"|(?:\.{1,2}\\)*+[%\w\-]{2,}(?:\\[\w\-]{2,})+(?:\\[\w\-]++\.\w{1,5}|\.\w{1,5}|\\[\w\-]{2,})"
)
"""A string body that consists of one Windows path."""
_WITH_BLANKS = compile_regex(r"[A-Za-z]:(?:\\[^\\/:*?\"<>|\n]++)++\\?")
_VALID_STEPS = rf"(?:\\(?=[bfnrt]){_NAME}[\w.\-]++){{2,}}+"
_VALID_PATH = compile_regex(
    rf"(?:{_BEFORE}[A-Za-z]:(?!\\n)|\A[A-Za-z]:|\A\.{{1,2}}){_VALID_STEPS}|\A[A-Za-z]:\\(?=[bfnrt]){_NAME}[\w.\-]++\Z"
)
"""A Windows path in which every backslash begins a JSON escape.

After one letter and a colon, `\\n` may be a real line break.
"""
_HINT = compile_regex(r":\\(?<=[^\w\\][A-Za-z]:\\)[bfrt][a-z_\d]")
"""The beginning of a `_VALID_PATH`. The pattern begins with fixed characters, so the search is fast."""
_ESCAPED = ("\b", "\f", "\n", "\r", "\t")
_INNER = re.compile(rb"\"(?:[A-Za-z]:|\.\.?)\\[bfnrt]")
_LONG = 4_096  # in characters
_VALID = compile_regex(r"[^\\]*+(?:\\[\"\\/bfnrtu'`’”][^\\]*+)*+")
_FORMULA = compile_regex(
    r"\\(?:t(?:heta|au|imes|ext|an|op|o\b)|n(?:abla|u\b|eq?\b|ot)|r(?:ho|ight|angle|ceil|floor)|u(?:psilon|parrow))"
)
"""A LaTeX command that begins like an escape."""


class LiteralBackslashes(NamedTuple):
    """The literal backslashes of a string body.

    A backslash is literal before a letter in `letters`, and inside `paths`. `doubtful` is True when a line
    break or tab may be meant instead.
    """

    letters: str = ""
    paths: tuple[tuple[int, int], ...] = ()
    doubtful: bool = False


def may_hold_path(text: str, start: int, end: int) -> bool:
    """Return True when a body may contain a Windows path although all escapes in the body are valid."""
    may_be = text[start] == "." or text.startswith(":\\", start + 1) or _HINT.search(text, start, end)
    return bool(may_be) and _VALID_PATH.search(text[start:end]) is not None


def any_may_hold_path(text: str, value: dict[str, Any]) -> bool:
    """Return True when a string in the object decoded from `text` may contain a Windows path.

    The result may be wrongly True for long JSON, because only the starts of strings are examined.
    """
    return _begins_with_path(value) or (len(text) < _LONG and _HINT.search(text) is not None)


def _begins_with_path(value: dict[str, Any]) -> bool:
    for item in value.values():
        if type(item) is str:
            if (item[1:2] == ":" or item[:2] == "..") and item[2:3] in _ESCAPED:
                return True
            if item[:1] == "." and item[1:2] in _ESCAPED:
                return True
        elif (type(item) is dict or type(item) is list) and _INNER.search(orjson.dumps(item)):
            return True
    return False


def find_literal_backslashes(body: str) -> LiteralBackslashes:
    r"""Return those backslashes of a body that do not start an escape.

    If the body contains `\d`, then `\b` is a word boundary. In a Windows path, `\f` is a backslash and the
    start of a folder name.
    """
    whole = ((0, len(body)),)
    if _WHOLE.fullmatch(body):
        return LiteralBackslashes(_ALL, whole)
    valid = _VALID.match(body)
    if valid is None or valid.end() >= len(body) - 1:
        path_matches = list(_VALID_PATH.finditer(body))
        letters = {step[:1] for path in path_matches for step in path.group().split("\\")[1:]}
        # If all steps of a path begin with the same letter, lines or columns may be meant instead.
        return LiteralBackslashes(
            "", tuple(path.span() for path in path_matches if len(letters) > 1), bool(path_matches)
        )
    if _FORMULA.search(body) and not _DRIVE.match(body):
        return LiteralBackslashes(_ALL)
    paths = tuple(path.span() for path in _PATH.finditer(body) if _is_unescaped(body, path))
    if paths != whole and _WITH_BLANKS.fullmatch(body):
        return LiteralBackslashes("bf", whole, doubtful=True)
    return LiteralBackslashes("bf", paths, doubtful=bool(paths) and paths != whole)


def _is_unescaped(body: str, path: re.Match[str]) -> bool:
    """Return True when a Windows path has a root, or contains an escape that JSON does not define."""
    valid = _VALID.match(body, *path.span())
    return _ROOTED.match(path.group()) is not None or (valid is not None and valid.end() < path.end())
