"""The graph of a definition: for each place of a value, what may stand there.

Made by `lenient.graph` from a JSON Schema; a reference that leads back makes it cyclic. Knows nothing of
schemas and of how values are converted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lenient.json_values import same_json
from lenient.parameters import ValueKind
from lenient.rules import Pattern, Rule

_SPELLING = re.compile(r"[\s_\-]+")


@dataclass(slots=True)
class Choices:
    """The values that may stand, by `enum` or `const`."""

    code: str
    allowed: tuple[Any, ...]
    folded: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, value: Any) -> bool:
        return any(same_json(value, allowed) for allowed in self.allowed)


@dataclass(slots=True)
class Contains:
    """How many items of a list must fit a node; `most` None = any number."""

    item: Node
    least: int
    most: int | None


@dataclass(slots=True)
class Conditions:
    """What further holds depends on the value.

    `base` is the node without them; each of `tests` fits the value or not, or that is unknown (None);
    `chosen` gives the node for the answers, made on first use.
    """

    base: Node
    tests: tuple[Node, ...]
    chosen: Callable[[tuple[bool | None, ...]], Node]


@dataclass(slots=True)
class Demands:
    """What only the located way looks at, because it asks whether a value would fit another node.

    `patterns` are nodes for the fields whose name matches; `names` is what every name must fit;
    `forbidden` must not fit, `also` must fit as well (by its keyword); `exclusive` = only one of the branches
    may fit.
    """

    patterns: tuple[tuple[Pattern, Node], ...] = ()
    names: Node | None = None
    contains: tuple[Contains, ...] = ()
    forbidden: tuple[Node, ...] = ()
    also: tuple[tuple[str, Node], ...] = ()
    exclusive: bool = False
    conditions: Conditions | None = None


@dataclass(slots=True)
class Node:
    """What may stand at one place. `kind` None without `branches` = anything.

    `typed` False = the kind is only implied by other keywords. `extra` is what undeclared fields must be: a
    node, True (anything), or None (they are unknown; `closed` = and forbidden). `tag` is the field by which
    the branches tell themselves apart, with the branch for each of its values. `remarks` are diagnostics
    without a place, as (code, detail), for keywords that are not checked.
    """

    kind: ValueKind | None = None
    typed: bool = True
    nullable: bool = False
    never: bool = False
    choices: Choices | None = None
    rules: tuple[Rule, ...] = ()
    pattern: Pattern | None = None
    fields: dict[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Node | bool | None = None
    closed: bool = False
    spellings: dict[str, str | None] = field(default_factory=dict)
    items: Node | None = None
    prefix: tuple[Node, ...] = ()
    branches: tuple[Node, ...] = ()
    tag: tuple[str, Mapping[Any, Node]] | None = None
    demands: Demands | None = None
    remarks: tuple[tuple[str, str], ...] = ()


def spelling(name: str) -> str:
    """The form in which two spellings of one name agree: no case, no underscores, hyphens or blanks."""
    return _SPELLING.sub("", name).casefold()


def inner_nodes(node: Node, name: str) -> list[Node]:
    """What a field of that name must fit: its own node, then those of the patterns that match its name."""
    inner = [node.fields[name]] if name in node.fields else []
    if node.demands is not None:
        inner += [
            one
            for pattern, one in node.demands.patterns
            if pattern.affordable(name) and pattern.regex.search(name)
        ]
    return inner


def known_fields(node: Node | None) -> Mapping[str, Node]:
    """The declared fields of the objects that a node allows, those of all its branches together."""
    if node is None:
        return {}
    if node.fields or not node.branches:
        return node.fields
    return {name: inner for branch in node.branches[:64] for name, inner in branch.fields.items()}
