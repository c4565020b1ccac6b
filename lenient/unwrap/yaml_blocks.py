"""Reads lines in YAML block style that have only one meaning: nested keys, lists, scalars, `|` and `>`.

Raises UnfitError for anchors and tags, and for flow style or plain scalars over several lines. Values have
the types of JSON; `yes` and `~` stay strings.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lenient.diagnostics import MAX_DEPTH, Findings, TooManyFindingsError, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.scanner import scan_value
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.escapes import decode_body

KEY_LINE = compile_regex(
    r"(?:\"([^\"\\]{1,64})\"|'([^'\\]{1,64})'|([A-Za-z_][\w.\-]*+))[ \t]*+:(?:[ \t]++(.*+))?"
)
_BLOCK_MARK = compile_regex(r"([|>])([+\-]?)")
_ITEM = compile_regex(r"-(?:([ ]++)(.*+))?")
_UNFIT_SCALAR = compile_regex(r"[&*!|>%@`]|[{\[\"'].*+")
_FLOW_MENDS = frozenset({"unquoted_string", "unquoted_key", "single_quotes"})
LITERALS = {"true": True, "false": False, "null": None}
NUMBER = compile_regex(r"-?(?:0|[1-9]\d{0,300}+)(?:\.\d++)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_COMMENT = compile_regex(r"(?<=\S)\s+#(?=\s).*")
_SINGLE = compile_regex(r"'(?:[^']|'')*+'")
_DOUBLE = compile_regex(r"\"(?:[^\"\\]|\\.)*+\"")


class UnfitError(Exception):
    """Raised when a line cannot be read, or can be read in more than one way.

    `lenient.unwrap.key_value_lines` catches this error.
    """


class YamlLine(NamedTuple):
    """One line: its offset, the width of its indentation, and the content after the indentation."""

    start: int
    indent: int
    text: str


class _OpenBlock:
    """An open mapping or list, and the width of its indentation.

    `key` is the key whose value the next lines contain, or None when no value is expected.
    """

    __slots__ = ("indent", "key", "marks", "start", "value")

    def __init__(self, indent: int, start: int, value: Any) -> None:
        self.indent = indent
        self.start = start
        self.value = value
        self.marks: Any = {} if isinstance(value, dict) else []
        self.key: str | None = None


class YamlReader:
    """Reads lines in block style into one object.

    A ` #` and everything after it were removed as a comment. `doubtful` contains the spans of these comments.
    """

    def __init__(self, piece: SourceText, lines: list[YamlLine]) -> None:
        self.piece = piece
        self.text = piece.text
        self.lines = lines
        self.doubtful: list[ValueSpan] = []
        self.stack = [_OpenBlock(lines[0].indent, lines[0].start, {})]
        self.end = lines[0].start

    def read_lines(self) -> tuple[dict[str, Any], ValueSpan]:
        root = self.stack[0]
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            at += 1
            if not line.text or line.text.startswith("#"):
                continue
            if line.text.startswith("\t"):
                raise UnfitError
            at = self.read_item(line, at) if _ITEM.fullmatch(line.text) else self.read_member(line, at)
        self.close_deeper(-1)
        return root.value, ValueSpan(root.start, self.end, root.marks)

    def close_deeper(self, indent: int) -> None:
        """Close the blocks that are indented deeper than `indent`.

        Raises UnfitError for a key without a value.
        """
        while self.stack and self.stack[-1].indent > indent:
            frame = self.stack.pop()
            if frame.key is not None:
                raise UnfitError  # the key has no value
            if self.stack:
                self.put_value(frame.value, ValueSpan(frame.start, self.end, frame.marks))

    def put_value(self, value: Any, mark: ValueSpan) -> None:
        frame = self.stack[-1]
        self.end = max(self.end, mark.end)
        if isinstance(frame.value, list):
            frame.value.append(value)
            frame.marks.append(mark)
        elif frame.key is None:
            raise UnfitError
        else:
            frame.value[frame.key], frame.marks[frame.key] = value, mark
            frame.key = None

    def open_block(self, indent: int, start: int, value: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise UnfitError
        self.stack.append(_OpenBlock(indent, start, value))

    def read_item(self, line: YamlLine, following: int) -> int:
        """Read a list item, which is a line that starts with a dash. Return the index of the next line."""
        match = _ITEM.fullmatch(line.text)
        waits = self.stack[-1].key is not None and line.indent >= self.stack[-1].indent
        if waits:
            self.open_block(line.indent + 1, line.start, [])  # the list has the same indentation as its key
        else:
            self.close_deeper(line.indent + 1)
        if (
            not self.stack
            or not isinstance(self.stack[-1].value, list)
            or match is None
            or not match.group(2)
        ):
            raise UnfitError
        if self.stack[-1].indent != line.indent + 1:
            raise UnfitError
        inner = YamlLine(line.start, line.indent + match.start(2), match.group(2))
        if KEY_LINE.fullmatch(inner.text) is None:
            return self.read_scalar(inner.text, inner, following)
        self.open_block(inner.indent + 1, inner.start + inner.indent, {})
        return self.read_pair(inner, following)

    def read_member(self, line: YamlLine, following: int) -> int:
        """Read a line with a key. Return the index of the next line."""
        top = self.stack[-1]
        if top.key is not None and line.indent + 1 > top.indent + (top is self.stack[0]):
            self.open_block(line.indent + 1, line.start + line.indent, {})
        else:
            self.close_deeper(line.indent + 1 if len(self.stack) > 1 else line.indent)
        return self.read_pair(line, following)

    def read_pair(self, line: YamlLine, following: int) -> int:
        frame, match = self.stack[-1] if self.stack else None, KEY_LINE.fullmatch(line.text)
        if frame is None or match is None or not isinstance(frame.value, dict) or frame.key is not None:
            raise UnfitError
        if frame.indent != line.indent + (frame is not self.stack[0]):
            raise UnfitError
        name = match.group(1) or match.group(2) or match.group(3)
        if name in frame.value:
            raise UnfitError
        frame.key = name
        written = match.group(4)
        if not written:
            return following
        at = line.indent + match.start(4)
        return self.read_scalar(written, YamlLine(line.start, at, written), following)

    def read_scalar(self, written: str, line: YamlLine, following: int) -> int:
        """Read the value after a key or dash, including the block lines of the value.

        Return the index of the next line.
        """
        start = line.start + line.indent
        block = _BLOCK_MARK.fullmatch(written)
        if block is not None:
            return self.read_block(block, start, following)
        mark = ValueSpan(start, start + len(written))
        if written[0] not in "\"'" and (comment := _COMMENT.search(written)) is not None:
            self.doubtful.append(ValueSpan(start + comment.start(), mark.end))
            written, mark = written[: comment.start()], ValueSpan(start, start + comment.start())
        if written[0] in "{[":
            self.put_value(*read_flow(self.piece, *mark[:2]))
        else:
            self.put_value(_read_scalar(written), mark)
        return following

    def read_block(self, sign: re.Match[str], start: int, following: int) -> int:
        """Read the block that `|` or `>` opens. Return the index of the next line."""
        outer = self.stack[-1].indent - (len(self.stack) > 1)
        at = following
        while at < len(self.lines) and (not self.lines[at].text or self.lines[at].indent > outer):
            at += 1
        block_lines = self.lines[following:at]
        indents = [line.indent for line in block_lines if line.text]
        if not indents or indents[0] != min(indents):
            raise UnfitError
        written = [self.raw_line(line)[indents[0] :] for line in block_lines]
        while written and not written[-1]:
            written.pop()
        text = "\n".join(written) if sign.group(1) == "|" else _fold_lines(written)
        end = max(line.start + len(self.raw_line(line)) for line in block_lines if line.text)
        self.put_value(text + ("" if sign.group(2) == "-" else "\n"), ValueSpan(start, end))
        return at

    def raw_line(self, line: YamlLine) -> str:
        """Return the line with its indentation and without its line break."""
        end = self.text.find("\n", line.start)
        return self.text[line.start : end if end >= 0 else len(self.text)].rstrip("\r")


def _fold_lines(lines: list[str]) -> str:
    """Return the content of a `>` block. Blanks join the lines, and empty lines separate paragraphs."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(lines)).replace("\n\n", "\n")


def read_flow(piece: SourceText, start: int, end: int) -> tuple[Any, ValueSpan]:
    """Return the object or array in `piece.text[start:end]`, and the span of the value.

    It is JSON, possibly with unquoted words or single quotes. Raises UnfitError for anything else.
    """
    findings = Findings()
    try:
        scanned = scan_value(piece, start, None, findings)
    except (UnreadableError, TooManyFindingsError):
        raise UnfitError from None
    if scanned.end != end or not _FLOW_MENDS.issuperset(repair.code for repair in findings.items):
        raise UnfitError
    return scanned.value, scanned.mark


def _read_scalar(written: str) -> Any:
    if written in LITERALS:
        return LITERALS[written]
    if NUMBER.fullmatch(written):
        return float(written) if any(sign in written for sign in ".eE") else int(written)
    if _SINGLE.fullmatch(written):
        return written[1:-1].replace("''", "'")
    if _DOUBLE.fullmatch(written):
        return decode_body(written, 1, len(written) - 1).text
    if _UNFIT_SCALAR.match(written):
        raise UnfitError
    return written
