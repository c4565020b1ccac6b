"""Finds the log files of `known_agents` in a home folder and in folders that environment variables name.

A link to a folder is followed only if the pattern contains the link's name. A link that only matches `*` is
not followed, because it could lead to the root of the disk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from ingest.sources.known_agents import AGENTS, EDITOR_FOLDERS, AgentLogs

_VARIABLE = re.compile(r"\$\{(\w+):-([^}]+)\}")
_MAGIC = re.compile(r"[*?\[]")
_DEPTH = 20  # levels of folders that a `**` can match


class FoundFiles(msgspec.Struct):
    """The files of an agent. `unreadable` maps each folder that could not be read to the reason."""

    agent: AgentLogs
    files: list[os.DirEntry[str]] = []
    unreadable: list[str] = []


def find_agent_files(agent: AgentLogs, home: str, environment: Mapping[str, str]) -> FoundFiles:
    """Return the files at the places where an agent keeps logs, each file once. The files are not read."""
    agent_files = FoundFiles(agent)
    seen: set[str] = set()
    for place in _places_of(agent):
        for root, pattern in _locate_place(place, home, environment):
            for entry in match_files(root, pattern, agent_files.unreadable):
                if entry.path not in seen:
                    seen.add(entry.path)
                    agent_files.files.append(entry)
    return agent_files


def _places_of(agent: AgentLogs) -> Iterator[str]:
    for place in agent.places:
        if place.startswith("<editor>"):
            yield from (place.replace("<editor>", folder, 1) for folder in EDITOR_FOLDERS)
        else:
            yield place


def _locate_place(
    place: str, home: str, environment: Mapping[str, str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the folder at which a pattern begins, and the rest of the pattern."""
    match = _VARIABLE.match(place)
    base, rest = (match[2], place[match.end() :]) if match else ("~", place.removeprefix("~"))
    moved = environment.get(match[1], "").strip() if match else ""
    if moved:
        yield os.path.abspath(os.path.expanduser(moved)), rest.strip("/").split("/")  # noqa: PTH100, PTH111
    else:
        yield home, f"{base.removeprefix('~')}{rest}".strip("/").split("/")


def match_files(folder: str, pattern: Sequence[str], unreadable: list[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the files below a folder that match the components of a pattern. A missing folder has no files.

    Folders that cannot be read are added to `unreadable`, with the reason.
    """
    plain = 0
    while plain < len(pattern) - 1 and not _MAGIC.search(pattern[plain]):
        plain += 1
    folder, pattern = os.path.join(folder, *pattern[:plain]), pattern[plain:]  # noqa: PTH118 - may be many
    yield from _match_below(folder, pattern, unreadable, _DEPTH)


def _match_below(
    folder: str, pattern: Sequence[str], unreadable: list[str], depth: int
) -> Iterator[os.DirEntry[str]]:
    part, rest = pattern[0], pattern[1:]
    if part == "**":
        yield from _match_below(folder, rest, unreadable, depth)
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        problem = f"{folder} cannot be read: {error.strerror}"
        if problem not in unreadable:
            unreadable.append(problem)
        return
    for entry in ordered:
        if part == "**":
            if depth and entry.is_dir(follow_symlinks=False):
                yield from _match_below(entry.path, pattern, unreadable, depth - 1)
        elif fnmatchcase(entry.name, part):
            if not rest:
                if _is_file(entry):
                    yield entry
            elif entry.is_dir(follow_symlinks=False):
                yield from match_files(entry.path, rest, unreadable)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


@cache
def hidden_patterns() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the patterns that begin in hidden folders of a home folder, by the name of the hidden folder."""
    by_folder: dict[str, list[tuple[str, ...]]] = {}
    for agent in AGENTS:
        for place in _places_of(agent):
            for _, pattern in _locate_place(place, "", {}):
                if pattern[0].startswith(".") and tuple(pattern) not in by_folder.setdefault(pattern[0], []):
                    by_folder[pattern[0]].append(tuple(pattern))
    return {name: tuple(patterns) for name, patterns in by_folder.items()}
