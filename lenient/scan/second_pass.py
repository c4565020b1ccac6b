"""Reads a value again when its brackets or quotes were in doubt, along the reading with the fewest repairs.

`lenient.scan.repair_search` chooses that reading. It is taken instead of the first one when it gives another
value and needs less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_DEPTH, Diagnostic, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.repair_search import CLOSER_OF, ChosenReading, Repair, find_reading
from lenient.scan.scan_state import OpenContainer, ScanResult, ScanState, role_within, scalar_text
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.string_end import StringClosing, StringEnd
from lenient.scan.strings.string_end_scoring import StringRole
from lenient.scan.strings.unquoted import read_unquoted
from lenient.scan.tokens import STRING, WORD, TextTokens, split_tokens

_ANOTHER = "Other brackets may be the wrong ones."
_GOES_ON = compile_regex(
    r"\s*+(?:/\*(?:[^*]|\*(?!/))*+\*/\s*+)?(?:[}\])]|,?\s*+[\"'“]\w[\w.\-]{0,63}+[\"'”]\s*+[:：]|,\s*+\w++\s*+:)"
)
"""After a value: a bracket, or a key and its colon."""
_OF_BRACKETS = {
    "missing_closer": 1.0, "extra_closer": 1.0, "wrong_closer": 1.0, "missing_opener": 1.1,
    "wrong_opener": 1.1, "duplicate_key": 1.5, "repeated_member": 1.5,
    "missing_value": 2.0,
}  # fmt: skip
_OF_STRINGS = {
    "unescaped_inner_quote": 1.0, "missing_closing_quote": 1.0, "unclosed_string": 1.5, "extra_quote": 0.5,
    "escaped_closing_quote": 1.0, "missing_opening_quote": 1.0, "ambiguous": 1.5,
}  # fmt: skip
_DOUBTS = _OF_BRACKETS.keys() | _OF_STRINGS.keys()
_CLOSERS = ("}", "]", ")")
_OTHERS = {"missing_comma": 0.5, "missing_colon": 1.0}
"""What a diagnostic of the first reading costs, as repairs do in `repair_search`."""
_COSTS = _OF_BRACKETS | _OF_STRINGS | _OTHERS
_SWALLOWED = 1.0  # a string that holds the quotes of another
_CLEARLY = 0.6  # a cost that is lower by so much decides


def is_doubtful(piece: SourceText, first: ScanResult, found: Sequence[Diagnostic], node: Node | None) -> bool:
    """Return True when the text may have a better reading than the first one.

    This is so when brackets or quotes were in doubt, or when what follows shows that the value goes on. It is
    not when the text was only cut off: then the brackets are missing at its end.
    """
    codes = {one.code for one in found}
    if "string_concatenation" in codes:
        return False  # its strings do not stand apart
    if "comment_removed" in codes and codes & _DOUBTS == {"ambiguous"}:
        return False  # the comment is in doubt
    if codes.isdisjoint(_DOUBTS):
        return _GOES_ON.match(piece.text, first.end) is not None
    return piece.text.rstrip()[-1:] in _CLOSERS or not _is_cut_off(piece, first, found, node)


def _is_cut_off(piece: SourceText, first: ScanResult, found: Sequence[Diagnostic], node: Node | None) -> bool:
    """Return True when brackets are missing at the end only, and no name contradicts their being there."""
    doubts = [one for one in found if one.code in _DOUBTS and one.code != "unclosed_string"]
    end = piece.to_raw(len(piece.text))
    return (
        bool(doubts)
        and all(one.code == "missing_closer" and one.start == end for one in doubts)
        and _fits_names(first.value, node)
    )


def _fits_names(value: object, node: Node | None) -> bool:
    """Return True when all names in the value are declared where they stand, or nothing is."""
    if node is None:
        return True
    if isinstance(value, list):
        return all(_fits_names(item, node.items) for item in value if isinstance(item, (dict, list)))
    if not isinstance(value, dict):
        return True
    if node.kind is ValueKind.STRING:
        return False
    fields = known_fields(node)
    return (not fields or value.keys() <= fields.keys()) and all(
        _fits_names(inner, fields.get(name)) for name, inner in value.items()
    )


def read_again(
    fresh: ScanState, node: Node | None, first: ScanResult | None, before: ScanState, *, opened: bool
) -> ScanResult | None:
    """Return the value of a better reading, with its diagnostics in `fresh`; None when the first one stands.

    `before` is the state of the first reading, `first` its result, None when it failed. A reading that is as
    good as the first one is reported there as ambiguous.
    """
    text, start = fresh.text, fresh.position
    found = before.findings.items
    ends: Mapping[int, StringEnd] = {}
    needed = len(text) if first is None else first.end
    tokens = split_tokens(text, start, ends)
    if tokens is not None and tokens.end < needed and any(one.code in _OF_BRACKETS for one in found):
        ends = before.strings.ends
        tokens = split_tokens(text, start, ends)
    if tokens is None or tokens.end < needed:
        return None
    chosen = find_reading(text, tokens, node, opened=opened)
    if chosen is None:
        return None
    if first is not None and not ends and any(one.code in _OF_STRINGS for one in found):
        cost = sum(_COSTS.get(one.code, 0.0) for one in found) + _count_swallowed(before) * _SWALLOWED
        if chosen.cost > cost:
            return None
        chosen = chosen._replace(tied=chosen.tied or chosen.cost > cost - _CLEARLY)
    try:
        value, mark = replay_reading(fresh, tokens, chosen, node, ends)
    except UnreadableError:
        return None
    second = ScanResult(value, mark, fresh.position)
    if first is None:
        if not _fits_names(value, node):
            fresh.report("ambiguous", mark.start, mark.end, hint=_ANOTHER)
        return second
    return _choose(first, second, fresh, before, node, chosen)


def _count_swallowed(before: ScanState) -> int:
    """Return how many strings of the first reading lack their last quote and hold two others."""
    return sum(
        end.closing is StringClosing.NEXT_PART
        and before.text.count(before.text[start], start + 1, end.body) > 1
        for start, end in before.strings.ends.items()
    )


def _choose(
    first: ScanResult,
    second: ScanResult,
    fresh: ScanState,
    before: ScanState,
    node: Node | None,
    chosen: ChosenReading,
) -> ScanResult | None:
    """Return the second reading, None when the first one stands; then it may be reported as ambiguous."""
    found = before.findings.items
    doubtful = [one for one in fresh.findings.items if one.code == "ambiguous"]
    if second.value != first.value:
        if isinstance(first.value, dict) and not isinstance(second.value, dict):
            return None  # arguments are an object
        if isinstance(first.value, list) and isinstance(second.value, dict):
            return second
        if not _is_cut_off(before.piece, first, found, node):
            return second
        if not chosen.needs_only("missing_closer"):
            return None
        end = before.piece.to_raw(len(before.text))
        doubtful = [Diagnostic("ambiguous", "$", end, end, hint=_ANOTHER)]
    if not any(one.lossy for one in found):
        found.extend(doubtful)
    return None


def replay_reading(
    reading: ScanState,
    tokens: TextTokens,
    chosen: ChosenReading,
    node: Node | None,
    ends: Mapping[int, StringEnd],
) -> tuple[object, ValueSpan]:
    """Return the value of the chosen reading and its span; report the repairs.

    Raises UnreadableError for a word that is no value, and for too deep nesting.
    """
    replay = _Replay(reading, tokens, chosen, node, ends)
    for at in range(chosen.end):
        replay.read_token(at)
    if reading.stack:
        replay.close_rest(chosen.repairs.get(chosen.end, []))
    if reading.done is None:
        raise UnreadableError("truncated", reading.position)
    return reading.done


class _Replay:
    """The progress of one replay. `key_start` is the offset of the key whose value is due, else -1."""

    def __init__(
        self,
        reading: ScanState,
        tokens: TextTokens,
        chosen: ChosenReading,
        node: Node | None,
        ends: Mapping[int, StringEnd],
    ) -> None:
        self.reading = reading
        self.tokens = tokens
        self.repairs = chosen.repairs
        self.doubtful = chosen.tied
        self.node = node
        self.ends = ends
        self.key_start = -1

    def read_token(self, at: int) -> None:
        """Carry out the repairs of one token, and read the token unless a repair stands for it."""
        reading = self.reading
        reading.pass_gap()
        kind = self.tokens.kinds[at]
        for repair in self.repairs.get(at, ()):
            if self.doubtful:
                self.doubtful = False
                start = reading.position
                reading.report("ambiguous", start, self.tokens.ends[at], hint=_ANOTHER)
            if self.carry_out(repair, at):
                reading.position = self.tokens.ends[at]
                return
        if kind == STRING:
            self.read_string(at)
        elif kind == WORD:
            self.read_word(at)
        elif kind in CLOSER_OF:
            self.report_spelling(at)
            self.open(kind)
        elif kind == ",":
            self.report_spelling(at)
            frame = reading.stack[-1]
            frame.comma, frame.filled = reading.position, False
        elif kind == ":":
            self.report_spelling(at)
        else:
            self.report_spelling(at)
            reading.position = self.tokens.ends[at]
            self.close()
        reading.position = self.tokens.ends[at]

    def report_spelling(self, at: int) -> None:
        """Report a bracket, comma or colon that is written otherwise than in JSON."""
        start, end, kind = self.tokens.starts[at], self.tokens.ends[at], self.tokens.kinds[at]
        written = self.reading.text[start:end]
        if written == "{{":
            self.reading.report("doubled_braces", start, end, found=written, became=kind)
        elif written not in (kind, "}}"):
            code = "wrong_separator" if written.isascii() or written == "；" else "fullwidth_punctuation"
            self.reading.report(code, start, end, found=written, became=kind)

    def carry_out(self, repair: Repair, at: int) -> bool:
        """Report a repair and carry it out. Return True when the token itself is done with."""
        reading, start, end = self.reading, self.tokens.starts[at], self.tokens.ends[at]
        written = reading.text[start:end]
        frame = reading.stack[-1] if reading.stack else None
        if repair.what == "missing_closer":
            reading.report_missing("missing_closer", repair.sign)
            self.close()
        elif repair.what == "missing_opener":
            reading.report_missing("missing_opener", repair.sign)
            self.open(repair.sign)
        elif repair.what == "missing_comma":
            reading.report_missing("missing_comma", ",")
        elif repair.what == "missing_colon":
            reading.report_missing("missing_colon", ":")
        elif repair.what == "trailing_comma" and frame is not None:
            reading.report("trailing_comma", frame.comma, frame.comma + 1, found=",")
        elif repair.what == "missing_value" and frame is not None:
            reading.report("missing_value", self.key_start, start, became="null")
            self.put(None, ValueSpan(self.key_start, start))
        elif repair.what == "wrong_opener":
            reading.report("wrong_opener", start, end, found=written, became=repair.sign)
            self.open(repair.sign)
            return True
        elif repair.what == "wrong_closer":
            reading.report("wrong_closer", start, end, found=written, became=repair.sign)
            reading.position = end
            self.close()
            return True
        elif repair.what == "wrong_separator":
            reading.report("wrong_separator", start, end, found=written, became=repair.sign)
            if repair.sign == "," and frame is not None:
                frame.comma, frame.filled = start, False
            return True
        elif repair.what == "extra_colon":
            reading.report("wrong_separator", start, end, found=written)
            return True
        else:
            reading.report(repair.what, start, end, found=written)
            return True
        return False

    def read_string(self, at: int) -> None:
        reading = self.reading
        start, end = self.tokens.starts[at], self.tokens.ends[at]
        is_key = self.is_key_due()
        role = StringRole.KEY if is_key else role_within(reading.stack)
        known = self.ends.get(start)
        text = (
            reading.strings.read_between(start, end, role)
            if known is None
            else reading.strings.finish_string(start, known, role)[0]
        )
        if is_key:
            self.take_key(text, start)
        else:
            self.put(text, ValueSpan(start, end))

    def read_word(self, at: int) -> None:
        reading = self.reading
        start, end = self.tokens.starts[at], self.tokens.ends[at]
        word = reading.text[start:end]
        if self.is_key_due():
            reading.report("unquoted_key", start, end, found=word)
            self.take_key(word, start)
            return
        node = self.due_node()
        wants_text = node is not None and node.kind is ValueKind.STRING
        bare = read_unquoted(reading.text, start, wants_text=wants_text, close=self.close_sign())
        if bare.end != end or bare.absent:
            raise UnreadableError("unexpected_character", start)
        if bare.code is not None:
            reading.report(bare.code, start, end, found=word, became=scalar_text(bare.value))
        self.put(bare.value, ValueSpan(start, end))

    def is_key_due(self) -> bool:
        stack = self.reading.stack
        return bool(stack) and stack[-1].close == "}" and self.key_start < 0

    def take_key(self, name: str, start: int) -> None:
        self.reading.stack[-1].key = name
        self.key_start = start

    def due_node(self) -> Node | None:
        """Return the definition of the value that is due."""
        if not self.reading.stack:
            return self.node
        frame = self.reading.stack[-1]
        return frame.fields.get(frame.key or "") if frame.close == "}" else frame.item_node()

    def close_sign(self) -> str:
        return self.reading.stack[-1].close if self.reading.stack else ""

    def put(self, value: object, mark: ValueSpan) -> None:
        self.key_start = -1
        if self.reading.stack:
            self.reading.stack[-1].filled = True
        self.reading.put_value(value, mark)

    def open(self, sign: str) -> None:
        reading = self.reading
        if len(reading.stack) >= MAX_DEPTH:
            raise UnreadableError("nested_too_deep", reading.position)
        if sign == "(":
            reading.report("tuple_as_array", reading.position, reading.position + 1, found="(", became="[")
        reading.stack.append(OpenContainer(CLOSER_OF[sign], reading.position, self.due_node()))
        self.key_start = -1

    def close(self) -> None:
        self.reading.close_container()
        self.key_start = -1
        if self.reading.stack:
            self.reading.stack[-1].filled = True

    def close_rest(self, repairs: list[Repair]) -> None:
        """Close the brackets that are open at the end of the text."""
        reading = self.reading
        reading.pass_gap()
        frame = reading.stack[-1]
        if self.key_start >= 0:
            reading.drop_member(frame, self.key_start, reading.position)
        elif not frame.filled:
            reading.report("truncated_text", reading.position, reading.position)
        if self.doubtful:
            reading.report("ambiguous", reading.position, reading.position, hint=_ANOTHER)
        reading.report_missing("missing_closer", "".join(repair.sign for repair in repairs))
        while reading.stack:
            reading.close_container()
