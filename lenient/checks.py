"""A value in its declared kind and its node → the assertions that it does not meet, as codes and details.

Knows nothing of where the value stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lenient.coerce import is_absolute_uri
from lenient.json_values import same_json
from lenient.nodes import Choices, Node
from lenient.parameters import ValueKind


class Misfit(NamedTuple):
    """One assertion that does not hold."""

    code: str
    detail: str | None = None


def misfits(node: Node, value: Any) -> Iterator[Misfit]:
    """What the bounds, sizes, pattern and format of a node have against a value."""
    for rule in node.rules:
        if not rule.holds(value):
            yield Misfit(rule.code, rule.detail)
    pattern = node.pattern
    if pattern is not None and isinstance(value, str):
        if pattern.rules_out(value):
            yield Misfit("pattern_mismatch", pattern.text[:100])
        elif not pattern.affordable(value):
            yield Misfit("pattern_not_checked", pattern.text[:100])
    if node.kind is ValueKind.URI and not is_absolute_uri(value):
        yield Misfit("uri_not_absolute")


def is_listed(choices: Choices | None, value: Any) -> bool:
    """Is the value one of those listed?"""
    return choices is not None and any(same_json(value, allowed) for allowed in choices.allowed)


def listed_spelling(choices: Choices, value: Any) -> Any:
    """The listed text that differs from a text in case alone; None when there is none, or more than one."""
    return choices.folded.get(value.strip().casefold()) if isinstance(value, str) else None
