"""Makes the events that a log format would give, and the rows of these events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FlagSource,
    LogLine,
    ResultSeen,
    ResultStatus,
    StepMade,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.sessions.session_builder import SessionBuilder
from lenient import ToolCatalog

T0 = datetime(2026, 11, 20, 23, 59, 50, tzinfo=UTC)
READ = {
    "name": "read",
    "description": "Read a file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
        "required": ["path"],
    },
}


class Log:
    """Makes the events of one session. Each event is one second and one line after the previous event."""

    def __init__(self, session: str = "s1") -> None:
        self.session, self.line, self.events = session, 0, list[Event]()

    def add(self, kind: type[Event], **fields: Any) -> Log:
        self.line += 1
        where = LogLine(self.line, self.line * 100)
        ts = T0 + timedelta(seconds=self.line)
        self.events.append(kind(**{"session_id": self.session, "where": where, "ts": ts, **fields}))
        return self

    def raw(self, text: str, call_id: str = "c1", **fields: Any) -> Log:
        fields = {"tool": "read", "args_source": ArgsSource.RAW, **fields}
        return self.add(CallMade, tool_call_id=call_id, raw_arguments=text, **fields)

    def ok(self, call_id: str = "c1", **fields: Any) -> Log:
        fields = {"status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT, **fields}
        return self.add(ResultSeen, tool_call_id=call_id, **fields)

    def answered(self) -> Log:
        return self.add(StepMade, text="done").add(TurnEnded, status="ok", recorded_ok=True, answer="done")

    def rows(self, catalog: ToolCatalog | None = None) -> dict[str, list[dict[str, Any]]]:
        file_work = SessionBuilder(
            file_id=7, source="test", catalog=catalog or ToolCatalog.from_definitions([])
        )
        for event in self.events:
            file_work.take(event)
        file_work.finish()
        file_work.close()
        return {table: rows.to_dicts() for table, rows in file_work.drain().items()}


def call_of(log: Log, catalog: ToolCatalog | None = None) -> dict[str, Any]:
    (row,) = log.rows(catalog)["tool_calls"]
    return row


def turn_of(log: Log) -> dict[str, Any]:
    (row,) = log.rows()["turns"]
    return row


def started() -> Log:
    return Log().add(TurnStarted, text="go").add(StepMade)


def with_read() -> Log:
    return Log().add(ToolsOffered, definitions=(READ,)).add(TurnStarted).add(StepMade)
