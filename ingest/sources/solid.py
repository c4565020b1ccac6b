"""A compressed tar archive and a member of it in, the member's content out, from a tape wound forward only.

Such an archive can only be read from its beginning. Each process keeps the one it read last open, where it
stopped: members asked for in order cost one pass.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable
from typing import Any

from ingest.sources.damage import Damaged
from ingest.sources.tars import Member, Tape

_running: dict[Hashable, Tape] = {}  # one at most


def open_member(archive: Hashable, unpack: Callable[[], io.RawIOBase], member: Member) -> OnTape:
    """The content of a member. It must be read before another member of any such archive is opened.

    `unpack` gives the unpacked archive from its start, where that is needed. Raises OSError.
    """
    tape = _running.get(archive)
    if tape is None or tape.at > member.start:
        rewind()
        tape = _running[archive] = Tape(unpack())
    try:
        tape.wind_to(member.start)
    except BaseException:
        rewind()
        raise
    return OnTape(tape, member)


def rewind() -> None:
    """Close what is kept open."""
    while _running:
        _running.popitem()[1].stream.close()


class OnTape(io.RawIOBase):
    """The content of one member; the tape stays where the reading stops."""

    def __init__(self, tape: Tape, member: Member) -> None:
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
            raise Damaged("it ends in the middle")
        self._at += count
        return count
