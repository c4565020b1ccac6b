"""Compiles a tool definition once: its node graph, and a fast check of decoded arguments.

The fast check accepts only arguments that need no diagnostic; the validator examines all other arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.schema_compiler import compile_schema
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics import MAX_DEPTH
from lenient.validate.fast_check import (
    ALWAYS_FITS,
    FastCheck,
    FieldTest,
    TypeTests,
    compile_list_check,
    compile_object_check,
    make_counting_test,
    make_function_test,
    require_all,
    require_any,
)

_FLOAT_EXACT = FieldTest("-1e18 < v < 1e18")
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
}  # timestamps change their type and URIs are parsed: the validator does both
_SCALARS = (str, bool, int, type(None))
_PROMOTED = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A compiled tool definition: its node graph `root`, and the fast check of decoded arguments.

    `check` returns the number of double quotes around the keys and strings of arguments that fit without a
    diagnostic, and -1 for any other arguments.
    """

    root: Node
    check: FastCheck

    def accepts(self, arguments: dict[str, Any], text: str) -> bool:
        """Return True when arguments decoded from `text` are certain to fit and no key is repeated.

        False means that the validator must examine them.
        """
        quotes = self.check(arguments)
        return quotes >= 0 and (text.count('"') == quotes or holds_each_key_once(text, arguments))


def compile_tool(tool: ToolDefinition) -> CompiledTool:
    """Return the compiled form of a definition, which is made on first use and cached in the definition."""
    known = tool.compiled
    if known is None:
        known = _compile_root(compile_schema(tool.to_json_schema()))
        object.__setattr__(tool, "compiled", known)  # a cache in a frozen dataclass
    return known  # type: ignore[no-any-return]  # the slot is typed Any, because `tools` does not know this module


def _compile_root(root: Node) -> CompiledTool:
    plain = root.kind is ValueKind.JSON_OBJECT and root.choices is None
    plain = plain and not (root.branches or root.rules or root.remarks or root.demands)
    return CompiledTool(root, _compile_object(root, ()) if plain else lambda _: -1)


def _compile_object(node: Node, above: tuple[int, ...]) -> FastCheck:
    fields = {name: _find_types(field, (*above, id(node))) for name, field in node.fields.items()}
    return compile_object_check(fields, node.required)


def _find_types(node: Node, above: tuple[int, ...]) -> TypeTests:
    """Return the Python types that a node allows without a diagnostic, each with the test of its values."""
    if node.remarks or node.demands or node.never or id(node) in above or len(above) > MAX_DEPTH // 4:
        return {}
    if node.branches:
        return _find_branch_types(node, above)
    first = _SCALARS if node.kind is None else _FIRST_TYPES.get(node.kind, ())
    types = {
        found: require_all([*_make_inner_tests(node, found, above), *_make_value_tests(node, found)])
        for found in first
    }
    return {**types, type(None): ALWAYS_FITS} if node.nullable else types


def _find_branch_types(node: Node, above: tuple[int, ...]) -> TypeTests:
    """Return the Python types that any branch allows, each with the test of its values.

    The validator would choose the first branch that fits without a diagnostic.
    """
    tests: dict[type, list[FieldTest]] = {type(None): [ALWAYS_FITS]} if node.nullable else {}
    for branch in node.branches:
        for found, test in _find_types(branch, (*above, id(node))).items():
            tests.setdefault(found, []).append(test)
    return {found: require_any(found, several) for found, several in tests.items()}


def _make_inner_tests(node: Node, found: type, above: tuple[int, ...]) -> list[FieldTest]:
    if found is float:
        return [_FLOAT_EXACT]
    if found is list:
        return [_make_array_test(node, above)]
    return [make_counting_test(_compile_object(node, above))] if found is dict else []


def _make_array_test(node: Node, above: tuple[int, ...]) -> FieldTest:
    if node.prefix or node.items is None:
        return make_counting_test(lambda value: -1 if value else 0)
    return make_counting_test(compile_list_check(_find_types(node.items, (*above, id(node)))))


def _make_value_tests(node: Node, found: type) -> list[FieldTest]:
    tests: list[FieldTest] = []
    if node.choices is not None:
        texts = frozenset(value for value in node.choices.allowed if isinstance(value, str))
        tests.append(
            FieldTest("v in {}", (texts,)) if found is str else make_function_test(node.choices.holds)
        )
    numeric = node.kind in (ValueKind.INTEGER, ValueKind.NUMBER)
    tests += [
        make_function_test(rule.on_numbers if numeric and rule.on_numbers else rule.holds)
        for rule in node.rules
    ]
    if node.pattern is not None and found is str:
        pattern = node.pattern
        tests.append(
            make_function_test(
                lambda value: pattern.is_affordable(value) and pattern.regex.search(value) is not None
            )
        )
    return tests


def is_plain(arguments: dict[str, Any], text: str) -> bool:
    """Return True when arguments without a definition can be taken as they are.

    Such arguments repeat no key, hold none of the texts true, false and null and no number that orjson may
    have rounded, and are not nested too deep.
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
    """Return True when it is certain that no object in the text repeats a key.

    The text must hold as many double quotes as the decoded `arguments` when they are encoded again: a
    repeated key is decoded once, so the text then has more quotes. A quote inside a string is escaped by a
    backslash in both texts. A quote sent as `\\u0022` would be counted in one of them only, so a text with
    this escape gives False.
    """
    try:
        written = orjson.dumps(arguments)
    except orjson.JSONEncodeError:  # nested deeper than orjson writes
        return False
    return text.count('"') == written.count(b'"') and ("\\" not in text or "\\u0022" not in text)
