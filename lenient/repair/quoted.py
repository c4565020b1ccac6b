"""A string in quotes, of whatever kind → its text and its end, with everything reported that JSON does not
allow in it.

Strings that end for sure are taken at the speed of one pattern; where that is open,
`lenient.repair.strings` decides. Knows nothing of containers.
"""

from __future__ import annotations

import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # a C function that typeshed does not list

from lenient.repair.bare import Bare, UnreadableError
from lenient.repair.bodies import decode_body, without_half_escape
from lenient.repair.ends import Closing, End
from lenient.repair.follows import NEXT_KEY, Place, Role
from lenient.repair.gaps import Report
from lenient.repair.strings import CLOSING_QUOTES, Lookahead, find_end
from lenient.repair.unopened import doubled_end, escaped_span, unopened_end

_PLAIN = re.compile(r'"([^"\\\x00-\x1f\ud800-\udfff]*+)"(?=\s*+([,:}\]]|\Z))')
_NEXT_ITEM = re.compile(r"\s*+[\"{\[]")
_PREFIX = re.compile(r"(?:[rbfuRBFU]|[rR][bBfF]|[bBfF][rR])(?=[\"'])")
_FILLED_IN = re.compile(
    r"(?:\"\"\"(?:(?!\"\"\")[^{])*+|'''(?:(?!''')[^{])*+"
    r"|\"(?!\"\")(?:[^\"\\{\n]|\\.)*+|'(?!'')(?:[^'\\{\n]|\\.)*+)\{"
)
_BEFORE_JOINT = (" ", "+", "\n", "\t", "\r")
_JOINT = re.compile(r"\s*+\+\s*+(?=[\"'])")
_SIDE_BY_SIDE = re.compile(
    r"\s++(?=(?:\"(?:[^\"\\\n]|\\.){0,2000}+\"|'(?:[^'\\\n]|\\.){0,2000}+')\s*+[,})\"'])"
)
"""Before a string that no colon follows."""
_WHOLE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'", re.DOTALL)
_PARENTHESISED = re.compile(rf"\(\s*+(?=([\"']))(?:(?:{_WHOLE.pattern})\s*+)++\)", re.DOTALL)
_CODES = {"'": "single_quotes", "＇": "single_quotes", "`": "backtick_quotes", '"': None}


def _ignore(*_: object, **__: object) -> None:
    """Takes a report when nobody listens."""


class StringReader:
    """Reads the strings of one text. `strict` = the text is valid JSON: the first quote ends a string."""

    def __init__(self, text: str, ahead: Lookahead, *, strict: bool) -> None:
        self.text = text
        self.report: Report = _ignore
        self.joins = True  # strings side by side are one
        self.raw = False  # the string that follows keeps its backslashes
        self.strict = strict
        self.ahead = ahead

    def prefix_end(self, position: int) -> int:
        """The place after a Python string prefix, or the same place.

        Raises UnreadableError for an f-string with braces: what it stands for was never sent.
        """
        match = _PREFIX.match(self.text, position)
        if match is None:
            return position
        if "f" in match.group().lower() and _FILLED_IN.match(self.text, match.end()):
            raise UnreadableError("expression", position)
        self.report("string_prefix", position, match.end(), found=match.group())
        self.raw = "r" in match.group().lower()
        return match.end()

    def joint_end(self, position: int) -> int | None:
        """The place after a `+` between two strings, or after the blanks between two side by side."""
        if self.strict or self.text[position : position + 1] not in _BEFORE_JOINT:
            return None
        match = _JOINT.match(self.text, position)
        if match is None and self.joins:
            match = _SIDE_BY_SIDE.match(self.text, position)
        if match is None:
            return None
        written = match.group().strip()  # a plus sign, or nothing
        start = self.text.index("+", position) if written else position
        self.report("string_concatenation", start, match.end(), found=written or None)
        return match.end()

    def in_parentheses(self, at: int) -> int | None:
        """The place of the first of the strings that the round brackets at `at` hold and nothing else."""
        match = None if self.strict else _PARENTHESISED.match(self.text, at)
        if match is None:
            return None
        self.report("string_concatenation", at, match.end(), found="(")
        return match.start(1)

    def first_quote(self, start: int) -> tuple[str, int]:
        """The string at `start` that the next quote of its kind ends, and the place after it."""
        match = _WHOLE.match(self.text, start)
        end = match.end() if match else start + 1
        return self.decoded(start + 1, end - 1), end

    def read(self, start: int, place: Place) -> tuple[str, End]:
        """The string whose opening quote is at `start`."""
        plain = _PLAIN.match(self.text, start)
        if plain is not None and self.is_certain(plain, place.role):
            return plain.group(1), End(plain.end(1), plain.end(1) + 1, Closing.QUOTE)
        if self.strict:
            try:
                text, after = scanstring(self.text, start + 1, False)
            except JSONDecodeError:  # read past the end of what was valid
                raise UnreadableError("unexpected_character", start) from None
            return text, End(after - 1, after, Closing.QUOTE)
        twice = self.text.startswith(self.text[start] * 2, start)
        doubled = doubled_end(self.text, start) if twice else None
        if doubled is not None:
            self.report(
                _CODES[self.text[start]] or "", start, doubled + 2, found=self.text[start : start + 2]
            )
            return self.decoded(start + 2, doubled), End(doubled, doubled + 2, Closing.QUOTE)
        quotes = self.text[start] * 3
        if quotes[0] in "\"'" and self.text.startswith(quotes, start):
            end = self.ahead.triple_end(quotes, start + 3)
            if end is not None:
                return self.triple(start, end)
        return self.found(
            start, find_end(self.text, start + 1, self.text[start], place, self.ahead), place.role
        )

    def is_certain(self, plain: re.Match[str], role: Role) -> bool:
        """A plain string that ends for sure: a key at its colon, a value whose follower cannot be text."""
        if self.strict:
            return True
        sign = plain.group(2)
        if role is Role.KEY or sign != ",":
            return role is Role.KEY and sign == ":"
        following = NEXT_KEY if role is Role.MEMBER else _NEXT_ITEM
        return following.match(self.text, plain.end(2)) is not None

    def found(self, start: int, end: End, role: Role) -> tuple[str, End]:
        """Decode the body and report what is wrong with the string."""
        self.report_quotes(start, end, role)
        if (extra := end.doubled(self.text, start + 1)) is not None:
            kept = (start + 2, end.body) if extra == start + 1 else (start + 1, extra)
            return self.decoded(*kept), end
        body = end.body
        if end.closing is Closing.TEXT_END:
            body = without_half_escape(self.text, start + 1, body)
        return self.decoded(start + 1, body), end

    def unopened(self, start: int, place: Place) -> Bare | None:
        """The string that starts here without a quote, when the next quote ends it."""
        end = unopened_end(self.text, start, place, self.ahead)
        if end is None:
            return None
        return Bare(self.decoded(start, end), end + 1, "missing_opening_quote")

    def escaped(self, start: int) -> tuple[str, int] | None:
        """The string here whose quotes are escaped although no string surrounds it, and its end."""
        span = escaped_span(self.text, start)
        if span is None:
            return None
        body, end, after = span
        self.report("partial_escaping_removed", start, after, found=self.text[start:body])
        return self.decoded(body, end), after

    def decoded(self, start: int, end: int) -> str:
        raw, self.raw = self.raw, False
        if raw and (text := self.text[start:end]).isprintable():
            return text
        body = decode_body(self.text, start, end)
        for mend in body.mends:
            times = f"{mend.times} times" if mend.times > 1 else None
            self.report(mend.code, mend.start, mend.end, found=mend.found, became=mend.became, hint=times)
        return body.text

    def triple(self, start: int, end: int) -> tuple[str, End]:
        self.report("triple_quotes", start, end + 3, found=self.text[start : start + 3])
        raw, self.raw = self.raw, False
        text = self.text[start + 3 : end] if raw else decode_body(self.text, start + 3, end).text
        return text, End(end, end + 3, Closing.QUOTE)

    def report_quotes(self, start: int, end: End, role: Role) -> None:
        opening = self.text[start]
        code = _CODES.get(opening, "smart_quotes")
        whole = self.text[start : min(end.after, start + 200)]
        if code is not None:
            self.report(code, start, end.after, found=opening)
        if opening == '"' and end.closing is Closing.QUOTE and self.text[end.body] != opening:
            self.report("smart_quotes", end.body, end.after, found=self.text[end.body])
        if (extra := end.doubled(self.text, start + 1)) is not None:
            self.report("extra_quote", extra, extra + 1, found=self.text[extra])
        elif end.inner:
            first, after = end.first_inner, end.first_inner + 1
            hint = f"{end.inner} quotes in this string." if end.inner > 1 else None
            self.report("unescaped_inner_quote", first, after, found=self.text[first:after], hint=hint)
        if end.closing is Closing.ESCAPED_QUOTE:
            found = self.text[end.body - 1 : end.after]
            self.report("escaped_closing_quote", end.body - 1, end.after, found=found)
        elif end.closing is Closing.NEXT_PART:
            self.report("missing_closing_quote", end.body, end.body, became=CLOSING_QUOTES[opening][0])
        elif end.closing is Closing.TEXT_END and role is not Role.KEY:
            self.report("unclosed_string", start, end.after, found=whole)
        if end.ambiguous:
            other = self.text[end.body : end.body + 80]
            self.report("ambiguous", end.body, end.after, hint=f"Or the text goes on: {other!r}")
