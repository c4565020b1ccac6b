"""Finds values named as a password, a secret, a token or a key: `"password": "…"`, `API_KEY=…`, `--token …`.

The names are those of detect-secrets' KeywordDetector and some additional ones. The end of a value is
determined here: in broken JSON a match must never reach into the next member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from detect_secrets.filters.heuristic import is_not_alphanumeric_string, is_templated_secret
from detect_secrets.plugins.keyword import DENYLIST

from ingest.privacy.matches import Match, SearchedText


class Family(Enum):
    """What a name says its value is; the more a name may mean, the more its value must look like a secret."""

    PASSWORD = "password"  # noqa: S105 - a word, not a secret
    KEY = "key"
    TOKEN = "token"  # noqa: S105


_SEPARATOR = "[_. -]?"
_PASSWORD_NAME = re.compile(
    r"passw(?:or)?d|passwrd|passphrase|pass_?code|(?<![a-z])pwd(?![a-z])|[a-z]pwd\b|(?<=[_-])pass(?![a-z])"
    r"|^pass$|contrase(?:ñ|n|\?)a|passwort|kennwort|mot_?de_?passe|(?<![a-z])senha(?![a-z])",
    re.IGNORECASE,
)
_KEY_NAME = re.compile(
    "|".join(
        [name.replace("_?", _SEPARATOR) for name in DENYLIST if "key" in name]
        + [f"{word}{_SEPARATOR}key" for word in (
            "access", "admin", "anon", "consumer", "deploy", "encryption", "fernet", "master", "role",
            "shared", "signing", "ssh", "subscription", "webhook", "write",
        )]
        + ["secret", "credential"]
    ),
    re.IGNORECASE,
)  # fmt: skip
_TOKEN_NAME = re.compile(r"(?:^|[^a-z]|[a-z])(?:token|jwt)\Z", re.IGNORECASE)
# Tokens of language models, of parsers and of lists that go on.
_OTHER_TOKENS = (
    r"eos|bos|pad|sep|cls|mask|unk|stop|next|prev|special|page|continu\w*|start|begin|end|"
    r"first|last|new|per|cur\w*|max|min|total|in|out|input|output|num|image|think\w*|tool|"
    r"chat|sync|resume|sampled?|text|curr|peek|the|a|design|style|color"
)
_NO_TOKEN_NAME = re.compile(
    rf"(?:^|[_. -])(?:{_OTHER_TOKENS})[_. -]?token\Z"
    r"|(?:eos|bos|pad|page|next|prev|start|stop|end|continuation)Token\Z",
    re.IGNORECASE,
)
_WHOLE_NAME = re.compile(r"[\w.-]{0,40}\Z")
# A name that goes on so is about a secret, and does not name it.
_ABOUT_WORDS = (
    r"field|policy|name|length|len|type|format|hint|reset|file|path|url|uri|id|input|label|"
    r"placeholder|expir\w*|age|rule|min|max|status|required|strength|manager|env|var|variable|"
    r"prompt|error|message|pattern|count|s|usage|used|limit|ref|arn|version|size|index|column|"
    r"attribute|link|form|check|valid\w*|algorithm|scheme"
)
_ABOUT = re.compile(
    rf"(?:password|passwd|pwd|secret|token|key|pass)[_. -]?(?:{_ABOUT_WORDS})s?\Z", re.IGNORECASE
)
NAME_NEEDLES = ("key", "pass", "pwd", "secret", "token", "contrase", "credential", "kennwort", "senha", "jwt")
_BEFORE = 40  # characters of a name before its needle

# After the name: what closes it, a sign, and the value, in quotes, in escaped quotes, cut off, or bare.
_VALUE = re.compile(
    r"""(?P<tail>[\w-]{0,32}+)(?:
      (?P<close>[\]\\"'`”’]{0,8})
      (?P<sign>\s{0,4}(?:=>|:=|={1,3}|:)\s{0,8}
        | \s{0,2},\s{0,2}(?P<pair>\\*["']value\\*["']\s{0,4}:\s{0,4}))
      (?:
        (?P<quote>["'`]) (?P<quoted>(?:(?!(?P=quote))[^\\\r\n]|\\.){1,2000}) (?P=quote)
      | \\+(?P<deep>["'`]) (?P<escaped>(?:(?!\\+(?P=deep))[^\r\n]){1,2000}) \\+(?P=deep)
      | (?P<opening>["'`]) (?P<wrapped>[^\s"'`\\]{1,200}
          (?:[ \t]?\r?\n[ \t]{0,40}[^\s"'`\\]{1,200}){1,3}) (?P=opening)
      | \\*["'`“‘] (?P<torn>[^"'`“”‘’\r\n{}\[\]:=]{1,2000}=*) (?:[”’]|\Z)
      | (?P<bare>[^\s"'`“‘”’«»,;{}\[\]()<>\\|&]{3,256}) (?![\[(])
      )
    | (?P<gap>[ \t]{1,4}|=)["'`]?(?P<option>[^\s"'`,;{}\[\]()<>\\|&]{3,256})
    | (?:\s[^<>]{0,64})?>(?P<element>[^<>]{1,200})</
    )""",
    re.VERBOSE,
)
_GROUPS = ("quoted", "escaped", "wrapped", "torn", "bare", "option", "element")
_LONGEST = 2_100  # characters that may be part of a name and its value
_SHORTEST = 3  # characters
_QUOTE = re.compile(r"\\*[\"'`]")
_STRUCTURE = re.compile(r"[\"'`]\s{0,4}[:,}\]]|[:,{\[]\s{0,4}\\*[\"'`]")
# What stands there in a definition or a program instead of a secret.
_WORDS = frozenset({
    "string", "str", "text", "number", "integer", "int", "boolean", "bool", "object", "array", "list",
    "any", "null", "none", "undefined", "true", "false", "password", "passwd", "pass", "secret", "token",
    "key", "required", "optional", "nil", "empty", "hidden", "redacted", "masked", "invalid", "incorrect",
    "missing", "unknown", "varchar", "yes", "no", "bytes", "default", "value", "self", "enabled",
    "disabled", "basic", "bearer", "float", "dict", "input", "prompt", "wrong", "expired", "changed",
    "reset", "not", "the", "example", "blank",
})  # fmt: skip
_BARE_START = tuple("/~.$<%*@!?+=-")
_BARE_SECRET = re.compile(
    r"(?=.*[A-Za-z])(?=.*\d)(?![-+]?[\d.]+[eExX][-+]?[\dA-Fa-f]+\Z)(?!\d{4}-\d\d-\d\d)(?!\d+[A-Za-z]\Z)"
)
_IDENTIFIER_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_NAME_IN_VALUE = re.compile(r"pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
_CODE_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+\Z|[A-Z]+(?:_[A-Z]+)+\Z")
_SENTENCE = re.compile(r"\s\S+\s\S+\s\S+\s\S+\s|\s.*[.!?]\Z")
_WRAP = re.compile(r"\s*\n\s*")
_MARKED = re.compile(r"\d|[a-z][A-Z]|[^\w\s]")
_OPTION_NAME = re.compile(r"(?<![\w-])--[\w-]{0,40}\Z")
_ELEMENT_NAME = re.compile(r"<[\w.:-]{0,40}\Z")
_PAIR_NAME = re.compile(
    r"[\"'](?:name|key|header)\\*[\"']\s{0,4}:\s{0,4}\\*[\"'][\w.-]{0,40}\Z", re.IGNORECASE
)
_VALUE_END = re.compile(r"[\s&;\"'`\\<]|\Z")
_ENVIRONMENT_END = re.compile(r"[\s&;\"'`\\<)|]|\Z")
_LINE_END = re.compile(r"[\"'`\\<)]|\.?[ \t]*(?:[\r\n]|\Z)")


def find_named_secrets(looked: SearchedText) -> Iterator[Match]:
    """Yield the values of names that denote a secret.

    A quoted value matches unless it is a word such as `string`, a template or a sentence. An unquoted one
    must hold letters and digits, or stand where a program or a command has no other words.
    """
    text = looked.text
    for needle in NAME_NEEDLES:
        for place in looked.find_needle(needle):
            found = _VALUE.match(text, place + len(needle), place + _LONGEST)
            # Most of these words name nothing, so the value is looked for first.
            if found is None:
                continue
            before = _WHOLE_NAME.search(text, max(0, place - _BEFORE), place)
            name = (before[0] if before else "") + text[place : found.end("tail")]
            family = classify_name(name)
            if family is None:
                continue
            group = next(group for group in _GROUPS if found[group] is not None)
            value = found[group] if group == "wrapped" else _cut_before_members(found[group])
            start = found.start(group)
            if len(value) >= _SHORTEST and _is_value(text, place, found, group, name, value, family):
                yield Match(start, start + len(value), "password")


def _is_value(
    text: str, place: int, found: re.Match[str], group: str, name: str, value: str, family: Family
) -> bool:
    if group == "option":
        return _OPTION_NAME.search(text, max(0, place - _BEFORE - 2), place) is not None and _is_plain_value(
            value
        )
    if group == "element":
        return _ELEMENT_NAME.search(text, max(0, place - _BEFORE), place) is not None and is_secret(value)
    if found["pair"] is not None and not _PAIR_NAME.search(text, max(0, place - 80), place):
        return False
    if group != "bare":
        return is_named_secret(value, family, name)
    if found["sign"] == "=" and _OPTION_NAME.search(text, max(0, place - _BEFORE - 2), place):
        return _is_plain_value(value)
    if name.lower() == "pass" and ":" in found["sign"]:
        return False  # PASS: test_one
    return _is_bare_secret(value) or _is_short_secret(text, found, name, value, family)


def _cut_before_members(value: str) -> str:
    """Return the value up to its first quote when other JSON members seem to follow that quote.

    The closing quote of the value is missing in that case.
    """
    if value[:1].isspace() or value.startswith((",", ":")):
        return ""
    return _QUOTE.split(value, maxsplit=1)[0] if _STRUCTURE.search(value) else value


@lru_cache(4_096)
def classify_name(name: str) -> Family | None:
    """Return what a name says its value is; None when it does not denote a secret."""
    if len(name) > 80 or _ABOUT.search(name):
        return None
    if _PASSWORD_NAME.search(name):
        return Family.PASSWORD
    if _KEY_NAME.search(name):
        return Family.KEY
    if _TOKEN_NAME.search(name) and not _NO_TOKEN_NAME.search(name):
        return Family.TOKEN
    return None


def is_secret(value: str) -> bool:
    """Return True when the value can be a secret.

    Returns False for a type's name, a template, or asterisks or dots in the place of a secret.
    """
    return not (
        value.strip().lower() in _WORDS
        or value.startswith("$")
        or "..." in value
        or "…" in value
        or is_templated_secret(value)
        or (is_not_alphanumeric_string(value) and not any(map(str.isalnum, value)))
    )


def is_named_secret(value: str, family: Family, name: str) -> bool:
    """Return True when a text under a name of this family can be a secret."""
    value = _WRAP.sub("", value)
    if not is_secret(value) or _SENTENCE.search(value) or len(value) < _SHORTEST:
        return False
    if family is Family.TOKEN and (len(value) < (6 if len(name) > len("tokens") else 8) or " " in value):
        return False
    return family is Family.PASSWORD or not _IDENTIFIER_PATH.match(value)


def _is_shouted(name: str) -> bool:
    """Return True for the name of an environment variable."""
    return name.isupper()


def _is_plain_value(value: str) -> bool:
    """Return True unless an unquoted value is a word, a template, or a name of a program."""
    return (
        not value.startswith(_BARE_START)
        and is_secret(value)
        and not _NAME_IN_VALUE.search(value)
        and not _IDENTIFIER_PATH.match(value)
        and not _CODE_NAME.match(value)
    )


def _is_bare_secret(value: str) -> bool:
    return (
        len(value) >= 8
        and not value.startswith(_BARE_START)
        and bool(_BARE_SECRET.match(value))
        and is_secret(value)
        and not _IDENTIFIER_PATH.match(value)
    )


def _is_short_secret(text: str, found: re.Match[str], name: str, value: str, family: Family) -> bool:
    """Return True when an unquoted value is short or has no digits, but can be nothing else than a secret."""
    if not _is_plain_value(value):
        return False
    end = found.end("bare")
    sign = found["sign"]
    if value.isdecimal():
        return family is Family.PASSWORD and len(value) >= 4 and not text[end : end + 2].startswith(".")
    if sign == "=" and not found["close"]:
        if _is_shouted(name):
            return _ENVIRONMENT_END.match(text, end) is not None
        return (
            len(value) >= (3 if family is Family.PASSWORD else 6) and _VALUE_END.match(text, end) is not None
        )
    if family is not Family.PASSWORD or _LINE_END.match(text, end) is None:
        return False
    return sign.lstrip().startswith(":") or _MARKED.search(value) is not None
