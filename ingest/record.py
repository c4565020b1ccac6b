"""One decoded object of a log, whatever it stood in: a line, a document, an array, a stream of events."""

from __future__ import annotations

from typing import Any

import msgspec

from ingest.events import LogLine

_MISSES = 20


class Record(msgspec.Struct, gc=False):
    """What a format is given. `value` is a decoded object, or what the format's own `decode` made of a line.

    `where` is the line it begins on, `data` its bytes as they stand in the file, with or without the
    line break behind them, `start` the byte offset of the first.
    """

    where: LogLine
    value: Any
    data: bytes
    start: int
    _seen: int = 0  # up to here `place` has looked …
    _line: int = 0  # … and passed so many line breaks
    _in_lines: bool | None = None  # whether the record has more than one; None = not looked yet
    _missed: int = 0  # texts that were not found: each was looked for to the end of the record

    def find_line(self, token: str, *, past: bool = False) -> LogLine:
        """Return the line on which a text (an id, say) occurs next, at or after the line asked for before.

        Ask in the order of the document: each byte is looked at once. A text that is not found, and any text
        in a record of one line, has the place of the record; after a few that were not found nothing is
        looked for any more. `past`: the next question begins behind it, for ids that occur again.
        """
        if self._in_lines is None:
            self._in_lines = self.data.find(b"\n", 0, -1) >= 0
        if self._missed == _MISSES or not self._in_lines:
            return self.where
        sought = token.encode("utf-8", "surrogatepass")
        found = self.data.find(sought, self._seen)
        if found < 0:
            self._missed += 1
            return self.where
        self._line += self.data.count(b"\n", self._seen, found)
        self._seen = found + len(sought) if past and b"\n" not in sought else found
        start = self.data.rfind(b"\n", 0, found) + 1
        return LogLine(self.where.line + self._line, self.start + start) if start else self.where
