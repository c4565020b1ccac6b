"""Defects of quotes, and of the characters between quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from bench.parser.mutations.draft import Draft, ImpossibleError, Kind, Token

_STRINGS = (Kind.KEY, Kind.STRING)
TELLING = re.compile(r'["{}\[\]\n\\]')
"""In a string without its first quote, these characters make the start of the string uncertain."""
LONG = re.compile(r'[",:{}\[\]\n\\]')
"""In a string without its last quote, these characters make the end of the string uncertain."""
_LOOKS_LIKE_END = re.compile(r'"\s*[,:}\]]|[{\[,:]\s*"')
"""A quote inside a string that may also be the end or the beginning of the string."""
_BARE = re.compile(r'(?<!\\)"')
_ESCAPES = set('"\\/bfnrtu')
_WORD = re.compile(r"[^\W\d][\w ./+@-]*\w")
_LITERALS = {"true", "false", "null", "none", "nan", "infinity", "undefined", "yes", "no", "on", "off"}


def _value(draft: Draft, wanted: Callable[[str], object]) -> int:
    return draft.pick(lambda _, token: token.kind is Kind.STRING and bool(wanted(token.value)))


def _missing_first_quote_of_key(draft: Draft) -> None:
    at = draft.pick_kind(Kind.KEY)
    draft.change(at, draft.tokens[at].text[1:])


def _missing_last_quote_of_key(draft: Draft) -> None:
    at = draft.pick_kind(Kind.KEY)
    draft.change(at, draft.tokens[at].text[:-1])


def _missing_first_quote(draft: Draft) -> None:
    at = _value(draft, lambda value: value[:1].isalpha())
    if TELLING.search(draft.tokens[at].value):
        draft.doubt(draft.tokens[at].member)
    draft.change(at, draft.tokens[at].text[1:])


def _missing_last_quote(draft: Draft) -> None:
    at = _value(draft, len)
    if LONG.search(draft.tokens[at].value):
        _doubt_from(draft, at)
    draft.change(at, draft.tokens[at].text[:-1])


def _escaped_last_quote(draft: Draft) -> None:
    """Put a backslash before the last quote. The backslash may be a mistake or the end of a Windows path."""
    at = _value(draft, len)
    _doubt_from(draft, at)
    draft.change(at, draft.tokens[at].text[:-1] + '\\"')


def _doubt_from(draft: Draft, at: int) -> None:
    """Mark the end of a string as unknown, because the string may include the next parameter."""
    member = draft.tokens[at].member
    following = (token.member for token in draft.tokens[at:] if token.member not in (None, member))
    draft.doubt(member)
    draft.loose.update(list(following)[:1])


def _quoted(token: Token, opener: str, closer: str) -> str:
    inner = token.text[1:-1].replace('\\"', '"').replace(opener, "\\" + opener)
    return opener + (inner if closer == opener else inner.replace(closer, "\\" + closer)) + closer


def _all_in(opener: str, closer: str) -> Callable[[Draft], None]:

    def apply(draft: Draft) -> None:
        places = draft.places(lambda _, token: token.kind in _STRINGS)
        values = "".join(draft.tokens[at].value for at in places)
        if opener != closer and (opener in values or closer in values):
            raise ImpossibleError
        for at in places:
            draft.change(at, _quoted(draft.tokens[at], opener, closer))

    return apply


def _one_in(quote: str) -> Callable[[Draft], None]:
    def apply(draft: Draft) -> None:
        at = _value(draft, lambda value: value and quote not in value)
        draft.change(at, _quoted(draft.tokens[at], quote, quote))

    return apply


def _triple_quotes(draft: Draft) -> None:
    at = _value(
        draft, lambda value: "\n" in value and "\\" not in value and '"""' not in value and value[-1] != '"'
    )
    draft.change(at, f'"""{draft.tokens[at].value}"""')


def _unescape(draft: Draft, at: int, inner: str) -> None:
    if any(_may_end(inner, quote.start()) for quote in _BARE.finditer(inner)):
        _doubt_from(draft, at)
    draft.change(at, f'"{inner}"')


def _may_end(inner: str, quote: int) -> bool:
    """Return True when an unescaped quote at the offset `quote` could end the string.

    Such a quote is at an end of the string, or next to JSON punctuation.
    """
    looks = any(match.start() <= quote < match.end() for match in _LOOKS_LIKE_END.finditer(inner))
    return looks or quote in (0, len(inner) - 1)


def _unescaped_quotes(draft: Draft) -> None:
    at = _value(draft, lambda value: '"' in value)
    _unescape(draft, at, draft.tokens[at].text[1:-1].replace('\\"', '"'))


def _unescaped_quote(draft: Draft) -> None:
    at = _value(draft, lambda value: '"' in value)
    inner = draft.tokens[at].text[1:-1]
    chosen = draft.random.choice([match.start() for match in re.finditer(r'\\"', inner)])
    _unescape(draft, at, inner[:chosen] + inner[chosen + 1 :])


def _raw(escape: str, sign: str) -> Callable[[Draft], None]:
    def apply(draft: Draft) -> None:
        at = _value(draft, lambda value: sign in value and "\\" not in value)
        draft.change(at, json.dumps(draft.tokens[at].value, ensure_ascii=False).replace(escape, sign))

    return apply


def _single_backslashes(draft: Draft) -> None:
    """Remove the escapes in Windows paths and regular expressions, unless a remaining backslash starts a JSON
    escape.
    """
    at = _value(draft, lambda value: "\\" in value and not _misread(value) and '"' not in value)
    draft.change(at, f'"{draft.tokens[at].value}"')


def _misread(value: str) -> bool:
    return any(value[index + 1 : index + 2] in _ESCAPES - {'"'} for index, s in enumerate(value) if s == "\\")


def _escaped_apostrophe(draft: Draft) -> None:
    at = _value(draft, lambda value: "'" in value)
    draft.change(at, draft.tokens[at].text.replace("'", "\\'"))


def _doubled_quotes(draft: Draft) -> None:
    at = draft.pick(lambda _, token: token.kind in _STRINGS and token.value)
    draft.change(at, f'"{draft.tokens[at].text}"')


def _doubled_first_quote(draft: Draft) -> None:
    at = draft.pick(lambda _, token: token.kind in _STRINGS and token.value)
    draft.change(at, f'"{draft.tokens[at].text}')


def _prefix(draft: Draft) -> None:
    at = draft.pick(
        lambda _, token: token.kind is Kind.STRING and "\\" not in token.text and "{" not in token.text
    )
    draft.change(at, draft.random.choice("rfbu") + draft.tokens[at].text)


def _concatenation(draft: Draft) -> None:
    at = _value(draft, lambda value: len(value) > 8)
    value = draft.tokens[at].value
    middle = len(value) // 2
    first, second = (json.dumps(part, ensure_ascii=False) for part in (value[:middle], value[middle:]))
    draft.change(at, f"{first} + {second}")


def _unquoted_keys(draft: Draft) -> None:
    for at in draft.places(lambda _, token: token.kind is Kind.KEY and token.value.isidentifier()):
        draft.change(at, draft.tokens[at].value)


def _unquoted_key(draft: Draft) -> None:
    at = draft.pick(lambda _, token: token.kind is Kind.KEY and token.value.isidentifier())
    draft.change(at, draft.tokens[at].value)


def _unquoted_value(draft: Draft) -> None:
    at = _value(draft, lambda value: _WORD.fullmatch(value) and value.lower() not in _LITERALS)
    draft.change(at, draft.tokens[at].value)


DEFECTS: dict[str, Callable[[Draft], None]] = {
    "key without its first quote": _missing_first_quote_of_key,
    "key without its last quote": _missing_last_quote_of_key,
    "value without its first quote": _missing_first_quote,
    "value without its last quote": _missing_last_quote,
    "escaped closing quote": _escaped_last_quote,
    "single quotes": _all_in("'", "'"),
    "one value in single quotes": _one_in("'"),
    "typographic quotes": _all_in("“", "”"),
    "one value in back-ticks": _one_in("`"),
    "triple quotes": _triple_quotes,
    "unescaped quotes": _unescaped_quotes,
    "one unescaped quote": _unescaped_quote,
    "raw newlines": _raw("\\n", "\n"),
    "raw tabs": _raw("\\t", "\t"),
    "single backslashes": _single_backslashes,
    "escaped apostrophe": _escaped_apostrophe,
    "doubled quotes": _doubled_quotes,
    "doubled first quote": _doubled_first_quote,
    "Python string prefix": _prefix,
    "concatenation": _concatenation,
    "unquoted keys": _unquoted_keys,
    "one unquoted key": _unquoted_key,
    "unquoted value": _unquoted_value,
}
