"""A tool call's arguments as JSON tokens. Defects change single tokens and record the right answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random
from typing import Any


class Kind(Enum):
    OPEN = auto()
    CLOSE = auto()
    KEY = auto()
    STRING = auto()
    OTHER = auto()  # a number, true, false, null
    COMMA = auto()
    COLON = auto()
    SPACE = auto()
    DEFECT = auto()  # a defect inserted or changed the token, so other defects do not select it


@dataclass(frozen=True, slots=True)
class Token:
    """One JSON token.

    `value` is the decoded key or value. `member` is the top-level parameter to which the token belongs.
    """

    kind: Kind
    text: str
    value: Any = None
    member: str | None = None
    inside: str = ""  # the surrounding bracket


class ImpossibleError(Exception):
    """Raised when a defect cannot be made in a tool call."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The spacing and escaping of a model's JSON."""

    comma: str = " "
    colon: str = " "
    indent: int = 0
    ascii: bool = False


LAYOUTS = (Layout(), Layout(), Layout(), Layout("", ""), Layout(indent=2), Layout(ascii=True))


@dataclass(slots=True)
class Draft:
    """One tool call to which defects are applied.

    `certain` is True while a person can tell the arguments from the tokens. Otherwise `loose` lists the
    parameters that may have any value if the loss is reported. `unmarked` means that the intended object is
    right without a report. `readings` are the possible results after a defect of brackets.
    """

    arguments: dict[str, Any]
    random: Random
    tokens: list[Token] = field(default_factory=list)
    text: str = ""
    certain: bool = True
    certain_if_defined: bool = True
    unmarked: bool = True
    loose: set[str] = field(default_factory=set)
    readings: list[Any] = field(default_factory=list)
    closed_at_end: Any = None

    @classmethod
    def make(cls, arguments: dict[str, Any], random: Random) -> Draft:
        layout = random.choice(LAYOUTS)
        return cls(arguments, random, list(_tokens(arguments, layout)))

    def written(self) -> str:
        return "".join(token.text for token in self.tokens)

    def places(self, wanted: Callable[[int, Token], bool]) -> list[int]:
        return [index for index, token in enumerate(self.tokens) if wanted(index, token)]

    def pick(self, wanted: Callable[[int, Token], bool]) -> int:
        """Return a random index of a wanted token. Raises ImpossibleError if there is none."""
        places = self.places(wanted)
        if not places:
            raise ImpossibleError
        return self.random.choice(places)

    def pick_kind(self, *kinds: Kind) -> int:
        return self.pick(lambda _, token: token.kind in kinds)

    def change(self, index: int, text: str) -> None:
        """Replace the characters of a token. Later defects do not select this token."""
        old = self.tokens[index]
        self.tokens[index] = Token(Kind.DEFECT, text, old.value, old.member, old.inside)

    def insert(self, index: int, text: str) -> None:
        self.tokens.insert(index, Token(Kind.DEFECT, text))

    def find_neighbour(self, index: int, step: int) -> int:
        """Return the index of the nearest token in a direction that is not blank space.

        Raises ImpossibleError at the end.
        """
        index += step
        while 0 <= index < len(self.tokens):
            if self.tokens[index].kind is not Kind.SPACE:
                return index
            index += step
        raise ImpossibleError

    def doubt(self, member: str | None = None) -> None:
        """Mark the right answer as uncertain. Accept any value of the parameter `member`."""
        self.certain = self.certain_if_defined = False
        if member is not None:
            self.loose.add(member)


def _tokens(value: Any, layout: Layout, depth: int = 0, member: str | None = None) -> Iterator[Token]:
    if not isinstance(value, (dict, list)):
        kind = Kind.STRING if isinstance(value, str) else Kind.OTHER
        yield Token(kind, json.dumps(value, ensure_ascii=layout.ascii), value, member)
        return
    opener, closer = "{}" if isinstance(value, dict) else "[]"
    yield Token(Kind.OPEN, opener, member=member, inside=opener)
    steps = list(value.items()) if isinstance(value, dict) else [(None, inner) for inner in value]
    for index, (key, inner) in enumerate(steps):
        name = key if depth == 0 else member
        if index:
            yield Token(Kind.COMMA, ",", member=name, inside=opener)
        yield from _line(layout, depth + 1, layout.comma if index else "")
        if key is not None:
            yield Token(Kind.KEY, json.dumps(key, ensure_ascii=layout.ascii), key, name, opener)
            yield Token(Kind.COLON, ":", member=name, inside=opener)
            yield from _space(layout.colon)
        yield from (
            Token(
                inner_token.kind,
                inner_token.text,
                inner_token.value,
                inner_token.member,
                inner_token.inside or opener,
            )
            for inner_token in _tokens(inner, layout, depth + 1, name)
        )
    if steps:
        yield from _line(layout, depth, "")
    yield Token(Kind.CLOSE, closer, member=member, inside=opener)


def _line(layout: Layout, depth: int, otherwise: str) -> Iterator[Token]:
    yield from _space("\n" + " " * (layout.indent * depth) if layout.indent else otherwise)


def _space(text: str) -> Iterator[Token]:
    if text:
        yield Token(Kind.SPACE, text)
