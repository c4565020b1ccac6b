"""The stack of open brackets: the values read so far in each, and the path of the value being read."""

from __future__ import annotations

from typing import Any

from lenient.definitions.json_schema.nodes import Node, known_fields
from lenient.diagnostics import Path, join_path, render_path
from lenient.scan.strings.string_end_scoring import StringRole

OPENERS = {"{": "}", "[": "]", "(": ")", "｛": "}", "［": "]"}
"""Maps each opening bracket to the closing bracket that `OpenContainer.close` holds."""
_ROLES = {"}": StringRole.MEMBER, "]": StringRole.ITEM, ")": StringRole.ITEM}


class OpenContainer:
    """An object or array whose closing bracket has not been read yet.

    `close` is `}`, `]` or `)`, also when a full-width or wrong opening bracket was written.
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
        self.also = ""  # another sign that closes it, that of its own opening bracket
        self.doubled = False  # a template doubled its braces
        self.wrapped = False  # the round bracket of a call stands around it
        self.equals = False  # an equals sign or an arrow stood for a colon
        self.filled = False  # a value stands since the opening bracket or the last comma
        self.where: str | None = None  # its path, made when it is first asked for

    def current_path(self) -> str:
        """Return the path of the member or item being read, or the container's path between members."""
        step = self.key if self.close == "}" else len(self.items)
        return (self.where or "$") if step is None else join_path(self.where or "$", step)

    def item_node(self) -> Node | None:
        """Return the definition of the array's items, None when there is none."""
        return self.node.items if self.node is not None else None


def role_within(stack: list[OpenContainer]) -> StringRole:
    """Return the role of a value in the innermost bracket of `stack`: member, item or root."""
    return _ROLES[stack[-1].close] if stack else StringRole.ROOT


def path_within(stack: list[OpenContainer], root: Path) -> str:
    """Return the path of the value that is being read; `root` is the path of the outermost value."""
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
