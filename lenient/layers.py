"""A text → the one value in it, however it is wrapped, broken or encoded: unwrap and repair, layer by
layer.

Text that is valid JSON meets neither. Where several values follow one another, one is chosen and said.
Knows nothing of what the value should be, but hands the definition's node to the repair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from lenient.codes import Stage
from lenient.diagnostics import Diagnostic, Findings, Path, render_path, shorten
from lenient.located import Located
from lenient.nodes import Node
from lenient.repair import Scan, UnreadableError, scan
from lenient.repair.strings import CLOSING_QUOTES
from lenient.source import Mark, Piece, decoded_piece
from lenient.unwrap import OBJECT_START, Start, Unwrapper

MAX_LAYERS = 10
"""Layers of string encoding that are undone."""


def read_value(
    piece: Piece, node: Node | None, findings: Findings, *, path: Path = None, trace: list[Any] | None = None
) -> Located:
    """The value that a text holds, however often it was encoded. Raises UnreadableError and
    TooManyFindingsError.
    """
    for _ in range(MAX_LAYERS + 1):
        located = _read_layer(piece, node, findings, path, trace if trace is not None else [])
        value, mark = located.value, located.mark
        if not isinstance(value, str) or not _may_hold_json(value):
            return located
        span = located.piece.span(mark.start, mark.end)
        findings.add(
            Diagnostic("string_encoding_removed", render_path(path), *span, found=shorten(located.snippet()))
        )
        quoted = located.piece.text[mark.start : mark.start + 1] in CLOSING_QUOTES
        start, end = (mark.start + 1, mark.end - 1) if quoted else (mark.start, mark.end)
        piece = decoded_piece(located.piece, start, max(start, end), value)
        if trace is not None:
            trace.append((Stage.UNWRAP, "string decoded", located.piece.text, value))
    raise UnreadableError("string_encoded_too_deep", piece.origin(0))


def _may_hold_json(text: str) -> bool:
    """Blank text, or text with a bracket or a quote at its start, or an object in it."""
    trimmed = text.strip()
    return (
        not trimmed
        or trimmed[0] in '{["'
        or trimmed.startswith("```")
        or OBJECT_START.search(trimmed) is not None
    )


def _read_layer(piece: Piece, node: Node | None, findings: Findings, path: Path, trace: list[Any]) -> Located:
    """One value, and what stands around it."""
    whole = _strictly(piece, 0, len(piece.text), node, findings, path)
    if whole is not None:
        return whole
    before = len(findings.items)
    unwrapper = Unwrapper(piece, findings, path)
    try:
        start = unwrapper.start()
    except UnreadableError as error:
        raise UnreadableError(error.reason, piece.origin(error.position)) from None
    if start.blank:
        findings.add(
            Diagnostic("empty_arguments", render_path(path), *piece.span(0, len(piece.text)), became="{}")
        )
        return Located({}, Mark(0, len(piece.text), {}), piece, strict=False)
    if len(findings.items) > before:
        trace.append((Stage.UNWRAP, "surroundings removed", piece.text, start.piece.text[start.position :]))
    return _settled(start, node, findings, path, trace)


def _settled(start: Start, node: Node | None, findings: Findings, path: Path, trace: list[Any]) -> Located:
    """The value at its start, after a choice where several follow one another."""
    located, end = _one_value(start, start.position, node, findings, path, trace)
    around = Unwrapper(start.piece, findings, path)
    while (position := around.rest(start, end)) < len(start.piece.text):
        further = Findings()
        try:
            other, end = _one_value(replace(start, opened=False), position, node, further, path, [])
        except UnreadableError:
            around.report("narration_removed", position, len(start.piece.text))
            break
        located = _chosen(located, other, node, around, findings, further)
    return located


def _chosen(
    first: Located,
    other: Located,
    node: Node | None,
    around: Unwrapper,
    findings: Findings,
    further: Findings,
) -> Located:
    """Of two values in a row: the one that is not empty, not a repetition, and has what the tool requires."""
    code, dropped, kept = "further_value_dropped", other, first
    if first.value == {} and other.value:
        code, dropped, kept = "empty_object_skipped", first, other
    elif first.value == other.value:
        code = "repeated_value_skipped"
    elif other.value == {}:
        code = "empty_object_skipped"
    elif node is not None and isinstance(other.value, dict) and isinstance(first.value, dict):
        lacks = node.required - first.value.keys()
        if lacks and not node.required - other.value.keys():
            dropped, kept = first, other
    around.report(code, dropped.mark.start, dropped.mark.end)
    if kept is other:
        findings.extend(further.items)
    return kept


def _one_value(
    start: Start, position: int, node: Node | None, findings: Findings, path: Path, trace: list[Any]
) -> tuple[Located, int]:
    """The value at a position: by orjson when the text up to the last bracket is JSON, else mended."""
    piece = start.piece
    end = max(piece.text.rfind("}"), piece.text.rfind("]")) + 1
    if not start.opened and end > position:
        strict = _strictly(piece, position, end, node, findings, path)
        if strict is not None:
            return strict, end
    before = len(findings.items)
    found = _scanned(piece, position, node, findings, path, opened=start.opened)
    if len(findings.items) > before:
        trace.append((Stage.REPAIR, "text mended", piece.text[position : found.end], found.value))
    return Located(found.value, found.mark, piece, strict=False), found.end


def _strictly(
    piece: Piece, start: int, end: int, node: Node | None, findings: Findings, path: Path
) -> Located | None:
    """The value when `piece.text[start:end]` is JSON; located by a scan that mends nothing."""
    text = piece.text if (start, end) == (0, len(piece.text)) else piece.text[start:end]
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    found = _scanned(piece, start, node, findings, path, strict=True)
    return Located(found.value, found.mark, piece, strict=True)


def _scanned(
    piece: Piece,
    start: int,
    node: Node | None,
    findings: Findings,
    path: Path,
    *,
    opened: bool = False,
    strict: bool = False,
) -> Scan:
    try:
        return scan(piece, start, node, findings, path=path, opened=opened, strict=strict)
    except UnreadableError as error:
        raise UnreadableError(error.reason, piece.origin(error.position)) from None


def decode_held(located: Located, node: Node, path: Path, findings: Findings) -> Located | None:
    """The object or array that a string value holds, None when it holds neither."""
    text = located.value
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[", '"', "`", "("):
        return None
    mark = located.mark
    quoted = located.piece.text[mark.start : mark.start + 1] in CLOSING_QUOTES
    start, end = (mark.start + 1, mark.end - 1) if quoted else (mark.start, mark.end)
    try:
        inner = read_value(
            decoded_piece(located.piece, start, max(start, end), text), node, findings, path=path
        )
    except UnreadableError:
        return None
    return inner if isinstance(inner.value, (dict, list)) else None
