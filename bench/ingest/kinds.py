"""The three kinds of logs that the benchmark reads: transcripts, session logs and traces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.ingest.night import CLAUDE_CODE, SESSION_LOGS, write_night
from bench.ingest.traces import write_traces

_SQL = Path(__file__).parent / "sql"


@dataclass(frozen=True, slots=True)
class LogKind:
    """A kind of logs.

    `write(folder, size)` writes logs of `size` bytes and returns the files. `share` is the size relative to
    the transcripts. `has_peers` states whether other programs read these logs.
    """

    name: str
    title: str
    write: Callable[[Path, int], list[Path]]
    share: float
    has_peers: bool = False

    @property
    def sql(self) -> Path:
        """Return the file with the SQL that loads these logs with DuckDB alone."""
        return _SQL / f"{self.name}.sql"


KINDS = (
    LogKind(
        "transcripts",
        "Transcripts of an agent (Claude Code)",
        partial(write_night, sources=CLAUDE_CODE),
        share=1.0,
        has_peers=True,
    ),
    LogKind(
        "session_logs",
        "Session logs of a gateway, with many short lines",
        partial(write_night, sources=SESSION_LOGS),
        share=0.1,
    ),
    LogKind("traces", "OpenTelemetry traces (OTLP JSON)", write_traces, share=0.1),
)
