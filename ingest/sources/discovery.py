"""Finds the files that a user named and reads their size and time, but not their content.

All subfolders are searched, even through links, but each folder only once. Hidden files, hidden folders and
the store itself are skipped unless the user names them. Hidden folders in which known agents keep logs are
searched (`ingest.sources.known_agents`). A name with `*`, `?` or `[` is a pattern unless a file of that name
exists (`**` = all subfolders). `-` is standard input, and `s3://…` and similar names are addresses. Several
files of one session are one log (`ingest.sources.session_trees`).
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ingest.errors import InputError, NothingFoundError
from ingest.sources.agent_places import hidden_patterns, match_files
from ingest.sources.databases.snapshot import DATABASE_NAMES
from ingest.sources.local_files import STDIN, LocalFile, StandardInput
from ingest.sources.log_file import FileStamp, LogFile
from ingest.sources.session_trees import gather_trees
from ingest.sources.stored_names import is_address, parse_stored_path, stored_path

Named = Path | str
_NAMED = 6  # largest number of hidden folder names in a note


def find_logs(named: Iterable[Named], store_dir: Path, hidden: HiddenNames | None = None) -> list[LogFile]:
    """Return the files that the names denote, each file once, sorted by name.

    Skipped hidden files and folders are recorded in `hidden`. A file that is missing or unreadable is
    included, with its `problem` set. Raises InputError when none of the names exists or no file is found.
    Raises OptionError when the driver for an address is not installed.
    """
    named, hidden = list(named), hidden if hidden is not None else HiddenNames()
    logs: dict[str, LogFile] = {}
    for path in named:
        logs |= {log.name: log for log in _find_files(path, store_dir, hidden)}
    missing = [log.name for log in logs.values() if log.problem == _MISSING]
    if missing and len(missing) == len(logs):
        verb = "does" if len(missing) == 1 else "do"
        raise InputError(f"{' and '.join(missing[:3])} {verb} not exist; check the spelling")
    gathered = gather_trees(logs.values(), look_at_file)
    hidden.idle += gathered.idle
    if not gathered.logs:
        where = ", ".join(stored_path(path) for path in named) or "no path"
        raise NothingFoundError("; ".join((f"nothing to load: {where} contains no files", *hidden.notes())))
    return sorted(gathered.logs, key=lambda log: log.name)


_MISSING = "does not exist"
_NO_STORE = Path(os.devnull)


def find_named(named: Named) -> list[LogFile]:
    """Return the logs that one name denotes, in any order."""
    return gather_trees(_find_files(named, _NO_STORE, HiddenNames()), look_at_file).logs


def _find_files(named: Named, store_dir: Path, hidden: HiddenNames) -> Iterator[LogFile]:
    if named == STDIN:
        yield _standard_input_log()
    elif is_address(named):
        # imported here because the import takes half a second
        from ingest.sources.object_store import find_objects

        yield from find_objects(str(named))
    else:
        path = os.path.abspath(named)  # noqa: PTH100 - resolve() would rename linked files
        matching = [path] if os.path.lexists(path) or not glob.has_magic(path) else _match_pattern(path)
        for match in matching:
            if os.path.isdir(match):  # noqa: PTH112 - Path.is_dir raises where a folder may not be entered
                yield from _walk_folder(match, store_dir, hidden)
            else:
                yield look_at_file(match)


def _match_pattern(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True) or [pattern]  # noqa: PTH207 - Path.glob takes no absolute pattern


def _standard_input_log() -> LogFile:
    nobody = sys.stdin is None or sys.stdin.isatty()
    return LogFile(STDIN, StandardInput(), problem="is a terminal; pipe a log into it" if nobody else None)


def look_at_file(path: Path | str) -> LogFile:
    """Return the file at a path as it is on disk now. `problem` is set when the file cannot be a log.

    The file is not opened.
    """
    place, name = LocalFile(os.fspath(path)), stored_path(path)
    try:
        state = os.stat(path)  # noqa: PTH116 - 100,000 Path objects take a second
    except FileNotFoundError:
        return LogFile(name, place, problem=_MISSING)
    except OSError as error:
        return LogFile(name, place, problem=f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(state.st_mode):
        return LogFile(name, place, problem=f"is {_file_kind(state.st_mode)}, not a file")
    return LogFile(name, place, FileStamp(state.st_size, state.st_mtime_ns, _database_state(path)))


def _database_state(path: Path | str) -> str:
    """Return a string that changes with the write-ahead log of an SQLite database. Return '' for other files.

    New data may stay in the write-ahead log for days while the database file does not change.
    """
    text = os.fspath(path)
    if not text.lower().endswith(DATABASE_NAMES):
        return ""
    try:
        state = os.stat(text + "-wal")  # noqa: PTH116
    except OSError:
        return ""
    return f"wal:{state.st_size}:{state.st_mtime_ns}" if state.st_size else ""


def still_exists(name: str, stamp: FileStamp) -> bool:
    """Return True when the file still exists and its size and time equal `stamp`.

    An address (`s3://…`) always counts as existing.
    """
    if is_address(name):
        return True
    path = os.fspath(parse_stored_path(name))
    now = look_at_file(path)
    if now.problem is None and now.seen == stamp:
        return True
    return any((log.name, log.seen) == (name, stamp) for log in find_named(path))


def _walk_folder(root: str, store_dir: Path, hidden: HiddenNames) -> Iterator[LogFile]:
    seen = {_folder_identity(os.fspath(store_dir))}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if (identity := _folder_identity(folder)) in seen:
            continue
        seen.add(identity)
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield LogFile(stored_path(folder), LocalFile(folder), problem=f"cannot be read: {error.strerror}")
            continue
        for entry in ordered:
            if entry.name.startswith("."):
                yield from _search_hidden(folder, entry, hidden)
            elif _is_folder(entry):
                waiting.append(entry.path)
            else:
                yield look_at_file(entry.path)


def _search_hidden(folder: str, entry: os.DirEntry[str], hidden: HiddenNames) -> Iterator[LogFile]:
    if not _is_folder(entry):
        hidden.files += 1
        return
    unreadable: list[str] = []
    matches = {
        file.path: None
        for pattern in hidden_patterns().get(entry.name, ())
        for file in match_files(folder, pattern, unreadable)
    }
    for problem in unreadable:
        path, _, why = problem.rpartition(" cannot be read: ")
        yield LogFile(stored_path(path), LocalFile(path), problem=f"cannot be read: {why}")
    if matches:
        hidden.searched[stored_path(entry.path)] += len(matches)
    else:
        hidden.leave_out(entry.name, entry.path)
    for path in matches:
        yield look_at_file(path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a circular link, or a folder without permission
        return False


def _folder_identity(folder: str) -> tuple[int, int]:
    try:
        state = os.stat(folder)  # noqa: PTH116
    except OSError:
        return (-1, -1)
    return (state.st_dev, state.st_ino)


def _file_kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    return next((name for test, name in kinds if test(mode)), "a device")


class HiddenNames(msgspec.Struct):
    """The hidden files and folders that a search found.

    `searched` counts the logs in hidden folders of known agents, by path. `left_out` counts skipped hidden
    folders by name, and `first` has the first path of each name. `files` counts hidden files. `idle` counts
    files that contain no tool calls and belong to agents' sessions, by agent and tree.
    """

    searched: Counter[str] = msgspec.field(default_factory=Counter)
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    first: dict[str, str] = {}
    files: int = 0
    idle: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)

    def leave_out(self, name: str, path: str) -> None:
        self.left_out[name] += 1
        self.first.setdefault(name, stored_path(path))

    def notes(self) -> tuple[str, ...]:
        """Return sentences about logs in hidden folders, and about skipped files and folders."""
        notes = []
        if self.searched:
            searched = ", ".join(f"{path} ({count:,})" for path, count in sorted(self.searched.items()))
            notes.append(f"skipped hidden folders, except the log folders of known agents: {searched}")
        if self.left_out or self.files:
            notes.append(self._describe_left_out())
        for (agent, tree), count in sorted(self.idle.items()):
            files = _count(count, "file")
            notes.append(
                f"skipped {files} in {tree} that {agent} keeps next to its sessions (they contain no calls)"
            )
        return tuple(notes)

    def _describe_left_out(self) -> str:
        listed = [
            f"{name} ({count:,})" if count > 1 else name for name, count in self.left_out.most_common(_NAMED)
        ]
        more = len(self.left_out) - len(listed)
        parts = (
            [f"{_count(sum(self.left_out.values()), 'hidden folder')}: {', '.join(listed)}"] if listed else []
        )
        if more > 0:
            parts[0] += f" and {more:,} other names"
        parts += [_count(self.files, "hidden file")] if self.files else []
        example = next(iter(self.first.values()), "its path")
        command = f"`callgauge ingest {example} --store DIR`"
        return f"left out {' and '.join(parts)}; what you name is read, such as {command}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
