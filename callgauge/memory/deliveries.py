"""Record deliveries, so that two processes never send the same report, even if a process is killed.

A process claims the delivery and records the state *sending* before each request. If the process is killed in
this state, the request may have arrived, so no process sends the report again. Between two attempts the state
is *trying*. If the process is killed in this state, another process may continue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from uuid import uuid4

from callgauge.memory.memory_file import MemoryFile, cut_text

DeliveryState = Literal["trying", "sending", "sent", "failed", "unknown"]
LONGEST = timedelta(minutes=15)
"""A delivery that had no update for this time belongs to a dead process: senders have shorter timeouts."""

_CLAIM = """
    INSERT INTO deliveries VALUES (?, ?, 'trying', ?, ?, '') ON CONFLICT DO UPDATE
    SET state = 'trying', claim = excluded.claim, at = excluded.at, told = ''
    WHERE state = 'failed' OR (state = 'trying' AND at < ?)"""
_GIVE_UP = """
    UPDATE deliveries SET state = 'unknown', told = 'the process that sent it has ended'
    WHERE report = ? AND channel = ? AND state = 'sending' AND at < ?"""
_OF_REPORT = """
    SELECT report, channel, state, claim, at, told FROM deliveries WHERE report = ? ORDER BY channel"""
_UPDATE = "UPDATE deliveries SET state = ?, at = ?, told = ? WHERE report = ? AND channel = ? AND claim = ?"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of one report to one channel. `reason` is the channel's response, without secrets."""

    report: str
    channel: str
    state: DeliveryState
    claim: str
    at: datetime
    reason: str


class DeliveryRecords:
    """The deliveries of the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def claim(self, report: str, channel: str) -> tuple[Delivery, bool]:
        """Claim the delivery of a report to a channel. Return the delivery, and whether this process may send
        the report.
        """
        mine, now = uuid4().hex, datetime.now(UTC)
        stale = _write_time(now - LONGEST)
        self._file.write(
            (_GIVE_UP, [(report, channel, stale)]),
            (_CLAIM, [(report, channel, mine, _write_time(now), stale)]),
        )
        (stored,) = (delivery for delivery in self.list_deliveries(report) if delivery.channel == channel)
        return stored, stored.claim == mine

    def note(self, delivery: Delivery, state: DeliveryState, reason: str = "") -> None:
        """Record the state of a claimed delivery."""
        values = (
            state,
            _write_time(datetime.now(UTC)),
            cut_text(reason),
            delivery.report,
            delivery.channel,
            delivery.claim,
        )
        self._file.write((_UPDATE, [values]))

    def list_deliveries(self, report: str) -> Sequence[Delivery]:
        """Return the deliveries of a report, sorted by channel."""
        (rows,) = self._file.read_rows(_OF_REPORT, values=(report,))
        return [
            Delivery(name, channel, state, claim, datetime.fromisoformat(at), reason)
            for name, channel, state, claim, at, reason in rows
        ]


def _write_time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
