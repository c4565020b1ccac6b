"""Finds values that are named as a password, a secret or an API key: `"password": "…"`, `API_KEY=…`.

The names are those of detect-secrets' KeywordDetector and some additional ones. The end of a value is
determined here: in broken JSON a match must never reach into the next member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from detect_secrets.filters.heuristic import is_not_alphanumeric_string, is_templated_secret
from detect_secrets.plugins.keyword import DENYLIST

from ingest.privacy.matches import Match, SearchedText

_OURS = (
    "access_?token",
    "auth_?token",
    "bot_?token",
    "id_?token",
    "refresh_?token",
    "access_?key",
    "passphrase",
)
_NAME = re.compile("|".join((*DENYLIST, *_OURS)).replace("_?", "[_-]?"), re.IGNORECASE)
NAME_NEEDLES = ("key", "pass", "pwd", "secret", "token", "contrase")
_BEFORE = max(map(len, DENYLIST))  # characters of a name before its needle

# After the name: what closes it, a sign, and the value, in quotes, in escaped quotes, cut off, or bare.
_VALUE = re.compile(
    r"""[\w-]{0,32}[\]\\"'`”’]{0,8}\s{0,4}(?:=>|:=|={1,3}|:)\s{0,8}(?:
        (?P<sign>["'`]) (?P<quoted>(?:(?!(?P=sign))[^\\\r\n]|\\.){1,2000}) (?P=sign)
      | \\+(?P<deep>["'`]) (?P<escaped>(?:(?!\\+(?P=deep))[^\r\n]){1,2000}) \\+(?P=deep)
      | \\*["'`“‘] (?P<torn>[^"'`“”‘’\r\n{}\[\]:=]{1,2000}=*) (?:[”’]|\Z)
      | (?P<bare>[^\s"'`“”‘’«»,;{}\[\]()<>\\|&]{8,256}) (?![\[(])
    )""",
    re.VERBOSE,
)
_GROUPS = ("quoted", "escaped", "torn", "bare")
_LONGEST = 2_100  # characters that may be part of a name and its value
_SHORTEST = 4  # characters; a letter after a quote is rather a quote out of place
_QUOTE = re.compile(r"\\*[\"'`]")
_STRUCTURE = re.compile(r"[\"'`]\s{0,4}[:,}\]]|[:,{\[]\s{0,4}\\*[\"'`]")
# What stands there in a definition or a program instead of a secret.
_WORDS = frozenset({
    "string", "str", "text", "number", "integer", "int", "boolean", "bool", "object", "array", "list", "any",
    "null", "none", "undefined", "true", "false", "password", "secret", "token", "key", "required",
    "optional",
})  # fmt: skip
_BARE_START = tuple("/~.$<%*")
_BARE_SECRET = re.compile(
    r"(?=.*[A-Za-z])(?=.*\d)(?![-+]?[\d.]+[eExX][-+]?[\dA-Fa-f]+\Z)(?!\d{4}-\d\d-\d\d)(?!\d+[A-Za-z]\Z)"
)


def find_named_secrets(looked: SearchedText) -> Iterator[Match]:
    """Yield the values of names that denote a secret.

    A quoted value matches unless it is a word such as `string` or a template; an unquoted value must also
    hold letters and digits.
    """
    text = looked.text
    for needle in NAME_NEEDLES:
        for place in looked.find_needle(needle):
            found = _VALUE.match(text, place + len(needle), place + _LONGEST)
            # Most of these words name nothing, so the value is looked for first.
            if found is None or not _follows_secret_name(text, place):
                continue
            group = next(group for group in _GROUPS if found[group] is not None)
            value = _cut_before_members(found[group])
            if len(value) >= _SHORTEST and (_is_bare_secret if group == "bare" else is_secret)(value):
                yield Match(found.start(group), found.start(group) + len(value), "password")


def _cut_before_members(value: str) -> str:
    """Return the value up to its first quote when other JSON members seem to follow that quote.

    The closing quote of the value is missing in that case.
    """
    if value[:1].isspace() or value.startswith((",", ":")):
        return ""
    return _QUOTE.split(value, maxsplit=1)[0] if _STRUCTURE.search(value) else value


def _follows_secret_name(text: str, place: int) -> bool:
    names = _NAME.finditer(text, max(0, place - _BEFORE), place + _BEFORE)
    return any(name.end() > place for name in names)


def is_secret_name(key: str) -> bool:
    """Return True when this key of a decoded object denotes a secret value."""
    return len(key) < 64 and _NAME.search(key) is not None


def is_secret(value: str) -> bool:
    """Return True when the value can be a secret.

    Returns False for a type's name, a template, or asterisks in the place of a secret.
    """
    return not (
        value.strip().lower() in _WORDS
        or value.startswith("$")
        or is_templated_secret(value)
        or (is_not_alphanumeric_string(value) and not value.isdecimal())
    )


def _is_bare_secret(value: str) -> bool:
    return not value.startswith(_BARE_START) and bool(_BARE_SECRET.match(value)) and is_secret(value)
