"""Limits the requests and open connections of each client. The memory for the counts is bounded."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager


class RateLimit:
    """Allows each key `most` requests in `seconds`, with a token bucket.

    Only the last `keys` keys are remembered. A forgotten key starts with a full bucket.
    """

    def __init__(
        self, most: int, seconds: float, keys: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._per_second = most / seconds
        self._keys = keys
        self._clock = clock
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable) -> bool:
        """Count a request and return True, unless the key has reached the limit."""
        now = self._clock()
        left, then = self._left.pop(key, (float(self._most), now))
        left = min(float(self._most), left + (now - then) * self._per_second)
        may = left >= 1
        self._left[key] = (left - 1 if may else left, now)
        if len(self._left) > self._keys:
            self._left.popitem(last=False)
        return may

    def give_back(self, key: Hashable) -> None:
        """Subtract one counted request from a key."""
        if key in self._left:
            left, then = self._left[key]
            self._left[key] = (left + 1, then)


class OpenCount:
    """Counts the open connections. Each key may have at most `each` connections, and all keys together at
    most `most`.
    """

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._open: Counter[Hashable] = Counter()

    def begin(self, key: Hashable) -> bool:
        """Count a connection and return True, unless a limit is reached. The caller must call `end` later."""
        if self._open[key] >= self._each or self._open.total() >= self._most:
            return False
        self._open[key] += 1
        return True

    def end(self, key: Hashable) -> None:
        self._open[key] -= 1
        if self._open[key] <= 0:
            del self._open[key]


class SlowTurns:
    """Serves one request per key at a time. Each request waits for `seconds` first. At most `most` requests
    may wait.
    """

    def __init__(self, seconds: float, most: int = 20) -> None:
        self._seconds = seconds
        self._most = most
        self._waiting: Counter[Hashable] = Counter()
        self._locks: dict[Hashable, asyncio.Lock] = {}

    @asynccontextmanager
    async def take(self, key: Hashable) -> AsyncIterator[bool]:
        """Wait until it is the request's turn. Return False immediately if too many requests wait."""
        if self._waiting[key] >= self._most:
            yield False
            return
        self._waiting[key] += 1
        try:
            async with self._locks.setdefault(key, asyncio.Lock()):
                await asyncio.sleep(self._seconds)
                yield True
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._locks[key]
