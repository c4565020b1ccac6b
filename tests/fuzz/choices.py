"""Turns bytes into choices of numbers, list members and strings. The same bytes always give the same choices.

A fuzzer changes the bytes to get other choices. When all bytes are used, the first option is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """Makes choices from the given bytes in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    @property
    def left(self) -> int:
        return max(0, len(self.data) - self.position)

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        width = 1 if limit <= 256 else 2 if limit <= 65_536 else 4
        piece = self.data[self.position : self.position + width]
        self.position += width
        return int.from_bytes(piece, "big") % limit

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def rest(self) -> bytes:
        piece = self.data[self.position :]
        self.position = len(self.data)
        return piece
