"""Reads a value again when brackets or quotes of the value were in doubt.

`lenient.scan.repair_search` chooses the interpretation with the fewest repairs. It replaces the first
interpretation if the value differs and fewer repairs are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_DEPTH, Diagnostic, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.repair_search import CLOSER_OF, SIGN, SIGNS, ChosenReading, Repair, find_reading
from lenient.scan.scan_state import OpenContainer, ScanResult, ScanState, role_within, scalar_text
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.string_choices import StringChoice, looks_like_parts
from lenient.scan.strings.string_end import StringClosing, StringEnd
from lenient.scan.strings.string_end_scoring import StringRole
from lenient.scan.strings.trivia import pass_trivia
from lenient.scan.strings.unquoted import read_unquoted

_ANOTHER = "Other brackets may be the wrong ones."
_OTHER_STRINGS = "Or the text ends at another quote."
_TWO_NAMES = "Or the quotes within the name end other parts."
_GOES_ON = compile_regex(
    r"\s*+(?:/\*(?:[^*]|\*(?!/))*+\*/\s*+)?(?:[}\])]|,?\s*+[\"'“]\w[\w.\-]{0,63}+[\"'”]\s*+[:：]|,\s*+\w++\s*+:)"
)
"""After a value, these characters show that the value continues: a bracket, or a key and its colon."""
_NAME_AND_COLON = compile_regex(r"[:：](?:(?<=[\"'“”].)|(?<=[\"'“”][ \t].)|(?<=\w.)[ \t]*[\"“])")
_OF_BRACKETS = {
    "missing_closer": 1.0, "extra_closer": 1.0, "wrong_closer": 1.0, "missing_opener": 1.1,
    "wrong_opener": 1.1, "duplicate_key": 1.5, "repeated_member": 1.5,
    "missing_value": 2.0,
}  # fmt: skip
_OF_STRINGS = {
    "missing_colon": 1.0,
    "unescaped_inner_quote": 1.0, "missing_closing_quote": 1.0, "unclosed_string": 1.5, "extra_quote": 0.5,
    "escaped_closing_quote": 1.0, "missing_opening_quote": 1.0, "ambiguous": 1.5,
}  # fmt: skip
_DOUBTS = _OF_BRACKETS.keys() | _OF_STRINGS.keys()
_CLOSERS = ("}", "]", ")")
_OTHERS = {"missing_comma": 0.5}
"""The costs of the first interpretation's diagnostics, on the scale of `repair_search`."""
_ADDED = {
    "missing_closer", "missing_opener", "missing_comma", "missing_colon", "trailing_comma", "missing_value",
}  # fmt: skip
"""Repairs that add a character and skip none."""
_COSTS = _OF_BRACKETS | _OF_STRINGS | _OTHERS
_NOT_SEARCHED = {
    "stray_text_dropped", "code_fence_removed", "string_concatenation", "emphasis_removed", "unquoted_string",
    "narration_removed", "partial_escaping_removed", "key_value_lines", "string_prefix",
    "triple_quotes",
}  # fmt: skip
"""Repairs of the first interpretation that the search does not know."""
_MANY = 12  # a string with more quotes can only be text
_FAR = 2.9  # if the search result costs this much more, the first interpretation is kept
_CLEARLY = 0.6  # with a smaller cost difference, both interpretations are equally good


def is_doubtful(
    piece: SourceText,
    first: ScanResult,
    diagnostics: Sequence[Diagnostic],
    node: Node | None,
    ends: Mapping[int, StringEnd],
) -> bool:
    """Return True when the first interpretation may not be the best.

    Either brackets or quotes were in doubt, or what follows the value shows that the value continues. Input
    that was only cut off is not doubtful.
    """
    codes = {diagnostic.code for diagnostic in diagnostics}
    if "string_concatenation" in codes:
        return False  # concatenated strings have no comma between them, so nothing is in doubt
    if "comment_removed" in codes and codes & _DOUBTS == {"ambiguous"}:
        return False  # only the comment is in doubt, not the brackets
    if "unescaped_inner_quote" in codes:
        texts = _find_quoted_texts(piece.text, first, node, ends)
        if not any(looks_like_parts(piece.text, end) for at, end in ends.items() if at not in texts):
            codes.remove("unescaped_inner_quote")
    if codes.isdisjoint(_DOUBTS):
        return _GOES_ON.match(piece.text, first.end) is not None
    if piece.text.rstrip()[-1:] in _CLOSERS:
        return True
    return "unclosed_string" not in codes and not _is_cut_off(piece, first, diagnostics, node)


def _find_quoted_texts(
    text: str, first: ScanResult, node: Node | None, ends: Mapping[int, StringEnd]
) -> set[int]:
    """Return the offsets of arguments that contain many quotes and can only be strings, such as code.

    Such an argument contains no declared name without a value, and no name with a colon.
    """
    fields, spans = known_fields(node), first.mark.children
    if not fields or not isinstance(first.value, dict) or not isinstance(spans, dict):
        return set()
    due = fields.keys() - first.value.keys()
    arguments = {span.start for span in spans.values()}
    return {
        at
        for at, end in ends.items()
        if end.inner > _MANY
        and at in arguments
        and not any(name in text[at : end.body] for name in due)
        and not _NAME_AND_COLON.search(text, end.first_inner, end.body)
    }


def _is_cut_off(
    piece: SourceText, first: ScanResult, diagnostics: Sequence[Diagnostic], node: Node | None
) -> bool:
    """Return True when brackets are missing only at the end, and all names fit the definition."""
    doubts = [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.code in _DOUBTS and diagnostic.code != "unclosed_string"
    ]
    end = piece.to_raw(len(piece.text))
    return (
        bool(doubts)
        and all(diagnostic.code == "missing_closer" and diagnostic.start == end for diagnostic in doubts)
        and _fits_names(first.value, node)
    )


def _fits_names(value: object, node: Node | None) -> bool:
    """Return True when the objects in the value have only declared names, or when nothing is declared."""
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
    """Return the value of a better interpretation, or None to keep the first interpretation.

    `fresh` receives the diagnostics of the better interpretation. `first` is the result of the first
    interpretation, or None when it failed. `before` is the scan of the first interpretation. If another
    interpretation is equally good, the ambiguity is reported in `before`.
    """
    text, start = fresh.text, fresh.position
    diagnostics = before.findings.items
    chosen = find_reading(text, start, node, opened=opened)
    if chosen is None:
        return None
    if first is not None:
        cost = sum(_COSTS.get(diagnostic.code, 0.0) for diagnostic in diagnostics)
        if any(diagnostic.code in _NOT_SEARCHED for diagnostic in diagnostics):
            if chosen.cost > cost:
                return None
            chosen = chosen._replace(tied=chosen.tied or chosen.cost > cost - _CLEARLY)
        elif chosen.cost > cost + _FAR:
            return None
    try:
        value, mark = replay_reading(fresh, chosen, node)
    except UnreadableError:
        return None
    second = ScanResult(value, mark, fresh.position)
    if first is None:
        if not _fits_names(value, node):
            fresh.report("ambiguous", mark.start, mark.end, hint=_ANOTHER)
        return second
    return _choose(first, second, fresh, before, node, chosen)


def _choose(
    first: ScanResult,
    second: ScanResult,
    fresh: ScanState,
    before: ScanState,
    node: Node | None,
    chosen: ChosenReading,
) -> ScanResult | None:
    """Return the result of the second interpretation, or None to keep the first interpretation.

    The first result may then be reported as ambiguous.
    """
    diagnostics = before.findings.items
    doubtful = [diagnostic for diagnostic in fresh.findings.items if diagnostic.code == "ambiguous"]
    if second.value != first.value:
        if isinstance(first.value, dict) and not isinstance(second.value, dict):
            return None  # the value is not an object, but arguments must be an object
        if isinstance(first.value, list) and isinstance(second.value, dict):
            return second
        if not _is_cut_off(before.piece, first, diagnostics, node):
            return second
        if not chosen.needs_only("missing_closer"):
            return None
        end = before.piece.to_raw(len(before.text))
        doubtful = [Diagnostic("ambiguous", "$", end, end, hint=_ANOTHER)]
    if not any(diagnostic.lossy for diagnostic in diagnostics):
        diagnostics.extend(doubtful)
    return None


def replay_reading(reading: ScanState, chosen: ChosenReading, node: Node | None) -> tuple[object, ValueSpan]:
    """Return the value of the chosen interpretation and its span, and report the repairs.

    Raises UnreadableError for a word that is not a value, and for nesting that is too deep.
    """
    replay = _Replay(reading, chosen, node)
    while reading.done is None:
        replay.pass_gap()
        if reading.position >= len(reading.text):
            break
        replay.read_sign()
    if reading.stack:
        replay.close_rest(chosen.repairs.get(reading.position, []))
    if reading.done is None:
        raise UnreadableError("truncated", reading.position)
    return reading.done


class _Replay:
    """The progress of applying the chosen repairs.

    `key_start` is the offset of the key whose value comes next, or -1 if no value comes next.
    """

    def __init__(self, reading: ScanState, chosen: ChosenReading, node: Node | None) -> None:
        self.reading = reading
        self.repairs = chosen.repairs
        self.strings = chosen.strings
        self.doubtful = chosen.tied
        self.doubled = reading.text.startswith("{{", reading.position)
        self.node = node
        self.key_start = -1

    def pass_gap(self) -> None:
        reading = self.reading
        reading.position = pass_trivia(
            reading.text, reading.position, reading.report, before_value=self.key_start >= 0
        )

    def read_sign(self) -> None:
        """Apply the repairs at one offset.

        Read the character at the offset unless a repair replaces the character.
        """
        reading, at = self.reading, self.reading.position
        sign = SIGN.match(reading.text, at)
        kind = "" if sign is None else SIGNS.get(sign[0], reading.text[at])
        end = at + 1 if sign is None else sign.end()
        if self.doubled and kind and kind in "{}" and reading.text.startswith(kind * 2, at):
            end += 1
        for repair in self.repairs.pop(at, ()):
            if self.doubtful:
                self.doubtful = False
                reading.report("ambiguous", at, max(end, at), hint=_ANOTHER)
            if self.carry_out(repair, at, end):
                reading.position = max(reading.position, end)
                return
            if reading.done is not None:
                return
        if (choice := self.strings.get(at)) is not None:
            self.read_string(at, choice)
        elif not kind:
            self.read_word(at)
        elif kind in CLOSER_OF:
            self.report_spelling(at, end, kind)
            self.open(kind)
            reading.position = end
        elif kind in (",", ":"):
            self.report_spelling(at, end, kind)
            if kind == "," and reading.stack:
                frame = reading.stack[-1]
                frame.comma, frame.filled = at, False
            reading.position = end
        else:
            self.report_spelling(at, end, kind)
            reading.position = end
            self.close()

    def report_spelling(self, start: int, end: int, kind: str) -> None:
        written = self.reading.text[start:end]
        if written == "{{":
            self.reading.report("doubled_braces", start, end, found=written, became=kind)
        elif written not in (kind, "}}"):
            code = "wrong_separator" if written.isascii() or written == "；" else "fullwidth_punctuation"
            self.reading.report(code, start, end, found=written, became=kind)

    def carry_out(self, repair: Repair, start: int, end: int) -> bool:
        """Report and apply a repair. Return False when the character at `start` must still be read."""
        if repair.what in _ADDED:
            self.add_sign(repair, start)
            return False
        reading, written = self.reading, self.reading.text[start:end]
        if repair.what == "unquoted_key":
            reading.position = start + len(repair.sign)
            reading.report("unquoted_key", start, reading.position, found=repair.sign)
            self.take_key(repair.sign, start)
        elif repair.what == "extra_colon":
            reading.report("wrong_separator", start, end, found=written)
        else:
            reading.report(repair.what, start, end, found=written, became=repair.sign or None)
            if repair.what == "wrong_opener":
                self.open(repair.sign)
            elif repair.what == "wrong_closer":
                reading.position = end
                self.close()
            elif repair.sign == "," and reading.stack:
                frame = reading.stack[-1]
                frame.comma, frame.filled = start, False
        return True

    def add_sign(self, repair: Repair, start: int) -> None:
        """Report a missing sign before `start`, or a superfluous comma. Continue with the corrected input."""
        reading = self.reading
        if repair.what == "trailing_comma":
            comma = reading.stack[-1].comma
            reading.report("trailing_comma", comma, comma + 1, found=",")
        elif repair.what == "missing_value":
            reading.report("missing_value", self.key_start, start, became="null")
            self.put(None, ValueSpan(self.key_start, start))
        else:
            reading.report_missing(repair.what, repair.sign)
            if repair.what == "missing_closer":
                self.close()
            elif repair.what == "missing_opener":
                self.open(repair.sign)

    def read_string(self, start: int, choice: StringChoice) -> None:
        reading, end = self.reading, choice.end
        before = len(reading.findings.items)
        is_key = self.is_key_due()
        role = StringRole.KEY if is_key else role_within(reading.stack)
        if not choice.opened:
            after = end.after
            reading.report("missing_opening_quote", start, after, found=reading.text[start : end.body])
            if end.closing is not StringClosing.QUOTE:
                reading.report("missing_closing_quote", end.body, end.body, became='"')
            text = reading.strings.decode(start, end.body)
        elif end.closing is StringClosing.QUOTE and not end.inner:
            text = reading.strings.read_between(start, end.after, role)
        else:
            text = reading.strings.finish_string(start, end, role)[0]
        reading.position = end.after
        is_reported = any(diagnostic.code == "ambiguous" for diagnostic in reading.findings.items[before:])
        if not is_reported and (choice.doubtful or (self.doubtful and choice.cost > 0)):
            self.doubtful = False
            reading.report("ambiguous", start, end.after, hint=_OTHER_STRINGS)
        if is_key and end.inner:
            reading.report("ambiguous", start, end.after, hint=_TWO_NAMES)
        if is_key:
            self.take_key(text, start)
        else:
            self.put(text, ValueSpan(start, end.after))

    def read_word(self, start: int) -> None:
        reading = self.reading
        node = self.due_node()
        wants_text = node is not None and node.kind is ValueKind.STRING
        bare = read_unquoted(reading.text, start, wants_text=wants_text, close=self.close_sign())
        if bare.absent:
            raise UnreadableError("unexpected_character", start)
        if bare.code is not None:
            word = reading.text[start : bare.end]
            reading.report(bare.code, start, bare.end, found=word, became=scalar_text(bare.value))
        reading.position = bare.end
        self.put(bare.value, ValueSpan(start, bare.end))

    def is_key_due(self) -> bool:
        stack = self.reading.stack
        return bool(stack) and stack[-1].close == "}" and self.key_start < 0

    def take_key(self, name: str, start: int) -> None:
        self.reading.stack[-1].key = name
        self.key_start = start

    def due_node(self) -> Node | None:
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
