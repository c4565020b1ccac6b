"""Sends one report to one channel, and retries only when the report certainly did not arrive.

If a request gets no response, the report may have arrived. Then the delivery is *unknown* and is not
repeated, because a missing report is better than two reports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from callgauge.memory.deliveries import DeliveryRecords

_WAITS = (2.0, 8.0, 30.0)  # seconds to wait before the second attempt and before each later attempt
_LONGEST_WAIT = 120.0  # longest wait that a server may ask for, in seconds
LONGEST_ATTEMPT = 90.0
"""Maximum seconds of one attempt. Four attempts and the waits between them take less than
`deliveries.LONGEST`.
"""

Result = Literal["sent", "sent before", "sent by another", "failed", "unknown"]


class SendError(Exception):
    """Raised when a request did not succeed. The message contains no secret.

    `is_lost` is True when the report may have arrived nevertheless. `may_retry` is True when the next attempt
    may succeed. `wait` is the number of seconds that the server asks to wait.
    """

    def __init__(
        self, message: str, *, is_lost: bool = False, may_retry: bool = False, wait: float = 0.0
    ) -> None:
        super().__init__(message)
        self.is_lost = is_lost
        self.may_retry = may_retry and not is_lost
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Channel:
    """A destination of the report. Its `name` contains no secret.

    `send` returns the response in words, or raises SendError.
    """

    name: str
    send: Callable[[], str]


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The result of sending to one channel. `reason` explains the result in words."""

    channel: str
    result: Result
    reason: str

    @property
    def is_known_to_be_there(self) -> bool:
        return self.result in ("sent", "sent before")


def deliver(
    records: DeliveryRecords, report: str, channel: Channel, sleep: Callable[[float], object]
) -> DeliveryResult:
    """Send a report to a channel, unless a process has already sent it or is sending it.

    Raises MemoryProblemError.
    """
    delivery, is_ours = records.claim(report, channel.name)
    if not is_ours:
        words: dict[str, Result] = {"sent": "sent before", "unknown": "unknown"}
        reason = delivery.reason if delivery.state in words else "another process is sending it"
        return DeliveryResult(channel.name, words.get(delivery.state, "sent by another"), reason)
    for number in range(len(_WAITS) + 1):
        records.note(delivery, "sending")
        try:
            reason = _send_in_time(channel.send)
        except SendError as problem:
            reason = str(problem)
            if problem.is_lost:
                records.note(delivery, "unknown", reason)
                return DeliveryResult(channel.name, "unknown", reason)
            if not problem.may_retry or number == len(_WAITS) or problem.wait > _LONGEST_WAIT:
                break
            records.note(delivery, "trying", reason)
            sleep(max(problem.wait, _WAITS[number]))
        else:
            records.note(delivery, "sent", reason)
            return DeliveryResult(channel.name, "sent", reason)
    records.note(delivery, "failed", reason)
    return DeliveryResult(channel.name, "failed", reason)


def _send_in_time(send: Callable[[], str]) -> str:
    """Return the response of `send`.

    Raises SendError when sending fails or takes too long in all, even if each response of the server is
    quick.
    """
    done: list[str | BaseException] = []

    def run() -> None:
        try:
            done.append(send())
        except BaseException as problem:
            done.append(problem)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(LONGEST_ATTEMPT)
    if not done:
        raise SendError(f"no whole answer within {LONGEST_ATTEMPT:.0f} seconds", is_lost=True)
    (answer,) = done
    if isinstance(answer, BaseException):
        raise answer
    return answer
