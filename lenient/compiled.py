"""A tool definition compiled once: its node graph, and a check that says quickly that there is nothing to
say.

The quick check looks at what orjson decoded and answers yes only when no diagnostic could be made; no means
that the located way must look again. It breaks the house's line on short, plain functions where `timeit`
says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lenient.diagnostics import MAX_DEPTH
from lenient.graph import compile_schema
from lenient.nodes import Node
from lenient.tools import ToolDefinition, ValueKind

Check = Callable[[Any], bool]

_FLOAT_EXACT = 1e18
"""Below this orjson's numbers are the numbers sent; above, an integer may have become a float."""

_FIRST_TYPES: Mapping[ValueKind, frozenset[type]] = {
    ValueKind.STRING: frozenset({str}),
    ValueKind.ENUM_TOKEN: frozenset({str}),
    ValueKind.ATTACHMENT_REFERENCE: frozenset({str}),
    ValueKind.BOOLEAN: frozenset({bool}),
    ValueKind.INTEGER: frozenset({int}),
    ValueKind.NUMBER: frozenset({int, float}),
    ValueKind.JSON_OBJECT: frozenset({dict}),
    ValueKind.JSON_ARRAY: frozenset({list}),
}
_NO_TYPES: frozenset[type] = frozenset()  # timestamps change their type and URIs are looked at: never quick
_NULL: frozenset[type] = frozenset({type(None)})
_CONTAINERS = (ValueKind.JSON_OBJECT, ValueKind.JSON_ARRAY)
_PROMOTED = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """`fields` gives for each parameter the Python types it may have without a word, each with the number
    of quotes around the key and such a value, and a check of the value.

    `quick` False = the root itself has something to say. `nested` = a parameter may hold keys of its own.
    """

    root: Node
    fields: Mapping[str, tuple[Mapping[type, int], Check | None]]
    required: tuple[str, ...]
    quick: bool
    nested: bool

    def accepts(self, arguments: dict[str, Any], text: str) -> bool:
        """True when the arguments, which `text` holds, fit as they are. False says nothing."""
        fields, quotes = self.fields, 0
        try:
            for name, value in arguments.items():
                types, check = fields[name]
                quotes += types[type(value)]
                if check is not None and not check(value):
                    return False
        except KeyError:
            return False
        for name in self.required:
            if name not in arguments:
                return False
        if not self.quick:
            return False
        if self.nested:
            quotes = count_quotes(arguments)[0]
        return holds_each_key_once(text, arguments, quotes)


def compiled(tool: ToolDefinition) -> Compiled:
    """The compiled form of a definition, made on first use and kept with it."""
    known = tool.compiled
    if known is None:
        known = _compile(compile_schema(tool.to_json_schema()))
        object.__setattr__(tool, "compiled", known)  # a cache; what the definition says stays frozen
    return known  # type: ignore[no-any-return]  # the slot is typed Any, because `tools` does not know this module


def _compile(root: Node) -> Compiled:
    if root.kind is None and not root.branches and not root.never:
        root.kind, root.extra = ValueKind.JSON_OBJECT, True
    quick = {name: _quick(node, (id(root),)) for name, node in root.fields.items()}
    fields = {
        name: ({kind: 4 if kind is str else 2 for kind in types}, check)
        for name, (types, check) in quick.items()
    }
    plain = root.kind is ValueKind.JSON_OBJECT and not (
        root.branches or root.rules or root.remarks or root.demands
    )
    plain = plain and root.choices is None
    containers = {dict, list}
    nested = any(not containers.isdisjoint(types) for types, _ in quick.values())
    return Compiled(root, fields, tuple(root.required), plain, nested)


def _quick(node: Node, above: tuple[int, ...]) -> tuple[frozenset[type], Check | None]:
    """The types that may stand, and a further check of the value, for one node."""
    if node.remarks or node.demands or node.never or id(node) in above or len(above) > MAX_DEPTH // 4:
        return _NO_TYPES, None
    if node.branches:
        return _quick_branches(node, above)
    if node.kind is None:
        return _quick_anything(node)
    types = _FIRST_TYPES.get(node.kind, _NO_TYPES)
    checks = [check for check in (_inner_check(node, above), *_value_checks(node)) if check is not None]
    if node.nullable:
        return types | _NULL, _unless_null(checks) if checks else None
    return types, _every(checks)


def _quick_branches(node: Node, above: tuple[int, ...]) -> tuple[frozenset[type], Check | None]:
    """Any branch may take it without a word: the located way would choose the first such."""
    branches = [_quick(branch, (*above, id(node))) for branch in node.branches]
    types: frozenset[type] = _NULL if node.nullable else _NO_TYPES
    for taken, _ in branches:
        types |= taken
    if all(check is None for _, check in branches):
        return types, None

    def fits(value: Any) -> bool:
        found = type(value)
        return (value is None and node.nullable) or any(
            found in types and (check is None or check(value)) for types, check in branches
        )

    return types, fits


def _quick_anything(node: Node) -> tuple[frozenset[type], Check | None]:
    scalars: frozenset[type] = frozenset({str, bool, int}) | _NULL
    return scalars, _every(_value_checks(node))


def _inner_check(node: Node, above: tuple[int, ...]) -> Check | None:
    if node.kind is ValueKind.NUMBER:
        return lambda value: -_FLOAT_EXACT < value < _FLOAT_EXACT
    if node.kind is ValueKind.JSON_ARRAY:
        return _array_check(node, above)
    if node.kind is ValueKind.JSON_OBJECT:
        return _object_check(node, above)
    return None


def _array_check(node: Node, above: tuple[int, ...]) -> Check:
    if node.prefix or node.items is None:
        return lambda value: not value
    types, check = _quick(node.items, (*above, id(node)))

    def fits(value: Any) -> bool:
        return all(type(item) in types and (check is None or check(item)) for item in value)

    return fits


def _object_check(node: Node, above: tuple[int, ...]) -> Check:
    inner = {name: _quick(field, (*above, id(node))) for name, field in node.fields.items()}
    required = node.required

    def fits(value: Any) -> bool:
        if not required <= value.keys():
            return False
        for name, field in value.items():
            known = inner.get(name)
            if known is None or type(field) not in known[0] or (known[1] is not None and not known[1](field)):
                return False
        return True

    return fits


def _value_checks(node: Node) -> list[Check]:
    checks: list[Check] = []
    if node.choices is not None:
        allowed = node.choices.allowed
        texts = frozenset(value for value in allowed if isinstance(value, str))
        all_texts = len(texts) == len(allowed) and node.kind not in _CONTAINERS  # which no set can look up
        checks.append(texts.__contains__ if all_texts else node.choices.holds)
    numeric = node.kind in (ValueKind.INTEGER, ValueKind.NUMBER)
    checks += [rule.on_numbers if numeric and rule.on_numbers else rule.holds for rule in node.rules]
    if node.pattern is not None:
        pattern = node.pattern
        checks.append(
            lambda value: (
                not isinstance(value, str)
                or (pattern.affordable(value) and bool(pattern.regex.search(value)))
            )
        )
    return checks


def _every(checks: list[Check]) -> Check | None:
    if len(checks) <= 1:
        return checks[0] if checks else None
    return lambda value: all(check(value) for check in checks)


def _unless_null(checks: list[Check]) -> Check:
    return lambda value: value is None or all(check(value) for check in checks)


def is_plain(arguments: dict[str, Any], text: str) -> bool:
    """True when arguments without a definition need no second look.

    They hold no key twice, none of the texts true, false and null, no number that orjson may have rounded,
    and are not nested too deep.
    """
    waiting: list[Any] = [arguments]
    depth = quotes = 0
    while waiting:
        depth += 1
        if depth > MAX_DEPTH:
            return False
        below: list[Any] = []
        for container in waiting:
            quotes += 2 * len(container) if type(container) is dict else 0
            for item in container.values() if type(container) is dict else container:
                found = type(item)
                if found is str:
                    quotes += 2
                    if item in _PROMOTED:
                        return False
                elif found is dict or found is list:
                    below.append(item)
                elif found is float and not -_FLOAT_EXACT < item < _FLOAT_EXACT:
                    return False
        waiting = below
    return holds_each_key_once(text, arguments, quotes)


def count_quotes(value: Any) -> tuple[int, int]:
    """How many quotes delimit the keys and strings of a value, and how many are text inside them."""
    delimiting = inside = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        found = type(item)
        if found is str:
            delimiting += 2
            inside += item.count('"')
        elif found is dict:
            delimiting += 2 * len(item)
            inside += sum(key.count('"') for key in item)
            waiting.extend(item.values())
        elif found is list:
            waiting.extend(item)
    return delimiting, inside


def holds_each_key_once(text: str, arguments: dict[str, Any], quotes: int) -> bool:
    """True when the text holds no more quotes than the `quotes` around the keys and strings that came out.

    A key that was sent twice comes out once, and its quotes are left over. Quotes inside strings are escaped
    by a backslash, and then are quotes of the text too, or written as a number, and then they are not.
    """
    seen = text.count('"')
    if seen == quotes:
        return True
    return seen == quotes + count_quotes(arguments)[1] and "\\u0022" not in text
