"""One decoded object of a log: from a line, a document, an array or a stream of events."""

from __future__ import annotations

from typing import Any

import msgspec

from ingest.events import LogLine

_MISSES = 20


class Record(msgspec.Struct, gc=False):
    """One decoded object of a log, as a format gets it.

    `value` is the decoded object, or the value that the format's own `decode` returned for a line. `where` is
    the line on which the record begins. `data` holds the record's bytes as in the file, with or without the
    final line break, and `start` is the byte offset of the first of them. `file` is the path of the file that
    the record is the content of, in the tree of a session that is spread over files; None for other logs.
    """

    where: LogLine
    value: Any
    data: bytes
    start: int
    _seen: int = 0  # up to here `place` has looked …
    _line: int = 0  # … and passed so many line breaks
    _in_lines: bool | None = None  # whether the record has more than one; None = not looked yet
    _missed: int = 0  # texts that were not found: each was looked for to the end of the record
    file: str | None = None

    def find_line(self, token: str, *, past: bool = False) -> LogLine:
        """Return the line of the next occurrence of `token`, searched from the place of the previous match.

        Ask for tokens in the order of the document: each byte is searched once. The result is the line of the
        record when the token is not found, when the record is a single line, and always after 20 failed
        searches. With `past`, the next search begins behind this match; needed for ids that occur again.
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
