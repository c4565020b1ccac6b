"""Keep the contents of each nightly report, so that the next report contains only changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from callgauge.memory.memory_file import MemoryFile, write_now


@dataclass(frozen=True, slots=True)
class PastReport:
    """The contents of a nightly report: the keys of the reported alerts, errors and silent sources."""

    night: date
    keys: frozenset[str]


class ReportRecords:
    """The reports of the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def read_last_before(self, night: date) -> PastReport | None:
        """Return the newest report of an earlier nightly run. Return None if there is no earlier report."""
        (rows,) = self._file.read_rows(
            "SELECT night, told FROM reports WHERE night < ? ORDER BY night DESC LIMIT 1",
            values=(night.isoformat(),),
        )
        for day, keys_text in rows:
            return PastReport(date.fromisoformat(day), frozenset(json.loads(keys_text)))
        return None

    def note(self, night: date, keys: Iterable[str]) -> None:
        """Save the contents of a nightly report. Earlier contents for the same nightly run are replaced."""
        self._file.write(
            (
                "INSERT OR REPLACE INTO reports VALUES (?, ?, ?)",
                [(night.isoformat(), json.dumps(sorted(keys)), write_now())],
            )
        )
