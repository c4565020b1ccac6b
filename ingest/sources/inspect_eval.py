"""An Inspect log archive (`.eval`) in, JSON Lines out: its header, then each sample, in its own order.

https://inspect.aisi.org.uk/eval-logs.html. A `.eval` is a zip of `header.json` (`_journal/start.json` while
the evaluation runs, or after it crashed), `samples/<id>_epoch_<n>.json` and summaries that repeat them. Each
of these documents becomes a line: its line breaks become tabs, which JSON allows and forbids in the same
places, so that line 1 is the header, line 2 the first sample, and what is broken stays broken.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

from ingest.sources.inflate import Damaged
from ingest.sources.zips import open_member

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_ONE_LINE = bytes.maketrans(b"\r\n", b"\t\t")


def documents_of(members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo] | None:
    """The members that make up the log, in order; None when the archive is no Inspect log."""
    by_name = {member.filename: member for member in members}
    headers = [by_name[name] for name in _HEADERS if name in by_name]
    samples = [member for member in members if _SAMPLE.fullmatch(member.filename)]
    return [headers[0], *samples] if headers and (samples or len(headers) > 1) else None


class EvalLines(io.RawIOBase):
    """The log as JSON Lines. `file` is closed with it."""

    def __init__(self, file: io.RawIOBase, documents: Sequence[zipfile.ZipInfo]) -> None:
        self._file = file
        self._waiting = list(reversed(documents))
        self._open: tuple[str, io.RawIOBase] | None = None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        while view and (self._open or self._waiting):
            if self._open is None:
                member = self._waiting.pop()
                self._open = member.filename, self._of(member)
            name, stream = self._open
            count = _read(name, stream, view)
            if count:
                view[:count] = bytes(view[:count]).translate(_ONE_LINE)
                return count
            self._open = None
            view[:1] = b"\n"
            return 1
        return 0

    def _of(self, member: zipfile.ZipInfo) -> io.RawIOBase:
        try:
            return open_member(self._file, member)
        except Damaged as error:
            raise Damaged(f"its member {member.filename} {error}") from error


def _read(name: str, stream: io.RawIOBase, view: memoryview) -> int:
    try:
        return stream.readinto(view) or 0
    except Damaged as error:
        raise Damaged(f"its member {name}: {error}") from error
