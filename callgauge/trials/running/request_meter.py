"""Meters the requests of one trial: the endpoint's rates before, the budget before and after."""

from __future__ import annotations

from dataclasses import dataclass

from callgauge.gateway import ChatRequest, Reply
from callgauge.trials.planning.plan import TokenPrice
from callgauge.trials.running.request_rates import EndpointRates
from callgauge.trials.running.spending import Amount, Spending, TrialAccount

REPLY_TOKENS = 4_096
"""Tokens of a reply at worst, for a model without `sampling.max_tokens`."""
_BYTES_A_TOKEN = 4


def worst_amount(read: float, most_written: float, price: TokenPrice | None) -> Amount:
    """Return the worst case of a request that reads so many tokens."""
    cost = 0.0 if price is None else price.cost(read, most_written)
    return Amount(cost, read + most_written)


@dataclass(slots=True)
class TrialMeter:
    """The meter of one conversation, as `Endpoint.share` takes it."""

    spending: Spending
    account: TrialAccount
    rates: EndpointRates
    price: TokenPrice | None
    most_written: float = REPLY_TOKENS
    _request: str = ""
    _size: int = 0
    _read: float = 0.0

    async def begin(self, request: ChatRequest, size: int) -> None:
        """Wait until the endpoint's rates allow the request, then reserve its worst case."""
        self._size, self._read = size, self.rates.estimate_tokens(size)
        self.most_written = float(request.sampling.get("max_tokens", REPLY_TOKENS))
        await self.rates.take(self._read + self.most_written)
        worst = worst_amount(self._read, self.most_written, self.price)
        self._request = self.spending.begin_request(self.account, worst)

    def book(self, reply: Reply) -> None:
        """Book what the endpoint counted; where it counts nothing, what its texts come to."""
        tokens = reply.tokens
        said = len(reply.text) + sum(len(call.raw) for call in reply.calls)
        read = self._read if tokens.read is None else tokens.read
        written = said / _BYTES_A_TOKEN if tokens.written is None else tokens.written
        cost = 0.0 if self.price is None else self.price.cost(read, written, tokens.cached or 0)
        self._end(Amount(cost, read + written), tokens.read)

    def fail(self, *, is_charged: bool) -> None:
        """Book the worst case where the reply may have been made, nothing where it was not."""
        self._end(self.account.in_flight if is_charged else Amount(), None)

    def _end(self, true: Amount, read: int | None) -> None:
        self.rates.note(self._size, read, self._read + self.most_written, true.tokens)
        self.spending.end_request(self.account, self._request, true)
