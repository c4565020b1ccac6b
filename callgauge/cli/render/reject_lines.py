"""Formats the lines, values and files that could not be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from callgauge.cli.render.foreign_lines import ForeignFile, foreign_lines
from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from ingest.load_report import Reject

_SNIPPET = 100  # characters


def rejects_lines(rejects: Iterable[Reject], *, each: bool = False) -> Iterator[str]:
    """Yield the lines of a list of rejects.

    Each reject gives a line with place, code and message, and a line with its snippet; the last line counts
    the rejects by code. Files that are no logs are summed up by kind and folder, unless `each`.
    """
    counts: Counter[str] = Counter()
    foreign: list[ForeignFile] = []
    for reject in rejects:
        counts[reject.code] += 1
        if reject.foreign is not None and not each:
            foreign.append(ForeignFile(reject.file, reject.foreign, reject.message.removeprefix("the file ")))
            continue
        place = "" if reject.line is None else f":{reject.line}"
        where = "" if reject.byte_offset is None else f" (byte {reject.byte_offset:,})"
        yield escape_for_terminal(f"{reject.file}{place}{where} {reject.code}: {reject.message}")
        if reject.snippet:
            yield f"    {escape_for_terminal(reject.snippet[:_SNIPPET])}"
    yield from foreign_lines(foreign)
    yield ", ".join(f"{count:,} {code}" for code, count in counts.most_common()) or "nothing was rejected"
