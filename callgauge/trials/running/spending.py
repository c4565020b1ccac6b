"""Counts the cost of a trial run, and applies the plan's limits.

The maximum cost of a request is recorded before the request is sent, and the real cost afterwards. If the
process is killed during a request, the maximum counts. A continued trial run keeps all earlier costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from callgauge.gateway import ChatRequest, Reply
from callgauge.trials.planning.plan import Budget, TokenPrice
from callgauge.trials.running.request_rates import Clock, EndpointRates
from callgauge.trials.running.run_files import RunFiles, drop_half_line, explain_full_disk

REPLY_TOKENS = 4_096
"""The assumed maximum tokens of a reply, for a model without `sampling.max_tokens`."""
_BYTES_A_TOKEN = 4


class Amount(NamedTuple):
    """Money in USD, and the numbers of input and output tokens."""

    cost: float = 0.0
    tokens: float = 0.0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.cost + other.cost, self.tokens + other.tokens)

    def at_least(self, other: Amount) -> Amount:
        return Amount(max(self.cost, other.cost), max(self.tokens, other.tokens))


NOTHING = Amount()


@dataclass(slots=True, eq=False)
class TrialAccount:
    """The costs of one trial in progress: the expected cost, the booked cost, and the maximum of the current
    request.
    """

    reserved: Amount
    booked: Amount = NOTHING
    in_flight: Amount = NOTHING

    @property
    def outstanding(self) -> Amount:
        """The amount that this trial may still cost."""
        left = Amount(self.reserved.cost - self.booked.cost, self.reserved.tokens - self.booked.tokens)
        return Amount().at_least(left).at_least(self.in_flight)


@dataclass(slots=True)
class Spending:
    """The spending of a trial run, stored in the file `path`. The method `begin` reads the costs of earlier
    processes.
    """

    budget: Budget
    files: RunFiles
    path: Path
    clock: Clock
    spent: Amount = NOTHING
    earlier_seconds: float = 0.0
    _open: list[TrialAccount] = field(default_factory=list)
    _dearest: dict[str, Amount] = field(default_factory=dict)
    _began: float = 0.0
    _process: int = 0
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def begin(self) -> None:
        """Read the earlier costs, and record the start of this process. Raises FolderError."""
        drop_half_line(self.path)
        lines = list(_read_lines(self.path))
        self.spent, self.earlier_seconds = _sum_spent(lines), _sum_seconds(lines)
        self._process = 1 + sum("begin" in line for line in lines)
        self._began = self.clock.now()
        self._write({"begin": self._process})

    @property
    def seconds(self) -> float:
        """The duration of the trial run so far in seconds, including earlier processes."""
        return self.earlier_seconds + self.clock.now() - self._began

    def open_trial(self, arm: str, first: Amount) -> TrialAccount:
        """Return the account of a new trial. `first` is the maximum cost of the trial's first request."""
        account = TrialAccount(self.expected(arm, first))
        self._open.append(account)
        return account

    def close_trial(self, arm: str, account: TrialAccount) -> None:
        """Record the end of a trial, and release the amount that was reserved for the trial."""
        self._open.remove(account)
        self._dearest[arm] = account.booked.at_least(self._dearest.get(arm, Amount()))

    def expected(self, arm: str, first: Amount) -> Amount:
        """Return the expected cost of a trial: the cost of the variant's most expensive trial so far, but at
        least `first`.
        """
        return first.at_least(self._dearest.get(arm, Amount()))

    def begin_request(self, account: TrialAccount, worst: Amount) -> str:
        """Record a request before it is sent. Return an id for `end_request`. Raises FolderError."""
        request = f"{self._process}.{next(self._numbers)}"
        account.in_flight = worst
        self._write({"request": request, "worst": worst._asdict()})
        return request

    def end_request(self, account: TrialAccount, request: str, true: Amount) -> None:
        """Record the real cost of a request. Raises FolderError."""
        account.in_flight = Amount()
        account.booked = account.booked.plus(true)
        self.spent = self.spent.plus(true)
        self._write({"request": request, "spent": true._asdict()})

    def reached_cap(self, next_block: Iterable[Amount] = ()) -> str | None:
        """Return a sentence about the limit that these trials would exceed, or None if they exceed none."""
        wanted = Amount()
        for trial in next_block:
            wanted = wanted.plus(trial)
        committed = self.spent
        for account in self._open:
            committed = committed.plus(account.outstanding)
        total = committed.plus(wanted)
        cap = self.budget
        if cap.minutes is not None and self.seconds >= cap.minutes * 60:
            return f"budget.minutes: the {cap.minutes:g} minutes of the plan are over"
        if cap.cost is not None and total.cost > cap.cost:
            return (
                f"budget.cost: ${self.spent.cost:.4f} of ${cap.cost:g} are spent, and the next task could "
                f"cost ${wanted.cost:.4f}"
            )
        if cap.tokens is not None and total.tokens > cap.tokens:
            used = f"{self.spent.tokens:,.0f} of {cap.tokens:,} are used"
            return f"budget.tokens: {used}, and the next task could use {wanted.tokens:,.0f}"
        return None

    def _write(self, fields: dict[str, Any]) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "seconds": round(self.clock.now() - self._began, 3), **fields}
        self.files.append(self.path, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def read_spent(path: Path) -> Amount:
    """Return the amount in the spending file. A request without a recorded end counts at maximum cost."""
    return _sum_spent(_read_lines(path))


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with explain_full_disk(path):
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:
            return
    for line in lines:
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(entry, dict):
            yield entry


def _sum_spent(lines: Iterable[dict[str, Any]]) -> Amount:
    requests: dict[str, Amount] = {}
    for line in lines:
        spent = line.get("spent") or line.get("worst")
        if spent:
            requests[str(line.get("request"))] = Amount(**spent)
    total = Amount()
    for amount in requests.values():
        total = total.plus(amount)
    return total


def _sum_seconds(lines: Iterable[dict[str, Any]]) -> float:
    """Return the total duration of all processes, each from the first to the last recorded time."""
    total = latest = 0.0
    for line in lines:
        if "begin" in line:
            total, latest = total + latest, 0.0
        latest = max(latest, float(line.get("seconds") or 0.0))
    return total + latest


def worst_amount(read: float, most_written: float, price: TokenPrice | None) -> Amount:
    """Return the maximum cost of a request with this number of input tokens."""
    cost = 0.0 if price is None else price.cost(read, most_written)
    return Amount(cost, read + most_written)


@dataclass(slots=True)
class TrialMeter:
    """Reserves and books the cost of one conversation's requests, for `Endpoint.share`."""

    spending: Spending
    account: TrialAccount
    rates: EndpointRates
    price: TokenPrice | None
    most_written: float = REPLY_TOKENS
    _request: str = ""
    _size: int = 0
    _read: float = 0.0

    async def begin(self, request: ChatRequest, size: int) -> None:
        """Wait until the endpoint's limits allow the request. Then reserve the request's maximum cost."""
        self._size, self._read = size, self.rates.estimate_tokens(size)
        self.most_written = float(request.sampling.get("max_tokens", REPLY_TOKENS))
        await self.rates.take(self._read + self.most_written)
        worst = worst_amount(self._read, self.most_written, self.price)
        self._request = self.spending.begin_request(self.account, worst)

    def book(self, reply: Reply) -> None:
        """Book the token counts of the endpoint. If they are missing, book an estimate from the size of the
        messages.
        """
        tokens = reply.tokens
        size = len(reply.text) + sum(len(call.raw) for call in reply.calls)
        read = self._read if tokens.read is None else tokens.read
        written = size / _BYTES_A_TOKEN if tokens.written is None else tokens.written
        cost = 0.0 if self.price is None else self.price.cost(read, written, tokens.cached or 0)
        self._end(Amount(cost, read + written), tokens.read)

    def fail(self, *, is_charged: bool) -> None:
        """Book the maximum cost if the provider may charge for the failed request. Otherwise book nothing."""
        self._end(self.account.in_flight if is_charged else Amount(), None)

    def _end(self, true: Amount, read: int | None) -> None:
        self.rates.note(self._size, read, self._read + self.most_written, true.tokens)
        self.spending.end_request(self.account, self._request, true)
