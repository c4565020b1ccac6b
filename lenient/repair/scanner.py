"""A text and the place where a value begins → the value, where each part of it stands, and every mend.

One pass with an explicit stack: no depth of nesting and no length makes it recurse or look back. The
definition's nodes help it to tell keys from text. Valid JSON passes without a mend. Knows nothing of what
surrounds the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lenient.diagnostics import (
    MAX_DEPTH,
    MAX_FOUND,
    Diagnostic,
    Findings,
    Path,
    join_path,
    render_path,
    shorten,
)
from lenient.nodes import Node
from lenient.parameters import ValueKind
from lenient.repair.bare import Bare, UnreadableError, read_bare
from lenient.repair.brackets import Verdict, is_doubled, judge, opens_object
from lenient.repair.follows import COLONS, COMMAS, QUOTED_KEY, VALUE_START, Place, Role, key_name
from lenient.repair.gaps import pass_gap
from lenient.repair.keys import (
    Misquoted,
    extra_first_quote,
    extra_last_quote,
    is_no_object,
    is_symbol,
    with_colon_inside,
    without_first_quote,
    written_colon,
)
from lenient.repair.nesting import find_strays, is_open_question
from lenient.repair.plain import PLAIN_KEY, PlainReader
from lenient.repair.quoted import StringReader
from lenient.repair.strings import CLOSING_QUOTES, Closing, End, Lookahead
from lenient.repair.unopened import HOLDS_ESCAPES, lacks_bracket, opens_pattern, unopened_end
from lenient.source import Mark, Piece

_BARE_KEY = re.compile(r"[^\s,:：=(){}\[\]\"'“”‘’`\ud800-\udfff]++(?:[ \-][\w$.]++)*+")


_OPENERS = {"{": "}", "[": "]", "(": ")", "｛": "}", "［": "]"}
_EXTRA_OPENER = "Or the first of two opening brackets is one too many."
_ASCII_QUOTES = ('"', "'")
_EARLIER = "The missing bracket may belong before an earlier member."
_ROLES = {"": Role.ROOT, "}": Role.MEMBER, "]": Role.ITEM, ")": Role.ITEM}
_WORDS = ("unquoted_string", "missing_opening_quote")
_UNREAD = ("unexpected_character", "expression")
_CLOSERS = {"}": "}", "]": "]", ")": ")", "｝": "}", "］": "]"}


@dataclass(frozen=True, slots=True)
class Scan:
    """What was read: the value, its mark, where reading stopped, and whether any number is not finite."""

    value: Any
    mark: Mark
    end: int
    non_finite: bool


class _Frame:
    """One open bracket."""

    __slots__ = (
        "also", "children", "close", "comma", "doubled", "fields", "filled", "items", "key", "marks", "node",
        "start", "where",
    )  # fmt: skip

    def __init__(self, close: str, start: int, node: Node | None) -> None:
        self.close = close
        self.start = start
        self.node = node
        self.fields = known_fields(node) if close == "}" else {}
        self.items: list[Any] = []
        self.children: dict[str, Any] = {}
        self.marks: Any = {} if close == "}" else []
        self.key: str | None = None
        self.comma = -1
        self.also = ""  # another sign that closes it, that of its own opening bracket
        self.doubled = False  # a template doubled its braces
        self.filled = False  # a value stands since the opening bracket or the last comma
        self.where: str | None = None  # its path, made when it is first asked for

    def here(self) -> str:
        """The path of the part that is being read."""
        step = self.key if self.close == "}" else len(self.items)
        return (self.where or "$") if step is None else join_path(self.where or "$", step)


def scan(
    piece: Piece,
    start: int,
    node: Node | None,
    findings: Findings,
    *,
    path: Path = None,
    ahead: Lookahead | None = None,
    opened: bool = False,
    strict: bool = False,
) -> Scan:
    """Read one value of `piece.text` from `start` on; mends go to `findings`.

    `opened` = the opening brace is missing and `start` is the first key; `strict` = the value is known to
    be valid JSON, so that each string ends at its first quote; `ahead` is shared by scans of one text.
    Raises UnreadableError and TooManyFindingsError.
    """
    strings = StringReader(piece.text, ahead or Lookahead(piece.text), strict=strict)
    return _Scanner(piece, start, node, findings, path, strings).run(opened)


def known_fields(node: Node | None) -> Mapping[str, Node]:
    """The declared fields of the objects that a node allows, those of all its branches together."""
    if node is None:
        return {}
    if node.fields or not node.branches:
        return node.fields
    return {name: inner for branch in node.branches[:64] for name, inner in branch.fields.items()}


def _wants_text(node: Node | None) -> bool:
    return node is not None and node.kind is ValueKind.STRING


class _Scanner:
    def __init__(
        self,
        piece: Piece,
        start: int,
        node: Node | None,
        findings: Findings,
        path: Path,
        strings: StringReader,
    ) -> None:
        self.piece = piece
        self.text = piece.text
        self.position = start
        self.start = start
        self.root_node = node
        self.root_path = path
        self.findings = findings
        self.stack: list[_Frame] = []
        self.done: tuple[Any, Mark] | None = None
        self.non_finite = False
        self.dropped = False
        self.colon_passed = False
        self.strings = strings
        strings.report = self.report
        self.plain = PlainReader(piece.text, self.report, strings.decoded)

    def run(self, opened: bool) -> Scan:
        if opened:
            self.report("missing_opener", self.position, self.position, became="{")
            self.stack.append(_Frame("}", self.position, self.root_node))
        else:
            self.gap()
            self.value(self.root_node)
        while self.stack:
            self.step(self.stack[-1])
        if self.done is None:
            raise UnreadableError("truncated", len(self.text))
        value, mark = self.done
        return Scan(value, mark, self.position, self.non_finite)

    # --- one step: a value, a comma or a closing bracket of the innermost container --------------------

    def step(self, frame: _Frame) -> None:
        self.gap()
        self.plain_parts(frame)
        if self.position >= len(self.text):
            self.close_all()
            return
        sign = self.text[self.position]
        if sign in _CLOSERS:
            self.closer(frame, sign)
        elif sign in COMMAS:
            self.comma(frame, sign)
        elif self.meets_object(frame):
            self.report("missing_opener", self.position, self.position, became="{")
            frame.filled = True
            self.stack.append(
                _Frame("}", self.position, frame.node.items if frame.node is not None else None)
            )
        elif self.meets_member():
            if len(frame.items) == 1 and isinstance(frame.items[0], list):
                self.report("ambiguous", frame.start, frame.start + 1, hint=_EXTRA_OPENER)
            self.report("missing_closer", self.position, self.position, became=frame.close)
            self.pop()
            self.stack[-1].filled = frame.filled
        else:
            self.part(frame)

    def plain_parts(self, frame: _Frame) -> None:
        """Pass the parts that can be read in one way only, with the gaps between them."""
        around = self.stack[-2].close if len(self.stack) > 1 else ""
        read = self.plain.members if frame.close == "}" else self.plain.items
        while not frame.filled:
            position = read(self.position, frame, around)
            if position == self.position:
                return
            self.position = position
            self.gap()

    def part(self, frame: _Frame) -> None:
        """The next member or item."""
        if frame.filled:
            self.report("missing_comma", self.position, self.position, became=",")
            frame.filled, before = False, self.position
            self.plain_parts(frame)
            if self.position != before:
                return
        frame.filled = True
        if frame.close == "}":
            self.member(frame)
        else:
            self.value(frame.node.items if frame.node is not None else None)

    def meets_member(self) -> bool:
        """Does a part of the bracket around stand here, a key in an array or an object where a key is due?"""
        outer = self.stack[-2] if len(self.stack) > 1 else None
        if self.strings.strict or outer is None or (outer.close == "}") == (self.stack[-1].close == "}"):
            return False
        if self.stack[-1].close == "}":
            return self.text[self.position] in "{｛" and bool(self.stack[-1].children)
        key = QUOTED_KEY.match(self.text, self.position)
        return key is not None and (not outer.fields or key_name(key) in outer.fields)

    def meets_object(self, frame: _Frame) -> bool:
        """Does the first item of an array start with a key of its own? Its opening brace is missing."""
        if self.strings.strict or frame.close != "]" or frame.items or frame.comma >= 0:
            return False
        key = QUOTED_KEY.match(self.text, self.position)
        outer = self.stack[-2] if len(self.stack) > 1 else None
        return key is not None and (outer is None or key_name(key) not in outer.fields)

    def comma(self, frame: _Frame, sign: str) -> None:
        if not frame.filled:
            self.report("extra_comma", self.position, self.position + 1, found=sign)
        elif sign not in ",;":
            self.report("fullwidth_punctuation", self.position, self.position + 1, found=sign, became=",")
        elif sign == ";":
            self.report("wrong_separator", self.position, self.position + 1, found=sign, became=",")
        if frame.filled:
            frame.comma = self.position
        frame.filled = False
        self.position += 1

    def member(self, frame: _Frame) -> None:
        start = self.position
        frame.key = None
        plain = PLAIN_KEY.match(self.text, start)
        if plain is not None:
            key: str | None = plain[1]
            frame.key, self.position = key, plain.end()
        else:
            key = self.key(frame)
            if key is None:
                return
            frame.key = key
            self.gap()
            if self.position >= len(self.text):
                self.drop_member(frame, start)
                return
            if not self.colon(frame, start):
                return
        self.position = pass_gap(self.text, self.position, self.report, before_value=True)
        sign = self.text[self.position : self.position + 1]
        if not sign:
            self.drop_member(frame, start)
        elif sign in ",，}]":
            self.no_value(frame, start)
        else:
            self.value(frame.fields.get(key or ""))

    def key(self, frame: _Frame) -> str | None:
        """The key that starts here; None when the text's end cut it off."""
        start, sign = self.position, self.text[self.position]
        self.position = self.strings.prefix_end(self.position)
        sign = self.text[self.position]
        if sign == ":" and is_symbol(self.text, self.position):
            self.position += 1
            start, sign = self.position, self.text[self.position]
        if sign == "\\" and (escaped := self.strings.escaped(start)) is not None:
            text, self.position = escaped
            return text
        if sign in CLOSING_QUOTES:
            return self.quoted_key(frame, start)
        match = _BARE_KEY.match(self.text, start)
        if match is None:
            raise UnreadableError("unexpected_character", start)
        if match.group().startswith(("...", "…")):
            raise UnreadableError("ellipsis", start)
        self.position = match.end()
        if self.position >= len(self.text):
            self.drop_member(frame, start)
            return None
        if without_first_quote(self.text, self.position):
            self.position += 1
            self.report("missing_opening_quote", start, self.position, found=match.group())
        else:
            self.report("unquoted_key", start, self.position, found=match.group())
        return match.group()

    def quoted_key(self, frame: _Frame, start: int) -> str | None:
        """The key in quotes that starts here."""
        at = self.position
        if self.text.startswith(self.text[at], at + 1) and extra_first_quote(self.text, at):
            self.extra_quote()
        text, end = self.string(Role.KEY)
        if self.text[self.position : self.position + 1] in _ASCII_QUOTES and extra_last_quote(
            self.text, self.position
        ):
            self.extra_quote()
        if ":" in text or "：" in text:
            mend = with_colon_inside(self.text, start, end.after, frame.fields)
            if mend is not None:
                return self.misquoted(mend)
        if end.closing is Closing.TEXT_END:
            self.drop_member(frame, start)
            return None
        return text

    def extra_quote(self) -> None:
        """Pass a quote too many."""
        self.report("extra_quote", self.position, self.position + 1, found=self.text[self.position])
        self.position += 1

    def misquoted(self, mend: Misquoted) -> str:
        """A key that took its colon in; goes on at the colon, the one drawn out of the quotes included."""
        self.report(mend.code, mend.start, mend.end, found=self.text[mend.start : mend.end] or None)
        self.position = mend.after
        self.colon_passed = mend.colon
        return mend.name

    def colon(self, frame: _Frame, start: int) -> bool:
        """Pass the colon; False when the member has no value."""
        text, at = self.text, self.position
        sign = text[at]
        if self.colon_passed:
            self.colon_passed = False
            return True
        self.strings.joins = True
        written = written_colon(text, at)
        if written is not None:
            if written in COLONS and written != ":":
                self.report("fullwidth_punctuation", at, at + 1, found=written, became=":")
            elif written != ":":
                self.report("wrong_separator", at, at + len(written), found=written, became=":")
            self.position += len(written)
            return True
        if sign in ",，}]":
            self.no_value(frame, start)
            return False
        if not VALUE_START.match(text, at) and text[start] not in CLOSING_QUOTES:
            raise UnreadableError("unexpected_character", at)  # two words are no member
        self.report("missing_colon", at, at, became=":")
        self.strings.joins = False
        return True

    def no_value(self, frame: _Frame, start: int) -> None:
        """A key without a value stands for null; a brace with lone words in it is no object at all."""
        if not frame.children and is_no_object(self.text, start, self.position):
            raise UnreadableError("no_value", start)
        self.report("missing_value", start, self.position, became="null")
        self.put(None, Mark(start, self.position))

    def drop_member(self, frame: _Frame, start: int) -> None:
        frame.key = None
        self.dropped = True
        self.report("truncated_member_dropped", start, len(self.text), found=self.text[start : start + 100])
        self.position = len(self.text)

    # --- values --------------------------------------------------------------------------------------

    def value(self, node: Node | None) -> None:
        """Read a scalar, or open a container."""
        if self.position >= len(self.text):
            raise UnreadableError("truncated", self.position)
        sign = self.text[self.position]
        if sign == "(" and (inside := self.strings.in_parentheses(self.position)) is not None:
            self.put(self.parenthesised(inside), Mark(inside, self.position))
            return
        if sign in _OPENERS and not self.is_text(node):
            self.open(sign, node)
            return
        if sign == '"' and self.starts_list(node):
            self.report("missing_opener", self.position, self.position, became="[")
            self.stack.append(_Frame("]", self.position, node))
            return
        start = self.position
        self.position = self.strings.prefix_end(self.position)
        if self.text[self.position] in CLOSING_QUOTES:
            self.put(self.quoted(), Mark(start, self.position))
            return
        bare = self.unquoted(start, node)
        self.position = bare.end
        if bare.absent:
            self.absent(start)
            return
        if bare.code is not None:
            self.non_finite |= bare.code == "non_finite_number"
            self.report_value(bare.code, start, bare.end, self.text[start : bare.end], bare.value)
        if bare.ambiguous:
            self.report("ambiguous", start, bare.end, hint="The commas may part several members.")
        self.put(bare.value, Mark(start, bare.end))

    def unquoted(self, start: int, node: Node | None) -> Bare:
        """The value that stands here without a first quote, or with an escaped one."""
        close = self.stack[-1].close if self.stack else ""
        place = Place(_ROLES[close], self.stack, self.strings.ahead.tail)
        if self.text[start] == "\\" and (escaped := self.strings.escaped(start)) is not None:
            return Bare(*escaped)
        try:
            bare = read_bare(self.text, start, wants_text=_wants_text(node), close=close)
        except UnreadableError as error:
            unopened = self.strings.unopened(start, place) if error.reason in _UNREAD else None
            if unopened is None:
                raise
            return unopened
        return (self.strings.unopened(start, place) if bare.code in _WORDS else None) or bare

    def starts_list(self, node: Node | None) -> bool:
        """Do the items of a declared list follow its key without a bracket?"""
        if node is None or node.kind is not ValueKind.JSON_ARRAY or not self.stack or self.strings.strict:
            return False
        return self.stack[-1].close == "}" and lacks_bracket(self.text, self.position)

    def is_text(self, node: Node | None) -> bool:
        """Does the bracket here belong to a string without its first quote, or to a pattern without any?"""
        if not self.stack or self.strings.strict:
            return False
        if _wants_text(node) and opens_pattern(self.text, self.position):
            return True
        if not HOLDS_ESCAPES.match(self.text, self.position):
            return False
        place = Place(_ROLES[self.stack[-1].close], self.stack, self.strings.ahead.tail)
        return unopened_end(self.text, self.position, place, self.strings.ahead) is not None

    def absent(self, start: int) -> None:
        """The text ends where a value had hardly begun."""
        if not self.stack:
            raise UnreadableError("truncated", start)
        if self.stack[-1].close == "}":
            self.drop_member(self.stack[-1], start)
        elif start < len(self.text):
            self.dropped = True
            self.report("truncated_text", start, len(self.text), found=self.text[start:])
        self.position = len(self.text)

    def open(self, sign: str, node: Node | None) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise UnreadableError("nested_too_deep", self.position)
        if self.opens_object(sign, node):
            self.report("wrong_opener", self.position, self.position + 1, found=sign, became="{")
            self.stack.append(_Frame("}", self.position, node))
            self.stack[-1].also = _OPENERS[sign]
            self.position += 1
            return
        if sign == "(":
            self.report("tuple_as_array", self.position, self.position + 1, found="(", became="[")
        elif sign not in "{[":
            self.report("fullwidth_punctuation", self.position, self.position + 1, found=sign)
        self.stack.append(_Frame(_OPENERS[sign], self.position, node))
        self.position += 1
        if sign == "{" and is_doubled(self.text, self.position - 1):
            self.report("doubled_braces", self.position - 1, self.position + 1, found="{{", became="{")
            self.stack[-1].doubled = True
            self.position += 1

    def opens_object(self, sign: str, node: Node | None) -> bool:
        """Does a square or round bracket stand for a brace, where an object is due?"""
        if sign not in "[(" or self.strings.strict:
            return False
        due = not self.stack or (node is not None and node.kind is ValueKind.JSON_OBJECT)
        return due and opens_object(self.text, self.position)

    def string(self, role: Role) -> tuple[str, End]:
        """The string whose opening quote is here."""
        place = Place(role, self.stack, self.strings.ahead.tail)
        text, end = self.strings.read(self.position, place)
        self.position = end.after
        return text, end

    def quoted(self) -> str:
        """A string value, with what is joined to it by `+`."""
        role = _ROLES[self.stack[-1].close if self.stack else ""]
        self.strings.joins &= role is Role.MEMBER
        parts = [self.string(role)[0]]
        while (joint := self.strings.joint_end(self.position)) is not None:
            self.position = joint
            parts.append(self.string(role)[0])
        return "".join(parts)

    def parenthesised(self, inside: int) -> str:
        """Strings side by side within round brackets, of which the first is at `inside`."""
        self.position = inside
        parts: list[str] = []
        while self.text[self.position] != ")":
            text, end = self.strings.first_quote(self.position)
            parts.append(text)
            self.position = pass_gap(self.text, end, self.report)
        self.position += 1
        return "".join(parts)

    def put(self, value: Any, mark: Mark) -> None:
        """Give a finished value to the container around it."""
        if not self.stack:
            self.done = (value, mark)
            return
        frame = self.stack[-1]
        if frame.close != "}":
            frame.items.append(value)
            frame.marks.append(mark)
        elif frame.key is not None:
            if frame.key in frame.children:
                known: Mark = frame.marks[frame.key]
                self.report_value("duplicate_key", known.start, known.end, frame.key, value)
            frame.children[frame.key] = value
            frame.marks[frame.key] = mark
            frame.key = None

    # --- closing brackets ----------------------------------------------------------------------------

    def closer(self, frame: _Frame, sign: str) -> None:
        close, at = _CLOSERS[sign], self.position
        if not frame.filled and frame.comma >= 0:
            self.report("trailing_comma", frame.comma, frame.comma + 1, found=self.text[frame.comma])
            frame.comma = -1
        verdict = Verdict.CLOSES if close == frame.also else judge(self.text, at, close, self.stack)
        if verdict is Verdict.MISSING:
            self.report("missing_closer", at, at, became=frame.close)
            self.pop()
            return
        if verdict is not Verdict.CLOSES:
            is_wrong = verdict is Verdict.WRONG
            code = "wrong_closer" if is_wrong else "extra_closer"
            self.report(code, at, at + 1, found=sign, became=frame.close if is_wrong else None)
        elif sign not in "}])":
            self.report("fullwidth_punctuation", at, at + 1, found=sign, became=close)
        self.position += 2 if frame.doubled and self.text.startswith("}}", at) else 1
        if verdict is not Verdict.EXTRA:
            self.pop()

    def pop(self) -> None:
        frame = self.stack.pop()
        value: Any = frame.children if frame.close == "}" else frame.items
        self.put(value, Mark(frame.start, self.position, frame.marks))

    def close_all(self) -> None:
        """The text ends with brackets open."""
        end = len(self.text)
        frame = self.stack[-1]
        if not frame.filled and not self.dropped:
            self.report("truncated_text", end, end)
        missing = "".join(frame.close for frame in reversed(self.stack))
        if frame.close != "}" or not frame.filled or not self.moved_out(frame):
            self.report("missing_closer", end, end, became=missing)
        while self.stack:
            self.pop()

    def moved_out(self, frame: _Frame) -> bool:
        """Take out of the last inner object what the definition declares for this one: the missing bracket
        belongs before it. Says so where nothing decides.
        """
        strays = find_strays(frame.children, frame.marks, frame.fields, known_fields)
        if strays is None:
            if is_open_question(frame.children, frame.fields):
                at = len(self.text)
                self.report(
                    "ambiguous", at, at, hint="The missing bracket may belong before an earlier member."
                )
            return False
        self.report("missing_closer", strays.end, strays.end, became="}")
        for name in strays.names:
            frame.children[name] = strays.inner.pop(name)
            frame.marks[name] = strays.marks.pop(name)
        return len(self.stack) == 1

    # --- gaps and reports ----------------------------------------------------------------------------

    def gap(self) -> None:
        self.position = pass_gap(self.text, self.position, self.report)

    def where(self) -> str:
        """The place that is being read, as a path."""
        if not self.stack:
            return render_path(self.root_path)
        frame = self.stack[-1]
        if frame.where is None:
            where = render_path(self.root_path)
            for outer in self.stack:
                frame, frame.where = outer, where
                where = frame.here()
            return where
        return frame.here()

    def report_value(self, code: str, start: int, end: int, found: str, value: Any) -> None:
        became = (
            None
            if isinstance(value, (dict, list))
            else repr(value)
            if isinstance(value, float)
            else _json_word(value)
        )
        self.report(
            code, start, end, found=found, became=became, detail=found if code == "duplicate_key" else None
        )

    def report(
        self,
        code: str,
        start: int,
        end: int,
        *,
        found: str | None = None,
        became: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        if self.piece.parent is not None:
            start, end = self.piece.span(start, end)
        if found is not None and len(found) > MAX_FOUND:
            found = shorten(found)
        became, detail = became and shorten(became), detail and shorten(detail)
        self.findings.add(Diagnostic(code, self.where(), start, end, found, became, detail, hint))


def _json_word(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
