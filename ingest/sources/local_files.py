"""Local files and standard input as places of logs."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ingest.damaged_file import DamagedFileError

STDIN = "-"


@dataclass(frozen=True, slots=True)
class LocalFile:
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
        )  # a name out of a log must not lead elsewhere


@dataclass(frozen=True, slots=True)
class StandardInput:
    """The standard input of this process; can be read only once, from start to end."""

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
    """A reader of a stream that belongs to somebody else; closing the reader leaves the stream open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._stream.read1(len(view))
        view[: len(data)] = data
        return len(data)
