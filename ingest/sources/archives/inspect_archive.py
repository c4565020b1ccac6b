"""Reads an Inspect log archive (`.eval`) as JSON Lines: the header, then each sample, in archive order.

https://inspect.aisi.org.uk/eval-logs.html. A `.eval` is a zip of a header, `samples/<id>_epoch_<n>.json` and
summaries that repeat the samples. The header is `header.json`. It is `_journal/start.json` if the evaluation
is in progress or crashed. Each document except the summaries becomes one line. The line breaks of a document
become tabs, which does not change whether the document is valid JSON. Line 1 is the header, line 2 the first
sample.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from ingest.errors import DamagedFileError
from ingest.sources.archives.streams import StreamPart
from ingest.sources.archives.zip_archive import ZipMember, open_member

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_ONE_LINE = bytes.maketrans(b"\r\n", b"\t\t")


def find_documents(members: Sequence[ZipMember]) -> list[ZipMember] | None:
    """Return the members that form the log. The header comes first. Return None for other archives."""
    by_name = {member.name: member for member in members}
    headers = [by_name[name] for name in _HEADERS if name in by_name]
    samples = [member for member in members if _SAMPLE.fullmatch(member.name)]
    return [headers[0], *samples] if headers and (samples or len(headers) > 1) else None


class EvalLines(io.RawIOBase):
    """An Inspect log as a stream of JSON Lines.

    `file` is the archive, which must be seekable. Closing the stream closes `file`.
    """

    def __init__(self, file: io.RawIOBase, documents: Sequence[ZipMember]) -> None:
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
        if not view or not (self._open or self._waiting):
            return 0
        count = self.read_document(view)
        if not count:
            self._open = None
            view[:1] = b"\n"
            return 1
        view[:count] = bytes(view[:count]).translate(_ONE_LINE)
        return count

    def read_document(self, view: memoryview) -> int:
        name = self._open[0] if self._open else self._waiting[-1].name
        try:
            if self._open is None:
                shared = StreamPart(self._file, owner=False)
                self._open = name, open_member(shared, self._waiting.pop())
            return self._open[1].readinto(view) or 0
        except DamagedFileError as error:
            raise DamagedFileError(f"of its member {name[:2_000]}: {error}") from error
