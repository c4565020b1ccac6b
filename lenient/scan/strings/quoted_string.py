"""Reads strings in quotes, and strings whose opening quote is missing or escaped.

`lenient.scan.strings.string_end` finds the end of a string, and `lenient.scan.strings.escapes` decodes the
body.
"""

from __future__ import annotations

import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # a C function that typeshed does not list

from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.strings.escapes import decode_body, find_character_escape, trim_half_escape
from lenient.scan.strings.string_end import (
    CLOSING_QUOTES,
    Lookahead,
    StringClosing,
    StringEnd,
    find_string_end,
)
from lenient.scan.strings.string_end_scoring import NEXT_KEY, EndFit, StringPlace, StringRole, score_end
from lenient.scan.strings.trivia import RepairReport

_PLAIN = compile_regex(r'"([^"\\\x00-\x1f\ud800-\udfff]*+)"(?=\s*+([,:}\]]|\Z))')
_NEXT_ITEM = compile_regex(r"\s*+[\"{\[]")
PREFIX_LETTERS = frozenset("rbfuRBFU")
_PREFIX = compile_regex(r"(?:[rbfuRBFU]|[rR][bBfF]|[bBfF][rR])(?=[\"'])")
_COLON_AFTER = compile_regex(r"\s*+[:：]")
_LANGUAGE = compile_regex(r"(?:[A-Za-z][\w+.\-]*+)?[ \t]*+\r?\n")
_MAX_FENCES = 32  # maximum number of triple back-ticks in one text
_FILLED_IN = compile_regex(
    r"(?:\"\"\"(?:(?!\"\"\")[^{])*+|'''(?:(?!''')[^{])*+"
    r"|\"(?!\"\")(?:[^\"\\{\n]|\\.)*+|'(?!'')(?:[^'\\{\n]|\\.)*+)\{"
)
_FILLED_TEMPLATE = compile_regex(r"\\.|\$\{(?P<shell>[A-Z_][A-Z\d_]*+[}:#%/\-])?", re.DOTALL)
"""An escape, or the beginning of a placeholder that a program or a shell fills in."""
_LITERAL = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`)"
_LITERALS = compile_regex(_LITERAL, re.DOTALL)
_SUM = compile_regex(rf"{_LITERAL}(?:\s*+\+\s*+{_LITERAL})++(?=\s*+(?:[,}})\]]|\Z))", re.DOTALL)
_LONG = 4_000  # maximum length of a string after which an index such as `[0]` is looked for
_INDEX = compile_regex(
    r"\[(?:-?\d++(?::-?\d*+)?|[A-Za-z_]\w*+)\](?=\s*+(?:[}\])]|\Z|,\s*+(?:[\"'`{\[]|[A-Za-z_]\w*+\s*+:)))"
)
"""An index or a slice that follows a string at the end of a value."""
_BEFORE_JOINT = (" ", "+", "\n", "\t", "\r")
_JOINT = compile_regex(r"\s*+\+\s*+(?:/\*[^*\n]{0,80}+\*/\s*+)?(?=[\"'])")
_SIDE_BY_SIDE = compile_regex(
    r"\s++(?=(?:\"(?:[^\"\\\n]|\\.){0,2000}+\"|'(?:[^'\\\n]|\\.){0,2000}+')\s*+[,})\"'])"
)
"""The blanks before a string without a colon."""
_WHOLE = compile_regex(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL)
_PARENTHESISED = compile_regex(rf"\(\s*+(?=([\"']))(?:(?:{_WHOLE.pattern})\s*+)++\)", re.DOTALL)
_ESCAPED_TWICE = compile_regex(r"\\\\\"(?<=[^\\]\\\\\")")
_TOUCHING = compile_regex(r"\"\"(?<=\w\"\")\w")  # two strings without a blank or comma between them
_DOUBLED = compile_regex(r"\"\"[^\s\"\\]++\"\"")
_PATH = compile_regex(r"[A-Za-z]:|\\\\\\\\|[\w.]+\\(?![\"n])")
"""The beginning of a Windows path, which may end with a backslash."""
_CODES = {"'": "single_quotes", "＇": "single_quotes", "`": "backtick_quotes", '"': None}


def _ignore_report(*_: object, **__: object) -> None:
    """Ignore a report. This function is used until `StringReader.report` is set."""


class StringReader:
    """Reads the strings of one input.

    `strict` means that the input is valid JSON, so each string ends at the first unescaped quote.
    """

    def __init__(self, text: str, ahead: Lookahead, *, strict: bool) -> None:
        self.text = text
        self.report: RepairReport = _ignore_report
        self.joins = True  # True when adjacent strings are joined
        self.raw = False  # True when the next string keeps its backslashes
        self.strict = strict
        self.has_templates = not strict and "`" in text
        self.ahead = ahead
        self.ends: dict[int, StringEnd] = {}  # caches the end of each string by its start

    def pass_prefix(self, position: int, place: StringPlace) -> int:
        """Return the offset after a Python string prefix such as `r`, or `position` when there is none.

        Raises UnreadableError for an f-string with braces, because the values of the braces were never sent.
        """
        match = _PREFIX.match(self.text, position)
        if match is None or self.closes_word(match.end(), place):
            return position
        if "f" in match.group().lower() and _FILLED_IN.match(self.text, match.end()):
            raise UnreadableError("expression", position)
        self.report("string_prefix", position, match.end(), found=match.group())
        self.raw = "r" in match.group().lower()
        return match.end()

    def closes_word(self, at: int, place: StringPlace) -> bool:
        """Return True when the quote at `at` closes a key or value that lacks its opening quote.

        A colon must follow a key. What follows a value must fit the end of a string. In addition, a comma
        must directly follow a value, or what follows the next quote must not fit the end of a string.
        """
        if place.role is StringRole.KEY:
            return _COLON_AFTER.match(self.text, at + 1) is not None
        if score_end(self.text, at + 1, place) is EndFit.NO:
            return False
        if self.text.startswith(",", at + 1):
            return True
        following = self.text.find(self.text[at], at + 1)
        return following < 0 or score_end(self.text, following + 1, place) is EndFit.NO

    def pass_joint(self, position: int) -> int | None:
        """Return the offset of the next string if this string is concatenated to the string before
        `position`.

        `+` or only blanks concatenate two strings. Return None for anything else.
        """
        if self.strict or self.text[position : position + 1] not in _BEFORE_JOINT:
            return None
        match = _JOINT.match(self.text, position)
        if match is None and self.joins:
            match = _SIDE_BY_SIDE.match(self.text, position)
        if match is None:
            return None
        written = match.group().strip()  # `+`, or an empty text for adjacent strings
        start = self.text.index("+", position) if written else position
        self.report("string_concatenation", start, match.end(), found=written or None)
        return match.end()

    def find_sum(self, start: int) -> list[tuple[int, int]]:
        """Return the spans of the strings that program code joins with `+`, from the first string at `start`
        on.

        Return [] unless one of the strings is a template literal.
        """
        joined = _SUM.match(self.text, start) if self.has_templates else None
        if joined is None or "`" not in joined.group():
            return []
        return [string.span() for string in _LITERALS.finditer(self.text, start, joined.end())]

    def read_sum(self, spans: list[tuple[int, int]], role: StringRole) -> str:
        self.report("string_concatenation", spans[0][1], spans[-1][0], found="+")
        return "".join(self.read_between(*span, role) for span in spans)

    def find_parenthesised(self, at: int) -> int | None:
        """Return the offset of the first string if the round brackets at `at` contain only strings.

        Return None for other brackets.
        """
        match = None if self.strict else _PARENTHESISED.match(self.text, at)
        if match is None:
            return None
        self.report("string_concatenation", at, match.end(), found="(")
        return match.start(1)

    def read_to_first_quote(self, start: int) -> tuple[str, int]:
        """Read the string at `start` up to the next unescaped quote of the same kind.

        Return the content of the string and the offset after the string.
        """
        match = _WHOLE.match(self.text, start)
        end = match.end() if match else start + 1
        return self.decode(start + 1, end - 1), end

    def read_string(self, start: int, place: StringPlace) -> tuple[str, StringEnd]:
        """Read the string whose opening quote is at `start`. Return the content and the end of the string.

        Raises UnreadableError when program code indexes or slices the string.
        """
        plain = _PLAIN.match(self.text, start)
        if plain is not None and self.is_certain(plain, place.role):
            self.raw = False
            return plain.group(1), StringEnd(plain.end(1), plain.end(1) + 1, StringClosing.QUOTE)
        if self.strict:
            try:
                text, after = scanstring(self.text, start + 1, False)
            except JSONDecodeError:  # the string is outside of the valid part of the text
                raise UnreadableError("unexpected_character", start) from None
            return text, StringEnd(after - 1, after, StringClosing.QUOTE)
        quote = self.text.find(self.text[start], start + 1, start + _LONG)
        if self.text[quote + 1 : quote + 2] == "[" and _INDEX.match(self.text, quote + 1):
            raise UnreadableError("expression", start)
        twice = self.text.startswith(self.text[start] * 2, start)
        doubled = _find_doubled_end(self.text, start) if twice else None
        if doubled is not None:
            self.report(
                _CODES[self.text[start]] or "", start, doubled + 2, found=self.text[start : start + 2]
            )
            return self.decode(start + 2, doubled), StringEnd(doubled, doubled + 2, StringClosing.QUOTE)
        quotes = self.text[start] * 3
        if twice and quotes[0] in "\"'`" and self.text.startswith(quotes, start):
            last = self.ahead.find_triple_end(quotes, start + 3)
            if last is not None and quotes[0] == "`":
                return self.read_fence(start, last, place)
            if last is not None:
                return self.read_triple(start, last)
        end = find_string_end(self.text, start + 1, self.text[start], place, self.ahead)
        self.ends[start] = end
        return self.finish_string(start, end, place.role)

    def read_between(self, start: int, after: int, role: StringRole) -> str:
        """Return the content of the string `self.text[start:after]`. The quotes may be of any kind."""
        text = self.text
        if text.startswith("**", start):
            self.report("narration_removed", start, start + 2, found="**")
            self.report("narration_removed", after - 2, after, found="**")
            return self.read_between(start + 2, after - 2, role)
        if after - start >= 6 and text.startswith('"""', start):
            return self.read_triple(start, after - 3)[0]
        if after - start >= 5 and text.startswith('""', start):
            self.report("extra_quote", start, start + 1, found='"')
            self.report("extra_quote", after - 1, after, found='"')
            return self.decode(start + 2, after - 2)
        end = StringEnd(after - 1, after, StringClosing.QUOTE)
        return self.finish_string(start, end, role)[0]

    def is_certain(self, plain: re.Match[str], role: StringRole) -> bool:
        """Return True when the string in the match `plain` certainly ends at the quote of this match.

        A colon must follow a key. A comma and the next key or item must follow a value.
        """
        if self.strict:
            return True
        sign = plain.group(2)
        if role is StringRole.KEY or sign != ",":
            return role is StringRole.KEY and sign == ":"
        following = NEXT_KEY if role is StringRole.MEMBER else _NEXT_ITEM
        return following.match(self.text, plain.end(2)) is not None

    def finish_string(self, start: int, end: StringEnd, role: StringRole) -> tuple[str, StringEnd]:
        """Decode the body of the string at `start`, and report the repairs. Return the content and `end`.

        Raises UnreadableError for a template literal, because the values for the placeholders were not sent.
        """
        if self.text[start] == "`" and "${" in self.text[start : end.body]:
            self.check_template(start, end.body)
        self.report_quotes(start, end, role)
        if self.is_doubled(start, end):
            return self.decode(start + 2, end.body - 1), end
        if (extra := end.find_doubled_quote(self.text, start + 1)) is not None:
            body_span = (start + 2, end.body) if extra == start + 1 else (start + 1, extra)
            return self.decode(*body_span), end
        body = end.body
        if end.closing is StringClosing.TEXT_END:
            body = trim_half_escape(self.text, start + 1, body)
        return self.decode(start + 1, body), end

    def check_template(self, start: int, end: int) -> None:
        """Report a template literal as ambiguous if a shell may fill in its placeholders.

        Raises UnreadableError when a program fills in the placeholders.
        """
        parts = (part for part in _FILLED_TEMPLATE.finditer(self.text, start, end) if part.group()[0] == "$")
        first = next(parts, None)
        if first is None:
            return
        if first["shell"] is None or any(part["shell"] is None for part in parts):
            raise UnreadableError("expression", start)
        self.report("ambiguous", *first.span(), hint="Or a program fills in a value.")

    def read_escaped(self, start: int) -> tuple[str, int] | None:
        """Read the string at `start` if its quotes are escaped although the string is not inside another
        string.

        Return the content and the offset after the string. Return None when there is no such string.
        """
        span = _find_escaped_span(self.text, start)
        if span is None:
            return None
        body, end, after = span
        self.report("partial_escaping_removed", start, after, found=self.text[start:body])
        return self.decode(body, end), after

    def decode(self, start: int, end: int) -> str:
        if self.strict:
            whole: str = scanstring(self.text, start, False)[0]
            return whole
        raw, self.raw = self.raw, False
        if raw and (text := self.text[start:end]).isprintable():
            return text
        body = decode_body(self.text, start, end)
        for repair in body.repairs:
            self.report(
                repair.code,
                repair.start,
                repair.end,
                found=repair.found,
                became=repair.became,
                hint=repair.hint,
            )
            if repair.code == "invalid_escape" and (sign := find_character_escape(self.text, start, end)):
                self.report("ambiguous", *sign, hint="Or this is an escape of Python or JavaScript.")
        return body.text

    def read_triple(self, start: int, end: int) -> tuple[str, StringEnd]:
        self.report("triple_quotes", start, end + 3, found=self.text[start : start + 3])
        raw, self.raw = self.raw, False
        text = self.text[start + 3 : end] if raw else decode_body(self.text, start + 3, end).text
        return text, StringEnd(end, end + 3, StringClosing.QUOTE)

    def is_doubled(self, start: int, end: StringEnd) -> bool:
        """Return True when both quotes of a string are doubled and its content is not a quoted phrase."""
        if end.inner != 2 or end.first_inner != start + 1 or end.closing is not StringClosing.QUOTE:
            return False
        return _DOUBLED.fullmatch(self.text, start, end.after) is not None

    def holds_doubtful_quotes(self, start: int, end: StringEnd) -> bool:
        """Return True when quotes in a string are escaped twice, touch each other, or are at both ends."""
        text, first = self.text, end.first_inner
        if end.inner == 2 and first == start + 1 and text[end.body - 1] == text[start]:
            return True
        if text[start] != '"':
            return False
        return any(doubt.search(text, start + 1, end.body) for doubt in (_ESCAPED_TWICE, _TOUCHING))

    def read_fence(self, start: int, end: int, place: StringPlace) -> tuple[str, StringEnd]:
        """Read the content between three back-ticks and the three back-ticks at `end`.

        The content may include another pair of triple back-ticks. A language name and the first line break
        belong to the fence.
        """
        later: int | None = end
        for _ in range(_MAX_FENCES):
            if later is None or score_end(self.text, later + 3, place) is not EndFit.NO:
                break
            later = self.ahead.find_triple_end("```", later + 3)
        end = end if later is None else later
        self.report("triple_quotes", start, end + 3, found="```")
        first = _LANGUAGE.match(self.text, start + 3, end)
        if first is not None:
            self.report("ambiguous", start + 3, first.end(), hint="Or this line is the first of the text.")
        body = first.end() if first is not None else start + 3
        return decode_body(self.text, body, end).text, StringEnd(end, end + 3, StringClosing.QUOTE)

    def report_quotes(self, start: int, end: StringEnd, role: StringRole) -> None:
        opening = self.text[start]
        code = _CODES.get(opening, "smart_quotes")
        whole = self.text[start : min(end.after, start + 200)]
        if code is not None:
            self.report(code, start, end.after, found=opening)
        if (
            end.closing is StringClosing.QUOTE
            and (last := self.text[end.body]) not in CLOSING_QUOTES[opening]
        ):
            self.report(_CODES.get(last) or "smart_quotes", end.body, end.after, found=last)
        if self.is_doubled(start, end):
            self.report("extra_quote", start, start + 1, found=opening)
            self.report("extra_quote", end.body, end.after, found=opening)
        elif (extra := end.find_doubled_quote(self.text, start + 1)) is not None:
            self.report("extra_quote", extra, extra + 1, found=self.text[extra])
        elif end.inner:
            first, after = end.first_inner, end.first_inner + 1
            hint = f"{end.inner} quotes in this string." if end.inner > 1 else None
            self.report("unescaped_inner_quote", first, after, found=self.text[first:after], hint=hint)
        if end.closing is StringClosing.ESCAPED_QUOTE:
            backslash = end.after - 2
            self.report("escaped_closing_quote", backslash, end.after, found=self.text[backslash : end.after])
            if end.body == backslash:
                self.report("ambiguous", backslash, end.after, hint="Or the backslash ends the text.")
            elif not _PATH.match(self.text, start + 1, backslash):
                self.report("ambiguous", backslash, end.after, hint="Or the backslash is one too many.")
        elif end.closing is StringClosing.NEXT_PART:
            self.report("missing_closing_quote", end.body, end.body, became=CLOSING_QUOTES[opening][0])
        elif end.closing is StringClosing.TEXT_END and role is not StringRole.KEY:
            self.report("unclosed_string", start, end.after, found=whole)
        if end.ambiguous or (end.inner and opening in "\"'" and self.holds_doubtful_quotes(start, end)):
            other = self.text[end.body : end.body + 80]
            self.report("ambiguous", end.body, end.after, hint=f"Or the text continues: {other!r}")


# --- strings without an opening quote ------------------------------------------------------------------

_ESCAPED_OPENING = compile_regex(r"\\++[\"']")
_PATTERN = compile_regex(
    r"\[(?![\s\d\[\]{}\"'“-]|(?:true|false|null|True|False|None)\b)"
    r"[^\]\n\"]{1,64}\](?=[+*?{(\\^$|.\w\[])"
)
_BRACKETED_WORD = compile_regex(r"[\[({][^\[\](){}\"'\n]{0,200}+[\])}]\s*+[^\s,;:\]})\"'`\[{]")
_DOUBLED_PAIR = compile_regex(
    r"''(?=[^'\s,:}\]])[^'\n]*+''(?=\s*+[,:}\]])|``(?=[^`\s,:}\]])[^`\n]*+``(?=\s*+[,:}\]])"
)


def is_pattern_start(text: str, position: int) -> bool:
    """Return True if the bracket at `position` begins the character class of a pattern, not an array."""
    return _PATTERN.match(text, position) is not None


def is_bracketed_word(text: str, position: int) -> bool:
    """Return True when words follow the closing partner of the bracket at `position`, as in `(x) and y`."""
    return _BRACKETED_WORD.match(text, position) is not None


def _find_doubled_end(text: str, start: int) -> int | None:
    """Return the offset of the closing pair if two apostrophes or back-ticks replace each quote of a string.

    Return None when there is no such pair.
    """
    match = _DOUBLED_PAIR.match(text, start)
    return None if match is None else match.end() - 2


def _find_escaped_span(text: str, start: int) -> tuple[int, int, int] | None:
    """Return the span of the body, and the offset after the string, if both quotes have the same escape.

    Return None when there is no such string at `start`.
    """
    opening = _ESCAPED_OPENING.match(text, start)
    if opening is None:
        return None
    end = text.find(opening.group(), opening.end())
    return None if end < 0 else (opening.end(), end, end + len(opening.group()))
