"""Finds values whose names denote a password, a secret, an access token or a key.

Examples are `"password": "…"`, `API_KEY=…` and `--token …`. In broken JSON, a match must not include the next
member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.privacy.matches import Match, SearchedText
from ingest.privacy.secret_names import (
    NAME_NEEDLES,
    OTHER_NAMES,
    SHORTEST,
    Family,
    classify_name,
    is_bare_secret,
    is_named_secret,
    is_plain_value,
    is_secret,
)
from ingest.privacy.stated_secrets import find_stated_values

_WHOLE_NAME = re.compile(r"[\w.-]{0,40}\Z")
# words that may come before the needle: API key, mot de passe
_WORDS_BEFORE = re.compile(r"[^\W\d_]{2,20} (?:de )?\Z")
_BEFORE = 40  # characters of a name that may come before the name's needle

# The text after the name: a sign and the value. The value may be quoted, truncated or bare.
_VALUE_FORM = r"""(?:
      (?P<close>[\]\\"'`”’]{0,8})
      (?P<sign>\s{0,4}(?:=>|:=|={1,3}|:)\s{0,8}
        | \s{0,2},\s{0,2}(?P<pair>\\*["']value\\*["']\s{0,4}:\s{0,4}))
      (?:[bfuBFUN@](?=["']))?+
      (?:
        (?P<quote>["'`]) (?P<quoted>(?:(?!(?P=quote))[^\\\r\n]|\\.){1,2000}) (?P=quote)
      | \\+(?P<deep>["'`]) (?P<escaped>(?:(?!\\+(?P=deep))[^\r\n]){1,2000}) \\+(?P=deep)
      | (?P<opening>["'`]) (?P<wrapped>[^\s"'`\\]{1,200}
          (?:[ \t]?\r?\n[ \t]{0,40}[^\s"'`\\]{1,200}){1,3}) (?P=opening)
      | \\*["'`“‘] (?P<torn>[^"'`“”‘’\r\n{}\[\]:=]{1,2000}=*) (?:[”’]|\Z)
      | (?P<bare>[^\s"'`“‘”’«»,;{}\[\]()<>\\|&]{3,256}) (?![\[(])
      )
    | (?P<gap>[ \t]{1,4}|=)(?:(?P<mark>["'])(?P<phrase>[^"'\\\r\n]{3,200})(?P=mark)
      | ["'`]?(?P<option>[^\s"'`,;{}\[\]()<>\\|&]{3,256}))
    | (?:\s[^<>]{0,64})?>(?P<element>[^<>]{1,200})</
    )"""
_VALUE = re.compile(r"(?P<tail>[\w-]{0,32}+)" + _VALUE_FORM, re.VERBOSE)
_OTHER_VALUE = re.compile("(?P<tail>)" + _VALUE_FORM, re.VERBOSE)
_TAIL = re.compile(r"[\w-]{0,32}")
_GROUPS = ("quoted", "escaped", "wrapped", "torn", "bare", "phrase", "option", "element")
_LONGEST = 2_100  # largest number of characters of a name and its value
_QUOTE = re.compile(r"\\*[\"'`]")
_STRUCTURE = re.compile(r"[\"'`]\s{0,4}[:,}\]]|[:,{\[]\s{0,4}\\*[\"'`]")
_MARKED = re.compile(r"\d|[a-z][A-Z]|[^\w\s]")
_OPTION_NAME = re.compile(r"(?<![\w-])--?[\w-]{0,40}\Z")
_PASS_SOURCE = re.compile(r"-pass(?:in|out)?[ =]\Z")  # matches the option in: openssl -passin pass:…
_ELEMENT_NAME = re.compile(r"<[\w.:-]{0,40}\Z")
_PAIR_NAME = re.compile(
    r"[\"'](?:name|key|header)\\*[\"']\s{0,4}:\s{0,4}\\*[\"'][\w.-]{0,40}\Z", re.IGNORECASE
)
_VALUE_END = re.compile(r"[\s&;\"'`\\<]|\Z")
_ENVIRONMENT_END = re.compile(r"[\s&;\"'`\\<)|]|\Z")
_LINE_END = re.compile(r"[\"'`\\<)]|\.?[ \t]*(?:[\r\n]|\Z)")


def find_named_secrets(looked: SearchedText) -> Iterator[Match]:
    """Yield the values that follow the name of a secret, such as `password`.

    A quoted value matches unless it is a word such as `string`, a template or a sentence. An unquoted value
    must have letters and digits, or be at a position where programs expect only a secret.
    """
    for needle in NAME_NEEDLES:
        for place in looked.find_needle(needle):
            yield from _find_values(looked.text, place, place + len(needle), _VALUE)


def find_other_named_secrets(looked: SearchedText) -> Iterator[Match]:
    """Yield the values that follow the name of a secret in a non-Latin script."""
    for match in OTHER_NAMES.finditer(looked.text):
        yield from _find_values(looked.text, *match.span(), _OTHER_VALUE)


def is_not_ascii(looked: SearchedText) -> bool:
    return not looked.text.isascii()


def _find_values(text: str, place: int, end: int, form: re.Pattern[str]) -> Iterator[Match]:
    match = form.match(text, end, place + _LONGEST)
    if form is _VALUE:
        tail = _TAIL.match(text, end) if match is None else None
        end = tail.end() if tail else match.end("tail") if match else end
    before = _WHOLE_NAME.search(text, max(0, place - _BEFORE), place)
    begin = before.start() if before else place
    name = text[begin:end]
    family = classify_name(name)
    if family is None and text[begin - 1 : begin] == " ":
        words = _WORDS_BEFORE.search(text, max(0, begin - _BEFORE), begin)
        family = classify_name(words[0] + name) if words else None
    if family is None:
        return
    if match is not None:
        group = next(group for group in _GROUPS if match[group] is not None)
        value = match[group] if group == "wrapped" else _cut_before_members(match[group])
        start = match.start(group)
        if len(value) >= SHORTEST and _is_value(text, place, match, group, name, value, family):
            yield Match(start, start + len(value), "password")
            return
    for start, stop in find_stated_values(text, place, end, name, family):
        yield Match(start, stop, "password")


def _is_value(
    text: str, place: int, match: re.Match[str], group: str, name: str, value: str, family: Family
) -> bool:
    if group in ("option", "phrase"):
        return _is_option(text, place, family) and is_plain_value(value)
    if group == "element":
        return _ELEMENT_NAME.search(text, max(0, place - _BEFORE), place) is not None and is_secret(value)
    if match["pair"] is not None and not _PAIR_NAME.search(text, max(0, place - 80), place):
        return False
    if group != "bare":
        return is_named_secret(value, family, name)
    if match["sign"] == "=" and _is_option(text, place, family):
        return is_plain_value(value)
    # "PASS: test_one" is the result of a test, not a password
    if name.lower() == "pass" and ":" in match["sign"]:
        source = _PASS_SOURCE.search(text, max(0, place - _BEFORE), place) is not None
        alone = (
            not name.isupper() and value.isalnum() and _LINE_END.match(text, match.end("bare")) is not None
        )
        return source or (alone and is_bare_secret(value))
    return is_bare_secret(value) or _is_short_secret(text, match, name, value, family)


def _is_option(text: str, place: int, family: Family) -> bool:
    """Return True when the name is an option.

    An option begins with two dashes (`--token`). For passwords, one dash is enough (`-Password`).
    """
    name = _OPTION_NAME.search(text, max(0, place - _BEFORE - 2), place)
    return name is not None and (name[0].startswith("--") or family is Family.PASSWORD)


def _cut_before_members(value: str) -> str:
    """Return the value up to its first quote if other JSON members seem to follow that quote.

    The first quote then belongs to the next member, because the value has no closing quote.
    """
    if value[:1].isspace() or value.startswith((",", ":")):
        return ""
    return _QUOTE.split(value, maxsplit=1)[0] if _STRUCTURE.search(value) else value


def _is_shouted(name: str) -> bool:
    """Return True when a name looks like the name of an environment variable."""
    return name.isupper()


def _is_short_secret(text: str, match: re.Match[str], name: str, value: str, family: Family) -> bool:
    """Return True when an unquoted value can only be a secret, although it is short or has no digits."""
    if not is_plain_value(value):
        return False
    end = match.end("bare")
    sign = match["sign"]
    if value.isdecimal():
        return family is Family.PASSWORD and len(value) >= 4 and not text[end : end + 2].startswith(".")
    if sign == "=" and not match["close"]:
        if _is_shouted(name):
            return _ENVIRONMENT_END.match(text, end) is not None
        return (
            len(value) >= (3 if family is Family.PASSWORD else 6) and _VALUE_END.match(text, end) is not None
        )
    if family is not Family.PASSWORD or _LINE_END.match(text, end) is None:
        return False
    return sign.lstrip().startswith(":") or _MARKED.search(value) is not None
