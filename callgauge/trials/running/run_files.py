"""Writes the files of a run so that a killed process or a full disk loses nothing that was whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from callgauge.trials.running.known_secrets import KnownSecrets

OnWrite = Callable[[str], None]
PART = ".part"


class RunError(Exception):
    """The run cannot begin; the message says why and what to do."""


class FolderError(Exception):
    """A run's folder cannot be read or written; the message names the file and the next step."""


def ignore_write(_step: str) -> None:
    """The hook of a run that nobody disturbs."""


class RunFiles:
    """Writes lines and files; known secrets are taken out of all of it.

    `on_write` is called before each step that lasts, with its name: tests end the process there.
    """

    def __init__(self, secrets: KnownSecrets, on_write: OnWrite = ignore_write) -> None:
        self.secrets = secrets
        self.on_write = on_write

    def append(self, path: Path, line: bytes) -> None:
        """Append whole lines to a file in one write. Raises FolderError."""
        with explain_full_disk(path):
            self.on_write(f"append to {path.name}")
            with path.open("ab") as file:
                file.write(self.secrets.hide_bytes(line))

    def replace(self, path: Path, content: bytes) -> None:
        """Write a file whole: aside, to the disk, then under its name. Raises FolderError."""
        aside = path.with_name(path.name + PART)
        with explain_full_disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.on_write(f"write {path.name}")
            with aside.open("wb") as file:
                file.write(self.secrets.hide_bytes(content))
                file.flush()
                os.fsync(file.fileno())
            self.on_write(f"rename {path.name}")
            aside.replace(path)


def drop_half_line(path: Path) -> None:
    """Cut off the half line that a killed process left at the end of a file. Raises FolderError."""
    with explain_full_disk(path):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


@contextmanager
def explain_full_disk(path: Path) -> Iterator[None]:
    """Raise FolderError for what the file system refuses."""
    try:
        yield
    except OSError as error:
        step = "make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "correct that"
        raise FolderError(
            f"{path} cannot be written: {error.strerror or error}. All trials that ended before are kept; "
            f"{step} and run again to go on"
        ) from None
