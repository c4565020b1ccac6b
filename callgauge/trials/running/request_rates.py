"""Limits the requests and tokens per minute that are sent to an endpoint."""

from __future__ import annotations

import asyncio
import time

_BURST = 1 / 6  # A bucket holds the units of ten seconds.


class Clock:
    """A clock that can wait. Tests use a clock that they control."""

    def now(self) -> float:
        """Return the seconds since a fixed moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for this number of seconds."""
        await asyncio.sleep(seconds)


class RateBucket:
    """A token bucket that limits the units per minute. The bucket fills evenly, and holds the units of ten
    seconds.

    A request for more units waits until the bucket is full. Afterwards the level is negative.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._per_second = per_minute / 60
        self._most = max(1.0, per_minute * _BURST)
        self._level = self._most
        self._clock = clock
        self._filled_at = clock.now()
        self._turn = asyncio.Lock()

    async def take(self, units: float) -> None:
        """Wait until `units` are available, then take them. Callers are served in order."""
        async with self._turn:
            self._fill()
            lacking = min(units, self._most) - self._level
            while lacking > 1e-9:
                await self._clock.sleep(lacking / self._per_second)
                self._fill()
                lacking = min(units, self._most) - self._level
            self._level -= units

    def correct(self, units: float) -> None:
        """Take `units` more because an estimate was too low. If `units` is negative, give units back."""
        self._level = min(self._most, self._level - units)

    def _fill(self) -> None:
        now = self._clock.now()
        self._level = min(self._most, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now


class EndpointRates:
    """The token buckets of one endpoint, and how many tokens a byte of a request has on average."""

    def __init__(
        self, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock
    ) -> None:
        self._requests = None if requests_per_minute is None else RateBucket(requests_per_minute, clock)
        self._tokens = None if tokens_per_minute is None else RateBucket(tokens_per_minute, clock)
        self._bytes_sent = self._tokens_read = 0

    def estimate_tokens(self, size: int) -> float:
        """Return the estimated tokens of a request of `size` bytes.

        The estimate is four bytes per token until the endpoint has reported a token count.
        """
        share = self._tokens_read / self._bytes_sent if self._bytes_sent else 0.25
        return size * share

    async def take(self, tokens: float) -> None:
        """Wait until the limits allow a request with this number of tokens."""
        if self._requests is not None:
            await self._requests.take(1)
        if self._tokens is not None:
            await self._tokens.take(tokens)

    def note(self, size: int, read: int | None, estimated: float, used: float) -> None:
        """Record the real token counts of a request of `size` bytes."""
        if read:
            self._bytes_sent += size
            self._tokens_read += read
        if self._tokens is not None:
            self._tokens.correct(used - estimated)
