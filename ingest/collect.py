"""Paths a person named in, the files to read out, each with its state on disk; opens none of them.

Folders are walked to the bottom, links included, each folder once. Hidden files, hidden folders and the store
itself are left out of a walk, but a hidden path that is named is taken.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import InputError


@dataclass(frozen=True, slots=True)
class Found:
    """A path to load. `name` is its spelling in the store; `problem` says why it cannot be read, if so."""

    name: str
    path: Path
    size: int
    mtime_ns: int
    problem: str | None = None


def collect(paths: Iterable[Path], store_dir: Path) -> list[Found]:
    """Every file under `paths`, each once, sorted by name; a path that is not there comes with its problem.

    Raises InputError when no path is there, or none holds a file.
    """
    named = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 - resolve() would rename linked files
    missing = [shown(path) for path in named if not os.path.lexists(path)]
    if missing and len(missing) == len(named):
        raise InputError(f"{' and '.join(missing[:3])} does not exist; check the spelling")
    found: dict[str, Found] = {}
    for path in named:
        for one in _walk(path, store_dir) if path.is_dir() else [look_at(path)]:
            found[one.name] = one
    if not found:
        where = ", ".join(shown(path) for path in named) or "no path"
        raise InputError(f"nothing to load: {where} holds no files (hidden ones are left out)")
    return [found[name] for name in sorted(found)]


def look_at(path: Path) -> Found:
    """One path as it is on disk now. Reads nothing, so that pipes and devices cannot hold us up."""
    name = shown(path)
    try:
        state = path.stat()
    except FileNotFoundError:
        return Found(name, path, 0, 0, "does not exist")
    except OSError as error:
        return Found(name, path, 0, 0, f"cannot be read: {error.strerror}")
    problem = None if stat.S_ISREG(state.st_mode) else f"is {_kind(state.st_mode)}, not a file"
    return Found(name, path, state.st_size if problem is None else 0, state.st_mtime_ns, problem)


def _walk(root: Path, store_dir: Path) -> Iterator[Found]:
    seen = {_identity(store_dir)}
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if (identity := _identity(folder)) in seen:
            continue
        seen.add(identity)
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            yield Found(shown(folder), folder, 0, 0, f"cannot be read: {error.strerror}")
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if os.path.isdir(entry):  # noqa: PTH112 - Path.is_dir raises where a folder may not be entered
                waiting.append(entry)
            else:
                yield look_at(entry)


def _identity(folder: Path) -> tuple[int, int]:
    try:
        state = folder.stat()
    except OSError:
        return (-1, -1)
    return (state.st_dev, state.st_ino)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    return next((name for test, name in kinds if test(mode)), "a device")


def shown(path: Path) -> str:
    """A path as text that any table can hold, other bytes than UTF-8 escaped; `path_of` is its inverse."""
    return os.fsencode(path).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def path_of(name: str) -> Path:
    """The path that `shown` made `name` of."""
    raw = re.sub(rb"\\(\\|x([0-9a-f]{2}))", _unescaped, name.encode())
    return Path(os.fsdecode(raw))


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[2].decode()) if match[2] else b"\\"
