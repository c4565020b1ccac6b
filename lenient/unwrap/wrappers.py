"""Finds the start of the value in the raw arguments, and reports what surrounds the value.

Handles byte order marks, code fences, tags, narration, quotes around an object, incomplete escaping, and
Gemma's tokens for quotes. The caller reads the value itself and passes the offset where the value ends.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection
from dataclasses import dataclass
from html import unescape

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import (
    Diagnostic,
    Findings,
    Path,
    TooManyFindingsError,
    UnreadableError,
    render_path,
    shorten,
)
from lenient.regex import compile_regex
from lenient.scan.scanner import scan_value
from lenient.scan.source_text import SourceText
from lenient.scan.strings.escapes import decode_body
from lenient.scan.strings.trivia import find_escaped_blanks_end, pass_trivia
from lenient.unwrap.surrounding_text import (
    OBJECT_START,
    SOURCE_CODE,
    are_json_members,
    find_announced_members,
    find_colonless_member,
    find_member,
    find_member_after_words,
    find_object,
    holds_value,
)

_BLANK = compile_regex(r"[ \t\r\n]*+")
_ODD = compile_regex(r"(?:\x1b\[[0-9;]{0,20}m|[\s\x00-\x1f\u200b\u2060])++")
_FENCE = compile_regex(r"(?:`{3,}|~{3,})[ \t]*+(?:[A-Za-z][\w+.\-]*+)?[ \t]*+\r?\n?")
_CLOSING_FENCE = compile_regex(r"`{3,}|~{3,}")
_TAG = compile_regex(r"<\|?[A-Za-z_][\w:.\-]*+[^<>\n]{0,200}>")
FENCE_WITHIN = compile_regex(r"\{\s*+(?=`{3,}[ \t]*+(?:[A-Za-z][\w+.\-]*+)?\s*+\{)")
_COMMENT = compile_regex(r"(?:/\*(?:[^*]|\*(?!/))*+\*/|//[^\n]*+\n)\s*+")
_COMMENTS = compile_regex(rf"(?:{_COMMENT.pattern})++(?=[{{\[\"'`<｛])")
_NEXT_OBJECT = compile_regex(r"\s*+,\s*+[{｛]")
_CLOSING_TAG = compile_regex(r"</[A-Za-z_][\w:.\-]*+\s*+>|<\|[\w\-]++\|>")
_THOUGHT = compile_regex(r"<(think|thinking|thought|reasoning|scratchpad)>")
_ARRAY_START = compile_regex(r"\[\s*+(?:[\"'“{\[\]\d\-]|(?:true|false|null|True|False|None)\b)")
ESCAPED_START = compile_regex(
    r"[{\[](?:[\s,]|\\++[nrt])*+"
    r"(?:\*{0,2}\\++(?:[\"']|u002[27])|\"[\w$.\- ]{1,64}\\++\"\s*+:|[A-Za-z_][\w\-]{0,64}+\s*+:\s*+\\++\")"
)
_ENTITIES = compile_regex(r"[{\[]\s*+&(?:quot|apos|#0*3[49]|#x0*2[27]);")
"""The beginning of an object whose first quote is an XML entity."""
ESCAPED_LINES = compile_regex(r"[{\[]\s*+(?:\\++[nrt]\s*+)++\"")
_MEMBER_END = compile_regex(r"\A[^\"{\[]*+\"\s*+(?::.*)?[}\])]++\Z", re.DOTALL)
"""The end of a quoted key or value whose beginning is missing, up to the last closing bracket."""
_FIRST_KEY = compile_regex(r"\"[^\"\\\n]{1,64}\"\s*+[:=]")
_NAMED_OBJECT = compile_regex(r"\"(\w{1,64}+)\"\s*+:\s*+(?=\{)")
_ROUND_OBJECT = compile_regex(r"\(\s*+(?:\"[^\"\\\n]{1,64}\"|'[^'\\\n]{1,64}')\s*+(?::|=>)")
_QUOTES = "\"'`“"
_LAST_QUOTES = compile_regex(r"(?:\"{1,3}|'{1,3}|`)[\s);]*+\Z")
"""The last quotes of a string that contained the object, and the end of a function call around the string."""
MAX_LAYERS = 10
"""The maximum number of layers of string encoding that are removed."""


@dataclass(frozen=True, slots=True)
class ValueStart:
    """The input, the offset where the value begins, and what precedes the value.

    `blank` means that the input contains no value. `opened` means that the opening brace of the value is
    missing. `fenced`, `tagged`, `quoted` and `narrated` mean that a code fence, a tag, a quote or narration
    precedes the value.
    """

    piece: SourceText
    position: int
    blank: bool = False
    opened: bool = False
    fenced: bool = False
    tagged: bool = False
    quoted: bool = False
    narrated: bool = False


class Unwrapper:
    """Finds the start of the value in one input, and reports what surrounds the value."""

    def __init__(
        self, piece: SourceText, findings: Findings, path: Path = None, declared: Collection[str] = ()
    ) -> None:
        self.piece = piece
        self.text = piece.text
        self.findings = findings
        self.where = render_path(path)
        self.position = 0
        self.next_object = -1
        self.declared = declared
        self.joins = True  # True when members outside of the object may be read
        self.fenced = self.tagged = self.quoted = self.narrated = False

    def report(
        self, code: str, start: int, end: int, became: str | None = None, detail: str | None = None
    ) -> None:
        snippet = shorten(self.text[start : min(end, start + 200)])
        self.findings.add(
            Diagnostic(code, self.where, *self.piece.raw_span(start, end), snippet, became, detail)
        )

    def report_gap(self, code: str, start: int, end: int, **_: str | None) -> None:
        """Report a comment or control character after the value."""
        self.report(code, start, end)

    def find_start(self) -> ValueStart:
        """Return the start of the value. Raises UnreadableError when the input contains no value."""
        if self.text.count("\x00") * 4 > len(self.text) > 0 and self.text.strip("\x00"):
            raise UnreadableError("not_text", 0)  # UTF-16 or binary data was decoded as UTF-8
        while True:
            self.pass_blanks()
            if self.position >= len(self.text):
                return ValueStart(
                    self.piece, self.position, blank=True, fenced=self.fenced, tagged=self.tagged
                )
            if not (
                self.pass_byte_order_mark()
                or self.pass_fence()
                or self.pass_tag()
                or self.pass_comments()
                or self.pass_escaped_blanks()
            ):
                break
        text, at = self.text, self.position
        if ESCAPED_START.match(text, at) or self.has_escaped_lines(at):
            return self.read_escaped_value(at)
        if _ENTITIES.match(text, at):
            return self.read_entities(at)
        if text[at] == "(" and _ROUND_OBJECT.match(text, at):
            return self.finish_start(at)
        if (inner := FENCE_WITHIN.match(text, at)) is not None:
            self.report("doubled_braces", at, at + 1, "")
            self.position = inner.end()
            self.pass_fence()
            return self.finish_start(self.skip_blanks())
        if text[at] in "{｛" or _ARRAY_START.match(text, at):
            return self.finish_start(at)
        if text[at] != '"' and are_json_members(text, at, len(text), self.declared):
            return self.finish_start(at, opened=True)
        if text[at] in _QUOTES:
            return self.find_quoted_start(at)
        return self.find_after_prose(at)

    def has_escaped_lines(self, at: int) -> bool:
        """Return True when line breaks between the members or items at `at` are escaped, but quotes are not.

        One layer of escapes must then be decoded.
        """
        return ESCAPED_LINES.match(self.text, at) is not None and '\\"' not in self.text

    def finish_start(self, position: int, *, opened: bool = False) -> ValueStart:
        return ValueStart(
            self.piece, position, opened=opened, fenced=self.fenced, tagged=self.tagged, quoted=self.quoted,
            narrated=self.narrated,
        )  # fmt: skip

    def skip_blanks(self) -> int:
        """Return the position after the whitespace."""
        self.pass_blanks()
        return self.position

    def pass_blanks(self) -> None:
        """Skip whitespace. Report whitespace that JSON does not allow, unless nothing else follows."""
        match = _BLANK.match(self.text, self.position)
        self.position = match.end() if match else self.position
        odd = _ODD.match(self.text, self.position)
        if odd is None:
            return
        if odd.end() < len(self.text):
            code = "control_character_removed" if odd.group() < "\x20" else "nonstandard_blank"
            self.report(code, self.position, odd.end())
        self.position = odd.end()

    def pass_byte_order_mark(self) -> bool:
        if not self.text.startswith("\ufeff", self.position):
            return False
        self.report("byte_order_mark", self.position, self.position + 1)
        self.position += 1
        return True

    def pass_fence(self) -> bool:
        match = _FENCE.match(self.text, self.position)
        if match is None:
            return False
        self.report("code_fence_removed", match.start(), match.end())
        self.fenced = True
        self.position = match.end()
        return True

    def pass_tag(self) -> bool:
        """Skip an opening tag, or a whole block of reasoning. Return False when there is neither.

        Raises UnreadableError when a block of reasoning is not closed.
        """
        thought = _THOUGHT.match(self.text, self.position)
        if thought is not None:
            closing = self.text.find(f"</{thought.group(1)}>", thought.end())
            if closing < 0:
                raise UnreadableError("no_object_found", self.position)
            end = closing + len(thought.group(1)) + 3
            self.report("narration_removed", self.position, end)
            self.position = end
            return True
        match = _TAG.match(self.text, self.position)
        if match is None:
            return False
        self.report("tag_removed", match.start(), match.end())
        self.tagged = True
        self.position = match.end()
        return True

    def pass_comments(self) -> bool:
        """Skip comments directly before a value. Return False when there are no comments."""
        run = _COMMENTS.match(self.text, self.position)
        if run is None:
            return False
        for comment in _COMMENT.finditer(self.text, self.position, run.end()):
            self.report("comment_removed", comment.start(), comment.start() + len(comment.group().rstrip()))
        self.position = run.end()
        return True

    def pass_escaped_blanks(self) -> bool:
        """Skip escaped line breaks and tabs before a value. Return False when nothing was skipped."""
        end = find_escaped_blanks_end(self.text, self.position)
        if end == self.position:
            return False
        self.report("partial_escaping_removed", self.position, end)
        self.position = end
        return True

    def read_escaped_value(self, at: int) -> ValueStart:
        """Return the start of a value whose quotes are escaped although the value is not in a string.

        The escapes are decoded, layer by layer.
        """
        end = len(self.text.rstrip())
        if self.quoted and self.text[end - 1] in _QUOTES:
            end -= 1
        piece, inner = self.piece, self.text[at:end]
        for _ in range(MAX_LAYERS):
            body = decode_body(piece.text, at, end)
            self.findings.add(
                Diagnostic("partial_escaping_removed", self.where, *piece.raw_span(at, end), shorten(inner))
            )
            piece = SourceText(body.text, piece, at, end)
            at, end, inner = 0, len(body.text), body.text
            if not ESCAPED_START.match(inner):
                break
        return ValueStart(piece, 0, fenced=self.fenced, tagged=self.tagged, quoted=self.quoted)

    def read_entities(self, at: int) -> ValueStart:
        """Return the start of a value whose quotes are XML entities.

        All entities in the value are decoded.
        """
        self.report("xml_entities_decoded", at, len(self.text))
        piece = SourceText(unescape(self.text[at:]), self.piece, at, len(self.text))
        return ValueStart(piece, 0, fenced=self.fenced, tagged=self.tagged, quoted=self.quoted)

    def find_quoted_start(self, at: int) -> ValueStart:
        """Return the start of the value when a quote at `at` never closes properly.

        The quote may precede an object (`"{"a": 1}"`), belong to the object's first key (`"a": 1}`), or open
        a string without an end. Raises UnreadableError when no value follows.
        """
        text, opening = self.text, self.text[at]
        named = _NAMED_OBJECT.match(text, at)
        if named is not None and self.declared and named[1] not in self.declared:
            self.report("narration_removed", at, named.end())
            return self.finish_start(named.end())
        if opening == '"' and _FIRST_KEY.match(text, at):
            return self.finish_start(at, opened=True)
        blank = _BLANK.match(text, at + 1)
        inner = blank.end() if blank else at + 1
        if ESCAPED_START.match(text, inner):
            self.quoted = True
            return self.read_escaped_value(inner)
        if opening != '"' and are_json_members(
            text, inner, len(text.rstrip().rstrip(opening)), self.declared
        ):
            self.report("outer_quotes_removed", at, at + 1)
            self.quoted = True
            return self.finish_start(inner, opened=True)
        if text[inner : inner + 1] in ("{", "｛") and OBJECT_START.match(text, inner):
            self.report("outer_quotes_removed", at, at + 1)
            self.quoted = True
            return self.finish_start(inner)
        return self.finish_start(at) if opening == '"' else self.find_after_prose(at)

    def find_after_prose(self, at: int) -> ValueStart:
        """Return the start of the first object after prose. The prose is reported as narration.

        The object may lack its opening brace if the first key begins a line.
        """
        if (members := find_announced_members(self.text, at)) is not None:
            self.report("narration_removed", at, members)
            self.narrated = True
            return self.finish_start(members, opened=True)
        end, fence = find_object(self.text, at, self.declared)
        end = self.find_list_around(end)
        before = end if fence is None else fence
        self.report("narration_removed", at, before)
        self.narrated = at < before
        self.position = before
        if fence is not None and self.pass_fence():
            self.pass_blanks()
            if self.position != end:
                self.report("narration_removed", self.position, end)
        if ESCAPED_START.match(self.text, end):
            return self.read_escaped_value(end)
        return self.finish_start(end)

    def find_list_around(self, at: int) -> int:
        """Return the offset of the bracket before the object at `at`, if this bracket opens a list of
        objects.

        Return `at` for other objects.
        """
        bracket = len(self.text[:at].rstrip()) - 1
        if not self.text.startswith("[", bracket):
            return at
        try:
            end = scan_value(self.piece, at, None, Findings()).end
        except (UnreadableError, TooManyFindingsError):
            return at
        return bracket if _NEXT_OBJECT.match(self.text, end) else at

    # --- after the value -----------------------------------------------------------------------------

    def pass_rest(self, start: ValueStart, position: int) -> int:
        """Skip and report everything from `position` on, after the value.

        Stop at the next object, at a member outside of the object, or at the end of the input. Return the
        offset where reading stopped.
        """
        self.position = position
        while True:
            self.position = pass_trivia(self.text, self.position, self.report_gap)
            if self.position >= len(self.text) or OBJECT_START.match(self.text, self.position):
                return self.position
            if self.joins and (
                find_member(self.text, self.position) is not None
                or find_colonless_member(self.text, self.position) is not None
            ):
                return self.position
            if self.pass_closing(start) or self.pass_closers():
                continue
            if (
                self.joins
                and (key := find_member_after_words(self.text, self.position, self.declared)) is not None
            ):
                self.report("stray_text_dropped", self.position, key)
                self.position = key
                return key
            self.pass_trailing_text(start)

    def pass_repeated_end(self, start: ValueStart, end: int) -> int:
        """Skip and report a repetition of the object's end before `end`.

        Return the offset after the repetition, or `end` when nothing is repeated.
        """
        text = self.text
        if not 0 < len(text) - end <= end - start.position:
            return end
        rest = text[end:].strip()
        if _MEMBER_END.search(rest) is None or not text.endswith(rest, start.position + 1, end):
            return end
        at = text.index(rest, end)
        self.report("repeated_value_skipped", at, at + len(rest))
        return len(text)

    def pass_closing(self, start: ValueStart) -> bool:
        """Skip the closing half of a fence, tag or pair of quotes. Return False when there is none.

        The closing half is reported when the opening half is missing.
        """
        text, at = self.text, self.position
        if (fence := _CLOSING_FENCE.match(text, at)) is not None:
            end, code, expected = fence.end(), "code_fence_removed", start.fenced
        elif (tag := _CLOSING_TAG.match(text, at)) is not None:
            end, code, expected = tag.end(), "tag_removed", start.tagged
        elif start.quoted and text[at] in "\"'`”" and not text[at + 1 :].strip("`~ \r\n\t"):
            end, code, expected = at + 1, "outer_quotes_removed", True
        else:
            return False
        if not expected:
            self.report(code, at, end)
        self.position = end
        return True

    def pass_closers(self) -> bool:
        at = self.position
        code = {"}": "extra_closer", "]": "extra_closer", ")": "extra_closer", ",": "extra_comma"}.get(
            self.text[at]
        )
        if code is None:
            return False
        self.report(code, at, at + 1)
        self.position = at + 1
        return True

    def pass_trailing_text(self, start: ValueStart) -> None:
        """Skip everything up to the next object or code fence, and report the skipped characters as
        narration.

        Raises UnreadableError when they are source code and narration precedes the value.
        """
        at = self.position
        if self.next_object <= at:  # search only once, not again for every fence
            following = OBJECT_START.search(self.text, at + 1)
            self.next_object = following.start() if following else len(self.text)
        end = self.next_object
        fence = self.text.find("```", at + 1, end)
        end = fence if fence >= 0 else end
        if start.narrated and SOURCE_CODE.search(self.text, at, end):
            raise UnreadableError("source_code", 0)
        is_value = not _LAST_QUOTES.match(self.text, at) and holds_value(self.text, at, end, self.declared)
        code = "further_value_dropped" if is_value else "narration_removed"
        self.report(code, at, len(self.text[:end].rstrip()) if end == len(self.text) else end)
        self.position = end


def find_closing(text: str, start: ValueStart) -> int | None:
    """Return the offset of the code fence or tag that ends the input, or None when there is none.

    Only a fence or tag of the kind that precedes the value counts.
    """
    body = text.rstrip()
    if start.fenced and body.endswith("```"):
        return len(body.rstrip("`"))
    last = body.rfind("<")
    closes = start.tagged and last >= 0 and (tag := _CLOSING_TAG.match(body, last)) and tag.end() == len(body)
    return last if closes else None


# --- tokens for quotes ---------------------------------------------------------------------------------

_TOKEN = compile_regex(r"<\|[\"']\|>|<escape>")
_STRING = compile_regex(rf"\"?(?P<token>{_TOKEN.pattern})(?P<body>.*?)(?P=token)\"?", re.DOTALL)
_LOOK = 100  # in characters
_BEFORE, _AFTER = ("{", "[", "(", ",", ":", "="), ("}", "]", ")", ",", ":", "")


def read_quote_tokens(piece: SourceText, findings: Findings, path: Path) -> SourceText | None:
    """Return the input with JSON strings instead of the strings between quote tokens. Report the tokens.

    Return None when there are no quote tokens, or when a token is where no string can be.
    """
    text = piece.text
    if _TOKEN.search(text) is None:
        return None
    parts: list[str] = []
    starts, sources = array("q", [0]), array("q", [0])
    diagnostics: list[Diagnostic] = []
    length = last = 0
    for match in _STRING.finditer(text):
        start, end = match.span()
        before, after = text[last:start].rstrip()[-1:], text[end : end + _LOOK].lstrip()[:1]
        if before not in _BEFORE or after not in _AFTER or text.count('"', last, start) % 2:
            return None
        written = to_json_text(match["body"])
        parts += (text[last:start], written)
        length += start - last
        for offset, source in ((0, start), (1, match.start("body")), (len(written) - 1, match.end("body"))):
            starts.append(length + offset)
            sources.append(source)
        length, last = length + len(written), end
        starts.append(length)
        sources.append(end)
        span = piece.raw_span(start, end)
        diagnostics.append(Diagnostic("token_quotes", render_path(path), *span, found=match["token"]))
    if not diagnostics:
        return None
    findings.extend(diagnostics)
    parts.append(text[last:])
    return SourceText("".join(parts), piece, 0, len(text), runs=(starts, sources))
