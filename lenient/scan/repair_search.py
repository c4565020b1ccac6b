"""Finds the interpretation of broken JSON that needs the fewest repairs.

An interpretation decides where each string ends, and which brackets, commas, colons and quotes are added,
skipped or replaced. The result must be one JSON value. The search follows all interpretations in parallel.
Interpretations with the same open brackets at the same offset are merged. Each repair has a cost. A name that
the definition declares for another object also has a cost. The number of interpretations is limited, so the
search takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any, NamedTuple

from lenient.definitions.json_schema.nodes import Node, known_fields, normalise_name
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_DEPTH
from lenient.regex import compile_regex
from lenient.scan.string_choices import (
    PLAIN_VALUE,
    StringChoice,
    begins_unopened,
    list_key_ends,
    list_value_ends,
)
from lenient.scan.strings.string_end import CLOSING_QUOTES, StringClosing, StringEnd
from lenient.scan.strings.string_end_scoring import COLONS, find_odd_comma
from lenient.scan.strings.trivia import pass_trivia

CLOSER_OF = {"{": "}", "[": "]", "(": ")"}
_MOST = 4.6  # an interpretation with a higher total cost is rejected
_SAME = 0.15  # with a smaller cost difference, two interpretations are equally good
_SAME_TEXT = 0.5  # replaces `_SAME` if a string lacks a quote or contains one
_BOUNDS = (1.35, 2.75, _MOST)  # maximum costs of the first, second and third search
_WIDTH = 16
_STEPS = 6_000  # maximum number of steps in the search
_QUOTES_A_STEP = 4  # one step takes as long as examining this many quotes
MAX_LENGTH = 60_000  # in characters

_MISSING_CLOSER, _EXTRA_CLOSER, _WRONG_CLOSER = 1.0, 1.0, 1.0
_FURTHER_CLOSER = 0.5  # cost of each further closing bracket after the end of the whole value
_BEGUN_ANEW = 0.1  # cost of each missing bracket after the first bracket, if the outermost object restarts
_CUT_OFF = 0.25  # cost of each missing bracket after the first bracket, if the text was cut off
_MISSING_OPENER, _EXTRA_OPENER, _WRONG_OPENER = 1.1, 1.1, 1.2
_MISSING_COMMA, _EXTRA_COMMA = 0.5, 0.4
_GLUED = 0.5  # extra cost if nothing separates two strings
_MISSING_COLON, _EXTRA_COLON, _MISSING_VALUE = 1.0, 0.5, 1.6
# cost of a missing quote of a value; cost of a missing first quote of a name
_MISSING_QUOTE, _HALF_QUOTED = 1.0, 0.6
_ODD_COMMA = 0.6
_COMMENT = 0.1  # cost of a comment between two members or items
_LOST = 0.25  # cost of each missing character after the first missing character at one offset
_BARE_NAME, _BARE_WORDS = 0.05, 0.3  # cost of a name without quotes; cost of such a name with blanks
_COMMA_FOR_COLON, _COLON_FOR_COMMA = 1.1, 1.5
_UNNAMED = 0.5  # cost if a string becomes a key although its name is not declared
_REPEATED_NAME, _FOREIGN_NAME, _UNKNOWN_NAME, _SIMILAR_NAME = 1.2, 1.6, 0.7, 0.2
_ABSENT_NAME, _UNLIKE_ITEM = 0.4, 0.3
_WRONG_CONTAINER, _WRONG_SCALAR, _NULL = 1.0, 0.4, 0.1
_AT_ROOT = 2  # factor for the cost if the whole value has the wrong kind
_REST_VALUE, _REST_TEXT, _REST_QUOTED, _REST_LINE = 1.5, 0.2, 3.0, 0.8
_INVENTED = 0.5  # cost if an object or array lacks both brackets

# after both repairs the result is ambiguous, because the text may instead have one superfluous list
_OPENERS_MOVED = {"missing_opener", "extra_opener"}
SIGNS = {
    "=": ":", "=>": ":", ":=": ":", "：": ":", "﹕": ":", ";": ",", "，": ",", "、": ",", "；": ",",
    "｛": "{", "｝": "}", "［": "[", "］": "]", "（": "(", "）": ")",
}  # fmt: skip
"""Maps other spellings of brackets, commas and colons to the JSON spelling."""
SIGN = compile_regex(r"=>?|:=|:(?!//)|[{}\[\](),;：﹕，、；｛｝［］（）]")
_WORD = compile_regex(r"[\w+\-.$]++(?=[\s,:}\])\[{=：，；｝］]|\Z)")
_DOUBLE, _SINGLE = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"", r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_ENDS = r"(?=[\s,:}\])\[{=：，；，｝］]|\Z)"
_WHOLE_STRING = compile_regex(
    rf"\"\"\"(?:(?!\"\"\").)*+\"\"\"{_ENDS}|\"\"(?=[^\s,:}}\])\"])(?:[^\"\\]|\\.)*+\"\"(?=\s*+[:：=])"
    rf"|\*\*(?:{_DOUBLE}|{_SINGLE})\*\*{_ENDS}",
    re.DOTALL,
)
"""A string with several quote characters at each end."""
_LONE_NAME = compile_regex(rf"([\w$][^\"'“”\n,{COLONS}=(){{}}\[\]]{{0,63}}?)\\*+[\"'](?=\s*+[{COLONS}=])")
"""A name that lacks its opening quote."""
_BARE_KEY = compile_regex(
    rf"[^\W\d][\w$.\-]*+(?=\s*+[{COLONS}](?!//))"
    rf"|[^\W\d](?:[\w$.\-/]|[ ](?=\w)|\[\w*\])*+(?=\s*+[{COLONS}](?!//)\s*+{PLAIN_VALUE})"
)
"""A name without quotes, which may contain blanks, slashes or brackets."""
_WORDS = compile_regex(r"[ /\[]")
_NO_TEXT = compile_regex(
    rf"[\s,{COLONS}{{}}\[\]()\"'“”`=;]|(?:true|false|null|True|False|None)\b|-?\d[\d.eE+\-]*+\s*+[,}}\]]"
)
"""A string without its opening quote cannot begin with these characters or words."""
_ANY_QUOTE = f"[{''.join(sorted({*''.join(CLOSING_QUOTES.values())}))}]"
_STRUCTURE = compile_regex(rf"[\"“”{{}}\[\]{COLONS}]")

_MISSING_ANY_CLOSER, _EXTRA_ANY_OPENER = 1, 2
_BITS = {"missing_closer": _MISSING_ANY_CLOSER, "extra_opener": _EXTRA_ANY_OPENER}

_NEW = tuple.__new__  # calling the named tuple takes twice as long


def _ignore_report(*_: object, **__: object) -> None:
    """Ignore a report, because the search only needs the end of a gap."""


class Phase(IntEnum):
    """The element of the JSON that must come next."""

    VALUE = 0  # a value after a colon, or the outermost value
    FIRST_KEY = 1
    KEY = 2  # a key after a comma
    COLON = 3
    AFTER = 4  # a comma or the closing bracket comes next
    FIRST_ITEM = 5
    ITEM = 6  # an item after a comma
    DONE = 7


_EMPTY = (Phase.FIRST_KEY, Phase.FIRST_ITEM)
_BETWEEN = (Phase.AFTER, Phase.KEY, Phase.ITEM)
_MAY_BREAK_OFF = (*_BETWEEN, Phase.COLON, Phase.VALUE)
_VALUE_DUE = (Phase.VALUE, Phase.FIRST_ITEM, Phase.ITEM)
_BEFORE_VALUE = (Phase.COLON, *_VALUE_DUE)


class Repair(NamedTuple):
    """A repair at the offset `at`.

    `what` is the diagnostic code. `sign` is the added character.
    """

    at: int
    what: str
    sign: str = ""


class ChosenReading(NamedTuple):
    """The best interpretation: the repairs and strings by offset, and the total cost.

    `tied` is True when another interpretation is equally good. `end` is the offset where the value ends.
    """

    repairs: dict[int, list[Repair]]
    strings: dict[int, StringChoice]
    cost: float
    tied: bool
    end: int

    def needs_only(self, code: str) -> bool:
        return all(repair.what == code for repairs in self.repairs.values() for repair in repairs)


_Shape = tuple[str, int, str]
"""The kind of an item, the field names if the item is an object, and the kind of the content if it is an
array.
"""


class _Frame:
    """An open bracket and its content so far.

    All interpretations in which this bracket is open share the frame. `names` has a bit for each field name
    of the object. `shape` describes the first item of the array. `sent` is False when the opening bracket was
    missing.
    """

    __slots__ = ("depth", "fields", "kind", "names", "node", "outer", "seen", "sent", "shape")

    def __init__(
        self,
        kind: str,
        node: Node | None,
        fields: Mapping[str, Node],
        outer: _Frame | None,
        sent: bool,
        names: int = 0,
        shape: _Shape | None = None,
    ) -> None:
        self.kind = kind
        self.node = node
        self.fields = fields
        self.outer = outer
        self.sent = sent
        self.names = names
        self.shape = shape
        self.depth: int = outer.depth + 1 if outer is not None else 1
        self.seen: int = hash((kind, id(node), names, shape, sent, outer and outer.seen))

    def with_name(self, bit: int) -> _Frame:
        return _Frame(self.kind, self.node, self.fields, self.outer, self.sent, self.names | bit)

    def with_item(self, shape: _Shape) -> tuple[_Frame, float]:
        """Return this array with one more item. Also return a cost if the item is unlike the first item."""
        if self.shape is None:
            return _Frame(self.kind, self.node, self.fields, self.outer, self.sent, 0, shape), 0.0
        (kind, names, items), (first, known_names, others) = shape, self.shape
        unlike = kind != first or names & ~known_names or (items and others and items != others)
        return self, _UNLIKE_ITEM if unlike else 0.0

    def slot(self) -> Node | None:
        """Return the definition of this array's items, or None for an object."""
        return self.node.items if self.node is not None and self.kind != "{" else None


class _State(NamedTuple):
    """One interpretation of the input up to the current offset.

    `slot` is the definition of the next value. `layout` is a hash of the values and brackets so far.
    Interpretations with the same layout give the same value. `lost` is True when characters are missing
    immediately before this offset. `kinds` has a bit for each kind of repair in `_BITS`. `steps` is a linked
    list of repairs and strings, which begins with the last step.
    """

    cost: float
    phase: Phase
    frame: _Frame | None
    slot: Node | None
    layout: int
    tied: bool = False
    lost: bool = False
    kinds: int = 0
    steps: tuple[Any, Repair | StringChoice] | None = None


def _go_on(
    state: _State,
    cost: float,
    step: Repair | StringChoice | None,
    phase: Phase,
    frame: _Frame | None,
    slot: Node | None,
    layout: int,
    lost: bool = False,
) -> _State:
    """Return the interpretation that extends `state` by at most one step."""
    kinds, steps = state[7], state[8]
    if step is not None:
        steps = (steps, step)
        if isinstance(step, Repair):
            kinds |= _BITS.get(step.what, 0)
    return _NEW(_State, (state[0] + cost, phase, frame, slot, layout, state[5], lost, kinds, steps))


def _holds_doubtful_string(state: _State) -> bool:
    link = state.steps
    while link is not None:
        link, step = link
        if isinstance(step, StringChoice) and step.cost > _SAME:
            return True
    return False


def find_reading(text: str, start: int, node: Node | None, *, opened: bool) -> ChosenReading | None:
    """Return the interpretation of the input from `start` on that needs the fewest repairs.

    Return None when every interpretation needs too many repairs, or when the input is too long. `node` is the
    definition of the value. `opened` means that the opening brace of the value is missing.
    """
    if len(text) - start > MAX_LENGTH:
        return None
    best = _Search(text, start, node).run(opened=opened)
    if best is None:
        return None
    state, end, tied = best
    repairs: dict[int, list[Repair]] = {}
    strings: dict[int, StringChoice] = {}
    link = state.steps
    while link is not None:
        link, step = link
        if isinstance(step, Repair):
            repairs.setdefault(step.at, []).insert(0, step)
        else:
            strings[step.start - 1 if step.opened else step.start] = step
    codes = {repair.what for group in repairs.values() for repair in group}
    unpaired = sum(choice.end.inner % 2 for choice in strings.values())
    tied = tied or unpaired > 1  # unpaired quotes of two strings may form a pair within one string
    tied = tied or codes >= _OPENERS_MOVED or (node is None and _close_apart(repairs))
    return ChosenReading(repairs, strings, state.cost, tied, end)


def _close_apart(repairs: Mapping[int, list[Repair]]) -> bool:
    return sum(any(repair.what == "missing_closer" for repair in group) for group in repairs.values()) > 1


_Key = tuple[Phase, int, int, bool]


class _Search:
    """The search in one input.

    `at` is the offset of the current character, and `after` is the next offset.
    """

    def __init__(self, text: str, start: int, node: Node | None) -> None:
        self.text = text
        self.start = start
        self.root = node
        self.bits: dict[str, int] = {}
        self.finished: list[tuple[_State, int]] = []
        self.limit = _MOST
        self.at = self.after = start
        self.places: dict[int, dict[_Key, _State]] = {}
        self.offsets: list[int] = []
        self.gaps: dict[int, int] = {}
        self.ends: dict[tuple[int, bool, bool, bool, frozenset[str]], list[StringChoice]] = {}
        self.name_ends: dict[str, int] = {}
        self.left = _STEPS
        self.doubled = text.startswith("{{", start)  # True if a template wrote each brace twice

    def run(self, *, opened: bool) -> tuple[_State, int, bool] | None:
        """Return the best interpretation, the end of the value, and True when another interpretation is
        equally good.
        """
        best = None
        for bound in _BOUNDS:
            self.follow_all(bound, opened=opened)
            best = self.choose()
            if best is not None and best[0].cost + _SAME <= bound:
                return best
            if self.left < 0:
                break
        return best

    def follow_all(self, bound: float, *, opened: bool) -> None:
        self.finished.clear()
        self.ends.clear()
        self.places.clear()
        self.offsets = []
        self.limit = bound
        first = _State(0.0, Phase.VALUE, None, self.root, 0)
        self.at = self.pass_gap(self.start)
        if opened:
            first = self.open(first, "{", 0.0, Repair(self.at, "missing_opener", "{"))
        self.put(first, self.at)
        while self.offsets:
            offset = heappop(self.offsets)
            states = list(self.places.pop(offset).values())
            if len(states) > 1:
                states.sort(key=_cost_of)
                del states[_WIDTH:]
            self.at = self.pass_gap(offset)
            self.left -= len(states)
            if self.text[offset : self.at].strip():
                states = [state._replace(cost=state.cost + _COMMENT) for state in states]
            if self.left < 0:
                self.finished.clear()
                return
            for state in states:
                if self.at >= len(self.text):
                    self.finish_at_end(state)
                else:
                    self.follow(state, 4, touches=offset == self.at)

    def choose(self) -> tuple[_State, int, bool] | None:
        if not self.finished:
            return None
        state, end = min(self.finished, key=lambda candidate: candidate[0].cost)
        same = _SAME_TEXT if _holds_doubtful_string(state) else _SAME
        tied = any(
            other.cost <= state.cost + same and (other.tied or other.layout != state.layout)
            for other, _ in self.finished
        )
        return state, end, tied

    def pass_gap(self, offset: int) -> int:
        at = self.gaps.get(offset)
        if at is None:
            after_colon = self.text[offset - 1 : offset] == ":"
            at = self.gaps[offset] = pass_trivia(self.text, offset, _ignore_report, before_value=after_colon)
        return at

    # --- readings of one character -------------------------------------------------------------------

    def follow(self, state: _State, inserts: int, *, touches: bool) -> None:
        """Add the interpretations that continue `state` with the character at `at`.

        At most `inserts` brackets are added before the character. `touches` means that no whitespace precedes
        the character.
        """
        sign = SIGN.match(self.text, self.at)
        kind = "" if sign is None else SIGNS.get(sign[0], self.text[self.at])
        if sign is not None:
            doubled = kind in "{}" and self.text.startswith(kind * 2, self.at) and self.doubled
            self.after = sign.end() + doubled
        self.take_sign(state, kind, touches=touches)
        if kind != ":" and inserts and state.frame is not None and self.limit - state.cost >= _MISSING_CLOSER:
            self.add_bracket(state, state.frame, kind, inserts)

    def take_sign(self, state: _State, kind: str, *, touches: bool) -> None:
        """Add the interpretations in which no bracket is missing before the current character."""
        text, at, phase = self.text, self.at, state.phase
        if kind in CLOSER_OF and phase in _BEFORE_VALUE and begins_unopened(text, at):
            self.take_value(state)
        if phase is Phase.AFTER and state.frame is not None and text[at] in ".|&":
            self.take_odd_comma(state, state.frame)
        elif not kind:
            self.take_text(state, touches=touches)
        elif kind in CLOSER_OF:
            self.take_opener(state, kind)
        elif kind == ",":
            self.take_comma(state)
        elif kind == ":":
            self.take_colon(state)
        else:
            self.take_closer(state, kind)

    def add_bracket(self, state: _State, frame: _Frame, kind: str, inserts: int) -> None:
        """Add the interpretations in which a bracket is missing before the current character."""
        phase, at = state.phase, self.at
        if kind == "{" and phase in _MAY_BREAK_OFF and self.begins_anew(at):
            broken_off = 0.0 if phase in _BETWEEN else _CUT_OFF
            self.close_all(state, _MISSING_CLOSER + broken_off, _BEGUN_ANEW)
        is_key = not kind and self.name_after(at) is not None
        if phase is Phase.AFTER or (phase in _EMPTY and (kind == "," or is_key)):
            closed = self.close(state, _MISSING_CLOSER, Repair(at, "missing_closer", CLOSER_OF[frame.kind]))
            self.go_on(closed, inserts)
        if phase not in _VALUE_DUE or kind == "," or (phase is not Phase.VALUE and kind in ("}", "]", ")")):
            return
        opener = "{" if is_key or kind == "}" else "["
        if self.limit - state.cost >= _MISSING_OPENER and (opener == "{" or phase is not Phase.FIRST_ITEM):
            inner = self.open(state, opener, _MISSING_OPENER, Repair(at, "missing_opener", opener))
            # ambiguous, because the name may be the end of a text instead
            unnamed = phase is Phase.VALUE and state.slot is None
            self.go_on(inner._replace(tied=inner.tied or unnamed), inserts)

    def go_on(self, state: _State | None, inserts: int) -> None:
        if state is not None and state.cost <= self.limit and state.phase is not Phase.DONE:
            self.follow(state, inserts - 1, touches=False)

    def name_after(self, at: int) -> str | None:
        """Return the name of the key at `at`, with or without quotes.

        Return None when there is no key with a colon at `at`.
        """
        key = _SURE_KEY.match(self.text, at)
        return None if key is None else key[key.lastindex or 0]

    def begins_anew(self, at: int) -> bool:
        """Return True when the object at `at` begins with the first name of the outermost object."""
        if at <= self.start or self.text[self.start] != "{":
            return False
        first = self.name_after(self.pass_gap(self.start + 1))
        return first is not None and first == self.name_after(self.pass_gap(at + 1))

    def take_text(self, state: _State, *, touches: bool) -> None:
        """Add the interpretations in which a key, a string or a word begins at the current offset."""
        _, phase, frame, slot, layout, _, lost, _, _ = state
        at = self.at
        if phase is Phase.AFTER and frame is not None:
            glued = touches and self.text[at - 1] in CLOSING_QUOTES and self.text[at] in CLOSING_QUOTES
            cost = (_LOST if lost else _MISSING_COMMA) + (_GLUED if glued and not lost else 0.0)
            phase, slot = (Phase.KEY if frame.kind == "{" else Phase.ITEM), frame.slot()
            repair = Repair(at, "missing_comma", ",")
            state = _go_on(state, cost, repair, phase, frame, slot, layout, lost=True)
            if glued and phase is Phase.ITEM:
                state = state._replace(tied=True)
        if state.cost > self.limit:
            return
        if frame is not None and phase in (Phase.KEY, Phase.FIRST_KEY):
            self.take_key(state, frame)
        elif frame is not None or self.text[at] in CLOSING_QUOTES:
            self.take_value(state)

    def take_key(self, state: _State, frame: _Frame) -> None:
        text, at = self.text, self.at
        if text[at] in CLOSING_QUOTES or _WHOLE_STRING.match(text, at):
            for choice in self.string_ends(state, is_key=True):
                name = text[choice.start : choice.end.body]
                self.put_key(state, frame, name, choice, choice.cost, choice.end.after)
            return
        if (alone := _LONE_NAME.match(text, at)) is not None:
            cost = _LOST if state.lost else _HALF_QUOTED
            end = StringEnd(alone.end(1), alone.end(), StringClosing.QUOTE)
            doubtful = state.tied or (state.lost and alone[1] not in frame.fields)
            choice = StringChoice(at, end, cost, opened=False)
            self.put_key(state._replace(tied=doubtful), frame, alone[1], choice, cost, alone.end())
        if (bare := _BARE_KEY.match(text, at)) is not None:
            cost = _BARE_WORDS if _WORDS.search(bare[0]) else _BARE_NAME
            self.put_key(state, frame, bare[0], Repair(at, "unquoted_key", bare[0]), cost, bare.end())

    def put_key(
        self, state: _State, frame: _Frame, name: str, step: Repair | StringChoice, cost: float, after: int
    ) -> None:
        bit = self.bits.setdefault(name, 1 << len(self.bits))
        cost += self.judge_name(name, frame) + (_REPEATED_NAME if frame.names & bit else 0.0)
        if state.cost + cost <= self.limit:
            damaged = isinstance(step, StringChoice) and (step.is_broken or not step.opened)
            if damaged and frame.fields and name not in frame.fields:
                state = state._replace(tied=True)  # ambiguous, because a part of the name may also be missing
            slot = frame.fields.get(name) or _extra_node(frame.node)
            layout = hash((state.layout, name))
            lost = isinstance(step, StringChoice) and step.is_broken
            self.put(_go_on(state, cost, step, Phase.COLON, frame.with_name(bit), slot, layout, lost), after)

    def take_value(self, state: _State) -> None:
        text, at = self.text, self.at
        if state.phase is Phase.COLON:
            cost, repair = (_LOST if state.lost else _MISSING_COLON), Repair(at, "missing_colon", ":")
            if state.slot is None and state.frame is not None and state.frame.fields:
                state = state._replace(tied=True)  # ambiguous, because a part of the name may also be missing
            state = _go_on(state, cost, repair, Phase.VALUE, state.frame, state.slot, state.layout, lost=True)
            if state.cost > self.limit:
                return
        if text[at] in CLOSING_QUOTES or _WHOLE_STRING.match(text, at):
            for choice in self.string_ends(state, is_key=False):
                cost = choice.cost + self.judge_scalar(state.slot, "s")
                self.put_scalar(state, cost, choice, choice.end.after)
            return
        word = _WORD.match(text, at)
        if word is not None:
            self.put_scalar(state, self.judge_scalar(state.slot, "w"), None, word.end())
        if not _NO_TEXT.match(text, at) or begins_unopened(text, at):
            self.take_unopened(state)

    def take_unopened(self, state: _State) -> None:
        """Add the interpretations in which the next value is a string that lacks the first quote."""
        cost = _LOST if state.lost else _MISSING_QUOTE
        if state.cost + cost <= self.limit:
            for choice in self.string_ends(state, is_key=False, opened=False):
                body = self.text[choice.start : choice.end.body]
                if body.count("[") != body.count("]") or body.count("{") != body.count("}"):
                    continue  # this is an expression, not a string
                cost_of_it = cost + choice.cost + self.judge_scalar(state.slot, "s")
                self.put_scalar(state, cost_of_it, choice, choice.end.after)

    def put_scalar(self, state: _State, cost: float, choice: StringChoice | None, after: int) -> None:
        """Add the interpretation whose next value is the string `choice`.

        Without a `choice`, the value is a word.
        """
        frame = state.frame
        if frame is not None and frame.kind != "{":
            frame, unlike = frame.with_item(("s", 0, ""))
            cost += unlike
        if state.cost + cost <= self.limit:
            phase = Phase.AFTER if frame is not None else Phase.DONE
            lost = choice is not None and choice.is_broken
            layout = hash((state.layout, self.at if choice is None else (choice.start, choice.end.body)))
            self.put(_go_on(state, cost, choice, phase, frame, None, layout, lost), after)

    def string_ends(self, state: _State, *, is_key: bool, opened: bool = True) -> list[StringChoice]:
        text, at = self.text, self.at
        if text.startswith("```", at):
            return []  # a Markdown fence is not a quote
        whole = _WHOLE_STRING.match(text, at) if opened else None
        if whole is not None:
            return [StringChoice(at + 1, StringEnd(whole.end() - 1, whole.end(), StringClosing.QUOTE), 0.0)]
        if opened and text[at] not in CLOSING_QUOTES:
            return []
        names = frozenset(self.names_due(state.frame))
        is_named = bool(names)
        if not is_key:
            names = frozenset(name for name in names if self.find_last_end(name) > at)
        key = (at, is_key, opened, is_named, names)
        ends = self.ends.get(key)
        if ends is None:
            opening, start = (text[at], at + 1) if opened else ('"', at)
            if is_key:
                ends = list_key_ends(text, start, opening, names, self.limit)
            else:
                ends, passed = list_value_ends(
                    text, start, opening, names, self.limit, opened=opened, is_named=is_named
                )
                self.left -= passed // _QUOTES_A_STEP
            self.ends[key] = ends
        return ends

    def find_last_end(self, name: str) -> int:
        """Return the last offset at which a key with this name may end, or -1 when there is none."""
        end = self.name_ends.get(name)
        if end is None:
            matches = list(re.finditer(rf"{re.escape(name)}{_ANY_QUOTE}\s*+[{COLONS}=]", self.text))
            end = self.name_ends[name] = matches[-1].end() if matches else -1
        return end

    def names_due(self, frame: _Frame | None) -> list[str]:
        """Return the field names that the surrounding objects declare and that have no value yet."""
        names: list[str] = []
        while frame is not None:
            names_read = frame.names
            names += [name for name in frame.fields if not names_read & self.bits.get(name, 0)]
            frame = frame.outer
        return names

    def take_opener(self, state: _State, kind: str) -> None:
        cost, phase, frame, slot, layout, _, lost, _, _ = state
        at, left = self.at, self.limit - cost
        if (
            (frame is not None or (kind == "[" and self.wants_object()))
            and kind != "("
            and left >= _EXTRA_OPENER
            and not state.kinds & _MISSING_ANY_CLOSER
        ):
            skipped = _go_on(state, _EXTRA_OPENER, Repair(at, "extra_opener"), phase, frame, slot, layout)
            self.put(skipped, self.after)
        if phase is Phase.AFTER and frame is not None and frame.kind != "{":
            repair, slot = Repair(at, "missing_comma", ","), frame.slot()
            cost = _LOST if lost else _MISSING_COMMA
            state = _go_on(state, cost, repair, Phase.ITEM, frame, slot, layout)
        elif phase is Phase.COLON:
            repair = Repair(at, "missing_colon", ":")
            cost = _LOST if lost else _MISSING_COLON
            state = _go_on(state, cost, repair, Phase.VALUE, frame, slot, layout)
        elif phase not in _VALUE_DUE:
            return
        if frame is not None and frame.depth >= MAX_DEPTH:
            return
        self.put(self.open(state, kind, 0.0, None), self.after)
        other = "[" if kind == "{" else "{"
        # the arguments as a whole must be an object
        if left >= _WRONG_OPENER and (frame is not None or other == "{"):
            self.put(self.open(state, other, _WRONG_OPENER, Repair(at, "wrong_opener", other)), self.after)

    def wants_object(self) -> bool:
        return self.root is not None and self.root.kind is ValueKind.JSON_OBJECT

    def take_comma(self, state: _State) -> None:
        _, phase, frame, slot, layout, *_ = state
        at = self.at
        if frame is None:
            return
        if phase is Phase.AFTER:
            phase = Phase.KEY if frame.kind == "{" else Phase.ITEM
            self.put(_go_on(state, 0.0, None, phase, frame, frame.slot(), layout), self.after)
        elif phase is Phase.VALUE or phase is Phase.COLON:
            if phase is Phase.COLON:
                cost = _COMMA_FOR_COLON + (0.0 if slot is not None else _UNNAMED)
                repair = Repair(at, "wrong_separator", ":")
                changed = _go_on(state, cost, repair, Phase.VALUE, frame, slot, layout)
                self.put(changed if slot is not None else changed._replace(tied=True), self.after)
            repair = Repair(at, "missing_value")
            without = _go_on(state, _MISSING_VALUE, repair, Phase.KEY, frame, None, layout)
            self.put(without, self.after)
        else:
            repair = Repair(at, "extra_comma")
            self.put(_go_on(state, _EXTRA_COMMA, repair, phase, frame, slot, layout), self.after)

    def take_odd_comma(self, state: _State, frame: _Frame) -> None:
        """Read a full stop, vertical bar or ampersand between two members or items as a comma."""
        after = find_odd_comma(self.text, self.at, is_member=frame.kind == "{")
        if after == self.at + 1:
            phase = Phase.KEY if frame.kind == "{" else Phase.ITEM
            repair = Repair(self.at, "wrong_separator", ",")
            changed = _go_on(state, _ODD_COMMA, repair, phase, frame, frame.slot(), state.layout)
            self.put(changed._replace(tied=True), after)

    def take_colon(self, state: _State) -> None:
        _, phase, frame, slot, layout, *_ = state
        at = self.at
        if frame is None:
            return
        if phase is Phase.COLON:
            self.put(_go_on(state, 0.0, None, Phase.VALUE, frame, slot, layout), self.after)
        elif phase is Phase.VALUE:
            repair = Repair(at, "extra_colon")
            self.put(_go_on(state, _EXTRA_COLON, repair, phase, frame, slot, layout), self.after)
        elif phase is Phase.AFTER:
            phase = Phase.KEY if frame.kind == "{" else Phase.ITEM
            repair = Repair(at, "wrong_separator", ",")
            changed = _go_on(state, _COLON_FOR_COMMA, repair, phase, frame, frame.slot(), layout)
            # A colon between two items is ambiguous, because the items may be members.
            self.put(changed if phase is Phase.KEY else changed._replace(tied=True), self.after)

    def take_closer(self, state: _State, kind: str) -> None:
        cost, phase, frame, slot, layout, *_ = state
        at = self.at
        if frame is None:
            return
        if cost + _EXTRA_CLOSER <= self.limit:
            skipped = _go_on(state, _EXTRA_CLOSER, Repair(at, "extra_closer"), phase, frame, slot, layout)
            closes = kind == CLOSER_OF[frame.kind] and frame.depth > 1
            if self.root is None and (closes or (kind == "]" and frame.kind == "{")):
                # ambiguous, because without a definition the content of the bracket is unknown
                skipped = skipped._replace(tied=True)
            self.put(skipped, self.after)
        if phase is Phase.KEY or phase is Phase.ITEM:
            state = _go_on(state, 0.0, Repair(at, "trailing_comma"), phase, frame, slot, layout)
        elif phase is Phase.VALUE or phase is Phase.COLON:
            state = _go_on(state, _MISSING_VALUE, Repair(at, "missing_value"), phase, frame, slot, layout)
        due = CLOSER_OF[frame.kind]
        repair = None if kind == due else Repair(at, "wrong_closer", due)
        closed = self.close(state, _WRONG_CLOSER if repair else 0.0, repair)
        if closed is not None:
            self.put(closed, self.after)

    # --- brackets ------------------------------------------------------------------------------------

    def open(self, state: _State, kind: str, cost: float, repair: Repair | None) -> _State:
        node = state.slot
        sent = repair is None or repair.what != "missing_opener"
        frame = _Frame(kind, node, known_fields(node) if kind == "{" else {}, state.frame, sent)
        phase = Phase.FIRST_KEY if kind == "{" else Phase.FIRST_ITEM
        cost += _judge_container(node, kind) * (1 if state.frame is not None else _AT_ROOT)
        return _go_on(state, cost, repair, phase, frame, frame.slot(), hash((state.layout, kind)))

    def close(self, state: _State, cost: float, repair: Repair | None) -> _State | None:
        """Close the innermost bracket.

        Return None when the opening and the closing bracket are missing and the definition has no such object
        or array.
        """
        frame = state.frame
        if frame is None or state.cost + cost > self.limit:
            return None
        if repair is not None and repair.what == "missing_closer" and state.kinds & _EXTRA_ANY_OPENER:
            return None  # a bracket cannot be both unclosed and superfluous
        outer, node = frame.outer, frame.node
        if not frame.sent and repair is not None and outer is not None:
            if node is None or node.kind is None or _CONTAINERS.get(node.kind) != frame.kind:
                return None
            cost += _INVENTED
        if node is not None and node.required and frame.kind == "{":
            bits = self.bits
            absent = sum(not frame.names & bits.get(name, 0) for name in node.required)
            cost += min(absent, 2) * _ABSENT_NAME
        if outer is not None and outer.kind != "{":
            outer, unlike = outer.with_item((frame.kind, frame.names, frame.shape[0] if frame.shape else ""))
            cost += unlike
        phase = Phase.AFTER if outer is not None else Phase.DONE
        return _go_on(state, cost, repair, phase, outer, None, hash((state.layout, "}")), state.lost)

    # --- the end -------------------------------------------------------------------------------------

    def put(self, state: _State, after: int) -> None:
        """Keep an interpretation up to the offset `after`.

        If another interpretation has the same open brackets at this offset, keep only the cheaper one.
        """
        if state.cost > self.limit:
            return
        if state.phase is Phase.DONE:
            self.finish_before_rest(state, after)
            return
        states = self.places.get(after)
        if states is None:
            states = self.places[after] = {}
            heappush(self.offsets, after)
        key = (state.phase, state.frame.seen if state.frame else 0, id(state.slot), state.lost)
        earlier = states.get(key)
        if earlier is None:
            states[key] = state
            return
        better, other = (earlier, state) if earlier.cost <= state.cost else (state, earlier)
        if other.cost <= better.cost + _SAME and (other.tied or other.layout != better.layout):
            better = better._replace(tied=True)
        states[key] = better

    def finish_before_rest(self, state: _State, end: int) -> None:
        """Keep an interpretation whose value ends at `end`. Anything after the value adds a cost."""
        text, rest, closers = self.text, self.pass_gap(end), 0
        while rest < len(text) and text[rest] in "}])｝］":
            closers += text[rest] != ")"  # `)` may belong to a call around the value, so it adds no cost
            rest = self.pass_gap(rest + 1)
        cost = (_EXTRA_CLOSER + (closers - 1) * _FURTHER_CLOSER) if closers else 0.0
        if rest < len(text):
            sign = text[rest]
            if sign in CLOSING_QUOTES and not text[rest + 1 :].strip():
                cost += _REST_TEXT
            elif sign in CLOSER_OF:
                cost += _REST_VALUE
            elif (word := _WORD.match(text, rest)) is not None:
                is_prose = "\n" in text[end:rest] or not _STRUCTURE.search(text, rest)
                if not is_prose or word[0] in known_fields(self.root):
                    return  # rejected, because members after the value would be lost
                cost += _REST_LINE
            elif sign in CLOSING_QUOTES or (SIGN.match(text, rest) and text[rest:].strip(";, \t\r\n")):
                return  # rejected, because members after the value would be lost
            else:
                cost += _REST_QUOTED if '"' in text[rest:] else _REST_TEXT
        if state.cost + cost <= self.limit:
            self.finished.append((state._replace(cost=state.cost + cost), end))

    def finish_at_end(self, state: _State) -> None:
        cost = _MISSING_CLOSER
        if state.phase is not Phase.AFTER:
            cost += _CUT_OFF
        if state.lost:
            cost = _LOST
        before = self.text.rstrip()[-1:]
        self.close_all(state, cost, _MISSING_CLOSER if before in ("}", "]", ")") else _CUT_OFF)

    def close_all(self, state: _State, cost: float, further: float) -> None:
        """Close all brackets before the current offset.

        The innermost bracket costs `cost`, and every other bracket costs `further`.
        """
        current: _State | None = state
        while current is not None and current.phase is not Phase.DONE:
            if current.frame is None:
                return
            repair = Repair(self.at, "missing_closer", CLOSER_OF[current.frame.kind])
            current, cost = self.close(current, cost, repair), further
        if current is not None and current.cost <= self.limit:
            self.finished.append((current, self.at))

    # --- costs by the definition ---------------------------------------------------------------------

    def judge_name(self, name: str, frame: _Frame) -> float:
        fields, node = frame.fields, frame.node
        if name in fields:
            return 0.0
        outer = frame.outer
        while outer is not None:
            if name in outer.fields:
                return _FOREIGN_NAME
            outer = outer.outer
        if not fields:
            return 0.0
        if node is not None and normalise_name(name) in node.spellings:
            return _SIMILAR_NAME
        return _SIMILAR_NAME if node is not None and node.extra else _UNKNOWN_NAME

    def judge_scalar(self, node: Node | None, kind: str) -> float:
        """Return the cost of a string ("s") or a word ("w") as a value of the definition `node`."""
        if node is None or node.kind is None:
            return 0.0
        if kind == "w" and self.text[self.at] in "nN":
            return 0.0 if node.nullable else _NULL
        if node.kind in _CONTAINERS:
            return _WRONG_CONTAINER
        return _WRONG_SCALAR if (kind == "w") == (node.kind in _TEXTS) else 0.0


_SURE_KEY = compile_regex(
    rf"\"([^\"\\\n]{{1,64}}+)\"\s*+[{COLONS}=]|'([^'\\\n]{{1,64}}+)'\s*+[{COLONS}=]|([\w$][\w$.\-]{{0,63}}+)\s*+[{COLONS}](?!//)"
)
_CONTAINERS = {ValueKind.JSON_OBJECT: "{", ValueKind.JSON_ARRAY: "["}
_TEXTS = frozenset(ValueKind) - {ValueKind.INTEGER, ValueKind.NUMBER, ValueKind.BOOLEAN, *_CONTAINERS}


def _cost_of(state: _State) -> float:
    return state.cost


def _extra_node(node: Node | None) -> Node | None:
    return node.extra if node is not None and isinstance(node.extra, Node) else None


def _judge_container(node: Node | None, kind: str) -> float:
    """Return the cost of an object or array as a value of the definition `node`."""
    if node is None or node.kind is None:
        return 0.0
    return 0.0 if _CONTAINERS.get(node.kind) == ("{" if kind == "{" else "[") else _WRONG_CONTAINER
