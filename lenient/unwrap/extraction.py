"""Reads the value in the raw arguments, layer by layer: removes what surrounds the value and repairs the
value.

Valid JSON is not changed. If several values follow one another, one value is chosen and the choice is
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.diagnostics import Diagnostic, Findings, Path, UnreadableError, render_path, shorten
from lenient.diagnostics.codes import Stage
from lenient.regex import compile_regex
from lenient.scan.scan_state import ScanResult, duplicate_code
from lenient.scan.scanner import scan_value
from lenient.scan.source_text import LocatedValue, SourceText, ValueSpan
from lenient.scan.strings.string_end import CLOSING_QUOTES, Lookahead
from lenient.scan.valid_json import find_valid_end, locate_values, may_hold_value
from lenient.unwrap.key_value_lines import lacks_braces, read_key_values
from lenient.unwrap.surrounding_text import (
    OBJECT_START,
    choose_value,
    find_anew,
    find_colonless_member,
    find_member,
    find_moved_member,
    first_key,
    holds_variables,
    is_bare_key,
    is_foreign_object,
)
from lenient.unwrap.wrappers import (
    ESCAPED_LINES,
    ESCAPED_START,
    FENCE_WITHIN,
    MAX_LAYERS,
    Unwrapper,
    ValueStart,
    find_closing,
    read_quote_tokens,
)

Fits = Callable[[Any, str | None], bool]
"""Returns True when a value needs no further check.

The second parameter is the JSON of the value, in which no key may be repeated, or None.
"""
_BRACED = compile_regex(r"\s*+(?:[{\[]|\"\s*+[\\{\[])")
_SIDE_BY_SIDE = compile_regex(r"[}\])]\s*+[}\])]\s*+,\s*+\{")
_WORDS = frozenset({"unquoted_string", "unclosed_string", "missing_closing_quote", "missing_opening_quote"})
_CUT = frozenset({"truncated_member_dropped", "truncated_text"})
_BEFORE_VALUE = (":", "[", ",")
_QUOTES_OF_KEY = 2
_SHORT = 4_096  # in characters; for a longer text, the shortcut saves comparatively little time


def extract_value(
    piece: SourceText,
    node: Node | None,
    findings: Findings,
    *,
    path: Path = None,
    trace: list[Any] | None = None,
    tried: list[str] | None = None,
    fits: Fits | None = None,
    broken: bool = False,
) -> LocatedValue:
    """Return the value in `piece`, after all layers of string encoding are removed.

    A value for which `fits` returns True is not checked again, and is returned with `settled` set. `broken`
    means that `piece` is not JSON. Diagnostics are added to `findings`, the steps that changed something to
    `trace`, and the names of all tried steps to `tried`.

    Raises UnreadableError, TooManyFindingsError.
    """
    layer = _LayerReader(node, findings, path, trace if trace is not None else [], fits)
    layer.tried = tried if tried is not None else []
    for number in range(MAX_LAYERS + 1):
        located = layer.read_layer(piece, broken=broken and number == 0)
        if not isinstance(located.value, str) or not _may_hold_json(located.value):
            layer.report_moved(located)
            return located
        piece = layer.decode_layer(located)
    raise UnreadableError("string_encoded_too_deep", piece.to_raw(0))


def decode_nested(located: LocatedValue, node: Node, path: Path, findings: Findings) -> LocatedValue | None:
    """Return the object or array that is encoded in a string value, or None when there is neither."""
    if not may_hold_value(located.value):
        return None
    try:
        inner = extract_value(_inner_text(located), node, findings, path=path)
    except UnreadableError:
        return None
    return inner if isinstance(inner.value, (dict, list)) else None


def _inner_text(located: LocatedValue) -> SourceText:
    """Return the content of a string value. Its offsets are mapped to the position in the source."""
    mark, piece = located.mark, located.piece
    quoted = piece.text[mark.start : mark.start + 1] in CLOSING_QUOTES
    start, end = (mark.start + 1, mark.end - 1) if quoted else (mark.start, mark.end)
    return SourceText(located.value, piece, start, max(start, end))


def _may_hold_json(text: str) -> bool:
    """Return True when a string is blank, begins with a bracket, quote or fence, or contains an object."""
    trimmed = text.strip()
    return (
        not trimmed
        or trimmed[0] in '{["'
        or trimmed.startswith("```")
        or OBJECT_START.search(trimmed) is not None
    )


def _end_by(diagnostic: Diagnostic, end: int) -> Diagnostic:
    if diagnostic.start is None or diagnostic.end is None or diagnostic.end <= end:
        return diagnostic
    return diagnostic._replace(start=min(diagnostic.start, end), end=end)


class _LayerReader:
    """Reads the value of each layer of string encoding.

    The reader adds diagnostics to `findings` and steps to `trace`.
    """

    def __init__(
        self,
        node: Node | None,
        findings: Findings,
        path: Path,
        trace: list[Any],
        fits: Fits | None,
    ) -> None:
        self.node = node
        self.findings = findings
        self.path = path
        self.trace = trace
        self.tried: list[str] = []
        self.fits = fits

    def decode_layer(self, located: LocatedValue) -> SourceText:
        """Return the content of a string value, and report that one layer of string encoding was removed."""
        self.tried.append("string encoding")
        mark, piece = located.mark, located.piece
        span = piece.raw_span(mark.start, mark.end)
        snippet = shorten(located.snippet())
        self.findings.add(Diagnostic("string_encoding_removed", render_path(self.path), *span, found=snippet))
        self.trace.append((Stage.UNWRAP, "string decoded", piece.text, located.value))
        return _inner_text(located)

    def read_layer(self, piece: SourceText, *, broken: bool) -> LocatedValue:
        """Return the value of one layer, after everything around the value is removed.

        `broken` means that the layer is not JSON.
        """
        whole = None if broken else self.read_strictly(piece, 0, len(piece.text))
        if whole is not None:
            return whole
        if broken and (quoted := read_quote_tokens(piece, self.findings, self.path)) is not None:
            self.trace.append((Stage.REPAIR, "quotes put in", piece.text, quoted.text))
            return self.read_layer(quoted, broken=False)
        if broken and (anew := self.read_anew(piece)) is not None:
            return anew
        if broken and (bare := self.read_bare_object(piece)) is not None:
            return bare
        before = len(self.findings.items)
        if (lines := self.read_key_values(piece)) is not None:
            return lines
        self.tried.append("fences, tags and prose around")
        try:
            start = Unwrapper(piece, self.findings, self.path, known_fields(self.node)).find_start()
        except UnreadableError as error:
            raise UnreadableError(error.reason, piece.to_raw(error.position)) from None
        if start.blank:
            if start.fenced or start.tagged:
                raise UnreadableError("no_object_found", piece.to_raw(0))
            return self.read_blank(piece)
        if len(self.findings.items) > before:
            after = start.piece.text[start.position :]
            self.trace.append((Stage.UNWRAP, "surroundings removed", piece.text, after))
        return self.read_chosen(start)

    def report_moved(self, located: LocatedValue) -> None:
        """Report a member as ambiguous if it follows a superfluous brace and repeats an earlier member."""
        codes = {diagnostic.code for diagnostic in self.findings.items}
        if "extra_closer" not in codes or "ambiguous" in codes:
            return
        span = find_moved_member(located.value, located.mark, self.node)
        if span is not None:
            Unwrapper(located.piece, self.findings, self.path).report("ambiguous", span.start, span.end)

    def read_anew(self, piece: SourceText) -> LocatedValue | None:
        """Return the value if an object breaks off and begins again, else None."""
        anew = find_anew(piece.text) if piece.text[:1] == "{" else None
        if anew is None:
            return None
        around = Unwrapper(piece, self.findings, self.path)
        beginning = piece.text[:anew].rstrip()
        if self.node is None and beginning[-1] == ":" and beginning.count('"') == _QUOTES_OF_KEY:
            around.report("ambiguous", 0, anew)
            # after one key, either the text was cut off or the object restarts, so nothing is chosen
            return None
        around.report("repeated_value_skipped", 0, anew)
        if beginning[-1] in _BEFORE_VALUE:
            around.report("ambiguous", 0, anew)
        return self.read_chosen(ValueStart(piece, anew))

    def read_bare_object(self, piece: SourceText) -> LocatedValue | None:
        """Return the repaired object when a short input contains only a broken object, else None."""
        text = piece.text
        if len(text) > _SHORT or text[:1] != "{" or text[-1] != "}":
            return None
        if ESCAPED_START.match(text) or ESCAPED_LINES.match(text) or FENCE_WITHIN.match(text):
            return None
        if _SIDE_BY_SIDE.search(text) and find_valid_end(text, 0) is not None:
            return None
        apart = _LayerReader(self.node, Findings(), self.path, [], self.fits)
        self.tried.append("repairs")
        try:
            located, end = apart.repair_at_start(ValueStart(piece, 0), Lookahead(text))
        except UnreadableError:
            return None
        if end < len(text):
            return None
        self.findings.extend(apart.findings.items)
        self.trace.extend(apart.trace)
        return located

    def read_key_values(self, piece: SourceText) -> LocatedValue | None:
        """Return the object if names and values without braces are in lines or in a row, else None."""
        if _BRACED.match(piece.text):
            return None
        self.tried += ["key=value lines", "YAML"]
        declared = known_fields(self.node)
        if lacks_braces(piece.text, declared):
            start = ValueStart(piece, len(piece.text) - len(piece.text.lstrip()), opened=True)
            return self.read_chosen(start)
        read = read_key_values(piece, declared)
        if read is None:
            return None
        around = Unwrapper(piece, self.findings, self.path)
        if read.fence is not None:
            if before := len(piece.text[: read.fence[0]].strip()):
                around.report("narration_removed", 0, before)
            around.report("code_fence_removed", *read.fence)
        around.report(read.code, read.mark.start, read.mark.end)
        for mark in read.doubtful:
            around.report("ambiguous", mark.start, mark.end)
        return LocatedValue(read.value, read.mark, piece, strict=False)

    def read_blank(self, piece: SourceText) -> LocatedValue:
        where, span = render_path(self.path), piece.raw_span(0, len(piece.text))
        self.findings.add(Diagnostic("empty_arguments", where, *span, became="{}"))
        return LocatedValue({}, ValueSpan(0, len(piece.text), {}), piece, strict=False)

    def read_chosen(self, start: ValueStart) -> LocatedValue:
        """Return the value at `start`. If several values follow one another, return the chosen value.

        Raises UnreadableError when the value is an object in narration and has no declared name.
        """
        piece, ahead = start.piece, Lookahead(start.piece.text)
        wrapped = start.fenced or start.tagged
        located, end = self.read_wrapped(start) if wrapped else self.read_at_start(start, ahead)
        around = Unwrapper(piece, self.findings, self.path, known_fields(self.node))
        end = around.pass_repeated_end(start, end)
        while (position := around.pass_rest(start, end)) < len(piece.text):
            if OBJECT_START.match(piece.text, position) is None:
                located, end = self.join_members(located, around, position, ahead)
                if not around.joins:
                    around.pass_trailing_text(start)
                    end = around.position
                continue
            further = _LayerReader(self.node, Findings(), self.path, [], None)
            try:
                other, end = further.read_at_start(replace(start, position=position, opened=False), ahead)
            except UnreadableError as error:
                code = "further_value_dropped" if error.reason == "truncated" else "narration_removed"
                around.report(code, position, len(piece.text))
                break
            located = self.choose_value(located, other, around, further.findings)
        if start.narrated and is_foreign_object(located, self.node):
            raise UnreadableError("no_object_found", located.mark.start)
        words = [
            diagnostic.start for diagnostic in self.findings.items if diagnostic.code == "unquoted_string"
        ]
        if start.narrated and words and holds_variables(piece.text, start.position):
            raise UnreadableError("expression", words[0] or 0)
        return located

    def join_members(
        self, first: LocatedValue, around: Unwrapper, position: int, ahead: Lookahead
    ) -> tuple[LocatedValue, int]:
        """Add the members at `position` to the object `first`, whose closing brace came too early.

        Return the object and the offset after the members. If there are no members, return `first` and
        `position`, and set `around.joins` to False.
        """
        piece, text = first.piece, first.piece.text
        key = find_member(text, position) or find_colonless_member(text, position) or position
        apart = _LayerReader(self.node, Findings(), self.path, [], None)
        try:
            members = apart.scan_from(piece, key, ahead, opened=True)
        except UnreadableError:
            around.joins = False
            return first, position
        added = apart.findings.items[1:]  # the first diagnostic reports the missing opening brace
        if not isinstance(first.value, dict) or not self.are_members(piece.text, key, members, added):
            around.joins = False
            return first, position
        closer = first.mark.end - 1
        around.report("extra_closer", closer, first.mark.end)
        if key == position or piece.text[position] == ";":
            code = "missing_comma" if key == position else "wrong_separator"
            around.report(code, position, position + (key > position), ",")
        marks: dict[str, ValueSpan] = self.find_marks(first)
        for name, value in members.value.items():
            if name in marks:
                span = piece.raw_span(*marks[name][:2])
                code, where = duplicate_code(first.value[name], value), render_path((self.path, name))
                self.findings.add(Diagnostic(code, where, *span, found=name, detail=shorten(name)))
        self.findings.extend(added)
        self.trace.append((Stage.REPAIR, "text repaired", piece.text[key : members.end], members.value))
        # in place, because copying a long object for each such member would be slow
        first.value.update(members.value)
        if isinstance(members.mark.children, dict):
            marks.update(members.mark.children)
        mark = ValueSpan(first.mark.start, members.end, marks)
        return LocatedValue(first.value, mark, piece, strict=False), members.end

    def are_members(self, text: str, key: int, members: ScanResult, repairs: list[Diagnostic]) -> bool:
        """Return True when further members, not narration, follow an object from the offset `key` on.

        They are members if a brace closes them, or if the first key is quoted and declared. If nothing is
        declared, the first key must be quoted and each value must be JSON.
        """
        if text[members.end - 1] in "}｝" and all(repair.code != "missing_closer" for repair in repairs):
            return True
        declared = known_fields(self.node)
        if is_bare_key(text, key) or (declared and first_key(text, key) not in declared):
            return False
        return bool(declared) or all(repair.code not in _WORDS for repair in repairs)

    def find_marks(self, located: LocatedValue) -> dict[str, ValueSpan]:
        mark = located.mark
        if mark.children is None:
            piece, start = located.piece, located.mark.start
            mark = self.scan_from(piece, start, Lookahead(piece.text), strict=True).mark
        return mark.children if isinstance(mark.children, dict) else {}

    def read_wrapped(self, start: ValueStart) -> tuple[LocatedValue, int]:
        """Read the value after an opening code fence or tag.

        Return the value and the offset after the value. The value never includes the closing fence or tag.
        """
        piece, findings, steps = start.piece, len(self.findings.items), len(self.trace)
        located, end = self.read_at_start(start, Lookahead(piece.text))
        closing = find_closing(piece.text, start)
        if closing is None or end <= closing or closing <= start.position:
            return located, end
        del self.findings.items[findings:], self.trace[steps:]
        inner = SourceText(piece.text[:closing].removesuffix("\n"), piece.parent, piece.start, piece.end)
        located, end = self.read_at_start(replace(start, piece=inner), Lookahead(inner.text))
        return located._replace(piece=piece), end

    def choose_value(
        self, first: LocatedValue, other: LocatedValue, around: Unwrapper, further: Findings
    ) -> LocatedValue:
        """Return one of two successive values, and report the value that is dropped.

        `further` contains the diagnostics in `other`. They are discarded unless `other` is returned.
        """
        code, is_first = choose_value(first, other, self.node)
        dropped, chosen = (other, first) if is_first else (first, other)
        around.report(code, dropped.mark.start, dropped.mark.end)
        if not is_first:
            self.findings.extend(further.items)
        return chosen

    def read_at_start(self, start: ValueStart, ahead: Lookahead) -> tuple[LocatedValue, int]:
        """Read the value at `start`. Valid JSON stays unchanged, and broken JSON is repaired.

        Return the value and the offset after the value.
        """
        end = None if start.opened else find_valid_end(start.piece.text, start.position)
        if end is None:
            return self.repair_at_start(start, ahead)
        strict = self.read_strictly(start.piece, start.position, end)
        return (strict, end) if strict is not None else self.repair_at_start(start, ahead)

    def repair_at_start(self, start: ValueStart, ahead: Lookahead) -> tuple[LocatedValue, int]:
        self.tried.append("repairs")
        before = len(self.findings.items)
        scanned = self.scan_repaired(start, ahead)
        repairs = self.findings.items[before:]
        if not scanned.value and any(repair.code in _CUT for repair in repairs):
            raise UnreadableError("truncated", start.piece.to_raw(start.position))
        if repairs:
            text = start.piece.text[start.position : scanned.end]
            self.trace.append((Stage.REPAIR, "text repaired", text, scanned.value))
        settled = self.fits is not None and self.fits(scanned.value, None)
        return LocatedValue(scanned.value, scanned.mark, start.piece, False, settled), scanned.end

    def scan_repaired(self, start: ValueStart, ahead: Lookahead) -> ScanResult:
        """Read the value at `start`. Words that stand in place of the closing brackets are not read."""
        piece, before = start.piece, len(self.findings.items)
        failure: UnreadableError | None = None
        scanned: ScanResult | None = None
        try:
            scanned = self.scan_from(piece, start.position, ahead, opened=start.opened)
        except UnreadableError as error:
            failure = error
        repairs = self.findings.items[before:]
        rest = None
        if scanned is None or _may_read_rest(repairs):
            rest = _find_rest(piece.text, start.position, len(piece.text) if scanned is None else scanned.end)
        if rest is not None and (scanned is None or _reads_rest(repairs, piece.to_raw(rest))):
            apart = _LayerReader(self.node, Findings(), self.path, [], None)
            head = SourceText(piece.text[:rest] + " ", piece.parent, piece.start, piece.end)
            try:
                shorter = apart.scan_from(head, start.position, Lookahead(head.text), opened=start.opened)
            except UnreadableError:
                shorter = None
            if shorter is not None and shorter.end >= rest and is_whole(apart.findings.items):
                del self.findings.items[before:]
                self.findings.extend(
                    _end_by(diagnostic, piece.to_raw(rest)) for diagnostic in apart.findings.items
                )
                after = piece.text[rest : rest + 100].lstrip()[:1]
                if piece.text[rest - 1] in CLOSING_QUOTES and after not in ("`", "~", "<"):
                    around = Unwrapper(piece, self.findings, self.path)
                    around.report("ambiguous", rest, rest)
                return replace(shorter, end=rest)
        if scanned is None:
            raise failure or UnreadableError("truncated", start.position)
        return scanned

    def read_strictly(self, piece: SourceText, start: int, end: int) -> LocatedValue | None:
        text = piece.text if (start, end) == (0, len(piece.text)) else piece.text[start:end]
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        if self.fits is not None and self.fits(value, text):
            return LocatedValue(value, ValueSpan(start, end), piece, strict=True, settled=True)
        is_raw = piece.parent is None and type(value) is dict and text is piece.text
        # parse_arguments already tried the raw text
        mark = None if is_raw else locate_values(piece.text, start)
        if mark is not None:
            return LocatedValue(value, mark, piece, strict=True)
        scanned = self.scan_from(piece, start, Lookahead(piece.text), strict=True)
        return LocatedValue(scanned.value, scanned.mark, piece, strict=True)

    def scan_from(
        self, piece: SourceText, start: int, ahead: Lookahead, *, opened: bool = False, strict: bool = False
    ) -> ScanResult:
        try:
            return scan_value(
                piece,
                start,
                self.node,
                self.findings,
                path=self.path,
                ahead=ahead,
                opened=opened,
                strict=strict,
            )
        except UnreadableError as error:
            raise UnreadableError(error.reason, piece.to_raw(error.position)) from None


# --- text after an object without closing brackets -----------------------------------------------------

_LINE = compile_regex(r"\n\s*+(?:(?:`{3,}+|~{3,}+)[ \t]*+(?:\n|\Z)|[A-Z][a-z']*+[ ,:]|[-*] \w|\()")
_TAG = compile_regex(r"<(?:/[A-Za-z_][\w:.\-]*+|\|[\w\-]++\|)>")
_DOUBTS = frozenset({
    "unescaped_inner_quote", "unclosed_string", "truncated_member_dropped", "truncated_text", "ambiguous",
    "truncated_number", "truncated_literal", "missing_value", "extra_quote", "stray_text_dropped",
})  # fmt: skip
_OPEN = frozenset(
    {"missing_closer", "unclosed_string", "missing_closing_quote", "extra_closer", "wrong_closer"}
)
_LACKS = frozenset({"missing_closer", "wrong_closer", "missing_closing_quote"})
_AT_END = frozenset({"missing_closer", "extra_closer", "wrong_closer"})


def _may_read_rest(diagnostics: Sequence[Diagnostic]) -> bool:
    """Return True when brackets or quotes are missing at the end, and another repair was also made."""
    codes = {diagnostic.code for diagnostic in diagnostics}
    return not codes.isdisjoint(_OPEN) and not codes <= _AT_END


def _find_rest(text: str, start: int, end: int) -> int | None:
    """Return the offset of a fence, a tag or a sentence on its own line between `start` and `end`, or None.

    What follows the offset closes no more brackets than it opens.
    """
    starts = [rest.start() for kind in (_LINE, _TAG) if (rest := kind.search(text, start, end)) is not None]
    if not starts:
        return None
    at = min(starts)
    return at if text.count("}", at, end) <= text.count("{", at, end) else None


def _reads_rest(diagnostics: Sequence[Diagnostic], rest: int) -> bool:
    """Return True when a repair other than missing brackets was made after the offset `rest`."""
    return any(
        diagnostic.end is not None and diagnostic.end > rest and diagnostic.code not in _AT_END
        for diagnostic in diagnostics
    )


def is_whole(diagnostics: Sequence[Diagnostic]) -> bool:
    """Return True when only closing brackets of an object are missing and nothing else is in doubt."""
    codes = {diagnostic.code for diagnostic in diagnostics}
    return not codes.isdisjoint(_LACKS) and codes.isdisjoint(_DOUBTS)
