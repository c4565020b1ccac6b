"""Tool calls that lost one to four characters at the boundary of a member, as when a stream loses a piece.

A boundary is what stands between a value and the next name (`", "`, `}, {"`), or between a name and the value
(`": "`). If a string or a number lost characters, the right answer lacks these characters, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any

from bench.parser.corpus import read_corpus
from bench.parser.mutations import SEED, written_calls
from bench.parser.mutations.answers import Mutant, misfits
from bench.parser.mutations.draft import Draft, Kind, Token
from bench.parser.mutations.strings import LONG, TELLING
from bench.parser.readings import Tool
from bench.parser.scoring import is_strict_json

LONGEST = 4
_SIGNS = {":", "=", ",", "\\", '"'}
_COMMENT = re.compile(r"#|/[/*]")
"""In a string without its first quote, these characters may begin a comment."""


def boundary_losses(wanted: int, *, seed: int = SEED) -> Iterator[tuple[str, Mutant]]:
    """Yield different mutants, each with the name of its loss.

    The same seed gives the same mutants.
    """
    random, seen = Random(f"{seed} boundaries"), set[str]()
    calls = _calls()
    while len(seen) < wanted:
        tool, arguments = random.choice(calls)
        lost = lose(tool, arguments, random)
        if lost is not None and lost[1].text not in seen:
            seen.add(lost[1].text)
            yield lost


def _calls() -> list[tuple[Tool, dict[str, Any]]]:
    """Return the tool calls of the mutation tests, and the tool calls of the corpus whose arguments fit the
    called tool.
    """
    calls = written_calls() + [
        (entry.tool, entry.intended)
        for entry in read_corpus().malformed
        if entry.tool and entry.intended and not misfits(entry.intended, entry.tool.schema)
    ]
    return [(tool, call) for tool, call in calls if call and len(json.dumps(call)) <= 1500]


def lose(tool: Tool, arguments: dict[str, Any], random: Random) -> tuple[str, Mutant] | None:
    """Delete a random piece at a random boundary. Return None if the result is still valid JSON."""
    draft = Draft.make(arguments, random)
    text = draft.written()
    after = random.choice((Kind.COMMA, Kind.COLON))
    boundaries = list(_boundaries(draft.tokens, after))
    if not boundaries:
        return None
    first, last = random.choice(boundaries)
    starts = _starts(draft.tokens)
    zone = (starts[first] + _before(draft.tokens[first]), starts[last] + _quoted(draft.tokens[last]))
    size = random.randint(1, LONGEST)
    start = random.randint(max(1, zone[0] - size + 1), zone[1] - 1)
    left = text[:start] + text[start + size :]
    if is_strict_json(left):
        return None
    loss = _Loss(draft.tokens, starts, (start, start + size), (first, last))
    if loss.untold:
        return None
    return loss.kind, loss.mutant(tool, arguments, left)


def _starts(tokens: list[Token]) -> list[int]:
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    return starts


def _boundaries(tokens: list[Token], kind: Kind) -> Iterator[tuple[int, int]]:
    """Return the tokens around every colon, or around every comma before a name or an object."""
    for index, token in enumerate(tokens):
        if token.kind is not kind:
            continue
        first, last = index - 1, index + 1
        while tokens[first].kind in (Kind.CLOSE, Kind.SPACE):
            first -= 1
        while tokens[last].kind in (Kind.OPEN, Kind.SPACE) and tokens[last + 1].kind is not Kind.CLOSE:
            last += 1
        if kind is Kind.COLON or tokens[last].kind is Kind.KEY:
            yield first, last


def _quoted(token: Token) -> bool:
    return token.kind in (Kind.KEY, Kind.STRING)


def _before(token: Token) -> int:
    return len(token.text) - _quoted(token)


@dataclass
class _Loss:
    """The loss of a piece between two offsets, in every token that the piece touches."""

    tokens: list[Token]
    starts: list[int]
    piece: tuple[int, int]
    boundary: tuple[int, int]
    names: dict[int, str] = field(default_factory=dict)
    values: dict[int, Any] = field(default_factory=dict)
    brackets: bool = False
    unknown: bool = False
    """True when the original value of a parameter can no longer be known."""
    untold: bool = False
    """True if the remaining characters are ambiguous: a literal's end, or a blank or sign outside quotes."""

    def __post_init__(self) -> None:
        for index, token in enumerate(self.tokens):
            rest = self._kept(index)
            if rest == token.text:
                continue
            if token.kind in (Kind.OPEN, Kind.CLOSE):
                self.brackets = True
            elif token.kind is Kind.KEY and _inner(token, rest) != token.text[1:-1]:
                self.names[index] = _inner(token, rest)
            elif token.kind in (Kind.STRING, Kind.OTHER):
                self._value(index, token, rest)

    def _kept(self, index: int) -> str:
        start, text = self.starts[index], self.tokens[index].text
        before, after = (max(0, min(len(text), at - start)) for at in self.piece)
        return text[:before] + text[after:]

    def _value(self, index: int, token: Token, rest: str) -> None:
        inner = _inner(token, rest)
        start_lost = not token.text.startswith(rest)
        if token.kind is Kind.OTHER:
            self.untold |= start_lost and rest.isalpha()
        else:
            self.untold |= rest.strip() != rest or (start_lost and rest[:1] in _SIGNS)
        try:
            value = json.loads(f'"{inner}"') if token.kind is Kind.STRING else _number(rest)
            json.dumps(value, ensure_ascii=False).encode()
        except ValueError:  # the rest is half an escape, half a literal, or empty
            self.unknown = True
            return
        if value == "" != token.value:
            self.unknown = True
        elif value != token.value:
            self.values[index] = value

    @property
    def kind(self) -> str:
        colon = any(token.kind is Kind.COLON for token in self.tokens[slice(*self.boundary)])
        place = "after a name" if colon else "after a value"
        if self.brackets:
            return f"{place}: a bracket"
        if self.names:
            return f"{place}: of the name"
        return f"{place}: of the value" if self.values or self.unknown else f"{place}: signs alone"

    def mutant(self, tool: Tool, arguments: dict[str, Any], text: str) -> Mutant:
        is_known = not (self.brackets or self.names or self.unknown) and self._parted()
        intended = arguments if self.unknown else self._object()
        known_if_defined = is_known and self._ends_known() and not misfits(intended, tool.schema)
        return Mutant(
            (self.kind,), tool, text, intended, is_known and self._clear(), known_if_defined,
            any_mark=True, as_spelled=self._object(self.names) if all(self.names.values()) else None,
        )  # fmt: skip

    def _parted(self) -> bool:
        """Return True when more than blanks is left between the two tokens of the boundary."""
        first, last = self.boundary
        between = "".join(self._kept(index) for index in range(first + 1, last))
        sides = (self._kept(first)[-1:] * _quoted(self.tokens[first]), self._kept(last)[:1])
        return bool(between.strip()) or '"' in sides

    def _clear(self) -> bool:
        """Return True if the ends of both strings at the boundary can be found without declared names."""
        return self._ends_known() and not (self._lost_end() and LONG.search(str(self._side(0))))

    def _ends_known(self) -> bool:
        after = str(self._side(1))
        return not (self._lost_start() and (TELLING.search(after) or _COMMENT.search(after)))

    def _lost_end(self) -> bool:
        token = self.tokens[self.boundary[0]]
        return token.kind is Kind.STRING and self._kept(self.boundary[0])[-1:] != '"'

    def _lost_start(self) -> bool:
        token = self.tokens[self.boundary[1]]
        return token.kind is Kind.STRING and self._kept(self.boundary[1])[:1] != '"'

    def _side(self, which: int) -> Any:
        index = self.boundary[which]
        return self.values.get(index, self.tokens[index].value)

    def _object(self, names: Mapping[int, str] = MappingProxyType({})) -> dict[str, Any]:
        """Return the object with what remains of the values and with the changed names."""
        other = {index: json.dumps(value) for index, value in self.values.items()}
        other |= {index: f'"{name}"' for index, name in names.items()}
        value: dict[str, Any] = json.loads(
            "".join(other.get(index, token.text) for index, token in enumerate(self.tokens))
        )
        return value


def _number(rest: str) -> Any:
    """Return what remains of a number or a literal. `0.` and `007` also count as numbers."""
    try:
        return json.loads(rest)
    except ValueError:
        return float(rest)


def _inner(token: Token, rest: str) -> str:
    """Return the content of a string that lost its beginning or its end, without the remaining quote."""
    whole = token.text
    if whole.startswith(rest):
        return rest[1:]
    return rest[:-1] if whole.endswith(rest) else rest.strip('"')
