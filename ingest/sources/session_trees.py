"""Combines the files of a session to one log. Some agents keep a session as several files in a tree of
folders.

The log contains the content of all files, one after another (`ingest.decoding.session_files`). The stamp of
the log changes when any of the files changes. If the user names a local file of a session, all other files of
the session are found on disk.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import ClassVar

import msgspec

from ingest.decoding.session_files import ONE_LINE, make_file_line, make_first_line
from ingest.sources.archives.streams import PieceStream
from ingest.sources.local_files import LocalFile
from ingest.sources.log_file import FileStamp, LogFile, LogPlace
from ingest.sources.stored_names import stored_path
from ingest.sources.tree_layouts import (
    TreeLayout,
    TreePath,
    find_idle_root,
    list_places,
    parse_tree_path,
)

_PIECE = 1024 * 1024

LookAt = Callable[[str], LogFile]
"""Function that returns the file at a path as it is on disk now."""


class SessionFile(msgspec.Struct, frozen=True):
    """A file of a session: its path in the tree, and the place from which its bytes are read.

    `problem` says why the file cannot be read.
    """

    path: str
    place: LogPlace
    problem: str | None = None


class SessionTree(msgspec.Struct, frozen=True):
    """The files of a session that has several files, in the order in which they are read.

    `root` is the stored name of the tree's root. The paths of files are relative to the root.
    """

    producer: str
    session: str | None
    root: str
    own_name: str
    folder_name: str
    files: tuple[SessionFile, ...]

    random_access: ClassVar[bool] = False
    can_reopen: ClassVar[bool] = True

    def open(self) -> io.RawIOBase:
        return SessionTreeLines(self)

    def sibling(self, name: str) -> None:  # noqa: ARG002 - what belongs to it is in it
        return None


class SessionTreeLines(PieceStream[Generator[bytes]]):
    """The files of a session as a stream of lines. At most a piece of one file is in memory."""

    def __init__(self, tree: SessionTree) -> None:
        super().__init__(_read_session(tree))

    def _next_content(self, limit: int) -> bytes:  # noqa: ARG002 - what does not fit waits
        return next(self._source, b"")


def _read_session(tree: SessionTree) -> Generator[bytes]:
    yield make_first_line(tree.producer, tree.session)
    for file in tree.files:
        yield from _read_session_file(file)


def _read_session_file(file: SessionFile) -> Iterator[bytes]:
    if file.problem is not None:
        yield make_file_line(file.path, file.problem)
        return
    try:
        stream = file.place.open()
    except OSError as error:
        yield make_file_line(file.path, f"cannot be read: {error.strerror or error}")
        return
    with closing(io.BufferedReader(stream)) as whole:
        piece = whole.read(_PIECE)
        if len(piece) < _PIECE and not piece.strip():
            yield make_file_line(file.path, "is empty")
            return
        yield make_file_line(file.path)
        breaks = 1
        while piece:
            yield piece.translate(ONE_LINE)
            breaks += piece.count(b"\n")
            piece = whole.read(_PIECE)
    yield b"\n" * breaks


class GatheredTrees(msgspec.Struct):
    """The logs found among files.

    `idle` counts the files without tool calls in trees, by producer and root.
    """

    logs: list[LogFile] = []
    idle: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)


def gather_trees(files: Iterable[LogFile], look_at: LookAt | None = None) -> GatheredTrees:
    """Return the files after combining all files of a session to one log.

    `look_at` looks up files of local sessions that are not among `files`.
    """
    gathered = GatheredTrees()
    trees: dict[tuple[TreeLayout, str], _Tree] = {}
    beside = []
    for log_file in files:
        path = _find_path(log_file)
        tree_path = parse_tree_path(path)
        if tree_path is not None and log_file.problem is None:
            trees.setdefault((tree_path.layout, tree_path.root), _Tree(tree_path, log_file)).add(
                tree_path, log_file
            )
        elif (root := find_idle_root(path)) is not None:
            beside.append((root, log_file))
        else:
            gathered.logs.append(log_file)
    for root, log_file in beside:
        if root in trees:
            gathered.idle[root[0].producer, stored_path(root[1].rstrip("/"))] += 1
        else:
            gathered.logs.append(log_file)
    for tree in trees.values():
        gathered.logs += tree.make_logs(look_at)
    return gathered


def _find_path(log_file: LogFile) -> str:
    """Return the path that shows a file's tree: the real path for a local file, else the stored name."""
    return (
        log_file.place.path.replace(os.sep, "/") if isinstance(log_file.place, LocalFile) else log_file.name
    )


_Files = dict[str, tuple[TreePath, LogFile]]  # path in the tree → file


class _Tree:
    """The files of one tree, and the session of each file."""

    def __init__(self, tree_path: TreePath, log_file: LogFile) -> None:
        self._layout, self._root = tree_path.layout, tree_path.root
        self._is_local = isinstance(log_file.place, LocalFile)
        self._files: _Files = {}

    def add(self, tree_path: TreePath, log_file: LogFile) -> None:
        self._files[tree_path.path] = tree_path, log_file

    def make_logs(self, look_at: LookAt | None) -> Iterator[LogFile]:
        sessions_by_group = {
            tree_path.group: tree_path.session
            for tree_path, _ in self._files.values()
            if tree_path.session is not None
        }
        look_at = look_at if self._is_local else None
        if look_at is not None and any(
            tree_path.session is None and tree_path.group not in sessions_by_group
            for tree_path, _ in self._files.values()
        ):
            sessions_by_group = self._look_up_groups() | sessions_by_group
        sessions: dict[tuple[str | None, str], _Files] = {}
        for tree_path, log_file in self._files.values():
            session = tree_path.session or sessions_by_group.get(tree_path.group)
            key = (session, "" if session is not None else tree_path.group)
            sessions.setdefault(key, {})[tree_path.path] = tree_path, log_file
        for (session, group), files in sessions.items():
            if look_at is not None:
                self._complete(session, group, files, look_at)
            yield self._make_log(session, group, files)

    def _look_up_groups(self) -> dict[str, str]:
        tree_paths = self._list_files("{session}", {"session": "*"}, {})
        return {
            tree_path.group: tree_path.session for tree_path in tree_paths if tree_path.session is not None
        }

    def _list_files(self, by: str, ids: Mapping[str, str], problems: dict[str, str]) -> Iterator[TreePath]:
        """Yield the files on disk whose kind has `by` (`{session}` or `{group}`) in its `places`."""
        for kind in self._layout.kinds:
            if by in kind.places:
                for path in list_places(self._root, kind.places, ids, problems):
                    if (tree_path := self._layout.parse(path.replace(os.sep, "/"))) is not None:
                        yield tree_path

    def _complete(self, session: str | None, group: str, files: _Files, look_at: LookAt) -> None:
        problems: dict[str, str] = {}
        groups = {group}
        if session is not None:
            for tree_path in self._list_files("{session}", {"session": session}, problems):
                self._add_file(tree_path, files, look_at)
            groups = {tree_path.group for tree_path, _ in files.values()} - {""}
        for group_name in groups:
            for tree_path in self._list_files("{group}", {"group": group_name}, problems):
                self._add_file(tree_path, files, look_at)
        for path, problem in problems.items():
            tree_path = TreePath(self._layout, self._root, path[len(self._root) :], session, group, 0, 0)
            files[tree_path.path] = tree_path, LogFile(stored_path(path), LocalFile(path), problem=problem)

    def _add_file(self, tree_path: TreePath, files: _Files, look_at: LookAt) -> None:
        if tree_path.path not in files:
            files[tree_path.path] = tree_path, look_at(tree_path.root + tree_path.path)

    def _make_log(self, session: str | None, group: str, files: _Files) -> LogFile:
        spell = stored_path if self._is_local else str
        ordered = sorted(files.values(), key=lambda file: file[0].order)
        first, head = ordered[0]
        folder = self._layout.folder if session is not None else self._layout.group_folder
        is_head = first.rank == 0 and head.problem is None
        path = first.path if is_head else folder.format(session=session, group=group)
        above, _, own_name = path.rpartition("/")
        tree = SessionTree(
            self._layout.producer,
            None if session is None else spell(session),
            spell(self._root),
            own_name,
            above.rpartition("/")[2],
            tuple(
                SessionFile(spell(tree_path.path), log_file.place, log_file.problem)
                for tree_path, log_file in ordered
            ),
        )
        name = spell(self._root + path)
        return LogFile(name, tree, _sum_stamps(ordered), archive=head.archive, order=head.order)


def _sum_stamps(files: Sequence[tuple[TreePath, LogFile]]) -> FileStamp:
    digest = blake2b(digest_size=16)
    for tree_path, log_file in files:
        stamp = log_file.seen
        digest.update(
            repr((tree_path.path, stamp.size, stamp.mtime_ns, stamp.version, log_file.problem)).encode()
        )
    return FileStamp(
        sum(log_file.seen.size for _, log_file in files),
        max(log_file.seen.mtime_ns for _, log_file in files),
        digest.hexdigest(),
    )
