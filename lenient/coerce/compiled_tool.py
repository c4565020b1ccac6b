"""Compiles a tool definition once: its node graph, and a fast check of decoded arguments.

The fast check accepts only arguments that need no diagnostic; the validator examines all other arguments. If
msgspec is installed and all types are simple, one msgspec decoder decodes and checks the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Required, TypedDict, Union

from lenient.coerce.coercions import is_timestamp
from lenient.coerce.fast_check import (
    ALWAYS_FITS,
    FIRST_TYPES,
    SCALARS,
    FastCheck,
    FieldTest,
    TypeTests,
    compile_function,
    compile_list_check,
    compile_object_check,
    compile_value_check,
    make_counting_test,
    make_function_test,
    require_all,
    require_any,
)
from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.schema_compiler import compile_schema
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.definitions.tools import ToolDefinition
from lenient.diagnostics import MAX_DEPTH
from lenient.scan.valid_json import (
    LONG,
    NO_JSON,
    Accepts,
    ReadFitting,
    count_quotes,
    decode_around_string,
    holds_each_key_once,
    make_reader,
)

_FLOAT_EXACT = FieldTest("-1e18 < v < 1e18")
"""Outside of these bounds, orjson may have turned an integer into a rounded float."""

MAX_CHECKED = MAX_DEPTH // 4
"""The number of levels of nested nodes that the fast check examines."""
_CONTAINERS = (dict, list)
_TEXT_KINDS = (ValueKind.STRING, ValueKind.ENUM_TOKEN, ValueKind.ATTACHMENT_REFERENCE)
_SCALAR_KINDS = frozenset(ValueKind) - {ValueKind.JSON_OBJECT, ValueKind.JSON_ARRAY, ValueKind.URI}
_PROMOTED = frozenset({"true", "false", "null"})


class _AcceptedTypes(dict[type, Any]):
    """A dict whose keys are the Python types that a node allows. A lookup of any other type returns -1."""

    __slots__ = ()

    def __missing__(self, _: type) -> int:
        return -1


class _AcceptedFields(dict[str, Mapping[type, Any]]):
    """A dict from field names to allowed types. An undeclared field allows no types."""

    __slots__ = ()

    def __missing__(self, _: str) -> Mapping[type, Any]:
        return _NOTHING


_NOTHING = _AcceptedTypes()


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """A compiled tool definition: the node graph `root`, and the fast check of decoded arguments.

    `check` returns the number of double quotes around keys and strings when the arguments are written as
    JSON, or -1 when the arguments need a diagnostic. `read` decodes JSON and returns the arguments, or None
    when the arguments need a diagnostic or a key is repeated. `is_plain` is True when the root restricts only
    its fields.
    """

    root: Node
    check: FastCheck
    read: ReadFitting
    is_plain: bool

    def accepts(self, arguments: dict[str, Any], text: str) -> bool:
        """Return True when the arguments decoded from `text` certainly fit and no key is repeated.

        Otherwise the validator must examine the arguments.
        """
        return _fits_without_repeats(self.check, arguments, text)


def _fits_without_repeats(check: FastCheck, arguments: dict[str, Any], text: str) -> bool:
    quotes = check(arguments)
    return quotes >= 0 and (text.count('"') == quotes or holds_each_key_once(text, arguments))


def compile_tool(tool: ToolDefinition) -> CompiledTool:
    """Return the compiled form of a definition, which is cached in the definition."""
    compiled = tool.compiled
    if compiled is None:
        compiled = _compile_root(compile_schema(tool.to_json_schema()))
        object.__setattr__(tool, "compiled", compiled)  # caches the result in a frozen dataclass
    return compiled  # type: ignore[no-any-return]  # the slot is typed Any, because `tools` does not know this module


def _compile_root(root: Node) -> CompiledTool:
    plain = root.kind is ValueKind.JSON_OBJECT and root.choices is None
    plain = plain and not (root.branches or root.rules or root.remarks or root.demands)
    check: FastCheck = _compile_object(root, ()) if plain else lambda _: -1
    accepts = partial(_fits_without_repeats, check)
    read = _compile_reader(root, accepts) if plain else None
    return CompiledTool(root, check, read or make_reader(accepts), plain)


def _compile_object(node: Node, above: tuple[int, ...]) -> FastCheck:
    fields = {name: _find_types(field, (*above, id(node))) for name, field in node.fields.items()}
    return compile_object_check(fields, node.required)


def find_misfits(node: Node, value: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the members of the object that the validator must examine because they may not fit.

    The second result is the number of quotes around the keys and strings of the object, or -1 when this
    number is unknown.
    """
    accepted = node.accepted_fields
    if accepted is None:
        fields = ((name, compile_accepted(field)) for name, field in node.fields.items())
        accepted = node.accepted_fields = _AcceptedFields(fields)
    misfits: dict[str, Any] = {}
    total = 2 * len(value)
    for name, item in value.items():
        quotes = accepted[name][type(item)]
        if quotes.__class__ is not int:
            quotes = quotes(item)
        if quotes < 0:
            misfits[name] = item
            item_type = type(item)
            quotes = 2 if item_type is str else count_quotes(item) if item_type in _CONTAINERS else 0
        total += quotes
    return misfits, total


def fits(node: Node, value: Any) -> bool:
    """Return True when a value certainly needs no conversion and no diagnostic."""
    quotes = (node.accepted or compile_accepted(node))[type(value)]
    return (quotes if type(quotes) is int else quotes(value)) >= 0


def compile_accepted(node: Node) -> Mapping[type, Any]:
    """Return a dict from the Python types that one node allows without a diagnostic.

    The types are computed on first use. A type maps to the number of quotes around a value, or to a function
    that counts the quotes and returns -1 for a value that does not fit.
    """
    if node.accepted is None:
        node.accepted = _AcceptedTypes({
            python_type: (2 if python_type is str else 0)
            if test is ALWAYS_FITS else compile_value_check({python_type: test})
            for python_type, test in _find_types(node, ()).items()
        })  # fmt: skip
        is_plain = node.kind in _SCALAR_KINDS and node.typed and not (
            node.never or node.holds_json or node.branches or node.rules or node.pattern or node.demands
            or node.remarks
        )  # fmt: skip
        node.is_scalar = is_plain and node.choices is None
        node.is_listed_text = (
            is_plain
            and node.choices is not None
            and node.kind in _TEXT_KINDS
            and all(isinstance(value, str) for value in node.choices.allowed)
        )
    return node.accepted


def _find_types(node: Node, above: tuple[int, ...]) -> TypeTests:
    """Return the Python types that a node allows without a diagnostic, each with a test for the values of
    this type.
    """
    if node.remarks or node.demands or node.never or id(node) in above or len(above) > MAX_CHECKED:
        return {}
    if node.branches:
        return _find_branch_types(node, above)
    first = SCALARS if node.kind is None else FIRST_TYPES.get(node.kind, ())
    types = {
        python_type: require_all(
            [*_make_inner_tests(node, python_type, above), *_make_value_tests(node, python_type)]
        )
        for python_type in first
    }
    return {**types, type(None): ALWAYS_FITS} if node.nullable else types


def _find_branch_types(node: Node, above: tuple[int, ...]) -> TypeTests:
    """Return the Python types that any branch allows, each with a test for the values of this type."""
    tests: dict[type, list[FieldTest]] = {type(None): [ALWAYS_FITS]} if node.nullable else {}
    for branch in node.branches:
        for python_type, test in _find_types(branch, (*above, id(node))).items():
            tests.setdefault(python_type, []).append(test)
    return {python_type: require_any(python_type, several) for python_type, several in tests.items()}


def _make_inner_tests(node: Node, python_type: type, above: tuple[int, ...]) -> list[FieldTest]:
    if python_type is float:
        return [_FLOAT_EXACT]
    if python_type is list:
        return [_make_array_test(node, above)]
    return [make_counting_test(_compile_object(node, above))] if python_type is dict else []


def _make_array_test(node: Node, above: tuple[int, ...]) -> FieldTest:
    if node.prefix or node.items is None:
        return make_counting_test(lambda value: -1 if value else 0)
    return make_counting_test(compile_list_check(_find_types(node.items, (*above, id(node)))))


def _make_value_tests(node: Node, python_type: type) -> list[FieldTest]:
    tests: list[FieldTest] = []
    if node.kind is ValueKind.TIMESTAMP:
        tests.append(make_function_test(is_timestamp))
    if node.choices is not None:
        texts = frozenset(value for value in node.choices.allowed if isinstance(value, str))
        tests.append(
            FieldTest("v in {}", (texts,)) if python_type is str else make_function_test(node.choices.holds)
        )
    numeric = node.kind in (ValueKind.INTEGER, ValueKind.NUMBER)
    tests += [
        make_function_test(rule.on_numbers if numeric and rule.on_numbers else rule.holds)
        for rule in node.rules
    ]
    if node.pattern is not None and python_type is str:
        pattern = node.pattern
        tests.append(
            make_function_test(
                lambda value: pattern.is_affordable(value) and pattern.regex.search(value) is not None
            )
        )
    return tests


def is_plain(arguments: dict[str, Any], text: str) -> bool:
    """Return True when arguments without a definition can be used unchanged.

    The result is False for a repeated key, deep nesting, a number that orjson may have rounded, and a string
    "true", "false" or "null".
    """
    quotes = 2 * len(arguments)
    for item in arguments.values():
        item_type = type(item)
        if item_type is str:
            if item in _PROMOTED:
                return False
            quotes += 2
        elif item_type is float:
            if not -1e18 < item < 1e18:
                return False
        elif item_type is dict or item_type is list:
            return needs_no_conversion(arguments) and holds_each_key_once(text, arguments)
    return text.count('"') == quotes or holds_each_key_once(text, arguments)


def needs_no_conversion(arguments: dict[str, Any]) -> bool:
    """Return True when the values of arguments without a definition can be used unchanged."""
    waiting: list[Any] = [arguments]
    depth = 0
    while waiting:
        depth += 1
        if depth > MAX_DEPTH:
            return False
        below: list[Any] = []
        for container in waiting:
            for item in container.values() if type(container) is dict else container:
                item_type = type(item)
                if item_type is str:
                    if item in _PROMOTED:
                        return False
                elif item_type is dict or item_type is list:
                    below.append(item)
                elif item_type is float and not -1e18 < item < 1e18:
                    return False
        waiting = below
    return True


read_undeclared_plain = make_reader(is_plain)
"""Returns the object in a JSON string if the object can be used unchanged without a definition, else None."""


# --- decoding and checking in one step -----------------------------------------------------------------

try:
    import msgspec
except ImportError:
    _IS_INSTALLED = False
else:
    _IS_INSTALLED = True

_Written = dict[type, Any]
"""Maps the Python types that a node allows without a diagnostic to msgspec types.

An empty dict allows no value.
"""


class _NotPlainError(Exception):
    """Raised when the definition uses a feature that has no msgspec type."""


def _compile_reader(root: Node, accepts: Accepts) -> ReadFitting | None:
    """Compile a msgspec reader for arguments that fit a definition.

    `accepts` checks the arguments that contain a long string. Return None when the definition needs more than
    simple types, or when msgspec is not installed.
    """
    if not _IS_INSTALLED:
        return None
    writer = _TypeWriter()
    try:
        written = writer.write(root, 0).get(dict)
        decode = None if written is None else msgspec.json.Decoder(written).decode
    except (_NotPlainError, UnicodeEncodeError):
        return None
    if decode is None:
        return None
    bound = {
        "decode": decode, "accepts": accepts, "NO_JSON": NO_JSON, "NoJson": msgspec.DecodeError,
        "Misfit": (msgspec.ValidationError, UnicodeEncodeError, RecursionError),
        "decode_around_string": decode_around_string, "holds_each_key_once": holds_each_key_once,
    }  # fmt: skip
    reader: Any = compile_function("text", _READ_PLAIN + writer.write_quote_count(root), bound)
    return reader  # type: ignore[no-any-return]


_READ_PLAIN = [
    # without this test, a failed decode would take as long as a successful one
    " if text[-1:] != '}': return None",
    f" if len(text) >= {LONG} and (apart := decode_around_string(text)) is not None:",
    "  return apart[0] if accepts(*apart) else None",
    " try: value = decode(text)",
    " except Misfit: return None",
    " except NoJson: return NO_JSON",
]


class _TypeWriter:
    def __init__(self) -> None:
        # the key is the node's id; the value is None while the node is converted
        self.written: dict[int, _Written | None] = {}

    def write(self, node: Node, depth: int) -> _Written:
        """Return what a node allows.

        Raise _NotPlainError if the fast check of the node would call a function.
        """
        if id(node) in self.written:
            written_type = self.written[id(node)]
            if written_type is None:  # the node contains itself
                raise _NotPlainError
            return written_type
        if depth > MAX_CHECKED:
            raise _NotPlainError
        self.written[id(node)] = None
        written = self.written[id(node)] = self.write_anew(node, depth)
        return written

    def write_anew(self, node: Node, depth: int) -> _Written:
        if node.remarks or node.demands or node.never:
            return {}
        null: _Written = {type(None): None} if node.nullable else {}
        if node.branches:
            return null | self.write_branches(node, depth)
        first = SCALARS if node.kind is None else FIRST_TYPES.get(node.kind, ())
        if first and (node.rules or (node.pattern is not None and str in first)):
            raise _NotPlainError
        if node.kind is ValueKind.TIMESTAMP:
            raise _NotPlainError
        written = {python_type: self.write_type(node, python_type, depth) for python_type in first}
        return {
            python_type: msgspec_type
            for python_type, msgspec_type in written.items()
            if msgspec_type is not None or python_type is type(None)
        } | null

    def write_branches(self, node: Node, depth: int) -> _Written:
        merged: _Written = {}
        for branch in node.branches:
            for python_type, msgspec_type in self.write(branch, depth + 1).items():
                if merged.setdefault(python_type, msgspec_type) != msgspec_type:
                    raise _NotPlainError  # msgspec types cannot express a trial of one branch after another
        return merged

    def write_type(self, node: Node, python_type: type, depth: int) -> Any:
        """Return the msgspec type for the values of one Python type, or None when no value is allowed."""
        if node.choices is not None:
            texts = tuple(value for value in node.choices.allowed if isinstance(value, str))
            if python_type is not str:
                raise _NotPlainError
            for text in texts:
                text.encode()
            return Literal[texts] if texts else None
        if python_type is float:  # orjson does not round within these bounds
            return Annotated[float, msgspec.Meta(gt=-1e18, lt=1e18)]
        if python_type is list:
            return self.write_list(node, depth)
        return self.write_object(node, depth) if python_type is dict else python_type

    def write_list(self, node: Node, depth: int) -> Any:
        items = {} if node.prefix or node.items is None else self.write(node.items, depth + 1)
        if not items:
            return Annotated[list[None], msgspec.Meta(max_length=0)]
        return list[_join(items)]  # type: ignore[misc]  # made at run time

    def write_object(self, node: Node, depth: int) -> Any:
        """Return the msgspec type of an object. A field that allows no value is treated as undeclared."""
        fields: dict[str, Any] = {}
        for name, field in node.fields.items():
            name.encode()  # raises for half of a surrogate pair, which msgspec would drop
            types = self.write(field, depth + 1)
            if types:
                fields[name] = Required[_join(types)] if name in node.required else _join(types)
            elif name in node.required:
                return None
        if not node.required <= fields.keys():
            return None
        make: Any = TypedDict
        return make("Arguments", fields, total=False)

    def write_quote_count(self, root: Node) -> list[str]:
        """Write the end of `read_plain`, which counts quotes to find repeated or undeclared keys."""
        always, lines = 0, []
        for name, field in root.fields.items():
            types = self.written[id(field)] or {}
            items = (field.items is not None and self.written.get(id(field.items))) or {}
            if dict in types or (str in items and len(items) > 1) or dict in items or list in items:
                return [" return value if holds_each_key_once(text, value) else None"]
            if str in types and len(types) == 1 and name in root.required:
                always += 2
            elif str in types:
                lines.append(f" if type(value.get({name!r})) is str: total += 2")
            if list in types and str in items:
                lines.append(f" if type(v := value.get({name!r})) is list: total += 2 * len(v)")
        head = f" total = {always} + 2 * len(value)"
        last = " return value if text.count('\"') == total or holds_each_key_once(text, value) else None"
        return [head, *lines, last]


def _join(types: _Written) -> Any:
    return Union[tuple(types.values())]  # noqa: UP007  of as many as there are
