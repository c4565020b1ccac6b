"""A value and a node → whether it fits as JSON Schema understands it, unconverted: yes, no, or unknown.

Asked where a definition makes one demand depend on another: `not`, `if`, `contains`, `oneOf`, names of
fields. Formats are hints and count as met. What is not understood makes an answer unknown (None), which its
negation is, too. Knows nothing of diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lenient.leaves import is_of_kind
from lenient.nodes import Conditions, Contains, Demands, Node, inner_nodes

Answer = bool | None

_MAX_DEPTH = 48
"""Levels of nodes within nodes; beyond, the answer is unknown: a recursive definition may not end."""


class Unmet(NamedTuple):
    """A demand that a value does not meet, or of which that is unknown."""

    code: str
    detail: str


def every(answers: Iterable[Answer]) -> Answer:
    """No if one is no, else unknown if one is unknown, else yes."""
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def some(answers: Iterable[Answer]) -> Answer:
    """Yes if one is yes, else unknown if one is unknown, else no."""
    return opposite(every(map(opposite, answers)))


def opposite(answer: Answer) -> Answer:
    return None if answer is None else not answer


class Fits:
    """One run over one value; each object and list is looked at once for each node, so that it is linear."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], tuple[Answer, Node, Any]] = {}  # keeps both: no id is reused

    def __call__(self, node: Node, value: Any, depth: int = 0) -> Answer:
        if node.never:
            return False
        if depth > _MAX_DEPTH:
            return None
        if not isinstance(value, (dict, list)):
            return every(self._answers(node, value, depth))
        key = (id(node), id(value))
        if key not in self.known:
            self.known[key] = True, node, value  # while it is being looked at, it asks nothing of itself
            self.known[key] = every(self._answers(node, value, depth)), node, value
        return self.known[key][0]

    def chosen(self, conditions: Conditions, value: Any, depth: int = 0) -> Node:
        """The node that holds for a value, by the answers to the conditions' tests."""
        return conditions.chosen(tuple(self(test, value, depth + 1) for test in conditions.tests))

    def _answers(self, node: Node, value: Any, depth: int) -> Iterator[Answer]:
        demands = node.demands
        if demands is not None and demands.conditions is not None:
            yield self(self.chosen(demands.conditions, value, depth), value, depth + 1)
            return
        if node.remarks:
            yield None
        if not (value is None and node.nullable):
            yield from self._shape(node, value, depth)
        if demands is not None:
            for unmet in self.unmet(demands, node, value, depth):
                yield None if unmet.code == "schema_keyword_unsupported" else False

    def _shape(self, node: Node, value: Any, depth: int) -> Iterator[Answer]:
        if node.branches:
            yield some(self(branch, value, depth + 1) for branch in node.branches)
            return
        yield node.kind is None or not node.typed or is_of_kind(node.kind, value)
        yield node.choices is None or node.choices.holds(value)
        yield all(rule.code == "format_mismatch" or rule.holds(value) for rule in node.rules)
        if isinstance(value, dict):
            yield node.required <= value.keys()
            yield from (self._field(node, name, field, depth) for name, field in value.items())
        elif isinstance(value, list):
            yield from self._items(node, value, depth)
        elif isinstance(value, str) and node.pattern is not None:
            affordable = node.pattern.affordable(value)
            yield not node.pattern.rules_out(value) if affordable else None

    def _field(self, node: Node, name: str, value: Any, depth: int) -> Answer:
        inner = inner_nodes(node, name)
        if not inner and isinstance(node.extra, Node):
            inner = [node.extra]
        return every(self(one, value, depth + 1) for one in inner) if inner else not node.closed

    def _items(self, node: Node, value: list[Any], depth: int) -> Iterator[Answer]:
        for index, item in enumerate(value):
            inner = node.prefix[index] if index < len(node.prefix) else node.items
            yield True if inner is None else self(inner, item, depth + 1)

    def unmet(self, demands: Demands, node: Node, value: Any, depth: int = 0) -> Iterator[Unmet]:
        """The demands beside the shape that a value does not meet; the unknown ones as unsupported."""
        for forbidden in demands.forbidden:
            yield from _judged(opposite(self(forbidden, value, depth + 1)), "value_not_allowed", "not")
        for keyword, also in demands.also:
            yield from _judged(self(also, value, depth + 1), "value_not_allowed", keyword)
        if isinstance(value, list):
            for contains in demands.contains:
                found = self._contains(contains, value, depth)
                yield from _judged(found, "contains_mismatch", _wanted(contains), "contains")
        if isinstance(value, dict) and demands.names is not None:
            for name in value:
                fit = self(demands.names, name, depth + 1)
                yield from _judged(fit, "property_name_not_allowed", name, "propertyNames")
        if demands.exclusive:
            yield from _judged(self._fits_one(node, value, depth), "several_branches_fit", "oneOf")

    def _contains(self, contains: Contains, value: list[Any], depth: int) -> Answer:
        answers = [self(contains.item, item, depth + 1) for item in value]
        low, high = answers.count(True), len(answers) - answers.count(False)
        most = len(answers) if contains.most is None else contains.most
        if high < contains.least or low > most:
            return False
        return True if contains.least <= low and high <= most else None

    def _fits_one(self, node: Node, value: Any, depth: int) -> Answer:
        answers = [self(branch, value, depth + 1) for branch in node.branches]
        if value is None:
            answers.append(node.nullable)
        if answers.count(True) > 1:
            return False
        return None if None in answers and answers.count(True) else True


def _judged(answer: Answer, code: str, detail: str, keyword: str | None = None) -> Iterator[Unmet]:
    if answer is None:
        yield Unmet("schema_keyword_unsupported", keyword or detail)
    elif not answer:
        yield Unmet(code, detail)


def _wanted(contains: Contains) -> str:
    return f"{contains.least} or more" if contains.most is None else f"{contains.least} to {contains.most}"
