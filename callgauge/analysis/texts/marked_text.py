"""Annotates text in any script with line numbers, and with carets under marked spans."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callgauge.analysis.wording import shorten, visible

WIDTH = 100  # number of columns before a line is wrapped
LIMIT = 20_000  # maximum number of characters shown
_OFFSET = re.compile(r"\b(?:char|position) (\d{1,9})\b")
_COLUMN = re.compile(r"(?:\bline (\d{1,9})[ ,:]+)?\bcolumn (\d{1,9})\b")
_BLANKS = re.compile(r"\s+")
_GAP = 2  # minimum number of columns between two marks on one line
_BEYOND = 4  # number of columns by which a label may extend beyond the text
_BEFORE = 2_000  # maximum number of characters kept before the first mark


@dataclass(frozen=True, slots=True)
class TextMark:
    """A span of a text and its label. The character at `end` is not included.

    An empty span marks a position between two characters.
    """

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The position of a character: 1-based line and column, and the UTF-8 byte offset."""

    line: int
    column: int
    byte: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


def locate(text: str, index: int) -> TextPlace:
    before = text[:index]
    line = before.count("\n") + 1
    column = index - (before.rfind("\n") + 1) + 1
    return TextPlace(line, column, len(before.encode("utf-8", "surrogatepass")))


def find_named_position(message: str, text: str) -> int | None:
    """Return the index of the character of `text` that a JSON parser's error message names, or None.

    The message may have the format of Python (`line 1 column 5 (char 4)`) or V8 (`at position 4`). Return
    None if the position is outside of `text`, or if line and column contradict the offset.
    """
    offset = _OFFSET.search(message)
    column = _COLUMN.search(message)
    if offset is None and column is None:
        return None
    by_offset = int(offset[1]) if offset else None
    by_column = _index_at(text, int(column[1] or 1), int(column[2])) if column else by_offset
    agreed = by_column if by_offset in (None, by_column) else None
    return agreed if agreed is not None and 0 <= agreed < len(text) else None


def _index_at(text: str, line: int, column: int) -> int | None:
    lines = text.split("\n", line)
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return None
    return sum(len(before) + 1 for before in lines[: line - 1]) + column - 1


def shown_window(text: str, marks: Sequence[TextMark]) -> tuple[int, int]:
    """Return the span of a long text to show.

    It starts at the beginning of the text or just before the first mark.
    """
    first = min((mark.start for mark in marks), default=0)
    start = 0 if first < LIMIT - _BEFORE else first - _BEFORE
    return start, min(len(text), start + LIMIT)


def annotate(
    text: str,
    marks: Sequence[TextMark] = (),
    *,
    spaces: bool = False,
    width: int = WIDTH,
    most: int | None = None,
) -> str:
    """Return the text with line numbers, and under each line the carets and labels of the line's marks.

    Marks that do not overlap share a line. If the text is long, only the span that `shown_window` returns is
    included. If `spaces` is True, white space is shown as symbols. A line is wrapped after `width` columns.
    If there are more than `most` lines, lines far from any mark are folded.
    """
    start, end = shown_window(text, marks)
    number = text.count("\n", 0, start) + 1
    gutter = len(str(number + text.count("\n", start, end)))
    rows: list[str] = []
    marked: list[int] = []  # the rows that contain a mark or carets
    for offset, line in _split_lines(text, start, end):
        for nth, (at, chunk) in enumerate(_split_chunks(line, offset, width, spaces)):
            head = str(number) if nth == 0 else "·"
            rows.append(f"{head:>{gutter}} │ {_show_blanks(chunk, spaces)}".rstrip())
            last = at + len(chunk) == offset + len(line)
            in_chunk = [
                mark
                for mark in marks
                if at <= mark.start < at + len(chunk) or (last and mark.start == at + len(chunk))
            ]
            before = len(rows) - 1
            rows += [
                f"{'':>{gutter}} │ {carets}" for carets in _draw_carets(chunk, at, in_chunk, spaces, width)
            ]
            marked += range(before, len(rows)) if in_chunk else ()
        number += 1
    if most is not None and len(rows) > most and marked:
        rows = _fold_rows(rows, marked, gutter)
    return "\n".join(rows)


def _fold_rows(rows: Sequence[str], marked: Sequence[int], gutter: int) -> list[str]:
    """Return the first row, the marked rows and their neighbours.

    Each group of other rows becomes one row.
    """
    near = {place + step for place in marked for step in (-1, 0, 1)}
    shown = sorted({0} | (near & set(range(len(rows)))))
    folded = list[str]()
    for place, after in zip(shown, [*shown[1:], len(rows)], strict=True):
        folded.append(rows[place])
        if after - place == 2:
            folded.append(rows[place + 1])
        elif after - place > 2:
            folded.append(f"{'':>{gutter}} ⋮ {after - place - 1:,} more lines")
    return folded


def _split_lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    offset = start
    for line in text[start:end].split("\n"):
        yield offset, line
        offset += len(line) + 1


def _split_chunks(line: str, offset: int, width: int, spaces: bool) -> Iterator[tuple[int, str]]:
    """Yield sections of a line, at most `width` columns wide, and the offset of each section in the text."""
    start = columns = 0
    for at, char in enumerate(line):
        wide = 1 if " " <= char <= "~" else _count_columns(_show_blanks(char, spaces))
        if columns + wide > width and at > start:
            yield offset + start, line[start:at]
            start, columns = at, 0
        columns += wide
    yield offset + start, line[start:]


def _draw_carets(chunk: str, at: int, marks: Sequence[TextMark], spaces: bool, width: int) -> list[str]:
    """Return the lines of carets and labels below a section of a line.

    Each mark is on the first line with enough room. A label that would end far beyond `width` is written
    before its carets, or below its carets if there is no room.
    """
    lines: list[str] = []

    def write(text: str, column: int, first: int = 0) -> int:
        places = range(first, len(lines))
        place = next((n for n in places if _count_columns(lines[n]) + _GAP <= column), len(lines))
        while place >= len(lines):
            lines.append("")
        lines[place] += f"{' ' * (column - _count_columns(lines[place]))}{text}"
        return place

    for mark in marks:
        begin = mark.start - at
        inside = chunk[begin : mark.end - at] if mark.end > mark.start else ""
        carets = "^" * max(1, _count_columns(_show_blanks(inside, spaces)))
        more = "…" if mark.end > at + len(chunk) + 1 else ""
        carets += more
        column = _count_columns(_show_blanks(chunk[:begin], spaces))
        if column + len(carets) + 1 + len(mark.label) <= width + _BEYOND:
            write(f"{carets} {mark.label}", column)
        elif column > len(mark.label):
            write(f"{mark.label} {carets}", column - len(mark.label) - 1)
        else:
            write(mark.label, column, first=write(carets, column) + 1)
    return lines


def _show_blanks(text: str, spaces: bool) -> str:
    return visible(text.replace("\t", "→   " if spaces else "    "), spaces=spaces).replace("\n", "")


def _count_columns(text: str) -> int:
    """Return the width in monospaced columns: two for wide East Asian characters, none for combining
    characters.
    """
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def find_hits(text: str, searched: str) -> list[tuple[int, int]]:
    """Return the half-open spans of `text` that match `searched`, case-insensitively, without overlap."""
    if not searched:
        return []
    lowered = [char.lower() for char in text]
    starts = [index for index, chars in enumerate(lowered) for _ in chars]
    whole, sought = "".join(lowered), "".join(char.lower() for char in searched)
    hits: list[tuple[int, int]] = []
    at = whole.find(sought)
    while at >= 0:
        hits.append((starts[at], starts[at + len(sought) - 1] + 1))
        at = whole.find(sought, at + len(sought))
    return hits


def one_line_with_hits(
    text: str, searched: str | None, limit: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the string that `wording.one_line` makes of a text, and the spans of this string that contain
    `searched`.
    """
    shown, spans, end = "", [], 0
    for start, stop in [*find_hits(text, searched or ""), (len(text), len(text))]:
        shown += _flatten(text[end:start])
        hit = _flatten(text[start:stop])
        if hit:
            spans.append((len(shown), len(shown) + len(hit)))
        shown += hit
        end = stop
    cut = shorten(shown, limit)
    return cut, tuple((start, min(stop, limit)) for start, stop in spans if start < len(cut))


def _flatten(text: str) -> str:
    return visible(_BLANKS.sub(" ", text))
