"""Holds an endpoint to so many requests and tokens a minute."""

from __future__ import annotations

import asyncio
import time

_BURST = 1 / 6  # of what a minute allows may go at once


class Clock:
    """The time and how it is waited for; tests have one that they move."""

    def now(self) -> float:
        """Return the seconds since some moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class RateBucket:
    """Lets so many units pass a minute: a bucket that fills evenly and holds ten seconds' worth.

    Who asks for more than it holds gets it once the bucket is full, and leaves it in debt.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._per_second = per_minute / 60
        self._most = max(1.0, per_minute * _BURST)
        self._level = self._most
        self._clock = clock
        self._filled_at = clock.now()
        self._turn = asyncio.Lock()

    async def take(self, units: float) -> None:
        """Wait until so many units may pass; those who came first go first."""
        async with self._turn:
            self._fill()
            lacking = min(units, self._most) - self._level
            while lacking > 1e-9:
                await self._clock.sleep(lacking / self._per_second)
                self._fill()
                lacking = min(units, self._most) - self._level
            self._level -= units

    def correct(self, units: float) -> None:
        """Take so many units more, or give back: an estimate turned out to be wrong."""
        self._level = min(self._most, self._level - units)

    def _fill(self) -> None:
        now = self._clock.now()
        self._level = min(self._most, self._level + (now - self._filled_at) * self._per_second)
        self._filled_at = now


class EndpointRates:
    """The buckets of one endpoint, and how many bytes it takes for a token, by its own counts."""

    def __init__(
        self, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock
    ) -> None:
        self._requests = None if requests_per_minute is None else RateBucket(requests_per_minute, clock)
        self._tokens = None if tokens_per_minute is None else RateBucket(tokens_per_minute, clock)
        self._bytes_sent = self._tokens_read = 0

    def estimate_tokens(self, size: int) -> float:
        """Return the tokens of a request of so many bytes: four bytes each until the endpoint has counted."""
        share = self._tokens_read / self._bytes_sent if self._bytes_sent else 0.25
        return size * share

    async def take(self, tokens: float) -> None:
        """Wait until a request with so many tokens may be sent."""
        if self._requests is not None:
            await self._requests.take(1)
        if self._tokens is not None:
            await self._tokens.take(tokens)

    def note(self, size: int, read: int | None, estimated: float, used: float) -> None:
        """Note what a request of `size` bytes really took."""
        if read:
            self._bytes_sent += size
            self._tokens_read += read
        if self._tokens is not None:
            self._tokens.correct(used - estimated)
