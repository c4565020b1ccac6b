"""Reads a list of the files to load (`--manifest`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import OptionError
from ingest.sources.local_files import STDIN
from ingest.sources.stored_names import is_address

_BOM = b"\xef\xbb\xbf"


def read_file_list(file: str) -> list[str]:
    """Return the names in a list: one path, pattern or address per line.

    Lines that begin with `#` and blank lines are skipped. Paths are relative to the folder of the list, or to
    the working directory when the list comes from standard input (`-`); `~/` is the home folder. Raises
    OptionError when the list cannot be read or names nothing.
    """
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise OptionError(f"cannot read the list of files {file}: {error.strerror or error}") from error
    if b"\0" in data:
        raise OptionError(f"cannot read the list of files {file}: it is no text; write one path a line")
    folder = Path.cwd() if file == STDIN else Path(file).absolute().parent
    names = list(_listed_names(data.removeprefix(_BOM), folder))
    if not names:
        raise OptionError(f"the list of files {file} names none; write one path a line")
    return names


def _listed_names(data: bytes, folder: Path) -> Iterator[str]:
    for line in data.splitlines():
        name = os.fsdecode(line.strip())
        if name and not name.startswith("#"):
            yield name if is_address(name) else str(folder / os.path.expanduser(name))  # noqa: PTH111 - only ~/
