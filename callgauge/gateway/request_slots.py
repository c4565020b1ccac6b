"""How many requests an endpoint answers at once: fewer after it says that they are too many."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_REPLIES_FOR_ONE_MORE = 20


class RequestSlots:
    """At most `most` requests at once: halved when the endpoint answers 429, one more after 20 replies."""

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self.allowed = self.most
        self._used = 0
        self._replies = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it for the length of the block."""
        while self._used >= self.allowed:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._used += 1
        try:
            yield
        finally:
            self._used -= 1
            self._wake_next()

    def count_reply(self) -> None:
        """Note a reply; after twenty of them one request more is allowed."""
        self._replies += 1
        if self._replies >= _REPLIES_FOR_ONE_MORE and self.allowed < self.most:
            self.allowed, self._replies = self.allowed + 1, 0
            self._wake_next()

    def count_overload(self) -> None:
        """Note that the endpoint said "too many requests": half as many are allowed, at least one."""
        self.allowed, self._replies = max(1, self.allowed // 2), 0

    def _wake_next(self) -> None:
        while self._waiting and self._used < self.allowed:
            turn = self._waiting.popleft()
            if not turn.done():  # a cancelled one waits no longer
                turn.set_result(None)
                return
