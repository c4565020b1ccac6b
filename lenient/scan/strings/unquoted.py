"""Reads a value without quotes: a literal, a number, or words.

Numbers and literals of Python and JavaScript have only one meaning. Words may be a string without quotes. An
ellipsis, an arithmetic expression or a function call is rejected, because the parser would have to invent a
value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import normalize

from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.strings.trivia import ESCAPED_BLANK

MAX_DIGITS = 4_000
"""The maximum number of digits of an integer. Python reads at most 4,300 digits."""

_HEAD = compile_regex(r"[^\s,，、;；\]})｝］\"'“‘`{\[|#/\\]*+")
_AFTER_HEAD = compile_regex(
    r"\s*+(?:[,，、}\])｝］;；\"'“‘`{\[]|\Z|/\*|[|&.]\s*+\"\w)|[^\S\n]*+\n|\s++#|\s++//|(?:#|//)(?!\d)[^\n]{0,300}+\n"
    r"|\s++[A-Za-z_$][\w$]{0,63}\s*+(?:[:：](?!//)|=(?!=))|\s++\|\s++\w++\s*+:\s"
    rf"|{ESCAPED_BLANK}"
)
_MAX_PARTS = 100  # maximum number of pieces of an unquoted text between commas and brackets
_NEXT_PLAIN = compile_regex(r"\s++(?:-?\d|(?:true|false|null|True|False|None)\b)")
_MAX_TOKEN = 8_000  # maximum length of a value without quotes, in characters
_TOKEN = compile_regex(rf"[^,，\]}}｝］\n\r]{{0,{_MAX_TOKEN}}}+")
_TUPLE_TOKEN = compile_regex(rf"[^,，\])}}｝］\n\r]{{0,{_MAX_TOKEN}}}+")
_MORE_WORDS = compile_regex(
    r",\s*+(?!\w++\s*+=)[^\s,，:：\"'“‘`{}\[\]()][^,，:：\"“`{}\[\]\n]*+(?=[,，}\n]|\Z)"
)
_NEXT_KEY = compile_regex(r"\s++(?:\"[^\"\\\n:,]{1,64}\"|'[^'\\\n:,]{1,64}')\s*+:")
_OPENED = compile_regex(r"[(\[{\"'`]")
_PAIRS = {"]": "[", "}": "{"}
_PART_END = compile_regex(
    r"\s*+[;|](?=\s*+(?:\"[^\"\\\n:,]{1,64}\"|'[^'\\\n:,]{1,64}')\s*+[:=]|\s++[A-Za-z_]\w{0,63}\s*+[:=]\s)"
    rf"|\s*+;\s*+\Z|{ESCAPED_BLANK}"
)
"""What stands between a value and the next member, except a comma."""
_NEXT_ITEM = compile_regex(r"(?<=\w)\s*+[;|]\s*+(?=\w)")
_HASH_WORD = compile_regex(r"\s*+#[\w\-]++\s*+[,}\]]")
_COMMENT = compile_regex(r"\s+#|(?<=\s)//|(?<!:)//(?=\s)|(?<!\*)/\*")
_JSON_NUMBER = compile_regex(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_LOOSE_NUMBER = compile_regex(
    r"[+-]?(?:\d[\d_]*+\.?[\d_]*+|\.\d[\d_]*+)(?:[eE][+-]?\d+)?[lLnfFdD]?", re.ASCII
)
_RADIX = compile_regex(r"([+-]?)0([xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)", re.ASCII)
_THOUSANDS = compile_regex(
    r"(-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?)(?=\s*+(?:[}\n]|$|,\s*+[\"'A-Za-z_“]))", re.ASCII
)
_SUM = compile_regex(r"[\d.\s()]*[\d)]\s*(?:[+*/%]|\*\*|//|-)\s*[\d(][\d.\s()+\-*/%]*", re.ASCII)
_DATE = compile_regex(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_WORDS = compile_regex(
    r"[^\W\d_][\w .\-/@+&~!?%$*:#\\'’]*"
    r"|(?=[^A-Za-z.\-:/]*+[A-Za-z.\-:/])\d[\w.\-:/]*+|[./~$@*%#][\w .\-/@+&~*$:\\]*"
)
_URL = compile_regex(r"[a-zA-Z][\w+.\-]*://[^\s\"'`<>]+")
_CALL = compile_regex(r"[A-Za-z_][\w.]*\s*\(")
_WHOLE_CALL = compile_regex(r"[A-Za-z_]\w*+(?:\.\w++)*+\([^()]*+\)")
_COMPREHENSION = compile_regex(r"[^,]{0,80}\b(\w+)\b[^,]{0,80} for \1 in ")
_BRACED_WORDS = compile_regex(
    r"(?<=[\w/,.:\-])[ \t]*+\{[\w $.\-]{1,64}+\}|(?<=\w)[ \t]++\[[\w $.\-]{1,64}+\]"
)
"""Words in brackets, as in a template, after the start of a string."""
_SEVERAL = "The signs between the words may part several values."
_GROUP = compile_regex(r"\d,0\d\d")  # for example 1,000 in an array
_PATTERN = compile_regex(
    r"/(?=[^/\n]*(?:[\\^$()|+]|\.\*))[^/\n]++/"
)  # a regular expression literal of JavaScript, whose flags would be lost
_EXPRESSION = compile_regex(
    r"\A(?:not|lambda) |\A\*{1,2}[A-Za-z_]\w*+\Z|\S\s\?\Z|(?<=\w) (?:for \w+ in|if \S+ else) "
)
_CHOICE = compile_regex(
    r"(?=(?:[^\s?]++|[^?\n]{1,200}\s|[^?\n]{0,200}[<>=!&|][^?\n]{0,200})\?)[^\"'`?,{}\[\]\n]{1,200}+\?\s*+"
    r"(?:\"[^\"\\\n]*+\"|'[^'\\\n]*+'|`[^`\\\n]*+`|(?<=\s)[\w.\-]++(?=\s))\s*+:\s*+(?:[\"'`]|[\w.\-]++\s*+[,)}\]])"
)
"""A JavaScript conditional: a word, a comparison, or words and a blank before the question mark."""
_TO_FILL_IN = compile_regex(r"<[A-Za-z][\w \-]*+>|%(?:\(\w++\))?[sdifr]")
_TYPES = frozenset({"string", "integer", "number", "boolean"})
_CUT_SHORT = compile_regex(r"-?[\d.]*\d(?:\.{3}|…)")
_NEW = compile_regex(r"(?:new|await|function|lambda|async)\b\s*+[\w.]*+\s*+[(:{]")
_UNFIT = compile_regex(r"[\"`“”]")
_SURROGATE = compile_regex(r"[\ud800-\udfff]")
_QUOTES = "\"'“”‘’`"

_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_LOOSE_LITERALS: dict[str, Any] = {
    "True": True, "TRUE": True, "False": False, "FALSE": False, "None": None, "NULL": None, "Null": None,
    "nil": None, "!0": True, "!1": False, "undefined": None, "none": None,
}  # fmt: skip
_NON_FINITE = {
    "NaN": "nan", "nan": "nan", "NAN": "nan", "Infinity": "inf", "inf": "inf", "+Infinity": "inf",
    "-Infinity": "-inf", "-inf": "-inf",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnquotedValue:
    """A value written without quotes. `end` is the offset after the value.

    `code` is the code of the repair, or None when the value is valid JSON. `absent` is True when no value was
    sent. `doubt` describes another possible meaning, or is "" when there is none.
    """

    value: Any
    end: int
    code: str | None = None
    absent: bool = False
    doubt: str = ""


def read_unquoted(text: str, start: int, *, wants_text: bool = False, close: str = "") -> UnquotedValue:
    """Read the value at `start`, which begins with neither a quote nor a bracket.

    `wants_text` means that the definition declares a string. Then words of any kind are accepted unchanged.
    `close` is the bracket that ends the surrounding container, or "" at the root.

    Raises UnreadableError when there is no value.
    """
    token = _read_first_word(text, start, close == "}") or _read_token(text, start, close, wants_text)
    end = start + len(token)
    if (wide := _read_wide_number(token)) is not None:
        return UnquotedValue(wide, end, "nonstandard_number")
    if number := _JSON_NUMBER.fullmatch(token):
        return _read_number(text, token, number, start, close)
    if token in _LITERALS:
        return UnquotedValue(_LITERALS[token], end)
    if token in _LOOSE_LITERALS:
        return UnquotedValue(_LOOSE_LITERALS[token], end, "nonstandard_literal")
    if token in _NON_FINITE:
        return UnquotedValue(float(_NON_FINITE[token]), end, "non_finite_number")
    if end == len(text) and (cut := _read_cut_off(token, end)) is not None:
        return cut
    if (loose := _read_loose_number(token, end)) is not None:
        is_group = close != "}" and _GROUP.fullmatch(text, max(start - 2, 0), end) is not None
        return replace(loose, doubt=_SEVERAL if is_group else "")
    is_item = close == "]" or token.startswith("[")
    if (is_item and _COMPREHENSION.match(token)) or _CHOICE.match(text, start):
        raise UnreadableError("expression", start)
    words = _read_words(token, start, wants_text)
    return replace(words, doubt=_SEVERAL) if close == "]" and _NEXT_ITEM.match(text, end) else words


def _read_first_word(text: str, start: int, in_object: bool) -> str | None:
    """Return the first word if it is a complete number or literal (such as true), else None.

    The comma that ends the value may be missing.
    """
    match = _HEAD.match(text, start)
    head = match.group() if match else ""
    simple = (
        head in _LITERALS or head in _LOOSE_LITERALS or head in _NON_FINITE or _LOOSE_NUMBER.fullmatch(head)
    )
    if not simple or len(head) > MAX_DIGITS:
        return None
    end = start + len(head)
    ends = _AFTER_HEAD.match(text, end) or (not in_object and _NEXT_PLAIN.match(text, end))
    return head if ends else None


def _read_token(text: str, start: int, close: str, wants_text: bool) -> str:
    """Return the characters up to the end of the value. Commas and brackets may belong to the value."""
    pattern = _TUPLE_TOKEN if close == ")" else _TOKEN
    match = pattern.match(text, start)
    end = match.end() if match else start
    if end - start >= _MAX_TOKEN:
        raise UnreadableError("number_too_long" if text[start].isdigit() else "unexpected_character", start)
    for _ in range(_MAX_PARTS if close == "}" and end > start else 0):
        more = _extend_token(text, start, end, wants_text)
        if more is None:
            break
        end = more
    if close == "}" and (key := _NEXT_KEY.search(text, start, end)) is not None and key.start() > start:
        # the comma before this key is missing
        end = end if _OPENED.search(text, start, key.start()) else key.start()
    if close == "}" and (part := _PART_END.search(text, start, end)) is not None and part.start() > start:
        end = end if _is_backslash_of_text(text, start, part.start()) else part.start()
    elif close == "]" and (item := _NEXT_ITEM.search(text, start, end)) is not None:
        end = item.start()
    token = text[start:end]
    comment = _COMMENT.search(token)
    if comment is not None and comment.start() and not _HASH_WORD.match(text, start + comment.start()):
        token = token[: comment.start()]
    return token.rstrip()


def _is_backslash_of_text(text: str, start: int, at: int) -> bool:
    """Return True if a backslash at `at` belongs to a Windows path or pattern that begins at `start`."""
    return text[at] == "\\" and (text[at - 1] == ":" or "\\" in text[start:at])


def _extend_token(text: str, start: int, end: int, wants_text: bool) -> int | None:
    """Return the new end of the value when the character at `end` belongs to the value, else None.

    A closing bracket belongs to the value if the value opened the bracket. A comma belongs to the value if no
    key follows.
    """
    sign = text[end : end + 1]
    if not wants_text and sign in _PAIRS and _opens_words(text, start, end):
        match = _TOKEN.match(text, end + 1)
        return match.end() if match else end + 1
    if wants_text and sign in _PAIRS and text.count(_PAIRS[sign], start, end) > text.count(sign, start, end):
        match = _TOKEN.match(text, end + 1)
        return match.end() if match else end + 1
    more = _MORE_WORDS.match(text, end) if sign == "," else None
    return more.end() if more else None


def _opens_words(text: str, start: int, end: int) -> bool:
    """Return True when the bracket at `end` closes a phrase in brackets near the start of a string."""
    opened = max(text.rfind("{", start, end), text.rfind("[", start, end))
    return (
        opened > start
        and _BRACED_WORDS.fullmatch(text, len(text[start:opened].rstrip()) + start, end + 1) is not None
    )


def _read_number(text: str, token: str, number: re.Match[str], start: int, close: str) -> UnquotedValue:
    end = start + len(token)
    if close == "}" and text.startswith(",", end) and (grouped := _THOUSANDS.match(text, start)):
        digits = grouped.group(1).replace(",", "")
        value = float(digits) if "." in digits else int(digits[:MAX_DIGITS])
        return UnquotedValue(value, grouped.end(1), "thousands_separator")
    if number.group(1) is None and number.group(2) is None:
        if len(token) > MAX_DIGITS:
            raise UnreadableError("number_too_long", start)
        value = int(token)
    else:
        value = float(token)
    if value in (float("inf"), float("-inf")):
        return UnquotedValue(value, end, "non_finite_number")
    return UnquotedValue(value, end, "truncated_number" if end == len(text) and close else None)


def _read_cut_off(token: str, end: int) -> UnquotedValue | None:
    """Return the value of a literal or number that the end of the input cuts off, else None."""
    if token in ("", "-", "+", "."):
        return UnquotedValue(None, end, absent=True)
    for literal, value in _LITERALS.items():
        if literal.startswith(token):
            return UnquotedValue(value, end, "truncated_literal")
    stripped = token.rstrip("eE+-.")
    if stripped != token and _JSON_NUMBER.fullmatch(stripped):
        return UnquotedValue(
            float(stripped) if "." in stripped else int(stripped[:MAX_DIGITS]), end, "truncated_number"
        )
    return None


def _read_wide_number(token: str) -> int | float | None:
    """Return a number in full-width digits or with a typographic minus sign, or None for anything else."""
    if token.isascii() or len(token) > 100:
        return None
    plain = normalize("NFKC", token).replace("−", "-")
    if not _JSON_NUMBER.fullmatch(plain):
        return None
    return float(plain) if any(sign in plain for sign in ".eE") else int(plain)


def _read_loose_number(token: str, end: int) -> UnquotedValue | None:
    if len(token) > MAX_DIGITS:
        return None
    if radix := _RADIX.fullmatch(token):
        return (
            UnquotedValue(int(token.replace("_", ""), 0), end, "nonstandard_number")
            if radix.group(2)[1:].strip("_")
            else None
        )
    if not _LOOSE_NUMBER.fullmatch(token) or "__" in token:
        return None
    plain = token.rstrip("lLnfFdD").replace("_", "")
    value = float(plain) if any(sign in plain for sign in ".eE") else int(plain)
    code = "non_finite_number" if value in (float("inf"), float("-inf")) else "nonstandard_number"
    return UnquotedValue(value, end, code)


def _read_words(token: str, start: int, wants_text: bool) -> UnquotedValue:
    """Return the words as a string without quotes. Raises UnreadableError if the words cannot be a string."""
    end = start + len(token)
    if token.startswith(("...", "…")) or _CUT_SHORT.fullmatch(token):
        raise UnreadableError("ellipsis", start)
    if not token or _SURROGATE.search(token):
        raise UnreadableError("unexpected_character", start)
    quoteless = token.rstrip(_QUOTES)
    if token[-1] in _QUOTES and not any(quote in quoteless for quote in _QUOTES) and quoteless:
        return UnquotedValue(quoteless, end, "missing_opening_quote")
    if not wants_text and _SUM.fullmatch(token) and not _DATE.fullmatch(token):
        raise UnreadableError("arithmetic", start)
    if _PATTERN.fullmatch(token):
        return UnquotedValue(token[1 : token.rindex("/")], end, "unquoted_string")
    if _NEW.match(token) or (not wants_text and _EXPRESSION.search(token)):
        raise UnreadableError("expression", start)
    if token in _TYPES or _TO_FILL_IN.fullmatch(token):
        raise UnreadableError("placeholder", start)
    if wants_text and not _UNFIT.search(token):
        doubt = "Or this is a call that was never run." if _WHOLE_CALL.fullmatch(token) else ""
        return UnquotedValue(token, end, "unquoted_string", doubt=doubt)
    if _CALL.match(token):
        raise UnreadableError("expression", start)
    bare = _BRACED_WORDS.sub("x", token)
    if any(shape.fullmatch(bare) for shape in (_DATE, _WORDS, _URL)):
        return UnquotedValue(token, end, "unquoted_string")
    if "," in bare and all(_WORDS.fullmatch(part.strip()) for part in bare.split(",")):
        return UnquotedValue(token, end, "unquoted_string", doubt=_SEVERAL)
    raise UnreadableError("unexpected_character", start)
