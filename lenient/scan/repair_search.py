"""Searches the reading of a text's tokens that needs the fewest repairs.

Each reading is a way to close, open, skip and replace brackets, commas and colons, so that the tokens make
one JSON value. All readings are followed side by side, token by token; those that have the same brackets open
continue as one. Each repair costs something, and so does a name that the definition declares elsewhere. The
number of readings that are followed is bounded, so that the search takes linear time.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from lenient.definitions.json_schema.nodes import Node, known_fields, normalise_name
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.scan.tokens import STRING, WORD, TextTokens, name_of_key

CLOSER_OF = {"{": "}", "[": "]", "(": ")"}
_MOST = 4.0  # costs beyond which no reading is taken, and for each token
_MOST_EACH = 0.1
_MARGIN = 2.2  # readings that cost so much more than the best are given up
_SAME = 0.15  # readings whose costs differ by no more are equally good
_ANY = 1e9
_BOUNDS = (1.35, 2.75, _ANY)  # of costs
_WIDTH = 32
_FEWEST = 8
_STEPS = 40_000  # tokens times readings

_MISSING_CLOSER, _EXTRA_CLOSER, _WRONG_CLOSER = 1.0, 1.0, 1.0
_BEGUN_ANEW = 0.1  # each further bracket that is missing where the outermost object begins anew
_CUT_OFF = 0.25  # each further bracket that is missing where the text was cut off
_MISSING_OPENER, _EXTRA_OPENER, _WRONG_OPENER = 1.1, 1.1, 1.2
_MISSING_COMMA, _EXTRA_COMMA = 0.5, 0.4
_GLUED = 0.5  # nothing at all stands between two strings
_MISSING_COLON, _EXTRA_COLON, _MISSING_VALUE = 1.0, 0.5, 2.0
_COMMA_FOR_COLON, _COLON_FOR_COMMA = 1.1, 1.5
_UNNAMED = 0.5  # a string becomes a key although no such name is declared
_REPEATED_NAME, _FOREIGN_NAME, _UNKNOWN_NAME, _SIMILAR_NAME = 1.5, 1.6, 0.7, 0.2
_ABSENT_NAME, _UNLIKE_ITEM = 0.4, 0.3
_WRONG_CONTAINER, _WRONG_SCALAR, _NULL = 1.0, 0.4, 0.1
_AT_ROOT = 2  # times as much costs the wrong kind of the whole value
_REST_VALUE, _REST_TEXT, _REST_LINE = 1.5, 0.2, 1.7
_INVENTED = 1.0  # neither bracket of an object or array was sent


_OPENERS_MOVED = {"missing_opener", "extra_opener"}

_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


class Phase(IntEnum):
    """What is due next."""

    VALUE = 0  # after a colon, or at the root
    FIRST_KEY = 1
    KEY = 2  # after a comma
    COLON = 3
    AFTER = 4  # a comma or the closing bracket
    FIRST_ITEM = 5
    ITEM = 6  # after a comma
    DONE = 7


_EMPTY = (Phase.FIRST_KEY, Phase.FIRST_ITEM)
_BETWEEN = (Phase.AFTER, Phase.KEY, Phase.ITEM)
_MAY_BREAK_OFF = (*_BETWEEN, Phase.COLON, Phase.VALUE)
_VALUE_DUE = (Phase.VALUE, Phase.FIRST_ITEM, Phase.ITEM)


class Repair(NamedTuple):
    """A repair before or of the token `at`: `what` is the code of its diagnostic, `sign` the added sign."""

    at: int
    what: str
    sign: str = ""


class ChosenReading(NamedTuple):
    """The repairs of the best reading, by token, and its cost.

    `tied` is True when another reading is as good. `end` is the number of tokens that the value takes.
    """

    repairs: dict[int, list[Repair]]
    cost: float
    tied: bool
    end: int

    def needs_only(self, code: str) -> bool:
        return all(repair.what == code for repairs in self.repairs.values() for repair in repairs)


_Shape = tuple[str, int, str]
"""The kind of an item, the names in an item that is an object, the kind of what is in an array."""


class _Frame:
    """An open bracket with what was read in it so far; shared by all readings in which it is open.

    `names` has a bit for each name of the object, `shape` stands for the first item of the array. `sent` is
    False when the opening bracket was missing.
    """

    __slots__ = ("fields", "kind", "names", "node", "outer", "seen", "sent", "shape")

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
        self.seen: int = hash((kind, id(node), names, shape, sent, outer and outer.seen))

    def with_name(self, bit: int) -> _Frame:
        return _Frame(self.kind, self.node, self.fields, self.outer, self.sent, self.names | bit)

    def with_item(self, shape: _Shape) -> tuple[_Frame, float]:
        """Return this array with one item more, and what it costs when the item is unlike the first."""
        if self.shape is None:
            return _Frame(self.kind, self.node, self.fields, self.outer, self.sent, 0, shape), 0.0
        (kind, names, items), (first, known, others) = shape, self.shape
        unlike = kind != first or names & ~known or (items and others and items != others)
        return self, _UNLIKE_ITEM if unlike else 0.0

    def slot(self) -> Node | None:
        """Return the definition of an item of this array, None for an object."""
        return self.node.items if self.node is not None and self.kind != "{" else None


class _State(NamedTuple):
    """One reading of the tokens so far.

    `slot` is the definition of the value that is due. `layout` stands for the values and brackets so far:
    readings with the same layout give the same value. `repairs` is a linked list, the last repair first.
    """

    cost: float
    phase: Phase
    frame: _Frame | None
    slot: Node | None
    layout: int
    tied: bool = False
    repairs: tuple[Any, Repair] | None = None


def _go_on(
    state: _State,
    cost: float,
    repair: Repair | None,
    phase: Phase,
    frame: _Frame | None,
    slot: Node | None,
    layout: int,
) -> _State:
    """Return the reading that follows `state` with one repair more, or none."""
    repairs = state[6] if repair is None else (state[6], repair)
    return _NEW(_State, (state[0] + cost, phase, frame, slot, layout, state[5], repairs))


def _holds(state: _State, code: str) -> bool:
    """Return True when one of the repairs of a reading has this code."""
    link = state.repairs
    while link is not None:
        link, repair = link
        if repair.what == code:
            return True
    return False


def find_reading(text: str, tokens: TextTokens, node: Node | None, *, opened: bool) -> ChosenReading | None:
    """Return the reading of the tokens that needs the fewest repairs, None when each needs too many.

    `node` is the definition of the value. `opened` means that the opening brace of the value is missing.
    """
    if ":" not in tokens.kinds:
        return None  # a list, a set or a sentence
    search = _Search(text, tokens, node)
    best = search.run(opened=opened)
    if best is None or best[0].cost > _MOST + _MOST_EACH * len(tokens.kinds):
        return None
    state, end, tied = best
    repairs: dict[int, list[Repair]] = {}
    link = state.repairs
    while link is not None:
        link, repair = link
        repairs.setdefault(repair.at, []).insert(0, repair)
    codes = {repair.what for group in repairs.values() for repair in group}
    tied = tied or codes >= _OPENERS_MOVED  # a list may be one too many instead
    return ChosenReading(repairs, state.cost, tied, end)


class _Search:
    """The search over one list of tokens."""

    def __init__(self, text: str, tokens: TextTokens, node: Node | None) -> None:
        self.text = text
        self.tokens = tokens
        self.kinds = tokens.kinds + "\0\0"
        self.root = node
        self.bits: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.finished: list[tuple[_State, int]] = []
        self.limit = _MARGIN
        self.at = 0
        self.states: dict[tuple[Phase, int, int], _State] = {}

    def run(self, *, opened: bool) -> tuple[_State, int, bool] | None:
        """Return the best reading, the number of tokens it takes, and whether another one is as good.

        Readings that cost little are looked for first, because there are few of them.
        """
        for bound in _BOUNDS:
            self.follow_all(bound, opened=opened)
            best = self.choose()
            if best is not None and best[0].cost + _SAME <= bound:
                return best
        return best

    def follow_all(self, bound: float, *, opened: bool) -> None:
        """Follow all readings that cost at most `bound` through all tokens."""
        self.finished.clear()
        self.limit = bound
        first = _State(0.0, Phase.VALUE, None, self.root, 0)
        if opened:
            first = self.open(first, "{", 0.0, Repair(0, "missing_opener", "{"))
        states = [first]
        count = len(self.tokens.kinds)
        width = max(_FEWEST, min(_WIDTH, _STEPS // (count + 1)))
        for at in range(count):
            self.at, self.states = at, {}
            if bound == _ANY:
                self.limit = states[0].cost + _MARGIN
            for state in states:
                self.follow(state, 4)
            states = list(self.states.values())
            if not states:
                break
            if len(states) > 1:
                states.sort(key=_cost_of)
                del states[width:]
        self.at = count
        for state in states:
            self.finish_at_end(state)

    def choose(self) -> tuple[_State, int, bool] | None:
        if not self.finished:
            return None
        state, end = min(self.finished, key=lambda found: found[0].cost)
        tied = any(
            other.cost <= state.cost + _SAME and (other.tied or other.layout != state.layout)
            for other, _ in self.finished
        )
        return state, end, tied

    # --- readings of one token -----------------------------------------------------------------------

    def follow(self, state: _State, inserts: int) -> None:
        """Add the readings that go on from `state` with the current token.

        At most `inserts` brackets are added before it.
        """
        phase, frame, at = state.phase, state.frame, self.at
        if phase is Phase.DONE:
            self.finish_before_rest(state, at)
            return
        kind, left = self.kinds[at], self.limit - state.cost
        if kind in (STRING, WORD):
            self.take_scalar(state, kind)
        elif kind in CLOSER_OF:
            self.take_opener(state, kind)
        elif kind == ",":
            self.take_comma(state)
        elif kind == ":":
            self.take_colon(state)
            return
        else:
            self.take_closer(state, kind)
        if not inserts or frame is None or left < _MISSING_CLOSER:
            return
        if kind == "{" and phase in _MAY_BREAK_OFF and self.begins_anew(at):
            broken_off = 0.0 if phase in _BETWEEN else _CUT_OFF
            self.close_all(state, _MISSING_CLOSER + broken_off, _BEGUN_ANEW)
        is_key = kind in (STRING, WORD) and self.kinds[at + 1] == ":"
        if phase is Phase.AFTER or (phase in _EMPTY and (kind == "," or is_key)):
            self.go_on(
                self.close(state, _MISSING_CLOSER, Repair(at, "missing_closer", CLOSER_OF[frame.kind])),
                inserts,
            )
        if phase not in _VALUE_DUE or kind == "," or (phase is not Phase.VALUE and kind in "}])"):
            return
        sign = "{" if is_key or kind == "}" else "["
        if left >= _MISSING_OPENER and (sign == "{" or phase is not Phase.FIRST_ITEM):
            self.go_on(self.open(state, sign, _MISSING_OPENER, Repair(at, "missing_opener", sign)), inserts)

    def go_on(self, state: _State | None, inserts: int) -> None:
        if state is not None and state.cost <= self.limit:
            self.follow(state, inserts - 1)

    def begins_anew(self, at: int) -> bool:
        """Return True when the object at `at` begins with the first name of the outermost object."""
        if at < 2 or self.kinds[:2] != "{s" or self.kinds[at + 1] != STRING:
            return False
        return self.name_at(at + 1) == self.name_at(1)

    def take_scalar(self, state: _State, kind: str) -> None:
        _, phase, frame, slot, layout, _, _ = state
        at = self.at
        if phase is Phase.AFTER and frame is not None:
            glued = (
                kind == STRING == self.kinds[at - 1] and self.tokens.ends[at - 1] == self.tokens.starts[at]
            )
            cost = _MISSING_COMMA + (_GLUED if glued else 0.0)
            phase, slot = (Phase.KEY if frame.kind == "{" else Phase.ITEM), frame.slot()
            state = _go_on(state, cost, Repair(at, "missing_comma", ","), phase, frame, slot, layout)
            if glued and phase is Phase.ITEM:
                state = state._replace(tied=True)
        if phase is Phase.KEY or phase is Phase.FIRST_KEY:
            self.take_key(state, kind)
            return
        cost, repair = self.judge_scalar(slot, kind), None
        if phase is Phase.COLON:
            cost, repair = cost + _MISSING_COLON, Repair(at, "missing_colon", ":")
        if frame is not None and frame.kind != "{":
            frame, unlike = frame.with_item((STRING, 0, ""))
            cost += unlike
        if state.cost + cost <= self.limit:
            phase = Phase.AFTER if frame is not None else Phase.DONE
            self.put(_go_on(state, cost, repair, phase, frame, None, hash((layout, at))))

    def take_key(self, state: _State, kind: str) -> None:
        at, frame = self.at, state.frame
        if frame is None or (kind == WORD and self.kinds[at + 1] != ":"):
            return
        name = self.names.get(at)
        if name is None:
            name = self.names[at] = self.name_at(at)
            self.bits.setdefault(name, 1 << len(self.bits))
        bit = self.bits[name]
        cost = self.judge_name(name, frame) + (_REPEATED_NAME if frame.names & bit else 0.0)
        if state.cost + cost <= self.limit:
            slot = frame.fields.get(name) or _extra_node(frame.node)
            layout = hash((state.layout, at))
            self.put(_go_on(state, cost, None, Phase.COLON, frame.with_name(bit), slot, layout))

    def take_opener(self, state: _State, kind: str) -> None:
        cost, phase, frame, slot, layout, _, _ = state
        at, left = self.at, self.limit - cost
        if (
            (frame is not None or (kind == "[" and self.wants_object()))
            and kind != "("
            and left >= _EXTRA_OPENER
            and not _holds(state, "missing_closer")
        ):
            self.put(_go_on(state, _EXTRA_OPENER, Repair(at, "extra_opener"), phase, frame, slot, layout))
        if phase is Phase.AFTER and frame is not None and frame.kind != "{":
            repair, slot = Repair(at, "missing_comma", ","), frame.slot()
            state = _go_on(state, _MISSING_COMMA, repair, Phase.ITEM, frame, slot, layout)
        elif phase is Phase.COLON:
            repair = Repair(at, "missing_colon", ":")
            state = _go_on(state, _MISSING_COLON, repair, Phase.VALUE, frame, slot, layout)
        elif phase not in _VALUE_DUE:
            return
        self.put(self.open(state, kind, 0.0, None))
        other = "[" if kind == "{" else "{"
        if left >= _WRONG_OPENER and (frame is not None or other == "{"):  # arguments are an object
            self.put(self.open(state, other, _WRONG_OPENER, Repair(at, "wrong_opener", other)))

    def wants_object(self) -> bool:
        return self.root is not None and self.root.kind is ValueKind.JSON_OBJECT

    def take_comma(self, state: _State) -> None:
        _, phase, frame, slot, layout, _, _ = state
        at = self.at
        if frame is None:
            return
        if phase is Phase.AFTER:
            phase = Phase.KEY if frame.kind == "{" else Phase.ITEM
            self.put(_go_on(state, 0.0, None, phase, frame, frame.slot(), layout))
        elif phase is Phase.VALUE or phase is Phase.COLON:
            if phase is Phase.COLON:
                cost = _COMMA_FOR_COLON + (0.0 if slot is not None else _UNNAMED)
                repair = Repair(at, "wrong_separator", ":")
                changed = _go_on(state, cost, repair, Phase.VALUE, frame, slot, layout)
                self.put(changed if slot is not None else changed._replace(tied=True))
            self.put(
                _go_on(state, _MISSING_VALUE, Repair(at, "missing_value"), Phase.KEY, frame, None, layout)
            )
        else:
            self.put(_go_on(state, _EXTRA_COMMA, Repair(at, "extra_comma"), phase, frame, slot, layout))

    def take_colon(self, state: _State) -> None:
        _, phase, frame, slot, layout, _, _ = state
        at = self.at
        if frame is None:
            return
        if phase is Phase.COLON:
            self.put(_go_on(state, 0.0, None, Phase.VALUE, frame, slot, layout))
        elif phase is Phase.VALUE:
            self.put(_go_on(state, _EXTRA_COLON, Repair(at, "extra_colon"), phase, frame, slot, layout))
        elif phase is Phase.AFTER:
            phase, repair = (
                (Phase.KEY if frame.kind == "{" else Phase.ITEM),
                Repair(at, "wrong_separator", ","),
            )
            self.put(_go_on(state, _COLON_FOR_COMMA, repair, phase, frame, frame.slot(), layout))

    def take_closer(self, state: _State, kind: str) -> None:
        cost, phase, frame, slot, layout, _, _ = state
        at = self.at
        if frame is None:
            return
        if cost + _EXTRA_CLOSER <= self.limit:
            self.put(_go_on(state, _EXTRA_CLOSER, Repair(at, "extra_closer"), phase, frame, slot, layout))
        if phase is Phase.KEY or phase is Phase.ITEM:
            state = _go_on(state, 0.0, Repair(at, "trailing_comma"), phase, frame, slot, layout)
        elif phase is Phase.VALUE or phase is Phase.COLON:
            state = _go_on(state, _MISSING_VALUE, Repair(at, "missing_value"), phase, frame, slot, layout)
        due = CLOSER_OF[frame.kind]
        repair = None if kind == due else Repair(at, "wrong_closer", due)
        closed = self.close(state, _WRONG_CLOSER if repair else 0.0, repair)
        if closed is not None:
            self.put(closed)

    # --- brackets ------------------------------------------------------------------------------------

    def open(self, state: _State, kind: str, cost: float, repair: Repair | None) -> _State:
        node = state.slot
        sent = repair is None or repair.what != "missing_opener"
        frame = _Frame(kind, node, known_fields(node) if kind == "{" else {}, state.frame, sent)
        phase = Phase.FIRST_KEY if kind == "{" else Phase.FIRST_ITEM
        cost += _judge_container(node, kind) * (1 if state.frame is not None else _AT_ROOT)
        return _go_on(state, cost, repair, phase, frame, frame.slot(), hash((state.layout, kind)))

    def close(self, state: _State, cost: float, repair: Repair | None) -> _State | None:
        """Close the innermost bracket. Return None where no bracket of it was sent, and none is declared."""
        frame = state.frame
        if frame is None or state.cost + cost > self.limit:
            return None
        if repair is not None and repair.what == "missing_closer" and _holds(state, "extra_opener"):
            return None  # a bracket that is never closed is none too many
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
        return _go_on(state, cost, repair, phase, outer, None, hash((state.layout, "}")))

    # --- the end -------------------------------------------------------------------------------------

    def put(self, state: _State) -> None:
        """Keep a reading of the current token, or the better one of two with the same brackets open."""
        if state.cost > self.limit:
            return
        if state.phase is Phase.DONE:
            self.finish_before_rest(state, self.at + 1)
            return
        key = (state.phase, state.frame.seen if state.frame else 0, id(state.slot))
        known = self.states.get(key)
        if known is None:
            self.states[key] = state
            return
        better, other = (known, state) if known.cost <= state.cost else (state, known)
        if other.cost <= better.cost + _SAME and (other.tied or other.layout != better.layout):
            better = better._replace(tied=True)
        self.states[key] = better

    def finish_before_rest(self, state: _State, end: int) -> None:
        """Keep a reading in which the value ends before the token `end`; what follows costs."""
        kinds, rest = self.tokens.kinds, end
        while rest < len(kinds) and kinds[rest] in "}])":
            rest += 1
        cost = (rest - end) * _EXTRA_CLOSER
        if rest < len(kinds):
            if kinds[rest] in CLOSER_OF:
                cost += _REST_VALUE
            elif kinds[rest] == WORD and self.begins_line(rest):
                cost += _REST_LINE
            else:
                return  # members would be lost
        elif self.tokens.end < len(self.text):
            cost += _REST_TEXT
        self.finished.append((state._replace(cost=state.cost + cost), end))

    def begins_line(self, at: int) -> bool:
        """Return True when the word at `at` begins a line and is no name that is declared."""
        gap = self.text[self.tokens.ends[at - 1] : self.tokens.starts[at]]
        return "\n" in gap and self.name_at(at) not in known_fields(self.root)

    def finish_at_end(self, state: _State) -> None:
        """Close all brackets that are open at the end of the text."""
        cost = _MISSING_CLOSER
        if self.tokens.end < len(self.text):
            cost += _REST_TEXT
        if state.phase is not Phase.AFTER:
            cost += _CUT_OFF
        self.close_all(state, cost, _MISSING_CLOSER if self.kinds[self.at - 1] in "}])" else _CUT_OFF)

    def close_all(self, state: _State, cost: float, further: float) -> None:
        """Close all brackets before the current token; the first costs `cost`, each other one `further`."""
        current: _State | None = state
        while current is not None and current.phase is not Phase.DONE:
            if current.frame is None:
                return
            repair = Repair(self.at, "missing_closer", CLOSER_OF[current.frame.kind])
            current, cost = self.close(current, cost, repair), further
        if current is not None:
            self.finished.append((current, self.at))

    # --- what the definition says --------------------------------------------------------------------

    def name_at(self, at: int) -> str:
        return name_of_key(self.text, self.tokens.starts[at], self.tokens.ends[at])

    def judge_name(self, name: str, frame: _Frame) -> float:
        """Return what it costs that `name` stands in `frame`."""
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
        """Return what it costs that a string or word stands where `node` is declared."""
        if node is None or node.kind is None:
            return 0.0
        if kind == WORD and self.text[self.tokens.starts[self.at]] in "nN":
            return 0.0 if node.nullable else _NULL
        if node.kind in _CONTAINERS:
            return _WRONG_CONTAINER
        return _WRONG_SCALAR if (kind == WORD) == (node.kind in _TEXTS) else 0.0


_CONTAINERS = {ValueKind.JSON_OBJECT: "{", ValueKind.JSON_ARRAY: "["}
_TEXTS = frozenset(ValueKind) - {ValueKind.INTEGER, ValueKind.NUMBER, ValueKind.BOOLEAN, *_CONTAINERS}


def _cost_of(state: _State) -> float:
    return state.cost


def _extra_node(node: Node | None) -> Node | None:
    return node.extra if node is not None and isinstance(node.extra, Node) else None


def _judge_container(node: Node | None, kind: str) -> float:
    """Return what it costs that an object or array stands where `node` is declared."""
    if node is None or node.kind is None:
        return 0.0
    return 0.0 if _CONTAINERS.get(node.kind) == ("{" if kind == "{" else "[") else _WRONG_CONTAINER
