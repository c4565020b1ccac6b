"""Mutation testing of parsers: realistic tool calls of 20 tools with one, two or three seeded defects each.

Every defect records how it changes the right answer. If the arguments are still recognisable, they are the
right answer. Otherwise a refusal is right. The remaining arguments are also right if the parser reports the
loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from bench.parser.mutations import around, brackets, members, strings
from bench.parser.mutations.answers import Mutant
from bench.parser.mutations.draft import Draft, ImpossibleError
from bench.parser.readings import Tool

TOOLS = Path(__file__).parent / "tools.json"
SEED = 20
_ORDER: tuple[dict[str, Callable[[Draft], None]], ...] = (
    brackets.DEFECTS,
    members.DEFECTS,
    strings.DEFECTS,
    around.DEFECTS,
)
"""The order in which defects are made. Defects of brackets come first, because they need valid JSON."""
KINDS: tuple[str, ...] = tuple(kind for defects in _ORDER for kind in defects)
_MANY = {"two defects": 2, "three defects": 3}
_ALONE = {
    "object split in two", "object ended early", "object ended at a line", "sent twice", "begun anew",
    "two different objects",
}  # fmt: skip
"""Kinds of defects that change the number of objects. Each of them counts as a defect of brackets."""


@cache
def written_calls() -> list[tuple[Tool, dict[str, Any]]]:
    written = json.loads(TOOLS.read_text(encoding="utf-8"))
    return [
        (Tool(declaration["name"], declaration["input_schema"]), call)
        for declaration in written
        for call in declaration["calls"]
    ]


def mutants(each: int, *, seed: int = SEED, many: int | None = None) -> Iterator[tuple[str, Mutant]]:
    """Yield `each` tool calls with every kind of defect, `many` with two defects and `many` with three.

    The same seed gives the same mutants. A new kind does not change the mutants of other kinds.
    """
    for kind in KINDS:
        yield from ((kind, mutant) for mutant in _some(kind, each, seed, partial(_just, kind)))
    for name, count in _MANY.items():
        wanted = 4 * each if many is None else many
        yield from ((name, mutant) for mutant in _some(name, wanted, seed, partial(_choose, count)))


def _some(name: str, wanted: int, seed: int, choose: Callable[[Random], tuple[str, ...]]) -> Iterator[Mutant]:
    random, seen = Random(f"{seed} {name}"), set[str]()
    calls = written_calls()
    for _ in range(60 * wanted):
        if len(seen) == wanted:
            return
        tool, arguments = random.choice(calls)
        mutant = mutate(tool, arguments, choose(random), random)
        if mutant is not None and mutant.text not in seen:
            seen.add(mutant.text)
            yield mutant


def _just(kind: str, _: Random) -> tuple[str, ...]:
    return (kind,)


def _choose(count: int, random: Random) -> tuple[str, ...]:
    """Return different kinds in the order in which the defects are made.

    At most one kind changes brackets, and at most one changes what surrounds the tool call.
    """
    while True:
        kinds = tuple(sorted(random.sample(KINDS, count), key=KINDS.index))
        structural = sum(kind in brackets.DEFECTS or kind in _ALONE for kind in kinds)
        if structural <= 1 and sum(kind in around.DEFECTS for kind in kinds) <= 1:
            return kinds


def mutate(tool: Tool, arguments: dict[str, Any], kinds: tuple[str, ...], random: Random) -> Mutant | None:
    """Return the tool call with these defects, or None if a defect is impossible or nothing changes."""
    draft = Draft.make(arguments, random)
    whole = draft.written()
    try:
        for defects in _ORDER:
            if defects is around.DEFECTS:
                draft.text = draft.written()
            for kind in kinds:
                if kind in defects:
                    defects[kind](draft)
    except ImpossibleError:
        return None
    if draft.text == whole:
        return None
    return Mutant(
        kinds, tool, draft.text, arguments, draft.certain, draft.certain_if_defined, draft.unmarked,
        frozenset(draft.loose), tuple(draft.readings), draft.closed_at_end,
    )  # fmt: skip
