"""Finds the blocks of a reply between an opening token and a closing token of a dialect."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from lenient.calls.reading.model_text import MAX_TOKENS, ModelText


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """A block of a reply that begins with an opening token.

    `ends` are the first and the last closing token in the block; () when there is none. `limit` is the latest
    end of the block: the offset of the next opening token, or the length of the text.
    """

    opening: re.Match[str]
    ends: tuple[re.Match[str], ...]
    limit: int

    @property
    def start(self) -> int:
        return self.opening.start()

    @property
    def body(self) -> int:
        return self.opening.end()

    @property
    def end(self) -> int:
        return self.ends[0].start() if self.ends else self.limit

    @property
    def last_end(self) -> int:
        return self.ends[-1].start() if self.ends else self.limit


def find_blocks(reply: ModelText, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[TokenBlock]:
    """Yield the blocks of a dialect, in order. A block ends before the next opening token at the latest."""
    starts = list(reply.find_tokens(opening))
    ends = list(closing.finditer(reply.text)) if starts else []
    places = [match.start() for match in ends]
    for index, token in enumerate(starts[:MAX_TOKENS]):
        limit = starts[index + 1].start() if index + 1 < len(starts) else len(reply.text)
        first, after = bisect_left(places, token.end()), bisect_left(places, limit)
        inner = ends[first:after]
        yield TokenBlock(token, tuple(inner[:1] + inner[-1:]), limit)
