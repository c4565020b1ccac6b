"""Finds where broken JSON between tokens ends: a token may stand in a string of the JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from lenient.calls.reading.json_in_text import read_json_value
from lenient.calls.reading.model_text import ModelText
from lenient.diagnostics.unreadable import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_search import Lookahead


def find_outside_strings(reply: ModelText, start: int, tokens: re.Pattern[str]) -> re.Match[str] | None:
    """Return the first match of `tokens` from `start` on that is outside of strings in double quotes.

    Return None as well when the budget of the reply is used up.
    """
    if not reply.spend_budget(0):
        return None
    marks = _add_strings(tokens).finditer(reply.text, start)
    found = next((mark for mark in marks if not mark["string"]), None)
    reply.spend_budget((found.start() if found is not None else len(reply.text)) - start)
    return found


@cache
def _add_strings(tokens: re.Pattern[str]) -> re.Pattern[str]:
    return compile_regex(rf'(?P<string>"(?:[^"\\]++|\\[\s\S])*+"?)|{tokens.pattern}', tokens.flags)


def is_less_broken(damage: int, least: int, reply: ModelText, end: int) -> bool:
    """Return True when JSON that ends at `end` with this damage is to be preferred to that with the `least`.

    Where all are badly broken, a later token is: the earlier ones may stand in a string.
    """
    return damage < least or (damage == least == 2 and end < len(reply.text))


def choose_end(reply: ModelText, start: int, ends: Iterable[int], name: str) -> int | None:
    """Return that of the `ends` up to which the arguments from `start` on are least broken, None without any.

    `name` is the name of the tool, whose definition says where strings end.
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
