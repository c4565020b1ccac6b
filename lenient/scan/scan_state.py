"""The progress of one scan: the input, the position, the open brackets with their values, the diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lenient.definitions.json_schema.json_values import same_json
from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.diagnostics import MAX_FOUND, Diagnostic, Findings, Path, join_path, render_path, shorten
from lenient.scan.simple_members import SimpleReader
from lenient.scan.source_text import SourceText, ValueSpan
from lenient.scan.strings.quoted_string import StringReader
from lenient.scan.strings.string_end import StringEnd
from lenient.scan.strings.string_end_scoring import StringPlace, StringRole
from lenient.scan.strings.trivia import pass_trivia

OPENERS = {"{": "}", "[": "]", "(": ")", "｛": "}", "［": "]"}
"""Maps each opening bracket to the closing bracket for `OpenContainer.close`."""
_ROLES = {"}": StringRole.MEMBER, "]": StringRole.ITEM, ")": StringRole.ITEM}


class OpenContainer:
    """An object or array whose closing bracket has not been read yet.

    `close` is `}`, `]` or `)`, even if the opening bracket was full-width or of another kind.
    """

    __slots__ = (
        "also", "children", "close", "comma", "doubled", "equals", "fields", "filled", "items", "key",
        "marks", "node", "start", "where", "wrapped",
    )  # fmt: skip

    def __init__(self, close: str, start: int, node: Node | None) -> None:
        self.close = close
        self.start = start
        self.node = node
        self.fields = known_fields(node) if close == "}" else {}
        self.items: list[Any] = []
        self.children: dict[str, Any] = {}
        self.marks: Any = {} if close == "}" else []
        self.key: str | None = None
        self.comma = -1
        # another character that closes the container: the usual closing character for its opening bracket
        self.also = ""
        self.doubled = False  # True if a template wrote each brace twice
        self.wrapped = False  # True if the container is in the round brackets of a call
        self.equals = False  # True if an equals sign or an arrow was used as a colon
        self.filled = False  # True if a value was read since the opening bracket or the last comma
        self.where: str | None = None  # the path of the container, computed on first use

    def current_path(self) -> str:
        """Return the position of the current member or item in the arguments.

        Between members, return the position of the container.
        """
        step = self.key if self.close == "}" else len(self.items)
        return (self.where or "$") if step is None else join_path(self.where or "$", step)

    def item_node(self) -> Node | None:
        """Return the definition of the array's items, or None when there is no definition."""
        return self.node.items if self.node is not None else None


def role_within(stack: list[OpenContainer]) -> StringRole:
    """Return the role of a value in the innermost bracket of `stack`: member, item or root."""
    return _ROLES[stack[-1].close] if stack else StringRole.ROOT


def _path_within(stack: list[OpenContainer], root: Path) -> str:
    if not stack:
        return render_path(root)
    frame = stack[-1]
    if frame.where is None:
        where = render_path(root)
        for outer in stack:
            frame, frame.where = outer, where
            where = frame.current_path()
        return where
    return frame.current_path()


# --- the state of a scan -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The value that was read, its span (`mark`) and the offset where reading stopped (`end`)."""

    value: Any
    mark: ValueSpan
    end: int


class ScanState:
    """The progress of reading one value.

    `done` is None until the value is complete. Afterwards `done` contains the value and the value's span.
    """

    __slots__ = (
        "colon_passed", "done", "dropped", "findings", "piece", "plain", "position", "root_path", "stack",
        "strings", "text",
    )  # fmt: skip

    def __init__(
        self, piece: SourceText, start: int, findings: Findings, path: Path, strings: StringReader
    ) -> None:
        self.piece = piece
        self.text = piece.text
        self.position = start
        self.findings = findings
        self.root_path = path
        self.stack: list[OpenContainer] = []
        self.done: tuple[Any, ValueSpan] | None = None
        self.dropped = False  # True if the text ended within a member or item, which was left out
        self.colon_passed = False  # True if the colon was inside the quotes of the last key
        self.strings = strings
        strings.report = self.report
        self.plain = SimpleReader(piece.text, self.report, strings.decode)

    # --- moving through the text ---------------------------------------------------------------------

    def pass_gap(self) -> None:
        """Move the position past whitespace, comments and control characters."""
        frame = self.stack[-1] if self.stack else None
        before_item = frame is not None and frame.close != "}" and not frame.filled
        self.position = pass_trivia(self.text, self.position, self.report, before_item=before_item)

    def string_place(self, role: StringRole) -> StringPlace:
        """Return the context of a string at the current position: the string's role and the open brackets."""
        return StringPlace(role, self.stack, self.strings.ahead.tail)

    def value_place(self) -> StringPlace:
        return self.string_place(role_within(self.stack))

    def read_string(self, role: StringRole) -> tuple[str, StringEnd]:
        """Read the string that opens at the current position and move past the string.

        Return its content and end.
        """
        text, end = self.strings.read_string(self.position, self.string_place(role))
        self.position = end.after
        return text, end

    # --- finished values -----------------------------------------------------------------------------

    def put_value(self, value: Any, mark: ValueSpan) -> None:
        """Store a finished value and its span in the innermost open container, or in `done` at the root.

        A repeated key is reported, and the later value replaces the earlier value.
        """
        if not self.stack:
            self.done = (value, mark)
            return
        frame = self.stack[-1]
        if frame.close != "}":
            frame.items.append(value)
            frame.marks.append(mark)
        elif frame.key is not None:
            if frame.key in frame.children:
                earlier: ValueSpan = frame.marks[frame.key]
                lost, became = self.text[earlier.start : earlier.end], scalar_text(value)
                offset, _ = self.piece.raw_span(mark.start, mark.end)
                code, counts = duplicate_code(frame.children[frame.key], value), f"character {offset:,}"
                self.report(
                    code, earlier.start, earlier.end, found=lost, became=became, detail=frame.key,
                    hint=f"The value that counts begins at {counts}.",
                )  # fmt: skip
            frame.children[frame.key] = value
            frame.marks[frame.key] = mark
            frame.key = None

    def close_container(self) -> None:
        """Close the innermost container at the current position and store its value."""
        frame = self.stack.pop()
        value: Any = frame.children if frame.close == "}" else frame.items
        self.put_value(value, ValueSpan(frame.start, self.position, frame.marks))

    def drop_member(self, frame: OpenContainer, start: int, end: int | None = None) -> None:
        """Leave out and report a member from `start` that is cut off.

        The member is cut off at `end`, or at the end of the input if `end` is None.
        """
        end = len(self.text) if end is None else end
        frame.key = None
        self.dropped = True
        dropped = self.text[start : min(start + 100, end)]
        self.report("truncated_member_dropped", start, end, found=dropped)
        self.position = end

    # --- repairs ---------------------------------------------------------------------------------------

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
        """Add a diagnostic for `text[start:end]` and the current value. Its span is in the raw arguments."""
        if self.piece.parent is not None:
            start, end = self.piece.raw_span(start, end)
        if found is not None and len(found) > MAX_FOUND:
            found = shorten(found)
        became, detail = became and shorten(became), detail and shorten(detail)
        where = _path_within(self.stack, self.root_path)
        self.findings.add(Diagnostic(code, where, start, end, found, became, detail, hint))

    def report_missing(self, code: str, became: str) -> None:
        """Report that the character `became` is missing at the current position."""
        self.report(code, self.position, self.position, became=became)


def duplicate_code(earlier: Any, later: Any) -> str:
    """Return the diagnostic code for a key that was sent twice with these two values."""
    return "repeated_member" if same_json(earlier, later) else "duplicate_key"


def scalar_text(value: Any) -> str | None:
    """Return a scalar as a string for a diagnostic, or None for a container.

    A string stays unchanged. Other scalars become JSON.
    """
    if isinstance(value, (dict, list)):
        return None
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
