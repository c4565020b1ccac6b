"""Decides whether a value fits a schema without conversion, as JSON Schema validation does.

The validator needs the answer for `not`, `if`, `contains`, `oneOf` and `propertyNames`. The answer is True,
False or None (unknown). Formats are ignored. An unsupported keyword makes the answer None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lenient.definitions.json_schema.nodes import Conditions, Contains, Demands, Node, inner_nodes
from lenient.definitions.json_schema.schema_compiler import is_of_kind

Answer = bool | None

_MAX_DEPTH = 48
"""The maximum depth of nested nodes. Below this depth the answer is unknown, because a recursive definition
may not end.
"""


class Unmet(NamedTuple):
    """The code and detail of a constraint that a value does not meet, or possibly does not meet."""

    code: str
    detail: str


def all_of(answers: Iterable[Answer]) -> Answer:
    """Return False if any answer is False.

    Otherwise return None (unknown) if any answer is None, else True.
    """
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def any_of(answers: Iterable[Answer]) -> Answer:
    """Return True if any answer is True.

    Otherwise return None (unknown) if any answer is None, else False.
    """
    return negate(all_of(map(negate, answers)))


def negate(answer: Answer) -> Answer:
    return None if answer is None else not answer


@dataclass(slots=True)
class SchemaMatcher:
    """Matches values against nodes in linear time."""

    known: dict[tuple[int, int], tuple[Answer, Node, Any]] = field(default_factory=dict)
    """The answers by the ids of node and value. The node and the value are kept so that Python cannot give
    their ids to new objects.
    """

    def matches(self, node: Node, value: Any, depth: int = 0) -> Answer:
        """Return whether the value fits the node without conversion, or None when the answer is unknown."""
        if node.never:
            return False
        if depth > _MAX_DEPTH:
            return None
        if not isinstance(value, (dict, list)):
            return all_of(self._iter_answers(node, value, depth))
        key = (id(node), id(value))
        if key not in self.known:
            # assume True while the value is examined, so that a value inside itself ends the recursion
            self.known[key] = True, node, value
            self.known[key] = all_of(self._iter_answers(node, value, depth)), node, value
        return self.known[key][0]

    def choose_node(self, conditions: Conditions, value: Any, depth: int = 0) -> Node:
        """Return the node that `conditions` choose for a value.

        The choice depends on the tests that the value fits.
        """
        return conditions.choose(tuple(self.matches(test, value, depth + 1) for test in conditions.tests))

    def _iter_answers(self, node: Node, value: Any, depth: int) -> Iterator[Answer]:
        demands = node.demands
        if demands is not None and demands.conditions is not None:
            yield self.matches(self.choose_node(demands.conditions, value, depth), value, depth + 1)
            return
        if node.remarks:
            yield None
        if not (value is None and node.nullable):
            yield from self._match_shape(node, value, depth)
        if demands is not None:
            for unmet in self.unmet_demands(demands, node, value, depth):
                yield None if unmet.code == "schema_keyword_unsupported" else False

    def _match_shape(self, node: Node, value: Any, depth: int) -> Iterator[Answer]:
        if node.branches:
            yield any_of(self.matches(branch, value, depth + 1) for branch in node.branches)
            return
        yield node.kind is None or not node.typed or is_of_kind(node.kind, value)
        yield node.choices is None or node.choices.holds(value)
        yield all(rule.code == "format_mismatch" or rule.holds(value) for rule in node.rules)
        if isinstance(value, dict):
            yield node.required <= value.keys()
            yield from (self._match_field(node, name, field, depth) for name, field in value.items())
        elif isinstance(value, list):
            yield from self._match_items(node, value, depth)
        elif isinstance(value, str) and node.pattern is not None:
            affordable = node.pattern.is_affordable(value)
            yield not node.pattern.rules_out(value) if affordable else None

    def _match_field(self, node: Node, name: str, value: Any, depth: int) -> Answer:
        inner = inner_nodes(node, name)
        if not inner and isinstance(node.extra, Node):
            inner = [node.extra]
        return (
            all_of(self.matches(inner_node, value, depth + 1) for inner_node in inner)
            if inner
            else not node.closed
        )

    def _match_items(self, node: Node, value: list[Any], depth: int) -> Iterator[Answer]:
        for index, item in enumerate(value):
            inner = node.prefix[index] if index < len(node.prefix) else node.items
            yield True if inner is None else self.matches(inner, item, depth + 1)

    def unmet_demands(self, demands: Demands, node: Node, value: Any, depth: int = 0) -> Iterator[Unmet]:
        """Yield the constraints in `demands` that a value does not meet.

        A constraint whose answer is unknown has the code `schema_keyword_unsupported`.
        """
        for forbidden in demands.forbidden:
            yield from _report_unmet(
                negate(self.matches(forbidden, value, depth + 1)), "value_not_allowed", "not"
            )
        for keyword, also in demands.also:
            yield from _report_unmet(self.matches(also, value, depth + 1), "value_not_allowed", keyword)
        if isinstance(value, list):
            for contains in demands.contains:
                answer = self._match_contains(contains, value, depth)
                yield from _report_unmet(answer, "contains_mismatch", _wanted_count(contains), "contains")
        if isinstance(value, dict) and demands.names is not None:
            for name in value:
                fit = self.matches(demands.names, name, depth + 1)
                yield from _report_unmet(fit, "property_name_not_allowed", name, "propertyNames")
        if demands.exclusive:
            yield from _report_unmet(self._match_one(node, value, depth), "several_branches_fit", "oneOf")

    def _match_contains(self, contains: Contains, value: list[Any], depth: int) -> Answer:
        answers = [self.matches(contains.item, item, depth + 1) for item in value]
        low, high = answers.count(True), len(answers) - answers.count(False)
        most = len(answers) if contains.most is None else contains.most
        if high < contains.least or low > most:
            return False
        return True if contains.least <= low and high <= most else None

    def _match_one(self, node: Node, value: Any, depth: int) -> Answer:
        answers = [self.matches(branch, value, depth + 1) for branch in node.branches]
        if value is None:
            answers.append(node.nullable)
        if answers.count(True) > 1:
            return False
        return None if None in answers and answers.count(True) else True


def _report_unmet(answer: Answer, code: str, detail: str, keyword: str | None = None) -> Iterator[Unmet]:
    if answer is None:
        yield Unmet("schema_keyword_unsupported", keyword or detail)
    elif not answer:
        yield Unmet(code, detail)


def _wanted_count(contains: Contains) -> str:
    return f"{contains.least} or more" if contains.most is None else f"{contains.least} to {contains.most}"
