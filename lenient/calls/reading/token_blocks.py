"""Finds the blocks of a reply between an opening and a closing delimiter token of a dialect.

In broken JSON, a token may be part of a string. If there are several closing tokens, the block ends at the
token that leaves the JSON least broken.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from lenient.calls.reading.json_in_text import read_json_value
from lenient.calls.reading.model_text import MAX_TOKENS, ModelText
from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_end import Lookahead


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """A block of a reply that begins with an opening delimiter token.

    `ends` are the first and the last closing token in the block, or () when there is none. `limit` is the
    latest possible end: the offset of the next opening token, or the length of the reply. `closing` matches
    the closing tokens of the dialect, and `tokens` matches the opening and the closing tokens.
    """

    opening: re.Match[str]
    ends: tuple[re.Match[str], ...]
    limit: int
    closing: re.Pattern[str]
    tokens: re.Pattern[str]

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

    def find_ends(self, reply: ModelText, start: int) -> Iterator[int]:
        """Yield the offsets where broken JSON that begins at `start` may end, the likeliest first.

        A closing token of the block may be part of a string. If an opening token is part of a string, the
        real closing token may be after the block.
        """
        yield self.end
        outside = find_outside_strings(reply, start, self.tokens)
        if outside is None and self.end < len(reply.text):
            yield len(reply.text)
        if outside is not None and outside.start() > self.end:
            yield outside.start()
        if self.last_end > self.end and (outside is None or outside.start() != self.last_end):
            yield self.last_end

    def move_beyond(self, reply: ModelText, position: int) -> TokenBlock:
        """Return the block without the delimiter tokens before `position`, which are inside strings."""
        token = self.tokens.search(reply.text, position)
        if token is None:
            return replace(self, ends=(), limit=len(reply.text))
        closing = self.closing.match(reply.text, token.start())
        return replace(self, ends=(closing,) if closing is not None else (), limit=token.start())


@cache
def _either(opening: re.Pattern[str], closing: re.Pattern[str]) -> re.Pattern[str]:
    return compile_regex(f"{opening.pattern}|{closing.pattern}", opening.flags | closing.flags)


def find_blocks(reply: ModelText, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[TokenBlock]:
    """Yield the blocks of a dialect, in order. Each block ends before the next opening token."""
    starts = list(reply.find_tokens(opening))
    ends = list(closing.finditer(reply.text)) if starts else []
    tokens = _either(opening, closing)
    places = [match.start() for match in ends]
    for index, token in enumerate(starts[:MAX_TOKENS]):
        limit = starts[index + 1].start() if index + 1 < len(starts) else len(reply.text)
        first, after = bisect_left(places, token.end()), bisect_left(places, limit)
        inner = ends[first:after]
        yield TokenBlock(token, tuple(inner[:1] + inner[-1:]), limit, closing, tokens)


# --- where broken JSON ends ----------------------------------------------------------------------------


def find_outside_strings(reply: ModelText, start: int, tokens: re.Pattern[str]) -> re.Match[str] | None:
    """Return the first match of `tokens` after `start` that is outside of strings in double quotes.

    Return None when there is no match, or when the budget of the reply is used up.
    """
    if not reply.spend_budget(0):
        return None
    marks = _add_strings(tokens).finditer(reply.text, start)
    mark_outside = next((mark for mark in marks if not mark["string"]), None)
    reply.spend_budget((mark_outside.start() if mark_outside is not None else len(reply.text)) - start)
    return mark_outside


@cache
def _add_strings(tokens: re.Pattern[str]) -> re.Pattern[str]:
    return compile_regex(rf'(?P<string>"(?:[^"\\]++|\\[\s\S])*+"?)|{tokens.pattern}', tokens.flags)


def is_less_broken(damage: int, least: int, reply: ModelText, end: int) -> bool:
    """Return True when the JSON is less broken if it ends at the offset `end` than at the best end so far.

    `damage` is the damage of the JSON that ends at `end`, and `least` is the least damage so far. If the JSON
    is badly broken with either end, the later end is better, because earlier tokens may be inside a string.
    """
    return damage < least or (damage == least == 2 and end < len(reply.text))


def choose_end(reply: ModelText, start: int, ends: Iterable[int], name: str) -> int | None:
    """Return the offset in `ends` that leaves the arguments from `start` on least broken.

    Return None if `ends` is empty. The definition of the tool `name` helps to find the ends of strings.
    """
    node, best, least = reply.arguments_node(name), None, 3
    for end in ends:
        if best is not None and (least == 0 or not reply.spend_budget(end - start)):
            break
        piece = SourceText(reply.text[start:end].rstrip().removesuffix("```").rstrip())
        read = read_json_value(piece, 0, Lookahead(piece.text), start, node)
        damage = 3 if isinstance(read, UnreadableError) else read.damage
        if is_less_broken(damage, least, reply, end):
            best, least = end, damage
    return best
