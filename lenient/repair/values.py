"""The place where a value begins → a scalar read to its end, or one more open bracket.

What the definition wants there helps to tell text from brackets. Knows nothing of commas, of keys, or of how
a bracket is closed.
"""

from __future__ import annotations

from lenient.diagnostics import MAX_DEPTH
from lenient.nodes import Node
from lenient.parameters import ValueKind
from lenient.repair.bare import Bare, UnreadableError, read_bare
from lenient.repair.brackets import is_doubled, opens_object
from lenient.repair.follows import Role
from lenient.repair.frames import OPENERS, Frame, role_in
from lenient.repair.gaps import pass_gap
from lenient.repair.reading import Reading, written
from lenient.repair.strings import CLOSING_QUOTES
from lenient.repair.unopened import HOLDS_ESCAPES, lacks_bracket, opens_pattern, unopened_end
from lenient.source import Mark

_WORDS = ("unquoted_string", "missing_opening_quote")
_UNREAD = ("unexpected_character", "expression")


def _wants_text(node: Node | None) -> bool:
    return node is not None and node.kind is ValueKind.STRING


def take_value(reading: Reading, node: Node | None) -> None:
    """Read a scalar, or open a container."""
    if reading.position >= len(reading.text):
        raise UnreadableError("truncated", reading.position)
    sign = reading.text[reading.position]
    if sign == "(" and (inside := reading.strings.in_parentheses(reading.position)) is not None:
        reading.put(_parenthesised(reading, inside), Mark(inside, reading.position))
        return
    if sign in OPENERS and not _is_text(reading, node):
        _open(reading, sign, node)
        return
    if sign == '"' and _starts_list(reading, node):
        reading.report_missing("missing_opener", "[")
        reading.stack.append(Frame("]", reading.position, node))
        return
    start = reading.position
    reading.position = reading.strings.prefix_end(reading.position)
    if reading.text[reading.position] in CLOSING_QUOTES:
        reading.put(_quoted(reading), Mark(start, reading.position))
        return
    bare = _unquoted(reading, start, node)
    reading.position = bare.end
    if bare.absent:
        _absent(reading, start)
        return
    if bare.code is not None:
        found, became = reading.text[start : bare.end], written(bare.value)
        reading.report(bare.code, start, bare.end, found=found, became=became)
    if bare.ambiguous:
        reading.report("ambiguous", start, bare.end, hint="The commas may part several members.")
    reading.put(bare.value, Mark(start, bare.end))


def _open(reading: Reading, sign: str, node: Node | None) -> None:
    """Open the bracket here, whatever it is written as."""
    at = reading.position
    if len(reading.stack) >= MAX_DEPTH:
        raise UnreadableError("nested_too_deep", at)
    stands_for_brace = _opens_object(reading, sign, node)
    frame = Frame("}" if stands_for_brace else OPENERS[sign], at, node)
    if stands_for_brace:
        reading.report("wrong_opener", at, at + 1, found=sign, became="{")
        frame.also = OPENERS[sign]
    elif sign == "(":
        reading.report("tuple_as_array", at, at + 1, found="(", became="[")
    elif sign not in "{[":
        reading.report("fullwidth_punctuation", at, at + 1, found=sign)
    elif sign == "{" and is_doubled(reading.text, at):
        reading.report("doubled_braces", at, at + 2, found="{{", became="{")
        frame.doubled = True
    reading.stack.append(frame)
    reading.position = at + 1 + frame.doubled


def _is_text(reading: Reading, node: Node | None) -> bool:
    """Does the bracket here belong to a string without its first quote, or to a pattern without any?"""
    if not reading.stack or reading.strings.strict:
        return False
    if _wants_text(node) and opens_pattern(reading.text, reading.position):
        return True
    if not HOLDS_ESCAPES.match(reading.text, reading.position):
        return False
    place, ahead = reading.place_of_value(), reading.strings.ahead
    return unopened_end(reading.text, reading.position, place, ahead) is not None


def _starts_list(reading: Reading, node: Node | None) -> bool:
    """Do the items of a declared list follow its key without a bracket?"""
    if node is None or node.kind is not ValueKind.JSON_ARRAY or not reading.stack or reading.strings.strict:
        return False
    return reading.stack[-1].close == "}" and lacks_bracket(reading.text, reading.position)


def _opens_object(reading: Reading, sign: str, node: Node | None) -> bool:
    """Does a square or round bracket stand for a brace, where an object is due?"""
    if sign not in "[(" or reading.strings.strict:
        return False
    due = not reading.stack or (node is not None and node.kind is ValueKind.JSON_OBJECT)
    return due and opens_object(reading.text, reading.position)


def _quoted(reading: Reading) -> str:
    """A string value, with what is joined to it by `+`."""
    role = role_in(reading.stack)
    reading.strings.joins &= role is Role.MEMBER
    parts = [reading.string(role)[0]]
    while (joint := reading.strings.joint_end(reading.position)) is not None:
        reading.position = joint
        parts.append(reading.string(role)[0])
    return "".join(parts)


def _parenthesised(reading: Reading, inside: int) -> str:
    """Strings side by side within round brackets, of which the first is at `inside`."""
    reading.position = inside
    parts: list[str] = []
    while reading.text[reading.position] != ")":
        text, end = reading.strings.first_quote(reading.position)
        parts.append(text)
        reading.position = pass_gap(reading.text, end, reading.report)
    reading.position += 1
    return "".join(parts)


def _unquoted(reading: Reading, start: int, node: Node | None) -> Bare:
    """The value that stands here without a first quote, or with an escaped one."""
    close = reading.stack[-1].close if reading.stack else ""
    place = reading.place_of_value()
    if reading.text[start] == "\\" and (escaped := reading.strings.escaped(start)) is not None:
        return Bare(*escaped)
    try:
        bare = read_bare(reading.text, start, wants_text=_wants_text(node), close=close)
    except UnreadableError as error:
        unopened = reading.strings.unopened(start, place) if error.reason in _UNREAD else None
        if unopened is None:
            raise
        return unopened
    return (reading.strings.unopened(start, place) if bare.code in _WORDS else None) or bare


def _absent(reading: Reading, start: int) -> None:
    """The text ends where a value had hardly begun."""
    if not reading.stack:
        raise UnreadableError("truncated", start)
    if reading.stack[-1].close == "}":
        reading.drop_member(reading.stack[-1], start)
    elif start < len(reading.text):
        reading.dropped = True
        reading.report("truncated_text", start, len(reading.text), found=reading.text[start:])
    reading.position = len(reading.text)
