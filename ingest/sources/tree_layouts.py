"""The folder trees in which agents keep a session as several files.

Paths are relative to the tree's root, with `/` as separator. Each row of LAYOUTS describes one kind of tree.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

_ROOT = r"(?P<root>(?:.*[/!])?)"
_FOLDERS = ("session/", "session_", "message/", "part/")  # every path of a tree contains one of these names


class TreePath(NamedTuple):
    """The components of a file's path in a tree.

    `root` ends with a separator. `path` is relative to `root`. `group` is the message or the agent to which
    the file belongs. It is '' for a file of the session itself. `session` is None when the path contains only
    the group.
    """

    layout: TreeLayout
    root: str
    path: str
    session: str | None
    group: str
    rank: int
    number: int

    @property
    def order(self) -> tuple[str, int, int, str]:
        """The position of the file among the files of its session."""
        return self.group, self.rank, self.number, self.path


class FileKind(NamedTuple):
    """One kind of file in a tree: the pattern of its path, and patterns that find a session's files."""

    pattern: re.Pattern[str]
    places: str


class TreeLayout(msgspec.Struct, frozen=True):
    """The folder tree in which one agent keeps its sessions.

    `kinds` are in the order in which the files of a group are read. `folder` is the folder of a session,
    `group_folder` the folder of a group whose session is unknown. Trees of different agents look similar. So
    the tree's root must match `root`, or the file's name must match `names`. `idle` matches files that
    contain no tool calls.
    """

    producer: str
    kinds: tuple[FileKind, ...]
    folder: str
    group_folder: str = ""
    root: re.Pattern[str] | None = None
    names: re.Pattern[str] = re.compile("")
    idle: re.Pattern[str] | None = None

    def parse(self, path: str) -> TreePath | None:
        """Return the components of a file's path in this tree. Return None if the path is in no such tree."""
        for rank, kind in enumerate(self.kinds):
            match = kind.pattern.fullmatch(path)
            if match is not None and self._is_ours(match["root"], path):
                groups = match.groupdict()
                return TreePath(
                    self,
                    match["root"],
                    path[len(match["root"]) :],
                    groups.get("session"),
                    groups.get("group") or "",
                    rank,
                    int(groups.get("number") or 0),
                )
        return None

    def _is_ours(self, root: str, path: str) -> bool:
        if self.root is not None and self.root.search(root):
            return True
        return self.names.match(path.rpartition("/")[2]) is not None


def _kind(pattern: str, places: str) -> FileKind:
    return FileKind(re.compile(_ROOT + pattern), places)


_STORAGE, _OPENCODE_ID = re.compile(r"(?:^|[/!])storage/$"), re.compile(r"(?:ses|msg|prt)_")

LAYOUTS = (
    TreeLayout(  # used until 2025-07, with one folder per project
        "opencode",
        (
            _kind(r"session/info/(?P<session>[^/]+)\.json", "session/info/{session}.json"),
            _kind(
                r"session/message/(?P<session>[^/]+)/(?P<group>[^/]+)\.json",
                "session/message/{session}/*.json",
            ),
            _kind(
                r"session/part/(?P<session>[^/]+)/(?P<group>[^/]+)/[^/]+\.json",
                "session/part/{session}/*/*.json",
            ),
        ),
        "session/message/{session}",
        root=_STORAGE,
        names=_OPENCODE_ID,
    ),
    TreeLayout(
        "opencode",
        (
            _kind(r"session/[^/]+/(?P<session>[^/]+)\.json", "session/*/{session}.json"),
            _kind(r"message/(?P<session>[^/]+)/(?P<group>[^/]+)\.json", "message/{session}/*.json"),
            _kind(r"part/(?P<group>[^/]+)/[^/]+\.json", "part/{group}/*.json"),
        ),
        "message/{session}",
        "part/{group}",
        idle=re.compile(
            _ROOT + r"(?:(?:project|session_diff|session_share|todo|permission)/[^/]+\.json|migration)"
        ),
        root=_STORAGE,
        names=_OPENCODE_ID,
    ),
    TreeLayout(
        "strands",
        (
            _kind(r"session_(?P<session>[^/]+)/session\.json", "session_{session}/session.json"),
            _kind(
                r"session_(?P<session>[^/]+)/multi_agents/multi_agent_[^/]+/multi_agent\.json",
                "session_{session}/multi_agents/*/multi_agent.json",
            ),
            _kind(
                r"session_(?P<session>[^/]+)/agents/agent_(?P<group>[^/]+)/agent\.json",
                "session_{session}/agents/*/agent.json",
            ),
            _kind(
                r"session_(?P<session>[^/]+)/agents/agent_(?P<group>[^/]+)/messages/message_(?P<number>[0-9]{1,9})\.json",
                "session_{session}/agents/*/messages/message_*.json",
            ),
        ),
        "session_{session}",
    ),
)


def parse_tree_path(path: str) -> TreePath | None:
    """Return the components of a file's path in one of the trees. Return None for other paths."""
    if not path.endswith(".json") or not any(name in path for name in _FOLDERS):
        return None  # a fast answer for paths outside all trees; a load may have 100,000 files
    return next((tree_path for layout in LAYOUTS if (tree_path := layout.parse(path)) is not None), None)


def find_idle_root(path: str) -> tuple[TreeLayout, str] | None:
    """Return the layout and the root of the tree if the file at this path contains no tool calls.

    Return None for other files.
    """
    if not path.endswith((".json", "/migration")):
        return None
    for layout in LAYOUTS:
        match = layout.idle.fullmatch(path) if layout.idle is not None else None
        if match is not None:
            return layout, match["root"]
    return None


def list_places(root: str, places: str, ids: Mapping[str, str], problems: dict[str, str]) -> Iterator[str]:
    """Yield the paths of the files that match the places, in order. `ids` replace the names in braces.

    Unreadable folders are added to `problems`, with the reason.
    """
    yield from _list_below(root, [part.format_map(ids) for part in places.split("/")], problems)


def _list_below(folder: str, parts: list[str], problems: dict[str, str]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    names: Collection[str] = (part,)
    if "*" in part:
        try:
            names = sorted(name for name in os.listdir(folder) if fnmatch.fnmatchcase(name, part))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            problems[folder] = f"cannot be read: {error.strerror}"
            return
    for name in names:
        path = os.path.join(folder, name)  # noqa: PTH118 - a session may have thousands
        if rest:
            yield from _list_below(path, rest, problems)
        elif not name.startswith(".") and ("*" in part or os.path.lexists(path)):
            yield path
