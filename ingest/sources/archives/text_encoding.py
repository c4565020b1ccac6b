"""Detects text in UTF-16 or UTF-32 from its first bytes, and streams it as UTF-8.

Windows' tools write UTF-16 where nobody asked for it: PowerShell 5 redirects all output so. A byte order mark
tells the encoding, else the zero bytes among the first four, as JSON begins with two ASCII characters
(RFC 4627, section 3).
"""

from __future__ import annotations

import codecs
import io

from ingest.sources.archives.piece_stream import PieceStream

_INPUT = 64 * 1024
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_BEGINS = ("{", "[")
_BOM = "\ufeff"


def detect_encoding(head: bytes) -> str | None:
    """Return the encoding of text that begins with `head`, of at least 16 bytes unless the text is shorter.

    None: the text is UTF-8, or no text.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" not in head[:4]:
        return None
    return next((encoding for encoding in _UNMARKED if _begins_json(head, encoding)), None)


def _begins_json(head: bytes, encoding: str) -> bool:
    try:
        start = head[:16].decode(encoding, "ignore").lstrip()
    except UnicodeDecodeError:
        return False
    return start.startswith(_BEGINS) and start.isascii() and "\0" not in start


class Utf8Stream(PieceStream[io.RawIOBase]):
    """Text of another encoding as UTF-8, without its byte order mark; closing it closes the source.

    A unit that is no character costs itself: it becomes U+FFFD. A lone surrogate stays what it is, which is
    no valid UTF-8 and costs its line.
    """

    def __init__(self, source: io.RawIOBase, encoding: str) -> None:
        super().__init__(source)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._begun = self._ended = False

    def _next_content(self, limit: int) -> bytes:  # noqa: ARG002 - pieces are as long as the source gives
        while not self._ended:
            if piece := self._next_piece():
                return piece
        return b""

    def _next_piece(self) -> bytes:
        data = self._source.read(_INPUT) or b""
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            self._decoder.errors = "replace"
            text = self._decoder.decode(data, final=self._ended)
            self._decoder.errors = "surrogatepass"
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix(_BOM)
        return text.encode("utf-8", "surrogatepass")
