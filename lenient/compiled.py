"""A tool definition compiled once: its node graph, and a check that says quickly that there is nothing to
say.

The quick check looks at what orjson decoded and answers yes only when no diagnostic could be made; no means
that the located way must look again. It breaks the house's line on short, plain functions where `timeit`
says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lenient.diagnostics import MAX_DEPTH
from lenient.graph import compile_schema
from lenient.nodes import Node
from lenient.parameters import ValueKind
from lenient.quick import ALWAYS, Fit, Test, Types, calling, counting, every, list_fit, object_fit, some
from lenient.tools import ToolDefinition

_FLOAT_EXACT = Test("-1e18 < v < 1e18")
"""Within this orjson's numbers are the numbers sent; beyond, an integer may have become a float."""

_FIRST_TYPES: Mapping[ValueKind, tuple[type, ...]] = {
    ValueKind.STRING: (str,),
    ValueKind.ENUM_TOKEN: (str,),
    ValueKind.ATTACHMENT_REFERENCE: (str,),
    ValueKind.BOOLEAN: (bool,),
    ValueKind.INTEGER: (int,),
    ValueKind.NUMBER: (int, float),
    ValueKind.JSON_OBJECT: (dict,),
    ValueKind.JSON_ARRAY: (list,),
}  # timestamps change their type and URIs are looked at: never quick
_SCALARS = (str, bool, int, type(None))
_PROMOTED = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """The node graph, and `fit`: the number of quotes that arguments hold which fit without a word, else
    -1.
    """

    root: Node
    fit: Fit

    def accepts(self, arguments: dict[str, Any], text: str) -> bool:
        """True when the arguments, which `text` holds, fit and no key is there twice. False says nothing."""
        quotes = self.fit(arguments)
        return quotes >= 0 and (text.count('"') == quotes or holds_each_key_once(text, arguments))


def compiled(tool: ToolDefinition) -> Compiled:
    """The compiled form of a definition, made on first use and kept with it."""
    known = tool.compiled
    if known is None:
        known = _compile(compile_schema(tool.to_json_schema()))
        object.__setattr__(tool, "compiled", known)  # a cache; what the definition says stays frozen
    return known  # type: ignore[no-any-return]  # the slot is typed Any, because `tools` does not know this module


def _compile(root: Node) -> Compiled:
    plain = root.kind is ValueKind.JSON_OBJECT and root.choices is None
    plain = plain and not (root.branches or root.rules or root.remarks or root.demands)
    return Compiled(root, _object_fit(root, ()) if plain else lambda _: -1)


def _object_fit(node: Node, above: tuple[int, ...]) -> Fit:
    fields = {name: _quick(field, (*above, id(node))) for name, field in node.fields.items()}
    return object_fit(fields, node.required)


def _quick(node: Node, above: tuple[int, ...]) -> Types:
    """What may stand at one node without a word."""
    if node.remarks or node.demands or node.never or id(node) in above or len(above) > MAX_DEPTH // 4:
        return {}
    if node.branches:
        return _quick_branches(node, above)
    first = _SCALARS if node.kind is None else _FIRST_TYPES.get(node.kind, ())
    types = {found: every([*_inner_test(node, found, above), *_value_tests(node, found)]) for found in first}
    return {**types, type(None): ALWAYS} if node.nullable else types


def _quick_branches(node: Node, above: tuple[int, ...]) -> Types:
    """Any branch may take it without a word: the located way would choose the first such."""
    tests: dict[type, list[Test]] = {type(None): [ALWAYS]} if node.nullable else {}
    for branch in node.branches:
        for found, test in _quick(branch, (*above, id(node))).items():
            tests.setdefault(found, []).append(test)
    return {found: some(found, several) for found, several in tests.items()}


def _inner_test(node: Node, found: type, above: tuple[int, ...]) -> list[Test]:
    if found is float:
        return [_FLOAT_EXACT]
    if found is list:
        return [_array_test(node, above)]
    return [counting(_object_fit(node, above))] if found is dict else []


def _array_test(node: Node, above: tuple[int, ...]) -> Test:
    if node.prefix or node.items is None:
        return counting(lambda value: -1 if value else 0)
    return counting(list_fit(_quick(node.items, (*above, id(node)))))


def _value_tests(node: Node, found: type) -> list[Test]:
    tests: list[Test] = []
    if node.choices is not None:
        texts = frozenset(value for value in node.choices.allowed if isinstance(value, str))
        tests.append(Test("v in {}", (texts,)) if found is str else calling(node.choices.holds))
    numeric = node.kind in (ValueKind.INTEGER, ValueKind.NUMBER)
    tests += [calling(rule.on_numbers if numeric and rule.on_numbers else rule.holds) for rule in node.rules]
    if node.pattern is not None and found is str:
        pattern = node.pattern
        tests.append(
            calling(lambda value: pattern.affordable(value) and pattern.regex.search(value) is not None)
        )
    return tests


def is_plain(arguments: dict[str, Any], text: str) -> bool:
    """True when arguments without a definition need no second look.

    They hold no key twice, none of the texts true, false and null, no number that orjson may have rounded,
    and are not nested too deep.
    """
    quotes = 2 * len(arguments)
    for item in arguments.values():
        found = type(item)
        if found is str:
            if item in _PROMOTED:
                return False
            quotes += 2
        elif found is float:
            if not -1e18 < item < 1e18:
                return False
        elif found is dict or found is list:
            return _is_plain_below(arguments) and holds_each_key_once(text, arguments)
    return text.count('"') == quotes or holds_each_key_once(text, arguments)


def _is_plain_below(arguments: dict[str, Any]) -> bool:
    waiting: list[Any] = [arguments]
    depth = 0
    while waiting:
        depth += 1
        if depth > MAX_DEPTH:
            return False
        below: list[Any] = []
        for container in waiting:
            for item in container.values() if type(container) is dict else container:
                found = type(item)
                if found is str:
                    if item in _PROMOTED:
                        return False
                elif found is dict or found is list:
                    below.append(item)
                elif found is float and not -1e18 < item < 1e18:
                    return False
        waiting = below
    return True


def holds_each_key_once(text: str, arguments: dict[str, Any]) -> bool:
    """True when the text holds no more quotes than what came out of it, written again.

    A key that was sent twice comes out once, and its quotes are left over. A quote inside a string is
    escaped by a backslash when it is written again; one that was sent as a number is none in the text.
    """
    try:
        written = orjson.dumps(arguments)
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        return False
    return text.count('"') == written.count(b'"') and ("\\" not in text or "\\u0022" not in text)
