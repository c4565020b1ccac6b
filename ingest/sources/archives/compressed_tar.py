"""Reads one member of a compressed tar archive through a stream that only moves forward.

A compressed tar can only be read from its beginning. Each process therefore keeps the last such archive open
at the position where reading stopped: reading the members in order takes one pass.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable
from typing import Any

from ingest.damaged_file import CutOffError
from ingest.sources.archives.tar_archive import ForwardStream, TarMember

_running: dict[Hashable, ForwardStream] = {}  # one at most


def open_member(archive: Hashable, unpack: Callable[[], io.RawIOBase], member: TarMember) -> MemberStream:
    """Open a member's content; read it before opening another member of any compressed tar.

    `archive` identifies the archive. `unpack` opens the uncompressed archive from its start; it is called
    when the archive is not open, or is already past the member. Raises OSError.
    """
    tape = _running.get(archive)
    if tape is None or tape.at > member.start:
        close_kept_archive()
        tape = _running[archive] = ForwardStream(unpack())
    try:
        tape.advance_to(member.start)
    except BaseException:
        close_kept_archive()
        raise
    return MemberStream(tape, member)


def close_kept_archive() -> None:
    """Close the archive that this process keeps open, if there is one."""
    while _running:
        _running.popitem()[1].stream.close()


class MemberStream(io.RawIOBase):
    """The content of one member, read from the archive's stream.

    Raises ValueError when another member was opened in between, CutOffError when the archive ends early.
    """

    def __init__(self, tape: ForwardStream, member: TarMember) -> None:
        self._tape = tape
        self._at = member.start
        self._end = member.start + member.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._tape.at != self._at:
            raise ValueError("another member was opened meanwhile")
        view = memoryview(buffer)[: self._end - self._at]
        if not len(view):
            return 0
        count = self._tape.readinto(view)
        if not count:
            raise CutOffError("it ends in the middle")
        self._at += count
        return count
