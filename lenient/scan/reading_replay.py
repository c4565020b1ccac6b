"""Builds the value of a reading that `lenient.scan.structure` chose, and reports its mends."""

from __future__ import annotations

from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_DEPTH
from lenient.diagnostics.unreadable import UnreadableError
from lenient.scan.open_brackets import OpenContainer, role_within
from lenient.scan.scan_state import ScanState, scalar_text
from lenient.scan.source_text import ValueSpan
from lenient.scan.strings.string_end import StringClosing, StringEnd
from lenient.scan.strings.string_end_scoring import StringRole
from lenient.scan.strings.unquoted import read_unquoted
from lenient.scan.structure.reading_search import CLOSER_OF, ChosenReading, Mend
from lenient.scan.structure.tokens import STRING, WORD, Tokens

_ANOTHER = "Other brackets may be the wrong ones."


def replay_reading(
    reading: ScanState, tokens: Tokens, chosen: ChosenReading, node: Node | None
) -> None:
    """Read the value along the chosen mends, up to `reading.done`.

    Raises UnreadableError for a word that is no value, and for too deep nesting.
    """
    replay = _Replay(reading, tokens, chosen, node)
    for at in range(chosen.end):
        replay.read_token(at)
    if reading.stack:
        replay.close_rest(chosen.mends.get(chosen.end, []))


class _Replay:
    """The progress of one replay. `key_start` is the offset of the key whose value is due, else -1."""

    def __init__(
        self, reading: ScanState, tokens: Tokens, chosen: ChosenReading, node: Node | None
    ) -> None:
        self.reading = reading
        self.tokens = tokens
        self.mends = chosen.mends
        self.doubtful = chosen.tied
        self.node = node
        self.key_start = -1

    def read_token(self, at: int) -> None:
        """Carry out the mends of one token, and read the token unless a mend stands for it."""
        reading = self.reading
        reading.pass_gap()
        kind = self.tokens.kinds[at]
        for mend in self.mends.get(at, ()):
            if self.doubtful:
                self.doubtful = False
                start = reading.position
                reading.report("ambiguous", start, self.tokens.ends[at], hint=_ANOTHER)
            if self.carry_out(mend, at):
                reading.position = self.tokens.ends[at]
                return
        if kind == STRING:
            self.read_string(at)
        elif kind == WORD:
            self.read_word(at)
        elif kind in CLOSER_OF:
            self.open(kind)
        elif kind == ",":
            frame = reading.stack[-1]
            frame.comma, frame.filled = reading.position, False
        elif kind != ":":
            reading.position = self.tokens.ends[at]
            self.close()
        reading.position = self.tokens.ends[at]

    def carry_out(self, mend: Mend, at: int) -> bool:
        """Report a mend and carry it out. Return True when the token itself is done with."""
        reading, kind = self.reading, self.tokens.kinds[at]
        start, end = self.tokens.starts[at], self.tokens.ends[at]
        frame = reading.stack[-1] if reading.stack else None
        if mend.what == "missing_closer":
            reading.report_missing("missing_closer", mend.sign)
            self.close()
        elif mend.what == "missing_opener":
            reading.report_missing("missing_opener", mend.sign)
            self.open(mend.sign)
        elif mend.what == "missing_comma":
            reading.report_missing("missing_comma", ",")
        elif mend.what == "missing_colon":
            reading.report_missing("missing_colon", ":")
        elif mend.what == "trailing_comma" and frame is not None:
            reading.report("trailing_comma", frame.comma, frame.comma + 1, found=",")
        elif mend.what == "missing_value" and frame is not None:
            reading.report("missing_value", self.key_start, start, became="null")
            self.put(None, ValueSpan(self.key_start, start))
        elif mend.what == "wrong_opener":
            reading.report("wrong_opener", start, end, found=kind, became=mend.sign)
            self.open(mend.sign)
            return True
        elif mend.what == "wrong_closer":
            reading.report("wrong_closer", start, end, found=kind, became=mend.sign)
            reading.position = end
            self.close()
            return True
        elif mend.what == "wrong_separator":
            reading.report("wrong_separator", start, end, found=kind, became=mend.sign)
            if mend.sign == "," and frame is not None:
                frame.comma, frame.filled = start, False
            return True
        elif mend.what == "extra_colon":
            reading.report("wrong_separator", start, end, found=kind)
            return True
        else:
            reading.report(mend.what, start, end, found=kind)
            return True
        return False

    def read_string(self, at: int) -> None:
        reading = self.reading
        start, end = self.tokens.starts[at], self.tokens.ends[at]
        is_key = self.is_key_due()
        role = StringRole.KEY if is_key else role_within(reading.stack)
        text, _ = reading.strings.finish_string(start, StringEnd(end - 1, end, StringClosing.QUOTE), role)
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

    def close_rest(self, mends: list[Mend]) -> None:
        """Close the brackets that are open at the end of the text."""
        reading = self.reading
        reading.pass_gap()
        frame = reading.stack[-1]
        if self.key_start >= 0:
            reading.drop_member(frame, self.key_start)
        elif not frame.filled:
            reading.report("truncated_text", reading.position, reading.position)
        if self.doubtful:
            reading.report("ambiguous", reading.position, reading.position, hint=_ANOTHER)
        reading.report_missing("missing_closer", "".join(mend.sign for mend in mends))
        while reading.stack:
            reading.close_container()
