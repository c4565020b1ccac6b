"""A text → the one value in it, however it is wrapped, broken or encoded: unwrap and repair, layer by
layer.

Text that is valid JSON meets neither. Where several values follow one another, one is chosen and said.
Knows nothing of what the value should be, but hands the definition's node to the repair.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from lenient.codes import Stage
from lenient.diagnostics import Diagnostic, Findings, Path, render_path, shorten
from lenient.located import Located
from lenient.narration import OBJECT_START
from lenient.nodes import Node, known_fields
from lenient.repair import Scan, UnreadableError, scan
from lenient.repair.lines import lacks_braces, read_lines
from lenient.repair.strings import CLOSING_QUOTES, Lookahead
from lenient.several import choose, is_foreign
from lenient.source import Mark, Piece
from lenient.unwrap import ESCAPED_LINES, ESCAPED_START, MAX_LAYERS, Start, Unwrapper
from lenient.valid import valid_end

Fits = Callable[[Any, str | None], bool]
"""Does a value need no further look? With the text it came from, keys that were sent twice are found."""
_BRACED = re.compile(r"\s*+(?:[{\[]|\"\s*+[\\{\[])")
_SHORT = 4_096  # characters; of a longer text looking around takes the smaller part


def read_value(
    piece: Piece,
    node: Node | None,
    findings: Findings,
    *,
    path: Path = None,
    trace: list[Any] | None = None,
    fits: Fits | None = None,
    broken: bool = False,
) -> Located:
    """The value that a text holds, however often it was encoded. Raises UnreadableError,
    TooManyFindingsError.

    A value that `fits` its definition is not looked at again: it comes back settled. `broken` = the text is
    known to be no JSON.
    """
    layer = _Layer(node, findings, path, trace if trace is not None else [], fits)
    for number in range(MAX_LAYERS + 1):
        located = layer.read(piece, broken=broken and number == 0)
        if not isinstance(located.value, str) or not _may_hold_json(located.value):
            return located
        piece = layer.decoded(located)
    raise UnreadableError("string_encoded_too_deep", piece.origin(0))


def decode_held(located: Located, node: Node, path: Path, findings: Findings) -> Located | None:
    """The object or array that a string value holds, None when it holds neither."""
    if located.value.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[", '"', "`", "("):
        return None
    try:
        inner = read_value(_inside(located), node, findings, path=path)
    except UnreadableError:
        return None
    return inner if isinstance(inner.value, (dict, list)) else None


def _inside(located: Located) -> Piece:
    """The text that a string value holds, mapped to its place."""
    mark, piece = located.mark, located.piece
    quoted = piece.text[mark.start : mark.start + 1] in CLOSING_QUOTES
    start, end = (mark.start + 1, mark.end - 1) if quoted else (mark.start, mark.end)
    return Piece(located.value, piece, start, max(start, end))


def _may_hold_json(text: str) -> bool:
    """Blank text, or text with a bracket or a quote at its start, or an object in it."""
    trimmed = text.strip()
    return (
        not trimmed
        or trimmed[0] in '{["'
        or trimmed.startswith("```")
        or OBJECT_START.search(trimmed) is not None
    )


class _Layer:
    """Reads one value from one text after another; findings and steps go to the lists it was given."""

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
        self.fits = fits

    def decoded(self, located: Located) -> Piece:
        """The text inside a string value, reported as one layer of encoding."""
        mark, piece = located.mark, located.piece
        span = piece.span(mark.start, mark.end)
        found = shorten(located.snippet())
        self.findings.add(Diagnostic("string_encoding_removed", render_path(self.path), *span, found=found))
        self.trace.append((Stage.UNWRAP, "string decoded", piece.text, located.value))
        return _inside(located)

    def read(self, piece: Piece, *, broken: bool) -> Located:
        """The value of a text, with what stands around it set aside."""
        whole = None if broken else self.strictly(piece, 0, len(piece.text))
        if whole is not None:
            return whole
        if broken and (bare := self.bare_object(piece)) is not None:
            return bare
        before = len(self.findings.items)
        if (lines := self.lines(piece)) is not None:
            return lines
        try:
            start = Unwrapper(piece, self.findings, self.path).start()
        except UnreadableError as error:
            raise UnreadableError(error.reason, piece.origin(error.position)) from None
        if start.blank:
            return self.blank(piece)
        if len(self.findings.items) > before:
            after = start.piece.text[start.position :]
            self.trace.append((Stage.UNWRAP, "surroundings removed", piece.text, after))
        return self.settled(start)

    def bare_object(self, piece: Piece) -> Located | None:
        """The broken object that a short text is, with nothing around it."""
        text = piece.text
        if len(text) > _SHORT or text[:1] != "{" or text[-1] != "}":
            return None
        if ESCAPED_START.match(text) or ESCAPED_LINES.match(text):
            return None
        apart = _Layer(self.node, Findings(), self.path, [], self.fits)
        try:
            located, end = apart.mended(Start(piece, 0), Lookahead(text))
        except UnreadableError:
            return None
        if end < len(text):
            return None
        self.findings.extend(apart.findings.items)
        self.trace.extend(apart.trace)
        return located

    def lines(self, piece: Piece) -> Located | None:
        """The object of a text that has no braces at all: names and values, in lines or in a row."""
        if _BRACED.match(piece.text):
            return None
        declared = known_fields(self.node)
        if lacks_braces(piece.text, declared):
            start = Start(piece, len(piece.text) - len(piece.text.lstrip()), opened=True)
            return self.settled(start)
        read = read_lines(piece, declared)
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
        return Located(read.value, read.mark, piece, strict=False)

    def blank(self, piece: Piece) -> Located:
        where, span = render_path(self.path), piece.span(0, len(piece.text))
        self.findings.add(Diagnostic("empty_arguments", where, *span, became="{}"))
        return Located({}, Mark(0, len(piece.text), {}), piece, strict=False)

    def settled(self, start: Start) -> Located:
        """The value at its start, after a choice where several follow one another."""
        piece, ahead = start.piece, Lookahead(start.piece.text)
        located, end = self.within_fence(start) if start.fenced else self.either(start, ahead)
        around = Unwrapper(piece, self.findings, self.path)
        while (position := around.rest(start, end)) < len(piece.text):
            further = _Layer(self.node, Findings(), self.path, [], None)
            try:
                other, end = further.either(replace(start, position=position, opened=False), ahead)
            except UnreadableError:
                around.report("narration_removed", position, len(piece.text))
                break
            located = self.chosen(located, other, around, further.findings)
        if start.narrated and is_foreign(located, self.node):
            raise UnreadableError("no_object_found", located.mark.start)
        return located

    def within_fence(self, start: Start) -> tuple[Located, int]:
        """The value after an opening fence; what would take in the closing fence ends before it."""
        piece, findings, steps = start.piece, len(self.findings.items), len(self.trace)
        located, end = self.either(start, Lookahead(piece.text))
        body = piece.text.rstrip().rstrip("`")
        if end < len(body) + 3 or len(body) <= start.position:
            return located, end
        del self.findings.items[findings:], self.trace[steps:]
        inner = Piece(body.removesuffix("\n"), piece.parent, piece.start, piece.end)
        located, end = self.either(replace(start, piece=inner), Lookahead(inner.text))
        return replace(located, piece=piece), end

    def chosen(self, first: Located, other: Located, around: Unwrapper, further: Findings) -> Located:
        """The one of two values in a row that counts; what was found in the other is forgotten."""
        code, is_first = choose(first, other, self.node)
        dropped, kept = (other, first) if is_first else (first, other)
        around.report(code, dropped.mark.start, dropped.mark.end)
        if not is_first:
            self.findings.extend(further.items)
        return kept

    def either(self, start: Start, ahead: Lookahead) -> tuple[Located, int]:
        """The value at its start, as it stands when it is JSON up to its end, else mended."""
        end = None if start.opened else valid_end(start.piece.text, start.position)
        if end is None:
            return self.mended(start, ahead)
        strict = self.strictly(start.piece, start.position, end)
        return (strict, end) if strict is not None else self.mended(start, ahead)

    def mended(self, start: Start, ahead: Lookahead) -> tuple[Located, int]:
        """The value at its start, mended, and the place after it."""
        before = len(self.findings.items)
        found = self.scanned(start.piece, start.position, ahead, opened=start.opened)
        if len(self.findings.items) > before:
            text = start.piece.text[start.position : found.end]
            self.trace.append((Stage.REPAIR, "text mended", text, found.value))
        settled = self.fits is not None and self.fits(found.value, None)
        return Located(found.value, found.mark, start.piece, False, settled), found.end

    def strictly(self, piece: Piece, start: int, end: int) -> Located | None:
        """The value when `piece.text[start:end]` is JSON; located by a scan that mends nothing."""
        text = piece.text if (start, end) == (0, len(piece.text)) else piece.text[start:end]
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        if self.fits is not None and self.fits(value, text):
            return Located(value, Mark(start, end), piece, strict=True, settled=True)
        found = self.scanned(piece, start, Lookahead(piece.text), strict=True)
        return Located(found.value, found.mark, piece, strict=True)

    def scanned(
        self, piece: Piece, start: int, ahead: Lookahead, *, opened: bool = False, strict: bool = False
    ) -> Scan:
        try:
            return scan(
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
            raise UnreadableError(error.reason, piece.origin(error.position)) from None
