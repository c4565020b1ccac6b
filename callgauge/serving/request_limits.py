"""Limits for each client: token buckets, and counts of open things, in bounded memory."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager


class RateLimit:
    """Allows each key `most` requests, which refill within `seconds` (a token bucket).

    Only the `keys` that were used last are remembered; a forgotten key starts with a full bucket.
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
        """Return True and count the request if the key may make one more now."""
        now = self._clock()
        left, then = self._left.pop(key, (float(self._most), now))
        left = min(float(self._most), left + (now - then) * self._per_second)
        may = left >= 1
        self._left[key] = (left - 1 if may else left, now)
        if len(self._left) > self._keys:
            self._left.popitem(last=False)
        return may

    def give_back(self, key: Hashable) -> None:
        """Undo the count of a request."""
        if key in self._left:
            left, then = self._left[key]
            self._left[key] = (left + 1, then)


class OpenCount:
    """Counts what each key has open: at most `each` per key, and `most` in total."""

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._open: Counter[Hashable] = Counter()

    def begin(self, key: Hashable) -> bool:
        """Return True and count it if the key may open one more; the caller then calls `end`."""
        if self._open[key] >= self._each or self._open.total() >= self._most:
            return False
        self._open[key] += 1
        return True

    def end(self, key: Hashable) -> None:
        self._open[key] -= 1
        if self._open[key] <= 0:
            del self._open[key]


class SlowTurns:
    """Serves each key slowly: one request at a time, each after a pause of `seconds`; `most` may wait."""

    def __init__(self, seconds: float, most: int = 20) -> None:
        self._seconds = seconds
        self._most = most
        self._waiting: Counter[Hashable] = Counter()
        self._locks: dict[Hashable, asyncio.Lock] = {}

    @asynccontextmanager
    async def take(self, key: Hashable) -> AsyncIterator[bool]:
        """Wait for the turn of a key. Return False immediately if too many wait."""
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
