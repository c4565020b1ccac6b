"""A text, a place in it and the brackets open there: what all parts of the scanner share while one value is
read. Takes finished values in and gives mends out to the findings; knows nothing of what a sign means.
"""

from __future__ import annotations

from typing import Any

from lenient.diagnostics import MAX_FOUND, Diagnostic, Findings, Path, shorten
from lenient.repair.ends import End
from lenient.repair.follows import Place, Role
from lenient.repair.frames import Frame, path_in, role_in
from lenient.repair.gaps import pass_gap
from lenient.repair.plain import PlainReader
from lenient.repair.quoted import StringReader
from lenient.source import Mark, Piece


class Reading:
    """How far the reading of one value has come. `done` is the value and its mark, once it is read."""

    __slots__ = (
        "colon_passed", "done", "dropped", "findings", "piece", "plain", "position", "root_path", "stack",
        "strings", "text",
    )  # fmt: skip

    def __init__(
        self, piece: Piece, start: int, findings: Findings, path: Path, strings: StringReader
    ) -> None:
        self.piece = piece
        self.text = piece.text
        self.position = start
        self.findings = findings
        self.root_path = path
        self.stack: list[Frame] = []
        self.done: tuple[Any, Mark] | None = None
        self.dropped = False  # a part that the text's end cut off was left out
        self.colon_passed = False  # the quotes of the last key held its colon
        self.strings = strings
        strings.report = self.report
        self.plain = PlainReader(piece.text, self.report, strings.decoded)

    # --- on through the text -------------------------------------------------------------------------

    def gap(self) -> None:
        """Go on to the next part."""
        self.position = pass_gap(self.text, self.position, self.report)

    def place(self, role: Role) -> Place:
        """Where a string that stands here would stand."""
        return Place(role, self.stack, self.strings.ahead.tail)

    def place_of_value(self) -> Place:
        return self.place(role_in(self.stack))

    def string(self, role: Role) -> tuple[str, End]:
        """The string whose opening quote is here."""
        text, end = self.strings.read(self.position, self.place(role))
        self.position = end.after
        return text, end

    # --- finished values -----------------------------------------------------------------------------

    def put(self, value: Any, mark: Mark) -> None:
        """Give a finished value to the container around it."""
        if not self.stack:
            self.done = (value, mark)
            return
        frame = self.stack[-1]
        if frame.close != "}":
            frame.items.append(value)
            frame.marks.append(mark)
        elif frame.key is not None:
            if frame.key in frame.children:
                known: Mark = frame.marks[frame.key]
                became = written(value)
                self.report(
                    "duplicate_key", known.start, known.end, found=frame.key, became=became, detail=frame.key
                )
            frame.children[frame.key] = value
            frame.marks[frame.key] = mark
            frame.key = None

    def pop(self) -> None:
        """Close the innermost bracket here."""
        frame = self.stack.pop()
        value: Any = frame.children if frame.close == "}" else frame.items
        self.put(value, Mark(frame.start, self.position, frame.marks))

    def drop_member(self, frame: Frame, start: int) -> None:
        """The text ends in the middle of a member: it is left out."""
        frame.key = None
        self.dropped = True
        self.report("truncated_member_dropped", start, len(self.text), found=self.text[start : start + 100])
        self.position = len(self.text)

    # --- mends ---------------------------------------------------------------------------------------

    def report(
        self,
        code: str,
        start: int,
        end: int,
        *,
        found: str | None = None,
        became: str | None = None,
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Take one mend of `text[start:end]`; see `lenient.repair.gaps.Report`."""
        if self.piece.parent is not None:
            start, end = self.piece.span(start, end)
        if found is not None and len(found) > MAX_FOUND:
            found = shorten(found)
        became, detail = became and shorten(became), detail and shorten(detail)
        where = path_in(self.stack, self.root_path)
        self.findings.add(Diagnostic(code, where, start, end, found, became, detail, hint))

    def report_missing(self, code: str, became: str) -> None:
        """Report a sign that should stand here."""
        self.report(code, self.position, self.position, became=became)


def written(value: Any) -> str | None:
    """A scalar as a finding shows it: a text as it is, a number or literal as JSON writes it."""
    if isinstance(value, (dict, list)):
        return None
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
