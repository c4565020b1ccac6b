"""Reads logs from local files and standard input, and reads lists of files to load (`--manifest`)."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from ingest.errors import DamagedFileError, OptionError
from ingest.sources.stored_names import is_address

STDIN = "-"
_BOM = b"\xef\xbb\xbf"


class LocalFile(msgspec.Struct, frozen=True):
    path: str

    random_access: ClassVar[bool] = True
    can_reopen: ClassVar[bool] = True

    @property
    def own_name(self) -> str:
        return os.path.basename(self.path)  # noqa: PTH119 - a night has 100,000 of them

    @property
    def folder_name(self) -> str:
        return os.path.basename(os.path.dirname(self.path))  # noqa: PTH119, PTH120 - as above

    def open(self) -> io.RawIOBase:
        return Path(self.path).open("rb", buffering=0)

    def sibling(self, name: str) -> LocalFile | None:
        path = Path(self.path).parent / name
        return (
            LocalFile(str(path)) if path.name == name else None
        )  # a file name in a log must not lead to another folder


class StandardInput(msgspec.Struct, frozen=True):
    """The standard input of this process, which can be read only once."""

    random_access: ClassVar[bool] = False
    can_reopen: ClassVar[bool] = False

    own_name: ClassVar[str] = ""
    folder_name: ClassVar[str] = ""

    def open(self) -> io.RawIOBase:
        if sys.stdin is None:
            raise DamagedFileError("it is closed")
        return _BorrowedStream(sys.stdin.buffer)

    def sibling(self, name: str) -> None:  # noqa: ARG002 - there is no folder
        return None


class _BorrowedStream(io.RawIOBase):
    """Reads a stream that belongs to another object. Closing this reader does not close the stream."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._stream.read1(len(view))
        view[: len(data)] = data
        return len(data)


def read_file_list(file: str) -> list[str]:
    """Return the names in a file list. The list has one path, pattern or address per line.

    Blank lines and lines that begin with `#` are skipped. Paths are relative to the folder of the list. If
    the list comes from standard input (`-`), paths are relative to the working directory. `~/` is the home
    folder. Raises OptionError when the list cannot be read or contains no names.
    """
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise OptionError(f"cannot read the list of files {file}: {error.strerror or error}") from error
    if b"\0" in data:
        raise OptionError(f"cannot read the list of files {file}: it is not text; write one path per line")
    folder = Path.cwd() if file == STDIN else Path(file).absolute().parent
    names = list(_listed_names(data.removeprefix(_BOM), folder))
    if not names:
        raise OptionError(f"the list of files {file} contains no path; write one path per line")
    return names


def _listed_names(data: bytes, folder: Path) -> Iterator[str]:
    for line in data.splitlines():
        name = os.fsdecode(line.strip())
        if name and not name.startswith("#"):
            yield name if is_address(name) else str(folder / os.path.expanduser(name))  # noqa: PTH111 - only ~/
